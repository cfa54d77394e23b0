"""How often the intervals of gains hold what endlessly many judgments by the same people would give.

A part of docs/evidence/intervals.md, which intervals.py writes. The people here are formulas whose every judgment is
drawn alone, so that the truth of any method is what it makes of a very large number of judgments.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from evidence import markdown
from numpy.typing import NDArray

from judgewell.errors import JudgewellWarning
from judgewell.scaling.method import Method
from judgewell.scaling.methods import parse

Floats = NDArray[np.float64]
Maker = Callable[[np.random.Generator, int], pl.DataFrame]

REPEATS, RESAMPLED = 100, 30  # studies for each cell; fewer where an interval takes seconds of resampling
ENDLESS = 4000  # judgments of each document, for the truth
FEW, MANY = 6, 24  # judgments of each document
LEVEL = 0.95
NEAR = 0.02  # what chance alone may take away from the level

WORTH = np.linspace(-1, 1, 12)
NAMES = np.array([f"d{number:02d}" for number in range(12)])
CLASSES = np.arange(12) // 3
RELEVANT = 1 / (1 + np.exp(-WORTH))


def magnitudes(rng: np.random.Generator, judges: int, held: int = 12) -> pl.DataFrame:
    """Units of `held` documents, each magnitude off by a factor; labels are four levels of three documents."""
    units = judges * 12 // held
    docs = np.concatenate([rng.permutation(12)[:held] for _ in range(units)])
    value = np.exp(WORTH[docs] + rng.normal(0, 0.5, len(docs)))
    columns = {"doc": NAMES[docs], "unit": np.repeat(np.arange(units), held), "value": value, "label": CLASSES[docs]}
    known = np.select([docs == 0, docs == 11], ["N", "H"], "")
    return pl.DataFrame(columns).with_columns(topic=pl.lit("t"), known=pl.Series(known))


def half_units(rng: np.random.Generator, judges: int) -> pl.DataFrame:
    """Units that hold six of the twelve documents."""
    return magnitudes(rng, judges, 6)


def grades(rng: np.random.Generator, judges: int) -> pl.DataFrame:
    """Levels 0 to 3, higher ones likelier the better the document."""
    return _graded(rng.binomial(3, RELEVANT, (judges, 12)))


def classes(rng: np.random.Generator, judges: int) -> pl.DataFrame:
    """Every document has a level, which 60 % of the answers name; the others name a neighbour."""
    off = rng.choice([-1, 0, 1], (judges, 12), p=[0.2, 0.6, 0.2])
    return _graded(np.clip(CLASSES + off, 0, 3))


def _graded(given: NDArray[np.int64]) -> pl.DataFrame:
    judges = len(given)
    who = np.repeat([f"w{number}" for number in range(judges)], 12)
    columns = {"doc": np.tile(NAMES, judges), "assessor": who, "unit": who, "value": given.ravel()}
    return pl.DataFrame(columns).with_columns(topic=pl.lit("t"))


def pairs(rng: np.random.Generator, judges: int) -> pl.DataFrame:
    """Two documents at random: a preference, what is relevant, and numbers for both; units of six pairs."""
    count = judges * 12 * 3 // 2  # each document is in three pairs of a judge, as in groups of three partners
    i = rng.integers(0, 12, count)
    j = (i + rng.integers(1, 12, count)) % 12
    first = rng.random(count) < 1 / (1 + np.exp(WORTH[j] - WORTH[i]))
    columns = {
        "left": NAMES[i],
        "right": NAMES[j],
        "unit": np.arange(count) // 6,
        "preferred": np.where(first, "left", "right"),
        "left_score": np.exp(WORTH[i] + rng.normal(0, 0.4, count)),
        "right_score": np.exp(WORTH[j]),
        "left_relevant": rng.random(count) < RELEVANT[i],
        "right_relevant": rng.random(count) < RELEVANT[j],
    }
    return pl.DataFrame(columns).with_columns(topic=pl.lit("t"))


def doubles(rng: np.random.Generator, judges: int) -> pl.DataFrame:
    """Ten times `judges` documents, each graded by two people, in topics of twenty."""
    count = judges * 10
    worth = rng.normal(0, 1, count)
    given = rng.binomial(2, 1 / (1 + np.exp(-worth)), (2, count))
    number = np.tile(np.arange(count), 2)
    columns = {"number": number, "assessor": np.repeat(["w1", "w2"], count), "value": given.ravel()}
    return pl.DataFrame(columns).select(
        "assessor",
        "value",
        topic=pl.format("t{}", pl.col("number") // 20),
        doc=pl.format("d{}", "number"),
    )


@dataclass(frozen=True)
class Case:
    """A method with people whose judgments fit it."""

    method: str
    people: Maker
    repeats: int = REPEATS
    fixed: bool = False  # some gains are what they are by definition (a top level of 1); those are not counted


CASES = (
    Case("magnitude", magnitudes),
    Case("magnitude(average=log-mean)", magnitudes),
    Case("magnitude(average=log-mean)", half_units),
    Case("log-magnitude", magnitudes),
    Case("known-ratio", magnitudes),
    Case("two-way", half_units),
    Case("level-ratios", magnitudes, RESAMPLED, fixed=True),
    Case("mean", grades),
    Case("median", grades),
    Case("majority", grades, RESAMPLED),
    Case("majority", classes, RESAMPLED),
    Case("dawid-skene", classes, RESAMPLED),
    Case("preference", pairs),
    Case("relevance", pairs),
    Case("bradley-terry", pairs),
    Case("ratio", pairs),
    Case("combined", pairs, RESAMPLED),
    Case("predicted(threshold=1)", doubles),
    Case("udm", doubles, fixed=True),
)
WORDS = {magnitudes: "magnitudes", half_units: "magnitudes, half in a unit", grades: "levels", classes: "true levels",
         pairs: "pairs", doubles: "double judgments"}  # fmt: skip


def truth_of(case: Case, method: Method, seed: int) -> pl.DataFrame:
    """What the method makes of endlessly many judgments: of each document, or of each level for double judgments."""
    if case.people is doubles:
        found = method.tables(doubles(np.random.default_rng([seed, 0]), ENDLESS))["parameters"]
        return found.select("level", truth="gain")
    endless = ENDLESS if case.method != "dawid-skene" else ENDLESS // 20  # every assessor has error rates of their own
    return method(case.people(np.random.default_rng([seed, 0]), endless)).select("topic", "doc", truth="gain")


def beside_truth(found: pl.DataFrame, table: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """The gains with their truth; a document judged twice is worth the mean of what its two levels are worth."""
    if "level" in truth.columns:
        levels = table.with_columns(level=pl.col("value").cast(pl.Float64)).join(truth, on="level")
        truth = levels.group_by("topic", "doc").agg(pl.col("truth").mean())
    return found.join(truth, on=["topic", "doc"])


def coverage(case: Case, judges: int, truth: pl.DataFrame, seed: int) -> tuple[float, float]:
    """The share of intervals that hold the truth, and of documents that have none."""
    method, held, given = parse(case.method), 0, []
    for turn in range(case.repeats):
        table = case.people(np.random.default_rng([seed, 1, turn]), judges)
        rows = beside_truth(method.interval(table, level=LEVEL, seed=turn), table, truth)
        if case.fixed:
            rows = rows.filter(pl.col("low") < pl.col("high"))
        low, high = pl.col("low") - 1e-9, pl.col("high") + 1e-9
        held += rows.filter((low <= pl.col("truth")) & (pl.col("truth") <= high)).height
        given.append((rows.height, rows["low"].is_not_null().sum()))
    documents, intervals = np.sum(given, axis=0)
    return held / intervals if intervals else float("nan"), 1 - intervals / documents


def section(seed: int) -> Iterator[str]:
    """The section on gains, in lines of Markdown."""
    rows, short = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        for case in CASES:
            truth = truth_of(case, parse(case.method), seed)
            cells = [coverage(case, judges, truth, seed) for judges in (FEW, MANY)]
            rows.append([f"`{case.method}`", WORDS[case.people], *map(_cell, cells)])
            if min(share for share, _ in cells) < LEVEL - NEAR:
                short.append(f"`{case.method}` of {WORDS[case.people]}")
    yield HEAD
    yield markdown(["method", "of", f"{FEW} judgments", f"{MANY} judgments"], rows, words=2)
    said = "; ".join(short) if short else "none"
    yield f"Below the level by more than {100 * NEAR:.0f} points, with {FEW} judgments or with {MANY}: {said}."
    yield READING


def _cell(found: tuple[float, float]) -> str:
    share, without = found
    return f"{100 * share:.1f} %" + (f" ({100 * without:.0f} % have none)" if without else "")


HEAD = f"""## Intervals of gains

How often the 95 % interval of a document's gain holds what the method would make of endlessly many judgments by the
same people ({ENDLESS:,} of each document here). {REPEATS} studies for each cell, {RESAMPLED} of `level-ratios`,
`majority`, `dawid-skene` and `combined`; twelve documents with {FEW} or {MANY} judgments each. A judge of pairs sees a
document three times; of double judgments there are {10 * FEW} or {10 * MANY} documents with two each. Gains that are
fixed by definition (the top level of `level-ratios`, both ends of `udm`) are not counted.
"""

READING = """
`combined` and `bradley-terry` give a topic's best document 1 and the others their share of it: with few judgments
chance makes the best one's worth too large and so all others too small, which no
interval around them knows; read those of `combined` as too narrow below some dozens of judgments of a document.
`ratio` raises every number by 1, which makes the noise of pairs unequal.
`level-ratios` resamples a few units. What is discrete covers too much: a majority or a median is one of a few levels,
and its interval runs from level to level. None of these intervals knows of people who misunderstand alike.
"""
