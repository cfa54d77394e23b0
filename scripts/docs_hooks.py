"""MkDocs calls these: `all: reference/measures` in the navigation of mkdocs.yml stands for all pages of that folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = expanded(config.nav, Path(config.docs_dir))
    return config


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
