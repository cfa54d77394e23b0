"""Accounts of owners and reviewers: only an owner can create one; it is activated by a one-time link."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from judgewell.errors import InputError
from judgewell.server.owner.access import LINK, ROLES, SCOPES, Role, find_key, hashed, make_key, new_secret
from judgewell.server.store.schema import accounts, keys

SHORTEST, LONGEST = 12, 200  # characters of a password
LONGEST_NAME = 80
HASHER = PasswordHasher()
# Hashing takes tens of milliseconds and 64 MB on purpose: off the event loop, and never many at once.
HASHING = ThreadPoolExecutor(2, "hash")


@dataclass(frozen=True)
class AccountRow:
    """An account as its owner sees it."""

    name: str
    role: Role
    open: bool  # a password is set
    disabled: bool
    created: float
    seen: float | None


@dataclass(frozen=True)
class KeyRow:
    """A session, token or link that still lets somebody in."""

    number: int
    account: str
    kind: str
    label: str | None
    scopes: tuple[str, ...]
    created: float
    seen: float | None
    expires: float


def check_name(name: str) -> str:
    """A name that can be shown and typed; an error where it cannot."""
    name = unicodedata.normalize("NFKC", name).strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InputError(f"{name[:LONGEST_NAME]!r} is not a name", cure=f"use 1 to {LONGEST_NAME} letters")
    return name


def check_password(password: str, name: str) -> str:
    """A password that is long enough; the length is what makes it hard to guess."""
    password = unicodedata.normalize("NFKC", password)
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(f"a password has {SHORTEST} to {LONGEST} characters", cure="four or five words do well")
    if password.casefold() == name.casefold() or len(set(password)) < 4:
        raise InputError("this password is easily guessed", cure="four or five words do well")
    return password


def hash_password(password: str) -> str:
    """What is stored of a password: argon2id with a salt of its own."""
    return HASHER.hash(password)


@lru_cache(1)
def _nobody() -> str:
    """The hash that a name nobody has is checked against, so that it takes as long as a real one."""
    return HASHER.hash(new_secret())


def verify(stored: str | None, password: str) -> bool:
    """Whether the password is the stored one; takes the same time where nothing is stored."""
    password = unicodedata.normalize("NFKC", password[: LONGEST + 1])
    try:
        return HASHER.verify(stored or _nobody(), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def outdated(stored: str) -> bool:
    """Whether a hash was made with other parameters than are used now."""
    return HASHER.check_needs_rehash(stored)


def add_account(connection: sa.Connection, now: float, name: str, role: str) -> int:
    """A new account without a password; a link opens it."""
    name = check_name(name)
    if role not in ROLES:
        raise InputError(f"{role!r} is not a role", cure=f"use one of {', '.join(ROLES)}")
    if connection.execute(sa.select(accounts.c.number).where(named(name))).scalar() is not None:
        raise InputError(f"there is an account {name!r} already", cure="choose another name")
    made = sa.insert(accounts).values(name=name, role=role, created=now).returning(accounts.c.number)
    return int(connection.execute(made).scalar_one())


def named(name: str) -> sa.ColumnElement[bool]:
    """Whether an account has this name; capitals do not matter."""
    return sa.func.lower(accounts.c.name) == name.strip().lower()


def find_account(connection: sa.Connection, name: str) -> int:
    """The number of an account by its name."""
    number = connection.execute(sa.select(accounts.c.number).where(named(name))).scalar()
    if number is None:
        raise InputError(f"there is no account {name!r}", cure="see judgewell account STUDY list")
    return int(number)


def new_link(connection: sa.Connection, now: float, name: str) -> str:
    """The path of a new one-time link with which an account's holder sets a password; older links end."""
    account = find_account(connection, name)
    _revoke(connection, now, keys.c.account == account, keys.c.kind == "link")
    return f"/owner/link/{make_key(connection, account, 'link', now, LINK)}"


def first_link(connection: sa.Connection, now: float, *, make: bool = True) -> str | None:
    """A link with which a study's first owner comes in; None where an owner has a password or a link still works.

    Without `make` only the account is made.
    """
    owners = sa.select(accounts.c.number, accounts.c.name).where(accounts.c.role == "owner")
    if connection.execute(owners.where(accounts.c.password.is_not(None))).first() is not None:
        return None
    first = connection.execute(owners.order_by(accounts.c.number)).first()
    if first is None:
        name = _free_name(connection)
        add_account(connection, now, name, "owner")
        return new_link(connection, now, name) if make else None
    works = (keys.c.account == first.number, keys.c.kind == "link", keys.c.revoked.is_(None), keys.c.expires > now)
    has_one = connection.execute(sa.select(keys.c.number).where(*works)).first() is not None
    return new_link(connection, now, first.name) if make and not has_one else None


def _free_name(connection: sa.Connection) -> str:
    """A name for the first owner: a reviewer may be called owner already."""
    names = itertools.chain(["owner"], (f"owner {number}" for number in itertools.count(2)))
    return next(name for name in names if connection.execute(sa.select(accounts).where(named(name))).first() is None)


