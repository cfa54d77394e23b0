"""What a line of TREC's files looks like: runs (topic Q0 doc rank score tag) and qrels (topic 0 doc grade).

Nothing here needs a table, so that an evaluation of TREC files need not load what makes tables.
"""

from __future__ import annotations

import re
from pathlib import Path

from judgewell.errors import note
from judgewell.formats.files import uncompressed

RUN = ("topic", "Q0", "doc", "rank", "score", "tag")
QRELS = ("topic", "Q0", "doc", "gain")
PLAIN_QRELS = ("topic", "doc", "gain")
PLAIN_RUNS = {
    3: ("topic", "doc", "rank"),
    4: ("topic", "doc", "rank", "score"),
    5: ("topic", "doc", "rank", "score", "tag"),
}
FILLED = re.compile(rb"[^\r\n]+")
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
DIGIT = re.compile(rb"\d")
SECOND = re.compile(rb"Q?\d{1,2}(\.\d)?")  # of qrels: 0, Q0, a subtopic, a round such as 4.5


def first_fields(data: bytes) -> list[bytes]:
    """The fields of the first line that is neither empty nor a comment."""
    lines = (line.group().removeprefix(b"\xef\xbb\xbf").split() for line in FILLED.finditer(data))
    return next((fields for fields in lines if fields and not fields[0].startswith(b"#")), [])


def plain_run(fields: list[bytes]) -> tuple[str, ...] | None:
    """The names of a run's fields where a first line is without Q0; None where it has it."""
    names = PLAIN_RUNS.get(len(fields), ())
    tagged = "tag" in names and (NUMBER.fullmatch(fields[4]) or not all(map(NUMBER.fullmatch, fields[2:4])))
    return None if not names or tagged or fields[1] in (b"0", b"Q0") else names


def surely_trec(fields: list[bytes], path: str | Path) -> bool:
    """Whether a first line is a run's or a qrels' beyond doubt, so that nobody need ask what else it could be.

    Its numbers are where they belong, its ids have digits as no name of a column has, and no comma or the like is there
    that could separate anything.
    """
    numbers = {len(RUN): fields[3:5], len(RUN) - 1: fields[3:5], len(QRELS): fields[3:4]}.get(len(fields), [b""])
    return (
        not uncompressed(path).endswith(".csv")
        and all(NUMBER.fullmatch(number) for number in numbers)
        and all(DIGIT.search(fields[at]) for at in (0, 2))
        and not any(sign in field for field in fields for sign in (b",", b";", b"|", b"{", b"[", b"\0"))
    )


def junk_note(lines: int, path: str | Path | None) -> None:
    """Report lines that have more fields than a run has."""
    if lines:
        note(f"{lines} lines have text after the tag, which is ignored", path)
