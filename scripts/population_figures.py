"""What judgments look like in a few numbers, to compare synthetic ones with real ones.

The figures are read off any judgments table with a column of expert grades.
"""

from __future__ import annotations

import polars as pl

GRADES = (0, 1, 2, 3)


def figures(judgments: pl.DataFrame, grade: str = "grade") -> dict[str, float]:
    """The numbers that synthetic judgments must share with real ones; `known` documents apart, where there are any."""
    value = pl.col("value")
    own = judgments.filter(pl.col("known").is_null())
    graded = own.drop_nulls(grade)
    found: dict[str, float] = {}
    for number in GRADES:
        part = graded.filter(pl.col(grade) == number)
        means = part.group_by("topic", "doc").agg(value.mean(), value.var().alias("within"))
        found |= {
            f"mean {number}": _number(part["value"].mean()),
            f"zeros {number}": _number((part["value"] == 0).mean()),
            f"hundreds {number}": _number((part["value"] == 100).mean()),
            f"between documents {number}": _number(means["value"].std()),
            f"within documents {number}": _number(means["within"].mean()) ** 0.5,
        }
    inner = own.filter((value > 0) & (value != 100))["value"]
    time = judgments.filter(pl.col("seconds") > 0)
    by_person = time.group_by("assessor").agg(pl.col("seconds").log().std().alias("sd"), pl.len())
    unit_sd = judgments.with_columns(log=(value + 1).log()).group_by("topic", "unit").agg(pl.col("log").std())["log"]
    return found | {
        "tens": _number((inner % 10 == 0).mean()),
        "fives": _number((inner % 5 == 0).mean()),
        "unit log sd": _number(unit_sd.mean()),
        "seconds": _number(time["seconds"].median()),
        "seconds log sd": _number(time["seconds"].log().std()),
        "seconds log sd within": _number(by_person.filter(pl.col("len") >= 8)["sd"].mean()),
        "width": _number(known_ratios(judgments).median()),
    }


def known_ratios(judgments: pl.DataFrame) -> pl.Series:
    """Known H over known N within units, both raised by one where a value is 0."""
    sides = [
        judgments.filter(pl.col("known") == side).select("topic", "unit", pl.col("value").alias(side)) for side in "HN"
    ]
    both = sides[0].join(sides[1], on=["topic", "unit"])
    offset = 1.0 if (judgments["value"] == 0).any() else 0.0
    return (both["H"] + offset) / (both["N"] + offset)


def _number(value: object) -> float:
    return float("nan") if value is None else float(value)  # type: ignore[arg-type]
