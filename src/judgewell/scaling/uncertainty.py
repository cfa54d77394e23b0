"""How sure a gain is: intervals by formula, bootstrap over units or assessors, and draws of whole gain tables.

Draws come as blocks of draws x documents beside one frame of documents, so that a thousand tables are never in memory
at once; the same seed gives the same draws whatever is read of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, kept_notes, note
from judgewell.executors import Executor
from judgewell.scaling.inputs import GROUP, listed
from judgewell.scaling.mean_intervals import few_medians
from judgewell.scaling.numbers import documents_of
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import check_level, percentile_interval, tasks

Over = Literal["unit", "assessor"]

BLOCK = 32  # draws made at once, each block with a generator of its own


@dataclass(frozen=True)
class Draws:
    """`size` gain tables of the same documents; iterating gives arrays of up to BLOCK draws x documents.

    NaN is a document that a draw leaves without judgments.
    """

    documents: pl.DataFrame
    size: int
    seed: int
    make: Callable[[np.random.Generator, int], Floats]

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"{self.size} draws are too few", cure="ask for 1 or more, usually 200 or 1000")

    def __iter__(self) -> Iterator[Floats]:
        return map(self.block, tasks(self.size, BLOCK))

    def block(self, task: tuple[int, int]) -> Floats:
        """The draws of one block by its number and size."""
        number, count = task
        return self.make(np.random.default_rng([self.seed, number]), count)

    def array(self) -> Floats:
        """All draws at once: size x documents."""
        return np.concatenate(list(self))

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Each document's percentile interval over the draws."""
        return percentile_interval(self.array(), level)


@dataclass(frozen=True)
class _Recipe:
    """What draws are made from, wherever they are made."""

    method: Any
    table: Any
    size: int
    seed: int

    @cached_property
    def draws(self) -> Draws:
        drawn: Draws = self.method.draws(self.table, self.size, seed=self.seed)
        return drawn

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "draws"}


@dataclass(frozen=True)
class _DrawsElsewhere(Draws):
    """Draws whose blocks an executor makes."""

    executor: Executor
    recipe: _Recipe

    def __iter__(self) -> Iterator[Floats]:
        blocks = tasks(self.size, BLOCK)
        return self.executor.map(_block, blocks, self.executor.share(self.recipe), total=len(blocks))


def _block(task: tuple[int, int], recipe: _Recipe) -> Floats:
    return recipe.draws.block(task)


def draws_on(executor: Executor | None, method: Any, table: Any, size: int, seed: int) -> Draws:
    """A method's draws of a table, made by the executor's workers; the same draws as without one."""
    recipe = _Recipe(method, table, size, seed)
    here = recipe.draws
    if executor is None:
        return here
    return _DrawsElsewhere(here.documents, size, seed, here.make, executor, recipe)


def bootstrap(
    gains_of: Callable[[pl.DataFrame], pl.DataFrame], table: pl.DataFrame, size: int, seed: int, over: Over = "unit"
) -> Draws:
    """Draws of a method's gains by resampling whole units within each topic, or whole assessors over all topics.

    A unit drawn twice counts as two units, an assessor drawn twice as two assessors. Judgments that name neither are
    resampled one by one within their topic.
    """
    resampler = Resampler(table, over)

    def quiet_gains(rows: pl.DataFrame) -> pl.DataFrame:
        return quietly(gains_of, rows)

    documents = quiet_gains(table).select("topic", "doc")

    def make(generator: np.random.Generator, count: int) -> Floats:
        return np.stack([_aligned(quiet_gains(resampler.drawn(generator)), documents) for _ in range(count)])

    return Draws(documents, size, seed, make)


def quietly(work: Callable[[Any], pl.DataFrame], table: Any) -> pl.DataFrame:
    """The result of the work on a table; its notes were emitted when the gains themselves were made."""
    with kept_notes():
        return work(table)


def _aligned(gains: pl.DataFrame, documents: pl.DataFrame) -> Floats:
    """The gains in the documents' order, NaN where the document is missing."""
    joined = documents.join(gains, on=["topic", "doc"], how="left", maintain_order="left")
    return joined["gain"].fill_null(float("nan")).to_numpy()


class Resampler:
    """The rows of a table by group, ready to be drawn again and again."""

    def __init__(self, table: pl.DataFrame, over: Over) -> None:
        if over == "assessor" and table["assessor"].null_count():
            raise DataError(
                "some rows name no assessor; fill the column assessor, or use another method, such as majority"
            )
        self.table, self.over = table, over
        alone = pl.when(pl.col("unit").is_null() & pl.col("assessor").is_null()).then(pl.int_range(pl.len()))
        keys = ["assessor"] if over == "assessor" else [*GROUP, "alone"]
        groups = table.with_columns(alone=alone).with_row_index("row").group_by(keys, maintain_order=True)
        rows = groups.agg("row", topic_of=pl.col("topic").first())
        self.rows = rows["row"].explode().to_numpy().astype(np.int64)
        self.sizes = rows["row"].list.len().to_numpy().astype(np.int64)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.group = np.empty(len(table), dtype=np.int64)  # of each row
        self.group[self.rows] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        stratum = rows["topic_of"] if over == "unit" else pl.Series([""] * len(rows))
        codes = stratum.rank("dense").to_numpy().astype(np.int64) - 1
        self.strata = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])

    def groups(self, generator: np.random.Generator) -> Ints:
        """The groups of one draw."""
        return np.concatenate([part[generator.integers(0, len(part), len(part))] for part in self.strata])

    def weights(self, generator: np.random.Generator) -> Ints:
        """How often each row of the table is in one draw."""
        return np.asarray(np.bincount(self.groups(generator), minlength=len(self.sizes))[self.group])

    def drawn(self, generator: np.random.Generator) -> pl.DataFrame:
        """One draw, its groups named anew so that copies stay apart."""
        groups = self.groups(generator)
        lengths = self.sizes[groups]
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        rows: Ints = self.rows[np.repeat(self.starts[groups], lengths) + offsets]
        copy = pl.Series(np.repeat(np.arange(len(groups)), lengths)).cast(pl.String)
        taken = self.table[rows]
        if self.over == "assessor":
            return taken.with_columns(assessor=copy)
        return taken.with_columns(unit=copy)


