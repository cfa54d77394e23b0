"""Do assessors agree on the same pair of documents, with each other, with themselves and with labels?

An answer is the document preferred, whichever side it stood on, or "same". Which document of a pair comes first is
arbitrary, so both directions are taken as equally likely: with s the share of "same", the expected agreement is
P_e = s² + (1 − s)²/2. κ = (P̄ − P_e)/(1 − P_e) with P̄ the mean over pairs of the share of agreeing answers (Fleiss);
α = 1 − D_o/D_e with D_e = (1 − P_e) · n/(n − 1) over the n answers (Krippendorff).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import each_group, gains_of, pairs_of, require, rows_table, with_number
from judgewell.agreement.jackknife import counts_without, few_groups, jackknife_interval, refusal
from judgewell.errors import DataError
from judgewell.stats.arrays import Floats, Ints

PAIR = ["topic", "one", "other"]
NUMBERS = ("agreement", "expected", "kappa", "kappa_low", "kappa_high", "alpha", "low", "high")
MOST_GROUPS = 500


def same_pair_agreement(pairs: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Percent agreement, Fleiss' κ and α over pairs that two assessors or more answered, with jackknife intervals.

    Where one assessor answered a pair again, the first answer counts.
    """
    frame = answers(pairs)
    if frame["assessor"].null_count() < frame.height:
        frame = frame.filter(pl.col("assessor").is_not_null()).unique([*PAIR, "assessor"], maintain_order=True)
    rows = [key | _row(part) for key, part in each_group(frame, by)]
    if not by and rows[0]["alpha"] is None:
        raise DataError(f"agreement on the same pair {rows[0]['note']}")
    return rows_table(rows, *NUMBERS)


def repeated_pairs(pairs: Any) -> pl.DataFrame:
    """How many pairs were answered again, by anybody and by the same assessor, and how often answers contradict.

    Two answers contradict where each prefers the other document; "same" contradicts nothing.
    """
    frame = answers(pairs)
    rows = [{"answered_again_by": "anybody"} | _repeats(frame, PAIR)]
    named = frame.filter(pl.col("assessor").is_not_null())
    if named.height:
        rows.append({"answered_again_by": "the same assessor"} | _repeats(named, [*PAIR, "assessor"]))
    return pl.DataFrame(rows)


def by_assessor(pairs: Any) -> pl.DataFrame:
    """Each assessor's pairs: agreement with the majority of the others' answers, shares of "same" and of the left side.

    A pair counts for agreement where most of the others gave one answer; `left` is of the answers that prefer a side.
    """
    frame = pairs_of(pairs)
    given = frame.filter(pl.col("preferred").is_not_null())["preferred"]
    each = answers(frame).with_columns(preferred=given).filter(pl.col("assessor").is_not_null())
    if each.is_empty():
        raise DataError("agreement of each assessor needs assessors' names")
    for answer in (1, 0, -1):
        own = pl.col("answer") == answer
        each = each.with_columns((own.sum().over(PAIR) - own.cast(pl.Int64)).alias(f"others {answer}"))
    counts = [pl.col(f"others {answer}") for answer in (1, 0, -1)]
    most = pl.max_horizontal(counts)
    clear = (most > 0) & (pl.sum_horizontal(count == most for count in counts) == 1)
    agreed = pl.when(clear).then(
        pl.when(answer=1).then(counts[0]).when(answer=0).then(counts[1]).otherwise(counts[2]) == most
    )
    sided = pl.col("preferred") != "same"
    return (
        each.with_columns(agreed=agreed)
        .group_by("assessor")
        .agg(
            pairs=pl.len().cast(pl.Int64),
            with_majority=pl.col("agreed").mean(),
            compared=pl.col("agreed").count().cast(pl.Int64),
            same=(~sided).mean(),
            left=(pl.col("preferred") == "left").filter(sided).mean(),
        )
        .sort("with_majority", "assessor", nulls_last=True)
    )


def preferences_against_grades(pairs: Any, grades: Any) -> pl.DataFrame:
    """How often single preferences go to the document with the higher label, by the two labels and over all.

    Pairs with equal labels, with a document that has none, and of topics without any label are counted.
    """
    frame = answers(pairs)
    labels = gains_of(grades)
    with_both = frame.join(labels.rename({"doc": "one", "gain": "one_grade"}), on=["topic", "one"], how="left").join(
        labels.rename({"doc": "other", "gain": "other_grade"}), on=["topic", "other"], how="left"
    )
    unlabelled = with_both.filter(pl.col("one_grade").is_null() | pl.col("other_grade").is_null())
    equal = with_both.filter(pl.col("one_grade") == pl.col("other_grade"))
    higher_first = pl.col("one_grade") > pl.col("other_grade")
    chosen = pl.when(higher_first).then(pl.col("answer")).otherwise(-pl.col("answer"))
    compared = with_both.filter(pl.col("one_grade") != pl.col("other_grade")).select(
        lower=pl.min_horizontal("one_grade", "other_grade"),
        upper=pl.max_horizontal("one_grade", "other_grade"),
        chosen=chosen,
    )
    if unlabelled.height == frame.height:
        one, other = frame["topic"][0], labels["topic"][0]
        raise DataError(
            f"no preference is between two documents with labels: topics and documents differ (topic {one} has "
            f"preferences, topic {other} labels)"
        )
    if compared.is_empty():
        raise DataError("no preference is between two documents with different labels")
    counts = [
        pl.len().cast(pl.Int64).alias("answers"),
        (pl.col("chosen") > 0).sum().cast(pl.Int64).alias("higher_preferred"),
        (pl.col("chosen") == 0).sum().cast(pl.Int64).alias("same"),
    ]
    each = compared.group_by("lower", "upper").agg(counts).sort("lower", "upper")
    table = pl.concat([each, compared.select(counts)], how="diagonal")
    topics = len(set(frame["topic"]) - set(labels["topic"]))
    return table.with_columns(
        share=(pl.col("higher_preferred") + pl.col("same") / 2) / pl.col("answers"),
        equal_labels=pl.when(pl.col("lower").is_null()).then(equal.height),
        without_label=pl.when(pl.col("lower").is_null()).then(unlabelled.height),
        topics_without_labels=pl.when(pl.col("lower").is_null()).then(topics),
    )


