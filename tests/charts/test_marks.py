"""Charts are their data: what is drawn is what is in the table, with titles and tooltips."""

import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from judgewell.charts import labels
from judgewell.charts import marks as charts
from judgewell.charts.drawing import pdf, specification, svg
from judgewell.charts.themes import theme
from judgewell.reports import bins


def parts_of(spec):
    yield spec
    for layer in [*spec.get("layer", []), *([spec["spec"]] if "spec" in spec else [])]:
        yield from parts_of(layer)


def encodings(chart):
    return [one["encoding"] for one in parts_of(chart.to_dict()) if "encoding" in one]


def values(chart):
    spec = chart.to_dict()
    return next(one["data"]["values"] for one in parts_of(spec) if "data" in one)


INTERVALS = pl.DataFrame({"name": ["b", "a"], "value": [0.5, 0.25], "low": [0.4, 0.2], "high": [0.61234567, 0.3]})


def test_histogram_holds_its_bins():
    frame = pl.DataFrame({"low": [0.0, 1.0], "high": [1.0, 2.0], "count": [3, 4]})
    chart = charts.histogram(frame, "seconds")
    assert values(chart) == frame.to_dicts()
    encoding = encodings(chart)[0]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("seconds", "judgments")
    assert (
        charts.histogram(frame.with_columns(low=pl.col("low") + 1), "x", log=True).to_dict()["encoding"]["x"]["scale"][
            "type"
        ]
        == "log"
    )


def test_small_counts_have_ticks_at_whole_numbers_alone():
    frame = pl.DataFrame({"low": [0.0, 1.0], "high": [1.0, 2.0], "count": [3, 1]})
    assert encodings(charts.histogram(frame, "x"))[0]["y"]["axis"]["values"] == [0, 1, 2, 3]


def test_short_logarithmic_axes_have_enough_ticks():
    frame = pl.DataFrame({"name": ["a"], "value": [1.5], "low": [0.9], "high": [2.5]})
    axes = [one["x"]["axis"]["values"] for one in encodings(charts.dots(frame, "", "ratio", log=True)) if "x" in one]
    assert axes[0] == [0.8, 1.0, 1.5, 2.0]


def test_a_long_name_takes_several_lines_and_is_not_cut():
    name = "bm25-with-a-very-long-name-of-a-system-that-nobody-should-cut"
    frame = pl.DataFrame({"name": [name, "b"], "value": [0.1, 0.2], "low": [0.0, 0.1], "high": [0.2, 0.3]})
    drawn = svg({**charts.dots(frame, "", "mean").to_dict(), "config": theme()})
    lines = [part for part in re.findall(r">([^<>]+)</t", drawn) if len(part) > 20 and part in name]
    assert "".join(lines) == name
    assert charts.dots(frame, "", "mean").height > charts.dots(frame[1:], "", "mean").height * 2
    assert theme()["axis"]["labelLimit"] == 0


def test_dots_keep_the_order_and_show_intervals():
    chart = charts.dots(INTERVALS, "system", "mean", reference=0)
    assert [one["name"] for one in values(chart)] == ["b", "a"]
    assert values(chart)[0]["high"] == 0.612346
    orders = [one["y"]["sort"] for one in encodings(chart) if "y" in one and "sort" in one["y"]]
    assert set(map(tuple, orders)) == {("b", "a")}
    assert any(one.get("x2", {}).get("field") == "high" for one in encodings(chart))
    assert any(one.get("x", {}).get("datum") == 0 for one in encodings(chart))


def test_shares_lie_in_the_order_of_their_kinds():
    frame = pl.DataFrame({"name": ["a"] * 3, "kind": ["x", "y", "z"], "count": [1, 2, 3]})
    assert [one["order"] for one in values(charts.shares(frame, "", "systems", ("z", "y", "x")))] == [2, 1, 0]


def test_matrix_says_by_text_what_it_says_by_colour():
    frame = pl.DataFrame({"first": ["a", "b"], "second": ["b", "a"], "value": [0.9, 0.1], "sign": ["+", "−"]})
    chart = charts.matrix(frame, "system", "than", "above in")
    assert any("text" in one for one in encodings(chart))
    assert values(chart)[0]["sign"] == "+"


def test_curves_differ_in_dashes_too():
    frame = pl.DataFrame({"x": [0.1, 0.2], "y": [0.5, 0.5], "kind": ["a", "b"]})
    encoding = charts.curves(frame, "tau", "share", ["a", "b"]).to_dict()["encoding"]
    assert {"color", "strokeDash"} <= set(encoding)


