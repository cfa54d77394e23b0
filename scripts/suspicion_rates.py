"""How often each kind of person is shown to the owner as worth a look: writes docs/evidence/suspicion.md.

    python scripts/suspicion_rates.py [--seeds 3] [--people 130]

Synthetic people fill small studies through the server's own steps; then the owner's page is asked whom it would show.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from evidence import ROOT, made_by, markdown, wilson, write

sys.path.insert(0, str(ROOT / "tests" / "server" / "owner"))

from owner_studies import write_graded_study

from judgewell.agreement.unusual import LEAST, people
from judgewell.assessors.people import make_people
from judgewell.assessors.population import KINDS, Population
from judgewell.assessors.simulation import fill
from judgewell.errors import JudgewellWarning
from judgewell.server.owner.live_analysis import comparable
from judgewell.server.queries.standing_answers import load_work
from judgewell.server.store.transactions import open_store

SCALES = ("s100", "magnitude", "binary", "pairs")
GOOD = ("careful", "generous", "parsimonious")
CROWDS = {
    "mixed": {"careful": 0.60, "generous": 0.08, "parsimonious": 0.08}
    | {"lazy": 0.06, "random": 0.08, "reversed": 0.05, "too fast": 0.05},
    "good": {"careful": 0.8, "generous": 0.1, "parsimonious": 0.1},
}
WORK = ((LEAST, 11), (12, 23), (24, 47), (48, 10_000))
Seen = tuple[str, str, str, int, tuple[str, ...]]  # crowd, scale, kind, judgments, kinds of evidence


def study_of(job: tuple[str, str, int, int]) -> list[Seen]:
    """Whom the owner is shown of one study's people."""
    crowd, scale, seed, count = job
    warnings.simplefilter("ignore", JudgewellWarning)
    kinds = tuple(replace(kind, share=CROWDS[crowd].get(kind.name, 0.0)) for kind in KINDS)
    crowd_people = make_people(count, seed, Population(kinds=kinds))
    with tempfile.TemporaryDirectory() as folder:
        study = write_graded_study(Path(folder), kind=scale, topics=20, docs=18, size=8, redundancy=8, most=20)
        store = open_store(Path(folder) / "study.sqlite")
        try:
            fill(store, study, crowd_people, seed=seed)
            with store.snapshot() as connection:
                work = load_work(connection, float("inf"))
        finally:
            store.close()
    named = {person.name: person.kind.name for person in crowd_people}
    found, _ = people(comparable(work.judgments), work.pairs, work.verdicts)
    return [
        (crowd, scale, named[one.assessor], one.judgments, tuple(evidence.kind for evidence in one.evidence))
        for one in found
        if one.judgments >= LEAST
    ]


def cell(rows: list[Seen]) -> str:
    if not rows:
        return "—"
    shown = sum(bool(row[4]) for row in rows)
    low, high = wilson(shown, len(rows))
    return f"{100 * shown / len(rows):.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {len(rows)}"


EVERYBODY = (("careful, generous, parsimonious", GOOD), *((kind.name, (kind.name,)) for kind in KINDS[len(GOOD) :]))


def by_work(seen: list[Seen], everybody: tuple[tuple[str, tuple[str, ...]], ...] = EVERYBODY) -> str:
    """A row for each kind, a column for each amount of work."""
    heads = [f"{low}–{high}" if high < 10_000 else f"{low} and more" for low, high in WORK]
    rows = []
    for name, kinds in everybody:
        of_kind = [row for row in seen if row[2] in kinds]
        parts = [[row for row in of_kind if low <= row[3] <= high] for low, high in WORK]
        rows.append([name, *(cell(part) for part in parts), cell(of_kind)])
    return markdown(["judgments", *heads, "all"], rows)


def by_scale(seen: list[Seen]) -> str:
    rows = []
    for scale in SCALES:
        here = [row for row in seen if row[1] == scale]
        rows.append([scale, *(cell([row for row in here if row[2] in kinds]) for kinds in (GOOD, ("random",)))])
    return markdown(["scale", "good people", "random"], rows)


def by_evidence(seen: list[Seen]) -> str:
    kinds = [kinds for _, kinds in EVERYBODY]
    counts = [Counter(one for row in seen if row[2] in names for one in set(row[4])) for names in kinds]
    evidence = sorted(set().union(*counts))
    rows = [[one, *(count[one] for count in counts)] for one in evidence]
    return markdown(["evidence", "good people", *(names[0] for names in kinds[1:])], rows)


def page(seeds: int, count: int) -> str:
    jobs = [("mixed", scale, seed, count) for scale, seed in product(SCALES, range(101, 101 + seeds))]
    jobs += [("good", scale, 201, count) for scale in SCALES]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        seen = [row for rows in workers.map(study_of, jobs) for row in rows]
    mixed, good = ([row for row in seen if row[0] == crowd] for crowd in CROWDS)
    settings = f"{seeds} mixed crowds and one of good people for each scale, {count} people in each"
    return f"""# Which assessors are flagged

{made_by("suspicion_rates.py", settings)}
The owner's page flags assessors whose work needs a look, and shows the evidence. How many careless assessors does it
flag, and how many good ones? Synthetic assessors of known types fill studies of 20 topics with 18 documents each, 8
judgments per document, in units of 8 with two known documents (pairs: groups of 6). The tables show the share of
assessors flagged, with a 95 % interval (Wilson) and the number of assessors. For the types careful, generous and
parsimonious, a flag is a false alarm. Assessors with fewer than {LEAST} judgments are never flagged.

The types are assumed, not measured (`assessors/population.py` defines them). For example, an assessor who clicks at
random takes a third of the usual time; one who clicks at random slowly would be flagged later.

## By number of judgments

24 % of the assessors are lazy, random, reversed or too fast. All scales together.

{by_work(mixed)}
## By scale

{by_scale(mixed)}
## By evidence

The number of assessors flagged for each reason; an assessor can have several.

{by_evidence(mixed)}
## False alarms when all assessors are good

{by_work(good, EVERYBODY[:1])}"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--people", type=int, default=130)
    given = parser.parse_args()
    write("suspicion.md", page(given.seeds, given.people))
