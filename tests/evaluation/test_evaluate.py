"""evaluate(): every trap that other tools fall into, and the real collections."""

import gzip
import math
import multiprocessing
import random
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import ir_measures
import polars as pl
import pytest

import judgewell
from judgewell.errors import (
    DataError,
    InputError,
    JudgewellError,
    JudgewellInformation,
    JudgewellWarning,
    MeasureError,
)
from judgewell.evaluation.evaluate import evaluate
from judgewell.formats import runs as runs_module

pytestmark = pytest.mark.usefixtures("kernel")

GAINS = {"q1": {"a": 0.7, "b": 1.4, "c": 0.0}, "q2": {"a": 1.0}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "x": 1.0}, "q2": {"b": 1.0, "a": 0.5}}


def value(runs, gains, measure, **options):
    """The only value there is."""
    return evaluate(runs, gains, measure, **options)["value"].item()


def test_scores_are_a_scores_table_whatever_is_asked():
    one, many = evaluate(RUN, GAINS, "nDCG@10"), evaluate(RUN, GAINS, ["nDCG@10", judgewell.parse_measure("DCG")])
    assert one.columns == many.columns == ["system", "topic", "measure", "value"]
    assert (
        one.schema
        == many.schema
        == {"system": pl.String, "topic": pl.String, "measure": pl.String, "value": pl.Float64}
    )
    assert many["measure"].to_list() == ["nDCG@10", "DCG"] * 2
    assert one["topic"].to_list() == ["q1", "q2"]


def test_fractional_gains_are_gains():
    """The ranking of trap 4: elsewhere 0.0000, 0.6199 or an exception."""
    ideal = 1.4 + 0.7 / 1.584962500721156
    assert value({"q": RUN["q1"]}, {"q": GAINS["q1"]}, "nDCG@10") == pytest.approx(
        (0.7 + 1.4 / 1.584962500721156) / ideal
    )


def test_precision_of_scores_decides_what_ties():
    run = {"q": {"a": 1.0, "b": 1.0 + 1e-10, "c": 1.0 + 2e-10}}
    assert value(run, {"q": {"c": 1}}, "RR") == 1.0
    assert value(run, {"q": {"a": 1}}, "RR") == pytest.approx(1 / 3)
    assert value(run, {"q": {"c": 1}}, "RR", precision="single") == 1.0  # tied: id descending
    assert value(run, {"q": {"a": 1}}, "RR", precision="single") == pytest.approx(1 / 3)
    assert value({"q": {"c": 1.0, "a": 1.0 + 1e-10}}, {"q": {"a": 1}}, "RR", precision="single") == 0.5


def test_ties_by_id_descending_or_shared():
    run = {"q": {"a": 1.0, "b": 1.0}}
    assert value(run, {"q": {"a": 1, "b": 0}}, "RR") == 0.5
    assert value(run, {"q": {"a": 1, "b": 0}}, "P@1", ties="shared") == 0.5
    assert value(run, {"q": {"a": 1, "b": 0}}, "P@1", ties="shared") == value(
        run, {"q": {"a": 0, "b": 1}}, "P@1", ties="shared"
    )
    with pytest.raises(DataError, match="AP is not linear in the gains, so shared ties have no exact value"):
        value(run, {"q": {"a": 1}}, "AP", ties="shared")


@pytest.mark.long
def test_shared_ties_are_the_mean_over_random_orders_of_the_tied():
    docs = [f"d{n}" for n in range(9)]
    scores = dict(zip(docs, [3, 3, 3, 2, 2, 1, 1, 1, 1], strict=True))
    gains = {"q": dict(zip(docs, [1, 0, 0.5, 1, 0, 0, 0.2, 0, 1], strict=True))}
    shared = value({"q": scores}, gains, "nDCG@4", ties="shared")
    rng = random.Random(1)
    several = {str(n): {"q": {doc: score + rng.random() / 10 for doc, score in scores.items()}} for n in range(4000)}
    assert evaluate(several, gains, "nDCG@4")["value"].mean() == pytest.approx(shared, abs=0.005)


