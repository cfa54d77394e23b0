"""What must be computed rather than counted: agreement, how stable gains are, contested documents, odd assessors.

It runs in a process of its own at a low priority (`live_cache` starts it), on one snapshot of the database, so that
no assessor waits for it. `python -m judgewell.server.owner.live_analysis` reads the database's address from its input
and writes the result as JSON.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from judgewell.errors import JudgewellError, JudgewellWarning
from judgewell.server.owner.unusual_assessors import Evidence, Person, Usual, people
from judgewell.server.queries.standing_answers import load_work

STEPS = 10  # how gains grew: points on the way from the first judgment to the last
FEW_VALUES = 12  # so many different values are levels in an order
MOST_DOCUMENTS = 300
MOST_VALUES = 12
SPLIT = 1.5  # times the usual spread counts as a split
LONGEST = 600.0  # seconds; bars of active time end here


@dataclass(frozen=True)
class Step:
    """After so many judgments: agreement, and the order of gains against the order they have now."""

    judgments: int
    alpha: float | None
    tau: float | None


@dataclass(frozen=True)
class Scale:
    """Agreement and gains on one scale; `scale` is "pairs" for comparisons."""

    scale: str
    judgments: int
    documents: int
    assessors: int
    metric: str
    alpha: float | None
    low: float | None
    high: float | None
    method: str
    steps: tuple[Step, ...]
    note: str


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
    left_out: int  # answers of assessors whose work is left out
    scales: tuple[Scale, ...]
    documents: tuple[Document, ...]
    documents_of: int
    assessors: tuple[Person, ...]
    usual: Usual
    times: Times
    took: float

    @property
    def suspicious(self) -> list[Person]:
        """Those with evidence, the most of it first."""
        found = [person for person in self.assessors if person.evidence]
        return sorted(found, key=lambda person: (-len(person.evidence), person.assessor))


def insight(connection: sa.Connection, now: float) -> Insight:
    """Everything computed, from what the connection sees."""
    start = time.perf_counter()
    work = load_work(connection, now)
    judgments, pairs = work.judgments.filter("kept"), work.pairs.filter("kept")
    scales, documents = [], []
    for name, part in _by_scale(judgments):
        scales.append(_scale(name, part))
        documents.append(_documents(name, part, work.planned))
    if not pairs.is_empty():
        scales.append(_pair_scale(pairs))
        documents.append(_pair_documents(pairs, work.planned))
    table = pl.concat(documents) if documents else pl.DataFrame()
    found, usual = people(work.judgments, work.pairs, work.verdicts)
    return Insight(
        at=now,
        judgments=judgments.height + pairs.height,
        left_out=work.excluded,
        scales=tuple(scales),
        documents=tuple(_chosen(table)),
        documents_of=table.height,
        assessors=tuple(found),
        usual=usual,
        times=_times(judgments, pairs),
        took=time.perf_counter() - start,
    )


def _by_scale(judgments: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(str(key[0]), part) for key, part in judgments.group_by("scale", maintain_order=True)]


def _scale(name: str, judgments: pl.DataFrame) -> Scale:
    """Agreement on a scale of documents, and how its gains settled as judgments came."""
    from judgewell.agreement.alpha import krippendorff_alpha
    from judgewell.scaling.methods import named

    magnitude = bool(judgments["ratio"].any())
    metric = "ratio" if magnitude else "ordinal" if judgments["value"].n_unique() <= FEW_VALUES else "interval"
    method = named("magnitude" if magnitude else "median")
    ordered = judgments.sort("at", maintain_order=True)
    row: dict[str, Any] = {}
    note = ""
    value = "normalised" if magnitude else "value"
    try:
        row = krippendorff_alpha(_table(ordered, value), metric).row(0, named=True)
    except JudgewellError as error:
        note = str(error)
    parts = [(part, _alpha(part, value, metric)) for part in _grown(ordered)]
    gains = [method.gains(_table(part, "value")) for part, _ in parts]
    return Scale(
        name,
        judgments.height,
        judgments.select("topic", "doc").n_unique(),
        judgments["assessor"].n_unique(),
        metric,
        row.get("alpha"),
        row.get("low"),
        row.get("high"),
        str(method),
        tuple(Step(p.height, alpha, _tau(g, gains[-1])) for (p, alpha), g in zip(parts, gains, strict=True)),
        note,
    )


def _table(judgments: pl.DataFrame, value: str) -> pl.DataFrame:
    names = ("topic", "doc", "assessor", "unit", "position", "scale")
    kind = pl.when(pl.col("ratio")).then(pl.lit("magnitude")).otherwise("scale")
    return judgments.select(*names, pl.col(value).alias("value")).with_columns(
        judgments.select(kind.alias("scale"))["scale"]
    )


def _grown(ordered: pl.DataFrame) -> list[pl.DataFrame]:
    """The first judgments, more of them, and all."""
    sizes = sorted({max(1, round(ordered.height * step / STEPS)) for step in range(1, STEPS + 1)})
    return [ordered.head(size) for size in sizes]


def _alpha(part: pl.DataFrame, value: str, metric: str) -> float | None:
    codes = part.select(pl.struct("topic", "doc").rank("dense")).to_series().to_numpy()
    return _alpha_of(codes, part[value].to_numpy(), metric)


def _alpha_of(codes: Any, values: Any, metric: str) -> float | None:
    """Alpha, or nothing where there is no document with two judgments that could differ."""
    from judgewell.agreement.alpha import alpha_of

    try:
        return _finite(alpha_of(codes, values, metric))
    except JudgewellError:
        return None


def _tau(gains: pl.DataFrame, final: pl.DataFrame) -> float | None:
    """Kendall's tau-b of two gain tables over documents of one topic, pooled."""
    from judgewell.stats.concordance import count_concordance

    both = gains.join(final, on=["topic", "doc"], suffix="_final").with_columns(pl.col("topic").rank("dense"))
    if both.height < 2:
        return None
    counted = count_concordance(both["gain"], both["gain_final"], both["topic"] - 1)
    scale = float(
        np.sqrt(float((counted.pairs - counted.tied_first).sum()) * float((counted.pairs - counted.tied_second).sum()))
    )
    return float((counted.agree - counted.disagree).sum()) / scale if scale else None


