"""A study as it stands in its database: what was asked of whom, the work that counts, and what became of the rest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import polars as pl
import sqlalchemy as sa

from judgewell.errors import InputError, JudgewellWarning
from judgewell.reports.sources import CollectedStudy
from judgewell.server.queries.export import judgments_frame, pairs_frame
from judgewell.server.queries.status import status
from judgewell.server.store.schema import reservations, study, topics, verdicts
from judgewell.server.store.transactions import Store
from judgewell.study.model import Study

WORDS = {
    "completed": "completed",
    "failed_quality": "failed a check of the work",
    "failed_comprehension": "failed a question about the topic",
    "in hand": "still in hand",
    "abandoned": "abandoned",
}


def collected_study(store: Store, now: float) -> CollectedStudy:
    """Read the study and everything that was answered, as of one moment."""
    with store.snapshot() as connection:
        row = connection.execute(sa.select(study.c.name, study.c.hash, study.c.frozen)).one_or_none()
        if row is None:
            raise InputError("there is no study in this database", cure="start it with judgewell serve study.toml")
        answered = {"judgments": judgments_frame(connection), "pairs": pairs_frame(connection)}
        kept = {name: frame.filter(pl.col("ending") == "completed") for name, frame in answered.items()}
        if not any(frame.height for frame in kept.values()):
            raise InputError(f"no unit of the study {row.name} is completed yet", cure="wait until one is")
        found = status(connection, now)
        endings = _endings(connection, list(answered.values()))
        _tell_left_out(endings)
        return CollectedStudy(
            name=row.name,
            hash=row.hash,
            judgments=_table(kept["judgments"]),
            pairs=_table(kept["pairs"]),
            settings=settings_table(Study.model_validate(row.frozen["settings"])),
            endings=endings,
            checks=_checks(connection),
            topics=_topics(connection, {one.topic: (one.needed, one.done) for one in found.topics}),
            needed=found.needed,
            completed=found.done,
        )


def _table(frame: pl.DataFrame) -> pl.DataFrame | None:
    return frame.drop("ending", "late") if frame.height else None


def _endings(connection: sa.Connection, answered: list[pl.DataFrame]) -> pl.DataFrame:
    """How units ended: how often, by how many assessors, and how many standing answers that is."""
    said = sa.case({"live": "in hand", "late": "in hand", "expired": "abandoned"}, value=reservations.c.state,
                   else_=reservations.c.ending)  # fmt: skip
    query = sa.select(said, sa.func.count(), sa.func.count(reservations.c.assessor.distinct())).group_by(said)
    answers: dict[str, int] = {}
    for frame in answered:
        for ending, number in frame.group_by("ending").len().iter_rows():
            answers[ending] = answers.get(ending, 0) + number
    rows = [
        {"ended": WORDS.get(ending, str(ending).replace("_", " ")), "units": number, "assessors": who,
         "answers": answers.get(ending, 0), "counted": ending == "completed"}
        for ending, number, who in connection.execute(query)
    ]  # fmt: skip
    return pl.DataFrame(rows).sort(["counted", "units", "ended"], descending=[True, True, False])


def _tell_left_out(endings: pl.DataFrame) -> None:
    """What was answered and does not count, as a note."""
    for row in endings.filter(~pl.col("counted") & (pl.col("answers") > 0)).iter_rows(named=True):
        text = f"{row['answers']:,} answers of {row['units']:,} units are left out: {row['ended']}"
        warnings.warn(text, JudgewellWarning, stacklevel=2)


def _checks(connection: sa.Connection) -> pl.DataFrame:
    """Each check: its verdicts over all attempts, and how many of the first attempts failed."""
    first = sa.case((verdicts.c.attempt == 1, 1), else_=0)
    failed = sa.case((sa.and_(verdicts.c.attempt == 1, sa.not_(verdicts.c.passed)), 1), else_=0)
    query = (
        sa.select(verdicts.c.name, sa.func.count(), sa.func.sum(first), sa.func.sum(failed))
        .group_by(verdicts.c.name)
        .order_by(verdicts.c.name)
    )
    rows = [
        {"check": name.replace("_", " "), "verdicts": total, "first tries": int(tries), "failed at first": int(bad),
         "share": int(bad) / int(tries) if tries else None}
        for name, total, tries, bad in connection.execute(query)
    ]  # fmt: skip
    schema = {"check": pl.String, "verdicts": pl.Int64, "first tries": pl.Int64, "failed at first": pl.Int64,
              "share": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _topics(connection: sa.Connection, progress: dict[str, tuple[int, int]]) -> pl.DataFrame:
    rows = [
        {
            "topic": topic,
            "title": title,
            "needed": progress.get(topic, (0, 0))[0],
            "completed": progress.get(topic, (0, 0))[1],
        }
        for topic, title in connection.execute(sa.select(topics.c.topic, topics.c.title).order_by(topics.c.topic))
        if topic in progress
    ]
    schema = {"topic": pl.String, "title": pl.String, "needed": pl.Int64, "completed": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def settings_table(chosen: Study) -> pl.DataFrame:
    """The frozen study in words: setting, value."""
    return pl.DataFrame(list(_settings(chosen)), schema={"setting": pl.String, "value": pl.String}, orient="row")


def _settings(chosen: Study) -> Iterator[tuple[str, str]]:
    yield "study", chosen.study.title or chosen.study.name
    yield from _question(chosen)
    if chosen.units:
        yield "design", f"units of {chosen.units.documents} documents, in {chosen.units.order} order"
        yield "judgments of a document", f"{chosen.units.redundancy} at least"
    if chosen.templates:
        yield "design", f"orders of levels {', '.join(chosen.templates.orders)}"
        yield "assessors of an order", str(chosen.templates.judges)
    if chosen.groups:
        groups = chosen.groups
        yield "design", f"groups of {groups.documents} documents, each in {groups.partners} pairs"
        yield "assessors of a group", str(groups.assessors)
    if chosen.double:
        yield "second judgments", f"of {chosen.double.share:.0%} of the documents"
    yield "checks", ", ".join(_asked_checks(chosen)) or "none"
    yield "an assessor may do", f"{chosen.work.most_units} units, {chosen.work.units_per_topic} of one topic"
    if chosen.pay.amount:
        yield "pay of a unit", f"{chosen.pay.amount:,.2f} {chosen.pay.currency}"
    yield (
        "assessors come by",
        {"invite": "invitation", "prolific": "Prolific", "panel": "a panel"}[chosen.platform.kind],
    )
    yield "seed", str(chosen.study.seed)


def _question(chosen: Study) -> Iterator[tuple[str, str]]:
    for name, scale in chosen.scales.items():
        levels = ", ".join(f"{level.name} = {level.value:g}" for level in scale.choices)
        yield "scale", f"{name}: {levels}" if levels else name
    if chosen.groups:
        yield "asked about a pair", ", ".join(chosen.groups.questions)


def _asked_checks(chosen: Study) -> Iterator[str]:
    checks = chosen.checks
    if chosen.known and checks.known != "off":
        yield "known documents in order" + (" (ties pass)" if checks.known == "ties" else "")
    if checks.practice:
        yield "practice with lines"
    if checks.question:
        yield f"questions about {len({one.topic for one in checks.question})} topics"
    if checks.quiz:
        yield "quiz pairs"
    if checks.least_seconds:
        yield f"at least {checks.least_seconds:g} s for each document"
    if checks.comment:
        yield f"comments of at least {checks.comment} letters"
    if checks.review:
        yield "blind review of comments"
