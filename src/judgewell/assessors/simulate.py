"""Fill a study with synthetic assessors, from its file to tables."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import catch_table, fill
from judgewell.server.queries.standing_answers import judgments_frame, pairs_frame, planned
from judgewell.server.store.setup import default_database
from judgewell.server.store.transactions import open_store


@dataclass(frozen=True, repr=False)
class Simulation:
    """A study that synthetic assessors filled: their answers, what was true, and what each check caught."""

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

    def __repr__(self) -> str:
        answers = self.judgments.height + self.pairs.height
        assessors = pl.concat([self.judgments["assessor"], self.pairs["assessor"]]).n_unique()
        return (
            f"{self.done:,} of {self.needed:,} units done; {answers:,} judgments by {assessors:,} of "
            f"{self.assessors:,} assessors\n{self.days:,.1f} simulated days, {self.steps:,} steps, "
            f"{self.asked_again:,} answers asked for again"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.caught._repr_html_()}"


def simulate(
    study: str | Path,
    *,
    assessors: int = 200,
    seed: int = 1,
    database: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Fill a study file with the judgments of synthetic assessors, through the judging server's own steps.

    They read the server's pages and send its forms; time is simulated. The documents' true relevance follows from the
    study's grades, give or take. Without `database` the study is kept in NAME-simulated.sqlite beside its file.

    >>> import tempfile
    >>> from judgewell.study.new import new_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulation = simulate(new_study(Path(folder) / "study")[0], assessors=30, seed=1)
    >>> simulation.done == simulation.needed, simulation.judgments["kind"].unique().to_list()
    (True, ['ratio'])
    """
    beside = default_database(study)
    where = str(database or beside.with_name(f"{beside.stem}-simulated.sqlite"))
    store = open_store(where)
    try:
        filled = fill(store, study, make_people(assessors, seed), seed=seed, progress=progress)
        caught = catch_table(store, filled.people)
        with store.snapshot() as connection:
            judgments, pairs = (frame(connection, time.time()) for frame in (judgments_frame, pairs_frame))
            documents = sorted(planned(connection).select("topic", "doc").unique().rows())
    finally:
        store.close()
    return Simulation(
        study=str(study),
        database=where,
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
    )
