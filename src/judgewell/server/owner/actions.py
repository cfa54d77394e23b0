"""What an owner can do to a running study: each action has its fields, a sentence of help and a job.

The form of a page, the API and the command line all run the same job, in one transaction with its line in the audit
log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from judgewell.errors import InputError
from judgewell.server.owner.access import Account, record
from judgewell.server.owner.accounts import disable, enable, revoke_all, revoke_key
from judgewell.server.owner.exclusions import assessor_called, exclude, find_reservation, include, pseudonym_of
from judgewell.server.owner.extra_judgments import ask_more
from judgewell.server.owner.privacy import forget
from judgewell.server.platforms.bonus import due_bonus
from judgewell.server.session.assignment import release
from judgewell.server.session.served import Served
from judgewell.server.session.state import log_event
from judgewell.server.store.schema import answers, assessors, pauses, reservations, topics, units
from judgewell.server.store.transactions import Store
from judgewell.study.file import in_our_words

Result = dict[str, Any]


def _lines(value: Any) -> Any:
    """Lines of a text as a list."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return value
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


Name = Annotated[str, Field(min_length=1, max_length=200)]
Reason = Annotated[str, Field(min_length=1, max_length=1000, description="Why, for the record.")]
Assessor = Annotated[
    str, Field(min_length=1, max_length=200, description="A pseudonym, an id of the platform, or an invited name.")
]


class Fields(BaseModel):
    """The parameters of an action; anything else is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @property
    def target(self) -> str | None:
        """What the action is about, for the audit log."""
        return None


class OfTopic(Fields):
    topic: str = Field("", max_length=200, description="One topic; the whole study when empty.")

    @property
    def target(self) -> str | None:
        return f"topic {self.topic}" if self.topic else "the study"


class Pausing(OfTopic):
    reason: str = Field("", max_length=1000, description="Why, for the record.")


class OfAssessor(Fields):
    assessor: Assessor

    @property
    def target(self) -> str | None:
        return self.assessor


class Releasing(OfAssessor):
    unit: str = Field("", max_length=200, description="A unit they are working on; what they hold when empty.")
    reason: str = Field("", max_length=1000, description="Why, for the record.")


class Extending(OfAssessor):
    unit: str = Field("", max_length=200, description="A unit they are working on; what they hold when empty.")
    minutes: float = Field(ge=1, le=7 * 24 * 60, description="How long from now the unit is held for its assessor.")


class OfWork(OfAssessor):
    unit: str = Field("", max_length=200, description="One unit of theirs; all their work when empty.")


class Excluding(OfWork):
    reason: Reason


class AskingMore(Fields):
    topic: Name
    docs: Annotated[list[Name], BeforeValidator(_lines)] = Field(
        min_length=1, max_length=2000, description="The documents' ids."
    )
    more: int = Field(1, ge=1, le=50, description="How many more judgments of each.")
    scale: str = Field("", max_length=100, description="One of the study's scales; each of them when empty.")

    @property
    def target(self) -> str | None:
        return f"topic {self.topic}"


class Forgetting(OfAssessor):
    comments: bool = Field(False, description="Delete the comments on documents too.")

    @property
    def target(self) -> str | None:
        return None  # the log keeps no name that was just deleted


class OfAccount(Fields):
    account: Name = Field(description="The account's name.")

    @property
    def target(self) -> str | None:
        return f"account {self.account}"


class OfKey(Fields):
    key: int = Field(ge=1, description="The number of a session, token or link.")

    @property
    def target(self) -> str | None:
        return f"key {self.key}"


@dataclass(frozen=True)
class Action:
    """Something an owner can do: its name, parameters, purpose, and the job that does it."""

    name: str
    fields: type[Fields]
    help: str
    job: Callable[[sa.Connection, Served, float, Any], Result]
    erases: bool = False  # nothing of what it deletes may stay in the database's log


def perform(
    store: Store,
    served: Served,
    action: Action,
    fields: Fields,
    account: Account | None = None,
    address: str | None = None,
) -> Result:
    """Do an action in one transaction and wait until it is on disk; what was erased is then in no log either."""
    now = served.clock()
    result = store.write(lambda connection: run(connection, served, now, action, fields, account, address)).result()
    if action.erases and not store.empty_log():
        result = {**result, "still in the log": "somebody reads the database; do it again later"}
    return result


def run(
    connection: sa.Connection,
    served: Served,
    now: float,
    action: Action,
    fields: Fields,
    account: Account | None = None,
    address: str | None = None,
) -> Result:
    """Do it and write it into the audit log; a job for the store. Without an account it is the command line's."""
    if isinstance(fields, OfAssessor):  # the log and the job get the pseudonym, whatever name was given
        fields = fields.model_copy(update={"assessor": pseudonym_of(connection, fields.assessor)})
    result = action.job(connection, served, now, fields)
    # no pseudonym but in the target, where forgetting an assessor finds it
    options = {name: value for name, value in fields.model_dump().items() if name not in ("assessor", "docs") and value}
    record(connection, now, account, action.name, fields.target, options | {"result": result}, address)
    return result


def read_fields(action: Action, given: Mapping[str, Any]) -> Fields:
    """The fields of an action; what is wrong with them is one line."""
    try:
        return action.fields.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or action.name
        known = ", ".join(action.fields.model_fields)
        unknown = {"missing": f"{where} is missing", "extra_forbidden": f"there is no field {where}"}
        problem = unknown.get(first["type"]) or f"{where} {in_our_words(dict(first))}"
        raise InputError(problem, cure=f"{action.name} takes {known}") from None


