"""One function for each kind of figure: a small table in, an Altair chart of it out.

What is drawn is the table and nothing else, so a test (or a reader) can look at it. Colours come from the theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from judgewell.charts import labels
from judgewell.charts.axes import (
    BESIDE_NAMES,
    FEW_TICKS,
    HEIGHT,
    SQUARE,
    Chart,
    counts_axis,
    data_of,
    log_axis,
    round_axis,
    round_ends,
    short,
    sized,
    squared,
    whole_axis,
)

STEP, CLOSE_STEP = 17, 13  # pixels for a system or topic in a list, and in one of many
MANY, MANY_CELLS = 60, 40  # names of a list and of a matrix from which on they are closer

ONCE = alt.Data(values=[{}])  # type: ignore[no-untyped-call]  # the data of a line that is drawn once


def histogram(frame: pl.DataFrame, x: str, y: str = "judgments", *, log: bool = False, whole: bool = False) -> Chart:
    """Counts in bins (low, high, count), with a fitted curve where the table has one (curve); bins around whole numbers
    have ticks at these."""
    edges = [*frame["low"], *frame["high"]]
    whole = whole or all(high - low == 1 and low % 1 == 0.5 for low, high in frame.select("low", "high").iter_rows())
    ticks = whole_axis(edges) if whole else round_axis()
    across = log_axis(edges) if log else {"scale": alt.Scale(nice=False, zero=False), "axis": ticks}
    base = alt.Chart(data_of(frame))
    bars = base.mark_bar(style="box", strokeWidth=1).encode(
        x=alt.X("low:Q", title=x, bin="binned" if not log else alt.Undefined, **across),
        x2="high:Q",
        y=alt.Y("count:Q", title=y, axis=counts_axis(frame["count"])),
        y2=alt.datum(0) if log else alt.Undefined,  # bins given by bin="binned" start at 0 by themselves
        tooltip=[_tip("low", "from"), _tip("high", "to"), _tip("count", y, ",")],
    )
    if "curve" not in frame.columns:
        return sized(bars)
    line = base.mark_line(style="strong", strokeWidth=1.5, strokeDash=[4, 3]).encode(
        x="middle:Q", y=alt.Y("curve:Q", title=y)
    )
    return sized(alt.layer(bars, line))


def dots(
    frame: pl.DataFrame,
    name: str,
    value: str,
    *,
    reference: float | None = None,
    domain: Sequence[float] | None = None,
    whole: bool = False,
    log: bool = False,
    ends: tuple[str, str] = ("95 % from", "95 % to"),
) -> Chart:
    """A dot for each name at its value, with a line between `ends` (name, value, low, high) and the table's order.

    Lines are intervals of an estimate; `ranges` draws what holds a share of the data. `reference` draws a line, such as
    0 for no agreement beyond chance; `whole` numbers have no ticks between them. Names outside the top set, where the
    table has one (top), are drawn in grey.
    """
    base, across = _list_of_values(frame, name, value, ends, reference, domain, log)
    if whole:
        across["axis"] = whole_axis(domain or [*frame["low"], *frame["high"]], BESIDE_NAMES)
    groups = {"": ("interval", "main")}
    if "top" in frame.columns:
        groups = {"datum.top": ("interval", "main"), "!datum.top": ("faint", "soft_dot")}
    layers = []
    for chosen, (line_style, dot_style) in groups.items():
        part = base.transform_filter(chosen) if chosen else base
        layers += [
            part.mark_rule(style=line_style, strokeWidth=3).encode(
                x=alt.X("low:Q", title=value, **across), x2="high:Q"
            ),
            part.mark_point(style=dot_style, filled=True, size=48, opacity=1).encode(
                x=alt.X("value:Q", title=value, **across)
            ),
        ]
    if reference is not None:
        layers.insert(0, _reference(reference))
    return sized(alt.layer(*layers, data=data_of(frame)), _step(frame["name"]) * max(1, frame.height))


def ranges(
    frame: pl.DataFrame,
    name: str,
    value: str,
    *,
    reference: float | None = None,
    domain: Sequence[float] | None = None,
    log: bool = False,
    ends: tuple[str, str] = ("25 %", "75 %"),
) -> Chart:
    """A lying bar for each name from low to high with a tick at its value (name, value, low, high), as a box of
    quartiles; `reference` draws a line."""
    base, across = _list_of_values(frame, name, value, ends, reference, domain, log)
    size = _step(frame["name"]) - 5
    layers = [
        base.mark_bar(style="box", size=size).encode(x=alt.X("low:Q", title=value, **across), x2="high:Q"),
        base.mark_tick(style="strong", size=size, thickness=2.5).encode(x=alt.X("value:Q", title=value, **across)),
    ]
    if reference is not None:
        layers.insert(0, _reference(reference))
    return sized(alt.layer(*layers, data=data_of(frame)), (_step(frame["name"]) + 5) * max(1, frame.height))


def _list_of_values(
    frame: pl.DataFrame,
    name: str,
    value: str,
    ends: tuple[str, str],
    reference: float | None,
    domain: Sequence[float] | None,
    log: bool,
) -> tuple[Any, dict[str, Any]]:
    """What lists of dots and of bars share: names and tooltips; and the scale and axis of their values."""
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=False, nice=True)
    across = {"scale": scale, "axis": round_axis()}
    if log:
        across = log_axis([*frame["low"], *frame["high"], reference])
    base = alt.Chart().encode(
        y=_names(frame, name, grid=True, ticks=False),
        tooltip=[_tip("name", name or "name", kind="N"), _tip("value", value), _tip("low", ends[0]),
                 _tip("high", ends[1]), *_extra(frame, {"name", "value", "low", "high"})],
    )  # fmt: skip
    return base, across


def _reference(at: float) -> Any:
    """A dashed line; nothing to read out, because the caption says what it is."""
    return alt.Chart(ONCE).mark_rule(style="soft", strokeDash=[4, 3], aria=False).encode(x=alt.datum(at))


def boxes(frame: pl.DataFrame, name: str, value: str, *, log: bool = False) -> Chart:
    """A box for each name: median, quartiles, whiskers (name, whisker_low, q1, median, q3, whisker_high, documents)."""
    upright = log_axis([*frame["whisker_low"], *frame["whisker_high"]]) if log else {"scale": alt.Scale(zero=False)}
    base = alt.Chart(data_of(frame)).encode(
        x=alt.X("name:N", sort=frame["name"].to_list(), title=name, axis=alt.Axis(labelAngle=0, ticks=False)),
        tooltip=[_tip("name", name, kind="N"), _tip("whisker_high", "upper whisker"), _tip("q3", "75 %"),
                 _tip("median", "median"), _tip("q1", "25 %"), _tip("whisker_low", "lower whisker"),
                 _tip("documents", "documents", ",")],
    )  # fmt: skip
    whiskers = base.mark_rule(style="interval", strokeWidth=1.5).encode(
        y=alt.Y("whisker_low:Q", title=value, **upright), y2="whisker_high:Q"
    )
    middle = base.mark_bar(style="box", size=44).encode(y=alt.Y("q1:Q", title=value, **upright), y2="q3:Q")
    medians = base.mark_tick(style="strong", size=44, thickness=2.5).encode(y=alt.Y("median:Q", title=value, **upright))
    return sized(alt.layer(whiskers, middle, medians))


def strips(frame: pl.DataFrame, name: str, value: str, *, log: bool = False) -> Chart:
    """A dot for each document beside others of its name, above a box from q1 to q3 with the median (name, topic, doc,
    gain, q1, median, q3, beside)."""
    upright = log_axis(frame["gain"]) if log else {"scale": alt.Scale(zero=True), "axis": alt.Axis(tickCount=FEW_TICKS)}
    boxed = frame.unique("name", maintain_order=True).select("name", "q1", "median", "q3")
    x = alt.X("name:N", sort=boxed["name"].to_list(), title=name, axis=alt.Axis(labelAngle=0, ticks=False))
    base = alt.Chart(data_of(boxed)).encode(
        x=x,
        tooltip=[_tip("name", name, kind="N"), _tip("q3", "75 %"), _tip("median", "median"), _tip("q1", "25 %")],
    )
    middle = base.mark_bar(style="box", size=56).encode(y=alt.Y("q1:Q", title=value, **upright), y2="q3:Q")
    medians = base.mark_tick(style="strong", size=56, thickness=2.5).encode(y=alt.Y("median:Q", title=value))
    dots = (
        alt.Chart(data_of(frame.drop("q1", "median", "q3")))
        .mark_circle(style="soft", size=11, opacity=0.55)
        .encode(
            x=x,
            xOffset=alt.XOffset("beside:Q", scale=alt.Scale(domain=[-2, 2])),
            y=alt.Y("gain:Q", title=value),
            tooltip=[_tip("doc", "document", kind="N"), _tip("topic", "topic", kind="N"), _tip("gain", value)],
        )
    )
    return sized(alt.layer(middle, dots, medians), HEIGHT + 60)


def profiles(frame: pl.DataFrame, x: str, y: str) -> Any:
    """A small chart for each topic: its line, and dashed that of all topics (topic, x, y, all)."""
    steps = sorted(set(frame["x"]))
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=None, scale=alt.Scale(domain=[steps[0], steps[-1]], nice=False, padding=6),
                axis=alt.Axis(values=steps, grid=False, format="~g")),
        tooltip=[_tip("topic", "topic", kind="N"), _tip("x", x), _tip("y", y), _tip("all", "all topics"),
                 _tip("documents", "documents", ",")],
    )  # fmt: skip
    axis = alt.Axis(tickCount=4)
    whole = base.mark_line(style="soft", strokeDash=[4, 3], strokeWidth=1.5).encode(
        y=alt.Y("all:Q", title=y, axis=axis)
    )
    own = base.mark_line(style="line", strokeWidth=2, point={"size": 30}).encode(y=alt.Y("y:Q", title=y))
    return (
        alt.layer(whole, own, data=data_of(frame))
        .properties(width=160, height=105)
        .facet(facet=alt.Facet("topic:N", title=x, header=alt.Header(titleOrient="bottom")), columns=4)
        .resolve_axis(x="independent")  # so that panels above an empty place have numbers too
    )


def line_band(
    frame: pl.DataFrame,
    x: str,
    y: str,
    *,
    whole: bool = False,
    across: Sequence[float] | None = None,
    domain: Sequence[float] | None = None,
    log: bool = False,
) -> Chart:
    """A line with its band (x, y, low, high), from 0 up unless the axis is logarithmic; the axes may have ends of their
    own (`across`, and `domain` upright)."""
    axis = whole_axis(frame["x"], grid=False) if whole else round_axis(grid=False)
    ends = alt.Undefined if across is None else list(across)
    scale = alt.Scale(domain=list(domain)) if domain else alt.Scale(zero=True)
    upright = log_axis([*frame["low"], *frame["high"]]) if log else {"scale": scale, "axis": alt.Axis(tickCount=6)}
    base = alt.Chart(data_of(frame)).encode(
        x=alt.X("x:Q", title=x, axis=axis, scale=alt.Scale(nice=False, zero=False, padding=8, domain=ends)),
        tooltip=[_tip("x", x), _tip("y", y), _tip("low", "from"), _tip("high", "to")],
    )
    band = base.mark_area(style="band").encode(y=alt.Y("low:Q", title=y, **upright), y2="high:Q")
    line = base.mark_line(style="line", strokeWidth=2).encode(y=alt.Y("y:Q", title=y, **upright))
    points = base.mark_point(style="main", filled=True, size=30, opacity=1).encode(y=alt.Y("y:Q", title=y, **upright))
    return sized(alt.layer(band, line, points) if frame.height <= 40 else alt.layer(band, line))


def interval_lines(frame: pl.DataFrame, x: str, y: str, *, log: bool = False) -> Chart:
    """A dot for each document with a thin line for its interval (x, y, low, high), from 0 up unless the axis is
    logarithmic."""
    upright = log_axis([*frame["low"], *frame["high"]]) if log else {"scale": alt.Scale(zero=True)}
    base = alt.Chart(data_of(frame)).encode(
        x=alt.X("x:Q", title=x, axis=whole_axis(frame["x"], grid=False),
                scale=alt.Scale(nice=False, zero=False, padding=8)),
        tooltip=[_tip("y", y), _tip("low", "95 % from"), _tip("high", "95 % to"),
                 *_extra(frame, {"x", "y", "low", "high"})],
    )  # fmt: skip
    lines = base.mark_rule(style="interval", strokeWidth=1).encode(y=alt.Y("low:Q", title=y, **upright), y2="high:Q")
    points = base.mark_point(style="main", filled=True, size=12, opacity=1).encode(y=alt.Y("y:Q", title=y, **upright))
    return sized(alt.layer(lines, points))


def bars(frame: pl.DataFrame, name: str, value: str, *, percent: bool = False) -> Chart:
    """A bar for each name (name, value), lying, with its number at its end."""
    axis = round_axis(format="%") if percent else round_axis()
    base = alt.Chart(data_of(frame)).encode(
        y=_names(frame, name, ticks=False),
        x=alt.X("value:Q", title=value, axis=axis, scale=alt.Scale(zero=True, padding=30)),
        tooltip=[_tip("name", name or "name", kind="N"), _tip("value", value, ".1%" if percent else ",.3~f"),
                 *_extra(frame, {"name", "value"})],
    )  # fmt: skip
    numbers = base.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=".1%" if percent else ",.3~r"))
    return sized(alt.layer(base.mark_bar(style="box"), numbers), (_step(frame["name"]) + 6) * max(1, frame.height))


def shares(frame: pl.DataFrame, name: str, value: str, kinds: Sequence[str]) -> Chart:
    """Lying bars of three kinds (name, kind, count), in the kinds' order from the left; the middle one pale."""
    return sized(
        alt.Chart(data_of(frame.with_columns(order=pl.col("kind").replace_strict(list(kinds), range(len(kinds))))))
        .mark_bar(height=alt.RelativeBandSize(band=0.8))
        .encode(
            y=_names(frame, name),
            x=alt.X(
                "count:Q",
                title=value,
                stack="zero",
                scale=alt.Scale(nice=False),
                axis=whole_axis([0, *frame.group_by("name").agg(pl.col("count").sum())["count"]], BESIDE_NAMES),
            ),
            color=alt.Color(
                "kind:O",
                title=None,
                sort=list(kinds),
                scale=alt.Scale(domain=list(kinds), range="ordinal"),
                legend=alt.Legend(columns=1),
            ),
            order="order:Q",
            tooltip=[
                _tip("name", name or "name", kind="N"),
                _tip("kind", "kind", kind="N"),
                _tip("count", "pairs", ","),
            ],
        ),
        _step(frame["name"]) * frame["name"].n_unique(),
    )


