"""Where the owner's forms are sent: one address for all actions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from judgewell.errors import InputError
from judgewell.server.limits import LARGEST_BODY, read_form
from judgewell.server.owner.access import Account, check_guard, guard, local, require
from judgewell.server.owner.actions import ACTIONS, Action, Result, perform, read_fields
from judgewell.server.owner.pages import details, respond
from judgewell.server.process import Server, address_of, cookie_rules
from judgewell.server.session.answers import Form, first
from judgewell.server.tokens import opened, signed
from judgewell.server.web import Refusal
from judgewell.text import agrees, counted

OWN = ("action", "guard", "next")  # fields of the form that are not the action's
MOST_DOCUMENTS = 2100
MESSAGE_SECONDS = 15


def router(server: Server) -> APIRouter:
    """Where the owner acts."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/owner/act")
    async def act(request: Request) -> Response:
        """Do one action and go back; the next page shows the result."""
        account = await require(server, request)
        form = await read_form(request, LARGEST_BODY, MOST_DOCUMENTS)
        check_guard(server, account, form)
        action = ACTIONS.get(first(form, "action"))
        if action is None:
            raise Refusal(404, "link")
        try:
            fields = read_fields(action, _given(action, form))
            address = address_of(request)
            result = await asyncio.to_thread(perform, server.store, server.served, action, fields, account, address)
            message = outcome(action, result)
        except InputError as error:
            message = f"Not done: {error}"
        return telling(server, request, local(first(form, "next")), message)

    return routes


def telling(server: Server, request: Request, where: str, message: str) -> Response:
    """Go to a page that shows the message, once."""
    response = RedirectResponse(where, 303)
    text = quote(signed(server.served.secret, "message", message[:800]))
    response.set_cookie(_cookie(server), text, max_age=MESSAGE_SECONDS, **cookie_rules(request))
    return response


def _given(action: Action, form: Form) -> dict[str, Any]:
    """The action's fields in the form; a field of which there may be several is a list."""
    given: dict[str, Any] = {}
    for name, values in form.items():
        if name not in OWN:
            given[name] = list(values) if name == "docs" else values[0]
    return given


def outcome(action: Action, result: Result) -> str:
    """A sentence about what was done, and what is still to do."""
    sentence = OUTCOMES[action.name](result)
    later = result.get("still in the log")
    return f"{sentence} Not deleted from the database's own log: {later}." if later else sentence


def _whole_or_topic(name: str) -> str:
    return "The study" if name == "the study" else f"Topic {name}"


def _units(number: int) -> str:
    return f"{counted(number, 'unit')} {agrees(number, 'is', 'are')}"


def _more_asked(result: Result) -> str:
    made = [("units raised", result["raised"]), ("extra units", result["extra"])]
    listed = "; ".join(f"{what}: {', '.join(names)}" for what, names in made if names)
    return f"More judgments of {counted(result['docs'], 'document')} are asked for ({listed})."


def _forgotten(result: Result) -> str:
    kept = counted(result["answers"], "answer")
    parts = [f"The personal data of one assessor is deleted. Kept under a new pseudonym: {kept}."]
    parts.append("Exports and backups made before still hold the old pseudonym.")
    if "bonus" in result:
        parts.append(
            f"A bonus of {result['bonus']} was due. Pay it by hand: judgewell bonus needs the id, which is deleted."
        )
    way = "If you invite this person again" if result["invited"] else "If the platform sends this person again"
    parts.append(f"{way}, they join as a new assessor and may get documents that they have judged before.")
    return " ".join(parts)


OUTCOMES: dict[str, Callable[[Result], str]] = {
    "pause": lambda result: f"{_whole_or_topic(result['paused'])} is paused: no new units are handed out.",
    "resume": lambda result: f"{_whole_or_topic(result['resumed'])} is resumed: units are handed out again.",
    "release": lambda result: f"{_units(result['released'])} released; someone else can take over.",
    "extend": lambda result: f"{_units(result['extended'])} held until {details(result['until'])}.",
    "exclude": lambda result: f"Work is excluded: {counted(result['units'], 'unit')}.",
    "include": lambda result: f"Work is included again: {counted(result['units'], 'unit')}.",
    "more": _more_asked,
    "forget": _forgotten,
    "revoke": lambda result: f"Sessions, tokens and links that ended: {result['keys']}.",
    "revoke-key": lambda result: f"One session, token or link of {result['account']} ended.",
    "disable": lambda _: "The account is disabled.",
    "enable": lambda _: "The account is enabled.",
}


def show(server: Server, request: Request, account: Account, name: str, values: dict[str, Any]) -> Response:
    """A page of the dashboard. It shows what came of the last action once; a fragment does not."""
    message = opened(server.served.secret, "message", unquote(request.cookies.get(_cookie(server), "")))
    known = {"study": server.served.title, "account": account, "guard": guard(server, account), "message": message}
    response = respond(request, name, values | known)
    if message and "x-fragment" not in request.headers:
        response.delete_cookie(_cookie(server), **cookie_rules(request))
    return response


def _cookie(server: Server) -> str:
    return f"{server.cookie}-message"
