"""Bringing a study into the database once, and refusing one that was changed after judging began."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.cleaning import clean_document
from judgewell.server.platforms.keys import read_key_file
from judgewell.server.store.schema import batches, documents, goals, items, reservations, study, topics, units
from judgewell.server.store.transactions import Clock, Store, lock
from judgewell.study.check import load_study
from judgewell.study.design.chance import generator
from judgewell.study.design.plan import Design, make_design
from judgewell.study.file import read_study
from judgewell.study.frozen import changes, freeze, study_hash
from judgewell.study.inputs import Inputs
from judgewell.study.model import Study
from judgewell.tables import INCLUSION

AT_ONCE = 5_000  # rows of one insert


def default_database(path: str | Path) -> Path:
    """The database file beside a study file: named after the study."""
    return Path(path).parent / f"{read_study(path).study.name}.sqlite"


def prepare(store: Store, path: str | Path, clock: Clock) -> bool:
    """Make the database hold this study; true at the first start.

    The documents are read and the design is made only where the study is new or was changed before anybody began.
    """
    frozen = freeze(path)
    marked = study_hash(frozen)
    held = store.read(lambda connection: connection.execute(sa.select(study)).one_or_none()).result()
    keys = _key_file(path)
    if held is not None and study_hash(held.frozen) == marked:  # as this version counts, whichever made the database
        _renew(store, held, keys, frozen)
        return False
    if held is not None:
        store.read(lambda connection: _refuse_if_begun(connection, held.frozen, frozen, path)).result()
    chosen, inputs = load_study(path)
    design, now = make_design(chosen, inputs), clock()
    row = {
        "number": 1,
        "name": chosen.study.name,
        "frozen": frozen,
        "hash": marked,
        "texts": {"texts": dict(inputs.texts.texts), "own": sorted(inputs.texts.own), "keys": keys},
        "secret": secrets.token_hex(32),
        "created": now,
    }
    used = _documents(inputs, design)
    goal = _goal(path, chosen, inputs, design, now) if chosen.goal else None

    def put(connection: sa.Connection) -> bool:
        """Put the study there, unless another process just did; its secret stays whoever made it."""
        lock(connection)
        there = connection.execute(sa.select(study)).one_or_none()
        if there is not None:
            if study_hash(there.frozen) == marked:
                return False
            _refuse_if_begun(connection, there.frozen, frozen, path)
            row["secret"] = there.secret
        _fill(connection, row, chosen, inputs, design if goal is None else goal.design, used)
        if goal is not None:
            connection.execute(sa.insert(goals), goal.row)
            connection.execute(sa.insert(batches), goal.batch)
            connection.execute(sa.update(units).values(batch=goal.batch["number"]))
        return there is None

    return store.write_alone(put)


def _refuse_if_begun(connection: sa.Connection, old: dict[str, Any], new: dict[str, Any], path: str | Path) -> None:
    if connection.execute(sa.select(reservations.c.number).limit(1)).scalar() is not None:
        raise InputError(
            f"the study was changed after judging began: {'; '.join(changes(old, new))}",
            cure="put it back, or start a new study with another database",
            file=path,
        )


def _key_file(path: str | Path) -> dict[str, Any] | None:
    """The keys of the study's key file, where it names one: they may change from start to start."""
    platform = read_study(path).platform
    if not platform.token or platform.key_source.startswith("https://"):
        return None
    return read_key_file(Path(path).parent / platform.key_source)


def _renew(store: Store, held: Any, keys: dict[str, Any] | None, frozen: dict[str, Any]) -> None:
    """What may change from start to start: the platform's keys, and settings that are not frozen."""
    if held.texts.get("keys") != keys or held.frozen != frozen:
        new = sa.update(study).values(texts={**held.texts, "keys": keys}, frozen=frozen)
        store.write(lambda connection: connection.execute(new)).result()


@dataclass(frozen=True)
class _Goal:
    """A goal with its first batch, as rows, and the units of that batch."""

    row: dict[str, Any]
    batch: dict[str, Any]
    design: Design


