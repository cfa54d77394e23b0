"""How often agreement's intervals hold what other assessors and documents would give, and its tests raise false alarms.

    python scripts/agreement_intervals.py [STUDIES]

writes docs/evidence/agreement.md. All studies are simulated, so that the truth is known.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from evidence import made_by, markdown, write
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from judgewell.agreement.alpha import krippendorff_alpha
from judgewell.agreement.alpha_without import alphas_without
from judgewell.agreement.grade_tests import grade_differences
from judgewell.agreement.jackknife import jackknife_interval
from judgewell.agreement.kappa import fleiss_kappa
from judgewell.agreement.pair_agreement import same_pair_agreement
from judgewell.stats.footing import footing_of
from judgewell.tables import JUDGMENTS, check

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 1
STUDIES = int(sys.argv[1]) if sys.argv[1:] else 500
ENDLESS = 2_000  # documents and assessors, for the truth
# documents, assessors, judgments of a document (0: every assessor judges every document)
DESIGNS = {
    "3 assessors, 50 documents": (50, 3, 0),
    "3 assessors, 200 documents": (200, 3, 0),
    "crowd of 40, 20 documents": (20, 40, 5),
    "crowd of 40, 50 documents": (50, 40, 5),
    "crowd of 40, 200 documents": (200, 40, 5),
}
GRADES = [-1, 0, 1, 2]


def answers(rng: np.random.Generator, documents: int, assessors: int, each: int) -> tuple[Ints, Ints]:
    """Which document and which assessor each judgment belongs to."""
    if not each:
        places = np.indices((documents, assessors))
        return places[0].ravel(), places[1].ravel()
    who = np.concatenate([rng.choice(assessors, each, replace=False) for _ in range(documents)])
    return np.repeat(np.arange(documents), each), who


def values(rng: np.random.Generator, doc: Ints, who: Ints, graded: bool) -> Floats:
    """Document + an assessor's leniency, with half its spread + noise; cut into grades where asked."""
    worth, leniency = rng.normal(size=doc.max() + 1)[doc], 0.5 * rng.normal(size=who.max() + 1)[who]
    seen: Floats = worth + leniency + 0.8 * rng.normal(size=len(doc))
    return np.digitize(seen, GRADES).astype(float) if graded else seen


def table(doc: Ints, who: Ints, value: Floats, kind: str) -> pl.DataFrame:
    names = {"topic": pl.lit("t"), "kind": pl.lit(kind)}
    frame = pl.DataFrame({"doc": doc.astype(str), "assessor": who.astype(str), "value": value})
    return check(frame.with_columns(**names), JUDGMENTS)


def covered(statistic: str, design: tuple[int, int, int]) -> tuple[str, str, str]:
    """The share of intervals that hold the truth: documents alone left out, and both, whose median width follows."""
    rng = np.random.default_rng([SEED, *statistic.encode(), *design])
    graded = statistic != "α, interval"
    kind = "ordinal" if graded else "interval"
    big = answers(rng, ENDLESS, ENDLESS if design[2] else 200, design[2])
    truth = _estimate(statistic, table(*big, values(rng, *big, graded), kind))[0]
    alone, both, widths = [], [], []
    for _ in range(STUDIES):
        doc, who = answers(rng, *design)
        value = values(rng, doc, who, graded)
        estimate, low, high = _estimate(statistic, table(doc, who, value, kind))
        both.append(low <= truth <= high)
        widths.append(high - low)
        if statistic != "Fleiss’ κ":
            found = jackknife_interval(estimate, [alphas_without(doc, value, doc, kind)])
            alone.append((found["low"] or 0) <= truth <= (found["high"] or 0))
    first = f"{100 * np.mean(alone):.1f} %" if alone else "—"
    return first, f"{100 * np.mean(both):.1f} %", f"{np.median(widths):.2f}"


def _estimate(statistic: str, frame: pl.DataFrame) -> tuple[float, float, float]:
    if statistic == "Fleiss’ κ":
        row = fleiss_kappa(frame, interval=frame.height < ENDLESS).row(0, named=True)
        return row["kappa"], row["low"], row["high"]
    metric = statistic.removeprefix("α, ")
    row = krippendorff_alpha(frame, metric, interval=frame.height < ENDLESS).row(0, named=True)
    return row["alpha"], row["low"], row["high"]


