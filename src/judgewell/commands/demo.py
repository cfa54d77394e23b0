"""`judgewell demo`: the whole story on the sample collection, with synthetic people."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import polars as pl

    from judgewell.assessors.truth import Truth
    from judgewell.commands.demo_findings import Findings
    from judgewell.comparison.scores import ScoreArray

MEASURE = "nDCG@10"
REDUNDANCY = 6  # the fewest with which the median of a document's magnitudes has an interval
PARTITIONS, ASSESSORS_OF_A_GROUP = 2, 3
CROWD = 180  # enough people to finish either study
TABLES = ("gains_magnitude", "gains_pairs", "recovery", "systems", "fewer")
MADE = {"magnitude", "pairs", "runs", "report.html", *(f"{name}.csv" for name in TABLES)}


@click.command()
@click.option("-o", "--output", default="judgewell-demo", help="Write into this folder.")
@click.option(
    "--seed",
    default=1,
    type=click.IntRange(0),
    help="Seed the synthetic assessors and their judgments with this number.",
)
def demo(output: str, seed: int) -> None:
    """Run two small studies of the sample collection, from judging to the report.

    A magnitude study and a study of pairs are judged by synthetic people through the real server; their gains score
    the sample's systems beside the known grades.

    \b
    Example:
      judgewell demo -o demo --seed 2
    """
    folder = Path(output)
    clear(folder)
    began = time.monotonic()
    findings = run(folder, seed, lambda text: print(text, flush=True))
    print("\nThree findings")
    for number, sentence in enumerate(findings.sentences, start=1):
        print(f"{number}. {sentence}")
    print(f"\nThe report: {folder / 'report.html'}")
    print(f"Everything is in {folder} ({time.monotonic() - began:.0f} s).")
    offer_to_judge(folder / "magnitude" / "study.toml")


def clear(folder: Path) -> None:
    """Remove what an earlier demo wrote into the folder; judgments of your own stay, and other files are refused."""
    from judgewell.errors import InputError

    if not folder.exists():
        return
    others = [] if folder.is_dir() else [folder]
    if folder.is_dir():
        others = [path for path in sorted(folder.iterdir()) if path.name.removesuffix(".meta.json") not in MADE]
    if others:
        raise InputError(
            f"{folder} is not a folder of the demo: it holds {others[0].name}", cure="name another with -o"
        )
    for path in folder.iterdir():
        own = f"{path.name}.sqlite"  # where `judgewell serve` keeps the study
        for inside in list(path.iterdir()) if path.is_dir() else [path]:
            if inside.is_dir():
                shutil.rmtree(inside)
            elif not inside.name.startswith(own):
                inside.unlink()


def offer_to_judge(study: Path) -> None:
    """On a terminal, ask whether to open the judging page and serve it until stopped; elsewhere say how it is done."""
    print(f"Judge yourself: {called()} serve {study}")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("CI"):
        return
    try:
        wanted = input("Open the judging page now? [y/N] ").strip().casefold() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        print()
        return
    if wanted:
        open_judging(study)


def called() -> str:
    """How this program is called from here: by its name where that is found, else by its place."""
    name = Path(sys.argv[0]).name
    if name != "judgewell" or shutil.which("judgewell"):
        return "judgewell"
    return os.path.relpath(sys.argv[0])


def open_judging(study: Path) -> None:
    """Serve the study on a free port with an invitation for one person, opened in the browser; Ctrl-C ends it."""
    import socket

    from judgewell.server.judging import invitations as people
    from judgewell.server.serve import serve
    from judgewell.server.session.served import load_served
    from judgewell.server.store.setup import default_database, prepare
    from judgewell.server.store.transactions import open_store

    database = default_database(study)
    with closing(open_store(database)) as store:
        prepare(store, study, time.time)
        served = store.read(load_served).result()
        path = people.invite(store, served, ["you"])[0].path
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(f"Your link: http://127.0.0.1:{port}{path}")
    print("Ctrl-C ends it.", flush=True)
    opening = threading.Timer(1.5, webbrowser.open, [f"http://127.0.0.1:{port}{path}"])
    opening.daemon = True
    opening.start()
    try:
        serve(study, database, port=port, write=lambda line: None)
    except KeyboardInterrupt:
        pass
    finally:
        opening.cancel()
    print("\nStopped. What was judged is kept; go on with the command above.")


def run(folder: Path, seed: int, write: Callable[[str], None]) -> Findings:
    """All of it: two studies, their gains, the systems under them, and what follows."""
    from judgewell import sample
    from judgewell.commands import demo_findings, demo_study
    from judgewell.errors import collect_notes
    from judgewell.formats.provenance import provenance, write_result
    from judgewell.scaling.methods import named

    studies = {
        "magnitude": demo_study.write_magnitude_study(folder / "magnitude", seed, REDUNDANCY),
        "pairs": demo_study.write_pairs_study(folder / "pairs", seed, PARTITIONS, ASSESSORS_OF_A_GROUP),
    }
    shutil.copytree(sample.folder() / "runs", folder / "runs", dirs_exist_ok=True)
    truth = truth_of_all(studies.values(), seed)
    tables = {name: judged(name, path, seed, truth, write) for name, path in studies.items()}
    grades = sample.levels()
    with collect_notes():  # on unjudged documents and ties; the report shows them
        gains = {name: named(_METHODS[name]).interval(tables[name]) for name in studies}
        write(f"gains of {len(gains['magnitude']):,} documents from magnitudes, of {len(gains['pairs']):,} from pairs")
        under = {demo_findings.KNOWN: grades, **gains}
        scores = {name: scored(table) for name, table in under.items()}
        write(f"{MEASURE} of {len(scores[demo_findings.KNOWN].systems)} systems under {', '.join(under)}")
        findings = demo_findings.Findings(
            recovery=demo_findings.recovery(gains, grades, truth.table(grades.select("topic", "doc").iter_rows())),
            order=demo_findings.order(scores),
            fewer=demo_findings.fewer(
                tables["magnitude"],
                lambda part: scored(named("magnitude")(part)),
                tuple(range(1, REDUNDANCY)),
                seed,
            ),
        )
    results = {f"gains_{name}": table for name, table in gains.items()}
    results |= {"recovery": findings.recovery, "systems": findings.order, "fewer": findings.fewer}
    for name, table in results.items():
        write_result(table, folder / f"{name}.csv", provenance("demo", {"seed": seed}, studies.values()))
    write_report(folder, seed, write)
    return findings


def write_report(folder: Path, seed: int, write: Callable[[str], None]) -> None:
    """Both studies, their gains and the systems under them as one page, by the command that users have too."""
    from judgewell.commands.report import report

    page, magnitude = folder / "report.html", folder / "magnitude" / "study.toml"
    arguments: list[object] = [magnitude, "--database", _database(magnitude), "-o", page, "--seed", seed, "-m", MEASURE]
    arguments += ["--title", "judgewell demo", "--draws", 60, "--worlds", 300, "--replicates", 200]
    arguments += ["--pairs", folder / "pairs" / "export" / "pairs.parquet"]
    for name in _METHODS:
        arguments += ["--gains", f"{name}={folder / f'gains_{name}.csv'}"]
    for run_file in sorted((folder / "runs").glob("*.run.gz")):
        arguments += ["--runs", run_file]
    write("writing the report")
    report.main([str(word) for word in [*arguments, "--quiet"]], standalone_mode=False)


_METHODS = {"magnitude": "magnitude", "pairs": "ratio"}


def truth_of_all(studies: Iterable[Path], seed: int) -> Truth:
    """The documents' true relevance, the same in all studies; clear where a document is known in any of them."""
    from dataclasses import replace

    from judgewell.assessors.simulation import truth_of
    from judgewell.server.store.transactions import open_store

    truths = []
    for study in studies:
        with closing(open_store(_database(study))) as store:
            truths.append(truth_of(store, study, seed))
    return replace(truths[0], known={pair: known for one in truths for pair, known in one.known.items()})


