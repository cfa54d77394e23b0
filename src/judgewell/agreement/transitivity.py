"""Do assessors agree with themselves: are their preferences transitive, do they repeat a label they gave?

The preferences of one group of documents contradict every order or fit one; discords are counted at the best order
(Yang, Moffat & Turpin 2018, Fig. 4). Few comparisons leave little to contradict: on a cubic graph of eight documents
random clicking leaves 0.71 discords of 12, so each count comes with the chance value of the same graph, and
consistency = 1 − observed / chance is 1 for a perfect and 0 for a random assessor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.best_order import MOST_DOCUMENTS, Chance, ChanceByShape, best_order_by_parts, best_orders
from judgewell.agreement.common import check_columns, judgments_of, pairs_of, require, rows_table, with_number
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Ints
from judgewell.text import counted

Progress = Callable[[int, int], None]
GROUPS = {"unit": ["topic", "assessor", "unit"], "assessor": ["topic", "assessor"]}


def transitivity(
    pairs: Any, *, within: str = "unit", samples: int = 1000, seed: int = 0, progress: Progress | None = None
) -> pl.DataFrame:
    """Each group of preferences against its best order, with what chance would give on the same comparisons.

    `within="unit"` takes an assessor's unit as a group, `within="assessor"` all of an assessor's preferences for a
    topic. "same" answers are no preference. `touched` counts the documents of contradicted preferences at the order
    found; where several orders are equally good it is the first's.
    """
    if within not in GROUPS:
        raise InputError(f"there are no groups within {within!r}", cure=f"choose {' or '.join(GROUPS)}")
    frame = pairs_of(pairs)
    require(frame, "preferred", "transitivity")
    answered = frame.filter(pl.col("preferred").is_not_null())
    numbered = with_number(answered, GROUPS[within], "group")
    table = numbered.group_by([*GROUPS[within], "group"], maintain_order=True).agg(
        comparisons=(pl.col("preferred") != "same").sum().cast(pl.Int64),
        same=(pl.col("preferred") == "same").sum().cast(pl.Int64),
    )
    wins = _wins(numbered.filter(pl.col("preferred") != "same"))
    if not wins:
        raise DataError("transitivity needs preferences; every answer is 'same'")
    rows = _observed(wins)
    chances = _chances(wins, ChanceByShape(samples, np.random.default_rng(seed)), progress)
    results = [{"group": group} | rows[group] | _chance_columns(chances[group]) for group in wins]
    known = pl.DataFrame(results, infer_schema_length=None, schema_overrides=_SCHEMA)
    empty = table.height - known.height
    if empty:
        note(f"transitivity excludes {counted(empty, 'group')} without a preference (all 'same')")
    shares = {
        "share": pl.col("discords") / pl.col("comparisons"),
        "touched_share": pl.col("touched") / pl.col("documents"),
    }
    return table.join(known, on="group", maintain_order="left").drop("group").with_columns(**shares).select(
        *GROUPS[within], "documents", "comparisons", "same", "discords", "share", "touched", "touched_share",
        "chance_discords", "chance_perfect", "chance_exact", "note",
    )  # fmt: skip


def transitivity_summary(table: pl.DataFrame, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Groups of :func:`transitivity` added up, by assessor, topic or over all, with consistency beyond chance."""
    check_columns(table, by)
    known = table.filter(pl.col("discords").is_not_null() & pl.col("chance_discords").is_not_null())
    if known.is_empty():
        raise DataError("no group of preferences is small enough for an exact best order")
    lost = table.height - known.height
    if lost:
        note(f"the summary excludes {counted(lost, 'group')} too large for an exact best order")
    sums = [pl.col(name).sum() for name in ("comparisons", "discords", "chance_discords")]
    grouped = known.group_by(by, maintain_order=True) if by else known.group_by(pl.lit(0))
    summary = grouped.agg(
        pl.len().cast(pl.Int64).alias("groups"),
        *sums,
        pl.col("documents").sum(),
        pl.col("touched_share").mean().alias("touched_share"),
        (pl.col("discords") == 0).mean().alias("perfect"),
        pl.col("chance_perfect").mean().alias("chance_perfect"),
    )
    chance = pl.col("chance_discords")
    summary = summary.drop(*([] if by else ["literal"])).with_columns(
        share=pl.col("discords") / pl.col("comparisons"),
        chance_share=chance / pl.col("comparisons"),
        consistency=pl.when(chance > 0).then(1 - pl.col("discords") / chance),
        note=pl.when(chance == 0).then(pl.lit("no order can be contradicted: the comparisons hold no cycle")),
    )
    return summary.sort(by) if by else summary


