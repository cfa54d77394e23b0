"""The owner's side put together: pages, actions, review, and the API with its description."""

from __future__ import annotations

from fastapi import FastAPI

from judgewell._version import __version__
from judgewell.server.judging.app import refusals
from judgewell.server.owner import action_routes, api, dashboard, downloads, invite_routes, report_routes, review_routes
from judgewell.server.owner import sign_in as signing
from judgewell.server.owner.api_errors import speak_json
from judgewell.server.owner.live_cache import Computed
from judgewell.server.process import Server


def make_app(server: Server, study: str | None = None) -> FastAPI:
    """Whatever assessors do not ask for; unknown addresses end here."""
    computed = Computed(server.store.url, server.served.clock)  # for the pages and the API alike
    app = FastAPI(
        title=server.served.title,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        exception_handlers=dict(refusals(server)),  # type: ignore[arg-type]
    )
    app.router.redirect_slashes = False  # it would lead to whatever host a request names
    for part in (signing, review_routes, action_routes, invite_routes, downloads):
        app.include_router(part.router(server))
    app.include_router(dashboard.router(server, computed))
    app.include_router(api.router(server, computed))
    app.include_router(report_routes.router(server, study))
    app.include_router(api.description(server))
    speak_json(app, api.PREFIX)
    return app