def test_binary_measures_say_from_which_grade_on_a_document_is_relevant():
    run, grades = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1, "b": 3}}
    rule = r"P@1, AP count documents with a gain of 1 or more as relevant \(the highest is 3\).* write P\(rel=2\)@1"
    with pytest.warns(JudgewellInformation, match=rule):
        assert evaluate(run, grades, ["P@1", "AP", "nDCG@10"], strict=True)["value"][0] == 1.0
    with pytest.warns(JudgewellWarning, match=r"every score of P\(rel=4\)@1 is 0: no document .* highest gain is 3"):
        evaluate(run, grades, "P(rel=4)@1")
    with pytest.warns(JudgewellInformation, match=r"P, AP count documents"):
        evaluate(run, grades, [*(f"P@{k}" for k in range(1, 9)), "AP"])
    for measures, gains in (["P(rel=2)@1", "nDCG"], grades), (["P@1"], {"q": {"a": 1, "b": 0}}):
        with warnings.catch_warnings():
            warnings.simplefilter("error", JudgewellInformation)
            evaluate(run, gains, measures)


def test_missing_topics_score_zero_and_are_told_or_left_out():
    run = {"q1": RUN["q1"]}
    with pytest.warns(
        JudgewellWarning, match=r"the run misses judged topics: the score there is 0 \(most: run, 1 of 2\)"
    ):
        scores = evaluate(run, GAINS, "nDCG@10")
    assert scores.filter(pl.col("topic") == "q2")["value"].to_list() == [0.0]
    with pytest.warns(JudgewellWarning, match="the mean is over fewer topics"):
        assert evaluate(run, GAINS, "nDCG@10", topics="run")["topic"].to_list() == ["q1"]
    with pytest.raises(DataError, match="refused because strict"):
        evaluate(run, GAINS, "nDCG@10", strict=True)


def test_unjudged_documents_count_zero_or_are_condensed_or_refused():
    run = {"q": {"x": 3.0, "a": 2.0}}
    assert value(run, {"q": {"a": 1}}, "RR") == 0.5
    assert value(run, {"q": {"a": 1}}, "RR", unjudged="condense") == 1.0
    with pytest.raises(InputError, match="topic q: 1 of the first 2 documents are unjudged; judge them"):
        value(run, {"q": {"a": 1}}, "RR", unjudged="error")
    assert value(run, {"q": {"a": 1}}, "Judged@2") == 0.5
    assert value(run, {"q": {"a": 1}}, "RBP(p=0.5)") == 0.25
    assert value(run, {"q": {"a": 1}}, "RBP(p=0.5).residual") == 0.75


def test_negative_grades_are_unjudged():
    run = {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}
    with pytest.warns(JudgewellWarning, match="taken as unjudged"):
        assert value(run, {"q": {"a": 1, "x": -1}}, "Judged@2") == 0.5
    with pytest.warns(JudgewellWarning, match="taken as 0"):
        assert value(run, {"q": {"a": 1, "x": -1}}, "Judged@2", negative="zero") == 1.0
    with pytest.raises(DataError, match="the gains table is empty"), pytest.warns(JudgewellWarning):
        evaluate(run, {"q": {"a": -1}}, "nDCG@10")


def test_interleaved_topics_are_put_together(tmp_path, monkeypatch):
    apart = [f"{topic} Q0 d{rank} {rank} {50 - rank} t" for rank in range(50) for topic in ("1", "2", "10")]
    (tmp_path / "apart.run").write_text("\n".join(apart))
    (tmp_path / "together.run").write_text(
        "\n".join(sorted(apart, key=lambda line: line.split()[0])).replace(" t", " u")
    )
    gains = {topic: {"d3": 1, "d30": 1, "none": 1} for topic in ("1", "2", "10")}
    for size in (1 << 20, 300):
        monkeypatch.setattr(runs_module, "PART_BYTES", size)
        scores = evaluate([tmp_path / "apart.run", tmp_path / "together.run"], gains, ["AP", "nDCG@40"])
        one, other = scores.partition_by("system")
        assert one["value"].to_list() == other["value"].to_list()


def test_ids_are_strings():
    gains = {"001": {"a": 1}, "1": {"b": 1}, "2024-1": {"c": 1}}
    run = {"001": {"a": 1.0}, "1": {"a": 1.0, "b": 0.0}, "2024-1": {"c": 1.0}}
    assert evaluate(run, gains, "RR")["value"].to_list() == [1.0, 0.5, 1.0]


