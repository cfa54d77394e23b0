"""The owner's pages: how the study goes."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from judgewell.collect import people
from judgewell.collect.server import Server, done
from judgewell.collect.status import status, status_text
from judgewell.collect.web import Refusal


def router(server: Server) -> APIRouter:
    """Where the owner looks."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/owner/{token}")
    async def owner(request: Request, token: str) -> Response:
        """How far the study is."""
        if not people.is_owner(server.served, token):
            server.slow_down(request)
            raise Refusal(404, "link")
        now = server.served.clock()
        return PlainTextResponse(status_text(await done(server.store.read(lambda connection: status(connection, now)))))

    return routes
