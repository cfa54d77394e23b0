"""Pages whose fixed part is rendered once: from step to step only what changes is put into its gaps.

A page with a `shape` takes part. Pages of one shape differ in `changing` texts and in the pieces that their template
draws with `piece(macro, field, …)`: the topic, the documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from jinja2 import Template
from markupsafe import Markup, escape

from judgewell.server.session.pages import Page

Fill = Callable[[Page], str]

MOST = 500  # shapes kept; a study has a handful
_GAP = re.compile("\ue000(\\d+)\ue001")


class Frames:
    """Renders pages with a template; `more` is what every page gets besides itself."""

    def __init__(self, template: Template, **more: Any) -> None:
        self._template, self._more = template, more
        self._frames: dict[Any, list[str | Fill]] = {}

    def text(self, page: Page) -> str:
        """A page as HTML."""
        if page.shape is None or page.problem or page.notice or page.typed:
            return self._render(page, lambda macro, name, *given: macro(getattr(page, name), *given))
        frame = self._frames.get(page.shape)
        if frame is None:
            frame = self._frame(page)
            if len(self._frames) < MOST:
                self._frames[page.shape] = frame
        return "".join([part if isinstance(part, str) else part(page) for part in frame])

    def _frame(self, page: Page) -> list[str | Fill]:
        """The fixed part of all pages of this shape, in pieces, with the functions that fill its gaps."""
        fills: list[Fill] = []

        def gap(fill: Fill) -> str:
            fills.append(fill)
            return f"\ue000{len(fills) - 1}\ue001"

        def piece(macro: Any, name: str, *given: Any) -> Markup:
            draw: Callable[[Any], str] = lambda value: str(macro(value, *given))  # noqa: E731
            if name == "topic":  # few, and on many pages; a document is drawn anew, so that none is there sooner
                draw = lru_cache(MOST)(draw)
            return Markup(gap(lambda page: draw(getattr(page, name))))

        marked = page.with_gaps(lambda read: gap(lambda page: str(escape(read(page)))))
        parts = _GAP.split(self._render(marked, piece))
        return [fills[int(part)] if place % 2 else part for place, part in enumerate(parts)]

    def _render(self, page: Page, piece: Callable[..., Any]) -> str:
        return self._template.render(page=page, piece=piece, **self._more)
