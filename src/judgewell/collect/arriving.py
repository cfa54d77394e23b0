"""How assessors come in: by their own invite link, or sent by a platform."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from starlette.responses import Response

from judgewell.collect import people
from judgewell.collect.server import Server
from judgewell.collect.web import Refusal


def router(server: Server) -> APIRouter:
    """The doors."""
    routes = APIRouter(include_in_schema=False)
    store, served = server.store, server.served

    @routes.get("/i/{token}")
    async def by_invite(request: Request, token: str) -> Response:
        assessor = people.by_invite(served, token)
        if assessor is None:
            server.slow_down(request)
            raise Refusal(404, "link")
        return server.enter(request, assessor)

    @routes.get("/join")
    async def join(request: Request) -> Response:
        server.slow_down(request)
        ids = None if served.study.platform.kind == "invite" else people.platform_ids(served, request.query_params)
        if ids is None:
            raise Refusal(404, "link")
        return server.enter(request, await asyncio.to_thread(people.arrive, store, served, ids))

    return routes
