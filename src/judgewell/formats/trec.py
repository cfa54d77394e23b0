"""TREC's own files: runs (topic Q0 doc rank score tag) and qrels (topic 0 doc grade).

The regular file, one separator between fields, is read by polars' parallel reader. Anything else (several spaces,
mixed tabs, blank lines, `#` comments, junk behind the tag) is first made regular byte-wise; what is still wrong then is
found by reading line by line, so that the error names the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from judgewell.errors import InputError, note
from judgewell.formats.files import open_bytes
from judgewell.formats.trec_lines import PLAIN_QRELS, PLAIN_RUNS, SECOND, first_fields, junk_note
from judgewell.formats.trec_lines import QRELS as QRELS
from judgewell.formats.trec_lines import RUN as RUN

NUMBERS = {"score", "gain"}
GRADE = re.compile(rb"[A-Za-z]?[+-]?\d+([.,]\d+)?")  # 2, 0.5, L2
SAMPLED = re.compile(r"-?\d \d (0?\.\d+|1(\.0*)?)")  # a grade, a method and a probability
NAMED = "or write a first line that names the columns, such as"
NUMBERED = "name columns by number: --no-header --columns topic=1,"
SAY = {
    RUN: f"a run's line is: topic Q0 document rank score tag; {NAMED} topic,doc,score",
    QRELS: f"a qrels line is: topic 0 document grade; {NAMED} topic,doc,gain",
}
SAY |= {PLAIN_QRELS: SAY[QRELS]} | dict.fromkeys(PLAIN_RUNS.values(), SAY[RUN])


def read_fields(
    data: bytes, fields: Sequence[str], path: str | Path, unused: Collection[str] = ("Q0",)
) -> pl.DataFrame:
    """The lines of a TREC file, which have these fields, as a frame without the unused ones."""
    fields = tuple(fields)
    frame = _read_regular(data, fields, unused)
    if frame is None:
        frame = _read_regular(_made_regular(data), fields, unused)
    return _read_lines(data, fields, path).drop(unused, strict=False) if frame is None else frame


def read_qrels(path: str | Path, data: bytes | None = None) -> pl.DataFrame:
    """A qrels file as topic, doc, gain, which is text where not all of it are numbers."""
    data = open_bytes(path) if data is None else data
    first = first_fields(data)
    plain = len(first) == len(PLAIN_QRELS) and first[1] not in (b"0", b"Q0") and bool(GRADE.fullmatch(first[2]))
    if plain:
        note("lines of three fields are read as topic, document and grade", path)
    elif len(first) == len(QRELS) and not SECOND.fullmatch(first[1]):
        _refuse_other_order(read_fields(data, QRELS, path, ()), path)
    return read_fields(data, PLAIN_QRELS if plain else QRELS, path).select("topic", "doc", "gain")


def _refuse_other_order(frame: pl.DataFrame, path: str | Path) -> None:
    """Four fields of which the second holds topics, the first being the same in every line; or documents, and the third
    documents too, or grades: fewer, and all of them small numbers."""
    seconds = frame["Q0"].unique()
    source = frame["topic"].n_unique() == 1 and not frame["topic"][0].isdigit()  # a name for the whole file
    if source and 1 < len(seconds) <= len(frame) / 2 and _are_numbers(frame["gain"]):
        raise InputError(
            f"the first field is {frame['topic'][0]!r} in every line and the second holds {len(seconds)} ids, as if "
            "these were the topics; a qrels line is: topic 0 document grade",
            cure=f"write the topic first: awk '{{print $2, 0, $3, $4}}' {Path(path).name}",
            file=path,
            line=1,
        )
    if len(seconds) > 1 and 2 * int(seconds.is_in(frame["doc"].unique().implode()).sum()) >= len(seconds):
        raise InputError(
            "the second and the third field hold the same ids, as in pairs of documents; a qrels line is: topic 0 "
            "document grade",
            cure=f"if they are pairs, {NUMBERED}left=2,right=3,preferred=4, where the fourth is left, right, same or "
            "the preferred document",
            file=path,
            line=1,
        )
    ids, grades = frame["Q0"].n_unique(), frame["doc"].n_unique()
    if ids > grades and frame["doc"].str.contains(r"^-?\d{1,2}$").all():
        raise InputError(
            f"the second field holds {ids} ids and the third {grades} small numbers, as in topic, document, grade, …; "
            "a qrels line is: topic 0 document grade",
            cure=f"{NUMBERED}doc=2,gain=3",
            file=path,
            line=1,
        )


def _are_numbers(cells: pl.Series) -> bool:
    return cells.cast(pl.Float64, strict=False).is_not_null().all()


def line_of(data: bytes, row: int) -> int:
    """The line of a row (from 0) of a TREC file; needed only for errors."""
    lines = enumerate(_plain_lines(data).split(b"\n"), 1)
    rows = (number for number, line in lines if line.strip() and not line.lstrip().startswith(b"#"))
    return next(number for at, number in enumerate(rows) if at == row)


def write_qrels(frame: pl.DataFrame, path: str | Path) -> None:
    """A gains table as qrels; whole gains without a decimal point, as every reader expects them."""
    _refuse_spaces(frame, ("topic", "doc"), path)
    whole = bool((frame["gain"] % 1 == 0).all())
    gain = pl.col("gain").cast(pl.Int64) if whole else pl.col("gain")
    frame.select("topic", pl.lit("0").alias("Q0"), "doc", gain).write_csv(path, separator=" ", include_header=False)


def _refuse_spaces(frame: pl.DataFrame, names: Sequence[str], path: str | Path) -> None:
    for name in names:
        bad = frame[name].filter(frame[name].str.contains(r"\s"))
        if len(bad):
            raise InputError(f"{name} {bad[0]!r} has a space in it", cure="write .csv or .parquet instead", file=path)


def _read_regular(data: bytes, fields: tuple[str, ...], unused: Collection[str]) -> pl.DataFrame | None:
    """A file with exactly one separator between fields and no comments, or None where it is not one."""
    head = data[:65536].split(b"\n", 1)[0]
    separator, other = (b"\t", b" ") if b"\t" in head else (b" ", b"\t")
    odd = (other, b"\0", b"\x0b", b"\x0c")
    if not head.strip() or any(sign in data for sign in odd) or _has_comments(data) or _has_doubled(data, separator):
        return None
    width = head.count(separator) + 1
    names = fields[:-1] if fields == RUN and width == len(RUN) - 1 else fields
    schema = {name: pl.Float64 if name in NUMBERS else pl.String for name in names}
    wanted = [at for at, name in enumerate(names) if name not in unused]
    try:
        frame = pl.read_csv(
            data, separator=separator.decode(), has_header=False, quote_char=None, schema=schema, columns=wanted
        )
    except pl.exceptions.PolarsError:
        return None
    separators = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(separator))
    if separators != (len(names) - 1) * len(frame):  # longer lines: polars looks at the wanted columns only
        return None
    if any(frame.null_count().row(0)) or any(frame[name].is_nan().any() for name in names if name in NUMBERS):
        return None
    return frame if names == fields else frame.with_columns(tag=pl.lit(None, pl.String))


def _has_comments(data: bytes) -> bool:
    return b"#" in data and (data.startswith(b"#") or b"\n#" in data)


def _has_doubled(data: bytes, separator: bytes) -> bool:
    """Whether two separators follow each other; bytes are looked at in pairs, which is faster than searching."""
    pair = np.frombuffer(separator * 2, np.uint16)
    return any(
        bool((np.frombuffer(data, np.uint16, (len(data) - start) // 2, start) == pair).any()) for start in (0, 1)
    )


def _plain_lines(data: bytes) -> bytes:
    """The same lines without a byte order mark, each ended by a line feed alone."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _made_regular(data: bytes) -> bytes:
    """The same lines with one space between fields, and no blank lines or comments."""
    data = _plain_lines(data).translate(bytes.maketrans(b"\t\x0b\x0c", b"   "))
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    data = data.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip()
    if _has_comments(data):
        data = b"\n".join(line for line in data.split(b"\n") if not line.startswith(b"#"))
    while b"\n\n" in data:
        data = data.replace(b"\n\n", b"\n")
    return data


