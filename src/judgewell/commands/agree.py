"""`judgewell agree`: how far the judgments agree, with experts, with each other and with themselves."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgewell.commands.common import kept_where, read_labels, reading, reading_options, where_option

if TYPE_CHECKING:
    import polars as pl

    from judgewell.agreement.evidence import Outcome

MOST_ROWS = 12
LONG = ("_by_topic", "_histogram", "_judgments")


def _list_sections(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from judgewell.agreement.sections import SECTIONS

        for section in SECTIONS:
            print(f"{section.name}: {section.about}\n  tables {', '.join(section.steps)}")
        context.exit()


@click.command()
@click.argument("judgments")
@click.argument("labels", nargs=-1)
@click.option("--against", multiple=True, help="Labels to compare with: a qrels file, or a column of JUDGMENTS.")
@click.option("--gains", help="The documents' gains, e.g. from judgewell scale; else the medians of their values.")
@click.option("--scores", help="Scores of systems, e.g. from judgewell evaluate, for the topics' difficulty.")
@click.option("--documents", help="The documents judged (jsonl, csv, a folder, …), for time against length.")
@click.option("--likes", help="Which questions assessors liked: a table of topic, assessor, question, liked.")
@click.option("--pairs", is_flag=True, help="JUDGMENTS holds pairs (found out by itself where the file says so).")
@click.option("--section", multiple=True, help="Only these sections; may be repeated.")
@click.option("-o", "--output", help="A folder: every table as csv, and how they were made.")
@click.option("--replicates", default=1000, help="Resamples for intervals.")
@click.option("--seed", default=0, help="Seed of all that is drawn.")
@reading_options
@where_option
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_sections, help="List the sections."
)
@click.pass_context
def agree(
    context: click.Context,
    judgments: str,
    labels: tuple[str, ...],
    against: tuple[str, ...],
    gains: str | None,
    scores: str | None,
    documents: str | None,
    likes: str | None,
    pairs: bool,
    section: tuple[str, ...],
    output: str | None,
    replicates: int,
    seed: int,
    columns: str | None,
    words: str | None,
    separator: str | None,
    no_header: bool,
    where: tuple[str, ...],
) -> None:
    """Say how far JUDGMENTS agree with LABELS, with each other and with themselves.

    Runs every analysis that the data allow and says which it left out and why. Tables by topic and whole tables are
    written with -o.

    \b
    Examples:
      judgewell agree judgments.csv expert.qrels -o agreement/
      judgewell agree judgments.csv --against nist.qrels --against sormunen --gains gains.csv
      judgewell agree pairs.csv --pairs --section transitivity
    """
    from judgewell.agreement.evidence import Evidence
    from judgewell.agreement.sections import SECTIONS, run_section
    from judgewell.errors import InputError
    from judgewell.formats.frames import read_table
    from judgewell.formats.gains import read_gains
    from judgewell.formats.judgments import holds_pairs, read_judgments, read_pairs
    from judgewell.scaling.preference import preference_frequency
    from judgewell.tables import SCORES
    from judgewell.terminal import notes, progress

    unknown = [name for name in section if name not in {one.name for one in SECTIONS}]
    if unknown:
        names = ", ".join(one.name for one in SECTIONS)
        raise InputError(f"there is no section {unknown[0]!r}", cure=f"the sections are {names}")
    with notes() as told:
        how = reading(context.params, "judgments", "pairs")
        paired = pairs or (judgments != "-" and holds_pairs(judgments, how["columns"], how["layout"]))
        read = read_pairs if paired else read_judgments
        table = kept_where(read(judgments, **how), where)
        evidence = Evidence(
            judgments=None if paired else table,
            pairs=table if paired else None,
            labels=dict(_labels(name, table, how["words"]) for name in (*labels, *against)),
            gains=read_gains(gains) if gains else None,
            scores=read_table(scores, SCORES) if scores else None,
            lengths=_lengths(documents) if documents else None,
            likes=_likes(likes) if likes else None,
            score=preference_frequency if paired else None,
            replicates=replicates,
            seed=seed,
        )
        chosen = [one for one in SECTIONS if not section or one.name in section]
        outcomes = []
        with progress("analysing") as show:
            for done, one in enumerate(chosen, 1):
                outcomes.append(run_section(one, evidence))
                show(done, len(chosen))
        if output:
            named = (_named(name, table)[1] for name in (*labels, *against) if name not in table.columns)
            files = [judgments, *named, *(name for name in (gains, scores, documents, likes) if name)]
            _write(outcomes, Path(output), dict(context.params), files, told)
        _print(outcomes)
        if sum(bool(one.tables) for one in outcomes) > 1:
            _print_in_short(outcomes, None if paired else table)


def _lengths(path: str) -> pl.DataFrame:
    """Each document's length in words."""
    import polars as pl

    from judgewell.formats.documents import read_documents

    words = pl.col("text").str.count_matches(r"\S+").alias("length")
    return read_documents(path).select("doc", words)


