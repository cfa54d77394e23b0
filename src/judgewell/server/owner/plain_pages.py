"""Plain pages of the owner's side as HTML: signing in, setting a password, reviewing."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from judgewell.server.bundles import static_version
from judgewell.server.owner.pages import own_version
from judgewell.server.process import Server


@lru_cache(1)
def _environment() -> tuple[Environment, str]:
    loader = PackageLoader("judgewell.server.owner", "templates")
    made = Environment(
        loader=loader,
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return made, static_version()


def sheet(server: Server, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page from a template, under the study's title."""
    environment, version = _environment()
    known = {"study": server.served.title, "static_version": version, "own_version": own_version()}
    text = environment.get_template(template).render(**known, **values)
    return HTMLResponse(text, status)