ALL = {
    "histogram": charts.histogram(pl.DataFrame({"low": [0.0], "high": [1.0], "count": [2]}), "x"),
    "dots": charts.dots(INTERVALS, "system", "mean"),
    "boxes": charts.boxes(
        pl.DataFrame(
            {
                "name": ["0"],
                "whisker_low": [0.0],
                "q1": [1.0],
                "median": [2.0],
                "q3": [3.0],
                "whisker_high": [4.0],
                "documents": [5],
            }
        ),
        "level",
        "gain",
    ),
    "strips": charts.strips(
        pl.DataFrame(
            {
                "name": ["0"],
                "topic": ["t"],
                "doc": ["d"],
                "gain": [2.5],
                "q1": [1.0],
                "median": [2.0],
                "q3": [3.0],
                "beside": [0.5],
            }
        ),
        "grade",
        "gain",
    ),
    "profiles": charts.profiles(
        pl.DataFrame({"topic": ["t", "t"], "x": [0, 1], "y": [0.2, 1.0], "all": [0.3, 1.0], "documents": [4, 5]}),
        "grade",
        "gain",
    ),
    "line_band": charts.line_band(
        pl.DataFrame({"x": [1, 2], "y": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5]}), "place", "seconds"
    ),
    "interval_lines": charts.interval_lines(
        pl.DataFrame({"x": [1, 2], "y": [1.0, 2.0], "low": [0.5, 1.5], "high": [1.5, 2.5], "doc": ["a", "b"]}),
        "documents",
        "gain",
    ),
    "ranges": charts.ranges(INTERVALS, "grades", "ratio", reference=1, log=True),
    "bars": charts.bars(pl.DataFrame({"name": ["a"], "value": [0.5]}), "topic", "share", percent=True),
    "shares": charts.shares(pl.DataFrame({"name": ["a"], "kind": ["x"], "count": [1]}), "", "systems", ("x",)),
    "matrix": charts.matrix(
        pl.DataFrame({"first": ["a"], "second": ["b"], "value": [0.9], "sign": [""]}), "one", "than", "above"
    ),
    "scatter": charts.scatter(
        pl.DataFrame(
            {"name": ["a"], "x": [0.5], "x_low": [0.4], "x_high": [0.6], "y": [0.2], "y_low": [0.1], "y_high": [0.3]}
        ),
        "one",
        "two",
        "system",
    ),
    "confusion": charts.confusion(
        pl.DataFrame({"first": ["0", "1"], "second": ["0", "0"], "count": [3, 1], "share": [1.0, 1.0]}),
        "grade (a)",
        "grade (b)",
        "documents",
    ),
    "cloud": charts.cloud(pl.DataFrame({"topic": ["t"], "name": ["d"], "x": [0.5], "y": [0.2]}), "labels", "gain"),
    "curves": charts.curves(pl.DataFrame({"x": [0.1], "y": [0.5], "kind": ["a"]}), "tau", "share", ["a"]),
}


def test_names_outside_the_top_set_are_drawn_apart():
    spec = charts.dots(INTERVALS.with_columns(top=pl.Series([True, False])), "system", "mean").to_dict()
    filters = {layer["transform"][0]["filter"]: layer["mark"]["style"] for layer in spec["layer"]}
    assert filters == {"datum.top": "main", "!datum.top": "soft_dot"}


def test_a_band_of_times_starts_at_0_and_a_square_has_equal_axes():
    band = ALL["line_band"].to_dict()["layer"][0]["encoding"]["y"]["scale"]
    assert band["zero"]
    square = [one for one in encodings(ALL["scatter"]) if "x" in one and "y" in one]
    assert square
    assert all(one["x"]["scale"] == one["y"]["scale"] for one in square)


def test_names_cover_neither_points_nor_names_and_stay_inside():
    rng = np.random.default_rng(5)
    x = rng.uniform(0.2, 0.8, 60)
    points = pl.DataFrame({"name": [f"a-rather-long-name-{n}" for n in range(60)], "x": x})
    points = points.with_columns(y=pl.Series(np.clip(x + rng.normal(0, 0.05, 60), 0, 1)))
    placed = labels.beside(points, 0.0, 1.0, 340)
    assert 1 <= placed.height <= labels.NAMED + 2
    boxes = [(340 * x, 340 * y, labels.LETTER * len(name) / 2) for name, x, y in placed.iter_rows()]
    for x, y, half in boxes:
        assert half <= x <= 340 - half
        assert not any(abs(340 * a - x) < half and abs(340 * b - y) < 6 for a, b in points.select("x", "y").iter_rows())
    for one, (x, y, half) in enumerate(boxes):
        assert all(abs(x - a) >= half + w or abs(y - b) >= labels.LINE for a, b, w in boxes[one + 1 :])


