"""`judgewell simulate`: synthetic people fill a study, through the same door as real ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.collecting import database_option

if TYPE_CHECKING:
    import polars as pl

    from judgewell.assessors.truth import Truth
    from judgewell.collect.store import Store


@click.command()
@click.argument("study")
@click.option("--assessors", default=200, type=click.IntRange(1, 100_000), help="How many people come.")
@click.option("--seed", default=1, type=click.IntRange(0), help="The same seed gives the same people and judgments.")
@click.option("-o", "--output", help="Write what was gathered, and what each check caught, into this folder.")
@database_option
def simulate(study: str, assessors: int, seed: int, output: str | None, database: str | None) -> None:
    """Fill STUDY with the judgments of synthetic people and say what each check caught of each kind of person.

    They read the server's own pages and send its own forms; time is simulated. Documents are worth what their grades
    say, give or take. Without --database the study is kept in NAME-simulated.sqlite beside it.

    \b
    Examples:
      judgewell simulate study.toml --assessors 200 --seed 1
      judgewell simulate study.toml --assessors 60 -o out && judgewell scale out/judgments.csv --method magnitude
    """
    from judgewell.assessors.people import make_people
    from judgewell.collect.export import judgments_frame, pairs_frame
    from judgewell.collect.setup import default_database
    from judgewell.collect.store import open_store
    from judgewell.commands.simulation import catch_table
    from judgewell.commands.simulation import simulate as run
    from judgewell.terminal import frame_text, progress

    beside = default_database(study)
    where = database or str(beside.with_name(f"{beside.stem}-simulated.sqlite"))
    store = open_store(where)
    try:
        with progress("units judged") as show:
            found = run(store, study, make_people(assessors, seed), seed=seed, progress=show)
        caught = catch_table(store, found.people)
        with store.snapshot() as connection:
            told = len(judgments_frame(connection)) + len(pairs_frame(connection))
        print(f"{found.done:,} of {found.needed:,} units done with {told:,} judgments by {assessors:,} assessors")
        print(f"{found.days:,.1f} simulated days, {found.steps:,} steps, {found.refused:,} answers asked for again")
        print(f"kept in {where.rpartition('@')[2]}\n")
        print(frame_text(caught))
        if output:
            options = {"study": study, "assessors": assessors, "seed": seed}
            for path in write(store, output, found.truth, caught, options):
                print(path)
    finally:
        store.close()
    if found.done < found.needed:
        print(f"note: {found.needed - found.done:,} units are left; let more --assessors come", file=sys.stderr)


def write(store: Store, folder: str | Path, truth: Truth, caught: pl.DataFrame, options: dict[str, Any]) -> list[Path]:
    """What an export writes, and beside it what the documents were worth and what the checks caught."""
    import sqlalchemy as sa

    from judgewell.collect.export import export
    from judgewell.collect.schema import documents, items, units
    from judgewell.formats.provenance import provenance, write_result

    written = export(store, folder)
    query = sa.select(units.c.topic, documents.c.doc).join_from(items, units, units.c.number == items.c.unit).distinct()
    sides = [query.join(documents, documents.c.number == side) for side in (items.c.doc, items.c.other)]
    with store.snapshot() as connection:
        judged = sorted({(row.topic, row.doc) for side in sides for row in connection.execute(side)})
    record = provenance("simulate", options, [options["study"]], [])
    for name, frame in (("truth", truth.table(judged)), ("caught", caught)):
        path = Path(folder) / f"{name}.csv"
        write_result(frame, path, record)
        written.append(path)
    return written
