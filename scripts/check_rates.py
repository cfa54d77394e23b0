"""What every check catches of every kind of person: writes docs/evidence/checks.md.

    python scripts/check_rates.py [--people 350] [--seed 1]

Synthetic people, all kinds equally common, fill two studies of the sample collection through the server's own steps.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
from evidence import made_by, markdown, wilson, write

from judgewell.assessors.people import make_people
from judgewell.assessors.population import KINDS, Population
from judgewell.assessors.simulation import catch_table, fill
from judgewell.commands.demo_study import LEAST_SECONDS, write_magnitude_study, write_pairs_study
from judgewell.server.store.transactions import open_store

WORDS = {
    "practice": "practice with lines",
    "comprehension": "question about the topic",
    "quiz": "quiz of pairs",
    "known": "known documents in order",
    "known_pairs": "known pairs",
    "time": "least time",
    "unit": "a unit in the end",
}


def caught(name: str, people: int, seed: int) -> pl.DataFrame:
    """The catch table of one study."""
    population = Population(kinds=tuple(replace(kind, share=1 / len(KINDS)) for kind in KINDS))
    crowd = make_people(people, seed, population)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if name == "magnitude":
            study = write_magnitude_study(place, seed, redundancy=12)
        else:
            study = write_pairs_study(place, seed, partitions=1, assessors=8)
        store = open_store(place / "study.sqlite")
        try:
            fill(store, study, crowd, seed=seed)
            return catch_table(store, crowd)
        finally:
            store.close()


def table(found: pl.DataFrame) -> str:
    """A row for each check, a column for each kind: the share caught, its interval, and of how many."""
    kinds = [kind.name for kind in KINDS]
    cells = {(row["check"], row["kind"]): row for row in found.iter_rows(named=True)}
    rows = []
    for check in found["check"].unique(maintain_order=True):
        row = [WORDS.get(check, check)]
        for kind in kinds:
            one = cells.get((check, kind))
            if one is None:
                row.append("—")
                continue
            total = one["passed"] + one["failed"]
            low, high = wilson(one["failed"], total)
            row.append(f"{100 * one['caught']:.0f} % [{100 * low:.0f}, {100 * high:.0f}] of {total}")
        rows.append(row)
    return markdown(["check", *kinds], rows)


def page(people: int, seed: int) -> str:
    magnitude, pairs = (caught(name, people, seed) for name in ("magnitude", "pairs"))
    return f"""# What checks catch

{made_by("check_rates.py", f"seed {seed} and {people} synthetic people for each study, all kinds equally common")}
How often does each check catch a careless assessor, and how often does it stop a careful one? The tables show the
share of first attempts that failed, with a 95 % interval (Wilson) and the number of attempts, for each type of
synthetic assessor. For the type `careful`, every failure is a false alarm. The last row counts units that were not
completed, because a check failed or because the assessor left. An assessor who fails an early check never reaches the
later ones, so the later rows describe only those who passed.

The types are assumed, not measured (`assessors/population.py` defines them). The figures show what the checks do with
such assessors, not how common they are.

## Magnitudes, one document at a time

Units of 8 documents from the sample collection, two of them known documents. Assessors practise on lines, answer a
question about each topic, and spend at least {LEAST_SECONDS} seconds on each document.

{table(magnitude)}
## Pairs

Groups of 8 documents, shown as 12 pairs. Assessors first take a quiz of pairs and answer a question about each topic.

{table(pairs)}"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=350)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    write("checks.md", page(given.people, given.seed))
