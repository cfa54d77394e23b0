"""From aligned scores to conclusions: every table of a comparison, by measure and set of gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from judgewell.analysis.draws import Resampled
from judgewell.analysis.scores import Sets
from judgewell.comparison.design import topics_needed
from judgewell.comparison.discrimination import discrimination_table
from judgewell.comparison.profiles import side_by_side
from judgewell.comparison.scores import ScoreArray, check_systems, note_identical
from judgewell.comparison.signed_rank import Zeros
from judgewell.comparison.significance import DEFAULT_CORRECTION, Correction, Test, compare_systems
from judgewell.comparison.top_sets import FEWEST_TOPICS, TopSet, TopTest, top_set
from judgewell.comparison.worlds import Worlds, topic_worlds
from judgewell.errors import InputError, note
from judgewell.executors import Executor
from judgewell.stats.means import MeanIntervals, few_topics_note, mean_intervals, no_spread_note

Tables = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class Choices:
    """How systems are compared."""

    test: Test = "t"
    top_test: TopTest = "joint"
    correction: Correction = DEFAULT_CORRECTION
    zeros: Zeros = "drop"
    alpha: float = 0.05
    baseline: str | None = None
    reference: str | None = None
    separate: tuple[str, str] | None = None
    worlds: int = 1000
    replicates: int = 10_000
    level: float = 0.95
    seed: int = 0
    executor: Executor | None = field(default=None, repr=False, compare=False)

    @property
    def tests(self) -> dict[str, Any]:
        """What every test takes."""
        names = ("alpha", "replicates", "seed", "executor")
        return {name: getattr(self, name) for name in names}

    @property
    def pair_tests(self) -> dict[str, Any]:
        """What every test of pairs takes; top sets need no correction."""
        return self.tests | {"correction": self.correction}

    def worlds_of(self, scores: ScoreArray) -> Worlds:
        """The systems over other topics."""
        return topic_worlds(scores.systems, scores.values, self.worlds, seed=self.seed, executor=self.executor)


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` concludes: tables by name, and the scores and worlds they come from, by measure.

    Its text is what the command prints; `chart()` is an Altair chart.
    """

    tables: Tables
    scores: Mapping[str, Sets]
    worlds: Mapping[str, Mapping[str, Worlds]]
    choices: Choices
    inputs: tuple[str, ...] = ()  # the files that were read

    def __getitem__(self, table: str) -> pl.DataFrame:
        """A table by its name: systems, pairs, sets, discrimination, worlds, above, topics needed, judgments needed."""
        if table not in self.tables:
            raise InputError(f"there is no table {table!r}", cure=f"the tables are {', '.join(self.tables)}")
        return self.tables[table]

    def __repr__(self) -> str:
        from judgewell.analysis.text import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"

    def chart(self) -> Any:
        """The first measure drawn: ranks over worlds, or two sets of scores against each other; or users' profiles."""
        from judgewell.comparison.charts import themed

        return themed(self._chart())

    def _chart(self) -> Any:
        from judgewell.comparison.charts import rank_chart, score_chart, tau_chart

        sets, worlds = next(iter(self.scores.values())), next(iter(self.worlds.values()))
        if "profiles" in self.tables:
            from judgewell.analysis.users import profile_chart

            return profile_chart(self.tables["profiles"])
        if "both" in worlds:
            return rank_chart(worlds["both"], self.choices.level) & tau_chart(worlds)
        if len(sets) > 1:
            return score_chart(dict(list(sets.items())[:2]), level=self.choices.level, seed=self.choices.seed)
        if not worlds:
            raise InputError("one topic gives no intervals to draw", cure="give the scores of more topics")
        return rank_chart(worlds["topics"], self.choices.level)


def conclude(
    scores: Mapping[str, Sets],
    choices: Choices,
    resampled: Callable[[str, ScoreArray], Resampled] | None = None,
    inputs: tuple[str, ...] = (),
) -> Comparison:
    """All tables over all measures; `resampled` gives what draws of gains say about a measure, where there are any."""
    tables: dict[str, list[pl.DataFrame]] = {}
    worlds = {}
    for measure, sets in scores.items():
        first = next(iter(sets.values()))
        note_identical(first)
        drawn = None if resampled is None else resampled(measure, first)
        worlds[measure] = _worlds(first, choices) if drawn is None else drawn.worlds
        for name, table in _tables(sets, choices, worlds[measure], drawn).items():
            tables.setdefault(name, []).append(table.select(pl.lit(measure).alias("measure"), pl.all()))
    whole = {name: pl.concat(parts, how="diagonal") for name, parts in tables.items()}
    return Comparison(whole, scores, worlds, choices, inputs)


def _worlds(scores: ScoreArray, choices: Choices) -> dict[str, Worlds]:
    check_systems(scores)
    if len(scores.topics) < 2:
        return {}
    return {"topics": choices.worlds_of(scores)}


