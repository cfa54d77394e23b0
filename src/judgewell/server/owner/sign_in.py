"""Signing in and out, and the one-time link that sets a password.

Guessing is slowed by the audit log itself: every attempt is written down as refused before the password is looked at,
and becomes a sign-in only once it was right. So attempts that run side by side, or at other server processes, count
each other.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TypeVar
from urllib.parse import urlsplit

import sqlalchemy as sa
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from judgewell.errors import InputError
from judgewell.server.limits import read_form
from judgewell.server.owner.access import (
    HOME,
    SESSION,
    SIGN_IN,
    check_guard,
    end_session,
    find_key,
    give_session,
    local,
    make_key,
    record,
    require,
    session_cookie,
)
from judgewell.server.owner.accounts import (
    HASHING,
    SHORTEST,
    check_name,
    check_password,
    hash_password,
    link_holder,
    named,
    open_account,
    outdated,
    verify,
)
from judgewell.server.owner.pages import sheet
from judgewell.server.process import Server, address_of, cookie_rules, done
from judgewell.server.session.answers import first
from judgewell.server.store.schema import accounts, audit, keys
from judgewell.server.tokens import numbered, signed
from judgewell.server.web import Refusal
from judgewell.text import counted

T = TypeVar("T")

REFUSED, SIGNED_IN = "sign-in refused", "signed in"
WINDOW = 15 * 60.0  # seconds over which refused attempts are counted
MOST_FROM_ADDRESS = 20  # for any names, from one address
MOST_FOR_ACCOUNT = 10  # for one account, from one address
MOST_FOR_ACCOUNT_ANYWHERE = 100  # for one account, from all addresses together: browsers that signed in before excepted
KNOWN_DAYS = 365  # for which a browser that signed in is known
WRONG = "Name or password is not right."


@dataclass(frozen=True)
class Attempt:
    """An attempt to sign in, written down: its line in the log, and whose it would be."""

    entry: int
    account: int | None
    password: str | None


def attempt(connection: sa.Connection, now: float, name: str, address: str, known: int | None = None) -> Attempt | int:
    """Write an attempt down; the seconds to wait instead where there were too many.

    `known` is the account that this browser signed in to before: its owner is not locked out by guesses from elsewhere.
    """
    query = sa.select(accounts.c.number, accounts.c.name, accounts.c.password, accounts.c.disabled)
    row = connection.execute(query.where(named(name))).one_or_none()
    target = f"account {row.name}" if row else None
    wait = _wait(connection, now, target, address, row is not None and row.number == known)
    if wait:
        return wait
    entry = record(connection, now, None, REFUSED, target, {}, address)
    if row is None or row.disabled is not None:
        return Attempt(entry, None, None)
    return Attempt(entry, row.number, row.password)


def _wait(connection: sa.Connection, now: float, target: str | None, address: str, known: bool) -> int:
    """Seconds until the next attempt is allowed; 0 where it is now."""
    lately = (audit.c.action == REFUSED, audit.c.at > now - WINDOW)
    here, theirs = audit.c.address == address, audit.c.target == target
    limits: list[tuple[int, tuple[sa.ColumnElement[bool], ...]]] = [(MOST_FROM_ADDRESS, (here,))]
    if target is not None:
        limits.append((MOST_FOR_ACCOUNT, (here, theirs)))
    if target is not None and not known:
        limits.append((MOST_FOR_ACCOUNT_ANYWHERE, (theirs,)))
    waits = [0]
    for most, where in limits:
        query = sa.select(audit.c.at).where(*lately, *where).order_by(audit.c.at.desc()).offset(most - 1).limit(1)
        oldest = connection.execute(query).scalar()
        if oldest is not None:
            waits.append(ceil(oldest + WINDOW - now))
    return max(waits)


def admit(connection: sa.Connection, now: float, tried: Attempt, rehashed: str | None, old: str | None) -> str | None:
    """Begin a session after a right password; the old session of this browser ends. None where the account is gone."""
    if tried.account is None:
        return None
    values = {"action": SIGNED_IN, "account": tried.account}
    connection.execute(sa.update(audit).where(audit.c.number == tried.entry).values(values))
    if rehashed:
        mine = sa.update(accounts).where(accounts.c.number == tried.account, accounts.c.password == tried.password)
        connection.execute(mine.values(password=rehashed))
    session = find_key(connection, old, "session", now) if old else None
    if session is not None:
        connection.execute(sa.update(keys).where(keys.c.number == session.key).values(revoked=now))
    return make_key(connection, tried.account, "session", now, SESSION)


def router(server: Server) -> APIRouter:
    """The owner's and reviewers' door."""
    routes = APIRouter(include_in_schema=False)
    addresses = (
        (SIGN_IN, "GET", _ask),
        (SIGN_IN, "POST", _sign_in),
        ("/owner/sign-out", "POST", _sign_out),
        ("/owner/link/{secret}", "GET", _welcome),
        ("/owner/link/{secret}", "POST", _set_password),
    )
    for path, method, answer in addresses:
        routes.add_route(path, partial(answer, server), [method])
    return routes


def from_our_own_page(request: Request) -> bool:
    """Whether a form was sent from a page of this server, as the browser says and no page can change.

    `Sec-Fetch-Site` tells; browsers send it over HTTPS and to their own computer only. Else `Origin` tells, which
    browsers send with every form. Whatever sends neither is no browser, and has the API.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    return urlsplit(request.headers.get("origin", "")).netloc.lower() == request.headers.get("host", "?").lower()


