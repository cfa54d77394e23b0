"""Documents are drawn with the probabilities that are stated."""

import numpy as np
import pytest

from judgewell.stats.sampling import inclusion_probabilities, pareto_sample, shared_out


@pytest.mark.parametrize("size", [1, 5, 12, 20])
def test_probabilities_add_up_to_the_size_and_rise_with_importance(size):
    importance = np.random.default_rng(1).gamma(0.3, size=20)
    inclusion = inclusion_probabilities(importance, size)
    assert inclusion.sum() == pytest.approx(size)
    assert ((inclusion > 0) & (inclusion <= 1)).all()
    order = np.argsort(importance)
    assert (np.diff(inclusion[order]) >= -1e-12).all()


def test_documents_without_importance_are_drawn_alike():
    assert inclusion_probabilities(np.zeros(4), 2) == pytest.approx([0.5] * 4)


def test_a_pareto_sample_has_its_size_and_draws_documents_as_often_as_stated():
    rng = np.random.default_rng(2)
    inclusion = inclusion_probabilities(rng.gamma(0.5, size=30), 9)
    drawn = np.zeros(30)
    for _ in range(5000):
        chosen = pareto_sample(inclusion, rng.random(30), 9)
        assert len(chosen) == 9
        drawn[chosen] += 1
    assert drawn[inclusion == 1] == pytest.approx(5000)
    assert drawn / 5000 == pytest.approx(inclusion, abs=0.03)


def test_a_budget_is_shared_out_by_size_with_a_least_share():
    assert shared_out(10, np.array([10, 30, 60]), 2).tolist() == [2, 3, 5]
    assert shared_out(20, np.array([2, 40, 58]), 3).tolist() == [2, 8, 10]
    assert shared_out(100, np.array([2, 40, 58]), 3).tolist() == [2, 40, 58]
