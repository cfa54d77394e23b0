"""How far two sets of scores agree on the order of documents that a third set puts on different grades."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgewell.errors import DataError


def agreement_within_grades(first: pl.DataFrame, second: pl.DataFrame, grades: pl.DataFrame) -> pl.DataFrame:
    """Per topic and pair of grades: document pairs of these grades, and the share that two sets of gains order alike.

    A tie in either set counts one half (column half). With magnitudes and TREC's labels over pairs of Sormunen's grades
    this is the reading of Turpin et al. 2015, Fig. 3, under which all three of its overall numbers come out.
    """
    key = ["topic", "doc"]
    joined = (
        grades.select(*key, grade="gain")
        .join(first.select(*key, one="gain"), on=key)
        .join(second.select(*key, other="gain"), on=key)
        .sort(key)
    )
    rows = []
    for (topic,), part in joined.group_by("topic", maintain_order=True):
        grade, one, other = (part[name].to_numpy() for name in ("grade", "one", "other"))
        values = np.unique(grade)
        for place, low in enumerate(values):
            for high in values[place + 1 :]:
                below, above = np.flatnonzero(grade == low), np.flatnonzero(grade == high)
                signs = [np.sign(scores[above][:, None] - scores[below]) for scores in (one, other)]
                alike = signs[0] * signs[1]
                half = float((alike > 0).mean() + (alike == 0).mean() / 2)
                rows.append({"topic": topic, "lower": low, "upper": high, "pairs": alike.size, "half": half})
    if not rows:
        raise DataError("no topic has documents of two grades that both sets score")
    return pl.DataFrame(rows)


def overall(table: pl.DataFrame) -> dict[str, float]:
    """The mean over pairs of grades of the means over topics, and the share over all document pairs."""
    by_pair = table.group_by("lower", "upper").agg(pl.col("half").mean())["half"]
    pooled = np.average(table["half"].to_numpy(), weights=table["pairs"].to_numpy())
    return {"mean": float(by_pair.to_numpy().mean()), "pooled": float(pooled)}