def test_a_document_twice_names_file_topic_and_document(tmp_path):
    (tmp_path / "a.run").write_text("1 Q0 d 1 2 t\n1 Q0 e 2 1 t\n1 Q0 d 3 0 t\n")
    with pytest.raises(InputError, match=r"a\.run:3: topic 1: document d is ranked twice"):
        evaluate(tmp_path / "a.run", {"1": {"e": 1}}, "AP")


def test_empty_things_are_said(tmp_path):
    (tmp_path / "empty.run").write_text("")
    (tmp_path / "comment.run").write_text("# nothing\n")
    for name in ("empty", "comment"):
        with pytest.raises(InputError, match=f"{name}.run: the run is empty"):
            evaluate(tmp_path / f"{name}.run", GAINS, "AP(rel=1)")
    with pytest.raises(InputError, match=r"has judgments; check .* ids: the run has 0q, the gains have q"):
        evaluate({"0q": {"a": 1.0}}, GAINS, "nDCG@10")
    with pytest.warns(JudgewellWarning, match=r"no judged document .* document ids: the gains have A"):
        evaluate({"q": {"a": 1.0}}, {"q": {"A": 1}}, "nDCG@10")
    with pytest.warns(JudgewellWarning, match=r"1 of 2 topics have no document with a gain above 0 \(the first: q2\)"):
        scores = evaluate(RUN, {**GAINS, "q2": {"a": 0.0}}, ["nDCG@10", "ERR(gmax=2)@10"])
    assert scores["value"].is_finite().all()
    assert scores.filter(pl.col("topic") == "q2")["value"].to_list() == [0.0, 0.0]


def test_topics_without_judgments_do_not_count_and_are_told():
    with pytest.warns(
        JudgewellWarning, match=r"the run ranks topics without judgments \(1\); these topics are ignored"
    ):
        assert evaluate({**RUN, "q9": {"a": 1.0}}, GAINS, "nDCG@10")["topic"].to_list() == ["q1", "q2"]


def test_several_tags_in_one_file_are_one_system_and_told(tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 u\nq2 Q0 a 1 1 t\n")
    with pytest.warns(JudgewellWarning, match="tags 't' and 'u' in one file; taken as one system, 't'"):
        assert evaluate(tmp_path / "a.run", GAINS, "nDCG@10")["system"].unique().to_list() == ["t"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"ties": "random"}, "ties 'random' is not one of doc, shared"),
        ({"order": "docno"}, "order 'docno' is not one of score, rank"),
        ({"negative": "drop"}, "negative 'drop' is not one of unjudged, zero, keep, error"),
    ],
)
def test_unknown_options_are_refused(option, said):
    with pytest.raises(JudgewellError, match=said):
        evaluate(RUN, GAINS, "nDCG@10", **option)


def test_binary_measures_refuse_fractional_gains_without_a_threshold():
    with pytest.raises(JudgewellError, match=r"name the lowest gain of a relevant .* AP\(rel=0.5\)"):
        evaluate(RUN, GAINS, "AP")
    assert evaluate(RUN, GAINS, "AP(rel=0.5)")["value"].to_list() == [1.0, 0.5]


def test_rbp_refuses_gains_above_one():
    with pytest.raises(JudgewellError, match=r"takes gains from 0 to 1, and there is a gain of 1.4; rescale"):
        evaluate(RUN, GAINS, "RBP")


def test_what_residuals_take_from_the_gains_they_take_from_the_whole_table(tmp_path, monkeypatch):
    """A part of the run holds a few topics only, but the best gain belongs to the whole table."""
    monkeypatch.setattr(runs_module, "PART_BYTES", 300)
    gains = {f"q{n}": {"d0": 1 + n % 3, "d1": 0.5} for n in range(30)}
    lines = [f"q{n} Q0 d{k} {k} {9 - k} t" for n in range(30) for k in range(5)]
    (tmp_path / "a.run").write_text("\n".join(lines))
    parts = evaluate(tmp_path / "a.run", gains, "CG@5.residual")
    assert len(runs_module.open_runs(tmp_path / "a.run")[0].parts) > 2
    assert set(parts["value"]) == {9.0}


