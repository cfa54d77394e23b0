"""What every answer of the server has in common: security headers, static files, pages as HTML, refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judgewell.server.bundles import FOR_GOOD, static_version
from judgewell.server.frames import Frames
from judgewell.server.session import pages

# Nothing but our own files; nothing inline; nobody may frame us. Other sites never see invite links.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
HSTS = b"max-age=31536000"
SHORT_LINE = 45  # characters; shorter lines were not broken at a fixed width


class Refusal(Exception):
    """A request that ends in a page for somebody who is not where they should be; `headers` say where to go or when."""

    def __init__(self, status: int, key: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.key, self.headers = status, key, dict(headers or {})


class Headers:
    """Every answer carries the security headers; pages are never kept by caches.

    Under HTTPS, browsers are asked to use HTTPS from then on (HSTS).
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        always = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
        self._always = {"http": always, "https": [*always, (b"strict-transport-security", HSTS)]}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        always = self._always.get(scope.get("scheme", "http"), [])

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                held = {name for name, _ in message["headers"]}
                message["headers"] += [(name, value) for name, value in always if name not in held]
                if b"cache-control" not in held:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        await self.app(scope, receive, marked if scope["type"] == "http" else send)


class Versioned(StaticFiles):
    """Static files that are asked for by their version never change."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        scope: Scope = options.get("scope") or arguments[2]
        known = b"v=" in scope.get("query_string", b"")
        response.headers["cache-control"] = FOR_GOOD if known else "no-cache"
        # a document's sandboxed frame has no origin of its own, and takes its style from here
        response.headers["cross-origin-resource-policy"] = "cross-origin"
        return response


class Pages:
    """Pages as HTML."""

    def __init__(self) -> None:
        made, version = environment(auto_reload=False), static_version()
        self._whole = Frames(made.get_template("page.html"), static_version=version)
        self._inside = Frames(made.get_template("body.html"), static_version=version)

    def response(self, page: pages.Page, request: Request, status_code: int = 200) -> HTMLResponse:
        frames = self._inside if "x-fragment" in request.headers else self._whole
        return HTMLResponse(frames.text(page), status_code, {"x-page": page.kind})


def environment(**options: Any) -> Environment:
    """The templates of the assessors' pages: those that pages share, and those beside their stages."""
    loader = ChoiceLoader([PackageLoader("judgewell.server.session", folder) for folder in ("stages", "templates")])
    made = Environment(loader=loader, autoescape=True, trim_blocks=True, **options)
    made.filters["paragraphs"] = paragraphs
    return made


def paragraphs(text: str) -> Markup:
    """Plain text as paragraphs.

    Lines broken at a fixed width flow again; short lines (lists, verse) keep their ends, and rows with gaps inside
    (tables) keep their columns.
    """
    parts = []
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        if not paragraph.strip():
            continue
        lines = paragraph.strip("\n").split("\n")
        if any("    " in line.strip() or "\t" in line.strip() for line in lines):
            parts.append(f'<pre tabindex="0" dir="auto">{escape(paragraph.strip(chr(10)))}</pre>\n')
        else:
            short = ' class="lines"' if any(len(line) < SHORT_LINE for line in lines[:-1]) else ""
            parts.append(f'<p dir="auto"{short}>{escape(paragraph.strip())}</p>\n')
    return Markup("".join(parts))  # every text in it is escaped
