"""Names in charts: long ones shortened, and those of points where they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

NAMED = 5  # points with a name
LETTER, LINE = 6.5, 13  # pixels of a letter and of a line
LONG, HEAD, TAIL = 22, 7, 14

# A long name by its beginning and its end, where names of systems differ; the tooltip has it whole.
SHORTENED = (
    f"length(datum.label) > {LONG} ? slice(datum.label, 0, {HEAD}) + '…' + slice(datum.label, -{TAIL}) : datum.label"
)


def beside(frame: pl.DataFrame, low: float, high: float, side: int) -> pl.DataFrame:
    """The names of the points (name, x, y) whose difference y − x is most unlike the others', each at the middle of a
    free place beside its point; one without a free place has no name. The square has `side` pixels from low to high."""
    apart = (pl.col("y") - pl.col("x")) - (pl.col("y") - pl.col("x")).median()
    pixel = (high - low) / side or 1.0
    points = [(x / pixel, y / pixel) for x, y in frame.select("x", "y").iter_rows()]
    taken: list[tuple[float, float, float]] = []
    rows = []
    farthest = frame.sort(apart.abs(), "name", descending=[True, False]).head(NAMED)
    for name, x, y in farthest.select("name", "x", "y").iter_rows():
        text = name if len(name) <= LONG else f"{name[:HEAD]}…{name[-TAIL:]}"
        half = LETTER * len(text) / 2
        sides = [(half + 7, 0), (-half - 7, 0), (0, 13), (0, -13)]
        sides += [(side * (half + 6), up) for up in (11, -11, 24, -24) for side in (1, -1)]
        for right, up in sides:
            place = (x / pixel + right, y / pixel + up, half)
            if _free(place, points, taken, low / pixel, high / pixel):
                taken.append(place)
                rows.append((text, place[0] * pixel, place[1] * pixel))
                break
    return pl.DataFrame(rows, schema={"name": pl.String, "x": pl.Float64, "y": pl.Float64}, orient="row")


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
