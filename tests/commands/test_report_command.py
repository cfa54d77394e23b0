"""judgewell report as a user types it."""

import json
import re

import pytest
from click.testing import CliRunner

from judgewell.commands.report import report as command
from judgewell.errors import InputError

JUDGMENTS = "topic,doc,assessor,value\n" + "".join(
    f"{topic},d{doc},w{who},{(doc * 7 + who) % 4}\n" for topic in "ab" for doc in range(12) for who in range(4)
)
QRELS = "".join(f"{topic} 0 d{doc} {doc * 7 % 4}\n" for topic in "ab" for doc in range(12))
RUN = "".join(f"{topic} Q0 d{doc} 1 {{sign}}{doc} {{name}}\n" for topic in "ab" for doc in range(12))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "judgments.csv").write_text(JUDGMENTS)
    (tmp_path / "expert.qrels").write_text(QRELS)
    for name, sign in (("up", ""), ("down", "-")):
        (tmp_path / f"{name}.run").write_text(RUN.format(name=name, sign=sign))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


def test_a_page_of_everything(folder):
    quick = ["--draws", "10", "--worlds", "50", "--replicates", "20"]
    runs = ["--runs", "up.run", "down.run", "-m", "nDCG@5"]
    result = run("-o", "report.html", "--judgments", "judgments.csv", "--labels", "expert.qrels", *runs, *quick)
    assert result.exit_code == 0, result.output
    assert "report.html:" in result.output
    assert "What was asked of whom: 4 assessors gave 96 judgments of 24 documents in 2 topics" in result.output
    page = (folder / "report.html").read_text()
    assert "w0" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "A1" in page
    assert not (folder / "report_files").exists()


def test_names_of_assessors_where_asked_for(folder):
    run("-o", "report.html", "--judgments", "judgments.csv", "--name-assessors", "--replicates", "20")
    assert ">w0<" in (folder / "report.html").read_text()


def test_pages_do_not_depend_on_where_they_are_written(folder):
    (folder / "other").mkdir()
    for page in ("report.html", "other/report.html"):
        run("-o", page, "--labels", "a=expert.qrels", "--runs", "up.run", "down.run", "--worlds", "50")
    assert (folder / "report.html").read_bytes() == (folder / "other" / "report.html").read_bytes()


def test_files_beside_it(folder):
    run("-o", "report.html", "--labels", "expert.qrels", "--runs", "up.run", "down.run", "--worlds", "50", "--files")
    assert (folder / "report_files" / "figures" / "system_means.pdf").read_bytes().startswith(b"%PDF")
    assert "up" in (folder / "report_files" / "tables" / "systems.tex").read_text()


def test_the_method_taken_is_told_in_the_page(folder):
    run("-o", "report.html", "--judgments", "judgments.csv", "--replicates", "20")
    assert "no gains and no method are given: gains are made by median" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-o", "report.html"], "nothing to report on"),
        (["-o", "report.pdf", "--labels", "expert.qrels"], "not named like a page"),
        (["-o", "no/report.html", "--labels", "expert.qrels"], "no folder no"),
        (["-o", "r.html", "--labels", "expert.qrels", "expert.qrels"], "two files are called expert"),
        (["-o", "r.html", "--labels", "expert.qrels", "--method", "magnitude"], "makes gains from judgments"),
        (["-o", "r.html", "--labels", "absent.qrels"], "absent.qrels"),
        (["-o", "r.html", "--gains", "expert.qrels", "--method", "mean"], "leave out --gains or --method"),
    ],
)
def test_mistakes_are_told_before_the_work(folder, arguments, problem):
    with pytest.raises((InputError, OSError), match=problem):
        run(*arguments)


def test_the_record_is_that_of_the_inputs(folder):
    run("-o", "report.html", "--labels", "expert.qrels", "--runs", "up.run", "down.run", "--worlds", "50")
    page = (folder / "report.html").read_text()
    made = page[page.index('id="made"') :]
    assert all(name in made for name in ("expert.qrels", "up.run", "down.run"))
    assert json.loads(re.search(r'id="themes">(.*?)</script>', page, re.DOTALL)[1]).keys() == {"light", "dark"}
