"""trec_eval's output from its own test files, line by line, with a reader and ranker of the test's own."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval

from judgewell.errors import MeasureError
from judgewell.evaluation.evaluate import evaluate
from judgewell.evaluation.measures import nDCG
from judgewell.evaluation.part import measured
from judgewell.evaluation.trec_names import FAMILIES, TrecOutput, needed, trec_measures


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
    by_measure = {line.measure: measured(line.measure, gains, ideal, lengths) for line in lines if line.measure}
    values = np.stack([by_measure[measure] for measure in needed(lines)], axis=-1)
    return topics, lines, values, lengths


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
    topics, lines, values, lengths = evaluated(read_qrels(folder / "qrels.test"), run, names, complete=complete)
    printed = TrecOutput(lines, per_topic).text(tag, topics, values, lengths)
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
    topics, lines, values, _ = evaluated(qrels, run, names, complete=False, version=9)
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
        ("relstring.50", "from 1 to 13"),
        ("prefs", "it has official"),
    ],
)
def test_names_that_cannot_be_read_are_refused(name, message):
    with pytest.raises(MeasureError, match=message):
        trec_measures([name])


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("nDCG@3", "ndcg_cut_3"),
        ("AP", "map"),
        ("AP@7", "map_cut_7"),
        ("P@4", "P_4"),
        ("RR", "recip_rank"),
        ("SetR", "set_recall"),
        ("GMAP", "gm_map"),
        ("RBP(p=0.8)", "RBP(p=0.8)"),
        ("RBP(p=0.9)", "RBP(p=0.9)"),
        ("nDCG(gain='exp2')@3", "nDCG(gain='exp2')@3"),
        ("AP(rel=2)", "AP(rel=2)"),
    ],
)
def test_other_spellings_are_understood_and_printed_as_trec_eval_does_where_it_has_them(name, printed):
    assert [line.name for line in trec_measures([name])] == [printed]


def test_a_measure_named_twice_is_printed_once():
    assert [line.name for line in trec_measures(["ndcg_cut.3", "nDCG@3", "map"])] == ["map", "ndcg_cut_3"]


def test_version_9_does_not_print_topics_that_the_run_misses():
    lines = trec_measures(["map", "utility.1,-1,-1,0"])
    values, lengths = np.array([[0.5, 1.0], [0.0, -3.0]]), np.array([4, 0])
    for version, shown in ((9, ["a", "all"]), (10, ["a", "b", "all"])):
        text = TrecOutput(lines, True, version=version).text("s", ["a", "b"], values, lengths)
        assert [line.split("\t")[1] for line in text.splitlines()][::2] == shown
        assert text.splitlines()[-1].endswith("0.5000" if version == 9 else "-1.0000")


def test_the_sum_of_num_rel_over_all_topics_ignores_the_level():
    line = trec_measures(["num_rel"], rel=2, complete=True)[0]
    ideal = np.array([[3.0, 2, 1, 0], [1, 1, 0, 0]])
    values = np.stack([measure(ideal, ideal) for measure in needed([line])], axis=-1)
    assert values.tolist() == [[2, 3], [0, 2]]
    text = TrecOutput([line], True).text("s", ["a", "b"], values, np.array([4, 4]))
    assert [row.split("\t")[1:] for row in text.splitlines()] == [["a", "2"], ["b", "0"], ["all", "5"]]


def test_several_runs_are_told_apart_by_their_ids_and_n_leaves_the_summary_out():
    lines = trec_measures(["runid", "map"])
    values, lengths = np.array([[0.5]]), np.array([1])
    both = TrecOutput(lines, True, with_runid=True).text("s", ["a"], values, lengths)
    assert [row.split("\t")[0].strip() for row in both.splitlines()] == ["runid", "map", "map"]
    assert TrecOutput(lines, True, summary=False).text("s", ["a"], values, lengths).count("\n") == 1


def test_rndcg_is_zero_where_no_document_reaches_the_level():
    gains = np.array([[1.0, 0, 1]])
    line = trec_measures(["Rndcg"], rel=2)[0]
    assert measured(line.measure, gains, gains, np.array([3]))[0] == 0


def test_interpolated_precision_and_set_map_are_divided_once():
    """Precision at rank 49 with 7 hits is 7/49, not 7 · (1/49); set_map is one division."""
    gains = np.zeros((1, 49))
    gains[0, -7:] = 1
    line = trec_measures(["iprec_at_recall.1"])[0]
    assert measured(line.measure, gains, np.ones((1, 7)), np.array([49]))[0] == 7 / 49
    line = trec_measures(["set_map"])[0]
    for retrieved, relevant, both in ((49, 11, 7), (93, 29, 13), (1000, 3, 3)):
        gains = np.full((1, retrieved), np.nan)
        gains[0, :both] = 1
        value = measured(line.measure, gains, np.ones((1, relevant)), np.array([retrieved]))[0]
        assert value == both * both / (retrieved * relevant)


def test_inferred_precision_counts_pooled_documents_that_were_not_judged():
    gains = np.array([[0.0, -1, 1, np.nan, -1, 1]])
    line = trec_measures(["infAP"])[0]
    small = 0.00001
    first = 1 / 3 + (2 / 3) * (2 / 2) * (0 + small) / (1 + 2 * small)
    second = 1 / 6 + (5 / 6) * (4 / 5) * (1 + small) / (2 + 2 * small)
    assert measured(line.measure, gains, np.array([[1.0, 1, 0]]), np.array([6]))[0] == pytest.approx(
        (first + second) / 2
    )


@pytest.mark.filterwarnings("ignore")
def test_pooled_documents_that_were_not_judged_leave_a_condensed_ranking():
    """trec_eval -J keeps documents with a grade from 0 on only."""
    run, gains = {"q": {"x": 4.0, "a": 3.0, "u": 2.0, "b": 1.0}}, {"q": {"x": -1, "a": 0, "b": 1, "c": 1}}
    without = {"q": {"a": 3.0, "b": 1.0}}
    values = [evaluate(ranking, gains, "infAP", unjudged="condense")["value"][0] for ranking in (run, without)]
    assert values[0] == values[1] != evaluate(run, gains, "infAP")["value"][0]


def test_grades_are_shown_as_a_string():
    line = trec_measures(["relstring"])[0]
    gains = np.array([[0, 3, np.nan, 12, -1, np.nan, np.nan], [np.nan] * 7])
    shown = [
        line.line("t", float(value)).split("\t")[2]
        for value in measured(line.measure, gains, gains[:, :0], np.array([6, 0]))
    ]
    assert shown == ["'03->.-'", "''"]


def test_topics_that_do_not_count_are_left_out_and_the_others_sorted():
    lines = trec_measures(["num_q", "map"])
    text = TrecOutput(lines, True).text("s", ["b", "c", "a"], np.array([[0.5], [np.nan], [0.25]]), np.ones(3, np.int64))
    assert [line.split("\t")[1:] for line in text.splitlines()] == [
        ["a", "0.2500"],
        ["b", "0.5000"],
        ["all", "2"],
        ["all", "0.3750"],
    ]
