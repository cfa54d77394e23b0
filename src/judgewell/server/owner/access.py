"""Who may come in: accounts of owners and reviewers, and the keys that let them in.

A key is a random secret of which only a hash is stored: a browser's session, a token of the API, or the one-time link
that sets a password. Every request looks its key up, so that what is revoked opens nothing from that moment on, in all
server processes.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import Response

from judgewell.server.process import Server, address_of, cookie_rules, done
from judgewell.server.session.answers import Form, first
from judgewell.server.store.schema import accounts, audit, keys
from judgewell.server.tokens import opened, signed
from judgewell.server.web import Refusal

Role = Literal["owner", "reviewer"]
ROLES: tuple[Role, ...] = ("reviewer", "owner")  # each may do what those before may
SCOPES = ("read", "write")

IDLE = 12 * 3600.0  # seconds without a request after which a session ends
SESSION = 14 * 86400.0  # seconds after which it ends in any case
LINK = 3 * 86400.0  # seconds in which a one-time link must be used
SEEN_EVERY = 60.0  # seconds between two notes that a key is in use
SIGN_IN = "/owner/sign-in"
HOME = "/owner"


@dataclass(frozen=True)
class Account:
    """Somebody who came in: who, as what, and with which key."""

    number: int
    name: str
    role: Role
    key: int
    scopes: tuple[str, ...] = ()
    seen: float = 0.0  # when the key was used last


def new_secret() -> str:
    """A secret that cannot be guessed: 256 bits."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """What is stored of a secret. It is random, so that a plain hash cannot be turned back."""
    return hashlib.sha256(secret.encode()).hexdigest()


def make_key(
    connection: sa.Connection,
    account: int,
    kind: Literal["session", "token", "link"],
    now: float,
    seconds: float,
    label: str | None = None,
    scopes: tuple[str, ...] = (),
) -> str:
    """A new key for an account: the secret, which nobody can read again."""
    secret = f"jw_{new_secret()}" if kind == "token" else new_secret()
    row = {"hash": hashed(secret), "account": account, "kind": kind, "label": label, "scopes": list(scopes)}
    connection.execute(sa.insert(keys).values(**row, created=now, seen=now, expires=now + seconds))
    return secret


def find_key(connection: sa.Connection, secret: str, kind: str, now: float) -> Account | None:
    """The account that a key lets in; None where it lets nobody in (any more)."""
    query = (
        sa.select(accounts, keys.c.number.label("key"), keys.c.scopes, keys.c.seen)
        .join_from(keys, accounts, accounts.c.number == keys.c.account)
        .where(
            keys.c.hash == hashed(secret),
            keys.c.kind == kind,
            keys.c.revoked.is_(None),
            keys.c.expires > now,
            accounts.c.disabled.is_(None),
        )
    )
    row = connection.execute(query).one_or_none()
    if row is None or (kind == "session" and row.seen <= now - IDLE):
        return None
    return Account(row.number, row.name, row.role, row.key, tuple(row.scopes), row.seen)


async def require(server: Server, request: Request, role: Role = "owner") -> Account:
    """The account whose session this is; others go to the sign-in page, and the wrong role is refused."""
    account = await _known(server, request.cookies.get(session_cookie(server, request), ""), "session")
    if account is None:
        server.slow_down(request)
        if request.headers.get("sec-fetch-mode", "navigate") != "navigate":
            raise Refusal(401, "link")
        where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        then = f"?next={quote(where, safe='')}" if request.method == "GET" else ""
        raise Refusal(303, "link", {"location": SIGN_IN + then})
    server.limit(f"key {account.key}")
    if ROLES.index(account.role) < ROLES.index(role):
        if request.url.path == HOME:  # where everybody arrives who signed in
            raise Refusal(303, "link", {"location": f"{HOME}/review"})
        raise Refusal(403, "link")
    return account


async def bearer(server: Server, request: Request, scope: str) -> Account:
    """The account whose API token this is, if the token has the scope."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    account = await _known(server, secret.strip(), "token") if kind.lower() == "bearer" else None
    if account is None:
        server.slow_down(request)
        raise Refusal(401, "link", {"www-authenticate": "Bearer"})
    server.limit(f"key {account.key}")
    if scope not in account.scopes:
        raise Refusal(403, "link", {"www-authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'})
    return account


async def _known(server: Server, secret: str, kind: str) -> Account | None:
    if not secret:
        return None
    now = server.served.clock()
    account = await done(server.store.read(lambda connection: find_key(connection, secret, kind, now)))
    if account is not None and now - account.seen > SEEN_EVERY:
        note = sa.update(keys).where(keys.c.number == account.key, keys.c.seen < now).values(seen=now)
        server.store.write(lambda connection: connection.execute(note).rowcount)
    return account


def session_cookie(server: Server, request: Request) -> str:
    """The name of the session's cookie; under HTTPS browsers hold it to this host and to secure requests."""
    plain = f"{server.cookie}-owner"
    return f"__Host-{plain}" if request.url.scheme == "https" else plain


def give_session(server: Server, request: Request, response: Response, secret: str) -> Response:
    """Let a browser keep a session's secret."""
    response.set_cookie(session_cookie(server, request), secret, max_age=int(SESSION), **cookie_rules(request))
    return response


def end_session(server: Server, request: Request, response: Response) -> Response:
    """Let a browser forget its session's secret."""
    response.delete_cookie(session_cookie(server, request), **cookie_rules(request))
    return response


def guard(server: Server, account: Account) -> str:
    """What every form of a session carries in its field `guard`, so that no other site can send it."""
    return signed(server.served.secret, "guard", str(account.key))


def check_guard(server: Server, account: Account, form: Form) -> None:
    """Refuse a form that was not made by us for this session."""
    if opened(server.served.secret, "guard", first(form, "guard")) != str(account.key):
        raise Refusal(403, "link")


def local(where: str) -> str:
    """A path of this server to go to next; anything else becomes the owner's first page."""
    parts = urlsplit(where)
    inside = where.startswith("/") and not where.startswith(("//", "/\\")) and where.isprintable() and "\\" not in where
    return where if inside and not parts.scheme and not parts.netloc else HOME


def record(
    connection: sa.Connection,
    now: float,
    account: Account | None,
    action: str,
    target: str | None = None,
    data: Mapping[str, Any] | None = None,
    address: str | None = None,
) -> int:
    """One line of the audit log, in the transaction of what it tells of. Without an account: the command line."""
    row = {"at": now, "account": account.number if account else None, "action": action, "target": target}
    made = sa.insert(audit).values(**row, data=dict(data or {}), address=address).returning(audit.c.number)
    return int(connection.execute(made).scalar_one())


async def record_request(
    server: Server, request: Request, account: Account, action: str, target: str | None = None, **data: Any
) -> None:
    """One line of the audit log about a request, in a transaction of its own."""
    now, address = server.served.clock(), address_of(request)
    await done(server.store.write(lambda connection: record(connection, now, account, action, target, data, address)))


@dataclass(frozen=True)
class AuditEntry:
    """One line of the audit log as it is shown."""

    number: int
    at: float
    account: str | None  # none: the command line, or nobody who is known
    action: str
    target: str | None
    data: dict[str, Any]
    address: str | None

    @property
    def actor(self) -> str:
        """Who did it: an account by name, or in words where there is none."""
        if self.account or self.action.startswith("webhook"):
            return self.account or "server"
        return "not signed in" if self.address else "command line"


def audit_entries(connection: sa.Connection, limit: int = 100, before: int | None = None) -> list[AuditEntry]:
    """The newest lines of the audit log, or those before a line's number."""
    query = (
        sa.select(audit.c.number, audit.c.at, accounts.c.name, audit.c.action, audit.c.target)
        .add_columns(audit.c.data, audit.c.address)
        .join_from(audit, accounts, accounts.c.number == audit.c.account, isouter=True)
        .order_by(audit.c.number.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(audit.c.number < before)
    return [AuditEntry(*row) for row in connection.execute(query)]