def matrix(frame: pl.DataFrame, row: str, column: str, value: str) -> Chart:
    """A square for each pair (first, second, value from 0 to 1, sign as text in it), names in the table's order."""
    names = list(dict.fromkeys([*frame["first"].to_list(), *frame["second"].to_list()]))
    cell = max(14 if len(names) <= MANY_CELLS else 11, min(40, SQUARE // max(1, len(names))))
    small: dict[str, Any] = {"labelFontSize": min(12, cell - 1)}
    base = alt.Chart(data_of(frame)).encode(
        x=alt.X("second:N", sort=names, title=column,
                axis=alt.Axis(labelAngle=-60, ticks=False, **small)),
        y=alt.Y("first:N", sort=names, title=row, axis=alt.Axis(ticks=False, **small)),
        tooltip=[_tip("first", row, kind="N"), _tip("second", column, kind="N"), _tip("value", value, ".1%"),
                 *_extra(frame, {"first", "second", "value", "sign"})],
    )  # fmt: skip
    colour = alt.Color(
        "value:Q",
        title=value,
        scale=alt.Scale(domain=[0, 0.5, 1], type="linear", range="diverging", interpolate="rgb"),
        legend=alt.Legend(format="%", gradientLength=180),
    )
    squares = base.mark_rect(stroke=None).encode(color=colour)
    signs = base.mark_text(fontSize=9, style="strong", strokeWidth=0).encode(text="sign:N")
    return sized(alt.layer(squares, signs), cell * len(names), cell * len(names))


def confusion(frame: pl.DataFrame, row: str, column: str, count: str) -> Chart:
    """A square for each two grades (first, second, count, share of the row) with its count in it, coloured by share."""
    rows, columns = (frame[name].unique(maintain_order=True).to_list() for name in ("first", "second"))
    base = alt.Chart(data_of(frame)).encode(
        x=alt.X("second:N", sort=columns, title=column, axis=alt.Axis(labelAngle=0, ticks=False)),
        y=alt.Y("first:N", sort=rows[::-1], title=row, axis=alt.Axis(ticks=False)),
        tooltip=[_tip("first", row, kind="N"), _tip("second", column, kind="N"), _tip("count", count, ","),
                 _tip("share", "share of the row", ".1%")],
    )  # fmt: skip
    colour = alt.Color(
        "share:Q",
        title="share of the row",
        scale=alt.Scale(domain=[0, 1], range="ramp", interpolate="rgb"),
        legend=alt.Legend(format="%", gradientLength=180),
    )
    numbers = base.mark_text(style="strong", strokeWidth=0).encode(text=alt.Text("count:Q", format=","))
    step = 48 if len(columns) <= 8 else 30
    return sized(alt.layer(base.mark_rect().encode(color=colour), numbers), 28 * len(rows), step * len(columns))


def scatter(frame: pl.DataFrame, x: str, y: str, name: str) -> Chart:
    """Each system's score in two sets with intervals (name, x, x_low, x_high, y, y_low, y_high) in a square with its
    diagonal; the best of each set and those whose difference is most unlike the others' are named where there is
    room."""
    columns = ("x", "y", "x_low", "y_low", "x_high", "y_high")  # a mean without an interval has no ends
    ends = [value for column in columns for value in frame[column].drop_nulls()]
    low, high, step = round_ends(min(ends), max(ends))
    ticks = [short(low + place * step) for place in range(round((high - low) / step) + 1)]
    both: dict[str, Any] = {
        "scale": alt.Scale(domain=[short(low), short(high)], nice=False, zero=False),
        "axis": alt.Axis(values=ticks),
    }
    base = alt.Chart(data_of(frame)).encode(
        tooltip=[_tip("name", name, kind="N"), _tip("x", x), _tip("x_low", "from"), _tip("x_high", "to"),
                 _tip("y", y), _tip("y_low", "from"), _tip("y_high", "to")]
    )  # fmt: skip
    at = {"x": alt.X("x:Q", title=x, **both), "y": alt.Y("y:Q", title=y, **both)}
    across = base.mark_rule(style="faint").encode(x=alt.X("x_low:Q", title=x, **both), x2="x_high:Q", y=at["y"])
    along = base.mark_rule(style="faint").encode(x=at["x"], y=alt.Y("y_low:Q", title=y, **both), y2="y_high:Q")
    points = base.mark_point(style="main", filled=True, size=45, opacity=1).encode(**at)
    named = alt.Chart(data_of(labels.beside(frame, low, high, SQUARE)))
    names = named.mark_text(fontSize=11, aria=False).encode(**at, text="name:N")
    corners = alt.Data(values=[{"x": short(end), "y": short(end)} for end in (low, high)])  # type: ignore[no-untyped-call]
    diagonal = alt.Chart(corners).mark_line(style="soft", strokeDash=[4, 3], strokeWidth=1, aria=False).encode(**at)
    return squared(alt.layer(diagonal, across, along, points, names))


def cloud(frame: pl.DataFrame, x: str, y: str) -> Chart:
    """A dot for each document (name, topic, x, y)."""
    scale = alt.Scale(zero=False)
    return sized(
        alt.Chart(data_of(frame))
        .mark_circle(size=14, opacity=0.5)
        .encode(
            x=alt.X("x:Q", title=x, scale=scale),
            y=alt.Y("y:Q", title=y, scale=scale),
            tooltip=[_tip("name", "document", kind="N"), _tip("topic", "topic", kind="N"), _tip("x", x), _tip("y", y)],
        ),
        height=HEIGHT,
    )


def curves(frame: pl.DataFrame, x: str, y: str, kinds: Sequence[str]) -> Chart:
    """A line for each kind (x, y, kind), distinguished by colour and by dashes."""
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4]]
    kind: dict[str, Any] = {"title": None, "sort": list(kinds)}
    return sized(
        alt.Chart(data_of(frame))
        .mark_line(interpolate="step", strokeWidth=2)
        .encode(
            x=alt.X("x:Q", title=x, scale=alt.Scale(zero=False, nice=False)),
            y=alt.Y("y:Q", title=y, axis=alt.Axis(format="%")),
            color=alt.Color("kind:N", **kind, scale=alt.Scale(domain=list(kinds))),
            strokeDash=alt.StrokeDash(
                "kind:N", **kind, scale=alt.Scale(domain=list(kinds), range=dashes[: len(kinds)])
            ),
            tooltip=[_tip("kind", "kind", kind="N"), _tip("x", x), _tip("y", y, ".1%")],
        )
    )


