"""`judgewell compare`: scores, or runs under several gains → conclusions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import (
    TakesSeveral,
    choice,
    cluster_options,
    executing,
    kind_option,
    negative_option,
    reading_options,
)

if TYPE_CHECKING:
    from judgewell.analysis.conclusions import Comparison

TESTS = ("t", "wilcoxon", "randomisation", "bootstrap")


@click.command(cls=TakesSeveral)
@click.argument("scores", nargs=-1)
@click.option("--runs", multiple=True, help="Score these runs, several at once: --runs runs/*.run.")
@click.option("--gains", multiple=True, help="Score them under these gains, several at once; NAME=FILE gives a name.")
@click.option(
    "-m",
    "--measure",
    multiple=True,
    help="Use this measure; may be repeated.  [default: the measure of SCORES, else nDCG@10]",
)
@click.option("--baseline", help="Compare all systems with this one, not every pair.")
@click.option("-q", "--pairs", is_flag=True, help="Print every pair of systems.")
@click.option("-o", "--output", help="Write all tables: a folder, one .json, or A.csv with A.pairs.csv, … beside it.")
@click.option("--chart", help="Draw two sets against each other, or rank intervals: .svg, .pdf, .png or .html.")
@click.option("--separate", nargs=2, metavar="A B", help="Estimate how many topics (or judgments) separate A and B.")
@click.option("--judgments", help="Resample the gain of each document from these judgments (topic, doc, value).")
@click.option("--draws", help="Score these draws of the first gains (judgewell scale --draws-to).")
@click.option("--machine", help="Add a machine's (or other cheap) labels of all documents to people's gains of some.")
@click.option("--users", is_flag=True, help="Show for what share of users a system is better (with --judgments).")
@choice("--test", *TESTS, help="Test pairs of systems with this paired test.")
@choice("--correction", "holm", "bh", "none", help="Correct p for the number of pairs: Holm, Benjamini–Hochberg, none.")
@click.option("--alpha", default=0.05, help="Call a difference significant if p is below this.")
@choice("--top-test", "joint", *TESTS, help="Find the top set by a joint test, or by tests against the best mean.")
@choice("--zeros", "drop", "pratt", help="Drop topics without a difference in the Wilcoxon test, or rank them (Pratt).")
@click.option("--level", default=0.95, help="Compute intervals at this level.")
@click.option("--reference", help="Compare the other sets of scores with this one.  [default: the first]")
@click.option("--gains-as", multiple=True, help="Transform gains; each makes a set: linear, exp2, binary(2), unit, …")
@click.option("--common", is_flag=True, help="Keep only the topics and systems that all sets share.")
@choice("--missing", "error", "zero", "drop", help="Treat a missing score as an error or as 0, or drop its topic.")
@choice("--unjudged", "zero", "condense", help="Give unjudged documents gain 0, or remove them from rankings.")
@negative_option
@choice("--order", "score", "rank", help="Rank by score, or by the ranks in the file.")
@choice("--precision", "double", "single", help="Read the runs' scores in this precision.")
@click.option("--random", is_flag=True, help="Add random labels: the reference's gains, shuffled within topics.")
@click.option("--simulated", type=int, help="Compare this many systems made of fully judged parts of runs.")
@click.option("--worlds", default=1000, help="Resample topics (and judgments, without --draws) this often.")
@click.option(
    "--replicates", default=10_000, help="Use this many replicates in joint, randomisation and bootstrap tests."
)
@click.option("--resamples", type=int, hidden=True, help="The former name of --replicates.")
@click.option("--tell-apart", nargs=2, hidden=True, help="The former name of --separate.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed all random choices with this number.")
@reading_options
@kind_option
@cluster_options
@click.option("--strict", is_flag=True, help="Treat notes as errors.")
@click.pass_context
def compare(
    context: click.Context, /, pairs: bool, output: str | None, chart: str | None, strict: bool, **given: Any
) -> None:
    """Compare systems from SCORES (`judgewell evaluate -o`), or score --runs under --gains first.

    One set of scores gives means and ranks with intervals over topics, tests of pairs, and the set that contains the
    best system. Several sets (files, or gains) also show how similarly they rank the systems, and which pairs differ
    significantly under each. --draws and --judgments show how sure an order is over other judgments, other topics and
    both, and estimate scores without judgment noise. --users shows for what share of users a system is better; --chart
    then draws the users' gain profiles. --machine combines people's gains of some documents with labels of all.

    \b
    Examples:
      judgewell compare scores.parquet --baseline bm25 --test wilcoxon
      judgewell compare nist.csv crowd.csv -o comparison
      judgewell compare --runs runs/*.run --gains nist=qrels.txt crowd=gains.csv -m nDCG@10 --chart two.svg
      judgewell compare --runs runs/*.run --gains qrels.txt --gains-as linear --gains-as exp2 --gains-as 'binary(2)'
      judgewell compare --runs runs/*.run --gains gains.csv --draws draws.parquet
      judgewell compare --runs runs/*.run --gains human=sample.csv --machine llm.qrels -m nDCG@10
      judgewell compare --runs runs/*.run --gains gains.csv --judgments judgments.csv --users --chart profiles.svg
      judgewell compare scores.csv --separate bm25 reranked
    """
    from judgewell.analysis.compare import compare as compare_systems
    from judgewell.analysis.text import comparison_text
    from judgewell.terminal import notes, progress

    for former in ("resamples", "tell_apart"):
        if context.params.pop(former) is None:
            del given[former]
    where = given.pop("cluster"), given.pop("processes")
    with notes(strict) as collected:
        with progress("scoring") as show, executing(*where) as executor:
            comparison = compare_systems(**given, executor=executor, progress=show)
        if chart:
            from judgewell.comparison.charts import save

            save(comparison.chart(), chart)
        if output:
            _write(comparison, output, context.params, collected)
        print(comparison_text(comparison, pairs))


def _write(comparison: Comparison, output: str, options: dict[str, Any], collected: list[str]) -> None:
    """All tables: to a folder, one JSON file, or a file for the first with the others beside it."""
    import json

    from judgewell.formats.provenance import provenance, write_record, write_result

    tables = comparison.tables
    record = provenance("compare", options, comparison.inputs, collected)
    main = next(name for name in ("sets", "pairs", "systems") if name in tables)
    if output == "-":
        sys.stdout.write(tables[main].write_csv())
    elif output.endswith(".json"):
        whole = {name: table.to_dicts() for name, table in tables.items()}
        Path(output).write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        write_record(output, record)
    elif Path(output).suffix:
        for name, table in tables.items():
            path = Path(output)
            beside = path if name == main else path.with_suffix(f".{name.replace(' ', '-')}{path.suffix}")
            write_result(table, beside, record)
    else:
        Path(output).mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.write_csv(Path(output) / f"{name.replace(' ', '-')}.csv")
        write_record(Path(output) / "comparison", record)
