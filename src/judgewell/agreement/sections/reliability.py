"""Do assessors give the same document the same value?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import alpha, confusion, kappa
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import JUDGED, OPEN, Get, Section
from judgewell.errors import DataError
from judgewell.text import counted, interval, percent, plain

RELIABLE, TENTATIVE = 0.8, 0.667  # Krippendorff's customary limits of alpha
MOSTLY = 2 / 3  # of the judgments at one value leave little that could agree or not
FEW_VALUES = 20  # kappa is for scales of few values; with more it only counts coincidences


def few_values(evidence: Evidence) -> pl.DataFrame:
    """The judgments that assessors are compared by, where they have few enough values for kappa."""
    frame = evidence.compared_judgments()
    distinct = frame["value"].n_unique()
    if distinct > FEW_VALUES:
        raise DataError(f"kappa needs a scale of at most {FEW_VALUES} values; the judgments hold {distinct}")
    return frame


def verdict(alpha: float) -> str:
    """What an α says of single judgments, by the limits that Krippendorff calls customary."""
    if alpha >= RELIABLE:
        return f"By the customary limit of {RELIABLE:g}, single judgments are reliable"
    if alpha >= TENTATIVE:
        limits = f"tentative conclusions ({TENTATIVE:g}), not firm ones ({RELIABLE:g})"
        return f"By the customary limits, single judgments allow {limits}"
    return f"Single judgments are below the customary limits ({RELIABLE:g}; {TENTATIVE:g} for tentative conclusions)"


def _alpha_finding(table: pl.DataFrame) -> list[str] | None:
    """The first row is the one that fits the scale; a warning where most judgments have one value."""
    row = table.row(0, named=True)
    if row["alpha"] is None:
        return None
    around = f" {interval(row['low'], row['high'])}" if row["low"] is not None else ""
    values = "the values as given" if row["values"] == "as given" else row["values"]
    sentence = (
        f"Krippendorff’s α between assessors is {plain(row['alpha'])}{around} over "
        f"{counted(row['documents'], 'document')} (1 is perfect, 0 is chance; {row['metric']} metric on {values}). "
        f"{verdict(row['alpha'])}{'' if row['alpha'] >= RELIABLE else '; for gains, split-half reliability matters'}."
    )
    if row["share_of_commonest"] < MOSTLY:
        return [sentence]
    crowded = f"{percent(row['share_of_commonest'])} of the judgments are {row['commonest']:g}"
    return [sentence, f"{crowded}: so little varies that α can be low although assessors agree; read it with care."]


_COLUMNS = "values metric alpha low high speaks_for documents judgments assessors note"

SECTION = Section(
    "reliability", "do assessors give the same document the same value", "agreement", order=10, needs=(JUDGED,)
)


@SECTION.table("Agreement between assessors", finding=_alpha_finding, columns=_COLUMNS, shown=OPEN)
def _alpha(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Krippendorff’s α with its 95 % interval, by the metric that fits the scale; magnitudes have a second row, of the
    values as given."""
    # The values that fit the scale with their interval, then values as given.
    commonest, share = _commonest(evidence)
    table = pl.concat(
        alpha.krippendorff_alpha(frame, metric, removed=removed, interval=not number).with_columns(values=pl.lit(words))
        for number, (frame, metric, words, removed) in enumerate(evidence.comparable())
    )
    return table.with_columns(commonest=pl.lit(commonest), share_of_commonest=pl.lit(share))


def _commonest(evidence: Evidence) -> tuple[float, float]:
    """The value given most often, and its share of the judgments."""
    values = evidence.compared_judgments()["value"]
    counts = values.value_counts(sort=True).sort("count", "value", descending=True)
    return float(counts["value"][0]), counts["count"][0] / len(values)


@SECTION.table("Agreement between assessors, by topic", columns=f"topic {_COLUMNS}")
def alpha_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Krippendorff’s α within each topic, with 95 % intervals; none where all values of a topic are equal."""
    frame, metric, words, removed = evidence.comparable()[0]
    table = alpha.krippendorff_alpha(frame, metric, by=("topic",), removed=removed).with_columns(values=pl.lit(words))
    ends = evidence.compared_judgments().group_by("topic").agg(low=pl.col("value").min(), high=pl.col("value").max())
    equal = dict(ends.filter(pl.col("low") == pl.col("high")).select("topic", "low").iter_rows())
    constant = pl.col("topic").is_in(list(equal))  # what an offset leaves of them would be noise
    reason = pl.format("no variation: all values are {}", pl.col("topic").replace_strict(equal, default=None))
    return table.with_columns(
        pl.when(~constant).then(pl.col(name)).alias(name) for name in ("alpha", "low", "high", "speaks_for")
    ).with_columns(note=pl.when(constant).then(reason).otherwise("note"))


@SECTION.table("Which grades assessors give to the same document")
def disagreement(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How often another assessor gives each grade to a document that one assessor gave a certain grade."""
    return confusion.disagreement(few_values(evidence))


@SECTION.table("Fleiss’ κ")
def fleiss_kappa(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Agreement on grades beyond chance, with 95 % intervals."""
    return kappa.fleiss_kappa(few_values(evidence))


@SECTION.table("Fleiss’ κ, by topic")
def fleiss_kappa_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Agreement on grades beyond chance within each topic."""
    return kappa.fleiss_kappa(few_values(evidence), by=("topic",))