def answers(pairs: Any) -> pl.DataFrame:
    """Each preference with its two documents in the order of their names: topic, one, other, assessor, answer.

    `answer` is 1 where `one` was preferred, −1 where `other` was, 0 for "same".
    """
    frame = pairs_of(pairs)
    require(frame, "preferred", "agreement on pairs")
    left_first = pl.col("left") <= pl.col("right")
    side = pl.col("preferred").replace_strict({"left": 1, "right": -1, "same": 0}, return_dtype=pl.Int64)
    return frame.filter(pl.col("preferred").is_not_null()).select(
        "topic",
        "assessor",
        one=pl.min_horizontal("left", "right"),
        other=pl.max_horizontal("left", "right"),
        answer=pl.when(left_first).then(side).otherwise(-side),
    )


def _repeats(frame: pl.DataFrame, keys: list[str]) -> dict[str, Any]:
    each = frame.group_by(keys).agg(answers=pl.len(), both=(pl.col("answer") > 0).any() & (pl.col("answer") < 0).any())
    again = each.filter(pl.col("answers") > 1)
    contradicting = int(again["both"].sum())
    return {
        "pairs": each.height,
        "answers": frame.height,
        "repeated": again.height,
        "contradicting": contradicting,
        "share": contradicting / again.height if again.height else None,
    }


def _row(frame: pl.DataFrame) -> dict[str, Any]:
    pair = with_number(frame.select(PAIR), PAIR, "number")["number"].to_numpy()
    answer = frame["answer"].to_numpy() + 1
    twice = np.bincount(pair)[pair] >= 2
    names = frame["assessor"].drop_nulls().n_unique()
    row: dict[str, Any] = {
        "pairs": len(np.unique(pair[twice])),
        "answers": int(twice.sum()),
        "assessors": names,
        **dict.fromkeys(NUMBERS),
        "speaks_for": None,
        "note": None,
    }
    if not twice.any():
        return row | {"note": f"needs two answers per pair; {len(np.unique(pair))} pairs have one each"}
    pair = np.unique(pair[twice], return_inverse=True)[1].ravel()
    counts = np.zeros((row["pairs"], 3))
    np.add.at(counts, (pair, answer[twice]), 1.0)
    agreement, expected, kappa, alpha = _statistics(*_sums(counts))
    row |= {"agreement": agreement, "expected": expected, "kappa": kappa, "alpha": alpha}
    row["note"] = refusal(row["pairs"], 0 if frame["assessor"].null_count() else names, "pairs")
    if row["note"] is None:
        who = np.unique(frame["assessor"].to_numpy()[twice], return_inverse=True)[1].ravel()
        without = [_without(counts, pair, answer[twice], few_groups(codes, MOST_GROUPS)) for codes in (pair, who)]
        of_kappa, of_alpha = (
            jackknife_interval(estimate, [part[:, column] for part in without])
            for estimate, column in ((kappa, 0), (alpha, 1))
        )
        row |= {"kappa_low": of_kappa["low"], "kappa_high": of_kappa["high"]} | of_alpha
    return row


def _sums(counts: Floats) -> Floats:
    """Over pairs with two answers or more: pairs, answers, "same", Σ P_i, and Σ of disagreeing answers / (m − 1)."""
    total = counts.sum(axis=1)
    enough = total > 1.5
    size = np.where(enough, total, 2.0)
    alike = (counts**2).sum(axis=1) - total
    parts = [np.ones(len(counts)), total, counts[:, 1], alike / (size * (size - 1)), total - alike / (size - 1)]
    return np.array([(part * enough).sum() for part in parts])


def _statistics(pairs: float, size: float, same: float, alike: float, differing: float) -> tuple[float, ...]:
    """Agreement, expected agreement, κ and α from the sums."""
    share = same / size
    expected = share**2 + (1 - share) ** 2 / 2
    agreement = alike / pairs
    chance = 1 - expected
    if chance <= 0:
        return agreement, expected, np.nan, np.nan
    alpha = 1 - (differing / size) / (chance * size / (size - 1))
    return agreement, expected, (agreement - expected) / chance, alpha


def _without(counts: Floats, pair: Ints, answer: Ints, group: Ints) -> Floats:
    """κ and α without each group of answers: groups × 2."""
    whole = _sums(counts)
    statistics = []
    for old, new in counts_without(counts, pair, answer, group):
        left = whole - _sums(old) + _sums(new)
        statistics.append(_statistics(*left)[2:] if left[0] > 0 else (np.nan, np.nan))
    return np.array(statistics)
