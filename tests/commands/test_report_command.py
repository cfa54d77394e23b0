"""judgewell report as a user types it."""

import json
import re
import time
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from judgewell.commands.report import report as command
from judgewell.commands.reporting import report as report_on
from judgewell.commands.simulate import simulate
from judgewell.errors import DataError, InputError
from judgewell.formats.options import read_labels
from judgewell.server.queries.standing_answers import judgments_frame, pairs_frame
from judgewell.server.store.setup import prepare
from judgewell.server.store.transactions import open_store
from judgewell.study.new import new_study

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
    assert "4 assessors gave 96 judgments of 24 documents in 2 topics" in result.output
    page = (folder / "report.html").read_text()
    assert "w0" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "A1" in page
    assert not (folder / "report_files").exists()


def test_answers_and_labels_in_words_are_read_as_told(folder):
    words = {"0": "none", "1": "some", "2": "good", "3": "best"}
    lines = [line.split(",") for line in JUDGMENTS.splitlines()[1:]]
    told = "".join(f"{topic},{doc},{who},{words[value]},{words[value]}\n" for topic, doc, who, value in lines)
    (folder / "words.csv").write_text("topic,doc,assessor,value,mark\n" + told)
    asked = ["--judgments", "words.csv", "-o", "words.html", "--method", "mean", "--quiet"]
    with pytest.raises(InputError, match=r"value 'none' is not a number.*--words"):
        run(*asked)
    meaning = ["--words", "none=0,some=1,good=2,best=3"]
    assert run(*asked, *meaning).exit_code == 0
    with pytest.raises(DataError, match="the column mark gives topic a, document d0 more than one label"):
        run(*asked, *meaning, "--labels", "mark")
    (folder / "expert.csv").write_text("topic,doc,gain\na,d0,none\na,d1,best\n")
    assert run(*asked, *meaning, "--labels", "expert.csv").exit_code == 0
    with pytest.raises(InputError, match="gain 'none' is not a number"):
        run("--judgments", "judgments.csv", "-o", "x.html", "--quiet", "--labels", "expert.csv")


def test_names_of_assessors_where_asked_for(folder):
    run("-o", "report.html", "--judgments", "judgments.csv", "--name-assessors", "--replicates", "20")
    assert ">w0<" in (folder / "report.html").read_text()


def test_quiet_prints_nothing_and_writes_the_same_page(folder):
    words = ["--judgments", "judgments.csv", "--replicates", "5", "--draws", "5"]
    told, quiet = run("-o", "told.html", *words), run("-o", "quiet.html", *words, "--quiet")
    assert told.output
    assert not quiet.output
    assert (folder / "told.html").read_text() == (folder / "quiet.html").read_text()


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
    assert "No gains and no method are given: gains are made by mean" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-o", "report.html"], "nothing to report on"),
        (["expert=expert.qrels", "-o", "r.html", "--runs", "up.run"], "give labels and qrels with --labels, runs"),
        (["expert.qrels", "up.run", "-o", "r.html"], "up.run is one argument too many: .* give runs with --runs"),
        (["expert.qrels", "-o", "r.html"], "expert.qrels is neither a study file .* labels and qrels with --labels"),
        (["-o", "report.pdf", "--labels", "expert.qrels"], "not the name of a page"),
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


def test_means_under_every_set_and_uncorrected_intervals_are_in_the_tables(folder):
    (folder / "reverse.qrels").write_text(
        "".join(f"{topic} 0 d{doc} {doc % 3}\n" for topic in "ab" for doc in range(12))
    )
    labels, runs = ["expert.qrels", "reverse.qrels"], ["up.run", "down.run"]
    made = report_on(labels=labels, runs=runs, baseline="up", worlds=20, replicates=20)
    grids = {grid.name: grid for grid in made.grids}
    assert "mean under reverse" in grids["systems"].shown.columns
    captions = {one.name: one.caption for one in [*made.figures, *made.grids]}
    for name in ("pairs", "baseline_differences"):
        assert "corrected for the number of pairs, intervals are not" in captions[name]


def test_the_record_is_that_of_the_inputs(folder):
    run("-o", "report.html", "--labels", "expert.qrels", "--runs", "up.run", "down.run", "--worlds", "50")
    page = (folder / "report.html").read_text()
    made = page[page.index('id="made"') :]
    assert all(name in made for name in ("expert.qrels", "up.run", "down.run"))
    assert json.loads(re.search(r'id="themes">(.*?)</script>', page, re.DOTALL)[1]).keys() == {"light", "dark"}