async def _ask(server: Server, request: Request) -> Response:
    return _sign_in_page(server, then=request.query_params.get("next", HOME))


async def _sign_in(server: Server, request: Request) -> Response:
    server.slow_down(request)
    if not from_our_own_page(request):  # else another site could sign people in to an account of its own
        raise Refusal(403, "link")
    form = await read_form(request)
    name, then = first(form, "name")[:200], first(form, "next") or HOME
    address, now = address_of(request), server.served.clock()
    known = numbered(server.served.secret, "known", request.cookies.get(_known_cookie(server), ""))
    tried = await done(server.store.write(lambda connection: attempt(connection, now, name, address, known)))
    if isinstance(tried, int):
        problem = f"Too many attempts. Please try again in {counted(ceil(tried / 60), 'minute')}."
        response = _sign_in_page(server, 429, problem, name, then)
        response.headers["retry-after"] = str(tried)
        return response
    right, rehashed = await _hashing(_look, tried.password, first(form, "password"))
    if not right:
        return _sign_in_page(server, 403, WRONG, name, then)
    old = request.cookies.get(session_cookie(server, request))
    secret = await done(server.store.write(lambda connection: admit(connection, now, tried, rehashed, old)))
    if secret is None or tried.account is None:
        return _sign_in_page(server, 403, WRONG, name, then)
    return _remember(server, request, RedirectResponse(local(then), 303), tried.account, secret)


def _known_cookie(server: Server) -> str:
    return f"{server.cookie}-known"


def _remember(server: Server, request: Request, response: Response, account: int, secret: str) -> Response:
    """Give a browser its session, and a mark that it signed in to this account, which opens nothing by itself."""
    give_session(server, request, response, secret)
    mark = signed(server.served.secret, "known", str(account))
    rules = cookie_rules(request, SIGN_IN)
    response.set_cookie(_known_cookie(server), mark, max_age=KNOWN_DAYS * 86400, **rules)
    return response


async def _sign_out(server: Server, request: Request) -> Response:
    account = await require(server, request, "reviewer")
    check_guard(server, account, await read_form(request))
    now, address = server.served.clock(), address_of(request)

    def end(connection: sa.Connection) -> None:
        connection.execute(sa.update(keys).where(keys.c.number == account.key).values(revoked=now))
        record(connection, now, account, "signed out", None, {}, address)

    await done(server.store.write(end))
    return end_session(server, request, RedirectResponse(SIGN_IN, 303))


async def _welcome(server: Server, request: Request) -> Response:
    return _link_page(server, await _holder(server, request))


async def _set_password(server: Server, request: Request) -> Response:
    secret = request.path_params["secret"]
    held = await _holder(server, request)
    form = await read_form(request)
    name = first(form, "name") or held
    try:
        name, password = _chosen(name, first(form, "password"), first(form, "again"))
        stored = await _hashing(hash_password, password)
        now, address = server.served.clock(), address_of(request)
        opening = server.store.write(lambda connection: _open(connection, now, secret, name, stored, address))
        session = await done(opening)
    except InputError as error:
        return _link_page(server, name, str(error), 422)
    if session is None:
        raise Refusal(404, "link")
    account, key = session
    return _remember(server, request, RedirectResponse(HOME, 303), account, key)


def _chosen(name: str, password: str, again: str) -> tuple[str, str]:
    """A name and a password that may be used, or what is wrong with them."""
    name = check_name(name)
    password = check_password(password, name)
    if password != check_password(again, name):
        raise InputError("the two passwords differ", cure="type the same one twice")
    return name, password


def _open(
    connection: sa.Connection, now: float, secret: str, name: str, stored: str, address: str
) -> tuple[int, str] | None:
    """Set a link's password and begin a session; None where the link was used meanwhile."""
    account = open_account(connection, now, secret, name, stored)
    if account is None:
        return None
    record(connection, now, None, "password set", f"account {name}", {}, address)
    return account, make_key(connection, account, "session", now, SESSION)


def _sign_in_page(server: Server, status: int = 200, problem: str = "", name: str = "", then: str = HOME) -> Response:
    page = sheet(server, "access/sign_in.html", status, problem=problem, name=name, next=local(then))
    page.headers["referrer-policy"] = "same-origin"  # with no-referrer the form would say that its origin is null
    return page


def _link_page(server: Server, name: str, problem: str = "", status: int = 200) -> Response:
    return sheet(server, "access/link.html", status, name=name, problem=problem, shortest=SHORTEST)


async def _holder(server: Server, request: Request) -> str:
    """The name of the account that a link opens."""
    now, secret = server.served.clock(), request.path_params["secret"]
    name = await done(server.store.read(lambda connection: link_holder(connection, now, secret)))
    if name is None:
        server.slow_down(request)
        raise Refusal(404, "link")
    return name


def _look(stored: str | None, password: str) -> tuple[bool, str | None]:
    """Whether the password is right, and a new hash where the old one's parameters are out of date."""
    right = verify(stored, password)
    renewed = None
    if right and stored is not None and outdated(stored):
        with contextlib.suppress(InputError):  # a password that is too short by now still lets in
            renewed = hash_password(check_password(password, ""))
    return right, renewed


async def _hashing(work: Callable[..., T], *values: object) -> T:
    """The result of hashing, which runs beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(HASHING, work, *values)
