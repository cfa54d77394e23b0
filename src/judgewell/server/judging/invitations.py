"""Who judges: invited assessors and those a platform sends. Outside names stay apart from pseudonyms."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.platforms.keys import Keys
from judgewell.server.platforms.links import Arrival, BadLink, read_link
from judgewell.server.platforms.notices import take_waiting
from judgewell.server.session.assignment import release_all
from judgewell.server.session.served import Served
from judgewell.server.session.state import log_event
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import SYNTHETIC, arrivals, assessors, identities, study
from judgewell.server.store.transactions import Store
from judgewell.server.tokens import numbered, signed

_ALPHABET = "bcdfghjkmnpqrstvwxyz23456789"  # nothing that can be misread or spell a word


def new_pseudonym() -> str:
    """A random name that says nothing."""
    return "a-" + "".join(secrets.choice(_ALPHABET) for _ in range(10))


def new_assessor(connection: sa.Connection, origin: str, now: float, label: str | None = None) -> int:
    """A new assessor under a random pseudonym; the number is the row's."""
    row: dict[str, object] = {
        "pseudonym": new_pseudonym(),
        "origin": origin,
        "label": label,
        "created": now,
        "stage": "consent",
        "position": 0,
        "turn": 0,
        "scratch": {},
        "moved": now,
    }
    number = connection.execute(sa.insert(assessors).values(row).returning(assessors.c.number)).scalar_one()
    log_event(connection, now, "created", number, origin=origin, label=label)
    return int(number)


@dataclass(frozen=True)
class Invitation:
    """An assessor's own link, to be put behind the server's address; a label that has one keeps it, else it is new."""

    label: str
    path: str
    new: bool = False


def invite(store: Store, served: Served, labels: Sequence[str], *, again: bool = False) -> list[Invitation]:
    """A link for each label, in order: the one it has, or a new one; `again` makes new ones for all."""

    def make(connection: sa.Connection) -> list[Invitation]:
        held = {} if again else dict(_invited(connection))
        invitations = []
        for label in labels:
            new = label not in held
            if new:
                held[label] = new_assessor(connection, "invite", served.clock(), label)
            invitations.append(Invitation(label, invite_path(served, held[label]), new))
        return invitations

    return store.write(make).result()


def is_rehearsal(connection: sa.Connection) -> bool:
    """Whether synthetic assessors are in the study."""
    query = sa.select(assessors.c.number).where(assessors.c.origin == SYNTHETIC).limit(1)
    return connection.execute(query).scalar() is not None


def refuse_rehearsal(store: Store) -> None:
    """Refuse to invite people into a study that synthetic assessors fill."""
    if store.read(is_rehearsal).result():
        raise InputError(
            "this database holds a rehearsal with synthetic assessors, and people must not be mixed with them",
            cure="serve the study with its own database, and invite people there",
        )


def invite_more(store: Store, served: Served, count: int) -> list[Invitation]:
    """New links for so many whom nobody has named yet: numbered on from those there are."""
    every = sa.select(sa.func.count()).where(assessors.c.origin == "invite")
    taken: int = store.read(lambda connection: connection.execute(every).scalar_one()).result()
    return invite(store, served, [f"assessor {number}" for number in range(taken + 1, taken + count + 1)], again=True)


def invited(store: Store, served: Served) -> list[Invitation]:
    """All invite links that are open."""
    return list(store.read(lambda connection: open_links(connection, served)).result().values())


def open_links(connection: sa.Connection, served: Served) -> dict[int, Invitation]:
    """The invite links that are open, by the assessor's number."""
    return {number: Invitation(label, invite_path(served, number)) for label, number in _invited(connection)}


def revoke(store: Store, served: Served, label: str) -> int:
    """Close the links of a label, and the sessions they led to; what was judged stays. How many there were."""

    def close(connection: sa.Connection) -> int:
        now = served.clock()
        numbers = [number for own, number in _invited(connection) if own == label]
        for number in numbers:
            release_all(connection, number, now, "the invite link was revoked")
            connection.execute(sa.update(assessors).where(assessors.c.number == number).values(forgotten=now))
            log_event(connection, now, "revoked", number)
        return len(numbers)

    return store.write(close).result()


