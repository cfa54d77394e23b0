"""MkDocs calls these: pages made from the code join those that are written, and the navigation names them all.

In mkdocs.yml, `made: reference/measures` in the navigation stands for all pages of that folder.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path, PurePosixPath
from typing import Any

import docs_generated
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


@functools.cache
def pages() -> dict[str, str]:
    return docs_generated.all_pages()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    written = {path.relative_to(config.docs_dir).as_posix() for path in Path(config.docs_dir).rglob("*.md")}
    config.nav = expanded(config.nav, written | set(pages()))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    return files


def expanded(nav: Any, there: set[str]) -> Any:
    """The navigation with folders in place of their names, and without pages that are not there."""
    out = []
    for entry in nav:
        if isinstance(entry, str):
            out += [entry] if entry in there else []
            continue
        ((title, inside),) = entry.items()
        if isinstance(inside, list):
            inside = expanded(inside, there)
        elif folder := re.fullmatch(r"made: (.+)", inside):
            inside = in_folder(folder[1], there)
        elif inside not in there:
            continue
        if inside:
            out.append({title: inside})
    return out


def in_folder(folder: str, there: set[str]) -> list[Any]:
    """The pages directly in a folder, its index first."""
    inside = sorted(path for path in there if PurePosixPath(path).parent == PurePosixPath(folder))
    return sorted(inside, key=lambda path: not path.endswith("index.md"))