def test_scores_are_named_with_the_gmax_used():
    run = {"q1": {"a": 2.0, "b": 1.0}}
    assert evaluate(run, {"q1": {"a": 1, "b": 3}}, "ERR@5")["measure"].to_list() == ["ERR(gmax=4)@5"]
    assert evaluate(run, {"q1": {"a": 0.5}}, "ERR(gmax='topic')@5")["measure"].to_list() == ["ERR(gmax='topic')@5"]
    for gains in ({"a": 0.5, "b": 1.0}, {"a": 1, "b": 5}, {"a": 12.5}):
        bound = math.ceil(max(gains.values()))
        choices = rf"ERR\(gmax={bound}\)@5 for the same .* ERR\(gmax='topic'\)@5"
        with pytest.raises(MeasureError, match=choices):
            evaluate(run, {"q1": gains}, "ERR@5")


def test_an_object_of_ir_measures_means_what_it_means_there():
    run, gains = {"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"a": 0, "b": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no note: its p is known
        scores = evaluate(run, gains, [ir_measures.RBP(rel=1), ir_measures.RBP(p=0.5, rel=1), ir_measures.nDCG @ 5])
    assert scores["measure"].to_list() == ["RBP(p=0.8,rel=1)", "RBP(p=0.5,rel=1)", "nDCG@5"]
    assert scores["value"][:2].to_list() == pytest.approx([0.16, 0.25])


def test_rbp_without_p_says_which_p_it_took():
    with pytest.warns(JudgewellWarning, match=r"RBP: p is not given, and 0.9 is used .*ir_measures uses 0.8"):
        scores = evaluate({"q1": {"a": 2.0}}, {"q1": {"a": 1}}, "RBP")
    assert scores["measure"].to_list() == ["RBP(p=0.9)"]


def processes(count):
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))  # polars does not survive a fork


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, processes])
def test_any_executor_gives_the_same_scores_and_progress_counts_up(executor, tmp_path):
    for system in "abcdefgh":
        rng = random.Random(system)
        lines = [f"q{t} Q0 d{d} 0 {rng.random()} {system}" for t in range(5) for d in range(20)]
        (tmp_path / f"{system}.run").write_text("\n".join(lines))
    gains = {f"q{t}": {f"d{d}": d % 4 / 3 for d in range(0, 20, 2)} for t in range(5)}
    seen = []
    with executor(2) as pool:
        theirs = evaluate(
            f"{tmp_path}/*.run",
            gains,
            "nDCG@10",
            executor=pool,
            progress=lambda done, total: seen.append((done, total)),
        )
    assert theirs.equals(evaluate(f"{tmp_path}/*.run", gains, "nDCG@10"))
    assert seen == [(done, 8) for done in range(1, 9)]


def test_an_ordinary_evaluation_says_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(RUN, GAINS, "nDCG@10")


def test_equal_to_pytrec_eval_on_random_runs_from_frames():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = random.Random(7)
    names = {
        "map": "AP",
        "ndcg_cut_10": "nDCG@10",
        "P_5": "P@5",
        "recip_rank": "RR",
        "bpref": "Bpref",
        "Rprec": "Rprec",
    }
    for _ in range(20):
        docs = [f"d{n}" for n in range(40)]
        gains = {str(t): {d: rng.randint(0, 3) for d in rng.sample(docs, 15)} for t in range(6)}
        run = {str(t): {d: round(rng.random(), 1) for d in rng.sample(docs, rng.randint(1, 40))} for t in range(6)}
        theirs = pytrec_eval.RelevanceEvaluator(gains, set(names)).evaluate(run)
        scores = evaluate(run, gains, list(names.values()), precision="single")
        for row in scores.iter_rows(named=True):
            name = next(name for name, ours in names.items() if ours == row["measure"])
            assert row["value"] == pytest.approx(theirs[row["topic"]][name], abs=1e-9)


@pytest.mark.realdata
def test_all_published_dl21_cells_come_out_with_scores_in_single_precision(data):
    """Doubles rank nine of the runs differently somewhere, eight in their top tens, which changes nDCG@10 of seven."""
    folder = data / "trec-dl21"
    expected = pl.read_csv(folder / "expected" / "dl21.ndcg_cut10.csv", schema_overrides={"topic": pl.String})
    for precision, wrong in (("single", 0), ("double", 7)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JudgewellWarning)
            scores = evaluate(f"{folder}/runs/*.gz", folder / "qrels.nist.txt", "nDCG@10", precision=precision)
        both = scores.join(expected, left_on=["system", "topic"], right_on=["runid", "topic"])
        assert len(both) == 3339
        off = both.filter((pl.col("value") - pl.col("ndcg_cut_10")).abs() > 5e-5)
        assert off["system"].n_unique() == wrong
    means = scores.group_by("system").agg(pl.col("value").mean()).sort("value", descending=True)
    assert means.head(3)["value"].n_unique() == 1


