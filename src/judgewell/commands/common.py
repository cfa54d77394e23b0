"""What several commands share."""

from __future__ import annotations

from judgewell.errors import InputError


def parse_columns(text: str | None) -> dict[str, str] | None:
    """`topic=qid,value=score` as a mapping from our column names to the file's."""
    if text is None:
        return None
    pairs = [item.partition("=") for item in text.split(",")]
    for ours, sign, theirs in pairs:
        if not (ours.strip() and sign and theirs.strip()):
            raise InputError(f"{text!r} does not name columns", cure="write ours=theirs, e.g. topic=qid,doc=docno")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
