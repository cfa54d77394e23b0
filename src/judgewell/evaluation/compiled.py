"""The compiled kernel: bytes of a TREC run and the judged documents in, judged ranks out.

It answers None for whatever is out of the ordinary; the numpy path then decides, with its messages.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgewell.evaluation.judged import Judged, Texts, judged_of
from judgewell.evaluation.ranks import JudgedRanks
from judgewell.evaluation.settings import Settings
from judgewell.formats.files import head, open_bytes
from judgewell.formats.trec_lines import QRELS, SECOND, first_fields, surely_trec

if TYPE_CHECKING:
    from typing_extensions import Buffer

SCATTERED = 7  # the kind for topics that are not together
SINGLE, BY_RANK, GATHER = 1, 2, 4  # flags
BOM = b"\xef\xbb\xbf"
SHOWS_TABS = 4096  # bytes in which a file that is separated by tabs has one
SEED = int.from_bytes(os.urandom(8), "little")  # of hashes; no result depends on it


def extension() -> Any:
    """The C extension; None where it was not built, or where JUDGEWELL_KERNEL=numpy asks to do without."""
    if os.environ.get("JUDGEWELL_KERNEL") == "numpy":
        return None
    try:
        from judgewell.evaluation import _kernel
    except ImportError:
        return None
    return _kernel


def kernel_name() -> str:
    return "compiled kernel" if extension() else "numpy kernel"


def plain_qrels(path: str) -> Judged | None:
    """The judged documents of a qrels file that says all by itself; None where `read_gains` has to look at it."""
    if extension() is None or not Path(path).is_file():
        return None
    fields = first_fields(head(path))
    plain = len(fields) == len(QRELS) and SECOND.fullmatch(fields[1]) and surely_trec(fields, path)
    return read_qrels(open_bytes(path)) if plain else None


def read_qrels(data: Buffer) -> Judged | None:
    """The judged documents of a regular qrels file: four fields, finite grades from 0 on, no document twice."""
    kernel = extension()
    answer: Any = kernel.qrels(_without_bom(data)) if kernel else (0, 0)
    if len(answer) == 2:
        return None
    del data  # large, and no longer needed
    names, name_ends, number, docs, doc_ends, gains = answer
    values = np.frombuffer(gains)
    if not len(values) or not np.isfinite(values).all() or (values < 0).any():
        return None
    topics = Texts(names, np.frombuffer(name_ends, np.int64)).to_list()
    ids = Texts(docs, np.frombuffer(doc_ends, np.int64))
    judged = judged_of(topics, np.frombuffer(number, np.int64), ids, values)
    return None if judged.index is None else judged


def index_of(judged: Judged) -> Any:
    """The judged documents as the extension looks them up; None where it cannot hold them."""
    names = Texts.of(judged.topics)
    number = np.ascontiguousarray(judged.number, np.int64)
    answer = extension().index(names.data, names.ends, number, judged.docs.data, judged.docs.ends, SEED)
    return None if isinstance(answer, tuple) else answer


def judged_ranks(data: Buffer, judged: Judged, settings: Settings) -> tuple[JudgedRanks, int] | None:
    """The ranks of the judged documents in these lines of a run, and how many lines have more than the tag."""
    kernel = extension()
    if kernel is None or judged.index is None:
        return None
    data = _without_bom(data)
    flags = SINGLE * (settings.precision == "single") | BY_RANK * (settings.order == "rank")
    answer = kernel.rank(data, judged.index, flags)
    if answer[0] == SCATTERED:
        answer = kernel.rank(data, judged.index, flags | GATHER)
    if len(answer) == 2:
        return None
    pairs, ranked, unknown, lines, junk, *tags = answer
    if junk and b"\t" in bytes(memoryview(data)[:SHOWS_TABS]):
        return None  # an id may hold a space
    topics, lengths = np.frombuffer(pairs, np.uint32).reshape(-1, 2).T.astype(np.int64)
    row, rank, item, first, size = np.frombuffer(ranked, np.uint32).reshape(-1, 5).T.astype(np.int64)
    places = np.frombuffer(unknown, np.uint64).reshape(-1, 2).tolist()
    view = memoryview(data)
    names = frozenset(str(view[start : start + length], "utf-8") for start, length in places)
    shown = tuple(tag.decode() for tag in tags if tag)
    return JudgedRanks(topics, lengths, row, rank, item, first, size, names, shown, lines), junk


def _without_bom(data: Buffer) -> Buffer:
    view = memoryview(data)
    return view[len(BOM) :] if view[: len(BOM)] == BOM else view