@pytest.fixture(scope="module", params=["magnitude", "pairs"])
def judged(request, tmp_path_factory):
    """A study that synthetic people have judged: its file and its database."""
    study = new_study(tmp_path_factory.mktemp("judged") / "study", request.param)[0]
    if request.param == "magnitude":  # enough people that some of them fail a check, and no second try
        text = study.read_text().replace("redundancy = 5 ", "redundancy = 12 ")
        study.write_text(
            re.sub(r"revisions = \d+", "revisions = 0", text.replace("least_seconds = 5 ", "least_seconds = 30 "))
        )
    database = study.parent / "judged.sqlite"
    done = CliRunner().invoke(simulate, [str(study), "--assessors", "80", "--database", str(database)])
    assert done.exit_code == 0, done.output
    return request.param, study, database


def test_a_report_of_a_study_says_what_was_asked_and_what_became_of_it(judged, tmp_path):
    kind, study, database = judged
    page = tmp_path / "report.html"
    made = run(
        str(study), "--database", str(database), "-o", str(page), "--replicates", "20", "--draws", "10", "--files"
    )
    assert made.exit_code == 0, made.output
    assert re.search(r"The study .* has \d+ of \d+ units complete", made.output)
    store = open_store(database)
    frame = judgments_frame if kind == "magnitude" else pairs_frame
    with store.snapshot() as connection:
        answers = frame(connection, time.time())
    store.close()
    ended = pl.read_csv(tmp_path / "report_files" / "tables" / "endings.csv")
    counted = ended.filter(pl.col("ended") == "completed")
    assert counted["answers"].item() == answers.filter(pl.col("ending") == "completed").height
    assert ended["answers"].sum() == answers.height
    text = page.read_text()
    counted = f"all {counted['answers'].item():,} {'judgments' if kind == 'magnitude' else 'pairwise judgments'}"
    notice = f"This is a rehearsal: {counted} come from synthetic assessors, not from people."
    assert notice in " ".join(made.output.split())
    assert text.index(notice) < text.index("<main>")
    assert "<h1>Report on the study " in text
    assert "Study and participants" in text
    assert ("units of 6 documents" in text) == (kind == "magnitude")
    assert "labels grades" in text  # the study's own
    left = answers.filter(pl.col("ending") != "completed").height
    assert (" are not used: " in text) == bool(left)
    if kind == "magnitude":
        assert left
        assert "Known documents" in text


def test_a_study_is_reported_from_its_database_alone(judged, tmp_path):
    _, _, database = judged
    made = run(str(database), "-o", str(tmp_path / "report.html"), "--replicates", "20", "--draws", "10")
    assert made.exit_code == 0, made.output
    assert "units complete" in made.output


def test_strict_refuses_what_is_otherwise_told(judged, folder):
    _, study, database = judged
    with pytest.raises(DataError, match="refused because of --strict"):
        run(str(study), "--database", str(database), "-o", "report.html", "--strict")
    assert not (folder / "report.html").exists()
    quick = ["--draws", "10", "--worlds", "50", "--replicates", "20"]
    with pytest.raises(DataError, match="refused because of --strict"):
        run("-o", "report.html", "--judgments", "judgments.csv", "--strict", *quick)


def test_another_studys_answers_come_beside_and_its_own_are_not_replaced(judged, folder):
    """Pairs beside magnitudes, and the other way round."""
    kind, _, database = judged
    own, other = ("judgments", "pairs") if kind == "magnitude" else ("pairs", "judgments")
    with pytest.raises(InputError, match=f"the study has {own}, and --{own} gives others; leave out one of them"):
        run(str(database), "-o", "report.html", f"--{own}", f"{own}.csv")
    if other == "judgments":
        made = run(
            str(database), "-o", "report.html", "--judgments", "judgments.csv", "--replicates", "20", "--draws", "9"
        )
        assert made.exit_code == 0, made.output
        text = (folder / "report.html").read_text()
        assert " complete (" in text
        assert re.search(r"gave \d+ judgments", text)
        assert re.search(r"gave \d+ pairwise judgments", text)


