"""Ranking: what the array code does is what a plain sort does, whatever the run looks like."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import InputError
from judgewell.evaluation import compiled
from judgewell.evaluation.judged import prepare
from judgewell.evaluation.kernel import judged_ranks
from judgewell.evaluation.settings import Settings
from judgewell.tables import GAINS, check

TOPICS, DOCS = ["1", "2", "001"], ["a", "b", "c", "d", "é", "Z", "10", "9"]
SCORES = [0.0, -0.0, 1.0, 1.0 + 1e-10, 2.5, -3.0, float("inf")]
lines = st.lists(
    st.tuples(st.sampled_from([*TOPICS, "unjudged"]), st.sampled_from(DOCS), st.sampled_from(SCORES)),
    unique_by=lambda line: line[:2],
    min_size=1,
    max_size=25,
)
judgments = st.dictionaries(
    st.tuples(st.sampled_from(TOPICS), st.sampled_from(DOCS)), st.sampled_from([0.0, 0.5, 1.3]), min_size=1
)


unbuilt = pytest.mark.skipif(compiled.extension() is None, reason="the C extension is not built")
both = pytest.mark.parametrize("kernel", ["numpy", pytest.param("compiled", marks=unbuilt)])


def found_by(kernel, rows, judged, settings=None):
    """What a kernel finds; the compiled one reads the same rows as lines."""
    settings = settings or Settings()
    if kernel == "numpy":
        return judged_ranks(part_of(rows), prepare(gains_of(judged)), settings)
    data = "".join(f"{topic} Q0 {doc} 1 {score!r} t\n" for topic, doc, score in rows).encode()
    ranks, _ = compiled.judged_ranks(data, prepare(gains_of(judged)), settings)
    return ranks


def part_of(rows):
    frame = pl.DataFrame(rows, schema={"topic": pl.String, "doc": pl.String, "score": pl.Float64}, orient="row")
    return frame.with_columns(rank=pl.lit(None, pl.String))


def gains_of(judged):
    return check([{"topic": t, "doc": d, "gain": g} for (t, d), g in judged.items()], GAINS)


def plain_ranks(rows, judged, single):
    """Score descending, then document id descending, as a sort of Python tuples would have it."""
    number = np.float32 if single else float
    ranks = {}
    for topic in {row[0] for row in rows}:
        mine = sorted(((number(s), d.encode()) for t, d, s in rows if t == topic), reverse=True)
        ranks |= {(topic, doc.decode()): rank for rank, (_, doc) in enumerate(mine) if (topic, doc.decode()) in judged}
    return ranks


@both
@given(rows=lines, judged=judgments, single=st.booleans())
def test_ranks_are_those_of_a_plain_sort(kernel, rows, judged, single):
    gains = gains_of(judged)
    ranks = found_by(kernel, rows, judged, Settings(precision="single" if single else "double"))
    topics = gains["topic"].unique(maintain_order=True).to_list()
    ours = {
        (topics[ranks.topics[row]], gains["doc"][item]): rank
        for row, rank, item in zip(ranks.row.tolist(), ranks.rank.tolist(), ranks.item.tolist(), strict=True)
    }
    assert ours == plain_ranks(rows, judged, single)
    lengths = {topics[topic]: length for topic, length in zip(ranks.topics, ranks.lengths.tolist(), strict=True)}
    assert lengths == {t: sum(row[0] == t for row in rows) for t in {row[0] for row in rows} & set(topics)}
    assert ranks.unknown == {row[0] for row in rows} - set(topics)
    assert ranks.lines == len(rows)


@both
@given(rows=lines, judged=judgments)
def test_judged_documents_know_the_tie_they_stand_in(kernel, rows, judged):
    ranks = found_by(kernel, rows, judged)
    gains = gains_of(judged)
    topics = gains["topic"].unique(maintain_order=True).to_list()
    ties = {
        (topics[ranks.topics[row]], gains["doc"][item]): (first, size)
        for row, item, first, size in zip(
            *(x.tolist() for x in (ranks.row, ranks.item, ranks.first, ranks.size)), strict=True
        )
    }
    expected = {}
    for topic, doc, score in rows:
        scores = sorted((s for t, _, s in rows if t == topic), reverse=True)
        if (topic, doc) in judged:
            expected[topic, doc] = (scores.index(score), scores.count(score))
    assert ties == expected
    table = ranks.tie_table(int(ranks.lengths.max(initial=0)))
    for row, first, size in zip(ranks.row.tolist(), ranks.first.tolist(), ranks.size.tolist(), strict=True):
        assert table[row, first : first + size].tolist() == [first] * size


def test_ranks_of_the_file_can_be_followed():
    part = part_of([("1", "a", 1.0), ("1", "b", 2.0)]).with_columns(rank=pl.Series(["1", "2"]))
    judged = prepare(gains_of({("1", "a"): 1.0}))
    assert judged_ranks(part, judged, Settings(order="rank")).rank.tolist() == [0]
    assert judged_ranks(part, judged, Settings()).rank.tolist() == [1]
    with pytest.raises(InputError, match="topic 1: rank 'x' of document b is not a number"):
        judged_ranks(part.with_columns(rank=pl.Series(["1", "x"])), judged, Settings(order="rank"))


def test_a_document_twice_in_a_ranking_is_refused():
    rows = [("1", "a", 3.0), ("1", "b", 2.0), ("1", "a", 1.0)]
    with pytest.raises(InputError, match="topic 1: document a is ranked twice"):
        judged_ranks(part_of(rows), prepare(gains_of({("1", "b"): 1.0})), Settings())


def test_two_documents_whose_keys_collide_are_still_told_apart(monkeypatch):
    """Where all keys are the same, comparing the ids decides."""
    from judgewell.evaluation import lookup as module

    judged = gains_of({("1", "a"): 1.0})
    monkeypatch.setattr(module, "keys_of", lambda docs, topics, seed: np.zeros(len(docs), np.uint64))
    rows = [("1", doc, float(n)) for n, doc in enumerate(DOCS)]
    ranks = judged_ranks(part_of(rows), prepare(judged), Settings())
    assert ranks.rank.tolist() == [len(DOCS) - 1]


def test_judged_documents_that_share_a_key_get_new_keys(monkeypatch):
    from judgewell.evaluation import lookup as module

    real = module.keys_of
    top = np.uint64(0xC000000000000000)
    monkeypatch.setattr(
        module,
        "keys_of",
        lambda docs, topics, seed: real(docs, topics, seed) & top if seed == 0 else real(docs, topics, seed),
    )
    table = prepare(gains_of({("1", doc): 1.0 for doc in DOCS})).lookup
    assert table.seed == 1
    assert len(set(table.keys.tolist())) == len(DOCS)


def test_ideal_gains_are_each_topics_own_sorted():
    table = prepare(gains_of({("1", "a"): 0.0, ("1", "b"): 1.3, ("2", "a"): 0.5}))
    ideal = table.ideal(np.array([1, 0]))
    np.testing.assert_equal(ideal, [[0.5, np.nan], [1.3, 0.0]])
