"""Inviting people from the browser: new links, and all that are open, as a list to download."""

from __future__ import annotations

import asyncio

import polars as pl
from fastapi import APIRouter, Request
from starlette.responses import Response

from judgewell.errors import InputError
from judgewell.server.judging.invitations import invite, invite_more, invited, refuse_rehearsal
from judgewell.server.limits import LARGEST_BODY, read_form
from judgewell.server.owner.access import check_guard, record_request, require
from judgewell.server.owner.action_routes import telling
from judgewell.server.process import Server
from judgewell.server.queries.export import defused
from judgewell.server.session.answers import first
from judgewell.study.platform import Platform
from judgewell.text import counted

PAGE = "/owner/invitations"
MOST = 1000  # links at once
LONGEST = 200  # letters of a name
PROLIFIC_IDS = {"assessor": "{{%PROLIFIC_PID%}}", "study": "{{%STUDY_ID%}}", "session": "{{%SESSION_ID%}}"}
PANEL_IDS = {"assessor": "PERSON", "study": "STUDY", "session": "SUBMISSION"}  # each panel has words of its own


def router(server: Server) -> APIRouter:
    """Where the owner invites people."""
    routes = APIRouter(include_in_schema=False)

    @routes.post(PAGE)
    async def invite_people(request: Request) -> Response:
        """Make a link for each name, and so many more without names."""
        account = await require(server, request)
        form = await read_form(request, LARGEST_BODY)
        check_guard(server, account, form)
        try:
            made = await asyncio.to_thread(_made, server, *wanted(first(form, "names"), first(form, "count")))
            message = f"Done: {counted(made, 'new link')}"
            await record_request(server, request, account, "invite", count=made)
        except InputError as error:
            message = f"Not done: {error}"
        return telling(server, request, PAGE, message)

    @routes.get(f"{PAGE}.csv")
    async def links(request: Request) -> Response:
        """All open links, to be sent to people."""
        account = await require(server, request)
        rows = await asyncio.to_thread(invited, server.store, server.served)
        await record_request(server, request, account, "links listed", count=len(rows))
        base = base_address(request)
        table = pl.DataFrame({"label": [one.label for one in rows], "link": [base + one.path for one in rows]})
        name = f"{server.served.study.study.name}-links.csv"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(defused(table).write_csv(), media_type="text/csv; charset=utf-8", headers=headers)

    return routes


def base_address(request: Request) -> str:
    """The server's address as the owner's browser knows it."""
    return f"{request.url.scheme}://{request.url.netloc}"


def join_address(base: str, platform: Platform) -> str:
    """The address for the platform, with the parameters that carry its ids."""
    ids = PROLIFIC_IDS if platform.kind == "prolific" else PANEL_IDS
    return f"{base}/join?{'&'.join(f'{getattr(platform, name)}={value}' for name, value in ids.items())}"


def wanted(names: str, count: str) -> tuple[list[str], int]:
    """The names, one on each line, and how many links without a name; what is wrong with them is one line."""
    labels = list(dict.fromkeys(line.strip() for line in names.splitlines() if line.strip()))
    number = count.strip() or "0"
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise InputError(f"{count!r} is not a number of links", cure=f"use digits, up to {MOST}")
    if not 0 < len(labels) + int(number) <= MOST:
        raise InputError(f"{len(labels) + int(number)} links were asked for", cure=f"ask for 1 to {MOST}")
    long = next((label for label in labels if len(label) > LONGEST or not label.isprintable()), None)
    if long is not None:
        raise InputError(f"{long[:30]!r} is not a name", cure=f"use up to {LONGEST} printable letters")
    return labels, int(number)


def _made(server: Server, labels: list[str], count: int) -> int:
    refuse_rehearsal(server.store)
    links = invite(server.store, server.served, labels) if labels else []
    links += invite_more(server.store, server.served, count) if count else []
    return sum(link.new for link in links)
