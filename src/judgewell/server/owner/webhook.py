"""Telling the owner what happened: a signed message to the one address that the study file names.

A message goes out when the study ends, when it is paused, and when its budget is nearly or wholly spent. Messages wait
in the audit log until the receiver has taken them, so that a restart loses none and several server processes send each
once. They are sent beside the requests: nobody who judges waits for them.

The address comes from the study file alone; no page and no request can change it. It is asked over https, so a receiver
must prove its name, and a name that leads to an address inside the network gets nothing; plain http stays on this
computer. An answer that sends us elsewhere is not followed, and of an answer only its status is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.owner.access import record
from judgewell.server.process import Server
from judgewell.server.queries.goal import goal_progress
from judgewell.server.queries.money import budget_text
from judgewell.server.session.budget import budget
from judgewell.server.session.served import Served
from judgewell.server.store.schema import audit, pauses, reservations, units
from judgewell.server.store.transactions import Store, Unavailable
from judgewell.study.model import Study
from judgewell.text import counted

WAITING, SENT, GIVEN_UP = "webhook waiting", "webhook sent", "webhook given up"
EVERY = 10.0  # seconds between two looks
WAITS = (30.0, 120.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0)  # seconds after each attempt that was not taken
SECONDS = 10.0  # for which an answer is waited for
SIGNATURE, SENT_AT, DELIVERY = "x-judgewell-signature", "x-judgewell-timestamp", "x-judgewell-delivery"

Post = Callable[[str, bytes, dict[str, str]], str]


@dataclass(frozen=True)
class Happened:
    """A message: its kind, the event it is sent once for, and a sentence."""

    kind: str
    key: str
    text: str


def signing_secret(study: Study) -> str:
    """The secret that messages are signed with, from the environment; "" where the study names none."""
    name = study.owner.webhook_secret
    if not name:
        return ""
    if not os.environ.get(name):
        raise InputError(
            f"the study signs its webhook, and the environment variable {name} with the secret is not set",
            cure=f"set {name}, or leave owner.webhook_secret out",
        )
    return os.environ[name]


def happened(connection: sa.Connection, served: Served) -> list[Happened]:
    """What there is to tell at this moment."""
    news = []
    open_unit = sa.select(units.c.number).where(units.c.free > 0).limit(1)
    in_hand = sa.select(reservations.c.number).where(reservations.c.state == "live").limit(1)
    if connection.execute(open_unit).scalar() is None and connection.execute(in_hand).scalar() is None:
        needed = int(connection.execute(sa.select(sa.func.sum(units.c.need))).scalar() or 0)
        goal = goal_progress(connection, served.study)
        text = goal.reason if goal and goal.ended else f"all work is done ({counted(needed, 'unit')})"
        news.append(Happened("ended", f"ended with {needed} units of work", text))
    paused = connection.execute(sa.select(pauses).where(pauses.c.topic == "")).one_or_none()
    if paused is not None:
        because = f": {paused.reason}" if paused.reason else ""
        news.append(Happened("paused", f"paused at {paused.at:.0f}", f"the study is paused{because}"))
    pay = served.study.pay
    if pay.budget is not None:
        state = budget(connection, pay)
        text = budget_text(state.spent, pay.budget, state.state, pay.currency)
        news += [Happened(f"budget_{state.state}", f"budget of {pay.budget:g} {state.state}", text)] if text else []
    return news


def queue(connection: sa.Connection, now: float, news: list[Happened]) -> None:
    """Queue the messages that were not sent yet; a job for the store."""
    ours = audit.c.action.in_((WAITING, SENT, GIVEN_UP))
    known = set(connection.execute(sa.select(audit.c.target).where(ours)).scalars())
    for one in news:
        if one.key not in known:
            record(connection, now, None, WAITING, one.key, {"kind": one.kind, "text": one.text, "attempts": 0})


def claim(connection: sa.Connection, now: float) -> list[Any]:
    """The messages that are due, each claimed for this process until its next attempt; a job for the store."""
    rows = connection.execute(sa.select(audit).where(audit.c.action == WAITING)).all()
    due = [row for row in rows if row.data.get("next", 0.0) <= now]
    for row in due:
        attempts = row.data["attempts"] + 1
        data = {**row.data, "attempts": attempts, "next": now + WAITS[min(attempts, len(WAITS)) - 1]}
        connection.execute(sa.update(audit).where(audit.c.number == row.number).values(data=data))
    return due


def settle(connection: sa.Connection, row: Any, answer: str) -> None:
    """Write down what became of an attempt; a job for the store."""
    attempts = row.data["attempts"] + 1
    action = SENT if answer.startswith("2") else GIVEN_UP if attempts >= len(WAITS) or answer == "410" else WAITING
    held = connection.execute(sa.select(audit.c.data).where(audit.c.number == row.number)).scalar_one()
    data = {**held, "answer": answer}
    if action != WAITING:
        data.pop("next")
    connection.execute(sa.update(audit).where(audit.c.number == row.number).values(action=action, data=data))


def message(served: Served, row: Any, secret: str, now: float) -> tuple[bytes, dict[str, str]]:
    """The body and headers of a message; `text` is what chats show."""
    content = {
        "event": row.data["kind"],
        "study": served.study.study.name,
        "at": datetime.fromtimestamp(row.at, UTC).isoformat(timespec="seconds"),
        "text": f"{served.title} – {row.data['text'].rstrip('.')}.",
    }
    body = json.dumps(content, ensure_ascii=False).encode()
    headers = {"content-type": "application/json", "user-agent": "judgewell", SENT_AT: f"{now:.0f}"}
    headers[DELIVERY] = str(row.number)  # the same for every attempt
    if secret:
        made = hmac.new(secret.encode(), headers[SENT_AT].encode() + b"." + body, hashlib.sha256)
        headers[SIGNATURE] = f"sha256={made.hexdigest()}"
    return body, headers


def post(address: str, body: bytes, headers: dict[str, str]) -> str:
    """The status of the receiver's answer, or why there is none."""
    import httpx

    try:
        with (
            httpx.Client(timeout=SECONDS, follow_redirects=False) as client,
            client.stream("POST", address, content=body, headers=headers) as response,
        ):
            return str(response.status_code)
    except httpx.HTTPError as error:
        return f"no answer: {type(error).__name__}"


def tell(store: Store, served: Served, secret: str, known: set[str], post: Post = post) -> int:
    """One look: write down what is new, send what is due; how many were sent. `known` is what this process wrote."""
    news = [one for one in store.read(lambda c: happened(c, served)).result() if one.key not in known]
    if news:
        store.write(lambda c: queue(c, served.clock(), news)).result()
        known.update(one.key for one in news)
    waiting = sa.select(audit.c.number).where(audit.c.action == WAITING).limit(1)
    if store.read(lambda c: c.execute(waiting).scalar()).result() is None:
        return 0
    due = store.write(lambda c: claim(c, served.clock())).result()
    for row in due:
        body, headers = message(served, row, secret, served.clock())
        answer = post(served.study.owner.webhook, body, headers)
        store.write(partial(settle, row=row, answer=answer)).result()
    return len(due)


async def watch(server: Server) -> None:
    """Look again and again, where the study names whom to tell."""
    secret, known = signing_secret(server.served.study), set[str]()
    while server.served.study.owner.webhook:
        with contextlib.suppress(Unavailable):  # the database is away; the next look finds the same
            await asyncio.to_thread(tell, server.store, server.served, secret, known)
        await asyncio.sleep(EVERY)
