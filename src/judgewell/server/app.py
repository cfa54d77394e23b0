"""The whole server: the assessors' pages and the owner's."""

from __future__ import annotations

import os
import time

from fastapi import APIRouter, FastAPI

from judgewell.server.judging import app as assessors
from judgewell.server.judging.app import REQUESTS_PER_SECOND, Router
from judgewell.server.owner import action_routes as acting
from judgewell.server.owner import api, dashboard, downloads, retention, webhook
from judgewell.server.owner import invite_routes as inviting
from judgewell.server.owner import report_routes as reporting
from judgewell.server.owner import review_routes as reviewing
from judgewell.server.owner import sign_in as signing
from judgewell.server.owner.api_errors import speak_json
from judgewell.server.owner.live_cache import Computed
from judgewell.server.process import Server
from judgewell.server.store.transactions import Clock, Store, open_store


def make_app(
    store: Store,
    clock: Clock = time.time,
    requests_per_second: float = REQUESTS_PER_SECOND,
    study: str | None = None,
) -> FastAPI:
    """The server of the study in a database; its file, where it is known, names the runs that a report scores."""
    computed = Computed(store.url, clock)  # for the pages and the API alike
    looking: tuple[Router, ...] = (
        lambda server: dashboard.router(server, computed),
        lambda server: api.router(server, computed),
        lambda server: reporting.router(server, study),
        api.description,
    )
    acted = (signing.router, reviewing.router, acting.router, inviting.router, downloads.router)
    beside = (retention.router, webhook.router, _goal)
    app = assessors.make_app(store, clock, requests_per_second, (*assessors.ASSESSORS, *acted, *looking, *beside))
    speak_json(app, api.PREFIX)
    return app


def _goal(server: Server) -> APIRouter:
    """What makes new units while a study with a goal runs; other studies do not load it."""
    if server.served.study.goal is None:
        return APIRouter()
    from judgewell.server.session import goal

    return goal.router(server)


def from_environment() -> FastAPI:
    """The server of a worker process."""
    url = os.environ["JUDGEWELL_DATABASE"]
    rate = float(os.environ.get("JUDGEWELL_REQUESTS_PER_SECOND", REQUESTS_PER_SECOND))
    app = make_app(open_store(url), requests_per_second=rate, study=os.environ.get("JUDGEWELL_STUDY"))
    assessors.settle()
    return app
