"""`judgewell scale`: judgments or pairs → gains."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import (
    ENDINGS,
    choice,
    cluster_options,
    executing,
    kind_option,
    method_options,
    reading_options,
    refuse_unwritable,
    where_option,
)
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.scaling.method import Method


def _list_methods(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from judgewell.scaling.methods import listing

        print(listing())
        context.exit()


class _WithMethods(click.Command):
    """`judgewell scale METHOD --help` explains that method; without a method --help is the command's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word.removeprefix("--method=") for word in args if word not in ("-h", "--help", "--method")]
        if len(words) == 1 and words != args and not words[0].startswith("-"):
            from judgewell.scaling.methods import explained

            print(explained(words[0]))
            ctx.exit()
        return super().parse_args(ctx, args)


@click.command(cls=_WithMethods, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("judgments")
@click.option(
    "--method",
    help="Scale by this method, e.g. magnitude, mean, bradley-terry (--list).  [default: by the kind of the values]",
)
@click.option("-o", "--output", help="Write the gains: .qrels or .txt; with intervals .csv, .parquet, .jsonl, …")
@choice(
    *("--interval", "auto", "formula", "bootstrap", "none"),
    help="Compute intervals this way; auto uses a formula if the method has one, else the bootstrap.",
)
@click.option("--level", default=0.95, help="Compute intervals at this level.")
@click.option("--draws", type=click.IntRange(min=1), default=200, help="Use this many draws in the bootstrap.")
@click.option("--draws-to", help="Write the draws (.parquet, one column per draw) for compare --draws.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed all random choices with this number.")
@reading_options
@where_option
@kind_option
@click.option(
    "--intents", help="Use this table of topic, intent, probability; judgments need a column intent, 0 for none."
)
@choice(
    "--intent",
    "top",
    "each",
    help="Keep each topic's most probable intent, or make each intent a topic (with --intents).",
)
@cluster_options
@click.option("--strict", is_flag=True, help="Treat notes as errors.")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_methods, help="List the methods."
)
@click.pass_context
def scale(
    context: click.Context,
    /,
    judgments: str,
    method: str | None,
    output: str | None,
    draws_to: str | None,
    **given: Any,
) -> None:
    """Turn JUDGMENTS (or pairs) into gains: one number per document, with an interval.

    JUDGMENTS is a table of judgments or pairs (csv, parquet, jsonl; compressed, or -) or a known crowd export; several
    files are read together (batch*.csv). --list shows the methods, and judgewell scale METHOD --help the options of one
    of them. Give these by name: --offset 1 --average log-median.

    --columns may name a part of nested JSON (topic=meta.topic). With a star it names several columns, each with one
    judgment: value=rater* for the values of one document (assessor=* makes each column an assessor),
    doc=doc*,value=rel* for a page of several documents. assessor=@file takes the file's name as the assessor, e.g. for
    two sets of labels.

    \b
    Examples:
      judgewell scale judgments.csv -o gains.csv
      judgewell scale judgments.csv --method magnitude -o gains.qrels
      judgewell scale scores.csv.gz --method magnitude --offset 1 -o gains.csv
      judgewell scale grades.csv --method predicted --threshold 2 -o gains.parquet
      judgewell scale nist.qrels crowd.qrels --method predicted --threshold 1 --columns assessor=@file
      judgewell scale pairs.csv --method bradley-terry --columns topic=qid -o gains.qrels
      judgewell scale batch.csv --method mean --columns topic=Input.q,doc=Input.doc,value=Answer.rel --words no=0,yes=1
    """
    from judgewell.formats.options import where_files
    from judgewell.formats.provenance import provenance
    from judgewell.scaling.method import flags
    from judgewell.scaling.methods import methods, parse
    from judgewell.scaling.scale import gains_of, method_and_table
    from judgewell.scaling.uncertainty import draws_on
    from judgewell.terminal import notes

    possible = [type(parse(method))] if method else list(methods().values())
    settings, more = method_options(context.args, frozenset().union(*map(flags, possible)))
    _refuse_misspelt(settings, context, possible)
    files = [judgments, *more]
    for named in files:
        if named in methods() and not Path(named).exists():
            raise InputError(f"{named} is a method, not a file", cure=f"write --method {named}")
    refuse_unwritable(output, endings=(".qrels", ".txt", *ENDINGS))
    refuse_unwritable(draws_to)
    with notes(given["strict"]) as collected, executing(given["cluster"], given["processes"]) as executor:
        how = {name: given[name] for name in ("where", "kind", "intents", "intent", "seed")}
        chosen, table = method_and_table(method, settings, files, reading=given, **how)
        how = {name: given[name] for name in ("interval", "level", "draws", "seed")}
        gains = gains_of(chosen, table, **how, executor=executor)
        tables = chosen.tables(table)
        sources = [*files, *filter(None, [given["intents"]]), *where_files(given["where"])]
        options = {**context.params, "method": str(chosen), **chosen.options()}
        record = provenance("scale", options, sources, collected)
        if draws_to:
            _write_draws(draws_on(executor, chosen, table, given["draws"], given["seed"]), draws_to, record)
        if output:
            _write(gains, tables, output, record)
        if output != "-":
            _print(gains, tables, str(chosen), chosen.takes)
            if output:
                print(f"\n{_written(output, gains, table, chosen)}")


