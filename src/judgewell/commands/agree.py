"""`judgewell agree`: how far the judgments agree with labels, with each other and with themselves."""

from __future__ import annotations

import textwrap
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

if TYPE_CHECKING:
    from judgewell.analysis.agree import Agreement

MOST_ROWS = 12
WIDTH = 100


def _list_sections(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from judgewell.agreement.sections import all_sections

        for section in all_sections():
            print(f"{section.name}: {section.about}\n  tables {', '.join(table.name for table in section.tables)}")
        context.exit()


@click.command(cls=TakesSeveral)
@click.argument("judgments")
@click.argument("labels", nargs=-1)
@click.option("--against", multiple=True, help="Labels to compare with: a qrels file, or a column of JUDGMENTS.")
@click.option("--gains", help="The documents' gains, e.g. from judgewell scale (default: medians of the values).")
@click.option("--scores", help="Scores of systems, e.g. from judgewell evaluate, for the difficulty of topics.")
@click.option("--documents", help="The documents judged (jsonl, csv, a folder, …), for time against length.")
@click.option("--likes", help="Which questions assessors liked: a table of topic, assessor, question, liked.")
@click.option("--machine", multiple=True, help="Labels by a machine, to compare with people's: FILE or NAME=FILE.")
@click.option("--runs", multiple=True, help="Runs, several at once: which systems the machine favours.")
@click.option("-m", "--measure", multiple=True, help="Measures of systems with --runs.  [default: nDCG@10]")
@click.option("--pairs", is_flag=True, help="JUDGMENTS holds pairs (recognised where the file's columns show it).")
@kind_option
@click.option("--section", multiple=True, help="Only this section, with its tables; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Print the tables of every section.")
@click.option("-o", "--output", help="A folder: every table as csv, and how they were made.")
@click.option("--replicates", default=1000, help="Resamples for intervals.")
@click.option("--seed", default=0, help="Seed of everything random.")
@reading_options
@where_option
@cluster_options
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_sections, help="List the sections."
)
def agree(judgments: str, labels: tuple[str, ...], verbose: bool, output: str | None, **options: Any) -> None:
    """Measure agreement between assessors in JUDGMENTS, and between JUDGMENTS and LABELS.

    Runs every analysis the data allow and prints the findings. -v prints the tables, -o writes them.

    \b
    Examples:
      judgewell agree judgments.csv expert.qrels -o agreement/
      judgewell agree judgments.csv --against nist.qrels --against sormunen --gains gains.csv
      judgewell agree pairs.csv --pairs --section transitivity
      judgewell agree nist.qrels umbrela.qrels gpt4.qrels
      judgewell agree judgments.csv --machine llm.qrels --runs runs/*.run --section "people and machines"
    """
    from judgewell.analysis.agree import agree as measure
    from judgewell.terminal import notes, progress

    where = options.pop("cluster"), options.pop("processes")
    with notes() as noted, progress("analysing") as show, executing(*where) as executor:
        agreement = measure(judgments, labels, progress=show, executor=executor, **options)
        if output:
            named = {**options, "judgments": judgments, "labels": labels, "output": output}
            _write(agreement, Path(output), named, noted)
        if options["section"] or verbose:
            _print_tables(agreement)
        _print_findings(agreement, hint=not (options["section"] or verbose or output))


def _write(agreement: Agreement, folder: Path, options: dict[str, Any], noted: list[str]) -> None:
    """One csv per table, and one record of how they were made and what could not be analysed."""
    from judgewell.formats.files import named_files
    from judgewell.formats.provenance import provenance, write_record
    from judgewell.formats.remote import is_remote

    folder.mkdir(parents=True, exist_ok=True)
    for name, table in agreement.tables.items():
        table.write_csv(folder / f"{name}.csv")
    sources = named_files(dict.fromkeys([*options["labels"], *options["against"], *options["machine"]])).values()
    files = [options[name] for name in ("gains", "scores", "documents", "likes") if options[name]]
    named = [one for one in sources if is_remote(one) or Path(one).exists()]
    inputs = [options["judgments"], *named, *files, *options["runs"]]
    record = provenance("agree", options, list(dict.fromkeys(inputs)), noted)
    record["left out"] = {one.name: dict(one.left_out) for one in agreement.outcomes if one.left_out}
    record["notes of sections"] = {one.name: list(one.notes) for one in agreement.outcomes if one.notes}
    write_record(folder / "agreement", record)


def _print_tables(agreement: Agreement) -> None:
    """Each section's tables but those that only files hold."""
    from judgewell.agreement.section import FILE
    from judgewell.terminal import frame_text

    for outcome in agreement.outcomes:
        if not outcome.results:
            continue
        print(f"\n{outcome.name.upper()}: {outcome.section.about}")
        for text in outcome.notes:
            print(f"  ({text})")
        for result in outcome.results:
            if result.table.shown != FILE and result.frame.height:
                print(f"\n{result.table.title} ({result.table.name})\n{frame_text(result.visible, most=MOST_ROWS)}")
    if agreement.left_out:
        print("\nNOT ANALYSED")
    for name, reason in agreement.left_out.items():
        print(f"  {name}: {reason}")


def _print_findings(agreement: Agreement, hint: bool) -> None:
    if agreement.findings:
        print("\nFINDINGS")
    for text in agreement.findings:
        print(textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  "))
    if hint:
        missing = f"; {len(agreement.left_out)} analyses need other data" if agreement.left_out else ""
        print(f"\n{len(agreement.tables)} tables{missing}. Print them with -v, write them with -o FOLDER.")
