"""The reviewers' addresses: one unit's comments after another."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from judgewell.errors import InputError
from judgewell.server.limits import read_form
from judgewell.server.owner.access import Account, check_guard, guard, record, require
from judgewell.server.owner.pages import sheet, whole_number
from judgewell.server.owner.review import Reading, ReviewProgress, give_review, next_reading, review_progress
from judgewell.server.process import Server, address_of, done
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
        values: dict[str, Any] = {
            "reading": reading,
            "progress": progress,
            "account": account,
            "guard": guard(server, account),
        }
        values |= {"rule": served.study.checks.review, "problem": problem, "reason": reason}
        return sheet(server, "review/review.html", 422 if problem else 200, **values)

    @routes.get(REVIEW)
    async def read(request: Request) -> Response:
        return await show(await require(server, request, "reviewer"))

    @routes.post(REVIEW)
    async def review(request: Request) -> Response:
        account = await require(server, request, "reviewer")
        form = await read_form(request)
        check_guard(server, account, form)
        number, decision, reason = whole_number(first(form, "review")), first(form, "verdict"), first(form, "reason")
        if number is None:
            raise Refusal(404, "link")
        if decision not in ("accept", "object"):
            return await show(account, "Please accept or object.", reason)
        now, address = served.clock(), address_of(request)

        def job(connection: sa.Connection) -> None:
            objects = decision == "object"
            reservation = give_review(connection, served, account, now, number, objects, reason)
            if reservation is not None:
                target = f"reservation {reservation}"
                record(connection, now, account, "review", target, {"objects": objects}, address)

        try:
            await done(store.write(job))
        except InputError as error:
            return await show(account, str(error), reason)
        return RedirectResponse(REVIEW, 303)

    return routes
