"""One script and one style sheet for the assessors' pages, made of the files in judging/static when a server starts.

A module becomes a function that returns what it exports, so that its other names stay its own; what it imports comes
first.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STYLES = ("base.css", "widgets.css", "layout.css")
FIRST = "app.js"
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
FOR_GOOD = "public, max-age=31536000, immutable"  # the name changes with the content
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


@cache
def files(side: str = "judging") -> dict[str, bytes]:
    """The static files of the assessors' side, or of the owner's, by name."""
    folder = resources.files(f"judgewell.server.{side}").joinpath("static")
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir(), key=lambda file: file.name)}


@cache
def static_version(side: str = "judging") -> str:
    """A name for the state of all static files of a side."""
    digest = hashlib.sha256()
    for name, content in files(side).items():
        digest.update(name.encode() + content)
    return digest.hexdigest()[:12]


def script() -> str:
    """All modules that the first one needs, as one."""
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        text = files()[f"{name}.js"].decode()
        for _, other in _IMPORT.findall(text):
            if other not in parts:
                add(other)
        exported = ", ".join(export for _, export in _EXPORT.findall(text))
        inside = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = \2_js;", text))
        parts[name] = f"const {name}_js = (() => {{\n{inside}\nreturn {{ {exported} }};\n}})();\n"

    add(FIRST.removesuffix(".js"))
    return "".join(parts.values())


def routes() -> list[Route]:
    """The addresses of both: page.html names them by the version."""
    styles = b"\n".join(files()[name] for name in STYLES)
    return [_route("css", styles), _route("js", script().encode())]


def lasting(content: bytes, kind: str) -> Response:
    """A style sheet or script that browsers keep for good."""
    return Response(content, headers={"cache-control": FOR_GOOD}, media_type=KINDS[kind])


def _route(kind: str, content: bytes) -> Route:
    async def give(_: Request) -> Response:
        return lasting(content, kind)

    return Route(f"/static/judging-{static_version()}.{kind}", give, methods=["GET"])
