"""trec_eval's output from its own test files, line by line, with a reader and ranker of the test's own."""

from __future__ import annotations

import numpy as np
import pytest

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
