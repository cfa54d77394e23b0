"""Signs of a wrong column: labels that run the other way (1 for the best grade), labels in the place of judgments."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from judgewell.agreement.common import DOCUMENT
from judgewell.errors import note
from judgewell.text import plain

FEWEST = 20  # documents; fewer correlate negatively by chance
SURE = 3.0  # standard errors of a correlation below 0


def note_reversed(judgments: pl.DataFrame | None, labels: Mapping[str, pl.DataFrame]) -> None:
    """A note for each label set that correlates negatively with the judgments, or else with the first label set, or
    that has none of its documents.

    The correlation is that of ranks within topics (Spearman); chance alone gives it a standard error of 1/√documents.
    """
    sets = dict(labels)
    if judgments is not None:
        reference, other = "the judgments", judgments.group_by(DOCUMENT).agg(gain=pl.col("value").mean())
    elif sets:
        reference = next(iter(sets))
        other = sets.pop(reference)
    for name, table in sets.items():
        both = table.select(*DOCUMENT, x="gain").join(other.select(*DOCUMENT, y="gain"), on=DOCUMENT)
        if both.is_empty():
            note(
                f"no label of {name} belongs to a document of {reference}; check that both use the same topic and "
                "document ids"
            )
            continue
        ranks = [pl.col(side).rank() - pl.col(side).rank().mean() for side in ("x", "y")]
        correlation = both.select(pl.corr(*(rank.over("topic") for rank in ranks))).item()
        if both.height >= FEWEST and correlation is not None and correlation * math.sqrt(both.height) < -SURE:
            grades = both["x"].unique().sort().to_list()
            words = ",".join(f"{plain(one)}={plain(end)}" for one, end in zip(grades, reversed(grades), strict=True))
            cure = f": judgewell scale FILE --method mean --words {words} -o reversed.qrels" if len(grades) < 8 else ""
            note(
                f"the labels {name} and {reference} correlate negatively (Spearman's ρ = {plain(correlation)} over "
                f"{both.height} documents); if {plain(grades[0])} is the best grade of {name}, reverse its "
                f"grades{cure}"
            )


def note_labels(judgments: pl.DataFrame | None) -> None:
    """A note where all judgments of each document are the same, as labels that a file repeats are."""
    if judgments is None:
        return
    value = pl.col("value")
    each = judgments.group_by(DOCUMENT).agg(pl.len(), value.first(), same=value.min() == value.max())
    several = each.filter(pl.col("len") > 1)
    if several.height > 1 and several["same"].all() and several["value"].n_unique() > 1:
        note(
            f"each of {several.height} documents with several judgments has one and the same value from all of them: "
            "is the value a label of the document? If so, name another column (--columns value=NAME)"
        )
