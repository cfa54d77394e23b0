"""`judgewell evaluate` as a user types it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

QRELS = "q1 0 a 0.7\nq1 0 b 1.4\nq2 0 a 1\n"
RUN = "q1 Q0 a 1 3 bm25\nq1 Q0 b 2 2 bm25\nq2 Q0 x 1 2 bm25\nq2 Q0 a 2 1 bm25\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.qrels").write_text(QRELS)
    Path("bm25.run").write_text(RUN)
    Path("rm3.run").write_text(RUN.replace("bm25", "rm3").replace("q2 Q0 x 1 2", "q2 Q0 x 1 0"))


def test_a_table_with_the_best_system_first(files, judgewell):
    code, out, err = judgewell("evaluate", "g.qrels", "bm25.run", "rm3.run", "-m", "nDCG@10", "-m", "ERR(gmax=2)@5")
    few = "note: intervals of means are Student's t, because 2 topics are too few for a bootstrap (10)\n"
    assert (code, err) == (0, few)
    header, _, first, second = out.splitlines()
    beside = ["ERR(gmax=2)@5.residual", "Judged@5", "Judged@10", "topics"]
    assert header.split() == ["system", "nDCG@10", "95", "%", "ERR(gmax=2)@5", "95", "%", *beside]
    assert first.startswith("rm3")
    assert second.startswith("bm25")
    assert re.search(r"0\.7453 +\[0\.0000, 1\.0000\]", second)


def test_every_topic_with_q(files, judgewell):
    _, out, _ = judgewell("evaluate", "g.qrels", "bm25.run", "-q")
    assert re.search(r"bm25 +q1 +0\.8597", out)
    assert re.search(r"bm25 +q2 +0\.6309", out)


def test_csv_and_json_on_standard_output(files, judgewell):
    _, out, _ = judgewell("evaluate", "g.qrels", "bm25.run", "--format", "csv")
    assert out.splitlines()[0] == "system,measure,mean,low,high,topics,interval"
    _, out, _ = judgewell("evaluate", "g.qrels", "bm25.run", "--format", "json", "-q")
    assert [row["topic"] for row in json.loads(out)] == ["q1", "q2"]
    _, out, _ = judgewell("evaluate", "g.qrels", "bm25.run", "-o", "-")
    assert out.splitlines()[0] == "system,topic,measure,value"


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "jsonl", "tsv"])
def test_scores_are_written_with_how_they_were_made_and_the_same_again(files, judgewell, ending):
    arguments = ("evaluate", "g.qrels", "bm25.run", "-m", "nDCG@10", "-m", "DCG@2", "-o", f"s.{ending}")
    judgewell(*arguments)
    once = Path(f"s.{ending}").read_bytes()
    judgewell(*arguments)
    assert Path(f"s.{ending}").read_bytes() == once
    if ending == "parquet":
        record = json.loads(pl.read_parquet_metadata("s.parquet")["judgewell"])
    else:
        record = json.loads(Path(f"s.{ending}.meta.json").read_text())
    assert record["command"] == "evaluate"
    assert record["options"]["precision"] == "double"
    assert record["options"]["measure"] == ["nDCG@10", "DCG@2"]
    assert set(record["inputs"]) == {"g.qrels", "bm25.run"}
    assert len(record["inputs"]["g.qrels"]) == 64


def test_gains_are_transformed_first(files, judgewell):
    code, out, _ = judgewell("evaluate", "g.qrels", "bm25.run", "-m", "RBP(p=0.5)", "--gains-as", "unit")
    assert code == 0
    assert "0.3393" in out  # half of 0.5 * 0.5 + 0.25 * 1, and of 0.25 / 1.4
    code, _, err = judgewell("evaluate", "g.qrels", "bm25.run", "-m", "RBP(p=0.5)")
    assert code == 2
    assert "there is a gain of 1.4" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("g.qrels", "none.run"), "none.run: there is no such file"),
        (("g.qrels", "bm25.run", "-m", "nDGC@10"), "nDCG"),
        (("g.qrels", "bm25.run", "-m", "P"), "P needs a cutoff"),
        (("g.qrels", "bm25.run", "-m", "AP"), "AP(rel=0.5)"),
        (("g.qrels", "bm25.run", "-o", "scores.xlsx"), "end it in .csv"),
        (("g.qrels", "bm25.run", "--columns", "topic"), "write ours=theirs"),
        (("g.qrels", "bm25.run", "--gains-as", "cube"), "is not a way to transform gains"),
        (("g.qrels", "bm25.run", "--level", "95"), "the level 95.0 is not between 0 and 1"),
        (("bm25.run", "g.qrels"), "bm25.run:1: 6 fields"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(files, judgewell, arguments, said):
    code, out, err = judgewell("evaluate", *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("judgewell: ")
    assert said in err


def test_notes_go_to_standard_error_and_strict_refuses_them(files, judgewell):
    Path("short.run").write_text(RUN.split("q2")[0])
    code, out, err = judgewell("evaluate", "g.qrels", "short.run")
    assert code == 0
    assert "note: 1 of 1 runs miss judged topics" in err
    code, out, err = judgewell("evaluate", "g.qrels", "short.run", "--strict")
    assert (code, out) == (2, "")
    assert err.startswith("judgewell: 1 of 1 runs miss judged topics")


def test_measures_are_listed(judgewell):
    code, out, _ = judgewell("evaluate", "--list")
    assert code == 0
    assert "nDCG" in out
    assert "Järvelin" in out


@pytest.mark.parametrize("which", ["gains", "run"])
def test_a_dash_reads_standard_input(files, which):
    arguments = ("-", "bm25.run") if which == "gains" else ("g.qrels", "-")
    given = QRELS if which == "gains" else RUN
    done = subprocess.run(
        [sys.executable, "-m", "judgewell", "evaluate", *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "bm25" in done.stdout
    assert "0.7453" in done.stdout


def test_help_shows_examples_and_the_version_is_printed(judgewell):
    code, out, _ = judgewell("evaluate", "--help")
    assert code == 0
    assert "judgewell evaluate qrels.txt runs/*.run -m nDCG@10" in out
    assert re.fullmatch(r"judgewell \d+\.\d+\.\d+ \((compiled|numpy) kernel\)\n", judgewell("--version")[1])


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("run", "expected", "options"),
    [
        ("results.test", "out.test", ()),
        ("results.test", "out.test.aq", ("-q", "-m", "all_trec")),
        ("results.trunc", "out.test.aqc", ("-q", "-m", "all_trec", "--topics", "judged")),
    ],
)
def test_trec_evals_own_output_to_the_last_digit(data, judgewell, run, expected, options):
    folder = data / "trec_eval"
    _, out, _ = judgewell("evaluate", folder / "qrels.test", folder / run, "--format", "trec_eval", *options)
    assert out == (folder / expected).read_text()


def numbers(text):
    """The figures of an rbp_eval spec: its first line says the options, `#` lines are comments."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return lines[0].split(), [float(word) for line in lines[1:] for word in line.split()]