def _names(frame: pl.DataFrame, title: str, **axis: Any) -> alt.Y:
    """The names of a list from above, in the table's order; smaller where they are many."""
    names = frame["name"].unique(maintain_order=True).to_list()
    small: dict[str, Any] = {"labelFontSize": 10} if len(names) > MANY else {}
    return alt.Y(
        "name:N", sort=names, title=title or None, axis=alt.Axis(labelExpr=labels.wrapped(names), **small, **axis)
    )


def _step(names: pl.Series) -> int:
    """Pixels for each name of a list: fewer where names are many, more where they take several lines."""
    step = CLOSE_STEP if names.n_unique() > MANY else STEP
    return step + labels.LINE * (labels.lines_of(names.to_list()) - 1)


def _tip(field: str, title: str, format: str = ".4~r", kind: str = "Q") -> alt.Tooltip:
    return alt.Tooltip(f"{field}:{kind}", title=title, format=format if kind == "Q" else alt.Undefined)


def _extra(frame: pl.DataFrame, given: set[str]) -> list[alt.Tooltip]:
    """Tooltips for what else the table says."""
    others = [name for name in frame.columns if name not in given]
    return [
        _tip(name, name.replace("_", " "), ",.4~r" if frame[name].dtype.is_float() else ",")
        if frame[name].dtype.is_numeric()
        else _tip(name, name.replace("_", " "), kind="N")
        for name in others
    ]