def test_the_best_of_each_set_is_named_even_where_it_differs_like_the_others():
    x = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.72, 0.9, 0.81]
    y = [0.3, 0.05, 0.5, 0.2, 0.7, 0.42, 0.52, 0.9, 0.95]
    points = pl.DataFrame({"name": list("abcdefghi"), "x": x, "y": y})
    assert {"h", "i"} <= set(labels.beside(points, 0.0, 1.0, 340)["name"])


def test_points_in_one_place_share_one_name():
    x, y = [0.1, 0.3, 0.5, 0.7, 0.7, 0.7], [0.2, 0.3, 0.4, 0.8, 0.8, 0.8]
    points = pl.DataFrame({"name": ["a", "b", "c", "f3", "f1", "f2"], "x": x, "y": y})
    named = labels.beside(points, 0.0, 1.0, 340)["name"].to_list()
    assert "f1, f2, f3" in named
    assert not {"f1", "f2", "f3"} & set(named)
    long = points.with_columns(pl.col("name") + "-with-a-long-name")
    assert "f1-with-a-long-name and 2 more" in labels.beside(long, 0.0, 1.0, 340)["name"].to_list()


def test_quartiles_are_bars_and_intervals_are_lines():
    def marks(chart):
        return {one["mark"]["type"] for one in parts_of(chart.to_dict()) if "mark" in one}

    assert "bar" in marks(charts.ranges(INTERVALS, "grades", "ratio"))
    assert "rule" not in marks(charts.ranges(INTERVALS, "grades", "ratio"))
    assert "bar" not in marks(charts.dots(INTERVALS, "system", "mean"))


def test_labels_of_a_narrow_axis_have_0_among_them():
    frame = pl.DataFrame({"low": [-0.2 + n / 10 for n in range(11)], "count": [3] * 11})
    frame = frame.select("low", high=pl.col("low") + 0.1, count="count")
    drawn = svg(specification(charts.histogram(frame, "score").properties(width=240)))
    words = re.findall(r"<text([^>]*)>([−-]?[01]\.\d)</text>", drawn)
    assert "0.0" in [number for how, number in words if 'opacity="0"' not in how]


def test_names_of_a_long_list_are_closer():
    def of(number):
        return pl.DataFrame({"name": [f"s{n}" for n in range(number)], "value": 0.5, "low": 0.4, "high": 0.6})

    assert charts.dots(of(22), "", "mean").height == 22 * charts.STEP
    assert charts.dots(of(129), "", "mean").height == 129 * charts.CLOSE_STEP


def test_bars_of_whole_numbers_have_ticks_at_these():
    def ticks(low):
        frame = pl.DataFrame({"low": low, "high": [one + 1 for one in low], "count": [3] * len(low)})
        return encodings(charts.histogram(frame, "value"))[0]["x"]["axis"].get("values")

    assert ticks([-0.5, 0.5, 1.5]) == [0, 1, 2]
    assert ticks([0.25, 1.25]) is None


def test_labels_of_a_narrow_axis_are_equally_far_apart():
    frame = pl.DataFrame({"name": ["a", "b"], "value": [-0.9, 0.9], "low": [-1.0, 0.8], "high": [-0.8, 1.0]})
    drawn = svg(specification(charts.dots(frame, "", "score").properties(width=300)))
    words = re.findall(r"<text([^>]*)>([−-]?[01]\.\d)</text>", drawn)
    shown = [float(number.replace("−", "-")) for how, number in words if 'opacity="0"' not in how]
    assert 2 < len(shown) < 11
    assert len({round(b - a, 6) for a, b in pairwise(shown)}) == 1


