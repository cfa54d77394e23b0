"""Topics: what the person is looking for, from TREC topic files, `id<TAB>text`, JSON lines, CSV or Parquet."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError
from judgewell.formats.files import open_bytes
from judgewell.formats.records import Record, decoded, field, read_records

# The names that files give our columns; the first that is there wins.
NAMES: dict[str, tuple[str, ...]] = {
    "topic": ("topic", "topic_id", "qid", "query_id", "number", "num", "id", "_id"),
    "title": ("title", "query", "text", "topic_title"),
    "description": ("description", "desc", "question"),
    "narrative": ("narrative", "narr"),
}
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)(?:</\1>|(?=<\1\b)|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)\b[^>]*>")
_NUMBER = re.compile(r"""\b(?:number|id)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_LABELS = re.compile(r"^(?:Number|Topic|Description|Desc|Narrative|Narr|Domain|Summary)\s*:\s*", re.IGNORECASE)


def read_topics(path: str | Path) -> pl.DataFrame:
    """The topics of a file: topic, title, description, narrative (missing ones null), then what else it has."""
    data = open_bytes(path)
    rows: dict[str, dict[str, str | None]] = {}
    lines: dict[str, int | None] = {}
    for line, record in _records(data, path):
        where: dict[str, Any] = {"file": path, "line": line}
        row = {ours: _clean(field(record, theirs, where)) for ours, theirs in NAMES.items()}
        topic = row["topic"]
        if topic is None:
            raise InputError("a topic without an id", cure=f"name it in one of {', '.join(NAMES['topic'])}", **where)
        if not any(row[name] for name in ("title", "description", "narrative")):
            raise InputError(f"topic {topic} has no text", cure="give it a title or a description", **where)
        if topic in rows:
            first = f" (first on line {lines[topic]})" if lines[topic] else ""
            raise InputError(f"topic {topic} is there twice{first}", cure="keep one of them", **where)
        given = {name.lower() for name in record}
        used = {next((name for name in names if name in given), None) for names in NAMES.values()}
        others = {name: value for name, value in record.items() if name.lower() not in used}
        rows[topic] = row | {name: None if value is None else str(value) for name, value in others.items()}
        lines[topic] = line
    if not rows:
        raise InputError(
            "there are no topics in this file", cure="give TREC topics, id<TAB>text, JSON or CSV", file=path
        )
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    return pl.DataFrame(list(rows.values()), schema=dict.fromkeys(columns, pl.String()))


def _records(data: bytes, path: str | Path) -> Iterator[Record]:
    """The file's topics with the lines they begin on, whatever its kind."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        return _marked_up(decoded(data, path), path)
    first = data[:65536].lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    heads = [name.strip().strip(b'"').lower().decode("utf-8", "replace") for name in first.split(b"\t")]
    if len(heads) > 1 and data[:1] not in (b"{", b"[") and not set(heads) & set(NAMES["topic"]):
        return _tabbed(decoded(data, path), path)
    return read_records(data, path)


def _tabbed(text: str, path: str | Path) -> Iterator[Record]:
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        topic, tab, title = content.partition("\t")
        if not tab:
            raise InputError(f"{content[:40]!r} has no tab", cure="write id<TAB>text", file=path, line=line)
        yield line, {"topic": topic, "title": title}


def _marked_up(text: str, path: str | Path) -> Iterator[Record]:
    """TREC topics: <top> with fields that need not be closed, or <topic number="…"> with fields that are."""
    for topic in _TOPIC.finditer(text):
        line = text.count("\n", 0, topic.start()) + 1
        record: dict[str, Any] = {}
        number = _NUMBER.search(topic[2])
        if number:
            record["topic"] = number[1]
        tags = list(_TAG.finditer(topic[3]))
        for tag, following in zip(tags, [*tags[1:], None], strict=True):
            name = tag[2].lower()
            if tag[1]:
                continue
            content = topic[3][tag.end() : following.start() if following else len(topic[3])]
            content = _LABELS.sub("", html.unescape(content).strip())
            # A field that comes again (subtopics) is kept behind the first.
            record[name] = f"{record[name]}\n{content}" if name in record else content
        yield line, record
    if not _TOPIC.search(text):
        raise InputError("no <top> or <topic> is in this file", cure="is it a topic file?", file=path)


def _clean(text: str | None) -> str | None:
    """The text without the line breaks of its file; a blank line stays a new paragraph."""
    if text is None:
        return None
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return "\n\n".join(part for part in paragraphs if part) or None
