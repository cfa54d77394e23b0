"""How assessors come in: by their own invite link, or sent by a platform; and what the platform tells of them later."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from judgewell.server.judging import invitations as people
from judgewell.server.limits import TooLarge, read_body
from judgewell.server.platforms import links, notices
from judgewell.server.process import Server, done
from judgewell.server.tokens import numbered
from judgewell.server.web import Refusal


def routes(server: Server) -> list[Route]:
    """The doors."""
    store, served = server.store, server.served
    platform = served.study.platform
    keys = links.platform_keys(platform, store.read(people.held_keys).result())
    secret = notices.webhook_secret(served.study)

    async def by_invite(request: Request) -> Response:
        assessor = people.by_invite(served, request.path_params["token"])
        if assessor is None or not await done(store.read(lambda connection: people.is_welcome(connection, assessor))):
            server.slow_down(request)
            raise Refusal(404, "link")
        await done(store.write(lambda connection: people.mark_opened(connection, assessor, served.clock()), assessor))
        return server.enter(request, assessor)

    async def join(request: Request) -> Response:
        server.slow_down(request)
        if platform.kind == "invite":
            raise Refusal(404, "link")
        if not keys and not request.query_params.get(platform.assessor, "").strip():
            raise Refusal(404, "no_id")
        present = numbered(served.secret, "session", request.cookies.get(server.cookie, ""))
        try:
            assessor = await asyncio.to_thread(people.join, store, served, keys, request.query_params, present)
        except links.BadLink:
            raise Refusal(403 if keys else 404, "arrival" if keys else "link") from None
        except links.KeysAway:
            raise Refusal(503, "arrival_later", {"retry-after": "60"}) from None
        return server.enter(request, assessor)

    async def notified(request: Request) -> Response:
        if secret is None:
            raise Refusal(404, "link")
        try:
            notice = notices.read_notice(secret, request.headers, await _body(request), served.clock())
        except notices.BadNotice as bad:
            server.slow_down(request)
            return JSONResponse({"error": bad.sentence}, bad.status)
        return JSONResponse({"taken": await asyncio.to_thread(notices.take_notice, store, served, notice)})

    return [
        Route("/i/{token}", by_invite, methods=["GET"]),
        Route("/join", join, methods=["GET"]),
        Route("/webhooks/prolific", notified, methods=["POST"]),
    ]


async def _body(request: Request) -> bytes:
    try:
        return await read_body(request, notices.LARGEST)
    except TooLarge:
        raise notices.BadNotice(413, "the request is too large") from None
    except ClientDisconnect:
        raise notices.BadNotice(400, "the request broke off") from None