def owner_without_password(connection: sa.Connection) -> str | None:
    """The name of the owner who still has to set a password; None where one is set."""
    owners = sa.select(accounts.c.name).where(accounts.c.role == "owner").order_by(accounts.c.number)
    if connection.execute(owners.where(accounts.c.password.is_not(None))).first() is not None:
        return None
    return connection.execute(owners).scalar()


def open_account(connection: sa.Connection, now: float, link: str, name: str, password_hash: str) -> int | None:
    """Use a one-time link: set name and password; every other key of the account ends. None where it is used up."""
    used = (
        sa.update(keys)
        .where(keys.c.hash == hashed(link), keys.c.kind == "link", keys.c.revoked.is_(None), keys.c.expires > now)
        .values(revoked=now)
        .returning(keys.c.account)
    )
    account = connection.execute(used).scalar()
    if account is None:
        return None
    taken = sa.select(accounts.c.number).where(named(name), accounts.c.number != account)
    if connection.execute(taken).first() is not None:
        raise InputError(f"there is an account {name!r} already", cure="choose another name")
    values = {"name": check_name(name), "password": password_hash}
    connection.execute(sa.update(accounts).where(accounts.c.number == account).values(values))
    _revoke(connection, now, keys.c.account == account)
    return int(account)


def link_holder(connection: sa.Connection, now: float, link: str) -> str | None:
    """The name of the account that a link opens, or None."""
    holder = find_key(connection, link, "link", now)
    return holder.name if holder else None


def new_token(connection: sa.Connection, now: float, name: str, scopes: Iterable[str], days: float, label: str) -> str:
    """A token for the API, shown once."""
    chosen = tuple(dict.fromkeys(scopes))
    strange = [scope for scope in chosen if scope not in SCOPES]
    if strange or not chosen:
        raise InputError(f"{', '.join(strange) or 'nothing'} is not a scope", cure=f"use {' or '.join(SCOPES)}")
    account = find_account(connection, name)
    role = connection.execute(sa.select(accounts.c.role).where(accounts.c.number == account)).scalar()
    if role != "owner":
        raise InputError(f"{name!r} is a {role}, and tokens are for owners", cure="name an owner")
    return make_key(connection, account, "token", now, days * 86400, label or None, chosen)


def _revoke(connection: sa.Connection, now: float, *where: sa.ColumnElement[bool]) -> int:
    return connection.execute(sa.update(keys).where(keys.c.revoked.is_(None), *where).values(revoked=now)).rowcount


def revoke_all(connection: sa.Connection, now: float, name: str) -> int:
    """End all keys of an account; how many."""
    return _revoke(connection, now, keys.c.account == find_account(connection, name), keys.c.expires > now)


def revoke_key(connection: sa.Connection, now: float, key: int) -> str:
    """End one key; the name of its account."""
    if not _revoke(connection, now, keys.c.number == key):
        raise InputError(f"there is no key {key} that is still valid", cure="see judgewell account STUDY sessions")
    query = sa.select(accounts.c.name).join(keys, keys.c.account == accounts.c.number).where(keys.c.number == key)
    return str(connection.execute(query).scalar_one())


def disable(connection: sa.Connection, now: float, name: str) -> int:
    """Let an account in no longer; the last owner stays."""
    account = find_account(connection, name)
    others = sa.select(accounts.c.number).where(
        accounts.c.role == "owner", accounts.c.disabled.is_(None), accounts.c.number != account
    )
    if connection.execute(others).first() is None:
        raise InputError(f"{name!r} is the only owner", cure="add another one first")
    connection.execute(sa.update(accounts).where(accounts.c.number == account).values(disabled=now))
    return _revoke(connection, now, keys.c.account == account)


def enable(connection: sa.Connection, now: float, name: str) -> int:
    """Let a disabled account in again; its old keys stay ended."""
    account = find_account(connection, name)
    connection.execute(sa.update(accounts).where(accounts.c.number == account).values(disabled=None))
    return 0


def list_accounts(connection: sa.Connection) -> list[AccountRow]:
    """All accounts."""
    query = (
        sa.select(accounts, sa.func.max(keys.c.seen).label("seen"))
        .join_from(accounts, keys, sa.and_(keys.c.account == accounts.c.number, keys.c.kind != "link"), isouter=True)
        .group_by(*accounts.c)
        .order_by(accounts.c.number)
    )
    return [
        AccountRow(
            row.name, cast(Role, row.role), row.password is not None, row.disabled is not None, row.created, row.seen
        )
        for row in connection.execute(query)
    ]


def list_keys(connection: sa.Connection, now: float) -> list[KeyRow]:
    """The sessions, tokens and links that still open something."""
    columns = (keys.c.kind, keys.c.label, keys.c.scopes, keys.c.created, keys.c.seen, keys.c.expires)
    query = (
        sa.select(keys.c.number, accounts.c.name, *columns)
        .join_from(keys, accounts, accounts.c.number == keys.c.account)
        .where(keys.c.revoked.is_(None), keys.c.expires > now)
        .order_by(keys.c.number)
    )
    return [KeyRow(*row[:4], tuple(row[4]), *row[5:]) for row in connection.execute(query)]
