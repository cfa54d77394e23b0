"""Names in charts: long ones on several lines, and those of points where they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

NAMED = 5  # points with a name
LETTER, LINE = 6.5, 13  # pixels of a letter and of a line
LONG = 34  # letters of a line


def lines_of(names: Sequence[str]) -> int:
    """How many lines the longest name takes on an axis."""
    return max((-(-len(name) // LONG) for name in names), default=1) or 1


def wrapped(names: Sequence[str]) -> str:
    """The expression of an axis that breaks long names into lines; no name is cut."""
    text = "datum.label"
    for lines in range(2, lines_of(names) + 1):
        part = f"ceil(length(datum.label) / {lines})"
        parts = ", ".join(f"slice(datum.label, {at} * {part}, {at + 1} * {part})" for at in range(lines))
        text = f"length(datum.label) > {LONG * (lines - 1)} ? [{parts}] : {text}"
    return text


def beside(frame: pl.DataFrame, low: float, high: float, side: int) -> pl.DataFrame:
    """The names of the points (name, x, y) with the highest x and y, then of those whose difference y − x is most
    unlike the others', each at the middle of a free place beside its point; one without a free place has no name, and
    points in one place share one. The square has `side` pixels from low to high."""
    frame = _one_for_each_place(frame, (high - low) / side or 1.0)
    apart = (pl.col("y") - pl.col("x")) - (pl.col("y") - pl.col("x")).median()
    pixel = (high - low) / side or 1.0
    points = [(x / pixel, y / pixel) for x, y in frame.select("x", "y").iter_rows()]
    taken: list[tuple[float, float, float]] = []
    rows = []
    highest = [frame.sort(axis, "name", descending=[True, False]).head(1) for axis in ("x", "y")]
    farthest = frame.sort(apart.abs(), "name", descending=[True, False]).head(NAMED)
    named = pl.concat([*highest, farthest]).unique("name", keep="first", maintain_order=True)
    for name, x, y in named.select("name", "x", "y").iter_rows():
        half = LETTER * len(name) / 2
        sides = [(half + 7, 0), (-half - 7, 0), (0, 13), (0, -13)]
        sides += [(side * (half + 6), up) for up in (11, -11, 24, -24) for side in (1, -1)]
        for right, up in sides:
            place = (x / pixel + right, y / pixel + up, half)
            if _free(place, points, taken, low / pixel, high / pixel):
                taken.append(place)
                rows.append((name, place[0] * pixel, place[1] * pixel))
                break
    return pl.DataFrame(rows, schema={"name": pl.String, "x": pl.Float64, "y": pl.Float64}, orient="row")


def _one_for_each_place(frame: pl.DataFrame, pixel: float) -> pl.DataFrame:
    """The points, their names joined where several lie on one pixel: all names, or the first and how many more."""
    places = [(pl.col(axis) / pixel).round().alias(f"{axis}_pixel") for axis in ("x", "y")]
    groups = frame.sort("name").group_by(places, maintain_order=True)
    joined = groups.agg(
        pl.col("name").str.join(", "), pl.col("x", "y").first(), first=pl.col("name").first(), size=pl.len()
    )
    more = pl.format("{} and {} more", "first", pl.col("size") - 1)
    name = pl.when((pl.col("size") > 1) & (pl.col("name").str.len_chars() > LONG)).then(more).otherwise("name")
    return joined.select(name.alias("name"), "x", "y")


def _free(
    place: tuple[float, float, float],
    points: Sequence[tuple[float, float]],
    taken: Sequence[tuple[float, float, float]],
    low: float,
    high: float,
) -> bool:
    """Whether a name of this middle and half width covers no point and no other name and stays inside the square."""
    x, y, half = place
    inside = low <= x - half and x + half <= high and low + LINE / 2 <= y <= high - LINE / 2
    return (
        inside
        and all(abs(x - a) >= half + 4 or abs(y - b) >= LINE / 2 + 4 for a, b in points)
        and all(abs(x - a) >= half + other or abs(y - b) >= LINE for a, b, other in taken)
    )
