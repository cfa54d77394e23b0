"""`judgewell evaluate` as a user types it."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from judgewell.evaluation.compiled import extension

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
    assert "note: the run misses judged topics" in err
    code, out, err = judgewell("evaluate", "g.qrels", "short.run", "--strict")
    assert (code, out) == (2, "")
    assert err.startswith("judgewell: the run misses judged topics")


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


def test_all_of_trec_evals_measures_on_qrels_with_grades_below_0(tmp_path, monkeypatch, judgewell):
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text("1 0 a 1\n1 0 b -1\n1 0 c 0\n1 0 d 2\n")
    Path("s.run").write_text("".join(f"1 Q0 {doc} {rank} {9 - rank} s\n" for rank, doc in enumerate("bcxda")))
    code, out, err = judgewell("evaluate", "q.txt", "s.run", "--format", "trec_eval", "-m", "all_trec", "-q")
    assert code == 0
    assert "1 of 4 gains are below 0" in err
    lines = dict(line.split("\t")[::2] for line in out.splitlines() if "\t1\t" in line)
    assert lines["relstring             "] == "'.0-21'"
    # at rank 4: two pooled above, one judged; at rank 5: three pooled above, two judged, one of them relevant
    expected = (1 / 4 + 2 / 4 * 0.00001 / 1.00002 + 1 / 5 + 3 / 5 * 1.00001 / 2.00002) / 2
    assert lines["infAP                 "] == f"{expected:.4f}"
    _, table, _ = judgewell("evaluate", "q.txt", "s.run", "-m", "infAP", "--format", "csv")
    assert f"{expected:.6f}"[:7] in table


def test_several_runs_in_trec_evals_format_say_whose_lines_follow(files, judgewell):
    arguments = ("evaluate", "g.qrels", "bm25.run", "rm3.run", "--format", "trec_eval", "-l", "1", "-m", "nDCG@3")
    _, out, _ = judgewell(*arguments)
    assert [line.split()[0] for line in out.splitlines()] == ["runid", "ndcg_cut_3"] * 2
    assert [line.split()[2] for line in out.splitlines()][::2] == ["bm25", "rm3"]


def test_counts_are_added_up_and_trec_evals_names_are_read_in_every_format(files, judgewell):
    _, out, _ = judgewell(
        "evaluate", "g.qrels", "bm25.run", "-l", "1", "-m", "num_q", "-m", "num_ret", "-m", "gm_map", "--format", "csv"
    )
    rows = {row.split(",")[1]: float(row.split(",")[2]) for row in out.splitlines()[1:]}
    assert rows["NumQ"] == 2
    assert rows["NumRet"] == 4
    assert rows["GMAP(rel=1)"] == pytest.approx(0.5)


LEAN = """
import sys
from judgewell.cli import main
sys.argv = ["judgewell", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(*sys.modules, file=sys.stderr)
"""
TREC_QRELS = "".join(f"{topic} 0 d{doc} {doc % 3}\n" for topic in range(12) for doc in range(9))
TREC_RUN = "".join(f"{topic} Q0 d{doc} {doc} {9 - doc + topic} s1\n" for topic in range(12) for doc in range(3, 12))


def evaluated(*arguments, kernel=""):
    """A process of its own: what it prints, and the modules it loads."""
    environment = {**os.environ, "JUDGEWELL_KERNEL": kernel}
    command = [sys.executable, "-c", LEAN, "evaluate", "a.qrels", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout, set(done.stderr.split())


@pytest.fixture
def trec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.qrels").write_text(TREC_QRELS)
    Path("a.run").write_text(TREC_RUN)
    Path("a.run.gz").write_bytes(gzip.compress(TREC_RUN.encode()))


@pytest.mark.skipif(extension() is None, reason="the C extension is not built")
@pytest.mark.parametrize(
    "arguments",
    [
        ("a.run", "-m", "nDCG@10", "-m", "AP", "-q", "-o", "s.csv"),
        ("a.run.gz", "--format", "csv", "-q"),
        ("a.run", "--format", "trec_eval"),
    ],
)
def test_from_trec_files_to_means_nothing_is_loaded_that_is_not_used(trec, arguments):
    _, modules = evaluated(*arguments)
    assert "judgewell.evaluation.compiled" in modules
    heavy = ("polars", "scipy", "pandas", "pydantic", "backports", "numpy.ma", "judgewell.tables")
    assert {name for name in heavy if name in modules} == set()


@pytest.mark.skipif(extension() is None, reason="the C extension is not built")
@pytest.mark.parametrize("run", ["a.run", "a.run.gz"])
def test_both_kernels_print_and_write_the_same(trec, run):
    arguments = (run, "-m", "nDCG@10", "-m", "AP", "-m", "P@5", "-o", "s.csv")
    ours, _ = evaluated(*arguments)
    written = Path("s.csv").read_bytes()
    theirs, modules = evaluated(*arguments, kernel="numpy")
    assert "polars" in modules
    assert (theirs, Path("s.csv").read_bytes()) == (ours, written)


def test_ids_with_commas_and_quotes_are_quoted_in_csv(tmp_path, judgewell):
    Path("g.qrels").write_text('1,2 0 d1 1\n"3" 0 d1 1\n')
    Path("a.run").write_text('1,2 Q0 d1 1 1 s,"1"\n"3" Q0 d1 1 1 s,"1"\n')
    judgewell("evaluate", "g.qrels", "a.run", "-m", "R@1", "-o", "s.csv")
    assert pl.read_csv("s.csv").rows() == [('s,"1"', "1,2", "R@1", 1.0), ('s,"1"', '"3"', "R@1", 1.0)]


WHOLE = "q1 0 a 1\nq1 0 b 3\nq1 0 c 0\nq2 0 a 2\nq2 0 b 1\nq3 0 a 1\n"
LONG = "q1 Q0 x 1 9 s\nq1 Q0 c 2 8 s\nq1 Q0 b 3 7 s\nq1 Q0 a 4 6 s\nq2 Q0 y 1 9 s\nq2 Q0 a 2 8 s\n"


@pytest.fixture
def whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text(WHOLE)
    Path("s.run").write_text(LONG)


def printed(judgewell, *options):
    """name and topic → value, of trec_eval's format."""
    code, out, err = judgewell("evaluate", "q.txt", "s.run", "--format", "trec_eval", *options)
    assert code == 0, err
    fields = [line.split("\t") for line in out.splitlines()]
    return {(name.strip(), topic): value for name, topic, value in fields}


def test_c_averages_over_all_judged_topics(whole, judgewell):
    asked = ("-m", "num_q", "-m", "num_rel", "-m", "map", "-m", "num_ret")
    without, complete = printed(judgewell, *asked), printed(judgewell, *asked, "-c")
    assert [without["num_q", "all"], without["num_rel", "all"]] == ["2", "4"]
    assert [complete["num_q", "all"], complete["num_rel", "all"], complete["num_ret", "all"]] == ["3", "5", "6"]
    assert float(complete["map", "all"]) == pytest.approx(float(without["map", "all"]) * 2 / 3, abs=1e-4)
    assert printed(judgewell, "-m", "num_rel", "-c", "-l", "2")["num_rel", "all"] == "5"  # as trec_eval counts
    assert ("map", "q3") in printed(judgewell, "-m", "map", "-c", "-q")
    assert ("map", "q3") not in printed(judgewell, "-m", "map", "-c", "-q", "--trec-version", "9")


def test_big_m_cuts_rankings_and_big_j_leaves_unjudged_documents_out(whole, judgewell):
    assert printed(judgewell, "-m", "num_ret", "-M", "3")["num_ret", "all"] == "5"
    assert printed(judgewell, "-m", "recip_rank", "-q", "-M", "2")["recip_rank", "q1"] == "0.0000"
    assert printed(judgewell, "-m", "recip_rank", "-q", "-J")["recip_rank", "q1"] == "0.5000"
    both = printed(judgewell, "-m", "num_ret", "-q", "-J", "-M", "3")
    assert both["num_ret", "q1"] == "2"  # cut first, then condensed
    _, out, _ = judgewell("evaluate", "q.txt", "s.run", "-m", "NumRet", "-M", "1", "--format", "csv")
    assert ",NumRet,2.0," in out


def test_n_leaves_the_summary_out(whole, judgewell):
    assert {topic for _, topic in printed(judgewell, "-m", "map", "-q", "-n")} == {"q1", "q2"}
    _, out, _ = judgewell("evaluate", "q.txt", "s.run", "-q", "-n")
    assert "95 %" not in out
    assert "q1" in out
    code, _, err = judgewell("evaluate", "q.txt", "s.run", "-n")
    assert code == 2
    assert "add -q" in err


def test_versions_9_and_10_round_recall_differently(tmp_path, monkeypatch, judgewell):
    monkeypatch.chdir(tmp_path)
    docs = [f"d{number}" for number in range(6)]
    Path("q.txt").write_text("".join(f"1 0 {doc} 1\n" for doc in docs))
    Path("s.run").write_text("".join(f"1 Q0 {doc} 1 {9 - n} s\n" for n, doc in enumerate(["d0", "x", "y", "d1"])))
    # a recall of 0.2 of 6 is 1.2 documents: 1 in version 10, 2 in version 9
    assert printed(judgewell, "-m", "iprec_at_recall.0.2")["iprec_at_recall_0.20", "all"] == "1.0000"
    nine = printed(judgewell, "-m", "iprec_at_recall.0.2", "--trec-version", "9")
    assert nine["iprec_at_recall_0.20", "all"] == "0.5000"


def test_version_9_ranks_by_single_precision(whole, judgewell):
    Path("s.run").write_text("q1 Q0 a 1 1.00000000002 s\nq1 Q0 c 2 1.00000000001 s\n")
    assert printed(judgewell, "-m", "recip_rank")["recip_rank", "all"] == "1.0000"
    assert printed(judgewell, "-m", "recip_rank", "--trec-version", "9")["recip_rank", "all"] == "0.5000"
    double = printed(judgewell, "-m", "recip_rank", "--trec-version", "9", "--precision", "double")
    assert double["recip_rank", "all"] == "1.0000"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--trec-version", "9"), "--trec-version is for trec_eval's format"),
        (("-J", "--unjudged", "error"), "give one of them"),
        (("-c", "--topics", "run"), "give one of them"),
        (("--topics", "none.txt"), "none.txt: there is no such file"),
        (("--topics", "other.txt"), "none of its 1 topics has judgments"),
        (("-M", "0"), "-M"),
    ],
)
def test_flags_that_contradict_each_other_are_refused(whole, judgewell, options, message):
    Path("other.txt").write_text("q9\n")
    code, _, err = judgewell("evaluate", "q.txt", "s.run", *options)
    assert code == 2
    assert message in err


