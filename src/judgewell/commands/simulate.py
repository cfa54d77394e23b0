"""`judgewell simulate`: synthetic people fill a study, through the same door as real ones."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.database import database_option

if TYPE_CHECKING:
    import polars as pl

    from judgewell.assessors.simulate import Simulation


@click.command()
@click.argument("study")
@click.option("--assessors", default=200, type=click.IntRange(1, 100_000), help="Number of synthetic assessors.")
@click.option("--seed", default=1, type=click.IntRange(0), help="The same seed gives the same assessors and judgments.")
@click.option("-o", "--output", help="Write the judgments and what each check caught into this folder.")
@partial(database_option, name="NAME-simulated")
def simulate(study: str, assessors: int, seed: int, output: str | None, database: str | None) -> None:
    """Fill STUDY with judgments of synthetic assessors and report what each check caught.

    Synthetic assessors read the server's own pages and send its own forms; time is simulated. They judge a document
    by its known grade, with noise.

    \b
    Examples:
      judgewell simulate study.toml --assessors 200 --seed 1
      judgewell simulate study.toml --assessors 60 -o out && judgewell scale out/judgments.csv --method magnitude
    """
    from judgewell.assessors.simulate import simulate as fill_study
    from judgewell.server.store.transactions import without_password
    from judgewell.terminal import progress

    with progress("units judged") as show:
        simulation = fill_study(study, assessors=assessors, seed=seed, database=database, progress=show)
    print(f"{simulation!r}\n")
    print(caught_text(simulation.caught))
    kept = without_password(simulation.database)
    print(f"\nKept in {kept}; see it with: judgewell report {study} --database {kept} -o report.html")
    if output:
        for path in write(simulation, output, {"study": study, "assessors": assessors, "seed": seed}):
            print(path)
    missing = simulation.needed - simulation.done
    if missing:
        print(f"note: {missing:,} units are left; let more --assessors come", file=sys.stderr)


def caught_text(caught: pl.DataFrame) -> str:
    """A line for each check, a column for each kind of person: failed at the first try, of how many."""
    from judgewell.terminal import text_table

    cells = {(row["check"], row["kind"]): row for row in caught.iter_rows(named=True)}
    kinds = list(dict.fromkeys(caught["kind"]))

    def cell(check: str, kind: str) -> str:
        row = cells.get((check, kind))
        return "—" if row is None else f"{row['failed']} of {row['failed'] + row['passed']}"

    checks = list(dict.fromkeys(caught["check"]))
    rows = [[CHECKS.get(check, check), *(cell(check, kind) for kind in kinds)] for check in checks]
    return "Failed at the first try, by kind of person\n" + text_table(["check", *kinds], rows)


CHECKS = {
    "practice": "practice with lines",
    "comprehension": "question about the topic",
    "quiz": "quiz of pairs",
    "known": "known documents in order",
    "known_pairs": "known pairs",
    "time": "least time",
    "unit": "units that did not count in the end",
}


def write(simulation: Simulation, folder: str | Path, options: dict[str, Any]) -> list[Path]:
    """What an export writes, and beside it what the documents were worth and what the checks caught."""
    from judgewell.formats.provenance import provenance, write_result
    from judgewell.server.queries.export import export
    from judgewell.server.store.transactions import open_store

    store = open_store(simulation.database)
    try:
        written = export(store, folder)
    finally:
        store.close()
    record = provenance("simulate", options, [options["study"]], [])
    for name, frame in (("truth", simulation.truth), ("caught", simulation.caught)):
        path = Path(folder) / f"{name}.csv"
        write_result(frame, path, record)
        written.append(path)
    return written
