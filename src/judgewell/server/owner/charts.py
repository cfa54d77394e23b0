"""Small charts as SVG, made on the server: no scripts, colours from the style sheet, and the numbers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 640.0, 180.0
WIDEST = 72.0  # of a bar
LETTERS = 50  # of labels below the axis, so that none touch
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 10.0, 26.0


@dataclass(frozen=True)
class Chart:
    """A chart with its sentence for those who do not see it, and its numbers as a table."""

    name: str
    title: str
    caption: str
    svg: Markup
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...] = ()  # class and label


@dataclass(frozen=True)
class Line:
    """A line of points; `look` is its class, which sets colour and dashes."""

    look: str
    label: str
    points: tuple[tuple[float, float], ...]


def bars(
    name: str,
    title: str,
    caption: str,
    labels: Sequence[str],
    stacks: Sequence[tuple[str, str, Sequence[float]]],
    head: str,
    limit: float | None = None,
) -> Chart:
    """Bars over labels; each stack is (class, label, values), the first at the bottom. A `limit` is a line across."""
    largest = max((sum(each) for each in zip(*(values for _, _, values in stacks), strict=True)), default=0.0)
    top = nice_top(max(largest, limit or 0.0))
    drawn = _grid(0.0, top)
    if limit is not None:
        drawn.append(_across_at("limit", limit / top))
    step = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    base = [0.0] * len(labels)
    for look, _, values in stacks:
        for place, value in enumerate(values):
            if value > 0:
                drawn.append(_bar(place, step, base[place], value, top, look))
            base[place] += value
    every = max(1, -(-len(labels) * max(map(len, labels), default=0) // LETTERS))
    labelled = [place for place in range(len(labels)) if place % every == 0]
    drawn += [_below(LEFT + (place + 0.5) * step, labels[place], number) for number, place in enumerate(labelled)]
    heads = (head, *(label for _, label, _ in stacks))
    rows = tuple((label, *(f"{values[place]:,.6g}" for _, _, values in stacks)) for place, label in enumerate(labels))
    legend = tuple((look, label) for look, label, _ in stacks) if len(stacks) > 1 else ()
    return Chart(name, title, caption, _svg(name, caption, drawn), heads, rows, legend)


def lines(
    name: str, title: str, caption: str, drawn_lines: Sequence[Line], head: str, low: float = 0.0, high: float = 1.0
) -> Chart:
    """Lines over a common x that begins at 0."""
    every = [x for line in drawn_lines for x, _ in line.points]
    right = max(every, default=1.0) or 1.0
    drawn = _grid(low, high)
    for line in drawn_lines:
        at = [(_across(x / right), _up((y - low) / (high - low))) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        drawn.append(Markup('<polyline class="line {}" points="{}"/>').format(line.look, path))
        drawn += [
            Markup('<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(line.look, x, y) for x, y in at
        ]
    drawn += [
        _below(_across(part), f"{right * part:,.0f}", number) for number, part in enumerate((0.25, 0.5, 0.75, 1.0), 1)
    ]
    table: dict[float, dict[str, float]] = {}
    for line in drawn_lines:
        for x, y in line.points:
            table.setdefault(x, {})[line.label] = y
    rows = tuple(
        (f"{x:,.6g}", *(_number(at_x.get(line.label)) for line in drawn_lines)) for x, at_x in sorted(table.items())
    )
    legend = tuple((line.look, line.label) for line in drawn_lines)
    heads = (head, *(line.label for line in drawn_lines))
    return Chart(name, title, caption, _svg(name, caption, drawn), heads, rows, legend if len(legend) > 1 else ())


def nice_top(largest: float) -> float:
    """A round number at or above the largest."""
    if largest <= 0:
        return 1.0
    power = 10.0 ** (len(f"{int(largest)}") - 1) if largest >= 1 else 1.0
    return next(top for top in (power, 2 * power, 4 * power, 6 * power, 8 * power, 10 * power) if top >= largest)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _svg(name: str, caption: str, parts: Sequence[Markup]) -> Markup:
    inside = Markup("").join(parts)
    return Markup(
        '<svg class="chart" id="chart-{}" viewBox="0 0 {:g} {:g}" role="img" aria-label="{}" focusable="false">{}</svg>'
    ).format(name, WIDTH, HEIGHT, caption, inside)


def _grid(low: float, high: float) -> list[Markup]:
    parts = []
    for share in (0.0, 0.5, 1.0):
        parts.append(_across_at("axis" if share == 0 else "grid", share))
        y = _up(share)
        label = f"{low + (high - low) * share:,.4g}"
        parts.append(Markup('<text class="tick left" x="{:g}" y="{:.1f}">{}</text>').format(LEFT - 6, y + 4, label))
    return parts


def _across_at(look: str, share: float) -> Markup:
    """A line from left to right."""
    line = Markup('<line class="{}" x1="{:g}" x2="{:g}" y1="{:.1f}" y2="{:.1f}"/>')
    return line.format(look, LEFT, WIDTH - RIGHT, _up(share), _up(share))


def _bar(place: int, step: float, base: float, value: float, top: float, look: str) -> Markup:
    upper, lower = _up((base + value) / top), _up(base / top)
    width = min(step * 0.8, WIDEST)
    return Markup('<rect class="bar-{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        look, LEFT + (place + 0.5) * step - width / 2, upper, width, max(lower - upper, 0.5)
    )


def _below(x: float, label: str, number: int) -> Markup:
    """A label below the axis; every other one is omitted where the chart is small."""
    at = "end" if x > WIDTH - RIGHT - 24 else "middle"
    look = "tick odd" if number % 2 else "tick"
    return Markup('<text class="{}" text-anchor="{}" x="{:.1f}" y="{:g}">{}</text>').format(
        look, at, min(x, WIDTH - RIGHT), HEIGHT - 8, label
    )


def _across(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(share: float) -> float:
    return HEIGHT - BOTTOM - min(max(share, 0.0), 1.0) * (HEIGHT - TOP - BOTTOM)