def test_a_file_of_topics_leaves_all_others_out(whole, judgewell):
    Path("topics.txt").write_text("q2 its title\n\nq9\n")
    arguments = ("evaluate", "q.txt", "s.run", "-m", "NumQ", "-m", "RR", "--topics", "topics.txt", "-o", "s.csv")
    code, _, err = judgewell(*arguments)
    assert code == 0
    assert "topics.txt: 1 of 2 topics have no judgments (the first: q9)" in err
    assert set(pl.read_csv("s.csv")["topic"]) == {"q2"}
    assert json.loads(Path("s.csv.meta.json").read_text())["options"]["topics"] == "topics.txt"


def test_residuals_that_are_shown_are_in_the_scores_file(whole, judgewell):
    judgewell("evaluate", "q.txt", "s.run", "-m", "RBP(p=0.5,rel=1)", "-m", "nDCG@3", "-o", "s.csv")
    scores = pl.read_csv("s.csv")
    assert scores["measure"].unique(maintain_order=True).to_list() == [
        "RBP(p=0.5,rel=1)",
        "nDCG@3",
        "RBP(p=0.5,rel=1).residual",
    ]
    judgewell("evaluate", "q.txt", "s.run", "-m", "RBP(p=0.5,rel=1)", "-o", "s.csv")
    Path("t.run").write_text(LONG.replace(" s\n", " t\n").replace("q1 Q0 b 3 7", "q1 Q0 b 3 17"))
    judgewell("evaluate", "q.txt", "s.run", "t.run", "-m", "RBP(p=0.5,rel=1)", "-o", "s.csv")
    assert judgewell("compare", "s.csv")[0] == 0  # the residual stands beside the measure and is not chosen


@pytest.mark.parametrize(
    ("command", "option", "owners"),
    [("evaluate", "--baseline", "compare and report"), ("agree", "--draws", "scale, compare, report and reproduce")],
)
def test_an_option_of_other_commands_is_refused_with_their_names(judgewell, command, option, owners):
    code, _, err = judgewell(command, option, "x")
    assert code == 2
    assert f"Error: {command} has no option {option}; it is an option of {owners}\n" in err
    assert "Did you mean" not in err
