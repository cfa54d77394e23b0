"""`judgewell report`: everything there is, as one page that opens offline."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import (
    TakesSeveral,
    cluster_options,
    executing,
    kind_option,
    reading_options,
    where_option,
)
from judgewell.commands.database import database_option
from judgewell.errors import DataError, Information, InputError

UNCHANGED = ("output", "files", "strict", "quiet", "cluster", "processes")  # options that leave the page the same

if TYPE_CHECKING:
    from judgewell.reports.parts import Report


@click.command(cls=TakesSeveral, context_settings={"allow_extra_args": True})
@click.argument("study", required=False)
@click.option("-o", "--output", required=True, help="Write the page to this file, e.g. report.html.")
@database_option
@click.option("--judgments", help="Use these judgments: a table (topic, doc, value, …) or a known crowd export.")
@click.option("--pairs", help="Use these pairs of documents that assessors compared.")
@click.option("--gains", multiple=True, help="Use gains made before, several at once; NAME=FILE gives a name.")
@click.option(
    "--method", help="Make gains by this method if none are given: magnitude, mean, …  [default: by the kind of values]"
)
@click.option(
    "--labels", multiple=True, help="Compare with these labels: files (NAME=FILE), or columns of the judgments."
)
@click.option(
    "--machine", multiple=True, help="Analyse a machine's (or other cheap) labels of all documents: NAME=FILE."
)
@click.option("--runs", multiple=True, help="Score these runs, several at once: --runs runs/*.run.")
@click.option(
    "-m",
    "--measure",
    multiple=True,
    help="Score by this measure; may be repeated, the first is the main one.  [default: the goal's, else nDCG@10]",
)
@click.option("--baseline", help="Compare all systems with this one, not every pair.")
@click.option("--title", help="Give the page this title.  [default: the name of the study or of the data]")
@click.option(
    "--files", is_flag=True, help="Also write every figure as SVG, PDF and PNG and every table as CSV and LaTeX."
)
@click.option("--name-assessors", is_flag=True, help="Show assessors' own ids, not A1, A2, …")
@click.option("--draws", default=200, help="Resample this many tables of gains from the judgments.")
@click.option("--worlds", default=1000, help="Resample topics this often.")
@click.option("--replicates", default=1000, help="Resample documents this often for intervals of agreement.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed all random choices with this number.")
@reading_options
@where_option
@kind_option
@cluster_options
@click.option("--strict", is_flag=True, help="Treat notes as errors.")
@click.option("--quiet", is_flag=True, help="Print neither findings nor notes; the page has them.")
@click.pass_context
def report(context: click.Context, /, **given: Any) -> None:
    """Write one self-contained HTML page about a study: systems, judgments, gains and all tables.

    STUDY is a study file or its database: settings come from the frozen study, judgments from its completed units, and
    failed or abandoned units are counted. The labels are the grades in the study file, and the systems are the goal's
    or else the runs of the pool, unless --labels or --runs name others. Judgments of another study, such as pairs
    beside magnitudes, come from a file. Without STUDY everything is read from the files named.

    The report uses everything that is given and lists what could not be analysed, with reasons. Systems are scored
    under the gains (given, or made from the judgments) and under every set of labels, with intervals over topics and
    judgments.

    Name grades by experts, or qrels, with --labels: the report compares judgments and gains with them. Name gains that
    you have already, made by scale or in another way, with --gains: the report uses them instead of making its own. If
    you have only qrels and runs, use --labels.

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
      judgewell report -o report.html --gains human=sample.csv --machine llm=llm.qrels --runs runs/*.run
      judgewell report -o report.html --labels nist=qrels.txt llm=llm.qrels --runs runs/*.run -m nDCG@10 -m ERR@10
    """
    from judgewell.commands.reporting import report as report_on
    from judgewell.reports.files import files_folder
    from judgewell.terminal import notes, progress, prose

    if context.args:
        raise InputError(
            f"{context.args[0]} is one argument too many: report takes one STUDY",
            cure="give runs with --runs, labels and qrels with --labels, gains with --gains",
        )
    page = Path(given["output"])
    _refuse_page(page)
    options = {name: value for name, value in given.items() if name not in UNCHANGED}
    with notes(given["strict"]) as collected:
        with progress("reporting") as show, executing(given["cluster"], given["processes"]) as executor:
            made = report_on(**options, executor=executor, progress=show)
        made = replace(made, record={"command line": _command_line(), **made.record})
        if given["strict"]:
            _refuse_notes(made)
        with progress("drawing") as show:
            made.save(page, files=given["files"], progress=show)
        if given["quiet"]:
            collected.clear()
            return
    beside = f" and {files_folder(page)}" if given["files"] else ""
    size = page.stat().st_size / 1e6
    print(f"{page}{beside}: {len(made.figures)} figures, {len(made.grids)} tables, {size:.1f} MB")
    if made.notice:
        print(f"\n{prose(made.notice)}")
    for part in made.parts:
        if part.findings:
            print(f"\n{part.title}")
        for finding in part.findings:
            print(prose(finding.text, "  ", "  "))


def _command_line() -> str:
    """The command with all that changes the page, to copy; not where it was written or what was printed."""
    context = click.get_current_context()
    words, study = ["judgewell", "report"], []
    for param in context.command.params:
        value = context.params.get(param.name or "")
        if param.name in UNCHANGED or value is None or value == () or value == param.get_default(context):
            continue
        if param.name in ("study", "database") and "://" in value:
            from judgewell.server.store.transactions import without_password

            value = without_password(value)
        if isinstance(param, click.Argument):
            study = [str(value)]
        else:
            values = value if isinstance(value, tuple) else () if value is True else (value,)
            name = max(param.opts, key=len)
            if name in TakesSeveral.several or not values:
                words += [name, *map(str, values)]
            else:
                words += [word for one in values for word in (name, str(one))]
    return shlex.join([*words[:2], *study, *words[2:], "--output", "report.html"])


def _refuse_page(page: Path) -> None:
    """Before the work: the page can be written."""
    if page.suffix not in (".html", ".htm"):
        raise InputError(f"{page} is not the name of a page", cure="end it in .html")
    if not page.parent.is_dir():
        raise InputError(f"there is no folder {page.parent} to write {page.name} into", cure="make it first")


def _refuse_notes(made: Report) -> None:
    """With --strict: what the analyses assumed or excluded from the data they used is an error too."""
    for part in made.each():
        for text in part.notes:
            if isinstance(text, Information):
                continue
            raise DataError(f"{part.title}: {text} (refused because of --strict)")
