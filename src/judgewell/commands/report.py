"""`judgewell report`: everything there is, as one page that opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import TakesSeveral, kind_option, reading, reading_options, where_option
from judgewell.commands.database import database_option, existing
from judgewell.errors import DataError, InputError, note

if TYPE_CHECKING:
    import polars as pl

    from judgewell.reports.parts import Report
    from judgewell.reports.sources import CollectedStudy, Sources

FILES = "_files"  # report.html has its files in report_files


@click.command(cls=TakesSeveral)
@click.argument("study", required=False)
@click.option("-o", "--output", required=True, help="The page: report.html.")
@database_option
@click.option("--judgments", help="Judgments: a table (topic, doc, value, …) or a known crowd export.")
@click.option("--pairs", help="Pairs of documents that assessors compared.")
@click.option("--gains", multiple=True, help="Gains that are there already, several at once; NAME=FILE gives a name.")
@click.option("--method", help="How gains are made where none are given: magnitude, 'magnitude(offset=1)', mean, …")
@click.option("--labels", multiple=True, help="Labels to compare with: files (NAME=FILE), or columns of the judgments.")
@click.option("--runs", multiple=True, help="Runs to measure, several at once: --runs runs/*.run.")
@click.option("-m", "--measure", multiple=True, help="Measures; the first is the main one.  [default: nDCG@10]")
@click.option("--title", default="Relevance judgments: a report", help="The page's title.")
@click.option(
    "--files", is_flag=True, help="Also every figure as SVG and PDF, every table as csv and LaTeX, beside it."
)
@click.option("--name-assessors", is_flag=True, help="Show assessors' own ids, not A1, A2, …")
@click.option("--draws", default=200, help="Gain tables drawn from the judgments.")
@click.option("--worlds", default=1000, help="Resamples of the topics.")
@click.option("--replicates", default=1000, help="Resamples for intervals of agreement.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of all that is drawn.")
@reading_options
@where_option
@kind_option
@click.option("--strict", is_flag=True, help="Refuse what is otherwise told as a note.")
@click.option("--quiet", is_flag=True, help="Print neither findings nor notes; they stand on the page.")
@click.pass_context
def report(context: click.Context, /, **given: Any) -> None:
    """Write one self-contained page: what was asked of whom, quality, agreement, gains, systems, and what stays open.

    STUDY is a study file or the database it is kept in: what was asked comes from the frozen study, judgments from its
    completed units, and what failed or was abandoned is told. A study file's own grades are labels and the runs of its
    pool the systems, unless --labels or --runs name others. Judgments of another study, pairs beside magnitudes, come
    from a file. Without STUDY everything is read from the files named.

    Whatever there is goes in; what the data do not allow is named with its reason. Systems are measured under the gains
    (given, or made from the judgments) and under every set of labels, with intervals over topics and over judgments.

    \b
    Examples, from a study:
      judgewell report study.toml -o report.html
      judgewell report study.toml -o report.html --runs runs/*.run -m nDCG@10 --files
      judgewell report my-study-simulated.sqlite -o report.html --strict

    \b
    From files:
      judgewell report -o report.html --judgments judgments.csv --method magnitude --labels expert=nist.qrels
      judgewell report -o report.html --judgments scores.csv.gz --labels sormunen trec --files
      judgewell report -o report.html --pairs pairs.csv --method bradley-terry --runs runs/*.run -m nDCG@10
      judgewell report -o report.html --labels nist=qrels.txt llm=llm.qrels --runs runs/*.run -m nDCG@10 -m ERR@10
    """
    from judgewell.terminal import notes, progress

    _refuse(given)
    with notes(given["strict"]) as told:
        sources, inputs = _sources(given)
        from judgewell.formats.provenance import provenance
        from judgewell.reports.files import write_files
        from judgewell.reports.page import render
        from judgewell.reports.story import tell

        apart = ("output", "files", "database", "quiet")
        left = {name: value for name, value in context.params.items() if name not in apart}
        options = {**left, "measure": [str(one) for one in sources.measures], "method": str(sources.method or "none")}
        record = provenance("report", options, inputs)
        with progress("reporting") as show:
            found = tell(sources, title=given["title"], notes=told, record=record, progress=show)
        if given["strict"]:
            _refuse_notes(found)
        page = Path(given["output"])
        folder = page.with_name(page.stem + FILES)
        if given["files"]:
            with progress("drawing") as show:
                write_files(found, folder, show)
        page.write_text(render(found, folder.name if given["files"] else ""), encoding="utf-8")
        if given["quiet"]:
            told.clear()
            return
    said = f" and {folder}" if given["files"] else ""
    print(f"{page}{said}: {len(found.figures)} figures, {len(found.grids)} tables, {page.stat().st_size / 1e6:.1f} MB")
    for part in found.parts:
        for finding in part.findings[:1]:
            print(f"  {part.title}: {finding.text}")


def _refuse(given: dict[str, Any]) -> None:
    """Before the work: a page can be written, and there is something to write about."""
    page = Path(given["output"])
    if page.suffix not in (".html", ".htm"):
        raise InputError(f"{page} is not named like a page", cure="end it in .html")
    if not page.parent.is_dir():
        raise InputError(f"there is no folder {page.parent} to write {page.name} into", cure="make it first")
    if given["database"] and not given["study"]:
        raise InputError("--database is given without its study", cure="name the study file first")
    if not any(given[name] for name in ("study", "judgments", "pairs", "gains", "labels")):
        raise InputError(
            "there is nothing to report on", cure="name a study, or give --judgments, --pairs, --gains or --labels"
        )
    if given["gains"] and given["method"]:
        raise InputError("gains are given and a method to make them too", cure="leave out --gains or --method")


def _refuse_notes(report: Report) -> None:
    """With --strict: what the analyses assumed or left out of the data they used is an error too."""
    for part in report.parts:
        for text in part.notes:
            raise DataError(f"{part.title}: {text} (refused because of --strict)")


def _gathered(given: dict[str, Any]) -> CollectedStudy | None:
    """What stands in the study's database; the study may be named by its file or by the database itself."""
    if not given["study"]:
        return None
    import time

    from judgewell.server.queries.collected import collected_study

    database = given["database"] or (None if given["study"].endswith(".toml") else given["study"])
    with existing(given["study"], database) as store:
        return collected_study(store, time.time())


def _of_study(given: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The study file's own labels and runs, where no others are named."""
    if not (given["study"] or "").endswith(".toml"):
        return [], []
    from judgewell.study.file import read_source, read_study

    study, source = read_study(given["study"]), read_source(given["study"])
    grades = [f"grades={source.resolved(study.grades.file)}"] if study.grades else []
    runs = [str(source.resolved(pattern)) for pattern in study.pool.runs]
    return ([] if given["labels"] else grades), ([] if given["runs"] else runs)


def _sources(given: dict[str, Any]) -> tuple[Sources, list[str]]:
    """All that is read, and the files it was read from."""
    from judgewell.evaluation.measures import parse_all
    from judgewell.formats.gains import read_gains
    from judgewell.formats.judgments import read_judgments, read_pairs
    from judgewell.formats.options import kept_where, read_labels
    from judgewell.formats.runs import open_runs
    from judgewell.reports.sources import Sources, with_codes

    how = reading(given, "judgments", "pairs")
    study = _gathered(given)
    judgments, pairs = (study.judgments, study.pairs) if study else (None, None)
    for name, own in (("judgments", judgments), ("pairs", pairs)):
        if given[name] and own is not None:
            raise InputError(f"the study has {name}, and --{name} gives others", cure="leave out one of them")
    judgments = read_judgments(given["judgments"], **how, kind=given["kind"]) if given["judgments"] else judgments
    pairs = read_pairs(given["pairs"], **how) if given["pairs"] else pairs
    judgments, pairs = (table if table is None else kept_where(table, given["where"]) for table in (judgments, pairs))
    own_labels, own_runs = _of_study(given)
    if not given["name_assessors"]:
        judgments, pairs = with_codes(judgments, pairs)
    runs = open_runs([*given["runs"], *own_runs]) if given["runs"] or own_runs else []
    named = {name: _named((*given[name], *(own_labels if name == "labels" else ()))) for name in ("gains", "labels")}
    sources = Sources(
        judgments=judgments,
        pairs=pairs,
        gains={name: read_gains(path) for name, path in named["gains"].items()},
        labels={name: read_labels(path, judgments, how["words"]) for name, path in named["labels"].items()},
        runs=runs,
        measures=parse_all(given["measure"] or ["nDCG@10"]) if runs else [],
        method=None if given["gains"] else _method(given["method"], judgments, pairs),
        draws=given["draws"],
        worlds=given["worlds"],
        replicates=given["replicates"],
        seed=given["seed"],
        study=study,
    )
    files = [given[name] for name in ("judgments", "pairs") if given[name]]
    files += [given["study"]] if (given["study"] or "").endswith(".toml") else []
    files += [path for group in named.values() for path in group.values()]
    return sources, [*files, *(run.source for run in runs if run.source)]


def _method(name: str | None, judgments: pl.DataFrame | None, pairs: pl.DataFrame | None) -> Any:
    """The method asked for, or the one that fits what there is; which is told."""
    from judgewell.reports.worth import method_for
    from judgewell.scaling.methods import parse

    fitting = method_for(judgments, pairs)
    if not (name or fitting):
        return None
    method = parse(name or fitting)
    if (judgments if method.takes == "judgments" else pairs) is None:
        raise InputError(
            f"{method} makes gains from {method.takes}, which are not given", cure=f"give --{method.takes}"
        )
    if not name:
        note(f"no gains and no method are given: gains are made by {method}")
    return method


def _named(words: tuple[str, ...]) -> dict[str, str]:
    """NAME=FILE, or a file under its own name without endings."""
    from judgewell.formats.files import stem

    found: dict[str, str] = {}
    for word in words:
        name, sign, path = word.partition("=")
        if not sign or Path(word).exists():
            name, path = stem(word), word
        if name in found:
            raise InputError(f"two files are called {name}", cure=f"give them names: one={path} other=…")
        found[name] = path
    return found
