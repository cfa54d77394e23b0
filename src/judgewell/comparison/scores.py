"""The scores table as an array of systems × topics, and several of them over the same systems and topics.

Nothing is intersected silently: a missing score, topic or system is an error that counts what is missing, or a
note with the same counts where the caller has decided what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats
from judgewell.stats.means import NO_LIMITS, MeanIntervals, mean_intervals, without_intervals
from judgewell.tables import SCORES, check

Missing = Literal["error", "zero", "drop"]
MISSING = ("error", "zero", "drop")
NAMED = 20  # systems listed in the error about an unknown name


@dataclass(frozen=True)
class ScoreArray:
    """One measure's scores: systems × topics, systems and topics in the order of their names."""

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    values: Floats
    measure: str = ""
    limits: tuple[float, float] = NO_LIMITS  # the least and the largest value of the measure
    biased: bool = False  # means of single systems are, by about as much for all: they have no interval

    @property
    def means(self) -> Floats:
        """Each system's mean over topics."""
        return np.asarray(self.values.mean(axis=-1))

    def intervals(self, level: float = 0.95, seed: int = 0) -> MeanIntervals:
        """Each system's mean with its interval over other topics."""
        means = mean_intervals(self.values, level=level, limits=self.limits, seed=seed)
        return without_intervals(means, [self.biased] * len(self.systems))

    def number(self, system: str) -> int:
        """The row of a system, or an error that names those there are."""
        return system_number(self.systems, system)

    def of(self, system: str) -> Floats:
        """One system's scores, topic by topic."""
        return np.asarray(self.values[self.number(system)])


def score_array(scores: Any, measure: str | None = None, *, missing: Missing = "error") -> ScoreArray:
    """A scores table (system, topic, measure, value) as an array of one measure.

    Scores that are missing for some systems are an error; with `missing="zero"` they count 0, with "drop" their topics
    are excluded, both with a note. `measure` may be omitted where the table holds only one.
    """
    table = _of_measure(check(scores, SCORES), measure)
    systems, topics = sorted(table["system"].unique()), sorted(table["topic"].unique())
    values = np.full((len(systems), len(topics)), np.nan)
    rows = table["system"].replace_strict(systems, np.arange(len(systems)), return_dtype=pl.Int64).to_numpy()
    columns = table["topic"].replace_strict(topics, np.arange(len(topics)), return_dtype=pl.Int64).to_numpy()
    values[rows, columns] = table["value"].to_numpy()
    return _without_gaps(ScoreArray(tuple(systems), tuple(topics), values, table["measure"][0]), missing)


def aligned(sets: Mapping[str, ScoreArray], *, common: bool = False) -> dict[str, ScoreArray]:
    """The sets of scores over the same systems and topics.

    Sets that differ are an error that says by how much; with `common=True` what they share is kept, with a note.
    """
    if not sets:
        raise InputError("there are no scores to compare", cure="name at least one scores table")
    for what in ("systems", "topics"):
        names = {name: getattr(one, what) for name, one in sets.items()}
        shared = shared_names(names, what, common=common)
        sets = {
            name: one if len(names[name]) == len(shared) else _chosen(one, what, shared) for name, one in sets.items()
        }
    return dict(sets)


def shared_names(names: Mapping[str, Sequence[str]], what: str, *, common: bool) -> list[str]:
    """The names (of systems, of topics) that all sets have; sets that differ are an error, or with `common` a note."""
    everywhere = {name for group in names.values() for name in group}
    shared = sorted(set.intersection(*map(set, names.values())))
    if len(shared) == len(everywhere):
        return shared
    counts = ", ".join(f"{set_name} has {len(group)}" for set_name, group in names.items())
    gone = listed(sorted(everywhere - set(shared)), what)
    problem = f"the sets do not have the same {what}: {counts}, {len(shared)} are in all (not in all: {gone})"
    if not shared:
        firsts = ", ".join(f"{set_name} has {min(group)}" for set_name, group in names.items() if group)
        raise DataError(f"no {what.removesuffix('s')} is in all sets: {firsts}; check that all sets name {what} alike")
    if not common:
        raise DataError(f"{problem}; give the sets the same {what}, or keep what they share (--common)")
    note(f"{problem}; only the {len(shared)} shared {what} count")
    return shared


