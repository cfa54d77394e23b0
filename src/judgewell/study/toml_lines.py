"""The line of each key of a TOML text, so that an error can name it.

The standard reader gives values without lines. This scanner reads just as much of the grammar as it takes to know the
line of every `key =`, `[table]` and `[[table]]`; the values are left to the standard reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Place = tuple[str | int, ...]

_BARE_OR_QUOTED = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEY = re.compile(rf"\s*({_BARE_OR_QUOTED}(?:\s*\.\s*{_BARE_OR_QUOTED})*)\s*")
_PART = re.compile(_BARE_OR_QUOTED)
_TOKEN = re.compile(r'"""|\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]')


def places(source: str) -> dict[Place, int]:
    """The line (from 1) of every key of a valid TOML text; array tables have their number in the path."""
    lines: dict[Place, int] = {}
    arrays: dict[Place, int] = {}
    table: Place = ()
    for line, text, kind in _statements(source):
        names = _names(text)
        if kind == "key":
            for end in range(1, len(names) + 1):
                lines.setdefault(table + names[:end], line)
            continue
        table = _resolved(names, arrays)
        if kind == "array":
            number = arrays[table] = arrays.get(table, -1) + 1
            lines.setdefault(table, line)
            table = (*table, number)
        for end in range(1, len(table) + 1):
            lines.setdefault(table[:end], line)
    return lines


def line_of(place: Place, lines: dict[Place, int]) -> int | None:
    """The line of a key, or of the nearest thing around it that has one."""
    for end in range(len(place), 0, -1):
        if place[:end] in lines:
            return lines[place[:end]]
    return None


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """The values of nested tables by dotted keys; the tables of a list are counted from 1."""
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        parts = {str(number): one for number, one in enumerate(value, start=1)}.items()
    else:
        return {prefix: value}
    return {
        key: inner for name, one in parts for key, inner in flat(one, f"{prefix}.{name}" if prefix else name).items()
    }


def _statements(source: str) -> Iterator[tuple[int, str, str]]:
    """Line, key text and kind (key, table, array) of each statement; values are skipped."""
    at, line = 0, 1
    while at < len(source):
        end = source.find("\n", at)
        end = len(source) if end < 0 else end
        text = source[at:end]
        stripped = text.strip()
        if not stripped or stripped.startswith("#"):
            at, line = end + 1, line + 1
        elif stripped.startswith("["):
            double = stripped.startswith("[[")
            match = _KEY.match(stripped, 2 if double else 1)
            yield line, match[1] if match else "", "array" if double else "table"
            at, line = end + 1, line + 1
        else:
            match = _KEY.match(source, at)
            yield line, match[1] if match else "", "key"
            after = _after_value(source, match.end() if match else end)
            line += source.count("\n", at, after)
            at = after


def _after_value(source: str, at: int) -> int:
    """The place behind the line end that closes a value, over strings, arrays and inline tables of any length."""
    depth = 0
    while match := _TOKEN.search(source, at):
        token, at = match[0], match.end()
        if token in ('"""', "'''"):
            at = _after_long_string(source, at, token)
        elif token in "[{":
            depth += 1
        elif token in "]}":
            depth -= 1
        elif token == "\n" and depth <= 0:
            return at
    return len(source)


def _after_long_string(source: str, at: int, quotes: str) -> int:
    while True:
        end = source.find(quotes, at)
        if end < 0:
            return len(source)
        backslashes = len(source[:end]) - len(source[:end].rstrip("\\")) if quotes == '"""' else 0
        if backslashes % 2 == 0:
            return end + 3
        at = end + 1


def _names(text: str) -> Place:
    return tuple(part[1:-1] if part[0] in "\"'" else part for part in _PART.findall(text))


def _resolved(names: Place, arrays: dict[Place, int]) -> Place:
    """The path with the number of the open element behind each array table on the way (not behind the last name)."""
    path: Place = ()
    for index, name in enumerate(names):
        path = (*path, name)
        if index < len(names) - 1 and path in arrays:
            path = (*path, arrays[path])
    return path
