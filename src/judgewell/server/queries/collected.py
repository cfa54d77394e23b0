"""A study for its report: its settings and participants, the answers that count, and how every unit ended."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import sqlalchemy as sa

from judgewell.errors import InputError, note
from judgewell.reports.sources import CollectedStudy, GoalEnd
from judgewell.server.queries.endings import COMPLETED, UnitEnding
from judgewell.server.queries.goal import goal_inclusion
from judgewell.server.queries.money import used
from judgewell.server.queries.standing_answers import counting, judgments_frame, pairs_frame
from judgewell.server.queries.status import Status, status
from judgewell.server.session.served import study_row
from judgewell.server.store.schema import goals, topics, verdicts
from judgewell.server.store.transactions import Store
from judgewell.study.checks import check_words
from judgewell.study.model import Study
from judgewell.text import counted


def collected_study(store: Store, now: float) -> CollectedStudy:
    """Read the study and everything that was answered, as of one moment."""
    with store.snapshot() as connection:
        row = study_row(connection)
        judgments, pairs = (counting(frame(connection, now)) for frame in (judgments_frame, pairs_frame))
        if judgments.is_empty() and pairs.is_empty():
            raise InputError(f"no unit of the study {row.name} is completed yet", cure="wait until one is")
        progress, settings = status(connection, now), Study.model_validate(row.frozen["settings"])
        cost = used(connection, settings.pay)
        for one in progress.endings:
            if one.ending != COMPLETED and one.answers:
                note(f"{counted(one.answers, 'answer')} of {counted(one.units, 'unit')} are not used: {one.ending}")
        return CollectedStudy(
            name=row.name,
            hash=row.hash,
            judgments=None if judgments.is_empty() else judgments,
            pairs=None if pairs.is_empty() else pairs,
            settings=pl.DataFrame(list(_settings(settings)), _WORDS, orient="row"),
            endings=_endings(progress.endings),
            checks=_checks(connection),
            topics=_topics(connection, progress),
            machines=_machines(progress),
            needed=progress.needed,
            completed=progress.completed,
            spent=cost.spent,
            currency=progress.currency,
            hours=cost.hours,
            excluded_units=cost.excluded_units,
            excluded_hours=cost.excluded_hours,
            excluded_spent=cost.excluded_spent,
            goal=_goal(connection, progress, judgments),
        )


def _goal(connection: sa.Connection, progress: Status, judgments: pl.DataFrame) -> GoalEnd | None:
    """How far the goal is, and what an even design would have needed for the same certainty (documents only)."""
    end, drawn = progress.goal, goal_inclusion(connection)
    if end is None:
        return None
    if drawn is None or end.leader is None or judgments.is_empty():
        return GoalEnd(end.decide, tuple(end.sentences), ended=end.ended is not None)
    from judgewell.analysis.goals.batch import even_answers
    from judgewell.analysis.goals.look import look
    from judgewell.analysis.goals.plan import Plan

    plan = Plan.load(connection.execute(sa.select(goals.c.plan)).scalar_one())
    pi = plan.pool.join(drawn, on=["topic", "doc"], how="left", maintain_order="left")["inclusion"].fill_null(0.0)
    asked = judgments.filter(pl.col("known").is_null()) if "known" in judgments.columns else judgments
    seen = look(plan.state(asked, pi.to_numpy()), plan.rule, plan.systems)
    even = even_answers(seen, plan.rule, plan.systems)
    needed = "more than its cap allows" if even is None else f"about {even:,} judgments"
    cost = (
        f"The last test is based on {end.answers:,} judgments; an even design would have needed {needed} for the same "
    )
    cost += "certainty (not counting known documents shown only as checks)."
    if judgments.height > end.answers:
        rest = judgments.height - end.answers
        cost += (
            f" The other {rest:,} judgments are of known documents shown as checks, or were completed after that test."
        )
    return GoalEnd(end.decide, tuple(end.sentences), cost, end.ended is not None)


def _endings(endings: tuple[UnitEnding, ...]) -> pl.DataFrame:
    """How units ended: how often, by how many assessors, and how many standing answers that is."""
    rows = [
        {"ended": one.ending, "units": one.units, "assessors": one.assessors, "answers": one.answers,
         "counted": one.ending == COMPLETED}
        for one in endings
        if one.units
    ]  # fmt: skip
    return pl.DataFrame(rows)


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
        {"check": check_words(name), "verdicts": total, "first attempts": int(tries), "failed at first": int(bad),
         "share": int(bad) / int(tries) if tries else None}
        for name, total, tries, bad in connection.execute(query)
    ]  # fmt: skip
    schema = {"check": pl.String, "verdicts": pl.Int64, "first attempts": pl.Int64, "failed at first": pl.Int64,
              "share": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _topics(connection: sa.Connection, progress: Status) -> pl.DataFrame:
    titles: dict[str, str] = dict(connection.execute(sa.select(topics.c.topic, topics.c.title)).all())
    rows = [(one.topic, titles[one.topic], one.needed, one.completed) for one in progress.topics]
    schema = {"topic": pl.String, "title": pl.String, "needed": pl.Int64, "completed": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _machines(progress: Status) -> pl.DataFrame:
    """Every machine among the assessors: what it judged, and what that took."""
    rows = [
        {"assessor": one.pseudonym, "model": one.model, "sample": one.sample, "units completed": one.completed,
         "units failed": one.failed, "answers": one.answers, "unrateable": one.unrateable,
         "tokens": one.tokens_in + one.tokens_out, f"cost ({one.currency})": one.cost}
        for one in progress.machines
    ]  # fmt: skip
    return pl.DataFrame(rows)


_WORDS = {"setting": pl.String, "value": pl.String}


def _settings(chosen: Study) -> Iterator[tuple[str, str]]:
    """The frozen study in words."""
    yield "study", chosen.study.title or chosen.study.name
    for name, scale in chosen.scales.items():
        grades = ", ".join(f"{grade.name} = {grade.value:g}" for grade in scale.choices)
        yield "scale", f"{name}: {grades}" if grades else name
    if chosen.units:
        yield "design", f"units of {counted(chosen.units.documents, 'document')}, in {chosen.units.order} order"
        yield "judgments of a document", f"{chosen.units.redundancy} at least"
    if chosen.templates:
        yield "design", f"orders of grades {', '.join(chosen.templates.orders)}"
        yield "assessors of an order", str(chosen.templates.judges)
    if chosen.groups:
        groups = chosen.groups
        yield "asked about a pair", ", ".join(groups.questions)
        yield "design", f"groups of {groups.documents} documents, each in {counted(groups.partners, 'pair')}"
        yield "assessors of a group", str(groups.assessors)
    if chosen.double:
        yield "second judgments", f"of {chosen.double.share:.0%} of the documents"
    yield "checks", ", ".join(_asked_checks(chosen)) or "none"
    yield "an assessor may do", f"{counted(chosen.work.most_units, 'unit')}, {chosen.work.units_per_topic} of one topic"
    if chosen.pay.amount:
        yield "pay of a unit", f"{chosen.pay.amount:,.2f} {chosen.pay.currency}"
    yield (
        "assessors come by",
        {"invite": "invitation", "prolific": "Prolific", "panel": "a panel"}[chosen.platform.kind],
    )
    yield "seed", str(chosen.study.seed)


def _asked_checks(chosen: Study) -> Iterator[str]:
    checks = chosen.checks
    if chosen.known and checks.known != "off":
        yield check_words("known_pairs" if chosen.groups else "known") + (
            " (ties pass)" if checks.known == "ties" else ""
        )
    if checks.practice:
        yield check_words("practice")
    if checks.question:
        asked = counted(len({one.topic for one in checks.question}), "topic")
        yield f"{check_words('comprehension')} (of {asked})"
    if checks.quiz:
        yield check_words("quiz")
    if checks.least_seconds:
        yield f"{check_words('time')} ({checks.least_seconds:g} s a document)"
    if checks.comment:
        yield f"comments of at least {counted(checks.comment, 'letter')}"
    if checks.review:
        yield check_words("review")