@pytest.mark.realdata
def test_real_valued_labels_of_dl21_reach_above_one_and_are_measured(data):
    labels = data / "trec-dl21" / "labels" / "gpt-4o__nuggets__weighted__qrels.autonuggetizer.w.dl21.txt.gz"
    with pytest.warns(JudgewellWarning):
        scores = evaluate(f"{data}/trec-dl21/runs/input.p_bm25*.gz", labels, "nDCG@10")
    assert scores["value"].is_between(0, 1).all()
    assert 0 < scores["value"].mean() < 1


BAD_LINES = {
    "few fields": b"q25 Q0 d1",
    "no number": b"q25 Q0 d1 1 high t",
    "not a number": b"q25 Q0 d1 1 nan t",
    "not UTF-8": b"q25 Q0 d\xff 1 1 t",
    "byte 0": b"q25 Q0 d\x001 1 1 t",
    "twice": b"q25 Q0 d3 1 1 t",
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES.keys())
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_bad_line_in_a_later_part_is_named_alike_by_both_kernels(tmp_path, monkeypatch, line, packed):
    monkeypatch.setattr(runs_module, "PART_BYTES", 400)
    lines = [f"q{topic} Q0 d{rank} {rank} {9 - rank} t".encode() for topic in range(40) for rank in range(8)]
    lines.insert(25 * 8 + 5, line)
    data = b"\n".join(lines) + b"\n"
    path = tmp_path / ("a.run.gz" if packed else "a.run")
    path.write_bytes(gzip.compress(data) if packed else data)
    gains = {f"q{topic}": {"d1": 1.0, "d3": 2.0} for topic in range(40)}
    messages = []
    for kernel in ("", "numpy"):
        monkeypatch.setenv("JUDGEWELL_KERNEL", kernel)
        with pytest.raises(InputError, match=rf"a\.run(\.gz)?:{25 * 8 + 6}: ") as problem:
            evaluate(path, gains, "nDCG@10")
        messages.append(str(problem.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_topics_that_come_back_in_a_later_part_are_put_together(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(runs_module, "PART_BYTES", 400)
    lines = [f"q{topic} Q0 d{rank} {rank} {9 - rank} t\n".encode() for rank in range(8) for topic in range(40)]
    path = tmp_path / "a.run"
    path.write_bytes(gzip.compress(b"".join(lines)) if packed else b"".join(lines))
    gains = {f"q{topic}": {"d1": 1.0, "d6": 2.0} for topic in range(40)}
    scores = evaluate(path, gains, "nDCG@10")
    assert len(scores) == 40
    run = {f"q{topic}": {f"d{rank}": 9.0 - rank for rank in range(8)} for topic in range(40)}
    assert scores["value"].to_list() == evaluate(run, gains, "nDCG@10")["value"].to_list()


def test_a_topic_larger_than_a_part_is_one_topic(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "PART_BYTES", 300)
    lines = "".join(f"{topic} Q0 d{rank} {rank} {999 - rank} t\n" for topic in (1, 2) for rank in range(300))
    (tmp_path / "a.run").write_text(lines)
    (tmp_path / "b.run.gz").write_bytes(gzip.compress(lines.replace(" t\n", " u\n").encode()))
    scores = evaluate([tmp_path / "a.run", tmp_path / "b.run.gz"], {"1": {"d250": 1.0}, "2": {"d2": 1.0}}, "RR")
    assert scores["value"].to_list() == [1 / 251, 1 / 3] * 2


def test_scores_that_are_all_the_same_beside_ranks_are_noted(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("".join(f"1 Q0 d{rank} {rank} 1 const\n" for rank in (1, 2, 3)))
    gains = {"1": {"d1": 1}}
    with pytest.warns(JudgewellWarning, match=r"the same score in all first lines .* --order rank"):
        assert evaluate(path, gains, "RR")["value"].to_list() == [1 / 3]
    assert evaluate(path, gains, "RR", order="rank")["value"].to_list() == [1]
