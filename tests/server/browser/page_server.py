"""A tiny server of hand-made pages with the real templates, files and headers; and the browser that looks at them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from waiting import HANG, wait_until

from judgewell.server import bundles
from judgewell.server.session import pages
from judgewell.server.web import Headers, Pages, Versioned


@contextmanager
def page_server(shown: Mapping[str, pages.Page]) -> Iterator[str]:
    """The address under which every page is shown by its name."""
    made = Pages()

    async def show(request: Request) -> Response:
        return made.response(shown[request.path_params["name"]], request)

    static = Mount("/static", Versioned(packages=[("judgewell.server.judging", "static")]))
    app = Headers(Starlette(routes=[Route("/{name}", show), *bundles.routes(), static]))
    with in_thread(app) as address:
        yield address


@contextmanager
def in_thread(app: Any) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(HANG)
