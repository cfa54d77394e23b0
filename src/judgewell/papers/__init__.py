"""The papers re-done: one module for each, one function for each of its tables and figures, over the library.

`items` says what an item and a paper are, `data` what they are made from, `synthetic` makes studies where there are no
data, `charts` draws what only the papers draw, `page` puts a paper's items on a page. `PAPERS` is the whole list.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from judgewell.errors import InputError

if TYPE_CHECKING:
    from judgewell.papers.items import Paper

PAPERS = ("sigir15", "evia14", "prm15", "adcs18")


def paper(name: str) -> Paper:
    """A paper by its short name."""
    if name not in PAPERS:
        raise InputError(f"there is no paper {name!r}", cure=f"choose {', '.join(PAPERS)}")
    module_paper: Paper = import_module(f"judgewell.papers.{name}").PAPER
    return module_paper
