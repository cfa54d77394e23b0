"""What must be computed rather than counted: agreement, how stable gains are, contested documents, odd assessors.

It runs in a process of its own at a low priority (`live_cache` starts it), on one snapshot of the database, so that
no assessor waits for it. `python -m judgewell.server.owner.live_analysis` reads the database's address from its input
and writes the result as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
import sqlalchemy as sa
from pydantic import TypeAdapter

from judgewell.agreement.unusual import Person, Usual, people
from judgewell.errors import collect_notes
from judgewell.server.owner.live_agreement import Scale, finite, on_pairs, on_scale
from judgewell.server.queries.former_names import former
from judgewell.server.queries.standing_answers import load_work

MOST_DOCUMENTS = 300
MOST_VALUES = 12
SPLIT = 1.5  # times the usual spread, and
WIDEST = 0.95  # wider than this share of the documents: assessors are split
SEVERAL = 3  # judgments that it takes to see it
LONGEST = 600.0  # seconds; bars of active time end here


@dataclass(frozen=True)
class Document:
    """A document of a topic: what it has, what was planned, its gain, and how far assessors are apart on it."""

    topic: str
    doc: str
    scale: str
    judgments: int
    planned: int
    gain: float | None
    spread: float | None  # in units of the usual spread
    unsure: float | None  # spread / √judgments
    values: str
    split: bool


@dataclass(frozen=True)
class TimeBar:
    """So many answers took from `low` to `high` seconds."""

    low: float
    high: float | None
    answers: int


@dataclass(frozen=True)
class TimeAt:
    """Active seconds at one place of a unit."""

    position: int
    answers: int
    q1: float
    median: float
    q3: float


@dataclass(frozen=True)
class Times:
    """Active time for each answer of finished units."""

    answers: int
    median: float | None
    total: float
    bars: tuple[TimeBar, ...]
    positions: tuple[TimeAt, ...]


@dataclass(frozen=True)
class Insight:
    """All that was computed, as of a moment."""

    at: float
    judgments: int
    excluded: int  # answers of excluded units
    scales: tuple[Scale, ...]
    documents: tuple[Document, ...]
    documents_of: int
    assessors: tuple[Person, ...]
    usual: Usual
    times: Times
    took: float
    left_out = former("excluded", int)

    @property
    def suspicious(self) -> list[Person]:
        """Those with evidence, the most of it first."""
        with_evidence = [person for person in self.assessors if person.evidence]
        return sorted(with_evidence, key=lambda person: (-len(person.evidence), person.assessor))


def insight(connection: sa.Connection, now: float) -> Insight:
    """Everything computed, from what the connection sees."""
    start = time.perf_counter()
    work = load_work(connection, now)
    ended = comparable(work.judgments)
    judgments, pairs = ended.filter("kept"), work.pairs.filter("kept")
    scales, documents = [], []
    for (name,), part in judgments.group_by("scale", maintain_order=True):
        scale, gains = on_scale(str(name), part)
        scales.append(scale)
        documents.append(_documents(str(name), part, gains, work.planned))
    if not pairs.is_empty():
        scale, gains = on_pairs(pairs)
        scales.append(scale)
        documents.append(_pair_documents(pairs, gains, work.planned))
    table = pl.concat(documents) if documents else pl.DataFrame()
    persons, usual = people(ended, work.pairs, work.verdicts)
    return Insight(
        at=now,
        judgments=judgments.height + pairs.height,
        excluded=work.excluded,
        scales=tuple(scales),
        documents=tuple(_chosen(table)),
        documents_of=table.height,
        assessors=tuple(persons),
        usual=usual,
        times=_times(judgments, pairs),
        took=time.perf_counter() - start,
    )


def comparable(judgments: pl.DataFrame) -> pl.DataFrame:
    """The judgments with `comparable`: the values on the common footing of their scale's kind."""
    from judgewell.stats.footing import on_common_footing

    with collect_notes():
        footed = on_common_footing(judgments)
    return judgments.with_columns(footed["value"].alias("comparable"))


_KEYS = ["topic", "doc"]


def _documents(name: str, judgments: pl.DataFrame, gains: pl.DataFrame, planned: pl.DataFrame) -> pl.DataFrame:
    """Every document with its judgments, gain and spread."""
    each = judgments.group_by(_KEYS, maintain_order=True).agg(
        judgments=pl.len().cast(pl.Int64),
        deviation=pl.col("comparable").std(),
        values=pl.col("value").sort().head(MOST_VALUES),
    )
    return _uncertain(name, each.join(gains.select(*_KEYS, "gain"), on=_KEYS, how="left"), planned)


