"""`judgewell agree`: how far the judgments agree with labels, with each other and with themselves."""

from __future__ import annotations

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
MOST_LINES = 19  # of findings, so that all fits a screen of 24 lines


def _list_sections(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from judgewell.agreement.sections import all_sections

        for section in all_sections():
            print(f"{section.name}: {section.about}\n  tables {', '.join(table.name for table in section.tables)}")
        context.exit()


@click.command(cls=TakesSeveral)
@click.argument("judgments")
@click.argument("labels", nargs=-1)
@click.option("--against", multiple=True, help="Compare with these labels: a qrels file, or a column of JUDGMENTS.")
@click.option("--section", multiple=True, help="Run only this section and print its tables; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Print all findings and tables.")
@click.option("-o", "--output", help="Write every table as CSV into this folder, and how they were made.")
@click.option("--gains", help="Use these gains of the documents.  [default: those that judgewell scale makes]")
@click.option("--machine", multiple=True, help="Compare these labels by a machine with people's: FILE or NAME=FILE.")
@click.option("--runs", multiple=True, help="Show which of these runs the machine favours; several at once.")
@click.option("-m", "--measure", multiple=True, help="Score --runs by this measure.  [default: nDCG@10]")
@click.option("--scores", help="Use these scores of systems (judgewell evaluate -o) for the difficulty of topics.")
@click.option("--documents", help="Relate times to the lengths of these documents (jsonl, csv, a folder, …).")
@click.option("--likes", help="Analyse which questions assessors liked: a table of topic, assessor, question, liked.")
@click.option("--pairs", is_flag=True, help="Read JUDGMENTS as pairs.  [default: if the columns show it]")
@kind_option
@click.option("--replicates", default=1000, help="Resample documents this often for intervals.")
@click.option("--seed", default=0, help="Seed all random choices with this number.")
@reading_options
@where_option
@cluster_options
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_sections, help="List the sections."
)
def agree(judgments: str, labels: tuple[str, ...], verbose: bool, output: str | None, **options: Any) -> None:
    """Measure agreement between assessors in JUDGMENTS, and between JUDGMENTS and LABELS.

    The command runs every analysis that the data allow and prints the main findings on one screen. -v prints all
    findings and tables, and -o writes the tables.

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
            named = {**options, "judgments": judgments, "labels": labels}
            _write(agreement, Path(output), named, noted)
        if options["section"] or verbose:
            _print_tables(agreement)
        _print_findings(agreement, summary=not (options["section"] or verbose or output))


def _write(agreement: Agreement, folder: Path, options: dict[str, Any], noted: list[str]) -> None:
    """One csv per table, and one record of how they were made and what could not be analysed."""
    from judgewell.formats.files import files_among
    from judgewell.formats.options import where_files
    from judgewell.formats.provenance import provenance, write_record

    folder.mkdir(parents=True, exist_ok=True)
    for name, table in agreement.tables.items():
        table.write_csv(folder / f"{name}.csv")
    sources = ("judgments", "labels", "against", "machine", "gains", "scores", "documents", "likes", "runs")
    inputs = list(dict.fromkeys(files_among(*(options[name] for name in sources), where_files(options["where"]))))
    record = provenance("agree", options, inputs, noted)
    record["not analysed"] = {one.name: dict(one.not_analysed) for one in agreement.outcomes if one.not_analysed}
    record["notes of sections"] = {one.name: list(one.notes) for one in agreement.outcomes if one.notes}
    write_record(folder / "agreement", record)


def _print_tables(agreement: Agreement) -> None:
    """Each section's tables but those that only files hold."""
    from judgewell.agreement.section import FILE
    from judgewell.terminal import frame_text, prose

    for outcome in agreement.outcomes:
        if not outcome.results:
            continue
        print(f"\n{outcome.name.upper()}: {outcome.section.about}")
        for text in outcome.notes:
            print(f"  ({text})")
        for result in outcome.results:
            if result.table.shown != FILE and result.frame.height:
                print(f"\n{result.table.title} ({result.table.name})")
                print(prose(result.table.caption))
                print(frame_text(result.visible, most=MOST_ROWS))
    if agreement.not_analysed:
        print("\nNOT ANALYSED")
    for name, reason in agreement.not_analysed.items():
        print(f"  {name}: {reason}")


def _print_findings(agreement: Agreement, summary: bool) -> None:
    """All findings, or a summary on one screen: as many as fit there, those of each section in turn."""
    from judgewell.terminal import prose

    paragraphs = [prose(text, "- ", "  ") for text in agreement.findings]
    shown = _on_one_screen(agreement, paragraphs) if summary else paragraphs
    if shown:
        print("\nFINDINGS")
    for paragraph in shown:
        print(paragraph)
    reasons = [why for name, why in agreement.not_analysed.items() if name.startswith("reliability")]
    if not paragraphs and reasons:
        print("\n" + prose(f"No agreement was measured: {reasons[0]}."))
    if summary:
        more = len(paragraphs) - len(shown)
        findings = f"{more} more finding{'s' if more > 1 else ''}, " if more else ""
        missing = f" and why {len(agreement.not_analysed)} analyses need other data" if agreement.not_analysed else ""
        tables = f"{len(agreement.tables)} tables"
        print("\n" + prose(f"-v prints {findings}{tables}{missing}; -o FOLDER writes the tables."))


def _on_one_screen(agreement: Agreement, paragraphs: list[str]) -> list[str]:
    """The first finding of each section, then the second ones, while there is room; in their usual order."""
    sections = [[text for result in one.results for text in result.findings] for one in agreement.outcomes]
    turns = [turn for findings in sections for turn, _ in enumerate(findings)]
    chosen: set[int] = set()
    room = MOST_LINES
    for place in sorted(range(len(paragraphs)), key=lambda place: (turns[place], place)):
        lines = paragraphs[place].count("\n") + 1
        if lines <= room:
            chosen.add(place)
            room -= lines
    return [paragraphs[place] for place in sorted(chosen)]
