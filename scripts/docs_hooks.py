"""MkDocs calls these.

`all: reference/measures` in the navigation of mkdocs.yml means all pages of that folder. Short code, such as `--chart`,
stays on one line.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = expanded(config.nav, Path(config.docs_dir))
    return config


def on_page_content(html: str, **_: Any) -> str:
    """The page with its short code marked, so that the style sheet can keep it on one line."""
    return re.sub(r"<code>([^<\n]{1,32})</code>", r'<code class="short">\1</code>', html)


def expanded(nav: Any, docs: Path) -> Any:
    """The navigation with pages in place of their folders."""
    if isinstance(nav, list):
        return [expanded(entry, docs) for entry in nav]
    if isinstance(nav, dict):
        return {title: expanded(inside, docs) for title, inside in nav.items()}
    if folder := re.fullmatch("all: (.+)", nav):
        inside = sorted((docs / folder[1]).glob("*.md"), key=lambda path: (path.name != "index.md", path.name))
        return [path.relative_to(docs).as_posix() for path in inside]
    return nav
