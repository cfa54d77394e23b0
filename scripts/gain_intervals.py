"""How often the intervals of gains hold what endlessly many judgments by the same people would give; writes
docs/evidence/gains.md.

    JUDGEWELL_DATA=… python scripts/gain_intervals.py [--seed 1] [--studies 200]

The people of the second part are formulas whose every judgment is drawn alone, so that the truth of any method is what
it makes of a very large number of judgments.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from evidence import ROOT, made_by, markdown, write
from numpy.typing import NDArray
from scipy.stats import t as student

from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_judgments
from judgewell.scaling.mean_intervals import Ends, mean_interval
from judgewell.scaling.method import Method
from judgewell.scaling.methods import parse
from judgewell.scaling.uncertainty import median_interval

Floats = NDArray[np.float64]
Maker = Callable[[np.random.Generator, int], pl.DataFrame]

RESAMPLED = 0.05  # the share of studies where an interval takes seconds of resampling
DATA = Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data"))
ENDLESS = 4000  # judgments of each document, for the truth
FEW, MANY = 6, 24  # judgments of each document
LEVEL = 0.95
NEAR = 0.02  # what chance alone may take away from the level

WORTH = np.linspace(-1, 1, 12)
NAMES = np.array([f"d{number:02d}" for number in range(12)])
CLASSES = np.arange(12) // 3
RELEVANT = 1 / (1 + np.exp(-WORTH))


def magnitudes(rng: np.random.Generator, judges: int, held: int = 12) -> pl.DataFrame:
    """Units of `held` documents, each magnitude off by a factor; labels are four grades of three documents."""
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
    """Grades 0 to 3, higher ones likelier the better the document."""
    return _graded(rng.binomial(3, RELEVANT, (judges, 12)))


def classes(rng: np.random.Generator, judges: int) -> pl.DataFrame:
    """Every document has a grade, which 60 % of the answers name; the others name a neighbour."""
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
    """Ten times `judges` documents, each graded by two people, in topics of ten."""
    count = judges * 10
    worth = rng.normal(0, 1, count)
    given = rng.binomial(2, 1 / (1 + np.exp(-worth)), (2, count))
    number = np.tile(np.arange(count), 2)
    columns = {"number": number, "assessor": np.repeat(["w1", "w2"], count), "value": given.ravel()}
    return pl.DataFrame(columns).select(
        "assessor",
        "value",
        topic=pl.format("t{}", pl.col("number") // 10),
        doc=pl.format("d{}", "number"),
    )


@dataclass(frozen=True)
class Case:
    """A method with people whose judgments fit it."""

    method: str
    people: Maker
    share: float = 1.0  # of the studies
    fixed: bool = False  # some gains are what they are by definition (a top grade of 1); those are not counted


CASES = (
    Case("magnitude", magnitudes),
    Case("magnitude(average=log-mean)", magnitudes),
    Case("magnitude(average=log-mean)", half_units),
    Case("log-magnitude", magnitudes),
    Case("known-ratio", magnitudes),
    Case("two-way", half_units),
    Case("grade-ratios", magnitudes, RESAMPLED, fixed=True),
    Case("mean", grades),
    Case("median", grades),
    Case("majority", grades, RESAMPLED),
    Case("majority", classes, RESAMPLED),
    Case("dawid-skene", classes, RESAMPLED),
    Case("preference", pairs),
    Case("relevance", pairs),
    Case("bradley-terry", pairs),
    Case("ratio", pairs),
    Case("predicted(threshold=1,use=mean)", doubles),
    Case("udm", doubles, fixed=True),
)
WORDS = {magnitudes: "magnitudes", half_units: "magnitudes, half in a unit", grades: "grades", classes: "true grades",
         pairs: "pairs", doubles: "double judgments"}  # fmt: skip


def truth_of(case: Case, method: Method, seed: int) -> pl.DataFrame:
    """What the method makes of endlessly many judgments: of each document, or of each grade for double judgments."""
    if case.people is doubles:
        found = method.tables(doubles(np.random.default_rng([seed, 0]), ENDLESS))["parameters"]
        return found.select("grade", truth="gain")
    endless = ENDLESS if case.method != "dawid-skene" else ENDLESS // 20  # every assessor has error rates of their own
    return method(case.people(np.random.default_rng([seed, 0]), endless)).select("topic", "doc", truth="gain")


def beside_truth(found: pl.DataFrame, table: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    """The gains with their truth; a document judged twice is worth the mean of what its two grades are worth."""
    if "grade" in truth.columns:
        levels = table.with_columns(grade=pl.col("value").cast(pl.Float64)).join(truth, on="grade")
        truth = levels.group_by("topic", "doc").agg(pl.col("truth").mean())
    return found.join(truth, on=["topic", "doc"])


def coverage(case: Case, judges: int, truth: pl.DataFrame, seed: int, studies: int) -> tuple[float, float]:
    """The share of intervals that hold the truth, and of documents that have none."""
    method, held, given = parse(case.method), 0, []
    for turn in range(int(case.share * studies)):
        table = case.people(np.random.default_rng([seed, 1, turn]), judges)
        rows = beside_truth(method.interval(table, level=LEVEL, seed=turn), table, truth)
        if case.fixed:
            rows = rows.filter(pl.col("low") < pl.col("high"))
        low, high = pl.col("low") - 1e-9, pl.col("high") + 1e-9
        held += rows.filter((low <= pl.col("truth")) & (pl.col("truth") <= high)).height
        given.append((rows.height, rows["low"].is_not_null().sum()))
    documents, intervals = np.sum(given, axis=0)
    return held / intervals if intervals else float("nan"), 1 - intervals / documents


def all_methods(seed: int, studies: int) -> Iterator[str]:
    """The section on all methods, in lines of Markdown."""
    rows, short = [], []
    for case in CASES:
        truth = truth_of(case, parse(case.method), seed)
        cells = [coverage(case, judges, truth, seed, studies) for judges in (FEW, MANY)]
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


HEAD = f"""## All methods

