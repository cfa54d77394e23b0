"""The current answers and how their units ended: the one query behind tables, exports, reports and live analysis.

The newest revision of an answer counts, once its unit is completed and as long as the unit is not excluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa

from judgewell.server.queries.endings import COMPLETED, EXCLUDED, FAILED, STANDS, ending
from judgewell.server.queries.goal import goal_inclusion
from judgewell.server.store.schema import (
    ANSWERED,
    ASSESSOR_KIND,
    LEFT,
    MACHINE,
    RIGHT,
    answers,
    assessors,
    documents,
    items,
    reservations,
    study,
    units,
    verdicts,
)
from judgewell.study.model import Study
from judgewell.tables import INCLUSION, JUDGMENTS, PAIRS, Table, check

Columns = dict[str, sa.ColumnElement[Any]]

ENDED: dict[str, Any] = {"ending": pl.String, "late": pl.Boolean}  # what every table here has beside its own columns


def judgments_frame(connection: sa.Connection, now: float) -> pl.DataFrame:
    """The standing answers about documents with the kind of their assessor (person, synthetic or machine), `ending` and
    `late` of their units; `known` and `inclusion` where the design has known or drawn documents. A known document is in
    every unit of its topic, so it is judged for certain, drawn or not."""
    columns = _document_columns(connection, now)
    drawn = goal_inclusion(connection)
    if drawn is None and _any(connection, items.c.inclusion):
        columns["inclusion"] = items.c.inclusion
    columns |= _of_machines(connection, "expected", "spread")
    frame = _checked(connection, _documents_query(columns), JUDGMENTS)
    if drawn is not None:
        frame = frame.join(drawn, on=["topic", "doc"], how="left", maintain_order="left")
    if not {"known", INCLUSION.name} <= set(frame.columns):
        return frame
    known = pl.col("known").is_not_null().any().over("topic", "doc")
    return frame.with_columns(pl.when(known).then(1.0).otherwise(INCLUSION.name).alias(INCLUSION.name))


def pairs_frame(connection: sa.Connection, now: float) -> pl.DataFrame:
    """The standing answers about pairs with `ending` and `late` of their units; which side is known better and which
    partition the pair is of, where the design has such."""
    columns = _pair_columns(now)
    if _any(connection, items.c.known, items.c.other.is_not(None)):
        better = items.c.known
        columns["left_known"] = sa.case((better == "left", "H"), (better == "right", "N"))
        columns["right_known"] = sa.case((better == "right", "H"), (better == "left", "N"))
    partitioned = sa.select(units.c.partition).where(units.c.partition.is_not(None)).limit(1)
    if connection.execute(partitioned).scalar() is not None:
        columns["partition"] = units.c.partition
    columns |= _of_machines(connection, "expected", "spread", "swapped")
    return _checked(connection, _pairs_query(columns), PAIRS)


def counting(frame: pl.DataFrame) -> pl.DataFrame:
    """The answers that count: of completed units, without the columns that say how units ended."""
    return frame.filter(pl.col("ending") == COMPLETED).drop(*ENDED)


def _document_columns(connection: sa.Connection, now: float) -> Columns:
    given = {"scale": units.c.scale, "kind": _kind_of_scale(connection), "value": answers.c.value}
    known = {"known": items.c.known} if _any(connection, items.c.known, items.c.other.is_(None)) else {}
    return {"topic": units.c.topic, "doc": documents.c.doc, **_who(), **given, **_last(now), **known}


def _kind_of_scale(connection: sa.Connection) -> sa.ColumnElement[Any]:
    """What the values of a unit's scale mean, as the frozen study says."""
    frozen = connection.execute(sa.select(study.c.frozen)).scalar_one_or_none()
    scales = Study.model_validate(frozen["settings"]).scales if frozen else {}
    if not scales:
        return sa.null()
    return sa.case({name: str(scale.numbers) for name, scale in scales.items()}, value=units.c.scale)


def _pair_columns(now: float) -> Columns:
    given = ("preferred", "left_relevant", "right_relevant", "left_score", "right_score")
    sides = {"topic": units.c.topic, "left": LEFT.c.doc, "right": RIGHT.c.doc}
    return {**sides, **_who(), **{name: answers.c[name] for name in given}, **_last(now)}


def _who() -> Columns:
    return {"assessor": assessors.c.pseudonym, "unit": units.c.unit, "position": answers.c.position}


def _last(now: float) -> Columns:
    written = {"seconds": answers.c.seconds, "comment": answers.c.comment}
    return {**written, "assessor_kind": ASSESSOR_KIND, "ending": ending(now), "late": reservations.c.late}


def _documents_query(columns: Columns) -> sa.Select[Any]:
    query = standing(columns).join(documents, documents.c.number == items.c.doc)
    return query.where(items.c.other.is_(None))


def _pairs_query(columns: Columns) -> sa.Select[Any]:
    return standing(columns).join(LEFT, LEFT.c.number == items.c.doc).join(RIGHT, RIGHT.c.number == items.c.other)


def standing(columns: Columns) -> sa.Select[Any]:
    """The standing answers with these columns of them, their items, units, reservations and assessors."""
    return (
        sa.select(*(column.label(name) for name, column in columns.items()))
        .select_from(answers)
        .join(reservations, reservations.c.number == answers.c.reservation)
        .join(assessors, assessors.c.number == answers.c.assessor)
        .join(units, units.c.number == answers.c.unit)
        .join(items, ANSWERED)
        .where(STANDS)
        .order_by(units.c.number, assessors.c.number, answers.c.position)
    )