def test_every_kind_of_figure_is_tried_here():
    made = {
        name
        for name, thing in vars(charts).items()
        if callable(thing) and getattr(thing, "__module__", "") == charts.__name__ and not name.startswith("_")
    }
    assert made == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_every_chart_has_titles_and_tooltips_and_no_colours_of_its_own(name):
    spec = ALL[name].to_dict()
    layers = [one for one in parts_of(spec) if "mark" in one]
    assert any("tooltip" in one["encoding"] for one in layers if "encoding" in one)
    for one in layers:
        assert not {"color", "fill"} & {
            key for key, value in one["mark"].items() if isinstance(value, str) and value.startswith("#")
        }
    titles = [
        axis.get("title")
        for one in encodings(ALL[name])
        for key, axis in one.items()
        if key in ("x", "y") and "field" in axis
    ]
    assert any(titles)


@pytest.mark.parametrize("name", ALL)
def test_every_chart_can_be_drawn_and_comes_out_the_same(name):
    spec = ALL[name].to_dict() | {"config": theme()}
    drawn = svg(spec)
    assert drawn.startswith("<svg")
    assert drawn == svg(spec)
    assert len({pdf(spec) for _ in range(4)}) == 1
    assert pdf(spec).startswith(b"%PDF")


def test_light_and_dark_differ_only_in_colours():
    def keys(value):
        return {key: keys(one) for key, one in value.items()} if isinstance(value, dict) else None

    assert keys(theme()) == keys(theme(dark=True))
    assert theme() != theme(dark=True)


def test_bins_count_everything_once():
    rng = np.random.default_rng(0)
    magnitudes = pl.Series(np.exp(rng.normal(0, 3, 5000)))
    assert bins.on_a_log_axis(magnitudes)
    for log in (True, False):
        assert bins.binned(magnitudes, log=log)["count"].sum() == 5000
    grades = pl.Series([0.0, 1, 1, 3])
    assert bins.binned(grades)["count"].to_list() == [1, 2, 0, 1]
    assert not bins.on_a_log_axis(grades)
    assert bins.binned(pl.Series([], dtype=pl.Float64)).is_empty()
    assert bins.binned(pl.Series([2.5, 2.5]))["count"].sum() == 2


def test_bins_are_as_many_as_the_data_allow_and_round():
    rng = np.random.default_rng(0)
    few, many = rng.normal(0.45, 0.2, 103), rng.normal(0.45, 0.2, 10_000)
    found = bins.binned(pl.Series(few))
    assert 8 <= found.height <= 14
    assert (found["high"] - found["low"]).round(9).unique().to_list() == [0.1]
    assert set((found["low"] * 10).round(9)) <= set(range(-10, 20))  # multiples of the width, 0 among them
    assert found.height < bins.binned(pl.Series(many)).height <= bins.BINS + 1
    assert bins.binned(pl.Series([0.2, 0.4, 0.95, 1.0] * 10))["high"].max() == 1.0  # no bin begins at the largest value
    scores = pl.Series(rng.integers(0, 101, 60).astype(float))
    assert bins.binned(scores).height < 15
    assert bins.binned(pl.concat([scores] * 20)).height == int(scores.max() - scores.min()) + 1  # a bar each of many
    magnitudes = bins.binned(pl.Series(np.exp(rng.normal(3, 1, 300))), log=True)
    assert 6 <= magnitudes.height <= 25
    assert np.log10((magnitudes["high"] / magnitudes["low"]).to_numpy()).std() < 1e-9


def test_ordered_groups_rise():
    frame = pl.DataFrame(
        {"topic": ["t"] * 500, "doc": [f"d{n}" for n in range(500)], "gain": np.random.default_rng(1).normal(size=500)}
    )
    frame = frame.with_columns(low=pl.col("gain") - 1, high=pl.col("gain") + 1)
    found = bins.ordered_groups(frame)
    assert found.height == 33
    assert found["documents"].min() >= bins.IN_A_GROUP
    assert found["documents"].sum() == 500
    assert bins.ordered_groups(pl.concat([frame] * 4)).height == bins.GROUPS
    assert found["y"].is_sorted()
    assert ((found["high"] - found["low"]) - 2).abs().max() < 0.5


@pytest.mark.parametrize("dark", [False, True])
def test_styles_are_what_is_drawn(dark):
    styles = theme(dark)["style"]
    drawn = svg(ALL["boxes"].to_dict() | {"config": theme(dark)})
    for colour in (
        styles["box"]["fill"],
        styles["box"]["stroke"],
        styles["interval"]["stroke"],
        styles["strong"]["fill"],
    ):
        assert colour in drawn
    assert styles["band"]["fill"] in svg(ALL["line_band"].to_dict() | {"config": theme(dark)})
