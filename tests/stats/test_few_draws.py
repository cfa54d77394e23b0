"""FewDraws against numpy's own generator."""

import subprocess
import sys

import numpy as np
import pytest

from judgewell.stats.few_draws import FewDraws


@pytest.mark.parametrize("seed", [0, 1, 7, 2**31, 2**32 - 1, 2**32, 2**40 + 5, 2**127, 2**128 + 3, 2**200 + 17])
@pytest.mark.parametrize("size", [1, 2, 10, 53, 200])
def test_draws_are_those_of_numpy(seed: int, size: int) -> None:
    expected = np.random.default_rng(seed).integers(0, size, size=(1000, size))
    np.testing.assert_array_equal(FewDraws(seed).integers(0, size, size=(1000, size)), expected)


@pytest.mark.parametrize(("low", "high"), [(0, 3_000_000_019), (5, 5 + 2**31 + 1), (-7, 2**32 - 8)])
def test_numbers_that_would_be_unfair_are_rejected_as_numpy_does(low: int, high: int) -> None:
    """Of such spans up to half of all words are rejected; of a few hundred topics hardly ever one is."""
    expected = np.random.default_rng(3).integers(low, high, size=(40,))
    np.testing.assert_array_equal(FewDraws(3).integers(low, high, size=(40,)), expected)


def test_an_interval_of_few_topics_does_not_load_numpy_random() -> None:
    code = (
        "import sys; from judgewell.stats.means import mean_intervals;"
        "mean_intervals([[0.1 * (at % 7) for at in range(50)]]); print('numpy.random' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