def _pair_scale(pairs: pl.DataFrame) -> Scale:
    """Agreement on which of two documents is the better one, and how strengths settled."""
    from judgewell.scaling.bradley_terry import BradleyTerry

    method = BradleyTerry(components="separate")
    ordered = pairs.sort("at", maintain_order=True)
    parts = _grown(ordered)
    gains = [_strengths(method, part) for part in parts]
    last = gains[-1]
    steps = [
        Step(part.height, _pair_alpha(part), _tau(found, last) if found is not None and last is not None else None)
        for part, found in zip(parts, gains, strict=True)
    ]
    documents = pl.concat([pairs.select("topic", doc=pl.col(side)) for side in ("left", "right")]).n_unique()
    alpha = steps[-1].alpha
    note = "" if alpha is not None else "no pair was answered twice yet"
    people = pairs["assessor"].n_unique()
    return Scale(
        "pairs", pairs.height, documents, people, "nominal", alpha, None, None, str(method), tuple(steps), note
    )


def _strengths(method: Any, pairs: pl.DataFrame) -> pl.DataFrame | None:
    names = ("topic", "left", "right", "assessor", "unit", "position", "preferred")
    chosen = pairs.filter(pl.col("preferred").is_not_null())
    found: pl.DataFrame | None = method.gains(chosen.select(names)) if not chosen.is_empty() else None
    return found


def _pair_alpha(pairs: pl.DataFrame) -> float | None:
    codes = pairs.select(
        pl.struct("topic", pl.min_horizontal("left", "right"), pl.max_horizontal("left", "right").alias("other")).rank(
            "dense"
        )
    ).to_series()
    values = pairs.select(_first_won()).to_series()
    return _alpha_of(codes.to_numpy(), values.to_numpy(), "nominal")


def _first_won() -> pl.Expr:
    """1 where the document that comes first in the alphabet was preferred, 0 where the other was, ½ where neither."""
    left_first = pl.col("left") < pl.col("right")
    won = pl.when(pl.col("preferred") == "same").then(0.5).when((pl.col("preferred") == "left") == left_first).then(1.0)
    return pl.when(pl.col("preferred").is_not_null()).then(won.otherwise(0.0)).alias("won")