@pytest.mark.realdata
@pytest.mark.parametrize("spec", [f"{number}.spec" for number in range(1, 12)])
def test_rbp_evals_worked_cases_to_the_last_digit(data, judgewell, monkeypatch, spec):
    """Each spec holds, for each topic and then all: num_rel, num_ret, and at each depth num_rel_ret and RBP ± error."""
    monkeypatch.chdir(data / "rbp_eval")
    words, figures = numbers(Path(spec).read_text())
    *options, qrels, run_file = words
    depths = options[options.index("-d") + 1].split(",")
    persistences = options[options.index("-p") + 1].split(",")
    measures = [f"RBP(p={p})@{d}" for d in depths for p in persistences]
    asked = [word for name in measures for word in ("-m", name, "-m", f"{name}.residual")]
    fold = {"-f": "unit(4)", "-b": "binary(0.25)", "-B": "binary(1)"}
    scale = next((("--gains-as", how) for option, how in fold.items() if option in options), ())
    order = "score" if "-s" in options else "rank"
    code, out, err = judgewell(
        "evaluate", qrels, run_file, *asked, "-o", "-", "--order", order, "--ties", "spread", *scale
    )
    assert code == 0, err
    found = pl.read_csv(out.encode(), schema_overrides={"topic": pl.String})
    tables = [found.filter(topic=topic) for topic in ("1", "2")]
    tables.append(found.group_by("measure", maintain_order=True).agg(pl.col("value").mean()))
    ours = []
    for table in tables:
        values = dict(zip(table["measure"], table["value"], strict=True))
        ours += [[values[name], values[f"{name}.residual"]] for name in measures]
    each = 2 + len(depths) * (1 + 2 * len(persistences))
    theirs = []
    for block in range(3):
        rest = figures[block * each + 2 : (block + 1) * each]
        for depth in range(len(depths)):
            row = rest[depth * (1 + 2 * len(persistences)) + 1 :][: 2 * len(persistences)]
            theirs += [row[at : at + 2] for at in range(0, len(row), 2)]
    assert [[f"{x:.4f}" for x in pair] for pair in ours] == [[f"{x:.4f}" for x in pair] for pair in theirs]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "-"), "standard input (-) is named twice"),
        (("g.qrels", "bm25.run", "-o", "none/x.csv"), "there is no folder none"),
        (("g.qrels", "bm25.run", "--format", "trec_eval", "-l", "1", "-o", "x.csv"), "is only printed"),
        (("g.qrels", "bm25.run", "--gains-as", "unit(0)"), "a number above 0"),
        (("g.qrels", "bm25.run", "--gains-as", "0=nan"), "is not a finite number"),
        (("g.qrels", "bm25.run", "--gains-as", ""), "is not a way to transform gains"),
        (("g.qrels", "bm25.run", "--unjudged", "error"), "topic q2: 1 of the first 2 documents are unjudged"),
    ],
)
def test_more_bad_input_is_one_line(files, judgewell, arguments, said):
    code, out, err = judgewell("evaluate", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err


def test_a_seed_below_0_is_refused(files, judgewell):
    code, _, err = judgewell("evaluate", "g.qrels", "bm25.run", "--seed", "-1")
    assert code == 2
    assert "--seed" in err


def test_the_least_relevant_gain_can_be_said_once_for_all_measures(files, judgewell):
    _, one, _ = judgewell(
        "evaluate", "g.qrels", "bm25.run", "-m", "AP", "-m", "P@2", "-m", "nDCG@5", "-l", "0.5", "-o", "-"
    )
    asked = ("-m", "AP(rel=0.5)", "-m", "P(rel=0.5)@2", "-m", "nDCG@5")
    assert one == judgewell("evaluate", "g.qrels", "bm25.run", *asked, "-o", "-")[1]
    code, out, _ = judgewell("evaluate", "g.qrels", "bm25.run", "--format", "trec_eval", "-l", "0.5", "-m", "map")
    assert code == 0
    assert "0.7500" in out


def test_a_record_says_what_was_used_by_default(files, judgewell):
    judgewell("evaluate", "g.qrels", "bm25.run", "-o", "s.csv")
    options = json.loads(Path("s.csv.meta.json").read_text())["options"]
    assert options["measure"] == ["nDCG@10"]
    assert options["topics"] == "judged"


def test_a_pipe_is_read_once(files):
    command = f"{sys.executable} -m judgewell evaluate g.qrels <(cat bm25.run)"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "0.7453" in done.stdout


def test_a_reader_that_stops_early_is_no_error(files):
    command = f"set -o pipefail; {sys.executable} -m judgewell evaluate --list | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    full = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m judgewell evaluate --list > /dev/full"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert full.returncode == 2
    assert full.stderr == "judgewell: output: No space left on device\n"
