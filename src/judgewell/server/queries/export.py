"""Everything collected, as files: the judgments of completed units, all other answers marked, and the whole log."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from judgewell.formats.provenance import provenance, write_record, write_result
from judgewell.server.queries.endings import COMPLETED, EXCLUDED, EXCLUDING, ending, failed_check
from judgewell.server.queries.goal import goal_progress
from judgewell.server.queries.machines import replies_query
from judgewell.server.queries.standing_answers import ENDED, judgments_frame, pairs_frame, read_frame
from judgewell.server.session.served import study_row
from judgewell.server.store.private_files import create_private
from judgewell.server.store.schema import (
    ANSWERED,
    LEFT,
    RIGHT,
    answers,
    assessors,
    closing,
    events,
    exclusions,
    items,
    reservations,
    units,
    verdicts,
)
from judgewell.server.store.transactions import Store
from judgewell.study.model import Study

# What a spreadsheet takes for the beginning of a formula, in its wide forms too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
DOES = r"[(|!\uff08\uff5c\uff01]"  # a call, a program or a cell elsewhere: what makes a formula dangerous
FREE_TEXTS = ("comment", "answer", "reason", "excluded_for", "label", "target", "reply")
MOMENTS = ("begun", "seen", "finished", "at")  # columns that the database holds as seconds since 1970
AT_ONCE = 10_000


def export(store: Store, folder: str | Path, *, everything: bool = False, now: float | None = None) -> dict[Path, int]:
    """Write everything collected into a folder, as of one moment; returns the number of rows of each file.

    judgments, pairs   the standing answers of completed units (CSV and Parquet)
    excluded           the standing answers of all other units, with how each ended: excluded, failed, abandoned or
                       in progress
    units              every unit that an assessor took: how it ended, which check it failed, why it was excluded,
                       times, revisions, steps back
    verdicts           what each check said at each attempt
    questionnaire      the closing answers
    replies            every reply of a machine: outcome, token probabilities, model, prompt, tokens, cost
    log.jsonl          every answer with all its revisions, every verdict and event, in order of time

    Times (begun, seen, finished, at) are ISO 8601 in UTC in all of them. With `everything`, excluded work stays among
    judgments and pairs, which then have a column `excluded`. In CSV a free text that a spreadsheet would take for a
    formula begins with an apostrophe, and so does an id that would call something; the other files hold every text as
    it was written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with store.snapshot() as connection:
        row = study_row(connection)
        frames = _frames(connection, everything, time.time() if now is None else now)
        record = provenance("export", {"study": row.name, "hash": row.hash}, [], _notes(frames))
        goal = goal_progress(connection, Study.model_validate(row.frozen["settings"]))
        if goal is not None:
            record["goal"] = " ".join(goal.sentences)
        written = {path: len(frame) for name, frame in frames.items() for path in _write(folder, name, frame, record)}
        log = folder / "log.jsonl"
        create_private(log)
        with log.open("w", encoding="utf-8") as file:
            number = 0
            for number, line in enumerate(log_lines(connection), 1):  # noqa: B007 - the last number counts
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        write_record(log, record)
    return written | {log: number}