def _pause(connection: sa.Connection, served: Served, now: float, fields: Pausing) -> Result:
    _check_topic(connection, fields.topic)
    connection.execute(sa.delete(pauses).where(pauses.c.topic == fields.topic))
    connection.execute(sa.insert(pauses).values(topic=fields.topic, at=now, reason=fields.reason or None))
    log_event(connection, now, "paused", **fields.model_dump(exclude_defaults=True))
    return {"paused": fields.topic or "the study"}


def _resume(connection: sa.Connection, served: Served, now: float, fields: OfTopic) -> Result:
    _check_topic(connection, fields.topic)
    if connection.execute(sa.delete(pauses).where(pauses.c.topic == fields.topic)).rowcount == 0:
        raise InputError(f"{fields.target} is not paused", cure="pause it first")
    log_event(connection, now, "resumed", **fields.model_dump(exclude_defaults=True))
    return {"resumed": fields.topic or "the study"}


def _check_topic(connection: sa.Connection, topic: str) -> None:
    known = connection.execute(sa.select(topics.c.topic).where(topics.c.topic == topic)).scalar()
    if topic and known is None:
        raise InputError(f"there is no topic {topic!r}", cure="judgewell status shows the topics")


def _release(connection: sa.Connection, served: Served, now: float, fields: Releasing) -> Result:
    held = _in_progress(connection, fields)
    for reservation in held:
        release(connection, reservation, now, fields.reason or "by the owner")
    return {"released": len(held)}


def _extend(connection: sa.Connection, served: Served, now: float, fields: Extending) -> Result:
    """Held for so long whatever its holder does; signs of life count on beside it."""
    until, assessor = now + fields.minutes * 60, assessor_called(connection, fields.assessor)
    held = _in_progress(connection, fields)
    connection.execute(sa.update(reservations).where(reservations.c.number.in_(held)).values(held_until=until))
    for reservation in held:
        log_event(connection, now, "extended", assessor, reservation, minutes=fields.minutes)
    return {"extended": len(held), "until": until}


def _in_progress(connection: sa.Connection, fields: Releasing | Extending) -> list[int]:
    """The reservations of the assessor that are in progress, all or of one unit; an error where there is none."""
    query = sa.select(reservations.c.number).where(
        reservations.c.assessor == assessor_called(connection, fields.assessor), reservations.c.state == "live"
    )
    if fields.unit:
        query = query.join(units, units.c.number == reservations.c.unit).where(units.c.unit == fields.unit)
    held = list(connection.execute(query.order_by(reservations.c.number)).scalars())
    if not held:
        what = f"unit {fields.unit!r}" if fields.unit else "a unit"
        raise InputError(f"{fields.assessor} does not hold {what} now", cure="judgewell status shows who is working")
    return held


def _exclude(connection: sa.Connection, served: Served, now: float, fields: Excluding) -> Result:
    assessor = assessor_called(connection, fields.assessor)
    reservation = find_reservation(connection, assessor, fields.unit) if fields.unit else None
    return {"units": exclude(connection, now, assessor, reservation, fields.reason, "owner")}


def _include(connection: sa.Connection, served: Served, now: float, fields: OfWork) -> Result:
    assessor = assessor_called(connection, fields.assessor)
    reservation = find_reservation(connection, assessor, fields.unit) if fields.unit else None
    return {"units": include(connection, now, assessor, reservation)}


def _more(connection: sa.Connection, served: Served, now: float, fields: AskingMore) -> Result:
    _check_topic(connection, fields.topic)
    made = ask_more(connection, served, fields.topic, fields.docs, fields.more, fields.scale or None)
    log_event(connection, now, "more asked", topic=fields.topic, docs=fields.docs, more=fields.more, **made)
    return {"docs": len(fields.docs), **made}


def _forget(connection: sa.Connection, served: Served, now: float, fields: Forgetting) -> Result:
    assessor = assessor_called(connection, fields.assessor)
    due = due_bonus(connection, served, assessor)
    mine = sa.and_(answers.c.assessor == assessor, answers.c.current)
    kept = connection.execute(sa.select(sa.func.count()).where(mine)).scalar_one()
    invited = connection.execute(sa.select(assessors.c.origin).where(assessors.c.number == assessor)).scalar()
    forget(connection, now, fields.assessor, comments=fields.comments)
    bonus = {"bonus": f"{due} {served.study.pay.currency}"} if due > 0 else {}
    return {"assessors": 1, "answers": kept, "invited": invited == "invite", **bonus}


def _with_account(job: Callable[[sa.Connection, float, str], int]) -> Callable[..., Result]:
    return lambda connection, served, now, fields: {"keys": job(connection, now, fields.account)}


def _revoke_key(connection: sa.Connection, served: Served, now: float, fields: OfKey) -> Result:
    return {"account": revoke_key(connection, now, fields.key)}


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("pause", Pausing, "Hand out no new units of the study or of one topic.", _pause),
        Action("resume", OfTopic, "Hand out units again.", _resume),
        Action("release", Releasing, "Free the place of a unit in progress at once.", _release),
        Action("extend", Extending, "Hold a unit for its assessor, silent or not.", _extend),
        Action(
            "exclude",
            Excluding,
            "Exclude an assessor's work: it is kept and marked, and its places are free again.",
            _exclude,
        ),
        Action("include", OfWork, "Include excluded work again.", _include),
        Action("more", AskingMore, "Ask for more judgments of documents.", _more),
        Action(
            "forget", Forgetting, "Delete an assessor's personal data; judgments get a new pseudonym.", _forget, True
        ),
        Action("revoke", OfAccount, "End all sessions, tokens and links of an account.", _with_account(revoke_all)),
        Action("revoke-key", OfKey, "End one session, token or link.", _revoke_key),
        Action("disable", OfAccount, "Let an account in no longer; its keys end.", _with_account(disable)),
        Action("enable", OfAccount, "Let a disabled account in again.", _with_account(enable)),
    )
}
