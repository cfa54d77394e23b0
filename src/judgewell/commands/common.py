"""What several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from judgewell.errors import InputError


def choice(name: str, *choices: str, help: str) -> Callable[[Any], Any]:
    """An option that takes one of these words; the first is the default."""
    return click.option(name, type=click.Choice(choices), default=choices[0], help=help)


def parse_columns(text: str | None) -> dict[str, str] | None:
    """`topic=qid,value=score` as a mapping from our column names to the file's."""
    if text is None:
        return None
    pairs = [item.partition("=") for item in text.split(",")]
    for ours, sign, theirs in pairs:
        if not (ours.strip() and sign and theirs.strip()):
            raise InputError(f"{text!r} does not name columns", cure="write ours=theirs, e.g. topic=qid,doc=docno")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
