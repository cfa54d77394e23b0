"""Agreement and gains on each scale while judgments come in, by the same functions as `agree`, `scale` and `report`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from judgewell.errors import JudgewellError
from judgewell.tables import JUDGMENTS, PAIRS

if TYPE_CHECKING:
    from judgewell.scaling.method import Method

STEPS = 10  # how gains grew: points on the way from the first judgment to the last


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


def on_scale(name: str, judgments: pl.DataFrame) -> tuple[Scale, pl.DataFrame]:
    """Agreement on a scale of documents with how its gains settled, and the gains."""
    from judgewell.scaling.methods import method_for, parse

    table = judgments.sort("at", maintain_order=True).select(_names(judgments, JUDGMENTS.names))
    return _settled(
        name, table, parse(method_for(judgments, None)), judgment_alpha, table.select("topic", "doc").n_unique()
    )


def on_pairs(pairs: pl.DataFrame) -> tuple[Scale, pl.DataFrame]:
    """Agreement on which of two documents is the better one with how gains settled, and the gains."""
    from judgewell.agreement.common import without_known
    from judgewell.agreement.pair_agreement import same_pair_agreement
    from judgewell.scaling.methods import method_for, parse

    table = pairs.sort("at", maintain_order=True).select(_names(pairs, PAIRS.names))
    documents = pl.concat([table.select("topic", doc=pl.col(side)) for side in ("left", "right")]).n_unique()

    def alpha(part: pl.DataFrame, interval: bool) -> dict[str, Any]:
        return {"metric": "nominal", **same_pair_agreement(without_known(part)).row(0, named=True)}

    method = parse(f"{method_for(None, table)}(components=separate)")  # not all documents may be connected yet
    return _settled("pairs", table, method, alpha, documents)


def judgment_alpha(judgments: pl.DataFrame, interval: bool) -> dict[str, Any]:
    """Krippendorff's alpha as the agreement stage gives it first: by the footing and metric of the kind."""
    from judgewell.agreement.alpha import krippendorff_alpha
    from judgewell.agreement.evidence import Evidence

    frame, metric, _, removed = Evidence(judgments=judgments).comparable()[0]
    return krippendorff_alpha(frame, metric, removed=removed, interval=interval).row(0, named=True)


Alpha = Callable[[pl.DataFrame, bool], dict[str, Any]]


def _settled(
    name: str, table: pl.DataFrame, method: Method, alpha: Alpha, documents: int
) -> tuple[Scale, pl.DataFrame]:
    row, note = _tried(alpha, table, True)
    parts = _grown(table)
    gains = [_gains(method, part) for part in parts]
    last = gains[-1]
    repeated = _repeated(table)
    steps = [
        Step(part.height, finite(_tried(alpha, part, False)[0].get("alpha")), _tau(some, last) if repeated else None)
        for part, some in zip(parts, gains, strict=True)
    ]
    scale = Scale(
        scale=name,
        judgments=table.height,
        documents=documents,
        assessors=table["assessor"].n_unique(),
        metric=row.get("metric", ""),
        alpha=finite(row.get("alpha")),
        low=finite(row.get("low")),
        high=finite(row.get("high")),
        method=str(method),
        steps=tuple(steps),
        note=note,
    )
    return scale, last


def _repeated(table: pl.DataFrame) -> bool:
    """Whether most documents have several judgments; a document's only judgment does not change its gain."""
    if "doc" not in table.columns:
        return True
    counts = table.group_by("topic", "doc").len()["len"]
    return 2 * int((counts > 1).sum()) > len(counts)


def _names(frame: pl.DataFrame, names: list[str]) -> list[str]:
    return [name for name in (*names, "known", "left_known", "right_known") if name in frame.columns]


def _tried(alpha: Alpha, table: pl.DataFrame, interval: bool) -> tuple[dict[str, Any], str]:
    """Agreement, or nothing and why there is none yet."""
    try:
        return alpha(table, interval), ""
    except JudgewellError as error:
        return {}, str(error)


def _gains(method: Method, table: pl.DataFrame) -> pl.DataFrame:
    """The gains, or none where the first judgments do not allow any."""
    try:
        return method.gains(table)
    except JudgewellError:
        return pl.DataFrame(schema={"topic": pl.String, "doc": pl.String, "gain": pl.Float64})


def _grown(ordered: pl.DataFrame) -> list[pl.DataFrame]:
    """The first judgments, more of them, and all."""
    sizes = sorted({max(1, round(ordered.height * step / STEPS)) for step in range(1, STEPS + 1)})
    return [ordered.head(size) for size in sizes]


def _tau(gains: pl.DataFrame, final: pl.DataFrame) -> float | None:
    """Kendall's tau-b of two gain tables over documents of one topic, pooled."""
    from judgewell.stats.concordance import count_concordance

    both = gains.join(final, on=["topic", "doc"], suffix="_final").with_columns(pl.col("topic").rank("dense"))
    if both.height < 2:
        return None
    counted = count_concordance(both["gain"], both["gain_final"], both["topic"] - 1)
    untied = float((counted.pairs - counted.tied_first).sum()) * float((counted.pairs - counted.tied_second).sum())
    return float((counted.agree - counted.disagree).sum()) / math.sqrt(untied) if untied else None


def finite(value: float | None) -> float | None:
    """The number, or None where it is undefined."""
    return value if value is not None and math.isfinite(value) else None
