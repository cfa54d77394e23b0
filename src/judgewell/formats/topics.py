"""Topics: what the person is looking for, from TREC topic files, `id<TAB>text`, JSON lines, CSV or Parquet."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from judgewell.errors import InputError, Place
from judgewell.formats.delimited import first_line, names_of
from judgewell.formats.frames import Contents, columns_called, load, text_called

# The names that files give our columns; the first that is there wins.
NAMES: dict[str, tuple[str, ...]] = {
    "topic": ("topic", "topic_id", "qid", "query_id", "number", "num", "id", "_id"),
    "title": ("title", "query", "text", "topic_title"),
    "description": ("description", "desc", "question"),
    "narrative": ("narrative", "narr"),
}
CURE = "give TREC topics, id<TAB>text, JSON or CSV"
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(?:</\1>|(?=<\1\b)|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)\b[^>]*>")
_NUMBER = re.compile(r"""\b(?:number|id)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_LABELS = re.compile(r"^(?:Number|Topic|Description|Desc|Narrative|Narr|Domain|Summary)\s*:\s*", re.IGNORECASE)


def read_topics(path: str | Path) -> pl.DataFrame:
    """The topics of a file: topic, title, description, narrative (missing ones null), then what else it has."""
    contents = load(path)
    if not contents.data.strip():
        raise contents.place.error("there are no topics in this file", CURE)
    if contents.kind != "parquet" and contents.data.lstrip()[:1] == b"<":
        frame, place = _marked_up(contents.data.decode(), contents.path)
    elif contents.kind in ("csv", "trec") and _is_tabbed(contents.data):
        frame, place = _tabbed(contents)
    else:
        contents = contents.named()
        frame, place = contents.frame(), contents.place
        if contents.kind == "csv" and not columns_called(frame, NAMES["topic"]):
            problem = f"no column is the topic's id; there are {', '.join(frame.columns)}"
            raise InputError(
                problem, cure=f"call it {', '.join(NAMES['topic'][:-1])} or {NAMES['topic'][-1]}", file=path, line=1
            )
    if frame.is_empty():
        raise place.error("there are no topics in this file", CURE)
    texts = {ours: [_clean(text) for text in text_called(frame, theirs, place)] for ours, theirs in NAMES.items()}
    topics = pl.DataFrame(texts, schema=dict.fromkeys(NAMES, pl.String()))
    used = {theirs for names in NAMES.values() for theirs in columns_called(frame, names)[:1]}
    others = [name for name in frame.columns if name not in used]
    _refuse_unusable(topics, place)
    more = {name: [None if value is None else str(value) for value in frame[name]] for name in others}
    return topics.with_columns(pl.Series(name, values, pl.String) for name, values in more.items())


def _refuse_unusable(topics: pl.DataFrame, place: Place) -> None:
    """Every topic has an id, once, and some text."""
    first: dict[str, int] = {}
    for row, (topic, *texts) in enumerate(topics.iter_rows()):
        if topic is None:
            raise place.error("a topic without an id", f"name it in one of {', '.join(NAMES['topic'])}", row)
        if not any(texts):
            raise place.error(f"topic {topic} has no text", "give it a title or a description", row)
        if topic in first:
            raise place.error(f"topic {topic} appears twice (first in {place.row(first[topic])})", "keep one", row)
        first[topic] = row


def _is_tabbed(data: bytes) -> bool:
    """Whether lines are an id, a tab and a text, without a line that names them."""
    names = {name.lower() for name in names_of(first_line(data), "\t")}
    return len(names) > 1 and not names & set(NAMES["topic"])


def _tabbed(contents: Contents) -> tuple[pl.DataFrame, Place]:
    place = replace(contents, kind="trec").place
    lines = [line for line in contents.data.decode().split("\n") if line.strip()]
    for row, line in enumerate(lines):
        if "\t" not in line:
            raise place.error(f"{line[:40]!r} has no tab", "write id<TAB>text", row)
    rows = [line.split("\t", 1) for line in lines]
    return pl.DataFrame(rows, schema=["topic", "title"], orient="row"), place


def _marked_up(text: str, path: str) -> tuple[pl.DataFrame, Place]:
    """TREC topics: <top> with fields that need not be closed, or <topic number="…"> with fields that are."""
    rows: list[dict[str, str]] = []
    lines = []
    for topic in _TOPIC.finditer(text):
        lines.append(text.count("\n", 0, topic.start()) + 1)
        number = _NUMBER.search(topic[2])
        row = {"topic": number[1]} if number else {}
        tags = list(_TAG.finditer(topic[3]))
        for tag, following in zip(tags, [*tags[1:], None], strict=True):
            name = tag[2].lower()
            if tag[1]:
                continue
            content = topic[3][tag.end() : following.start() if following else len(topic[3])]
            content = _LABELS.sub("", html.unescape(content).strip())
            # A field that comes again (subtopics) is kept behind the first.
            row[name] = f"{row[name]}\n{content}" if name in row else content
        rows.append(row)
    if not rows:
        raise InputError("no <top> or <topic> is in this file", cure="is it a topic file?", file=path)
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String())), Place(path, lines.__getitem__)


def _clean(text: str | None) -> str | None:
    """The text without the line breaks of its file; a blank line stays a new paragraph."""
    if text is None:
        return None
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return "\n\n".join(part for part in paragraphs if part) or None