def _pair_documents(pairs: pl.DataFrame, gains: pl.DataFrame, planned: pl.DataFrame) -> pl.DataFrame:
    """Every document with how divided assessors are on its pairs: the standard deviation of who won, over its pairs."""
    couple = [pl.min_horizontal("left", "right").alias("one"), pl.max_horizontal("left", "right").alias("two")]
    answered = pairs.select("topic", *couple, _first_won()).drop_nulls("won")
    each = answered.group_by("topic", "one", "two", maintain_order=True).agg(deviation=pl.col("won").std(), of=pl.len())
    sides = pl.concat([each.select("topic", pl.col(side).alias("doc"), "deviation", "of") for side in ("one", "two")])
    documents = sides.group_by(_KEYS, maintain_order=True).agg(
        judgments=pl.col("of").sum().cast(pl.Int64),
        deviation=pl.col("deviation").mean(),
        values=pl.lit([], pl.List(pl.Float64)).first(),
    )
    return _uncertain("pairs", documents.join(gains.select(*_KEYS, "gain"), on=_KEYS, how="left"), planned)


def _first_won() -> pl.Expr:
    """1 where the document that comes first in the alphabet was preferred, 0 where the other was, ½ where neither."""
    left_first = pl.col("left") < pl.col("right")
    won = pl.when(pl.col("preferred") == "same").then(0.5).when((pl.col("preferred") == "left") == left_first).then(1.0)
    return pl.when(pl.col("preferred").is_not_null()).then(won.otherwise(0.0)).alias("won")


def _uncertain(name: str, documents: pl.DataFrame, planned: pl.DataFrame) -> pl.DataFrame:
    usual = documents["deviation"].drop_nulls().drop_nans().median()
    unit = float(usual) if isinstance(usual, int | float) and usual > 0 else 1.0
    table = documents.join(
        planned.filter(scale=name).drop("scale"), on=_KEYS, how="full", coalesce=True, maintain_order="left_right"
    )
    spread, several = pl.col("spread"), pl.col("judgments") >= SEVERAL
    wide = (spread >= SPLIT) & (spread >= spread.filter(several).quantile(WIDEST))
    counts = pl.col("judgments", "planned").fill_null(0)
    return (
        table.with_columns(counts, scale=pl.lit(name), spread=pl.col("deviation") / unit)
        .with_columns(
            unsure=spread.fill_null(1.0) / pl.col("judgments").clip(1).sqrt(), split=wide.fill_null(False) & several
        )
        .select("topic", "doc", "scale", "judgments", "planned", "gain", "spread", "unsure", "values", "split")
    )


def _chosen(table: pl.DataFrame) -> list[Document]:
    """The documents that are most unsure, and those on which assessors split most."""
    if table.is_empty():
        return []
    most = [
        table.sort("judgments", "unsure", *_KEYS, descending=[False, True, False, False], nulls_last=True).head(
            MOST_DOCUMENTS
        ),
        table.sort("unsure", *_KEYS, descending=[True, False, False], nulls_last=True).head(MOST_DOCUMENTS),
        table.sort("spread", *_KEYS, descending=[True, False, False], nulls_last=True).head(MOST_DOCUMENTS),
    ]
    rows = (
        pl.concat(most)
        .unique(["topic", "doc", "scale"], maintain_order=True)
        .sort("unsure", "topic", "doc", descending=[True, False, False])
    )
    return [
        Document(
            **{
                **row,
                "values": ", ".join(f"{value:g}" for value in row["values"] or ()),
                **{name: finite(row[name]) for name in ("gain", "spread", "unsure")},
            }
        )
        for row in rows.iter_rows(named=True)
    ]


def _times(judgments: pl.DataFrame, pairs: pl.DataFrame) -> Times:
    seconds = pl.concat([judgments.select("position", "seconds"), pairs.select("position", "seconds")])
    if seconds.is_empty():
        return Times(0, None, 0.0, (), ())
    column = seconds["seconds"]
    edges = [0.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 300.0, LONGEST]
    counts = np.histogram(column.to_numpy(), [*edges, np.inf])[0].tolist()
    bars = [TimeBar(low, high, count) for low, high, count in zip(edges, [*edges[1:], None], counts, strict=True)]
    value = pl.col("seconds")
    places = seconds.group_by("position").agg(
        answers=pl.len().cast(pl.Int64), q1=value.quantile(0.25), median=value.median(), q3=value.quantile(0.75)
    )
    return Times(
        seconds.height,
        float(np.median(column.to_numpy())),
        float(column.sum()),
        tuple(bars),
        tuple(TimeAt(**row) for row in places.sort("position").head(60).iter_rows(named=True)),
    )


def to_json(computed: Insight) -> str:
    """The insight as text."""
    return json.dumps(asdict(computed), ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> Insight:
    """The insight in a text made by :func:`to_json`."""
    return TypeAdapter(Insight).validate_json(text)


def main() -> None:
    """Read the database's address, write the insight."""
    from judgewell.server.store.transactions import open_store

    os.nice(10)
    asked = json.loads(sys.stdin.readline())
    with closing(open_store(asked["database"])) as store, store.snapshot() as connection, collect_notes():
        print(to_json(insight(connection, asked["now"])))


if __name__ == "__main__":
    main()
