"""Checks over exported judgments: what each unit's verdicts are, and which assessors deserve a second look.

Flags are hints for people, never a verdict on their own: they say what was seen and how much of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgewell.study.checks import Comment, KnownOrder, LeastTime, PairAgrees, Verdict

UnitCheck = KnownOrder | LeastTime | Comment


def unit_verdicts(
    judgments: pl.DataFrame,
    known: Mapping[str, tuple[str, str]],
    checks: Sequence[UnitCheck],
) -> pl.DataFrame:
    """Every unit's verdict on every check: topic, unit, assessor, check, passed, reason.

    `known` holds each topic's known H and N. Where one document stands in a unit twice its last value counts, as it
    would have while judging.
    """
    rows = []
    ordered = judgments.sort("position", nulls_last=True, maintain_order=True)
    by = [name for name in ("topic", "unit", "assessor") if not judgments[name].is_null().all()]
    for key, unit in ordered.group_by(by, maintain_order=True):
        place = dict(zip(by, key, strict=True))
        high, low = known.get(str(place.get("topic")), (None, None))
        for check in checks:
            verdict = _verdict(check, unit, high, low)
            rows.append({**place, "check": check.name, "passed": verdict.passed, "reason": verdict.reason or None})
    schema = dict.fromkeys(by, pl.String()) | {"check": pl.String(), "passed": pl.Boolean(), "reason": pl.String()}
    return pl.DataFrame(rows, schema=schema)


def pair_verdicts(pairs: pl.DataFrame, check: PairAgrees | None = None) -> pl.DataFrame:
    """Every pair whose answers do not fit together: topic, unit, position, assessor, left, right, reason."""
    check = check or PairAgrees()
    names = ["topic", "unit", "position", "assessor", "left", "right"]
    rows = []
    for row in pairs.iter_rows(named=True):
        relevant = row["left_relevant"], row["right_relevant"]
        verdict = check(row["preferred"], relevant, (row["left_score"], row["right_score"]))
        if not verdict:
            rows.append({**{name: row[name] for name in names}, "reason": verdict.reason})
    return pl.DataFrame(rows, schema={name: pairs.schema[name] for name in names} | {"reason": pl.String()})


def known_pair_accuracy(pairs: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """How often each assessor preferred a known H to a known N: topic, assessor, right, of, share (Yang et al. 2018).

    `known` has topic, doc and known (H or N); every pair of one H and one N counts.
    """
    level = known.select("topic", "doc", "known")
    sides = pairs.filter(pl.col("preferred").is_not_null())
    for side in ("left", "right"):
        sides = sides.join(level.rename({"doc": side, "known": f"{side}_known"}), on=["topic", side], how="left")
    left = (pl.col("left_known") == "H") & (pl.col("right_known") == "N")
    right = (pl.col("left_known") == "N") & (pl.col("right_known") == "H")
    hit = (left & (pl.col("preferred") == "left")) | (right & (pl.col("preferred") == "right"))
    answered = sides.filter(left | right).with_columns(hit=hit).group_by("topic", "assessor")
    counted = answered.agg(pl.col("hit").sum().alias("right"), pl.len().alias("of"))
    return counted.with_columns(share=pl.col("right") / pl.col("of")).sort("topic", "assessor")


def attention_flags(judgments: pl.DataFrame, *, same_share: float = 0.9, least_seconds: float = 5.0) -> pl.DataFrame:
    """Assessors who answer nearly always alike, or in no time: assessor, flag, seen, of, detail.

    `same_answer`: one value makes up at least `same_share` of six or more judgments; `hurried`: the median active
    time of six or more is below `least_seconds`; `same_comment`: more than half of six or more comments are one
    text.
    """
    grouped = judgments.filter(pl.col("assessor").is_not_null()).group_by("assessor", maintain_order=True)
    summary = grouped.agg(
        pl.len().alias("of"),
        pl.col("value").unique_counts().max().alias("same"),
        pl.col("value").mode().min().alias("value"),
        pl.col("seconds").median(),
        pl.col("comment").drop_nulls().unique_counts().max().alias("same_comment"),
        pl.col("comment").count().alias("comments"),
    )
    enough = pl.col("of") >= 6
    flags = [
        summary.filter(enough, pl.col("same") >= same_share * pl.col("of")).select(
            "assessor",
            pl.lit("same_answer").alias("flag"),
            pl.col("same").alias("seen"),
            "of",
            pl.format("the value {} again and again", "value").alias("detail"),
        ),
        summary.filter(enough, pl.col("seconds") < least_seconds).select(
            "assessor",
            pl.lit("hurried").alias("flag"),
            pl.col("of").alias("seen"),
            "of",
            pl.format("median {} s", pl.col("seconds").round(1)).alias("detail"),
        ),
        summary.filter(pl.col("comments") >= 6, pl.col("same_comment") > 0.5 * pl.col("comments")).select(
            "assessor",
            pl.lit("same_comment").alias("flag"),
            pl.col("same_comment").alias("seen"),
            pl.col("comments").alias("of"),
            pl.lit("one comment again and again").alias("detail"),
        ),
    ]
    return pl.concat(flags, how="vertical_relaxed").sort("assessor", "flag")


def consistency_flags(pairs: pl.DataFrame) -> pl.DataFrame:
    """Assessors whose pair answers contradict each other: assessor, flag, seen, of, detail.

    `changed_mind`: the same two documents, preferred differently; `numbers_against_choice`: the number of the
    document not preferred is the larger one; `one_side`: nearly all preferences fall on one side of the screen.
    """
    answered = pairs.filter(pl.col("assessor").is_not_null(), pl.col("preferred").is_not_null()).with_columns(
        one=pl.min_horizontal("left", "right"),
        two=pl.max_horizontal("left", "right"),
        winner=pl.when(preferred="left").then("left").when(preferred="right").then("right").otherwise(pl.lit("")),
    )
    twice = (
        answered.group_by("assessor", "topic", "one", "two")
        .agg(pl.len().alias("answers"), pl.col("winner").n_unique().alias("winners"))
        .filter(pl.col("answers") > 1)
    )
    left_larger = pl.col("left_score") > pl.col("right_score")
    right_larger = pl.col("right_score") > pl.col("left_score")
    against = (left_larger & (pl.col("preferred") == "right")) | (right_larger & (pl.col("preferred") == "left"))
    flags = [
        _counted(twice, pl.col("winners") > 1, "changed_mind", "the same pair answered differently"),
        _counted(
            answered.filter(pl.col("left_score").is_not_null() & pl.col("right_score").is_not_null()),
            against,
            "numbers_against_choice",
            "the larger number on the other document",
        ),
        *(
            _counted(answered, pl.col("preferred") == side, "one_side", f"the {side} side").filter(
                pl.col("of") >= 12, pl.col("seen") >= 0.9 * pl.col("of")
            )
            for side in ("left", "right")
        ),
    ]
    return pl.concat(flags).sort("assessor", "flag")


def _verdict(check: UnitCheck, unit: pl.DataFrame, high: str | None, low: str | None) -> Verdict:
    if isinstance(check, KnownOrder):
        return check(dict(zip(unit["doc"], unit["value"], strict=True)), high, low)
    if isinstance(check, LeastTime):
        spent: dict[str, float] = {}
        for doc, seconds in unit.select("doc", "seconds").drop_nulls().iter_rows():
            spent[doc] = spent.get(doc, 0.0) + seconds
        return check(spent)
    verdicts = ((doc, check(comment)) for doc, comment in unit.select("doc", "comment").iter_rows())
    failed = [(doc, verdict) for doc, verdict in verdicts if not verdict]
    return Verdict(False, f"{failed[0][0]}: {failed[0][1].reason}") if failed else Verdict(True)


def _counted(answers: pl.DataFrame, seen: pl.Expr, flag: str, detail: str) -> pl.DataFrame:
    """How many of an assessor's answers show something; assessors without any are left out."""
    return (
        answers.group_by("assessor")
        .agg(seen.sum().cast(pl.UInt32).alias("seen"), pl.len().cast(pl.UInt32).alias("of"))
        .filter(pl.col("seen") > 0)
        .select("assessor", pl.lit(flag).alias("flag"), "seen", "of", pl.lit(detail).alias("detail"))
    )
