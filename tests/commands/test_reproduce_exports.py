"""What `export` writes for a study of any scale, taken by `reproduce`."""

import re

import pytest

PAPERS = {
    "magnitude": ("sigir15", 7),
    "s100": ("sigir15", 7),
    "ordinal": ("prm15", 6),
    "binary": ("prm15", 6),
    "templates": ("evia14", 12),
    "pairs": ("adcs18", 8),
}


@pytest.mark.long
@pytest.mark.parametrize("scale", PAPERS)
def test_the_export_of_every_scale_makes_its_papers_items(scale, tmp_path, judgewell):
    study, data = tmp_path / "one" / "study.toml", tmp_path / "data"
    judgewell("new", tmp_path / "one", "--from", scale)
    judgewell("simulate", study, "--assessors", 40, "-o", data)
    paper, least = PAPERS[scale]
    labels = f"grades={tmp_path / 'one' / 'grades.qrels'}"
    table = ("--pairs", data / "pairs.csv", "--likes", data / "questionnaire.csv") if scale == "pairs" else ()
    table = table or ("--judgments", data / "judgments.csv")
    units = ("--units", data / "units.csv") if paper == "sigir15" else ()
    code, text, _ = judgewell("reproduce", paper, "-o", "page", "--labels", labels, *table, *units, "--draws", 20)
    made = re.search(r"index.html: (\d+) of", text)
    assert code == 0
    assert int(made[1]) >= least, text
    reasons = set(re.findall(r"not made: (.*)", text))
    allowed = ("no runs", "lengths are not known", "a screenshot", "which are text")
    assert all(any(words in reason for words in allowed) for reason in reasons), reasons


@pytest.mark.parametrize("paper", ["sigir15", "evia14"])
def test_grades_are_refused_once_by_papers_on_magnitudes(paper, tmp_path, judgewell):
    (tmp_path / "grades.csv").write_text(
        "topic,doc,assessor,kind,value\nt,a,x,ordinal,0\nt,a,y,ordinal,1\nt,b,x,ordinal,2\n"
    )
    code, _, problem = judgewell("reproduce", paper, "-o", "page", "--judgments", tmp_path / "grades.csv")
    assert code == 2
    assert (
        "grades.csv: the values are ordinal and hold 0, and this paper needs magnitudes or scores such as 0 to 100"
        in problem
    )
