"""Ranking without the compiled kernel: rows of a run and the judged documents in, judged ranks out.

Everything here is array work over all topics at once. Most runs come sorted, and ids only matter where scores tie
around a judged document, so it looks before it sorts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import InputError
from judgewell.evaluation.judged import Judged
from judgewell.evaluation.lookup import Keys
from judgewell.evaluation.ranks import JudgedRanks
from judgewell.evaluation.settings import Settings
from judgewell.stats.arrays import Floats, Ints


def judged_ranks(part: pl.DataFrame, judged: Judged, settings: Settings) -> JudgedRanks:
    """Rank a part's documents (topic, doc, score, and rank as text) and find the judged ones.

    Ranking: by score descending (`order="score"`; `"rank"`: by the file's ranks), then by document id descending.
    """
    lookup = judged.lookup
    runs = part["topic"].rle().struct.unnest()
    names = runs["value"].to_list()
    topics = np.fromiter((lookup.topics.get(name, -1) for name in names), np.int64, len(names))
    lengths = runs["len"].cast(pl.Int64).to_numpy()
    if len(set(names)) < len(names):
        return replace(judged_ranks(part.sort("topic", maintain_order=True), judged, settings), tags=_tags(part))
    unknown = frozenset(name for name, topic in zip(names, topics.tolist(), strict=True) if topic < 0)
    tags, lines = _tags(part), len(part)
    if unknown:
        part = part.filter(pl.Series(np.repeat(topics >= 0, lengths)))
        topics, lengths = topics[topics >= 0], lengths[topics >= 0]
    row = np.repeat(np.arange(len(topics)), lengths)
    keys = lookup.key(part["doc"], np.repeat(topics, lengths))
    refuse_repeats(part, keys)
    at, item = lookup.find(part["doc"], keys)
    rank, first, size = ranks(part["doc"], sort_values(part, settings), row, lengths, at)
    return JudgedRanks(topics, lengths, row[at], rank[at], item, first[at], size[at], unknown, tags, lines)


def _tags(part: pl.DataFrame) -> tuple[str, ...]:
    """The first line's tag and the first that differs from it."""
    if "tag" not in part.columns or not len(part) or part["tag"][0] is None:
        return ()
    first = part["tag"][0]
    return (first, *part["tag"].filter(part["tag"] != first).head(1))


def sort_values(part: pl.DataFrame, settings: Settings) -> Floats | NDArray[np.float32]:
    """What the ranking is sorted by, descending."""
    if settings.order == "rank":
        ranks = part["rank"].cast(pl.Float64, strict=False).fill_nan(None)
        if ranks.null_count():
            at = ranks.is_null().arg_true()[0]
            raise InputError(
                f"topic {part['topic'][at]}: rank {part['rank'][at]!r} of document {part['doc'][at]} is not a number",
                cure="rank by score instead",
                row=(part["topic"][at], part["doc"][at]),
            )
        return -ranks.to_numpy()
    scores = part["score"].to_numpy()
    return scores.astype(np.float32) if settings.precision == "single" else scores


def ranks(
    docs: pl.Series, values: Floats | NDArray[np.float32], row: Ints, lengths: Ints, judged: Ints
) -> tuple[Ints, Ints, Ints]:
    """Each document's rank (from 0) within its row, the first rank of its tie, and how many share its value.

    Ties are ordered by document id descending, but only those that hold a judged document: in others any order gives
    the same scores.
    """
    place = np.arange(len(values))
    order = place
    within = row[1:] == row[:-1]
    if ((values[1:] > values[:-1]) & within).any():
        order = np.lexsort((-values, row))
        values = values[order]
    begins = np.append(True, (values[1:] != values[:-1]) | ~within)[: len(values)]
    tie = np.cumsum(begins) - 1
    size = np.bincount(tie)[tie] if len(values) else place
    if not begins.all():
        is_judged = np.zeros(len(values), bool)
        is_judged[judged] = True
        matters = np.zeros(len(values), bool)
        matters[tie[is_judged[order]]] = True
        places = np.flatnonzero((size > 1) & matters[tie])
        rows = order[places]
        by_doc = docs.gather(rows).arg_sort(descending=True).to_numpy()
        order = order.copy()
        order[places] = rows[by_doc[np.argsort(tie[places][by_doc], kind="stable")]]
    start = np.repeat(np.cumsum(lengths) - lengths, lengths)
    rank, first, tied = np.empty_like(place), np.empty_like(place), np.empty_like(place)
    rank[order], first[order], tied[order] = place - start, place[begins][tie] - start, size
    return rank, first, tied


def refuse_repeats(part: pl.DataFrame, keys: Keys) -> None:
    """A document twice in one ranking is an error: no rule says which place counts."""
    sorted_keys = np.sort(keys)
    doubtful = sorted_keys[1:][sorted_keys[1:] == sorted_keys[:-1]]
    if not len(doubtful):
        return
    rows = part.filter(pl.Series(np.isin(keys, doubtful))).filter(pl.struct("topic", "doc").is_duplicated())
    if len(rows):
        topic, doc = rows["topic"][0], rows["doc"][0]
        raise InputError(
            f"topic {topic}: document {doc} is ranked twice",
            cure="keep one line for each document of a topic; runs of several systems belong in several files",
            row=(topic, doc),
        )