def log_lines(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """Everything that happened, one line each, in order of time."""
    checked = (verdicts.c.name.label("check"), *(verdicts.c[name] for name in ("attempt", "passed", "reason")))
    queries = (
        _log_of_answers(),
        _log_query(verdicts, sa.literal("verdict"), *checked),
        _log_query(closing, sa.literal("closing"), closing.c.name.label("question"), closing.c.answer),
        _log_query(events, events.c.kind, events.c.position, events.c.data),
    )
    for line in merge(*(_streamed(connection, query) for query in queries), key=lambda line: line["at"]):
        data = line.pop("data", {})
        yield line | data | {"at": datetime.fromtimestamp(line["at"], UTC).isoformat(timespec="milliseconds")}


def _frames(connection: sa.Connection, everything: bool, now: float) -> dict[str, pl.DataFrame]:
    judgments, pairs = judgments_frame(connection, now), pairs_frame(connection, now)
    kept = pl.col("ending").is_in([COMPLETED, EXCLUDED] if everything else [COMPLETED])
    excluded = [frame.filter(~kept) for frame in (judgments, pairs) if not frame.is_empty()]
    frames = {
        "judgments": _marked(judgments.filter(kept), everything),
        "pairs": _marked(pairs.filter(kept), everything),
        "excluded": pl.concat(excluded) if excluded else pl.DataFrame(),
        "units": read_frame(connection, _units_query(now)),
        "verdicts": read_frame(connection, _verdicts_query()),
        "questionnaire": read_frame(connection, _closing_query()).with_columns(
            pl.col("answer").map_elements("; ".join, return_dtype=pl.String)
        ),
        "replies": read_frame(connection, replies_query()),
    }
    return {name: _with_moments(frame) for name, frame in frames.items() if not frame.is_empty()}


def _with_moments(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its times in UTC as the log writes them: 2026-03-01T14:05:09.250+00:00."""
    moments = [name for name in MOMENTS if name in frame.columns]
    return frame.with_columns(
        pl.from_epoch((pl.col(name).cast(pl.Float64) * 1e6).round().cast(pl.Int64), "us")
        .dt.to_string("%Y-%m-%dT%H:%M:%S%.3f+00:00")
        .alias(name)
        for name in moments
    )


def _marked(frame: pl.DataFrame, everything: bool) -> pl.DataFrame:
    """Completed work; where excluded work is among it, with a mark."""
    excluded = [(pl.col("ending") == EXCLUDED).alias("excluded")] if everything else []
    return frame.with_columns(excluded).drop(*ENDED)


def _notes(frames: dict[str, pl.DataFrame]) -> list[str]:
    excluded = frames.get("excluded")
    if excluded is None:
        return []
    counted = excluded.group_by("ending").len().sort("ending").iter_rows()
    return [f"{count} answers of units that ended as {how!r} are in excluded" for how, count in counted]


def _write(folder: Path, name: str, frame: pl.DataFrame, record: dict[str, Any]) -> list[Path]:
    paths = [folder / f"{name}.csv"]
    if name in ("judgments", "pairs"):
        paths.append(folder / f"{name}.parquet")
    for path in paths:
        create_private(path)  # comments and questionnaires may name people
        write_result(defused(frame) if path.suffix == ".csv" else frame, path, record)
    return paths


def defused(frame: pl.DataFrame, free_texts: Sequence[str] = FREE_TEXTS) -> pl.DataFrame:
    """The frame with an apostrophe before every free text that a spreadsheet would run as a formula.

    Of the other texts, which are ids, only what can do something is touched: without a call or a foreign cell in it a
    formula does nothing, and `-x3` is a good id.
    """
    free = [name for name in free_texts if name in frame.columns]
    frame = frame.with_columns(pl.col(free).cast(pl.String))  # a column of nulls alone has no type yet
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    runs = {name: pl.col(name).str.slice(0, 1).is_in(FORMULA) for name in texts}
    runs |= {name: runs[name] & pl.col(name).str.contains(DOES) for name in texts if name not in free}
    return frame.with_columns(
        pl.when(run).then(pl.concat_str(pl.lit("'"), pl.col(name))).otherwise(pl.col(name)).alias(name)
        for name, run in runs.items()
    )


def _units_query(now: float) -> sa.Select[Any]:
    columns = {
        **{name: units.c[name] for name in ("topic", "unit", "scale", "template", "partition")},
        "assessor": assessors.c.pseudonym,
        "ending": ending(now),
        "late": reservations.c.late,
        "failed_check": failed_check(None),
        "excluded": reservations.c.excluded,
        "excluded_for": _why(),
        "revisions": reservations.c.revisions,
        "backs": reservations.c.backs,
        "begun": reservations.c.created,
        "seen": reservations.c.seen,
        "finished": reservations.c.finished,
    }
    return (
        sa.select(*(column.label(name) for name, column in columns.items()))
        .select_from(reservations)
        .join(units, units.c.number == reservations.c.unit)
        .join(assessors, assessors.c.number == reservations.c.assessor)
        .order_by(reservations.c.number)
    )


def _why() -> sa.ColumnElement[Any]:
    """The reason for which a unit is excluded: the newest in force."""
    newest = sa.select(exclusions.c.reason).where(EXCLUDING).order_by(exclusions.c.number.desc()).limit(1)
    return newest.scalar_subquery()


def _verdicts_query() -> sa.Select[Any]:
    given = (verdicts.c[name] for name in ("attempt", "passed", "reason", "at"))
    return (
        sa.select(units.c.topic, units.c.unit, assessors.c.pseudonym.label("assessor"), verdicts.c.name.label("check"))
        .add_columns(*given)
        .select_from(verdicts)
        .join(assessors, assessors.c.number == verdicts.c.assessor)
        .outerjoin(reservations, reservations.c.number == verdicts.c.reservation)
        .outerjoin(units, units.c.number == reservations.c.unit)
        .order_by(verdicts.c.number)
    )


def _closing_query() -> sa.Select[Any]:
    return (
        sa.select(assessors.c.pseudonym.label("assessor"), units.c.topic, units.c.unit)
        .add_columns(closing.c.name.label("question"), closing.c.answer)
        .select_from(closing)
        .join(assessors, assessors.c.number == closing.c.assessor)
        .join(reservations, reservations.c.number == closing.c.reservation)
        .join(units, units.c.number == reservations.c.unit)
        .order_by(closing.c.number)
    )


def _streamed(connection: sa.Connection, query: sa.Select[Any]) -> Iterable[dict[str, Any]]:
    """Rows as mappings without those that are null, a few at a time."""
    for row in connection.execution_options(yield_per=AT_ONCE).execute(query):
        yield {name: value for name, value in row._mapping.items() if value is not None}


def _log_query(table: sa.Table, kind: sa.ColumnElement[str], *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return (
        sa.select(table.c.at, kind.label("kind"), *columns, assessors.c.pseudonym.label("assessor"))
        .add_columns(units.c.topic, units.c.unit)
        .select_from(table)
        .outerjoin(assessors, assessors.c.number == table.c.assessor)
        .outerjoin(reservations, reservations.c.number == table.c.reservation)
        .outerjoin(units, units.c.number == reservations.c.unit)
        .order_by(table.c.at, table.c.number)
    )


def _log_of_answers() -> sa.Select[Any]:
    given = ("position", "revision", "current", "value", "preferred", "left_relevant", "right_relevant", "left_score")
    more = ("right_score", "typed", "comment", "seconds", "idle", "visit", "highlight")
    columns = [answers.c[name] for name in (*given, *more)]
    single = items.c.other.is_(None)
    sides = [sa.case((~single, LEFT.c.doc)).label("left"), RIGHT.c.doc.label("right")]
    return (
        _log_query(answers, sa.literal("answer"), *columns, sa.case((single, LEFT.c.doc)).label("doc"), *sides)
        .join(items, ANSWERED)
        .join(LEFT, LEFT.c.number == items.c.doc)
        .outerjoin(RIGHT, RIGHT.c.number == items.c.other)
    )