def repeated_labels(pairs: Any, *, by: Sequence[str] = ("topic", "assessor")) -> pl.DataFrame:
    """How often an assessor who saw a document again called it relevant once and not relevant another time.

    changed_share is per document ("at least one inconsistent judgment"), times_share per two showings of a document
    ("fraction of times"), with the chance value 2p(1 − p) of an assessor who calls a share p relevant at random.
    """
    shown = _shown_documents(pairs)
    each = shown.group_by("topic", "assessor", "doc", maintain_order=True).agg(
        *[pl.col(name).first() for name in by if name not in ("topic", "assessor", "doc")],
        times=pl.len().cast(pl.Int64),
        yes=pl.col("relevant").sum().cast(pl.Int64),
    )
    again = each.filter(pl.col("times") > 1)
    if again.is_empty():
        raise DataError("repeated labels need an assessor who labelled a document twice; none did")
    yes, no, times = pl.col("yes"), pl.col("times") - pl.col("yes"), pl.col("times")
    rate = pl.col("yes").sum() / pl.col("times").sum()
    table = again.group_by(by, maintain_order=True).agg(
        repeated=pl.len().cast(pl.Int64),
        changed=((yes > 0) & (no > 0)).sum().cast(pl.Int64),
        two_showings=(times * (times - 1) // 2).sum(),
        different=(yes * no).sum(),
        chance_share=2 * rate * (1 - rate),
    )
    seen = each.group_by(by).agg(documents=pl.len().cast(pl.Int64))
    return (
        table.join(seen, on=list(by), nulls_equal=True, maintain_order="left")
        .with_columns(
            changed_share=pl.col("changed") / pl.col("repeated"),
            times_share=pl.col("different") / pl.col("two_showings"),
        )
        .select(*by, "documents", "repeated", "changed", "changed_share", "two_showings", "different", "times_share",
                "chance_share")
    )  # fmt: skip


def repeated_judgments(judgments: Any) -> pl.DataFrame:
    """Every document that one assessor judged more than once, with the values given; no rows where none was."""
    frame = judgments_of(judgments)
    require(frame, "assessor", "finding repeated judgments")
    return (
        frame.filter(pl.col("assessor").is_not_null())
        .group_by("topic", "doc", "assessor", maintain_order=True)
        .agg(
            units=pl.col("unit").unique(maintain_order=True).drop_nulls().str.join(" "),
            times=pl.len().cast(pl.Int64),
            values=pl.col("value").cast(pl.String).str.join(" "),
            spread=pl.col("value").max() - pl.col("value").min(),
        )
        .filter(pl.col("times") > 1)
    )


def volume_against_inconsistency(table: pl.DataFrame, inconsistency: str, volume: str = "documents") -> pl.DataFrame:
    """Kendall's tau-b between how much an assessor did and how inconsistent it was, over the rows of a table."""
    from scipy.stats import kendalltau

    known = table.filter(pl.col(inconsistency).is_not_null() & pl.col(volume).is_not_null())
    row: dict[str, Any] = {"volume": volume, "inconsistency": inconsistency, "points": known.height}
    row |= {"mean_volume": known[volume].mean(), "mean_inconsistency": known[inconsistency].mean()}
    row |= {"tau": None, "p": None, "note": None}
    if known.height < 3 or known[volume].n_unique() < 2 or known[inconsistency].n_unique() < 2:
        row["note"] = "needs three points and two different values of both"
    else:
        result = kendalltau(known[volume].to_numpy(), known[inconsistency].to_numpy())
        row |= {"tau": float(result.statistic), "p": float(result.pvalue)}
    return rows_table([row], "tau", "p")


def preferences_against_labels(preferences: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Paired t-test of assessors' two inconsistencies, preferences' share of discords and labels' changed share.

    Both tables have a row per topic and assessor (`transitivity_summary(…, by=("topic", "assessor"))` and
    `repeated_labels`). The two have different chance values: read the test with :func:`transitivity_summary`.
    """
    from scipy.stats import ttest_rel

    both = preferences.join(labels, on=["topic", "assessor"], suffix="_labels", nulls_equal=True)
    if both.height < 2:
        raise DataError(f"a paired test needs two assessors with both inconsistencies; there are {both.height}")
    first, second = both["share"].to_numpy(), both["changed_share"].to_numpy()
    difference = first - second
    p = float(ttest_rel(first, second).pvalue) if np.ptp(difference) else None
    note = None if p is not None else "all differences are equal: no test"
    row = {"points": both.height, "preferences": first.mean(), "labels": second.mean(), "p": p, "note": note}
    return rows_table([row], "p")


def _wins(preferences: pl.DataFrame) -> dict[int, Ints]:
    """For each group, how often each of its documents was preferred to each other, documents by name."""
    left = pl.col("preferred") == "left"
    rows = preferences.select("group", winner=pl.when(left).then("left").otherwise("right"),
                              loser=pl.when(left).then("right").otherwise("left")).with_row_index()  # fmt: skip
    ends = pl.concat([rows.select("group", "index", doc=name, side=pl.lit(name)) for name in ("winner", "loser")])
    ends = ends.with_columns(place=(pl.col("doc").rank("dense").over("group") - 1).cast(pl.Int64))
    placed = [ends.filter(pl.col("side") == name).sort("group", "index") for name in ("winner", "loser")]
    group = placed[0]["group"].to_numpy()
    winner, loser = (side["place"].to_numpy() for side in placed)
    _, starts = np.unique(group, return_index=True)
    wins = {}
    for start, stop in zip(starts, [*starts[1:], len(group)], strict=False):  # without rows there is nothing to go over
        size = int(max(winner[start:stop].max(), loser[start:stop].max())) + 1
        matrix = np.zeros((size, size), dtype=np.int64)
        np.add.at(matrix, (winner[start:stop], loser[start:stop]), 1)
        wins[int(group[start])] = matrix
    return wins


def _chances(wins: dict[int, Ints], chance: ChanceByShape, progress: Progress | None) -> dict[int, Chance | None]:
    """The chance values of each group; groups that compare the same documents the same way share them."""
    known: dict[bytes, Chance | None] = {}
    chances = {}
    for done, (group, matrix) in enumerate(wins.items(), 1):
        together = matrix + matrix.T
        key = together.tobytes()
        if key not in known:
            known[key] = chance(together)
        chances[group] = known[key]
        if progress and done % 100 == 0:
            progress(done, len(wins))
    return chances


def _observed(wins: dict[int, Ints]) -> dict[int, dict[str, Any]]:
    """Discords and documents touched in each group; groups of one size are ordered together."""
    sizes: dict[int, list[int]] = {}
    for group, matrix in wins.items():
        sizes.setdefault(len(matrix), []).append(group)
    rows: dict[int, dict[str, Any]] = {}
    for size, groups in sizes.items():
        if size <= MOST_DOCUMENTS:
            discords, orders = best_orders(np.stack([wins[group] for group in groups]))
            for group, fewest, order in zip(groups, discords, orders, strict=True):
                rows[group] = _row(wins[group], int(fewest), order)
        else:
            rows |= {group: _large_row(wins[group]) for group in groups}
    return rows


def _large_row(matrix: Ints) -> dict[str, Any]:
    best = best_order_by_parts(matrix)
    if best is not None:
        return _row(matrix, *best)
    note = f"a cycle runs through more than {MOST_DOCUMENTS} documents: no exact best order"
    return {"documents": len(matrix), "discords": None, "touched": None, "note": note}


def _row(matrix: Ints, discords: int, order: Ints) -> dict[str, Any]:
    against = np.tril(matrix[np.ix_(order, order)], -1)  # a lower document preferred to a higher one
    touched = int((against.any(axis=0) | against.any(axis=1)).sum())
    return {"documents": len(matrix), "discords": discords, "touched": touched, "note": None}


def _chance_columns(chance: Chance | None) -> dict[str, Any]:
    return {f"chance_{name}": getattr(chance, name, None) for name in ("discords", "perfect", "exact")}


def _shown_documents(pairs: Any) -> pl.DataFrame:
    """Each showing of a document with the label it got."""
    frame = pairs_of(pairs)
    require(frame, "left_relevant", "repeated labels")
    require(frame, "assessor", "repeated labels")
    kept = [name for name in frame.columns if name not in ("left", "right", "left_relevant", "right_relevant")]
    sides = [frame.select(*kept, doc=pl.col(side), relevant=pl.col(f"{side}_relevant")) for side in ("left", "right")]
    return pl.concat(sides).filter(pl.col("relevant").is_not_null() & pl.col("assessor").is_not_null())


_SCHEMA = {
    "group": pl.Int64,
    "documents": pl.Int64,
    "discords": pl.Int64,
    "touched": pl.Int64,
    "note": pl.String,
    "chance_discords": pl.Float64,
    "chance_perfect": pl.Float64,
    "chance_exact": pl.Boolean,
}
