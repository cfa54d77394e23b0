"""The same runs under several gains, side by side: how alike are the orders of the systems and the top sets.

Gains may differ in kind (linear, exponential, binary, predicted relevance), in whose judgments they rest on (narrow,
wide, all units; one user, another) or in who labelled; to a comparison each is a named set of scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Unpack

import polars as pl

from judgewell.comparison.correlation import concordance, spearman, tau_ap
from judgewell.comparison.rbo import rbo
from judgewell.comparison.scores import ScoreArray, aligned, check_systems
from judgewell.comparison.significance import Decision
from judgewell.comparison.top_sets import FEWEST_TOPICS, TopSet, TopTest, overlap, top_set
from judgewell.errors import DataError
from judgewell.stats.arrays import Floats


def side_by_side(
    sets: Mapping[str, ScoreArray],
    *,
    test: TopTest = "joint",
    rbo_p: float = 0.9,
    common: bool = False,
    **how: Unpack[Decision],
) -> pl.DataFrame:
    """Every pair of sets of scores: tau-b, tau-a, tau-AP, Spearman, RBO with residual; pairs of systems concordant,
    discordant and tied; the sizes of the top sets and their overlap (with five topics or more)."""
    if len(sets) < 2:
        raise DataError(f"there is one set of scores ({', '.join(sets)}); give two or more to put side by side")
    sets = aligned(sets, common=common)
    for one in sets.values():
        check_systems(one)
    tops = {name: top_set(one, test, **how) for name, one in sets.items() if len(one.topics) >= FEWEST_TOPICS}
    rows = []
    for (first, x), (second, y) in combinations(sets.items(), 2):
        row = {"first": first, "second": second, **_orders(x.means, y.means, rbo_p)}
        rows.append({**row, **_tops(tops.get(first), tops.get(second))})
    return pl.DataFrame(rows)


def _orders(x: Floats, y: Floats, rbo_p: float) -> dict[str, float]:
    counts, biased = concordance(x, y), rbo(x, y, rbo_p)
    return {
        "systems": len(x),
        "tau_b": float(counts.tau_b),
        "tau_a": float(counts.tau_a),
        "tau_ap": float(tau_ap(x, y)),
        "spearman": float(spearman(x, y)),
        "rbo": biased.extrapolated,
        "rbo_least": biased.least,
        "rbo_residual": biased.residual,
        "concordant": int(counts.agree),
        "discordant": int(counts.disagree),
        "tied": int(counts.unknown),
    }


def _tops(first: TopSet | None, second: TopSet | None) -> dict[str, float | None]:
    if first is None or second is None:
        return {"top_first": None, "top_second": None, "top_shared": None, "top_jaccard": None, "top_share": None}
    shared = overlap(first, second)
    return {
        "top_first": shared.first,
        "top_second": shared.second,
        "top_shared": shared.shared,
        "top_jaccard": shared.jaccard,
        "top_share": shared.share_of_first,
    }
