"""Who judges: invited assessors and those a platform sends. Outside names stay apart from pseudonyms."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from judgewell.collect.schema import assessors, events, identities
from judgewell.collect.served import Served
from judgewell.collect.store import Job, Store
from judgewell.collect.tokens import numbered, opened, signed

LONGEST_ID = 200
_ALPHABET = "bcdfghjkmnpqrstvwxyz23456789"  # nothing that can be misread or spell a word


def new_assessor(connection: sa.Connection, origin: str, now: float, label: str | None = None) -> int:
    """A new assessor under a random pseudonym; the number is the row's."""
    row: dict[str, object] = {
        "pseudonym": "a-" + "".join(secrets.choice(_ALPHABET) for _ in range(10)),
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
    connection.execute(
        sa.insert(events).values(at=now, kind="created", assessor=number, data={"origin": origin, "label": label})
    )
    return int(number)


def invite(store: Store, served: Served, count: int, labels: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """New invite links, one for each assessor: (label or pseudonym's number, path)."""
    names = [*labels, *(f"assessor {number}" for number in range(len(labels) + 1, count + 1))]

    def make(connection: sa.Connection) -> list[tuple[str, str]]:
        made = [(name, new_assessor(connection, "invite", served.clock(), name)) for name in names]
        return [(name, invite_path(served, number)) for name, number in made]

    return store.write(make).result()


def invited(store: Store, served: Served) -> list[tuple[str, str]]:
    """All invite links made so far."""
    query = sa.select(assessors.c.label, assessors.c.number).where(assessors.c.origin == "invite").order_by("number")

    def find(connection: sa.Connection) -> list[tuple[str, str]]:
        return [(label or "", invite_path(served, number)) for label, number in connection.execute(query)]

    return store.read(find).result()


def invite_path(served: Served, assessor: int) -> str:
    """The path of an assessor's own link: the number and 160 bits or more that only the secret can make."""
    return f"/i/{signed(served.secret, 'invite', str(assessor))}"


def by_invite(served: Served, token: str) -> int | None:
    """The assessor whose link this is."""
    return numbered(served.secret, "invite", token)


def owner_path(served: Served) -> str:
    """The path of the owner's page."""
    return f"/owner/{signed(served.secret, 'owner', 'owner')}"


def is_owner(served: Served, token: str) -> bool:
    return opened(served.secret, "owner", token) == "owner"


def platform_ids(served: Served, given: Mapping[str, str]) -> tuple[str, str | None, str | None] | None:
    """The platform's ids of person, session and study in an address; None where the person's is missing or odd."""
    names = served.study.platform
    person, session, study = (given.get(name, "").strip() for name in (names.assessor, names.session, names.study))
    if (
        not person
        or max(map(len, (person, session, study))) > LONGEST_ID
        or not (person + session + study).isprintable()
    ):
        return None
    return person, session or None, study or None


def arrive(store: Store, served: Served, ids: tuple[str, str | None, str | None]) -> int:
    """The assessor whom the platform sent: the one known by this id, or a new one."""
    job = _arriving(served, ids)
    try:
        return store.write(job).result()
    except IntegrityError:  # the same person arrived twice at the same moment; now they are known
        return store.write(job).result()


def _arriving(served: Served, ids: tuple[str, str | None, str | None]) -> Job[int]:
    person, session, study = ids
    platform = served.study.platform.kind

    def job(connection: sa.Connection) -> int:
        now = served.clock()
        key = (identities.c.platform == platform, identities.c.outside == person)
        known = connection.execute(sa.select(identities.c.assessor).where(*key)).scalar()
        if known is None:
            known = new_assessor(connection, platform, now)
            row = {"platform": platform, "outside": person, "assessor": known}
            connection.execute(sa.insert(identities).values(**row, session=session, study=study, arrived=now))
        else:
            connection.execute(sa.update(identities).where(*key).values(session=session, study=study, arrived=now))
        connection.execute(sa.insert(events).values(at=now, kind="arrived", assessor=known, data={}))
        return int(known)

    return job
