"""Prolific's messages about the status of submissions: checked, stored once, and acted on.

A notice is signed: base64 of HMAC-SHA256 over the time of the request and the body. A returned or timed-out submission
frees its unit at once; work that still arrives is kept. A notice about somebody who has not arrived yet is stored under
a keyed hash of their id, not under the id itself.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.session.assignment import release_all
from judgewell.server.session.served import Served
from judgewell.server.store.schema import identities, notices
from judgewell.server.store.transactions import Store
from judgewell.study.model import Study

SIGNATURE = "x-prolific-request-signature"
SENT = "x-prolific-request-timestamp"
EVENT = "x-event-id"  # the same for every delivery of one event
HAPPENED = "x-timestamp"  # when it happened: notices may overtake each other
OLDEST = 300.0  # seconds between sending and arriving
LARGEST = 64 * 1024
LONGEST = 200
STATUSES = (
    *("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT"),
    "PARTIALLY APPROVED",
)
CHANGE = "submission.status.change"
FREEING = ("RETURNED", "TIMED-OUT")


class BadNotice(Exception):
    """A notice that is refused, with the status and the text of the response."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status, self.sentence = status, sentence
        super().__init__(sentence)


@dataclass(frozen=True)
class Notice:
    """One event of one submission."""

    event: str
    kind: str
    person: str
    submission: str
    status: str
    happened: float
    signature: str


def webhook_secret(study: Study) -> str | None:
    """The secret that notices are signed with, from the environment; None where the study asks for no notices."""
    name = study.platform.webhook_secret
    if not name:
        return None
    secret = os.environ.get(name, "")
    if not secret:
        raise InputError(
            f"the study takes webhooks, and the environment variable {name} with their secret is not set",
            cure=f"set {name}, or leave platform.webhook_secret out",
        )
    return secret


def read_notice(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> Notice:
    """The notice in a request, or :class:`BadNotice` where it was not signed by the platform just now."""
    sent, signature = headers.get(SENT, ""), headers.get(SIGNATURE, "")
    made = hmac.new(secret.encode(), sent.encode() + body, hashlib.sha256).digest()
    if not sent or not hmac.compare_digest(base64.b64encode(made), signature.encode()):
        raise BadNotice(401, "the signature does not fit")
    at = _time(sent)
    if at is None or abs(now - at) > OLDEST:
        raise BadNotice(401, "the request is too old")
    try:
        notice = json.loads(body)
    except (ValueError, RecursionError):
        raise BadNotice(400, "this is not JSON") from None
    if not isinstance(notice, dict):
        raise BadNotice(400, "this is not an event")
    kind, person, submission, status = (
        _text(notice, name) for name in ("event_type", "participant_id", "resource_id", "status")
    )
    event = headers.get(EVENT, "") or hashlib.sha256(body).hexdigest()
    if len(event) > LONGEST or not event.isprintable():
        raise BadNotice(400, "the event's id is not an id")
    happened = _time(headers.get(HAPPENED, "")) or at
    return Notice(event, kind, person, submission, canonical(status), happened, base64.b64encode(made).decode())


def canonical(status: str) -> str:
    """A status as we spell it: Prolific's own documents write TIMED-OUT and TIMED_OUT."""
    letters = _letters(status)
    return next((known for known in STATUSES if _letters(known) == letters), status)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).upper()


def _text(notice: Mapping[str, Any], name: str) -> str:
    value = notice.get(name, "")
    if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable():
        raise BadNotice(400, f"{name} is not a short text")
    return value


def _time(text: str) -> float | None:
    """Seconds since 1970 in digits; in milliseconds where there are so many."""
    if not (text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 20):
        return None
    moment = float(text)
    return moment / 1000 if moment > 1e11 else moment


def take_notice(store: Store, served: Served, notice: Notice) -> str:
    """Keep the notice and act on it; what became of it: changed, freed, repeated, overtaken or unknown."""
    return store.write(lambda connection: _take(connection, served, notice)).result()


def _take(connection: sa.Connection, served: Served, notice: Notice) -> str:
    now = served.clock()
    who = _whose(connection, served, notice)
    earlier = _earlier(connection, notice, who)
    if any(row.event == notice.event or row.data.get("signature") == notice.signature for row in earlier):
        return "repeated"
    became = _act(connection, notice, who, earlier, now)
    data: dict[str, Any] = {"status": notice.status, "happened": notice.happened, "became": became}
    data["signature"] = notice.signature
    if who is None and notice.kind == CHANGE:
        data["waits_for"] = _mark(served, notice.person, notice.submission)
    row = {"event": notice.event, "kind": notice.kind, "assessor": who, "data": data, "at": now}
    connection.execute(sa.insert(notices).values(row))
    return became


def _whose(connection: sa.Connection, served: Served, notice: Notice) -> int | None:
    """The assessor whose present submission this is about; None where there is none."""
    query = sa.select(identities.c.assessor).where(
        identities.c.platform == served.study.platform.kind,
        identities.c.outside == notice.person,
        identities.c.session == notice.submission,
    )
    number = connection.execute(query).scalar()
    return None if number is None else int(number)


def _earlier(connection: sa.Connection, notice: Notice, who: int | None) -> list[sa.Row[Any]]:
    same = notices.c.event == notice.event
    mine = same if who is None else sa.or_(same, notices.c.assessor == who)
    return list(connection.execute(sa.select(notices).where(mine)))


def _act(connection: sa.Connection, notice: Notice, who: int | None, earlier: list[sa.Row[Any]], now: float) -> str:
    """Store the status, and free the unit of somebody who has gone."""
    if who is None or notice.kind != CHANGE:
        return "unknown"
    if any(row.data.get("happened", 0) > notice.happened for row in earlier):
        return "overtaken"
    connection.execute(sa.update(identities).where(identities.c.assessor == who).values(status=notice.status))
    if notice.status not in FREEING:
        return "changed"
    return "freed" if release_all(connection, who, now, f"the platform says {notice.status}") else "changed"


def take_waiting(connection: sa.Connection, served: Served, who: int, person: str, submission: str | None) -> None:
    """The notices that came before this person did: theirs now, and the last one's status with them."""
    if submission is None:
        return
    waiting = notices.c.data["waits_for"].as_string() == _mark(served, person, submission)
    rows = list(connection.execute(sa.select(notices).where(notices.c.assessor.is_(None), waiting)))
    if not rows:
        return
    last = max(rows, key=lambda row: float(row.data["happened"]))
    connection.execute(sa.update(notices).where(notices.c.event.in_([row.event for row in rows])).values(assessor=who))
    whose = identities.c.assessor == who
    connection.execute(sa.update(identities).where(whose).values(status=last.data["status"]))


def _mark(served: Served, person: str, submission: str) -> str:
    text = json.dumps([person, submission]).encode()
    return hmac.new(served.secret.encode(), b"judgewell.notice" + text, hashlib.sha256).hexdigest()