def _refuse_misspelt(settings: Mapping[str, str], context: click.Context, methods: Iterable[type[Method]]) -> None:
    """Refuse an option that no method has and that is nearly one of the command's own."""
    from difflib import get_close_matches

    from judgewell.scaling.methods import FORMER

    own = {name for method in methods for name in method().options()}
    for name in settings.keys() - own - FORMER.keys():
        for near in get_close_matches(name, context.params, 1, 0.8):
            cure = f"did you mean --{near.replace('_', '-')}?"
            raise InputError(f"there is no option --{name.replace('_', '-')}", cure=cure)


def _write(gains: pl.DataFrame, tables: dict[str, pl.DataFrame], output: str, record: dict[str, Any]) -> None:
    """The gains as qrels or as a table, and what else was found out beside them: gains.grades.csv."""
    from judgewell.formats.provenance import write_record, write_result
    from judgewell.formats.trec import write_qrels

    if output == "-":
        sys.stdout.write(gains.write_csv())
        return
    if output.endswith((".qrels", ".txt")):
        write_qrels(gains, output)
        write_record(output, record)
    else:
        write_result(gains, output, record)
    for name, table in tables.items():
        table.write_csv(Path(output).with_suffix(f".{name}.csv"))


def _write_draws(draws: Any, path: str, record: dict[str, Any]) -> None:
    import polars as pl

    from judgewell.formats.provenance import write_result

    values = {f"draw{number + 1}": column for number, column in enumerate(draws.array())}
    write_result(pl.concat([draws.documents, pl.DataFrame(values)], how="horizontal"), path, record)


def _print(gains: pl.DataFrame, tables: dict[str, pl.DataFrame], method: str, takes: str) -> None:
    """The gains of each topic in a line, and the method's other tables."""
    from judgewell.terminal import frame_text
    from judgewell.text import counted

    topics = counted(gains["topic"].n_unique(), "topic")
    print(f"{method}: gains of {counted(len(gains), 'document')} in {topics}\n")
    print(frame_text(_by_topic(gains, takes), most=25))
    for name, table in tables.items():
        print(f"\n{name}\n{frame_text(table, most=5 if name == 'repeats' else 25)}")


def _written(output: str, gains: pl.DataFrame, table: pl.DataFrame, method: Any) -> str:
    """What the file holds, and what to do with it."""
    from judgewell.text import counted, listing

    kinds = listing([str(kind) for kind in table["kind"].unique().sort()]) if "kind" in table.columns else ""
    given = f"{counted(len(table), method.takes[:-1])}{f' of kind {kinds}' if kinds else ''}"
    rows = f"{counted(len(gains), 'row')}, one per document"
    return f"Wrote {output}: {rows}; method {method}, from {given}.\nNext: judgewell evaluate {output} RUNS"


def _by_topic(gains: pl.DataFrame, takes: str) -> pl.DataFrame:
    """A line for each topic; a pair counts for both of its documents, and once for the topic."""
    import polars as pl

    gain, given = pl.col("gain"), pl.col("judgments").sum()
    return (
        gains.group_by("topic", maintain_order=True)
        .agg(
            documents=pl.len(),
            given=given // 2 if takes == "pairs" else given,
            lowest=gain.min(),
            median=gain.median(),
            highest=gain.max(),
            interval=(pl.col("high") - pl.col("low")).median(),
        )
        .rename({"given": takes, "interval": "median width"})
    )
