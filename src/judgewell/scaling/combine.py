"""Several gains of the same documents made one: their geometric mean (Yang, Moffat and Turpin 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.bradley_terry import BradleyTerry
from judgewell.scaling.inputs import gains_frame, place
from judgewell.scaling.method import Method
from judgewell.scaling.preference import YANG, Preference, Relevance
from judgewell.scaling.ratio import Ratio
from judgewell.tables import GAINS, check

LARGEST = pl.col("gain").max().over("topic")
OVER_MAXIMUM = pl.when(LARGEST > 0).then(pl.col("gain") / LARGEST).otherwise(0.0)  # all 0 stays 0


def combine(tables: Sequence[Any], *, scaled: bool = True) -> pl.DataFrame:
    """The geometric mean of the gains of each document; a gain of 0 in any makes it 0.

    `scaled` divides each table's gains by their topic's maximum before (else the result is divided by its own). A
    document that a table lacks gets no combined gain and is counted.
    """
    if len(tables) < 2:
        raise InputError(f"{len(tables)} gains table cannot be combined", cure="give two or more")
    parts = [_part(table, number, scaled) for number, table in enumerate(tables)]
    both = parts[0]
    for part in parts[1:]:
        both = both.join(part, on=["topic", "doc"], how="full", coalesce=True)
    names = [f"gain{number}" for number in range(len(parts))]
    lacking = both.filter(pl.any_horizontal(pl.col(names).is_null())).sort("topic", "doc")
    if len(lacking) == len(both):
        raise DataError("no document is in all the gains tables; combine gains of the same topics and documents")
    if len(lacking):
        note(
            f"{len(lacking)} of {len(both)} documents lack a gain in one of the tables and are excluded "
            f"({place(lacking)})"
        )
    both = both.filter(pl.all_horizontal(pl.col(names).is_not_null()))
    product = pl.sum_horizontal(pl.col(names).log()) / len(names)
    gains = both.with_columns(gain=product.exp(), judgments=pl.max_horizontal("^judgments.*$"))
    if not scaled:
        gains = gains.with_columns(gain=OVER_MAXIMUM)
    return gains_frame(gains)


def _part(table: Any, number: int, scaled: bool) -> pl.DataFrame:
    gains = check(table, GAINS)
    below = gains.filter(pl.col("gain") < 0)
    if len(below):
        raise InputError(
            f"the gain {below['gain'][0]:g} is below 0 ({place(below)})",
            cure="a geometric mean needs gains of 0 or more: combine other gains, or not their logarithms",
        )
    gain = OVER_MAXIMUM if scaled else pl.col("gain")
    return gains.select("topic", "doc", gain.alias(f"gain{number}"), pl.col("judgments").alias(f"judgments{number}"))


@dataclass(frozen=True, kw_only=True)
class Combined(Method):
    """The geometric mean of other methods over the same pairs, at their default options.

    Formula: (g_1 g_2 … g_m)^(1/m), each g over its topic's maximum.
    Use: For pairs with all three questions (which is better, which are relevant, a number for each): these are the
    gains of Yang et al.
    Traps: A 0 in any part makes the gain 0. Documents that a part lacks are dropped, with a note. By default there is
    no interval: with few judgments chance makes the topic's best document too good and all others too low, and
    resampled units repeat this error.
    """

    name = "combined"
    purpose = "the geometric mean of preference, relevance and ratio (or some of them), each over its topic's maximum"
    source = YANG
    takes = "pairs"
    no_interval = (
        "gains over the topic's largest are too low with few judgments; resampled units hold 70 to 90 % where 95 % are "
        "meant"
    )
    of: tuple[str, ...] = ("preference", "relevance", "ratio")
    scaled: bool = True
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.of if name not in self.parts()]
        if unknown or len(set(self.of)) < 2:
            raise InputError(
                f"combined: of={';'.join(self.of)} is not possible",
                cure=f"name two or more of {', '.join(self.parts())}",
            )

    def parts(self) -> dict[str, Method]:
        return {part.name: part for part in (Preference(), Relevance(), Ratio(epsilon=self.epsilon), BradleyTerry())}

    def gains(self, table: Any) -> pl.DataFrame:
        chosen = [self.parts()[name] for name in self.of]
        return combine([part.gains(table) for part in chosen], scaled=self.scaled)
