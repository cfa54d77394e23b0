"""Prompts: files of ours, one for each scale, filled with the study's own instructions, its topic and a document."""

from __future__ import annotations

import hashlib
import hmac
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import nh3

from judgewell.errors import InputError
from judgewell.server.session.pages import Document, Topic

PARTING = "====="
NEEDED = {"document": ("mark", "topic", "document", "format"), "pair": ("mark", "topic", "first", "second", "format")}
CUT = "[the rest of this text was cut]"
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_BLOCK = re.compile(r"</(?:p|div|li|tr|h[1-6]|section|article)>|<(?:br|hr)>", re.IGNORECASE)


@dataclass(frozen=True)
class Prompt:
    """A prompt file: what the model is, and what it is asked; `hash` is that of the file."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def filled(self, values: Mapping[str, str]) -> list[dict[str, str]]:
        """The messages. What is put in is never searched for places to fill."""
        system, _, user = self.text.partition(f"\n{PARTING}\n")
        parts = [("system", system), ("user", user)] if user else [("user", system)]
        return [
            {"role": role, "content": _PLACE.sub(lambda place: values.get(place[1], ""), text).strip()}
            for role, text in parts
        ]


def own_prompt(name: str) -> Prompt:
    """The prompt that comes with judgewell for a scale, a pair or a question at the door."""
    return Prompt(name, files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8"))


def read_prompt(path: str | Path, purpose: str) -> Prompt:
    """A prompt file of the user's own, which must name every place without which nothing can be judged."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InputError(f"the prompt cannot be read: {reason}", file=path) from None
    known = set(_PLACE.findall(text))
    missing = [name for name in NEEDED[purpose] if name not in known]
    if missing:
        places = ", ".join(f"{{{{{name}}}}}" for name in missing)
        raise InputError(f"the prompt has no {places}", cure="begin with the one that --show-prompt prints", file=path)
    return Prompt(Path(path).name, text)


def mark(secret: str, *parts: object) -> str:
    """The mark of a request's fences: the same at every try, and nothing that a document's author could know."""
    content = "/".join(map(str, parts)).encode()
    return hmac.new(secret.encode(), b"fence " + content, hashlib.sha256).hexdigest()[:20]


def fenced(label: str, text: str, mark: str) -> str:
    """A text between two lines that carry the mark."""
    return f"<<< {label} {mark}\n{text.strip()}\n{label} {mark} >>>"


def topic_text(topic: Topic, mark: str) -> str:
    """The topic as people see it."""
    parts = [topic.title, *(f"{part.label}: {part.text}" for part in topic.parts if part.text != topic.title)]
    return fenced("TOPIC", "\n".join(parts), mark)


def document_text(document: Document, longest: int) -> str:
    """A document's title and text without markup, cut to so many characters."""
    text = document.text or _plain(document.html)
    whole = f"{document.title}\n\n{text}" if document.title else text
    return whole if len(whole) <= longest else f"{whole[:longest]}\n{CUT}"


def _plain(markup: str) -> str:
    """The text of a cleaned HTML document; what ends a block ends a line."""
    text = html.unescape(nh3.clean(_BLOCK.sub("\n", markup), tags=set()))
    return re.sub(r"\n{3,}", "\n\n", text)


def previous_text(before: Sequence[tuple[str, str]], mark: str) -> str:
    """The documents of the unit so far, each with the number it was given."""
    if not before:
        return "This is the first document, so start with any number you like.\n\n"
    shown = [f"{fenced(f'EARLIER DOCUMENT {at}', text, mark)}\nYou gave it {number}." for at, (text, number) in
             enumerate(before, start=1)]  # fmt: skip
    return (
        "\n\n".join(["The documents that you judged before in this unit:", *shown, "The document to judge now:"])
        + "\n\n"
    )
