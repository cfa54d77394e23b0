"""All answers that stand, as frames for what is computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa

from judgewell.server.queries.history import left_out
from judgewell.server.session.served import load_served
from judgewell.server.store.schema import answers, assessors, documents, items, reservations, units, verdicts
from judgewell.study.questions import Bounded, Magnitude


@dataclass(frozen=True)
class Work:
    """Answers of units that ended (completed or failed), verdicts, and the judgments planned for each document.

    `kept` marks answers of completed units that are not left out. `comparable` is the value as it can be compared
    between assessors: of magnitudes the logarithm less the unit's mean, `normalised` the same as a magnitude.
    """

    judgments: pl.DataFrame
    pairs: pl.DataFrame
    verdicts: pl.DataFrame
    planned: pl.DataFrame

    @staticmethod
    def completed(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter("kept")

    @property
    def left_out(self) -> int:
        """Answers of completed units that are left out."""
        return sum(int((~frame["kept"] & frame["completed"]).sum()) for frame in (self.judgments, self.pairs))


_COMMON: dict[str, Any] = {
    "topic": pl.String,
    "assessor": pl.String,
    "who": pl.Int64,
    "unit": pl.String,
    "position": pl.Int64,
    "seconds": pl.Float64,
    "first": pl.Float64,  # the seconds of the first answer, before any revision
    "at": pl.Float64,
    "reservation": pl.Int64,
    "completed": pl.Boolean,
}


def load_work(connection: sa.Connection) -> Work:
    """All of it, from what the connection sees."""
    served = load_served(connection)
    ratio = [name for name, scale in served.scales.items() if isinstance(scale, Magnitude | Bounded)]
    return Work(
        _comparable(_with_kept(connection, _judgments(connection)), ratio),
        _with_kept(connection, _pairs(connection)),
        _frame(
            connection,
            sa.select(assessors.c.pseudonym, verdicts.c.name, verdicts.c.passed, verdicts.c.attempt).join_from(
                verdicts, assessors, assessors.c.number == verdicts.c.assessor
            ),
            {"assessor": pl.String, "check": pl.String, "passed": pl.Boolean, "attempt": pl.Int64},
        ),
        _planned(connection),
    )


def _standing(*columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    completed, first = reservations.c.ending == "completed", answers.alias("first_answers")
    begun = (first.c.reservation == answers.c.reservation, first.c.position == answers.c.position)
    return (
        sa.select(units.c.topic, assessors.c.pseudonym, answers.c.assessor, units.c.unit, answers.c.position)
        .add_columns(answers.c.seconds, first.c.seconds, answers.c.at, answers.c.reservation, completed, *columns)
        .select_from(answers)
        .join(reservations, reservations.c.number == answers.c.reservation)
        .join(assessors, assessors.c.number == answers.c.assessor)
        .join(units, units.c.number == answers.c.unit)
        .join(items, sa.and_(items.c.unit == answers.c.unit, items.c.position == answers.c.position))
        .join(first, sa.and_(*begun, first.c.revision == 1))
        .where(answers.c.current, reservations.c.finished.is_not(None))
        .order_by(answers.c.number)
    )


def _judgments(connection: sa.Connection) -> pl.DataFrame:
    query = _standing(documents.c.doc, units.c.scale, answers.c.value)
    query = query.join(documents, documents.c.number == items.c.doc).where(items.c.other.is_(None))
    return _frame(connection, query, {**_COMMON, "doc": pl.String, "scale": pl.String, "value": pl.Float64})


def _pairs(connection: sa.Connection) -> pl.DataFrame:
    left, right = documents.alias("left_document"), documents.alias("right_document")
    query = _standing(left.c.doc, right.c.doc, answers.c.preferred)
    query = query.join(left, left.c.number == items.c.doc).join(right, right.c.number == items.c.other)
    return _frame(connection, query, {**_COMMON, "left": pl.String, "right": pl.String, "preferred": pl.String})


def _with_kept(connection: sa.Connection, frame: pl.DataFrame) -> pl.DataFrame:
    whole, parts = left_out(connection)
    some = [reservation for found in parts.values() for reservation in found]
    out = pl.col("who").is_in(list(whole)) | pl.col("reservation").is_in(some)
    return frame.with_columns(kept=pl.col("completed") & ~out)


def _comparable(judgments: pl.DataFrame, ratio: list[str]) -> pl.DataFrame:
    is_ratio = pl.col("scale").is_in(ratio)
    log = pl.col("value").clip(1e-9).log()
    moved = log - log.mean().over("assessor", "unit") + log.mean().over("topic", "scale")
    return judgments.with_columns(
        ratio=is_ratio, comparable=pl.when(is_ratio).then(moved).otherwise(pl.col("value"))
    ).with_columns(normalised=pl.when(is_ratio).then(pl.col("comparable").exp()).otherwise("value"))


def _planned(connection: sa.Connection) -> pl.DataFrame:
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
        sa.select(each.c.topic, documents.c.doc, each.c.scale, sa.func.sum(each.c.need))
        .join_from(each, documents, documents.c.number == each.c.doc)
        .group_by(each.c.topic, documents.c.doc, each.c.scale)
    )
    schema = {"topic": pl.String, "doc": pl.String, "scale": pl.String, "planned": pl.Int64}
    return _frame(connection, query, schema)


def _frame(connection: sa.Connection, query: sa.Select[Any], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([tuple(row) for row in connection.execute(query)], schema=schema, orient="row")
