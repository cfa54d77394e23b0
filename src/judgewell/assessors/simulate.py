"""Fill a study with synthetic assessors, from its file to tables; once, or many times to see how far results vary."""

from __future__ import annotations

import html
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import catch_table, fill, only_synthetic
from judgewell.errors import InputError, kept_notes, note
from judgewell.executors import executor_of
from judgewell.server.queries.endings import COMPLETED
from judgewell.server.queries.standing_answers import ENDED, judgments_frame, pairs_frame, planned
from judgewell.server.store.setup import default_database
from judgewell.server.store.transactions import open_store
from judgewell.study.cost import Cost


@dataclass(frozen=True, repr=False)
class Simulation:
    """A study that synthetic assessors filled: their answers, what was true, and what each check caught.

    `studies` has a row for each simulated study. `judgments` and `pairs` (of completed units), `truth` and `cost` are
    those of the first one; `caught` counts over all.
    """

    study: str
    database: str
    judgments: pl.DataFrame
    pairs: pl.DataFrame
    truth: pl.DataFrame  # topic, doc, gain: what the assessors see through their noise
    caught: pl.DataFrame  # check, kind, failed, passed: first attempts by kind of assessor
    needed: int  # units
    done: int
    assessors: int
    steps: int
    asked_again: int  # answers that the server did not take at first
    days: float
    cost: Cost  # of the completed units, at the time that [pay] expects of a judgment
    goal: tuple[str, ...]  # sentences on how far the study's goal is; none without a goal
    stopped: str  # why it ended before all units were judged: its goal, or its budget; "" where more people would help
    studies: pl.DataFrame

    def __repr__(self) -> str:
        answers = self.judgments.height + self.pairs.height
        assessors = pl.concat([self.judgments["assessor"], self.pairs["assessor"]]).n_unique()
        return (
            f"{self.done:,} of {self.needed:,} units done; {answers:,} judgments by {assessors:,} of "
            f"{self.assessors:,} assessors\n{self.days:,.1f} simulated days, {self.steps:,} steps, "
            f"{self.asked_again:,} answers asked for again" + "".join(f"\n{text}" for text in self.goal)
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.caught._repr_html_()}"


