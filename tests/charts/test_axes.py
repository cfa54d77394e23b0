"""Tests of judgewell.charts.axes."""

from judgewell.charts import axes


def test_axes_of_whole_numbers_have_no_ticks_between_them():
    assert axes.whole_axis([1, 2]).to_dict()["values"] == [1, 2]
    assert axes.whole_axis([0.5, 2.5]).to_dict()["values"] == [1, 2]
    assert axes.whole_axis([1, 63]).to_dict()["values"] == [1, 10, 20, 30, 40, 50, 60]
    assert axes.whole_axis([0, 1299]).to_dict()["values"] == [0, 200, 400, 600, 800, 1000, 1200]
    assert axes.whole_axis([]).to_dict()["values"] == [0, 1]


def test_ticks_of_a_logarithmic_axis_are_equal_steps():
    def ticks(low, high):
        return axes.log_axis([low, high])["axis"].to_dict()["values"]

    assert ticks(0.6, 30) == [1, 2, 5, 10, 20]
    assert ticks(2, 300) == [2, 5, 10, 20, 50, 100, 200]
    assert ticks(0.01, 90000) == [0.01, 1, 100, 10000]
    assert axes.log_axis([None, 0.0, 3])["scale"].to_dict()["domain"] == [2.55, 3.54]


def test_ranks_begin_with_a_tick_at_1_and_few_ticks_fit_beside_names():
    assert axes.whole_axis([1, 22], axes.BESIDE_NAMES).to_dict()["values"] == [1, 5, 10, 15, 20]
    assert axes.whole_axis([1, 12], axes.BESIDE_NAMES).to_dict()["values"] == [1, 3, 5, 7, 9, 11]
    assert axes.whole_axis([0, 21], axes.BESIDE_NAMES).to_dict()["values"] == [0, 5, 10, 15, 20]