def _of_machines(connection: sa.Connection, *names: str) -> Columns:
    """What some machine gave beside its answers: mean and spread over token probabilities, and of a pair the side that
    it preferred in the other order."""
    return {name: answers.c[name] for name in names if _any(connection, answers.c[name])}


def _any(connection: sa.Connection, column: sa.ColumnElement[Any], *of: sa.ColumnElement[bool]) -> bool:
    """Whether the design has something in this column of its items."""
    return connection.execute(sa.select(column).where(column.is_not(None), *of).limit(1)).scalar() is not None


def _checked(connection: sa.Connection, query: sa.Select[Any], table: Table) -> pl.DataFrame:
    """The rows as a table of ours; an empty one has its columns too."""
    frame = read_frame(connection, query, _types(table))
    return frame if frame.is_empty() else check(frame, table)


def _types(table: Table) -> dict[str, Any]:
    """The types of a table's columns and of those beside them."""
    texts = ("comment", "assessor_kind", "known", "left_known", "right_known", "swapped")
    numbers = ("expected", "spread", "first", "at")
    beside = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64) | {INCLUSION.name: INCLUSION.dtype}
    return {column.name: column.dtype for column in table.columns} | beside | ENDED


def read_frame(connection: sa.Connection, query: sa.Select[Any], schema: dict[str, Any] | None = None) -> pl.DataFrame:
    """The rows of a query; columns that the schema does not name get the type of their values."""
    types = {column.name: (schema or {}).get(column.name) for column in query.selected_columns}
    rows = [tuple(row) for row in connection.execute(query)]
    return pl.DataFrame(rows, schema=types, orient="row", infer_schema_length=None)


@dataclass(frozen=True)
class Work:
    """What live analysis reads: answers of units that ended (completed, excluded or failed), verdicts, and the plan.

    `kept` marks answers that count, `first` is the active time before any revision, `at` when the answer was given.
    """

    judgments: pl.DataFrame
    pairs: pl.DataFrame
    verdicts: pl.DataFrame
    planned: pl.DataFrame

    @property
    def excluded(self) -> int:
        """Answers of excluded units."""
        return sum(int((frame["ending"] == EXCLUDED).sum()) for frame in (self.judgments, self.pairs))


def load_work(connection: sa.Connection, now: float) -> Work:
    """All of it, from what the connection sees."""
    judgments = _ended(connection, _documents_query(_document_columns(connection, now) | _times()), JUDGMENTS)
    pairs = _ended(connection, _pairs_query(_pair_columns(now) | _times()), PAIRS)
    return Work(judgments, pairs, verdicts_frame(connection), planned(connection))


def _times() -> Columns:
    """When an answer was given, and the active seconds before any revision."""
    first = answers.alias("first_answers")
    begun = sa.select(first.c.seconds).where(
        first.c.reservation == answers.c.reservation, first.c.position == answers.c.position, first.c.revision == 1
    )
    reading = sa.case((assessors.c.origin != MACHINE, begun.scalar_subquery()))  # a server's speed is no reading time
    return {"first": reading, "at": answers.c.at}


def _ended(connection: sa.Connection, query: sa.Select[Any], table: Table) -> pl.DataFrame:
    frame = read_frame(connection, query.order_by(None).order_by(answers.c.number), _types(table))
    ended = frame.filter(pl.col("ending").is_in([COMPLETED, EXCLUDED, FAILED]))
    return ended.with_columns(kept=pl.col("ending") == COMPLETED)


def verdicts_frame(connection: sa.Connection) -> pl.DataFrame:
    """What every check said of every assessor, at each attempt."""
    query = (
        sa.select(assessors.c.pseudonym.label("assessor"), verdicts.c.name.label("check"))
        .add_columns(verdicts.c.passed, verdicts.c.attempt)
        .join_from(verdicts, assessors, assessors.c.number == verdicts.c.assessor)
        .order_by(verdicts.c.number)
    )
    schema = {"assessor": pl.String, "check": pl.String, "passed": pl.Boolean, "attempt": pl.Int64}
    return read_frame(connection, query, schema)


def planned(connection: sa.Connection) -> pl.DataFrame:
    """Judgments that units ask for, by topic, document and scale; of pairs by either document."""
    scale = sa.func.coalesce(units.c.scale, "pairs")
    parts = [
        sa.select(units.c.topic, column.label("doc"), scale.label("scale"), units.c.need)
        .join_from(items, units, units.c.number == items.c.unit)
        .where(column.is_not(None))
        for column in (items.c.doc, items.c.other)
    ]
    each = sa.union_all(*parts).subquery()
    query = (
        sa.select(each.c.topic, documents.c.doc, each.c.scale, sa.func.sum(each.c.need).label("planned"))
        .join_from(each, documents, documents.c.number == each.c.doc)
        .group_by(each.c.topic, documents.c.doc, each.c.scale)
        .order_by(each.c.topic, documents.c.doc, each.c.scale)
    )
    schema = {"topic": pl.String, "doc": pl.String, "scale": pl.String, "planned": pl.Int64}
    return read_frame(connection, query, schema)