def _database(study: Path) -> Path:
    """Apart from where `judgewell serve` would keep the study, so that people can judge it from the start."""
    return study.parent / "simulated.sqlite"


def judged(name: str, study: Path, seed: int, truth: Truth, write: Callable[[str], None]) -> pl.DataFrame:
    """Synthetic people judge the study; its finished judgments."""
    from judgewell.assessors.people import make_people
    from judgewell.assessors.simulation import catch_table, fill
    from judgewell.formats.judgments import read_judgments, read_pairs
    from judgewell.server.queries.export import export
    from judgewell.server.store.transactions import open_store
    from judgewell.terminal import progress

    with closing(open_store(_database(study))) as store:
        with progress(f"{name} study, units judged") as show:
            filled = fill(store, study, make_people(CROWD, seed), seed=seed, truth=truth, progress=show)
        export(store, study.parent / "export")
        catch_table(store, filled.people).write_csv(study.parent / "caught.csv")
    files = study.parent / "export"
    table = read_pairs(files / "pairs.parquet") if name == "pairs" else read_judgments(files / "judgments.parquet")
    write(
        f"{name} study: {filled.done:,} of {filled.needed:,} units, {len(table):,} judgments, in {filled.steps:,} steps"
    )
    return table


def scored(gains: pl.DataFrame) -> ScoreArray:
    """The sample's systems under gains."""
    from judgewell import sample
    from judgewell.analysis.scores import scores_under
    from judgewell.evaluation.measures import parse
    from judgewell.formats.runs import open_runs

    return scores_under(open_runs(sample.runs()), gains, [parse(MEASURE)])[0]
