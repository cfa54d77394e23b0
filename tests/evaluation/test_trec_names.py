"""trec_eval's output from its own test files, line by line, with a reader and ranker of the test's own."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval

from judgewell.errors import JudgewellWarning, MeasureError
from judgewell.evaluation.measures import nDCG
from judgewell.evaluation.trec_names import FAMILIES, needed, print_trec, trec_measures


def read_qrels(path):
    grades = {}
    for line in path.read_text().splitlines():
        topic, _, doc, grade = line.split()
        grades.setdefault(topic, {})[doc] = int(grade)
    return grades


def read_run(path):
    """The documents of each topic, best first: score in single precision descending, then document id descending."""
    found, tag = {}, None
    for line in path.read_text().splitlines():
        topic, _, doc, _, score, tag, *_ = line.split()
        found.setdefault(topic, []).append((np.float32(score), doc))
    return {topic: [doc for _, doc in sorted(docs, reverse=True)] for topic, docs in found.items()}, tag


def table(rows, width=None):
    """Rows of different lengths as an array, NaN behind the shorter ones."""
    out = np.full((len(rows), width or max(map(len, rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        out[place, : len(row)] = row
    return out


def evaluated(qrels, run, names, *, complete, **options):
    topics = [topic for topic in qrels if complete or topic in run]
    gains = table([[qrels[topic].get(doc, np.nan) for doc in run.get(topic, [])] for topic in topics])
    ideal = table([sorted((grade for grade in qrels[topic].values() if grade >= 0), reverse=True) for topic in topics])
    gains[gains < 0] = np.nan
    lengths = np.array([len(run.get(topic, [])) for topic in topics])
    lines = trec_measures(names, **options)
    by_measure = {line.measure: line.values(gains, ideal, lengths) for line in lines if line.measure}
    values = np.stack([by_measure[measure] for measure in needed(lines)], axis=-1)
    return topics, lines, values


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("results", "names", "expected", "per_topic", "complete"),
    [
        ("results.test", ["official"], "out.test", False, False),
        ("results.test", ["all_trec"], "out.test.aq", True, False),
        ("results.trunc", ["all_trec"], "out.test.aqc", True, True),
    ],
)
def test_the_output_is_trec_evals_to_the_last_digit(data, results, names, expected, per_topic, complete):
    folder = data / "trec_eval"
    run, tag = read_run(folder / results)
    topics, lines, values = evaluated(read_qrels(folder / "qrels.test"), run, names, complete=complete)
    printed = print_trec(tag, topics, lines, values, per_topic=per_topic)
    assert printed.splitlines() == (folder / expected).read_text().splitlines()


def random_collection(rng, topics=60):
    """Grades and rankings, some of them empty of relevant documents, with scores that tie."""
    qrels, runs = {}, {}
    for topic in map(str, range(topics)):
        pool = [f"d{number}" for number in range(30)]
        judged = rng.choice(pool, rng.integers(1, 25), replace=False)
        qrels[topic] = {str(doc): int(rng.choice([0, 0, 1, 2, 3])) for doc in judged}
        shown = rng.choice(pool, rng.integers(1, 30), replace=False)
        runs[topic] = {str(doc): float(rng.integers(0, 40)) for doc in shown}
    return qrels, runs


UNDEFINED = {"rbp", "rbp_resid", "unj"}  # which pytrec_eval does not have
PRINTED_ONLY = {"runid", "num_q", "relstring", "gm_map", "gm_bpref"}


def test_topics_have_the_values_of_pytrec_eval_in_version_9():
    qrels, scores = random_collection(np.random.default_rng(1))
    run = {topic: sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True) for topic, docs in scores.items()}
    names = sorted(set(FAMILIES) - UNDEFINED - PRINTED_ONLY)
    assert set(names) <= pytrec_eval.supported_measures
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(scores)
    topics, lines, values = evaluated(qrels, run, names, complete=False, version=9)
    place = {measure: column for column, measure in enumerate(needed(lines))}
    for line in lines:
        for row, topic in enumerate(topics):
            ours = values[row, place[line.measure]]
            known = sum(grade > 0 for grade in qrels[topic].values())
            if known or line.name not in ("ndcg_rel", "Rndcg"):  # which are 0/0 there
                assert ours == pytest.approx(theirs[topic][line.name], abs=1e-10), (line.name, topic)


def test_the_mean_and_the_geometric_mean_over_topics():
    line = next(line for line in trec_measures(["gm_map"]) if line.name == "gm_map")
    assert line.overall(np.array([0.0, 1.0])) == pytest.approx(0.00001**0.5)
    assert trec_measures(["map"])[0].overall(np.array([0.0, 1.0])) == 0.5
    assert trec_measures(["num_ret"])[0].overall(np.array([3.0, 4.0])) == 7


@pytest.mark.parametrize(
    ("names", "printed"),
    [
        (["map"], ["map"]),
        (["ndcg_cut.10,5"], ["ndcg_cut_5", "ndcg_cut_10"]),
        (["P.5", "map", "P.10"], ["map", "P_5", "P_10"]),
        (["P_7"], ["P_7"]),
        (["success"], ["success_1", "success_5", "success_10"]),
        (["iprec_at_recall.0.25"], ["iprec_at_recall_0.25"]),
        (["iprec_at_recall_0.50"], ["iprec_at_recall_0.50"]),
        (["rbp.p=0.8"], ["rbp_p=0.8"]),
        (["set_F.0.5"], ["set_F_0.5"]),
        (["relstring.5"], ["relstring_5"]),
        (["utility.1,-2,0,0"], ["utility_1,-2,0,0"]),
        (["11pt_avg.0.2,0.5,0.8"], ["11pt_avg_0.2,0.5,0.8"]),
        (["11pt_avg"], ["11pt_avg"]),
    ],
)
def test_names_with_parameters(names, printed):
    assert [line.name for line in trec_measures(names)] == printed


def test_parameters_reach_the_measure():
    assert trec_measures(["ndcg_cut.10"])[0].measure == nDCG(cutoff=10)
    assert trec_measures(["map"], rel=2)[0].measure.rel == 2
    assert trec_measures(["num_ret"], rel=2)[0].measure.rel is None
    assert trec_measures(["rbp.p=0.8"])[0].measure.p == 0.8


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mapp", "no 'mapp' \\(did you mean map"),
        ("P.0", "a number above 0"),
        ("P.5,5", "given once"),
        ("P.x", "not a list of numbers"),
        ("map.3", "takes no parameters"),
        ("utility.1,2", "four numbers"),
        ("relstring.50", "from 1 to 14"),
        ("prefs", "it has official"),
    ],
)
def test_names_that_cannot_be_read_are_refused(name, message):
    with pytest.raises(MeasureError, match=message):
        trec_measures([name])


def test_inferred_precision_is_refused_where_grades_below_zero_were_lost():
    with pytest.raises(MeasureError, match="pooled documents"):
        trec_measures(["infAP"], negative_grades=True)
    with pytest.warns(JudgewellWarning, match="infAP is left out"):
        lines = trec_measures(["all_trec"], negative_grades=True)
    assert "infAP" not in [line.name for line in lines]
    assert "infAP" in [line.name for line in trec_measures(["all_trec"])]


def test_grades_are_shown_as_a_string():
    line = trec_measures(["relstring"])[0]
    gains = np.array([[0, 3, np.nan, 12, np.nan, np.nan], [np.nan] * 6])
    shown = [
        line.line("t", float(value)).split("\t")[2] for value in line.values(gains, gains[:, :0], np.array([5, 0]))
    ]
    assert shown == ["'03->-'", "''"]


def test_topics_that_do_not_count_are_left_out_and_the_others_sorted():
    lines = trec_measures(["num_q", "map"])
    text = print_trec("s", ["b", "c", "a"], lines, np.array([[0.5], [np.nan], [0.25]]), per_topic=True)
    assert [line.split("\t")[1:] for line in text.splitlines()] == [
        ["a", "0.2500"],
        ["b", "0.5000"],
        ["all", "2"],
        ["all", "0.3750"],
    ]