def simulate(
    study: str | Path,
    *,
    assessors: int = 200,
    seed: int = 1,
    studies: int = 1,
    database: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Simulation:
    """Fill a study file with the judgments of synthetic assessors, through the judging server's own steps.

    They read the server's pages and send its forms; time is simulated. The documents' true relevance follows from the
    study's grades, give or take. Without `database` the study is kept in NAME-simulated.sqlite beside its file, where
    it replaces an earlier simulation.

    `studies` simulates so many, with the seeds `seed`, `seed` + 1, …; only the first one is kept. The `executor`
    (Threads, Processes, a Dask client) simulates the others. `progress` counts units of a single study, and studies
    where there are several.

    >>> import tempfile
    >>> from judgewell.study.new import new_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulation = simulate(new_study(Path(folder) / "study")[0], assessors=30, seed=1)
    >>> simulation.done == simulation.needed, simulation.judgments["kind"].unique().to_list()
    (True, ['ratio'])
    """
    if studies < 1:
        raise InputError(f"{studies} studies cannot be simulated", cure="give 1 or more")
    beside = default_database(study)
    where = str(database or beside.with_name(f"{beside.stem}-simulated.sqlite"))
    if not database:
        _remove_simulated(where)
    first = _simulated(study, assessors, seed, where, progress if studies == 1 else None)
    workers = executor_of(executor)
    seeds = range(seed + 1, seed + studies)
    rows, caught = [_summary(first, seed)], [first.caught]
    others = workers.map(_another, seeds, os.path.abspath(study), assessors, total=len(seeds))
    for number, (row, counts) in enumerate(others, 2):
        rows.append(row)
        caught.append(counts)
        if progress:
            progress(number, studies)
    return replace(first, studies=pl.DataFrame(rows, schema=SUMMARY), caught=_together(caught))


def _simulated(
    study: str | Path, assessors: int, seed: int, database: str, progress: Callable[[int, int], None] | None = None
) -> Simulation:
    """One study, filled in a database."""
    with closing(open_store(database)) as store:
        filled = fill(store, study, make_people(assessors, seed), seed=seed, progress=progress)
        caught = catch_table(store, filled.people)
        with store.snapshot() as connection:
            judgments, pairs = (_completed(frame(connection, time.time())) for frame in (judgments_frame, pairs_frame))
            documents = sorted(planned(connection).select("topic", "doc").unique().rows())
    if not filled.truth.grades:
        note("the study has no [grades]: the relevance of its documents is made up")
    return Simulation(
        study=str(study),
        database=database,
        judgments=judgments,
        pairs=pairs,
        truth=filled.truth.table(documents),
        caught=caught,
        needed=filled.needed,
        done=filled.done,
        assessors=assessors,
        steps=filled.steps,
        asked_again=filled.refused,
        days=filled.days,
        cost=filled.cost,
        goal=() if filled.goal is None else tuple(filled.goal.sentences),
        stopped=filled.goal.reason if filled.goal and filled.goal.ended else filled.spent,
        studies=pl.DataFrame(schema=SUMMARY),
    )


def _completed(frame: pl.DataFrame) -> pl.DataFrame:
    """The answers of completed units, as an export has them."""
    return frame.filter(pl.col("ending") == COMPLETED).drop(*ENDED)


def _remove_simulated(path: str) -> None:
    """Remove a database file in which every assessor is synthetic; any other is left for `fill` to accept or refuse."""
    if not Path(path).is_file():
        return
    with closing(open_store(path)) as store:
        simulated = only_synthetic(store)
    if simulated:
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        note(f"{path}: replaced the earlier simulation")


def _another(seed: int, study: str, assessors: int) -> tuple[dict[str, Any], pl.DataFrame]:
    """A study in a database that is not kept: its row, and what its checks caught."""
    with tempfile.TemporaryDirectory(prefix="judgewell-") as folder, kept_notes():  # the first study gave them
        simulation = _simulated(study, assessors, seed, str(Path(folder) / "study.sqlite"))
    return _summary(simulation, seed), simulation.caught


# Of each simulated study. attempts: units that ended, completed or not; hours and cost: of the completed units, at the
# time and pay that the study sets, with the fee; correlation: Spearman's, of the gains by the
# usual method with the documents' true relevance, mean over topics.
SUMMARY = {
    "seed": pl.Int64,
    "needed": pl.Int64,
    "completed": pl.Int64,
    "attempts": pl.Int64,
    "judgments": pl.Int64,
    "assessors": pl.Int64,
    "days": pl.Float64,
    "hours": pl.Float64,
    "cost": pl.Float64,
    "correlation": pl.Float64,
}


def _summary(simulation: Simulation, seed: int) -> dict[str, Any]:
    units = simulation.caught.filter(pl.col("check") == "unit").select(pl.col("passed", "failed").sum()).row(0)
    answers = simulation.judgments.height + simulation.pairs.height
    assessors = pl.concat([simulation.judgments["assessor"], simulation.pairs["assessor"]]).n_unique()
    return {
        "seed": seed,
        "needed": simulation.needed,
        "completed": simulation.done,
        "attempts": sum(units),
        "judgments": answers,
        "assessors": assessors,
        "days": simulation.days,
        "hours": simulation.cost.hours,
        "cost": simulation.cost.total,
        "correlation": _correlation(simulation),
    }


def _correlation(simulation: Simulation) -> float | None:
    """Spearman's correlation of gains with the true relevance, mean over topics; None for a study of several scales,
    whose answers make no one table of gains, and where no topic has one."""
    from judgewell.scaling.methods import method_for
    from judgewell.scaling.scale import scale

    answers = simulation.pairs if simulation.judgments.is_empty() else simulation.judgments
    if answers.is_empty() or simulation.judgments["scale"].n_unique() > 1:
        return None
    method = method_for(*((None, answers) if answers is simulation.pairs else (answers, None)))
    with kept_notes():  # notes on one study's answers; there may be thousands of studies
        gains = scale(answers, method=method, interval="none")
    both = gains.select("topic", "doc", "gain").join(
        simulation.truth.rename({"gain": "true"}), on=["topic", "doc"], maintain_order="left"
    )
    by_topic = both.group_by("topic", maintain_order=True).agg(pl.corr("gain", "true", method="spearman"))
    mean = by_topic["gain"].fill_nan(None).mean()
    return None if mean is None else float(mean)  # type: ignore[arg-type]


def _together(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """What each check caught of each kind over all studies, in the order in which checks and kinds first come."""
    counted = pl.concat(tables).group_by("check", "kind", maintain_order=True)
    return counted.agg(pl.col("passed", "failed").sum()).with_columns(
        caught=pl.col("failed") / (pl.col("passed") + pl.col("failed"))
    )