def check_systems(scores: ScoreArray) -> None:
    """Refuse to compare where there is nothing to compare."""
    if len(scores.systems) < 2:
        raise DataError(
            f"there is one system ({scores.systems[0]}) and nothing to compare it with; give the scores of two or more"
        )


def identical_systems(scores: ScoreArray) -> list[tuple[str, ...]]:
    """Groups of systems with the same score on every topic."""
    groups: dict[bytes, list[str]] = {}
    for system, values in zip(scores.systems, scores.values + 0.0, strict=True):  # + 0.0 makes -0.0 and 0.0 one
        groups.setdefault(values.tobytes(), []).append(system)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def note_identical(scores: ScoreArray) -> None:
    """Note which systems score the same on every topic: no test can distinguish them."""
    groups = identical_systems(scores)
    if groups:
        systems = sum(map(len, groups))
        names = "; ".join(listed(group, "systems") for group in groups[:3])
        note(f"{systems} systems score the same as another on every topic and are tied ({names})")


def system_number(systems: Sequence[str], system: str) -> int:
    """The place of a system, or an error that names those there are, the ones like it first."""
    if system in systems:
        return list(systems).index(system)
    alike = [one for one in systems if system.lower() in one.lower() or one.lower() in system.lower()]
    alike += [one for one in get_close_matches(system, systems) if one not in alike]
    every = listed([*alike, *(one for one in systems if one not in alike)], "systems", NAMED)
    near = f"did you mean {alike[0]}? " if alike else ""
    raise InputError(f"there is no system {system!r}", cure=f"{near}the systems are {every}")


def listed(names: Sequence[str], what: str, most: int = 5) -> str:
    """The first names, and how many more."""
    rest = f" and {len(names) - most} more {what}" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _of_measure(table: pl.DataFrame, measure: str | None) -> pl.DataFrame:
    if not len(table):
        raise DataError("the scores table is empty; there is nothing to compare")
    names = table["measure"].unique(maintain_order=True).to_list()
    if measure is None:
        names = [name for name in names if not name.endswith(".residual")] or names  # they accompany a measure
    if measure is None and len(names) > 1:
        raise InputError(
            f"the scores are of {len(names)} measures", cure=f"name one or several with -m: {listed(names, 'measures')}"
        )
    if measure is not None and measure not in names:
        raise InputError(f"there are no scores of {measure}", cure=f"the measures are {listed(names, 'measures')}")
    return table.filter(pl.col("measure") == (measure or names[0]))


def _without_gaps(scores: ScoreArray, missing: str) -> ScoreArray:
    if missing not in MISSING:
        raise InputError(f"missing {missing!r} is not one of {', '.join(MISSING)}")
    gaps = np.isnan(scores.values)
    if not gaps.any():
        return scores
    row, column = np.argwhere(gaps)[0]
    touched = np.asarray(gaps.any(axis=0))
    problem = (
        f"{gaps.any(axis=1).sum()} of {len(scores.systems)} systems miss scores on {touched.sum()} of "
        f"{len(scores.topics)} topics ({gaps.sum()} scores; the first: system {scores.systems[row]}, "
        f"topic {scores.topics[column]})"
    )
    if missing == "error" or (missing == "drop" and touched.all()):
        raise DataError(f"{problem}; complete them, count them as 0 (missing=zero) or leave those topics out (drop)")
    if missing == "zero":
        note(f"{problem}; they count as 0")
        return replace(scores, values=np.where(gaps, 0.0, scores.values))
    note(f"{problem}; these topics are excluded")
    return _chosen(
        scores, "topics", [name for name, gone in zip(scores.topics, touched.tolist(), strict=True) if not gone]
    )


def _chosen(scores: ScoreArray, what: str, names: Sequence[str]) -> ScoreArray:
    """The scores of some systems or topics."""
    if what == "systems":
        rows = [scores.systems.index(name) for name in names]
        return replace(scores, systems=tuple(names), values=scores.values[rows])
    columns = [scores.topics.index(name) for name in names]
    return replace(scores, topics=tuple(names), values=scores.values[:, columns])