def _read_lines(data: bytes, fields: tuple[str, ...], path: str | Path) -> pl.DataFrame:
    """Line by line: slow, but it knows where it is."""
    needed = len(fields) - 1 if fields == RUN else len(fields)
    most = math.inf if fields == RUN else needed
    numbers = NUMBERS & {"score"}  # grades may be words, whose meaning is settled elsewhere
    columns: list[list[str | float | None]] = [[] for _ in fields]
    junk = 0
    for number, raw in enumerate(_plain_lines(data).split(b"\n"), 1):
        try:
            parts = [field.decode() for field in raw.split()]  # bytes are split at ASCII white space only
        except UnicodeDecodeError:
            cure = "convert the file, e.g. iconv -f latin1 -t utf-8"
            raise InputError("this line is not UTF-8", cure=cure, file=path, line=number) from None
        if not parts or parts[0].startswith("#"):
            continue
        if b"\0" in raw:
            raise InputError("a NUL byte is not text", cure="write the file as plain text", file=path, line=number)
        if not needed <= len(parts) <= most:
            cure = SAY[fields] + _swapped(fields, parts)
            raise InputError(f"{len(parts)} fields in {raw.decode()[:80]!r}", cure=cure, file=path, line=number)
        if len(parts) > len(fields):
            junk += 1
            _refuse_split_id(raw, fields, path, number)
        values = (*parts, None)[: len(fields)]
        for column, name, value in zip(columns, fields, values, strict=True):
            column.append(_number(value, name, path, number) if name in numbers else value)
    junk_note(junk, path)
    types = [pl.Float64 if name in numbers else pl.String for name in fields]
    return pl.DataFrame(dict(zip(fields, columns, strict=True)), schema=dict(zip(fields, types, strict=True)))