_KEYS = ["topic", "doc"]


def _documents(name: str, judgments: pl.DataFrame, planned: pl.DataFrame) -> pl.DataFrame:
    """Every document with its judgments, gain and spread."""
    found = judgments.group_by(_KEYS, maintain_order=True).agg(
        judgments=pl.len().cast(pl.Int64),
        gain=pl.col("normalised").median(),
        deviation=pl.col("comparable").std(),
        values=pl.col("value").sort().head(MOST_VALUES),
    )
    return _uncertain(name, found, planned)


def _shown(values: list[float] | None) -> str:
    return ", ".join(f"{value:g}" for value in values or ())


def _pair_documents(pairs: pl.DataFrame, planned: pl.DataFrame) -> pl.DataFrame:
    """Every document with how divided assessors are on its pairs: the standard deviation of who won, over its pairs."""
    couple = [pl.min_horizontal("left", "right").alias("one"), pl.max_horizontal("left", "right").alias("two")]
    answered = pairs.select("topic", *couple, _first_won()).drop_nulls("won")
    each = answered.group_by("topic", "one", "two", maintain_order=True).agg(
        won=pl.col("won").mean(), deviation=pl.col("won").std(), of=pl.len()
    )
    sides = pl.concat(
        [
            each.select("topic", pl.col("one").alias("doc"), "won", "deviation", "of"),
            each.select("topic", pl.col("two").alias("doc"), (1 - pl.col("won")).alias("won"), "deviation", "of"),
        ]
    )
    found = sides.group_by(_KEYS, maintain_order=True).agg(
        judgments=pl.col("of").sum().cast(pl.Int64),
        gain=(pl.col("won") * pl.col("of")).sum() / pl.col("of").sum(),
        deviation=pl.col("deviation").mean(),
        values=pl.lit([], pl.List(pl.Float64)).first(),
    )
    return _uncertain("pairs", found, planned)


def _uncertain(name: str, found: pl.DataFrame, planned: pl.DataFrame) -> pl.DataFrame:
    usual = found["deviation"].drop_nulls().drop_nans().median()
    unit = float(usual) if isinstance(usual, int | float) and usual > 0 else 1.0
    table = found.join(
        planned.filter(scale=name).drop("scale"), on=_KEYS, how="full", coalesce=True, maintain_order="left_right"
    )
    spread = pl.col("deviation") / unit
    return (
        table.with_columns(pl.col("judgments", "planned").fill_null(0), scale=pl.lit(name), spread=spread)
        .with_columns(
            unsure=pl.col("spread").fill_null(1.0) / pl.col("judgments").clip(1).sqrt(),
            split=(pl.col("spread") >= SPLIT).fill_null(False) & (pl.col("judgments") >= 3),
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
                "values": _shown(row["values"]),
                **{name: _finite(row[name]) for name in ("gain", "spread", "unsure")},
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


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def to_json(found: Insight) -> str:
    """The insight as text."""
    return json.dumps(asdict(found), ensure_ascii=False, allow_nan=False)


def from_json(text: str) -> Insight:
    """The insight in a text made by :func:`to_json`."""
    told = json.loads(text)
    told["scales"] = tuple(
        Scale(**{**one, "steps": tuple(Step(**step) for step in one["steps"])}) for one in told["scales"]
    )
    told["documents"] = tuple(Document(**one) for one in told["documents"])
    told["assessors"] = tuple(
        Person(**{**one, "evidence": tuple(Evidence(**each) for each in one["evidence"])}) for one in told["assessors"]
    )
    told["usual"] = Usual(**told["usual"])
    times = told["times"]
    times["bars"] = tuple(TimeBar(**one) for one in times["bars"])
    times["positions"] = tuple(TimeAt(**one) for one in times["positions"])
    told["times"] = Times(**times)
    return Insight(**told)


def main() -> None:
    """Read the database's address, write the insight."""
    from judgewell.server.store.transactions import open_store

    os.nice(10)
    warnings.simplefilter("ignore", JudgewellWarning)
    told = json.loads(sys.stdin.readline())
    store = open_store(told["database"])
    try:
        with store.snapshot() as connection:
            print(to_json(insight(connection, told["now"])))
    finally:
        store.close()


if __name__ == "__main__":
    main()
