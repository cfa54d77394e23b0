"""Groups and pair sequences: every promise of the pairwise design."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_sequences import breaks_in

from judgewell.errors import DataError, InputError
from judgewell.study.design.chance import generator
from judgewell.study.design.graphs import make_graphs, random_graph
from judgewell.study.design.groups import groups_per_partition, make_groups, partitions_for, plan_groups
from judgewell.study.design.sequences import exact_path, sequence

# Yang et al. 2018, Table 1: topic, documents, partitions, groups, distinct documents known to be relevant
ADCS = [
    (402, 278, 14, 532, 12),
    (403, 120, 6, 96, 8),
    (405, 216, 11, 297, 27),
    (407, 225, 11, 330, 15),
    (408, 192, 10, 240, 24),
    (415, 184, 9, 207, 23),
    (416, 176, 9, 198, 22),
    (431, 208, 10, 260, 26),
    (440, 270, 13, 468, 18),
]


@pytest.mark.parametrize(("topic", "documents", "partitions", "groups", "high"), ADCS)
def test_the_published_table_comes_out_of_the_rule(topic, documents, partitions, groups, high):
    plan = plan_groups(documents, high=high, low=60)
    assert (plan.partitions, plan.total) == (partitions, groups)
    made = make_groups(plan, generator(1, str(topic)), high=range(high), low=range(high, high + 60))
    assert made.pairs.shape == (groups, 12, 2)
    assert made.resampled == 8 * plan.groups - documents
    assert made.repeats == 0


def test_more_known_documents_than_groups_change_nothing():
    assert groups_per_partition(216, 27, 27, 8) == groups_per_partition(216, 100, 100, 8) == 27


def promises(made, high, low):
    plan = made.plan
    assert len(made.documents) == len(made.pairs) == len(made.partition) == plan.total
    for members, pairs in zip(made.documents.tolist(), made.pairs.tolist(), strict=True):
        assert len(set(members)) == plan.size
        met = {frozenset(pair) for pair in pairs}
        assert len(met) == len(pairs) == plan.size * plan.partners // 2
        partners = {doc: sum(doc in pair for pair in met) for doc in members}
        assert set(partners.values()) == {plan.partners}
        assert connected(members, met)
        if high:
            assert members[0] in high
            assert members[1] in low
            assert frozenset(members[:2]) in met
    for number in range(1, plan.partitions + 1):
        assert set(made.documents[made.partition == number].ravel().tolist()) == set(range(plan.documents))
    broken = sum(breaks_in([tuple(pair) for pair in pairs]) for pairs in made.pairs.tolist())
    assert broken == made.breaks
    if plan.size == 8:
        assert broken == 0
    every = [frozenset(pair) for pairs in made.pairs.tolist() for pair in pairs]
    assert made.repeats + made.known_repeats == len(every) - len(set(every))


def connected(members, met):
    reached = {members[0]}
    while more := {doc for pair in met if pair & reached for doc in pair} - reached:
        reached |= more
    return reached == set(members)


@given(
    st.integers(2, 70),
    st.data(),
    st.sampled_from([(8, 3), (4, 2), (6, 3), (5, 4), (8, 5), (3, 2), (2, 1)]),
    st.integers(1, 5),
    st.integers(0, 9999),
)
def test_every_promise_holds_for_any_pool(documents, data, shape, partitions, seed):
    size, partners = shape
    high = data.draw(st.integers(0, documents // 2))
    low = data.draw(st.integers(1, documents - high)) if high else 0
    if size == 2 and documents > 2 and high:
        with pytest.raises(InputError, match="at least 3"):
            plan_groups(documents, high=high, low=low, size=size, partners=partners)
        return
    plan = plan_groups(documents, high=high, low=low, size=size, partners=partners, partitions=partitions)
    highs, lows = list(range(high)), list(range(high, high + low))
    graphs = make_graphs(plan.size, plan.partners, generator(seed, "graphs"), 12)
    promises(make_groups(plan, generator(seed), high=highs, low=lows, graphs=graphs), highs, lows)


@pytest.mark.long
def test_a_large_topic_never_repeats_a_pair():
    plan = plan_groups(3000, high=400, low=800)
    made = make_groups(plan, generator(1), high=range(400), low=range(400, 1200))
    assert (plan.partitions, plan.groups, len(made.pairs)) == (150, 375, 56250)
    assert (made.repeats, made.known_repeats, made.breaks) == (0, 0, 0)
    partners = np.zeros((3000, 3000), bool)
    partners[made.pairs[..., 0], made.pairs[..., 1]] = True
    assert ((partners | partners.T).sum(axis=1) == 450).all()
    left = np.bincount(made.pairs[..., 0].ravel(), minlength=3000) / 450
    assert 0.45 < left.mean() < 0.55
    assert left.min() > 0.3


def test_without_the_search_pairs_repeat_as_chance_has_it():
    plan = plan_groups(216, high=27, low=27)
    made = make_groups(plan, generator(4), high=range(27), low=range(27, 54), avoid_repeats=False)
    met = {frozenset(pair) for pairs in made.pairs.tolist() for pair in pairs}
    assert len(met) * 2 / 216 == pytest.approx(215 * (1 - (1 - 3 / 215) ** 11), abs=1.2)  # 30.8 of 33


def test_the_pool_is_padded_from_outside_where_it_can_be():
    plan = plan_groups(213, high=27, low=27, outside=50)
    assert (plan.documents, plan.padding, plan.groups) == (216, 3, 27)
    without = plan_groups(213, high=27, low=27)
    assert (without.documents, without.padding, without.groups) == (213, 0, 27)
    made = make_groups(without, generator(1), high=range(27), low=range(27, 54))
    assert made.resampled == 3


def test_the_share_sets_the_partitions():
    assert [partitions_for(n, 3) for _, n, *_ in ADCS] == [x for _, _, x, *_ in ADCS]
    assert partitions_for(2, 3) == 1


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="no pair"):
        plan_groups(1, high=0, low=0)
    with pytest.raises(DataError, match="known not relevant"):
        plan_groups(20, high=2, low=0)
    for size, partners, said in ((8, 8, "1 to 7"), (7, 3, "odd"), (8, 1, "falls apart"), (1, 1, "no pairs")):
        with pytest.raises(InputError, match=said):
            random_graph(size, partners, generator(1))


def test_the_forced_pair_leaves_the_rest_to_chance():
    counts = np.zeros((8, 8), int)
    rng = generator(8)
    for _ in range(1500):
        for a, b in random_graph(8, 3, rng):
            counts[min(a, b), max(a, b)] += 1
    assert counts[0, 1] == 1500
    beside_known = counts[:2, 2:] / 1500  # 2 more partners among 6
    apart = counts[2:, 2:][np.triu_indices(6, 1)] / 1500  # 12 - 1 - 4 pairs among 15
    assert beside_known == pytest.approx(np.full((2, 6), 2 / 6), abs=0.06)
    assert apart == pytest.approx(np.full(15, 7 / 15), abs=0.06)


@given(st.sets(st.sampled_from(list(combinations(range(6), 2))), min_size=1, max_size=10), st.integers(0, 99))
def test_a_sequence_without_breaks_is_found_exactly_where_one_exists(pairs, seed):
    pairs = sorted(pairs)
    found = sequence(pairs, generator(seed))
    assert sorted(tuple(sorted(pair)) for pair in found.pairs) == pairs
    assert breaks_in(found.pairs) == found.breaks
    beside = [[j for j, b in enumerate(pairs) if i != j and set(a) & set(b)] for i, a in enumerate(pairs)]
    assert (found.breaks == 0) == (exact_path(beside) is not None) == brute_force(beside)


def brute_force(beside):
    def onward(at, left):
        return not left or any(onward(other, left - {other}) for other in beside[at] if other in left)

    everyone = frozenset(range(len(beside)))
    return any(onward(start, everyone - {start}) for start in everyone)


def test_two_separate_squares_have_a_break_and_the_published_example_none():
    square = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert sequence(square + [(a + 4, b + 4) for a, b in square], generator(1)).breaks == 1
    assert breaks_in([("A", "D"), ("C", "D"), ("C", "B"), ("A", "B")]) == 0
    assert breaks_in([("A", "D"), ("D", "C")]) == 1  # the kept document changed sides
    with pytest.raises(InputError):
        sequence([(0, 1), (1, 0)], generator(1))


@pytest.mark.parametrize("shape", [(8, 3), (12, 3), (16, 5), (30, 3), (20, 4)])
def test_random_groups_of_many_sizes_have_sequences(shape):
    assert make_graphs(*shape, generator(2), 20).breaks.sum() == 0
