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


def test_ordered_groups_rise():
    frame = pl.DataFrame(
        {"topic": ["t"] * 500, "doc": [f"d{n}" for n in range(500)], "gain": np.random.default_rng(1).normal(size=500)}
    )
    frame = frame.with_columns(low=pl.col("gain") - 1, high=pl.col("gain") + 1)
    found = bins.ordered_groups(frame)
    assert found.height == 60
    assert found["documents"].sum() == 500
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
