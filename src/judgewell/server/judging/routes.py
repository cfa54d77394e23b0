"""The assessor's addresses: the page they are on, one step, and the sign of life of an open page."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from judgewell.server.limits import read_form
from judgewell.server.process import Server, done
from judgewell.server.session import pages
from judgewell.server.session.answers import Form, first
from judgewell.server.session.assignment import come, expire, some_to_expire
from judgewell.server.session.served import Served
from judgewell.server.session.state import load
from judgewell.server.session.steps import Taken, page_of, take
from judgewell.server.store.transactions import Store
from judgewell.server.tokens import read_step
from judgewell.server.web import Refusal


def routes(server: Server) -> list[Route]:
    """Where assessors work."""
    store, served, html = server.store, server.served, server.html

    async def front(request: Request) -> Response:
        server.assessor(request)
        return RedirectResponse("/work", 303)

    async def work(request: Request) -> Response:
        """The page the assessor is on."""
        assessor = server.assessor(request)
        page = await done(store.read(lambda connection: current_page(connection, served, assessor)))
        if page is None:
            raise Refusal(403, "link")
        return html.response(page, request)

    async def step(request: Request) -> Response:
        """One step."""
        assessor = server.assessor(request)
        form = await read_form(request)
        taken = await _take(store, served, assessor, _turn(served, assessor, form), form)
        if taken is None:
            raise Refusal(403, "link")
        if taken.outcome == "not taken":
            return html.response(taken.page, request, 422)
        return html.response(taken.page, request) if "x-fragment" in request.headers else RedirectResponse("/work", 303)

    async def alive(request: Request) -> JSONResponse:
        """The open page reports itself."""
        assessor = server.assessor(request)
        turn = _turn(served, assessor, await read_form(request))
        sign = store.write(lambda connection: sign_of_life(connection, served, assessor, turn), assessor)
        return JSONResponse(await done(sign))

    return [
        Route("/work", step, methods=["POST"]),
        Route("/work", work, methods=["GET"]),
        Route("/work/alive", alive, methods=["POST"]),
        Route("/", front, methods=["GET"]),
    ]


def _turn(served: Served, assessor: int, form: Form) -> int:
    """The turn a request was made for; a forged one, or another assessor's, is refused."""
    turn = read_step(served.secret, assessor, first(form, "step"))
    if turn is None:
        raise Refusal(403, "link")
    return turn


async def _take(store: Store, served: Served, assessor: int, turn: int, form: Form) -> Taken | None:
    """Take a step. Where no unit is free the overdue ones are freed, and it is tried once more."""
    taken = await done(store.write(lambda connection: take(connection, served, assessor, turn, form), assessor))
    if taken is None or taken.outcome != "waiting":
        return taken
    now, silence = served.clock(), served.silence
    if not await done(store.read(lambda connection: some_to_expire(connection, now, silence))):
        return taken
    await done(store.write(lambda connection: expire(connection, now, silence)))
    return await done(store.write(lambda connection: take(connection, served, assessor, turn + 1, {})))


def current_page(connection: sa.Connection, served: Served, assessor: int) -> pages.Page | None:
    state = load(connection, served, assessor)
    return None if state is None else page_of(connection, served, state)


def sign_of_life(connection: sa.Connection, served: Served, assessor: int, turn: int) -> dict[str, Any]:
    """What an open page learns."""
    state = come(connection, served, assessor, served.clock(), stepped=False)
    alive = state is not None and state.holding is not None and state.holding.state == "live"
    current = state is not None and state.turn == turn
    return {"alive": alive, "current": current, "seconds": served.silence if alive else 0}
