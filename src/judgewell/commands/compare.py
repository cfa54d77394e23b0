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
    reading_options,
)

if TYPE_CHECKING:
    from judgewell.analysis.conclusions import Comparison

TESTS = ("t", "wilcoxon", "randomisation", "bootstrap")


@click.command(cls=TakesSeveral)
@click.argument("scores", nargs=-1)
@click.option("--runs", multiple=True, help="Runs to score, several at once: --runs runs/*.run.")
@click.option("--gains", multiple=True, help="Gains to score them under, several at once; NAME=FILE gives a name.")
@click.option(
    "-m", "--measure", multiple=True, help="A measure; may be repeated.  [default: that of the scores, else nDCG@10]"
)
@choice("--test", *TESTS, help="The paired test of pairs of systems.")
@choice("--top-test", "joint", *TESTS, help="How the top set is found: a joint test, or each system against the best.")
@choice("--correction", "holm", "bh", "none", help="For the number of pairs: Holm, Benjamini–Hochberg or none.")
@choice("--zeros", "drop", "pratt", help="What the Wilcoxon test does with topics without a difference.")
@click.option("--alpha", default=0.05, help="A difference is significant if p is below this.")
@click.option("--baseline", help="Compare all systems with this one, not every pair.")
@click.option("--reference", help="The set of scores that others are compared with.  [default: the first]")
@click.option("--draws", help="Draws of the first gains (judgewell scale --draws-to).")
@click.option("--worlds", default=1000, help="How often topics (and judgments, without --draws) are resampled.")
@click.option("--judgments", help="Judgments (topic, doc, value): resample the gain of each document from them.")
@click.option("--machine", help="A machine's labels (or other cheap ones) of all documents; the gains are people's.")
@click.option("--users", is_flag=True, help="Show for what share of users a system is better (with --judgments).")
@click.option("--separate", nargs=2, metavar="A B", help="Estimate how many topics (or judgments) separate two.")
@click.option("--random", is_flag=True, help="Add random labels: the reference's gains, shuffled within topics.")
@click.option("--simulated", type=int, help="Compare this many systems made of fully judged parts of runs.")
@choice("--missing", "error", "zero", "drop", help="Missing scores: an error, 0, or without the topic.")
@click.option("--common", is_flag=True, help="Keep only the topics and systems that all sets share.")
@click.option("--gains-as", multiple=True, help="Transform gains; each makes a set: linear, exp2, binary(2), unit, …")
@choice("--order", "score", "rank", help="Rank by score, or by the ranks in the file.")
@choice("--precision", "double", "single", help="Of the runs' scores.")
@choice("--unjudged", "zero", "condense", help="Unjudged documents: gain 0, or removed from rankings.")
@choice("--negative", "unjudged", "zero", "keep", "error", help="What a grade below 0 means.")
@click.option("-q", "--pairs", is_flag=True, help="Print every pair of systems.")
@click.option("-o", "--output", help="Write all tables: a folder, one .json, or A.csv with A.pairs.csv, … beside it.")
@click.option("--chart", help="Draw to .svg, .pdf, .png or .html: two sets against each other, or rank intervals.")
@click.option("--replicates", default=10_000, help="Replicates of the joint, randomisation and bootstrap tests.")
@click.option("--resamples", type=int, hidden=True, help="The former name of --replicates.")
@click.option("--tell-apart", nargs=2, hidden=True, help="The former name of --separate.")
@click.option("--level", default=0.95, help="Level of the intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of all random choices.")
@reading_options
@kind_option
@cluster_options
@click.option("--strict", is_flag=True, help="Treat notes as errors.")
@click.pass_context
def compare(
    context: click.Context, /, pairs: bool, output: str | None, chart: str | None, strict: bool, **given: Any
) -> None:
    """Compare systems from SCORES (`judgewell evaluate -o`), or score --runs under --gains first.

    One set of scores: means and ranks with intervals over topics, tests of every pair, the set that contains the best
    system. Several sets (files, or gains): how similarly they rank the systems, and which pairs differ under each. With
    --machine: conclusions from people's gains of some documents and a machine's labels of all. With
    --draws or --judgments: scores without judgment noise, and how often one system is above another over other
    judgments, other topics, and both. With --judgments --users: the share of users for whom one system is better than
    another, each with an own gain profile; --chart draws the profiles.

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