def _tables(sets: Sets, choices: Choices, worlds: Mapping[str, Worlds], drawn: Resampled | None) -> Tables:
    """Every table there is to show or write, by name."""
    first = next(iter(sets.values()))
    alone = drawn if len(sets) == 1 else None  # draws are of the first set
    over = (worlds.get("both") or worlds.get("topics")) if len(sets) == 1 else None
    tables: Tables = {"systems": _by_set(sets, lambda one: systems_table(one, choices, over, alone))}
    if len(first.topics) > 1:
        tables["pairs"] = _by_set(sets, lambda one: pairs_table(one, choices, alone))
    if len(sets) > 1:
        tables["sets"] = side_by_side(sets, test=choices.top_test, zeros=choices.zeros, **choices.tests)
        if len(first.topics) > 1:
            tables["discrimination"] = discrimination_table(sets, choices.reference, choices.test, **choices.pair_tests)
    if worlds:
        tables["worlds"] = pl.concat(one.table(choices.level) for one in worlds.values())
        tables["above"] = pl.concat(one.pairs() for one in worlds.values())
    if choices.separate:
        tables["topics needed"] = topics_needed(
            first, *choices.separate, alpha=choices.alpha, test=choices.test, seed=choices.seed
        )
    return tables


def _by_set(sets: Sets, table: Callable[[ScoreArray], pl.DataFrame]) -> pl.DataFrame:
    parts = [table(one).select(pl.lit(name).alias("set"), pl.all()) for name, one in sets.items()]
    return pl.concat(parts)


def systems_table(
    scores: ScoreArray, choices: Choices, worlds: Worlds | None = None, drawn: Resampled | None = None
) -> pl.DataFrame:
    """Every system's mean with its interval, its score without judgment noise where there are draws, its ranks over
    worlds, and the set that contains the best system; best mean first."""
    check_systems(scores)
    table = pl.DataFrame({"system": scores.systems, "mean": scores.means})
    if len(scores.topics) > 1:
        means = scores.intervals(choices.level, choices.seed)
        for text in (few_topics_note(means), no_spread_note(means, scores.systems)):
            if text:
                note(text)
        over = worlds or choices.worlds_of(scores)
        table = table.with_columns(low=means.low, high=means.high).with_columns(pl.col("low", "high").fill_nan(None))
        if drawn is not None and drawn.without_noise is not None:
            clean = drawn.without_noise.intervals(choices.level, choices.seed)
            table = table.with_columns(**without_noise_columns(clean, scores.limits))
        ranks = over.table(choices.level).select("system", "rank_low", "rank_high")
        table = table.join(ranks, on="system", maintain_order="left")
    top = best_set(scores, choices)
    if top is not None:
        table = table.with_columns(**top_columns(top, scores.systems))
    return table.sort("mean", "system", descending=[True, False])


def top_columns(top: TopSet, systems: Sequence[str]) -> dict[str, pl.Series]:
    """For each system the p of the test, whether it is in the top set, and else which system rules it out."""
    return {
        "p_top": pl.Series([top.p[name] for name in systems]),
        "top": pl.Series([name in top.members for name in systems]),
        "ruled_out_by": pl.Series([top.ruled_out_by.get(name) for name in systems], dtype=pl.String),
    }


def without_noise_columns(clean: MeanIntervals, limits: tuple[float, float] = (-math.inf, math.inf)) -> dict[str, Any]:
    """What judgments without noise would have given, with its interval over topics, inside the measure's range."""
    ends = {"without_noise": clean.mean, "without_noise_low": clean.low, "without_noise_high": clean.high}
    return {name: pl.Series(np.clip(values, *limits)).fill_nan(None) for name, values in ends.items()}


def best_set(scores: ScoreArray, choices: Choices) -> TopSet | None:
    """The set that contains the best system; None, with a note, where topics are too few for one."""
    if len(scores.topics) < FEWEST_TOPICS:
        if len(scores.topics) > 1:
            note(
                f"{len(scores.topics)} topics are too few to show which system is the best; {FEWEST_TOPICS} are needed"
            )
        return None
    return top_set(scores, choices.top_test, zeros=choices.zeros, **choices.tests)


def pairs_table(scores: ScoreArray, choices: Choices, drawn: Resampled | None = None) -> pl.DataFrame:
    """Every pair of systems, or every system against the baseline: difference with interval, effect, p; and the
    difference without judgment noise where there are draws."""
    table = compare_systems(
        scores, choices.test, baseline=choices.baseline, level=choices.level, zeros=choices.zeros, **choices.pair_tests
    )
    if drawn is None or drawn.without_noise is None:
        return table
    clean = drawn.without_noise
    gaps = [clean.of(first) - clean.of(second) for first, second in table.select("first", "second").iter_rows()]
    return table.with_columns(**without_noise_columns(mean_intervals(gaps, level=choices.level, seed=choices.seed)))
