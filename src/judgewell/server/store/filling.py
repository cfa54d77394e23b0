"""What a study is made of, put into the database's tables: topics, documents, units and their places."""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from judgewell.server.cleaning import clean_document
from judgewell.server.store.schema import batches, documents, goals, items, study, topics, units
from judgewell.study.check import load_study
from judgewell.study.design.batches import known_documents
from judgewell.study.design.chance import generator
from judgewell.study.design.plan import Design, make_design
from judgewell.study.inputs import Inputs
from judgewell.study.model import Study
from judgewell.tables import INCLUSION

AT_ONCE = 5_000  # rows of one insert


@dataclass(frozen=True)
class Content:
    """A study that was read and designed; `documents` are those that the design uses, ready to be shown.

    With a goal, `design` holds the units of the first batch, and `goal` and `batch` are rows of the database.
    """

    study: Study
    inputs: Inputs
    design: Design
    documents: pl.DataFrame
    goal: dict[str, Any] | None = None
    batch: dict[str, Any] | None = None


def read(path: str | Path) -> Content:
    """Read a study's files and make its design."""
    chosen, inputs = load_study(path)
    design = make_design(chosen, inputs)
    content = Content(chosen, inputs, design, _documents(inputs, design))
    return content if chosen.goal is None else _with_goal(content, path)


def _with_goal(content: Content, path: str | Path) -> Content:
    """The study with its goal's plan, the known documents of the design, and the first batch in place of its units."""
    from judgewell.analysis.goals.plan import load_plan
    from judgewell.server.session.goal_evidence import evidence

    plan = load_plan(str(path), content.study, content.inputs)
    assert plan is not None  # the study has a goal
    plan, known = plan.limited_to(content.design.completions), known_documents(content.design)
    begin = evidence(plan, known, content.study)
    chosen = begin.next(0, None)
    goal = {"number": 1, "plan": plan.dump(), "known": known}
    return replace(content, design=begin.units(1, chosen), goal=goal, batch=chosen.row(1, None, 0))


def _documents(inputs: Inputs, design: Design) -> pl.DataFrame:
    """The documents that the design uses, HTML made harmless here, once: nobody who judges waits for that."""
    wanted = design.documents["doc"].unique().to_list()
    wanted += pl.concat([design.pairs["left"], design.pairs["right"]]).unique().to_list()
    used = inputs.documents.filter(pl.col("doc").is_in(wanted)).sort("doc").with_row_index("number", 1)
    shown = [clean_document(text) if kind == "html" else text for text, kind in used.select("text", "kind").iter_rows()]
    return used.select("number", "doc", "title", pl.Series("text", shown, pl.String), "kind")


def fill(connection: sa.Connection, row: dict[str, Any], content: Content) -> None:
    """The study in place of whatever was there; assessors and their links stay."""
    for table in (items, units, documents, topics, batches, goals, study):
        connection.execute(sa.delete(table))
    connection.execute(sa.insert(study), row)
    used, inputs, design = content.documents, content.inputs, content.design
    numbers = used.select("doc", "number")
    _insert(connection, topics, inputs.topics.select("topic", "title", "description", "narrative"))
    _insert(connection, documents, used)
    order = generator(content.study.study.seed, "order of units").permutation(len(design.units))
    placed = design.units.with_row_index("number", 1).with_columns(
        place=pl.Series(np.asarray(order, dtype=np.int64)), need=pl.col("assessors"), free=pl.col("assessors")
    )
    _insert(connection, units, placed.drop("assessors"))
    with _checked_together(connection, items):
        _insert(connection, items, _items(design, placed, numbers, inputs.pool))
    if content.goal is not None and content.batch is not None:
        connection.execute(sa.insert(goals), content.goal)
        connection.execute(sa.insert(batches), content.batch | {"made": row["created"]})
        connection.execute(sa.update(units).values(batch=content.batch["number"]))


def add_batch(connection: sa.Connection, batch: int, design: Design, numbers: pl.DataFrame) -> None:
    """The units of a batch behind all others; `numbers` are those of the documents (doc, number)."""
    last = connection.execute(sa.select(sa.func.max(units.c.number), sa.func.max(units.c.place))).one()
    placed = design.units.with_row_index("number", last[0] + 1).with_columns(
        place=pl.int_range(pl.len()) + last[1] + 1,
        need=pl.col("assessors"),
        free=pl.col("assessors"),
        batch=pl.lit(batch),
    )
    _insert(connection, units, placed.drop("assessors"))
    _insert(connection, items, _items(design, placed, numbers, design.documents))


def _items(design: Design, units: pl.DataFrame, numbers: pl.DataFrame, pool: pl.DataFrame) -> pl.DataFrame:
    """The places of all units, documents and pairs in one table."""
    drawn = pool.select("topic", "doc", INCLUSION.name) if INCLUSION.name in pool.columns else None
    placed = _placed(design, units.select("unit", "topic", unit_number="number"), numbers)
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


@contextmanager
def _checked_together(connection: sa.Connection, table: sa.Table) -> Iterator[None]:
    """Let PostgreSQL look up what all new rows refer to in one query: row by row takes as long as storing documents."""
    foreign = table.foreign_key_constraints if connection.dialect.name == "postgresql" else set()
    for rule in foreign:
        connection.exec_driver_sql(f"ALTER TABLE {table.name} DROP CONSTRAINT {rule.name}")
    yield
    for rule in foreign:
        (key,) = rule.elements
        refers = f"FOREIGN KEY ({key.parent.name}) REFERENCES {key.column.table.name} ({key.column.name})"
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD CONSTRAINT {rule.name} {refers}")


def _insert(connection: sa.Connection, table: sa.Table, frame: pl.DataFrame) -> None:
    """Many rows as they are, by each database's own quick way: the columns hold numbers and text only."""
    names = ", ".join(frame.columns)
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.dbapi_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
                _send(driver.pgconn)
        return
    marks = ", ".join("?" * frame.width)
    for part in frame.iter_slices(AT_ONCE):
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({marks})", part.rows())


def _send(connection: Any) -> None:
    """Send what waits: with every further row, PostgreSQL's library moves all of it, which costs more than sending."""
    while connection.flush():
        select.select([], [connection.socket], [])