def pairs_covered(pairs: int, assessors: int) -> str:
    """The same for alpha on the same pair: assessors differ in skill, pairs in difficulty."""
    rng = np.random.default_rng([SEED, pairs, assessors])
    truth = same_pair_agreement(_pairs(rng, 3000, 300))["alpha"].item()
    rows = pl.concat(same_pair_agreement(_pairs(rng, pairs, assessors)) for _ in range(STUDIES // 2))
    return f"{100 * rows.select(pl.lit(truth).is_between('low', 'high').mean()).item():.1f} %"


def _pairs(rng: np.random.Generator, pairs: int, assessors: int) -> pl.DataFrame:
    ease, skill = 1.5 * rng.normal(size=(pairs, 1)), np.exp(0.5 * rng.normal(size=assessors))
    left = rng.random((pairs, assessors)) < 1 / (1 + np.exp(-ease * skill))
    pair, who = np.indices(left.shape)
    names = {"left": np.char.add("a", pair.astype(str)).ravel(), "right": np.char.add("b", pair.astype(str)).ravel()}
    chosen = np.where(left, "left", "right").ravel()
    return pl.DataFrame(names | {"assessor": who.astype(str).ravel(), "preferred": chosen}).with_columns(
        topic=pl.lit("t")
    )


def offsets(size: int) -> tuple[str, ...]:
    """Mean alpha of magnitudes, in truth 1/2: offsets removed, n/(n − 1) on observed disagreement, as agree does."""
    rng = np.random.default_rng([SEED, size])
    plain, simple, corrected = [], [], []
    for _ in range(200):
        documents, units = 60, 960 // size
        shown = np.stack([rng.permutation(documents)[:size] for _ in range(units)])
        logs = 2 * rng.normal(size=(units, 1)) + rng.normal(size=documents)[shown] + rng.normal(size=shown.shape)
        unit = np.repeat(np.arange(units), size)
        frame = table(shown.ravel(), unit, np.exp(logs).ravel(), "ratio").with_columns(unit=pl.col("assessor"))
        footing = footing_of(frame)
        raw = krippendorff_alpha(footing.judgments, interval=False)["alpha"].item()
        plain.append(raw)
        simple.append(1 - size / (size - 1) * (1 - raw))
        corrected.append(krippendorff_alpha(footing.judgments, interval=False, removed=footing.removed)["alpha"].item())
    return tuple(f"{np.mean(each):.3f}" for each in (plain, simple, corrected))


def false_alarms(topics: int, each: int) -> tuple[str, str]:
    """Two grades that do not differ: how often pooled judgments, and documents over topics, reject at 0.05."""
    rng = np.random.default_rng([SEED, topics, each])
    pooled, over_topics = [], []
    for _ in range(2 * STUDIES):
        documents = rng.integers(3, 12, size=(topics, 2))
        topic = np.repeat(np.arange(topics), documents.sum(axis=1))
        grade = np.concatenate([np.repeat([0, 1], both) for both in documents])
        effect = 0.3 * rng.normal(size=topics) if topics > 1 else np.zeros(1)
        worth = rng.normal(size=len(topic)) + effect[topic] * grade
        judged = worth[:, None] + rng.normal(size=(len(topic), each))
        pooled.append(mannwhitneyu(judged[grade == 0].ravel(), judged[grade == 1].ravel()).pvalue < 0.05)
        names = {"topic": topic.astype(str), "doc": np.arange(len(topic)).astype(str)}
        gains = pl.DataFrame(names | {"gain": np.median(judged, axis=1)})
        grades = pl.DataFrame(names | {"gain": grade.astype(float)})
        over_topics.append(grade_differences(gains, grades)["p"].item() < 0.05)
    return f"{100 * np.mean(pooled):.1f} %", f"{100 * np.mean(over_topics):.1f} %"


def main() -> None:
    statistics = ("α, interval", "α, ordinal", "Fleiss’ κ")
    rows = [(name, design, *covered(name, DESIGNS[design])) for name in statistics for design in DESIGNS]
    pairs = [
        (f"{pairs} pairs, {who} assessors", pairs_covered(pairs, who)) for pairs, who in ((40, 3), (40, 10), (150, 5))
    ]
    sizes = [(f"{size} documents a unit", *offsets(size)) for size in (4, 8)]
    alarms = [
        (
            f"{topics} {'topic' if topics == 1 else 'topics'}, {each} judgments of a document",
            *false_alarms(topics, each),
        )
        for topics in (1, 5, 18)
        for each in (3, 10)
    ]
    text = [
        HEAD,
        markdown(("statistic", "design", "documents alone", "both", "median width of both"), rows, words=2),
        PAIRS,
        markdown(("design", "both"), pairs),
        OFFSETS,
        markdown(("design", "no correction", "n/(n − 1)", "agree"), sizes),
        ALARMS,
        markdown(("design", "pooled judgments", "over documents and topics"), alarms),
    ]
    write("agreement.md", "\n".join(text))


HEAD = f"""# How reliable intervals and tests of agreement are

{made_by("agreement_intervals.py", f"seed {SEED}")}
All studies are simulated, so the truth is known.

## Intervals of α and κ

How often does the 95 % interval contain the value that infinitely many other assessors and documents would give?
Assessors differ in leniency; {STUDIES} studies for each cell. "Documents alone" leaves out documents in turn, which
covers the same assessors only; "both" leaves out documents and assessors, as `agree` does. In a crowd 5 of 40 assessors
judge each document.
"""

PAIRS = """With three assessors the interval is wide: three people say little about others. For κ, most
of the spread over documents and of the spread over assessors is the noise of single judgments. It would count twice,
so it is removed once, by leaving out single judgments.

## Intervals of α on the same pair

The same for preferences, where assessors differ in skill and pairs in difficulty.
"""

OFFSETS = """## α without unit offsets

On a ratio scale each unit's offset is fitted and removed, which removes disagreement. Magnitudes whose true α is
0.500, 200 studies: the mean α without a correction, with observed disagreement times n/(n − 1) for n documents a unit,
and as `agree` corrects it: f/(f − offsets) with f = judgments − documents, in observed and in expected disagreement.
"""

ALARMS = f"""## False alarms: do grades differ?

Two grades whose documents do not differ on average; where there are several topics, these differ in either direction.
{2 * STUDIES} studies for each cell: how often p < 0.05. A rank-sum test on pooled judgments treats judgments of
one document as independent; `grade_differences` compares documents within topics and combines topics. It should reject
5 %.
"""


if __name__ == "__main__":
    main()