def _goal(path: str | Path, chosen: Study, inputs: Inputs, design: Design, now: float) -> _Goal:
    """The study's goal made ready: its plan, the known documents of the design, and the first batch."""
    from judgewell.analysis.goals.plan import load_plan
    from judgewell.server.session.goal import batch_row, first_batch

    plan = load_plan(str(path), chosen, inputs)
    if plan is None or chosen.units is None:
        raise InputError(
            "a goal can steer a live study of [units] only",
            cure="judge the pairs without [goal], and try the goal on the answers with judgewell replay",
            file=path,
        )
    known: dict[str, dict[str, str]] = {}
    for topic, doc, grade in (
        design.documents.filter(pl.col("known").is_not_null())
        .select("topic", "doc", "known")
        .unique(maintain_order=True)
        .iter_rows()
    ):
        known.setdefault(topic, {})[doc] = grade
    batch, units_of_it = first_batch(plan, known, chosen)
    row = {"number": 1, "plan": plan.dump(), "known": known}
    return _Goal(row, batch_row(1, now, None, 0, batch), units_of_it)


def _documents(inputs: Inputs, design: Design) -> pl.DataFrame:
    """The documents that the design uses, HTML made harmless here, once: nobody who judges waits for that."""
    wanted = design.documents["doc"].unique().to_list()
    wanted += pl.concat([design.pairs["left"], design.pairs["right"]]).unique().to_list()
    used = inputs.documents.filter(pl.col("doc").is_in(wanted)).sort("doc").with_row_index("number", 1)
    shown = [clean_document(text) if kind == "html" else text for text, kind in used.select("text", "kind").iter_rows()]
    return used.select("number", "doc", "title", pl.Series("text", shown, pl.String), "kind")


def _fill(
    connection: sa.Connection, row: dict[str, Any], chosen: Study, inputs: Inputs, design: Design, used: pl.DataFrame
) -> None:
    """The study in place of whatever was there; assessors and their links stay."""
    for table in (items, units, documents, topics, batches, goals, study):
        connection.execute(sa.delete(table))
    connection.execute(sa.insert(study), row)
    numbers = used.select("doc", "number")
    _insert(connection, topics, inputs.topics.select("topic", "title", "description", "narrative"))
    _insert(connection, documents, used)
    order = generator(chosen.study.seed, "order of units").permutation(len(design.units))
    placed = design.units.with_row_index("number", 1).with_columns(
        place=pl.Series(np.asarray(order, dtype=np.int64)), need=pl.col("assessors"), free=pl.col("assessors")
    )
    _insert(connection, units, placed.drop("assessors"))
    of_units = placed.select("unit", "topic", pl.col("number").alias("unit_number"))
    _insert(connection, items, _items(design, of_units, numbers, inputs.pool))


def _items(design: Design, of_units: pl.DataFrame, numbers: pl.DataFrame, pool: pl.DataFrame) -> pl.DataFrame:
    """The places of all units, documents and pairs in one table."""
    drawn = pool.select("topic", "doc", INCLUSION.name) if INCLUSION.name in pool.columns else None
    placed = _placed(design, of_units, numbers)
    if drawn is not None:
        placed = placed.join(drawn, on=["topic", "doc"], how="left", maintain_order="left")
        placed = placed.with_columns(inclusion=pl.when(pl.col("other").is_null()).then("inclusion"))
    return placed.drop("topic", "doc", "other").rename(
        {"unit_number": "unit", "number": "doc", "other_number": "other"}
    )


def _placed(design: Design, of_units: pl.DataFrame, numbers: pl.DataFrame) -> pl.DataFrame:
    """The places with the names and the numbers of their unit and documents."""
    single = design.documents.select(
        "unit", "position", "doc", pl.lit(None, pl.String).alias("other"), pl.lit(None, pl.String).alias("new"), "known"
    )
    double = design.pairs.select(
        "unit", "position", pl.col("left").alias("doc"), pl.col("right").alias("other"), "new", "known"
    )
    other = numbers.rename({"doc": "other", "number": "other_number"})
    return (
        pl.concat([single, double])
        .join(of_units, on="unit", how="left", maintain_order="left")
        .join(numbers, on="doc", how="left", maintain_order="left")
        .join(other, on="other", how="left", maintain_order="left")
        .drop("unit")
    )


def _insert(connection: sa.Connection, table: sa.Table, frame: pl.DataFrame) -> None:
    """Many rows as they are, by each database's own quick way: the columns hold numbers and text only."""
    names = ", ".join(frame.columns)
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.dbapi_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
        return
    marks = ", ".join("?" * frame.width)
    for part in frame.iter_slices(AT_ONCE):
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", part.rows())
