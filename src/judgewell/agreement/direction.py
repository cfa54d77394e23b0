"""Signs of a wrong column: labels that run the other way (1 for the best grade), labels in the place of judgments."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from judgewell.agreement.common import DOCUMENT
from judgewell.agreement.stability import share_preferred
from judgewell.errors import note
from judgewell.text import count, plain

FEWEST = 20  # documents; fewer correlate negatively by chance
FEW_SHARED = 0.1  # of the smaller set's documents
SURE = 3.0  # standard errors of a correlation below 0


def note_reversed(
    judgments: pl.DataFrame | None, labels: Mapping[str, pl.DataFrame], pairs: pl.DataFrame | None = None
) -> None:
    """A note for each label set that has few of their documents, or that correlates negatively with the judgments, or
    else with the preferences between pairs, or else with the first label set.

    The correlation is that of ranks within topics (Spearman); chance alone gives it a standard error of 1/√documents.
    """
    sets = dict(labels)
    if judgments is not None:
        reference, other = "the judgments", judgments.group_by(DOCUMENT).agg(gain=pl.col("value").mean())
    elif pairs is not None and "preferred" in pairs.columns:
        reference, other = "the preferences", share_preferred(pairs)
    elif sets:
        reference = next(iter(sets))
        other = sets.pop(reference)
    for name, table in sets.items():
        both = table.select(*DOCUMENT, x="gain").join(other.select(*DOCUMENT, y="gain"), on=DOCUMENT)
        smaller = min(table.height, other.height)
        if both.height < FEW_SHARED * smaller:
            some = f"{count(both.height)} of {count(table.height)} labels" if both.height else "no label"
            verb = "belong" if both.height > 1 else "belongs"
            note(
                f"{some} of {name} {verb} to a document of {reference}; check that both use the same topic and "
                "document ids"
            )
        if both.height < FEWEST:
            continue
        ranks = [pl.col(side).rank() - pl.col(side).rank().mean() for side in ("x", "y")]
        correlation = both.select(pl.corr(*(rank.over("topic") for rank in ranks))).item()
        if correlation is not None and correlation * math.sqrt(both.height) < -SURE:
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
