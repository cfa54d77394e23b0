"""Charts that only the papers draw; the others are those of reports. A small table in, a chart of it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from judgewell.charts.axes import WIDTH, data_of, log_axis, whole_axis

ALL, ROOM = 800, 48  # pixels of all panels side by side, and between them


def box_numbers(frame: pl.DataFrame, column: str, by: Sequence[str]) -> pl.DataFrame:
    """Median, quartiles and whiskers (the last value within 1.5 times the quartiles' distance) of a column's groups,
    as the charts of boxes want them, with how many values there are (documents)."""
    value = pl.col(column)
    q1, q3 = value.quantile(0.25, "linear"), value.quantile(0.75, "linear")
    reach = 1.5 * (q3 - q1)
    return frame.group_by(by, maintain_order=True).agg(
        documents=pl.len().cast(pl.Int64),
        whisker_low=value.filter(value >= q1 - reach).min(),
        q1=q1,
        median=value.median(),
        q3=q3,
        whisker_high=value.filter(value <= q3 + reach).max(),
    )


def box_panels(
    frame: pl.DataFrame,
    x: str,
    y: str,
    *,
    kind: str | None = None,
    columns: int = 3,
    log: bool = False,
    zero: bool = False,
) -> Any:
    """Boxes in a panel for each value of `panel` (panel, name, and the numbers of :func:`box_numbers`), side by side by
    the column `kind` where there is one; marks (mark) are drawn as diamonds where the table has them."""
    ends = [*frame["whisker_low"], *frame["whisker_high"]]
    upright = log_axis(ends) if log else {"scale": alt.Scale(zero=zero)}
    names = frame["name"].unique(maintain_order=True).to_list()
    base = alt.Chart().encode(x=alt.X("name:N", sort=names, title=x, axis=alt.Axis(labelAngle=0, ticks=False)))
    size = max(5, min(30, int(0.6 * (ALL // columns - ROOM) / max(1, len(names)))))
    if kind:
        kinds = frame[kind].unique(maintain_order=True).to_list()
        base = base.encode(
            xOffset=alt.XOffset(f"{kind}:N", sort=kinds), color=alt.Color(f"{kind}:N", title=None, sort=kinds)
        )
        size = max(4, size // len(kinds))
    style: dict[str, Any] = {"filled": False, "strokeWidth": 1.5} if kind else {"style": "box"}
    line: dict[str, Any] = {} if kind else {"style": "interval"}
    layers = [
        base.mark_rule(**line).encode(y=alt.Y("whisker_low:Q", title=y, **upright), y2="whisker_high:Q"),
        base.mark_bar(size=size, **style).encode(y=alt.Y("q1:Q", title=y, **upright), y2="q3:Q"),
        base.mark_tick(style="strong", size=size, thickness=2).encode(
            y=alt.Y("median:Q", title=y, **upright), color=alt.Undefined
        ),
    ]
    if "mark" in frame.columns:
        layers.append(
            base.mark_point(style="soft", shape="diamond", size=50, filled=True).encode(
                y=alt.Y("mark:Q", title=y, **upright), xOffset=alt.Undefined, color=alt.Undefined
            )
        )
    return _panels(frame, layers, height=170, columns=columns)


def marked_boxes(frame: pl.DataFrame, x: str, y: str, marks: Sequence[str]) -> Any:
    """Boxes (name, and the numbers of :func:`box_numbers`) with other numbers of the same names as shapes over them,
    on a logarithmic axis."""
    upright = log_axis([value for name in ("whisker_low", "whisker_high", *marks) for value in frame[name]])
    names = frame["name"].to_list()
    base = alt.Chart(data_of(frame)).encode(x=alt.X("name:N", sort=names, title=x, axis=alt.Axis(labelAngle=0)))
    spread = frame.unpivot(list(marks), index="name", variable_name="profile", value_name="relevance").drop_nulls()
    shapes = (
        alt.Chart(data_of(spread))
        .mark_point(size=110, filled=True, opacity=1)
        .encode(
            x=alt.X("name:N", sort=names, title=x),
            y=alt.Y("relevance:Q", title=y, **upright),
            shape=alt.Shape("profile:N", title=None, scale=alt.Scale(domain=list(marks))),
            color=alt.Color("profile:N", title=None, scale=alt.Scale(domain=list(marks))),
        )
    )
    return alt.layer(
        base.mark_rule(style="interval").encode(y=alt.Y("whisker_low:Q", title=y, **upright), y2="whisker_high:Q"),
        base.mark_bar(style="box", size=44).encode(y=alt.Y("q1:Q", title=y, **upright), y2="q3:Q"),
        base.mark_tick(style="strong", size=44, thickness=2.5).encode(y=alt.Y("median:Q", title=y, **upright)),
        shapes,
    ).properties(width=WIDTH, height=280)


def lines(frame: pl.DataFrame, x: str, y: str, *, names: Sequence[str] | None = None, points: bool = True) -> Any:
    """A line for each kind (x, y, kind), with its band where the table has one (low, high); `names` puts x in order."""
    kinds = frame["kind"].unique(maintain_order=True).to_list()
    across: Any = (
        alt.X("x:N", sort=list(names), title=x, axis=alt.Axis(labelAngle=0))
        if names
        else alt.X("x:Q", title=x, scale=alt.Scale(zero=False, nice=False), axis=whole_axis(frame["x"]))
    )
    upright = alt.Scale(zero=False)
    base = alt.Chart(data_of(frame)).encode(
        x=across,
        color=alt.Color(
            "kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds), legend=alt.Legend(symbolType="stroke")
        ),
    )
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2]]
    dash = alt.StrokeDash(
        "kind:N", title=None, sort=kinds, scale=alt.Scale(domain=kinds, range=(dashes * 3)[: len(kinds)])
    )
    layers = [base.mark_line(strokeWidth=2).encode(y=alt.Y("y:Q", title=y, scale=upright), strokeDash=dash)]
    if "low" in frame.columns:
        layers.insert(
            0, base.mark_rule(strokeWidth=1).encode(y=alt.Y("low:Q", title=y, scale=upright), y2=alt.Y2("high:Q"))
        )
    if points:
        layers.append(base.mark_point(filled=True, size=30).encode(y=alt.Y("y:Q", title=y, scale=upright)))
    return alt.layer(*layers).properties(width=WIDTH, height=260)


def dot_cloud(frame: pl.DataFrame, x: str, y: str, *, colour: bool = True) -> Any:
    """A dot for each row (x, y), coloured by its kind."""
    kinds = frame["kind"].unique(maintain_order=True).to_list()
    chart = (
        alt.Chart(data_of(frame))
        .mark_circle(size=28, opacity=1)
        .encode(
            x=alt.X("x:Q", title=x, scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(zero=False)),
        )
    )
    if colour:
        chart = chart.encode(color=alt.Color("kind:N", title=None, sort=kinds))
    return chart.properties(width=WIDTH, height=260)


def bar_panels(frame: pl.DataFrame, x: str, y: str) -> Any:
    """Standing bars (low, high, count) in a panel for each value of `panel`, with a curve (middle, curve) if given."""
    base = alt.Chart()
    bars = base.mark_bar(style="box", strokeWidth=1).encode(
        x=alt.X("low:Q", bin="binned", title=x, axis=whole_axis([*frame["low"], *frame["high"]])),
        x2="high:Q",
        y=alt.Y("count:Q", title=y),
    )
    layers = [bars]
    if "curve" in frame.columns:
        layers.append(base.mark_line(style="soft", strokeWidth=2).encode(x="middle:Q", y=alt.Y("curve:Q", title=y)))
    return _panels(frame, layers, height=130, columns=3)


def _panels(frame: pl.DataFrame, layers: Sequence[Any], height: int, columns: int) -> Any:
    """The layers once for each value of `panel`, side by side."""
    panels = frame["panel"].unique(maintain_order=True).to_list()
    across = min(columns, len(panels))
    layer = alt.layer(*layers).properties(width=ALL // across - ROOM, height=height)
    return layer.properties(data=data_of(frame)).facet(
        facet=alt.Facet("panel:N", sort=panels, title=None), columns=across
    )