def _invited(connection: sa.Connection) -> list[tuple[str, int]]:
    query = sa.select(assessors.c.label, assessors.c.number).where(
        assessors.c.origin == "invite", assessors.c.forgotten.is_(None)
    )
    return [(label or "", number) for label, number in connection.execute(query.order_by(assessors.c.number))]


_THIS = assessors.c.number == sa.bindparam("person")
_OPENED = Prepared(
    sa.update(assessors).where(_THIS, assessors.c.moved == assessors.c.created).values(moved=sa.bindparam("now"))
)
_WELCOME = Prepared(sa.select(assessors.c.number).where(_THIS, assessors.c.forgotten.is_(None)))


def mark_opened(connection: sa.Connection, assessor: int, now: float) -> None:
    """Keep when an invite link was opened for the first time: that is the assessor's first move."""
    _OPENED.run(connection, person=assessor, now=now)


def is_welcome(connection: sa.Connection, assessor: int) -> bool:
    """Whether an invite link still opens the door."""
    return _WELCOME.one(connection, person=assessor) is not None


def invite_path(served: Served, assessor: int) -> str:
    """The path of an assessor's own link: the number and 160 bits or more that only the secret can make."""
    return f"/i/{signed(served.secret, 'invite', str(assessor))}"


def by_invite(served: Served, token: str) -> int | None:
    """The assessor whose link this is."""
    return numbered(served.secret, "invite", token)


def held_keys(connection: sa.Connection) -> Mapping[str, Any] | None:
    """The platform's keys as they stood in the study's key file at the last start; None where there is no such file."""
    texts: Mapping[str, Any] = connection.execute(sa.select(study.c.texts)).scalar_one()
    return texts.get("keys")


def join(store: Store, served: Served, keys: Keys | None, given: Mapping[str, str], present: int | None = None) -> int:
    """The assessor whom a platform's address brings; `present` is the one whose session the browser holds."""
    return arrive(store, served, read_link(served.study.platform, keys, given, served.clock()), present)


def arrive(store: Store, served: Served, arrival: Arrival, present: int | None = None) -> int:
    """The assessor whom the platform sent: the one known by this id, or a new one."""
    return store.write(lambda connection: _arrive(connection, served, arrival, present)).result()


def _arrive(connection: sa.Connection, served: Served, arrival: Arrival, present: int | None) -> int:
    platform, now = served.study.platform.kind, served.clock()
    key = (identities.c.platform == platform, identities.c.outside == arrival.person)
    known = connection.execute(sa.select(identities.c.assessor).where(*key)).scalar()
    if not _use_once(connection, arrival, now) and (known is None or known != present):
        raise BadLink("the token was used before")
    ids = {"session": arrival.session, "study": arrival.study, "arrived": now}
    if known is None:
        known = new_assessor(connection, platform, now)
        row = {"platform": platform, "outside": arrival.person, "assessor": known}
        connection.execute(sa.insert(identities).values(**row, **ids))
    else:
        connection.execute(sa.update(identities).where(*key).values(ids))
    take_waiting(connection, served, known, arrival.person, arrival.session)
    log_event(connection, now, "arrived", known)
    return int(known)


def _use_once(connection: sa.Connection, arrival: Arrival, now: float) -> bool:
    """Mark the token as used; false where it was before. Tokens that have run out are forgotten."""
    if arrival.token is None:
        return True
    connection.execute(sa.delete(arrivals).where(arrivals.c.expires <= now))
    if connection.execute(sa.select(arrivals.c.token).where(arrivals.c.token == arrival.token)).scalar() is not None:
        return False
    connection.execute(sa.insert(arrivals).values(token=arrival.token, expires=arrival.expires))
    return True
