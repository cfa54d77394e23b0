"""The whole server: the assessors' pages and the owner's."""

from __future__ import annotations

import os
import time

from fastapi import FastAPI

from judgewell.collect import app as assessors
from judgewell.collect.app import REQUESTS_PER_SECOND, Router
from judgewell.collect.store import Clock, Store, open_store
from judgewell.owner import acting, api, dashboard, retention, reviewing, signing
from judgewell.owner.computed import Computed
from judgewell.owner.problems import speak_json


def make_app(store: Store, clock: Clock = time.time, requests_per_second: float = REQUESTS_PER_SECOND) -> FastAPI:
    """The server of the study in a database."""
    computed = Computed(store.url, clock)  # for the pages and the API alike
    looking: tuple[Router, ...] = (
        lambda server: dashboard.router(server, computed),
        lambda server: api.router(server, computed),
    )
    acted = (signing.router, reviewing.router, acting.router, retention.router)
    app = assessors.make_app(store, clock, requests_per_second, (*assessors.ASSESSORS, *acted, *looking))
    speak_json(app, api.PREFIX)
    return app


def from_environment() -> FastAPI:
    """The server of a worker process."""
    url = os.environ["JUDGEWELL_DATABASE"]
    rate = float(os.environ.get("JUDGEWELL_REQUESTS_PER_SECOND", REQUESTS_PER_SECOND))
    app = make_app(open_store(url), requests_per_second=rate)
    assessors.settle()
    return app
