"""Plain pages of the owner's side as HTML: signing in, setting a password, reviewing."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse

from judgewell.server.bundles import static_version
from judgewell.server.owner.pages import environment, own_version
from judgewell.server.process import Server


def sheet(server: Server, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page from a template, under the study's title."""
    known = {"study": server.served.title, "static_version": static_version(), "own_version": own_version()}
    text = environment().get_template(template).render(**known, **values)
    return HTMLResponse(text, status)