How often does the 95 % interval of a document's gain contain the gain that the method would give for infinitely many
judgments by the same people ({ENDLESS:,} of each document here)? Of `grade-ratios`, `majority` and `dawid-skene` there
are
{100 * RESAMPLED:.0f} % as many studies; twelve documents with {FEW} or {MANY} judgments
each. An assessor of pairs sees a document three times; of double judgments there are {10 * FEW} or {10 * MANY}
documents with two each, in topics of ten. Gains that are fixed by definition (the top grade of `grade-ratios`, both
ends of `udm`) are not counted. Chance alone moves a share by up to 2 points, and by up to 8 where there are fewer
studies.
"""

READING = """
`combined` and `bradley-terry` give a topic's best document the gain 1 and the others a share of it: with few judgments
chance makes the best document's strength too large and so all other gains too small, and no interval around them can
correct that. So `combined` gives no interval unless `--interval bootstrap` asks for one: those contained the truth in
69 % with 6 judgments and 89 % with 24, in six studies each (an interval takes more than ten seconds, so it is not in
the table). `ratio` raises every number by 1, which makes the noise of pairs unequal. `grade-ratios` takes t times the
spread over resampled units; their quantiles hold 88 % with six units. Intervals of discrete gains contain the truth too
often: a majority or a median is one of a few grades, and its interval ends at grades. No interval covers
misunderstandings that people share.
"""


def few_judgments(seed: int, studies: int) -> Iterator[list[str]]:
    """Coverage and width of the interval of a mean, now and by Student, with one to ten judgments of a document."""
    scores = read_judgments(DATA / "trec8-s100" / "judgments.csv.gz").filter(pl.col("known").is_null())
    real = [part["value"].to_numpy() for _, part in scores.group_by("topic", "doc", maintain_order=True)]
    for count in (1, 2, 3, 5, 10):
        cells: list[str] = [str(count)]
        for ends in ((0.0, 100.0), None):
            rows = [_study(np.random.default_rng([seed, count, turn]), real, count, ends) for turn in range(studies)]
            held, width, by_student, median = np.nanmean(rows, axis=0)
            cells += [f"{100 * held:.1f} %", f"{width:.2f}", "" if count == 1 else f"{100 * by_student:.1f} %"]
        cells.append(f"{100 * median:.1f} %")
        yield cells


def _study(
    rng: np.random.Generator, real: list[Floats], count: int, ends: Ends | None, documents: int = 60
) -> tuple[float, float, float, float]:
    """Sixty documents, of which twenty have `count` judgments and the others two: the share of the twenty whose
    interval holds their mean, its mean width, the share that Student's interval holds, and that of medians."""
    size = np.where(np.arange(documents) < 20, count, 2)
    number = np.repeat(np.arange(documents), size)
    if ends is not None:
        chosen = rng.choice(len(real), documents, replace=False)
        truth = np.array([real[at].mean() for at in chosen])
        values = np.concatenate([rng.choice(real[at], many) for at, many in zip(chosen, size, strict=True)])
    else:
        truth = rng.normal(0, 1, documents)
        values = truth[number] + (0.5 * np.exp(rng.normal(0, 0.3, documents)))[number] * rng.normal(size=len(number))
    frame = pl.DataFrame({"topic": "t", "doc": np.char.zfill(number.astype(str), 3), "value": values})
    found = mean_interval(frame, "value", LEVEL, ends).sort("doc").head(20)
    low, high, mine = found["low"].to_numpy(), found["high"].to_numpy(), truth[:20]
    own = values[number < 20].reshape(20, count)
    half = (
        student.ppf(0.975, count - 1) * own.std(axis=1, ddof=1) / np.sqrt(count) if count > 1 else np.full(20, np.nan)
    )
    by_student = np.mean(np.abs(own.mean(axis=1) - mine) <= half)
    middle = median_interval(frame, "value", LEVEL, "logs").sort("doc").head(20)
    median = np.mean((middle["low"].to_numpy() <= mine) & (mine <= middle["high"].to_numpy()))
    return float(np.mean((low <= mine) & (mine <= high))), float(np.mean(high - low)), float(by_student), float(median)


def page(seed: int, studies: int) -> str:
    heads = [
        "judgments",
        "0–100: coverage",
        "width",
        "Student",
        "logs: coverage",
        "width",
        "Student",
        "medians of logs",
    ]
    few = markdown(heads, few_judgments(seed, 2 * studies), words=0)
    made = made_by("gain_intervals.py", f"seed {seed} and {studies} studies a cell")
    return "\n".join([f"# How reliable intervals of gains are\n\n{made}{MEANS}{few}", *all_methods(seed, studies)])


MEANS = """
## Means of few judgments

The 95 % interval of a document's mean (`mean`, and `magnitude` with `average=log-mean`) takes the spread of judgments
from all documents together. On the left, judgments of trec8-s100 are drawn with replacement from each document's ten;
the truth is the mean of the ten. On the right, logarithms of magnitudes are simulated, with documents of unequal
spread. Each study has 60 documents: 20 have the number of judgments in the first column, and 40 have two. Student's
interval, from the document's own judgments alone, has no width where they agree and leaves the scale where they do not.
Medians of up to five magnitudes use the same spread around the median; medians of more use order statistics. Medians of
up to five grades or 0–100 judgments have no interval: they are skewed, and the interval of the mean contains only 62 to
81 % of their medians.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--studies", type=int, default=200)
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        write("gains.md", page(given.seed, given.studies))


if __name__ == "__main__":
    main()
