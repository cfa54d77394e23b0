"""The reviewers' addresses: one unit's comments after another."""

from __future__ import annotations

import sqlalchemy as sa
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from judgewell.errors import InputError
from judgewell.server.limits import read_form
from judgewell.server.owner.access import Account, asked_from, check_guard, guard, record, require
from judgewell.server.owner.plain_pages import sheet
from judgewell.server.owner.review import Reading, ReviewProgress, give_review, next_reading, review_progress, rule
from judgewell.server.process import Server, done
from judgewell.server.session.answers import first
from judgewell.server.web import Refusal

REVIEW = "/owner/review"


def router(server: Server) -> APIRouter:
    """Where reviewers read."""
    routes = APIRouter(include_in_schema=False)
    served, store = server.served, server.store

    async def show(account: Account, problem: str = "", reason: str = "") -> Response:
        now = served.clock()

        def job(connection: sa.Connection) -> tuple[Reading | None, ReviewProgress | None]:
            return next_reading(connection, served, account, now), review_progress(connection, served, account)

        reading, progress = await done(store.write(job))
        values = {"reading": reading, "progress": progress, "account": account, "guard": guard(server, account)}
        status = 422 if problem else 200
        return sheet(server, "review/review.html", status, **values, rule=rule(served), problem=problem, reason=reason)

    @routes.get(REVIEW)
    async def read(request: Request) -> Response:
        return await show(await require(server, request, "reviewer"))

    @routes.post(REVIEW)
    async def review(request: Request) -> Response:
        account = await require(server, request, "reviewer")
        form = await read_form(request)
        check_guard(server, account, form)
        number, decision, reason = first(form, "review"), first(form, "verdict"), first(form, "reason")
        if not (number.isascii() and number.isdigit() and len(number) < 12):
            raise Refusal(404, "link")
        if decision not in ("accept", "object"):
            return await show(account, "Please accept or object.", reason)
        now, address = served.clock(), asked_from(request)

        def job(connection: sa.Connection) -> None:
            reservation = give_review(connection, served, account, now, int(number), decision == "object", reason)
            if reservation is not None:
                record(
                    connection,
                    now,
                    account,
                    "review",
                    f"reservation {reservation}",
                    {"objects": decision == "object"},
                    address,
                )

        try:
            await done(store.write(job))
        except InputError as error:
            return await show(account, str(error), reason)
        return RedirectResponse(REVIEW, 303)

    return routes