def _likes(path: str) -> pl.DataFrame:
    import polars as pl

    from judgewell.formats.frames import read_frame

    truth = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    liked = pl.col("liked").cast(pl.String).str.to_lowercase().replace_strict(truth, return_dtype=pl.Boolean)
    frame = read_frame(path)
    return frame.with_columns(liked) if "liked" in frame.columns else frame


def _labels(name: str, table: pl.DataFrame, words: dict[str, str] | None) -> tuple[str, pl.DataFrame]:
    called, source = _named(name, table)
    return called, read_labels(source, table, words)


def _named(name: str, table: pl.DataFrame) -> tuple[str, str]:
    """What labels are called and where they are: a column of the judgments, or a file (name=path calls it so)."""
    from judgewell.formats.files import stem

    called, sign, path = name.partition("=")
    if name in table.columns:
        return name, name
    return (called, path) if sign and not Path(name).exists() else (stem(name), name)


def _write(
    outcomes: list[Outcome], folder: Path, options: dict[str, object], files: list[str], told: list[str]
) -> None:
    """One csv per table, and one record that says what was left out."""
    from judgewell.formats.provenance import provenance, write_record

    folder.mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        for name, table in outcome.tables.items():
            table.write_csv(folder / f"{name}.csv")
    record = provenance("agree", options, files, told)
    record["left out"] = {one.name: one.left_out for one in outcomes if one.left_out}
    record["notes of sections"] = {one.name: list(one.notes) for one in outcomes if one.notes}
    write_record(folder / "agreement", record)


def _print(outcomes: list[Outcome]) -> None:
    """Each section's tables but the long ones, which -o writes; what was left out at the end."""
    from judgewell.terminal import frame_text

    for outcome in outcomes:
        if not outcome.tables:
            continue
        print(f"\n{outcome.name.upper()}: {outcome.about}")
        for note in outcome.notes:
            print(f"  ({note})")
        for name, table in outcome.tables.items():
            if not name.endswith(LONG):
                print(f"\n{name}\n{frame_text(table, most=MOST_ROWS)}")
    reasons = [(one.name, name, why) for one in outcomes for name, why in one.left_out.items()]
    if reasons:
        print("\nLEFT OUT")
    for section, name, why in reasons:
        print(f"  {section if name == 'all' else f'{section}, {name}'}: {why}")


def _print_in_short(outcomes: list[Outcome], judgments: pl.DataFrame | None) -> None:
    """The findings in sentences, last, where a terminal stops."""
    from judgewell.reports.in_short import in_short

    said = in_short({name: table for one in outcomes for name, table in one.tables.items()}, judgments)
    if said:
        print("\nIN SHORT")
    for one in said:
        print(textwrap.fill(one.text, 100, initial_indent="  ", subsequent_indent="  "))
