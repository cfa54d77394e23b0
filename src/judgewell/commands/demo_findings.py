"""What the demo found, computed from its judgments: how well gains recover what is known, whether systems keep their
order, and how many judgments were enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgewell.comparison.correlation import tau_b
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.top_sets import top_set
from judgewell.text import listing

KNOWN = "grades"  # as the report calls them
ENOUGH = 0.9  # tau with the order under all judgments


@dataclass(frozen=True)
class Findings:
    """The three findings as numbers, and as sentences."""

    recovery: pl.DataFrame  # by gains: mean over topics of tau-b with the known grades and with the true relevance
    order: pl.DataFrame  # by gains: tau-b of the systems' order with that under the grades, the best, the top set
    fewer: pl.DataFrame  # by judgments for each document: tau-b with the order under all of them

    @property
    def sentences(self) -> list[str]:
        recovered = ", ".join(f"{row['grades']:.2f} from {row['gains']}" for row in self.recovery.iter_rows(named=True))
        orders = ", ".join(
            f"{row['tau']:.2f} under {row['gains']}"
            for row in self.order.iter_rows(named=True)
            if row["gains"] != KNOWN
        )
        known = self.order.filter(pl.col("gains") == KNOWN).row(0, named=True)
        sentences = [
            f"Gains rank the documents of a topic like their known grades with Kendall's tau {recovered} "
            "(1 is the same order, 0 is chance; mean over topics).",
            f"{self._best()} Gains rank the {known['systems']} systems like the grades with tau {orders}.",
        ]
        *part, whole = self.fewer.iter_rows(named=True)
        row = next((row for row in part if row["tau"] >= ENOUGH), part[-1])
        enough = "enough" if row["tau"] >= ENOUGH else "not enough"
        sentences.append(
            f"{row['judgments']} of {whole['judgments']} magnitudes for each document were {enough} to rank the "
            f"systems: tau {row['tau']:.3f} with the ranking under all of them (at least {ENOUGH} is required)."
        )
        return sentences

    def _best(self) -> str:
        """Which system is first under which gains, and whether that is a contradiction."""
        under: dict[str, list[str]] = {}
        for row in self.order.iter_rows(named=True):
            under.setdefault(row["best"], []).append(row["gains"])
        firsts = listing([f"{system} under {listing(names)}" for system, names in under.items()])
        if len(under) == 1:
            return f"The system {next(iter(under))} has the best mean under {listing(list(self.order['gains']))}."
        tops = [set(row["members"].split(", ")) for row in self.order.iter_rows(named=True)]
        text = f"The system with the best mean is {firsts}."
        if not set.intersection(*tops).issuperset(under):
            return f"{text} The gains disagree about the best system."
        return f"{text} The data cannot show which of them is better: each may be the best (95 % confidence)."


def recovery(gains: Mapping[str, pl.DataFrame], grades: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """How far each set of gains orders a topic's documents as their grades do, and as their true relevance does."""
    rows = []
    for name, table in gains.items():
        joined = table.join(grades.select("topic", "doc", grade="gain"), on=["topic", "doc"]).join(
            truth.select("topic", "doc", relevance="gain"), on=["topic", "doc"]
        )
        taus = [
            (tau_b(part["gain"].to_numpy(), part["grade"].to_numpy()), tau_b(part["gain"], part["relevance"]))
            for part in joined.partition_by("topic", maintain_order=True)
        ]
        by_grade, by_relevance = np.nanmean(np.asarray(taus, dtype=np.float64), axis=0).tolist()
        rows.append({"gains": name, "grades": by_grade, "relevance": by_relevance, "documents": len(joined)})
    return pl.DataFrame(rows)


def order(scores: Mapping[str, ScoreArray]) -> pl.DataFrame:
    """How far systems keep the order that they have under the known grades."""
    known = scores[KNOWN]
    rows = []
    for name, one in scores.items():
        top = top_set(one)
        tau = float(tau_b(known.means, one.means))
        counts = {"top": len(top.members), "systems": len(one.systems)}
        rows.append({"gains": name, "tau": tau, "best": top.best, **counts, "members": ", ".join(top.members)})
    return pl.DataFrame(rows)


def fewer(
    judgments: pl.DataFrame, score: Callable[[pl.DataFrame], ScoreArray], counts: tuple[int, ...], seed: int
) -> pl.DataFrame:
    """Whole units drawn at random till each document has about so many judgments: tau of the order they give with
    that under all units."""
    rng = np.random.default_rng(seed)
    whole = score(judgments).means
    keys = judgments.select("topic", "unit", "assessor").unique(maintain_order=True)
    place = keys.with_columns(order=pl.Series(rng.permutation(len(keys))))
    usual = int(judgments.group_by("topic", "doc").len()["len"].median() or 1)  # type: ignore[arg-type]
    rows = []
    for count in (*[one for one in counts if one < usual], usual):
        rank = pl.col("order").rank("ordinal").over("topic")
        kept = place.filter(rank <= (pl.len().over("topic") * min(1.0, count / usual)).ceil())
        part = judgments.join(kept.drop("order"), on=["topic", "unit", "assessor"], maintain_order="left")
        rows.append({"judgments": count, "tau": float(tau_b(whole, score(part).means))})
    return pl.DataFrame(rows)