def _refuse_split_id(line: bytes, fields: tuple[str, ...], path: str | Path, number: int) -> None:
    """Tabs separate the right number of fields, and one before the tag holds a space."""
    between = [field.strip() for field in line.split(b"\t")]
    spaced = [field for field in between[:-1] if b" " in field]
    if len(between) == len(fields) and spaced:
        problem = f"{spaced[0].decode()[:80]!r} holds a space, which separates fields as a tab does"
        raise InputError(problem, cure="write ids without spaces", file=path, line=number)


def _swapped(fields: tuple[str, ...], line: list[str]) -> str:
    """What to say of a run where qrels belong, or the other way round; both take white space between fields."""
    width = len(line)
    if width > 1 and line[1].startswith("qid:"):
        return "; this is a line of features for learning to rank: write its qid, 0, its document and its grade"
    if fields == QRELS and width in (5, 6) and SAMPLED.fullmatch(" ".join(line[-3:])):
        columns = f"doc={width - 3},gain={width - 2},inclusion={width}"
        return f"; grade, method and probability look like those of a sample: {NUMBERED}{columns}"
    if fields == QRELS and width == len(RUN):
        return "; this looks like a run: name gains first, then runs"
    if fields == RUN and width == len(QRELS) and line[1] in ("0", "Q0"):
        return "; this looks like qrels: name gains first, then runs"
    if fields == QRELS and width not in (3, 4):
        return f"; or {NUMBERED}doc=3,gain=4"
    return ""


def _number(text: str | None, name: str, path: str | Path, line: int) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if math.isnan(value) or "_" in (text or ""):
        raise InputError(
            f"{name} {text!r} is not a number", cure="write a decimal number such as 12.5", file=path, line=line
        )
    return value
