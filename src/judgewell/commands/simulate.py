"""`judgewell simulate`: synthetic people fill a study, through the same door as real ones."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import cluster_options, executing
from judgewell.commands.database import database_option

if TYPE_CHECKING:
    import polars as pl

    from judgewell.assessors.simulate import Simulation


@click.command()
@click.argument("study")
@click.option("--assessors", default=200, type=click.IntRange(1, 100_000), help="Simulate this many assessors.")
@click.option("--seed", default=1, type=click.IntRange(0), help="The same seed gives the same assessors and judgments.")
@click.option(
    "--studies",
    default=1,
    type=click.IntRange(1, 1_000_000),
    help="Simulate this many studies with consecutive seeds; only the first is kept.",
)
@click.option("-o", "--output", help="Write the judgments and what each check caught into this folder.")
@partial(database_option, name="NAME-simulated")
@cluster_options
def simulate(
    study: str, output: str | None, database: str | None, cluster: str | None, processes: int | None, **options: int
) -> None:
    """Fill STUDY with judgments of synthetic assessors and report what each check caught.

    Synthetic assessors read the server's own pages and send its own forms; time is simulated. They judge a document
    by its grade ([grades]), with noise; a document without a grade gets a random one. --studies shows how far the
    results of such a study vary. A study with a goal stops when the goal is reached.

    A simulation replaces the one before it in the default database, and no other data.

    \b
    Examples:
      judgewell simulate study.toml --assessors 200 --seed 1
      judgewell simulate study.toml --studies 100 --processes 8
      judgewell simulate study.toml --assessors 60 -o out && judgewell scale out/judgments.csv --method magnitude
    """
    from judgewell.assessors.simulate import simulate as fill_study
    from judgewell.server.store.transactions import without_password
    from judgewell.study.cost import cost_text
    from judgewell.terminal import notes, progress
    from judgewell.text import agrees, counted

    several = options["studies"] > 1
    what = "studies simulated" if several else "units judged"
    with notes(), executing(cluster, processes) as executor, progress(what) as show:
        simulation = fill_study(study, **options, database=database, progress=show, executor=executor)
    print(f"{simulation!r}\n")
    if several:
        print(f"{studies_text(simulation.studies)}\n")
    print(f"{caught_text(simulation.caught)}\n")
    print(cost_text(simulation.cost, "completed unit", "by"))
    if simulation.cost.units:
        print("Hours are those that the study expects: seconds a judgment and overhead a unit, under [pay].")
    kept = without_password(simulation.database)
    print(f"\nSaved in {kept}; for a report: judgewell report {quote(study)} --database {quote(kept)} -o report.html")
    if output:
        for path in write(simulation, output, {"study": study, **options}):
            print(path)
    missing = simulation.needed - simulation.done
    if missing and simulation.stopped and simulation.stopped not in simulation.goal:
        print(f"note: {simulation.stopped}", file=sys.stderr)
    elif missing and not simulation.stopped:
        print(
            f"note: {counted(missing, 'unit')} {agrees(missing, 'is', 'are')} not judged yet; give more --assessors",
            file=sys.stderr,
        )


def studies_text(studies: pl.DataFrame) -> str:
    """A line for each number of a study: its mean over all of them, and the range of 95 % of them."""
    import numpy as np

    from judgewell.terminal import text_table

    rows = []
    for name, label in NUMBERS.items():
        values = studies[name].drop_nulls().to_numpy()
        if len(values) and (name != "cost" or values.any()):
            spread = np.quantile(values, [0.025, 0.975])
            rows.append([label, *(f"{value:,.4g}" for value in (values.mean(), *spread))])
    whole = (studies["completed"] == studies["needed"]).sum()
    seeds = f"seeds {studies.item(0, 'seed')} to {studies.item(-1, 'seed')}"
    return (
        f"{studies.height:,} simulated studies ({seeds}); {whole:,} of them completed all units\n"
        f"{text_table(['of a study', 'mean', '2.5 %', '97.5 %'], rows)}"
    )


NUMBERS = {
    "completed": "units completed",
    "attempts": "units begun and ended",
    "judgments": "judgments",
    "assessors": "assessors who judged",
    "days": "days",
    "hours": "hours of work",
    "cost": "cost with the fee",
    "correlation": "correlation of gains with the truth",
}


def caught_text(caught: pl.DataFrame) -> str:
    """A line for each check, a column for each kind of person: failed at the first attempt, of how many."""
    from judgewell.study.checks import check_words
    from judgewell.terminal import text_table

    cells = {(row["check"], row["kind"]): row for row in caught.iter_rows(named=True)}
    kinds = list(dict.fromkeys(caught["kind"]))

    def cell(check: str, kind: str) -> str:
        row = cells.get((check, kind))
        return "—" if row is None else f"{row['failed']} of {row['failed'] + row['passed']}"

    checks = list(dict.fromkeys(caught["check"]))
    names = {"unit": "units not completed"}
    rows = [[names.get(check) or check_words(check), *(cell(check, kind) for kind in kinds)] for check in checks]
    return "Failed at the first attempt, by type of assessor\n" + text_table(["check", *kinds], rows)


def write(simulation: Simulation, folder: str | Path, options: dict[str, Any]) -> list[Path]:
    """What an export writes, and beside it the documents' true relevance, what the checks caught, and the studies."""
    from judgewell.formats.provenance import provenance, write_result
    from judgewell.server.queries.export import export
    from judgewell.server.store.transactions import open_store

    with closing(open_store(simulation.database)) as store:
        written = [*export(store, folder)]
    record = provenance("simulate", options, [options["study"]], [])
    tables = {"truth": simulation.truth, "caught": simulation.caught}
    if simulation.studies.height > 1:
        tables["studies"] = simulation.studies
    for name, frame in tables.items():
        path = Path(folder) / f"{name}.csv"
        write_result(frame, path, record)
        written.append(path)
    return written
