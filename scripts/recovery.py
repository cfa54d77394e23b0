"""Recovery at known truth: how well gains recover the true relevance of documents, by scale and number of judges.

    python scripts/recovery.py                   # writes docs/evidence/recovery.md
    python scripts/recovery.py -o recovery.csv --rounds 20

A row is the mean over simulated topics of the correlation of gains with the documents' true relevance. Gains are made
by the package's own methods from synthetic judgments; the same people and documents stand behind all scales.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from evidence import made_by, markdown, write
from numpy.typing import NDArray
from scipy.stats import spearmanr

from judgewell.assessors.arrays import crowd_of
from judgewell.assessors.people import make_people
from judgewell.assessors.synthetic_tables import synthetic_table
from judgewell.assessors.value import KNOWN, pair_gains, topic_relevances
from judgewell.errors import JudgewellWarning
from judgewell.scaling.methods import parse

METHODS = {
    "magnitude": ("magnitude", "two-way"),
    "s100": ("mean", "median"),
    "ordinal": ("mean", "majority"),
    "binary": ("mean",),
}
JUDGES = (1, 2, 3, 5, 10, 15)


def recovered(scale: str, method: str, judges: int, topics: int, seed: int) -> list[float]:
    """Spearman's correlation of gains with the truth, one for each topic."""
    table = synthetic_table(scale, seed=seed, topics=topics, documents=60, redundancy=judges)  # type: ignore[arg-type]
    gains = parse(method)(table.drop("grade", "known", "relevance"))
    relevance = table.filter(pl.col("known").is_null()).select("topic", "doc", "relevance").unique()
    both = gains.join(relevance, on=["topic", "doc"])
    return [
        float(spearmanr(part["gain"], part["relevance"]).statistic)
        for part in both.partition_by("topic")
        if len(part) > 2
    ]


def recovered_by_pairs(judges: int, topics: int, seed: int) -> list[float]:
    """The same for groups of eight documents, two of them known, in twelve pairs; a document is shown in three of them
    to each judge."""
    rng = np.random.default_rng(seed)
    crowd = crowd_of(make_people(300, seed))
    found = []
    for _ in range(topics):
        relevance = topic_relevances(60, crowd.population, rng, alike=True)
        gains, _ = pair_gains(60 // 6 * judges, 12, relevance, crowd, rng)
        found.append(float(spearmanr(gains, relevance[KNOWN:]).statistic))
    return found


def table_of(topics: int, seed: int) -> pl.DataFrame:
    """All scales, methods and numbers of judges."""
    rows = []
    for scale, method in [(scale, method) for scale, methods in METHODS.items() for method in methods]:
        for judges in JUDGES:
            found = np.array(recovered(scale, method, judges, topics, seed))
            rows.append({"scale": scale, "method": method, "judges": judges, **_interval(found)})
    for judges in JUDGES:
        found = np.array(recovered_by_pairs(judges, topics, seed))
        rows.append({"scale": "pairs", "method": "ratio", "judges": judges, **_interval(found)})
    return pl.DataFrame(rows)


def _interval(found: NDArray[np.float64]) -> dict[str, float]:
    mean, error = float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))
    return {"correlation": round(mean, 3), "low": round(mean - 1.96 * error, 3), "high": round(mean + 1.96 * error, 3)}


def page(table: pl.DataFrame, topics: int, seed: int) -> str:
    """The correlations with a column for each number of judges, as a page of the documentation."""
    cells = {(row["scale"], row["method"], row["judges"]): row for row in table.iter_rows(named=True)}
    kinds = list(dict.fromkeys((scale, method) for scale, method, _ in cells))

    def cell(scale: str, method: str, judges: int) -> str:
        row = cells.get((scale, method, judges))
        return f"{row['correlation']:.2f} [{row['low']:.2f}, {row['high']:.2f}]" if row else "—"

    heads = ["scale", "gains by", *(counted(judges) for judges in JUDGES)]
    rows = [[scale, method, *(cell(scale, method, judges) for judges in JUDGES)] for scale, method in kinds]
    return f"""# Recovery at known truth

{made_by("recovery.py", f"seed {seed} and {topics} simulated topics for each cell")}
How well do gains recover the true relevance of documents? The truth is known because documents and people are
synthetic. The table shows Spearman's correlation of gains with the truth over the 60 documents of a topic: the mean
over topics with its 95 % interval. The four expert grades are equally common. All scales have the same population of
assessors, with lazy, random and reversed ones. They also have the same check: if the known documents of a unit are not
in order, somebody else judges the unit again. So an assessor in this table is one who passed.

{markdown(heads, rows, words=2)}
An assessor of pairs sees each document three times, beside three others; the known documents connect all groups. So
pairs cost more for the same number of assessors. `judgewell design --compare` compares designs at equal hours instead,
and counts the time of failed units.

These results apply to real people as far as they resemble the [synthetic ones](population.md).
"""


def counted(judges: int) -> str:
    return "1 assessor" if judges == 1 else f"{judges} assessors"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="a .csv file instead of the page")
    parser.add_argument("--rounds", type=int, default=100, help="simulated topics")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore", JudgewellWarning)
    made = table_of(given.rounds, given.seed)
    if given.output is None:
        write("recovery.md", page(made, given.rounds, given.seed))
    else:
        made.write_csv(given.output)