def test_a_study_without_finished_work_is_refused(folder):
    study = new_study(folder / "study", "magnitude")[0]
    with pytest.raises(InputError, match="there is no such database"):
        run(str(study), "-o", "report.html")
    (study.parent / "study-simulated.sqlite").touch()
    with pytest.raises(InputError, match=r"or name another: --database \S*study-simulated\.sqlite"):
        run(str(study), "-o", "report.html")
    store = open_store(folder / "empty.sqlite")
    prepare(store, study, lambda: 1.0)
    store.close()
    with pytest.raises(InputError, match=r"no unit of the study .* is completed yet"):
        run("empty.sqlite", "-o", "report.html")
    with pytest.raises(InputError, match="name the study file first"):
        run("-o", "report.html", "--labels", "expert.qrels", "--database", "empty.sqlite")


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
def test_the_function_has_the_command_s_options_and_its_example_holds():
    import doctest
    import inspect

    from judgewell.commands import reporting
    from judgewell.commands.report import report as command

    assert doctest.testmod(reporting).failed == 0
    ours = inspect.signature(reporting.report).parameters
    printing = {"output", "files", "strict", "quiet", "separator", "no_header", "cluster", "processes"}
    for name, default in command.make_context("report", ["-o", "r.html"]).params.items():
        if name not in printing:
            assert (ours[name].default or None) == (default or None), name


def test_labels_may_be_a_column_by_its_own_name_and_others_are_refused_with_the_columns(folder):
    grades = ["not_relevant", "relevant"]
    rows = [(doc, who, (doc * 7 + who) % 2, doc % 2) for doc in range(12) for who in range(4)]
    lines = [f"{doc},w{who},{grades[value]},{label},a,d{doc}\n" for doc, who, value, label in rows]
    (folder / "own.csv").write_text("_unit_id,_worker_id,relevance,rel,topic,document_id\n" + "".join(lines))
    asked = ["--judgments", "own.csv", "-o", "own.html", "--method", "mean", "--replicates", "20"]
    made = run(*asked, "--labels", "rel")  # an export whose reader gives it another name
    assert made.exit_code == 0, made.output
    assert "label set rel" in made.output
    with pytest.raises(InputError, match=r"labels relx: no file and no column of the judgments; columns: topic, doc"):
        run(*asked, "--labels", "relx")
    table = pl.DataFrame({"topic": ["a"], "doc": ["d"], "comment": [2.0]})
    assert read_labels("note", table, columns={"comment": "note"})["gain"].to_list() == [2.0]


def test_no_id_of_an_assessor_is_in_the_page_unless_asked_for(folder):
    rows = [f"q{n % 3},d{n // 4},worker-{n % 4}-é7,{n % 4 if n else ''}" for n in range(48)]
    (folder / "crowd.csv").write_text("topic,doc,assessor,value\n" + "\n".join(rows) + "\n")
    wide = "topic,doc,Annabel,Bobby\n" + "".join(f"q,d{n},{n % 3},{n % 2 or ''}\n" for n in range(8))
    (folder / "wide.csv").write_text(wide)
    quick = ["--draws", "5", "--worlds", "20", "--replicates", "10", "--kind", "ordinal", "-o", "r.html"]
    assert run("--judgments", "crowd.csv", *quick).exit_code == 0
    page = (folder / "r.html").read_text()
    assert "1 of 48 rows have no value and are excluded" in page
    assert "worker-" not in page
    assert run("--judgments", "crowd.csv", *quick, "--name-assessors").exit_code == 0
    assert "worker-1" in (folder / "r.html").read_text()
    found = run("--judgments", "wide.csv", *quick, "--columns", "topic=topic,doc=doc,value=*,assessor=*")
    assert found.exit_code == 0
    page = (folder / "r.html").read_text()
    assert "is read from A1, A2" in page
    assert "Annabel" not in page


def test_the_command_line_is_at_the_end_of_the_page_and_information_is_not_refused(judgewell):
    Path("q.qrels").write_text("1 0 a 3\n1 0 b 1\n1 0 c 0\n2 0 a 1\n2 0 b 0\n2 0 c 2\n")
    for name, order in ("x", "abc"), ("y", "cba"):
        Path(f"{name}.run").write_text(
            "".join(f"{t} Q0 {doc} {n} {9 - n} {name}\n" for t in (1, 2) for n, doc in enumerate(order, 1))
        )
    files = ("--labels", "q.qrels", "--runs", "x.run", "y.run")
    words = ("report", "-o", "r.html", *files, "-m", "P@1", "-m", "nDCG@1", "--worlds", "50")
    judgewell(*words)
    page = Path("r.html").read_text()
    command = f"judgewell report {' '.join(files)} --measure P@1 --measure nDCG@1 --worlds 50 --output report.html"
    assert f"<dt>command line</dt><dd>{command}</dd>" in page
    assert "P@1 counts documents with a gain of 1 or more as relevant" in page
    code, _, err = judgewell(*words, "--strict")
    assert (code, err) == (0, "")