def with_interval(gains: pl.DataFrame, low: Any, high: Any) -> pl.DataFrame:
    """The gains table with its interval filled in; NaN becomes missing."""
    ends = pl.DataFrame({"low": np.asarray(low, dtype=np.float64), "high": np.asarray(high, dtype=np.float64)})
    filled = ends.with_columns(pl.all().fill_nan(None))
    return gains.with_columns(filled["low"], filled["high"])


def with_grounds(gains: pl.DataFrame, own_spread: bool) -> pl.DataFrame:
    """The gains without the intervals that rest on one judgment, which every draw repeats; a note reports them.

    Where an interval is not from the spread of the document's own judgments, only one without any width is such.
    """
    alone = pl.col("judgments") == 1
    baseless = gains.select(alone if own_spread else alone & (pl.col("low") == pl.col("high"))).to_series()
    baseless = baseless.fill_null(False)
    if not baseless.any():
        return gains
    first = listed(gains.filter(baseless).sort("topic", "doc"))
    note(
        f"{int(baseless.sum())} of {len(gains)} documents have one judgment and so no interval: low and high are "
        f"missing ({first}); collect more"
    )
    return gains.with_columns(pl.when(~baseless).then(pl.col("low", "high")))


def with_log_interval(gains: pl.DataFrame, centre: Floats, errors: Floats, level: float) -> pl.DataFrame:
    """The gains with the interval exp(centre +- z * error); a note reports gains without a standard error."""
    half = z_of(level) * errors
    without = gains.filter(pl.Series(np.isnan(errors))).sort("topic", "doc")
    if len(without):
        note(
            f"{len(without)} of {len(gains)} documents have no interval (low and high are missing): the estimate "
            f"needs every judgment they have, or these agree exactly ({listed(without)}); collect more"
        )
    return with_interval(gains, np.exp(centre - half), np.exp(centre + half))


def z_of(level: float) -> float:
    """The normal quantile whose middle holds `level`."""
    from scipy.special import ndtri

    check_level(level)
    return float(ndtri((1 + level) / 2))


def wilson(share: Floats, count: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of a share of `count` answers."""
    z = z_of(level)
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return np.minimum(middle - half, share), np.maximum(middle + half, share)  # a rounding may pass the share by


def median_interval(
    frame: pl.DataFrame, column: str, level: float, few: Literal["ratios", "logs"] | None = None
) -> pl.DataFrame:
    """Per document the distribution-free interval of the median: its k-th smallest and k-th largest score, k the
    largest with binomial coverage of at least `level`. Where too few scores reach it (5 for 95 %) those of `ratios`, or
    logarithms of them, borrow the spread of all documents (see `few_medians`); others have no interval."""
    check_level(level)
    documents = documents_of(frame)
    ranks = {int(count): _rank(int(count), level) for count in np.unique(documents.counts)}
    ends = documents.ranked(frame[column].to_numpy(), lambda n: (max(ranks[n] - 1, 0), min(n - ranks[n], n - 1)))
    lacking = np.array([ranks[int(count)] == 0 for count in documents.counts])
    ends[lacking] = np.nan
    if few and lacking.any():
        values = frame[column].to_numpy()
        both = np.stack(few_medians(documents, np.log(values) if few == "ratios" else values, level), axis=1)
        medians = documents.medians(values)  # a rounding may pass them by
        both = np.exp(both) if few == "ratios" else both
        both = np.stack([np.minimum(both[:, 0], medians), np.maximum(both[:, 1], medians)], axis=1)
        ends[lacking] = both[lacking]
    result = documents.table.select("topic", "doc").with_columns(low=pl.Series(ends[:, 0]), high=pl.Series(ends[:, 1]))
    result = result.with_columns(pl.col("low", "high").fill_nan(None))
    short = result.filter(pl.col("low").is_null()).sort("topic", "doc")
    if len(short):
        note(
            f"{len(short)} of {len(result)} documents have too few judgments for a {level:.0%} interval of the median "
            f"({listed(short)}); resample for one (--interval bootstrap)"
        )
    return result


def _rank(count: int, level: float) -> int:
    """The largest k with P(the median lies between the k-th smallest and largest of `count`) >= level; 0 if none."""
    from scipy.stats import binom

    k = int(binom.ppf((1 - level) / 2, count, 0.5))
    while k > 0 and 2 * binom.cdf(k - 1, count, 0.5) > 1 - level:
        k -= 1
    return k
