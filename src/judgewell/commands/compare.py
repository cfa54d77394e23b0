"""`judgewell compare`: scores, or runs under several gains → conclusions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import TakesSeveral, choice, reading_options
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.comparison.scores import ScoreArray
    from judgewell.comparison.worlds import Worlds

Tables = dict[str, "pl.DataFrame"]
SHOWN = 25  # rows of a table that are printed


@click.command(cls=TakesSeveral)
@click.argument("scores", nargs=-1)
@click.option("--runs", multiple=True, help="Runs to score, several at once: --runs runs/*.run.")
@click.option("--gains", multiple=True, help="Gains to score them under, several at once; NAME=FILE gives a name.")
@click.option("-m", "--measure", help="The measure.  [default: that of the scores; with --runs nDCG@10]")
@choice("--test", "t", "wilcoxon", "randomisation", "bootstrap", help="The paired test of pairs of systems.")
@choice("--top-test", "joint", "wilcoxon", "t", "randomisation", "bootstrap", help="The test behind the top set.")
@choice("--correction", "none", "holm", "bh", help="For the number of tests: Holm, or Benjamini and Hochberg.")
@choice("--zeros", "drop", "pratt", help="Topics without a difference in the Wilcoxon test.")
@click.option("--alpha", default=0.05, help="What is called significant: p below this.")
@click.option("--baseline", help="Compare all systems with this one, not every pair.")
@click.option("--reference", help="The set of scores that others are held against.  [default: the first]")
@click.option("--draws", help="Gain tables that the judgments allow (judgewell scale --draws-to), for the first gains.")
@click.option("--worlds", default=1000, help="Resamples of the topics, and of the judgments without --draws.")
@click.option("--judgments", help="Draw one of each document's judgments (topic, doc, value) for its gain instead.")
@click.option(
    "--tell-apart",
    nargs=2,
    metavar="A B",
    help="How many topics, or judges, tell these two apart.",
)
@click.option("--random", "chance", is_flag=True, help="Add random labels: the reference's gains dealt out anew.")
@click.option("--simulated", type=int, help="Compare so many systems made of sub-runs with all documents judged.")
@choice("--missing", "error", "zero", "drop", help="Scores that a system lacks: refuse, 0, or leave the topic out.")
@click.option("--common", is_flag=True, help="Keep the topics and systems that all sets share; else they must agree.")
@click.option("--gains-as", multiple=True, help="Gains transformed, a set for each: linear, exp2, binary(2), unit, …")
@choice("--order", "score", "rank", help="Rank by score, or by the ranks in the file.")
@choice("--precision", "double", "single", help="Of the runs' scores.")
@choice("--unjudged", "zero", "condense", help="Unjudged documents: worth 0, or left out.")
@choice("--negative", "unjudged", "zero", "keep", "error", help="What a grade below 0 means.")
@click.option("-q", "--pairs", is_flag=True, help="Print every pair of systems.")
@click.option("-o", "--output", help="Write all tables: a folder, one .json, or A.csv with A.pairs.csv, … beside it.")
@click.option("--chart", help="Draw to .svg, .pdf, .png or .html: two sets against each other, or rank intervals.")
@click.option("--resamples", default=10_000, help="Of the randomisation and bootstrap tests.")
@click.option("--level", default=0.95, help="Level of the intervals.")
@click.option("--seed", default=0, help="Seed of all that is drawn.")
@reading_options
@click.option("--strict", is_flag=True, help="Refuse what is otherwise told as a note.")
@click.pass_context
def compare(context: click.Context, /, **given: Any) -> None:
    """Say which systems are better and how sure that is: SCORES of `judgewell evaluate -o`, or runs under gains.

    One set of scores: means and ranks with intervals over topics, tests of every pair, the top set. Several sets
    (files, or gains): how alike they order the systems, and which pairs each tells apart. With --draws or --judgments:
    how often one system is above another over the judgments, the topics, and both.

    \b
    Examples:
      judgewell compare scores.parquet --baseline bm25 --test wilcoxon --correction holm
      judgewell compare nist.csv crowd.csv -o comparison
      judgewell compare --runs runs/*.run --gains nist=qrels.txt crowd=gains.csv -m nDCG@10 --chart two.svg
      judgewell compare --runs runs/*.run --gains qrels.txt --gains-as linear --gains-as exp2 --gains-as 'binary(2)'
      judgewell compare --runs runs/*.run --gains gains.csv --draws draws.parquet
      judgewell compare scores.csv --tell-apart bm25 reranked
    """
    from judgewell.commands.compare_source import Source
    from judgewell.comparison.scores import aligned, tell_of_identical
    from judgewell.terminal import notes

    with notes(given["strict"]) as told:
        if bool(given["scores"]) == bool(given["runs"]) or bool(given["runs"]) != bool(given["gains"]):
            raise InputError("name either scores, or --runs with --gains", cure="judgewell compare --help shows how")
        source = Source(given)
        sets = aligned(source.sets(), common=given["common"])
        first = next(iter(sets.values()))
        tell_of_identical(first)
        worlds = source.worlds(first)
        tables = _tables(sets, worlds, given)
        if given["tell_apart"] and given["judgments"]:
            tables["judges needed"] = source.judges_needed(first)
        if given["chart"]:
            _draw(sets, worlds, given)
        if given["output"]:
            _write(tables, given["output"], context.params, source.inputs, told)
        _print(tables, sets, worlds, given)


def _tables(sets: dict[str, ScoreArray], worlds: dict[str, Worlds], given: dict[str, Any]) -> Tables:
    """Every table there is to show or write, by name."""
    import polars as pl

    from judgewell.comparison.discrimination import discrimination_table
    from judgewell.comparison.profiles import side_by_side
    from judgewell.comparison.significance import compare_systems

    level, seed, resamples, first = given["level"], given["seed"], given["resamples"], next(iter(sets.values()))
    found: Tables = {"systems": _systems(sets, worlds, given)}
    if len(first.systems) > 1 and len(first.topics) > 1:
        found["pairs"] = pl.concat(
            compare_systems(
                one,
                given["test"],
                baseline=given["baseline"],
                correction=given["correction"],
                alpha=given["alpha"],
                level=level,
                resamples=resamples,
                seed=seed,
                zeros=given["zeros"],
            ).select(pl.lit(name).alias("set"), pl.all())
            for name, one in sets.items()
        )
    if len(sets) > 1:
        same = {"alpha": given["alpha"], "correction": given["correction"], "resamples": resamples, "seed": seed}
        found["sets"] = side_by_side(sets, test=given["top_test"], zeros=given["zeros"], **same)
        if len(first.topics) > 1:
            found["discrimination"] = discrimination_table(sets, given["reference"], given["test"], **same)
    if worlds:
        found["worlds"] = pl.concat(one.table(level) for one in worlds.values())
        found["above"] = pl.concat(one.pairs() for one in worlds.values())
    if given["tell_apart"]:
        from judgewell.comparison.design import topics_needed

        needed = topics_needed(first, *given["tell_apart"], alpha=given["alpha"], test=given["test"], seed=seed)
        found["topics needed"] = needed.curve.with_columns(enough=pl.col("found") >= needed.power)
    return found


def _systems(sets: dict[str, ScoreArray], worlds: dict[str, Worlds], given: dict[str, Any]) -> pl.DataFrame:
    """Every system's mean in every set with its interval, its ranks, and the set that contains the best."""
    import polars as pl

    from judgewell.comparison.scores import check_systems
    from judgewell.comparison.top_sets import FEWEST_TOPICS, top_set
    from judgewell.comparison.worlds import topic_worlds
    from judgewell.errors import note
    from judgewell.stats.means import few_topics_note

    parts = []
    for name, one in sets.items():
        check_systems(one)
        table = pl.DataFrame({"system": one.systems, "mean": one.means})
        if len(one.topics) > 1:
            means = one.intervals(given["level"], given["seed"])
            if few := few_topics_note(means):
                note(few)
            over = worlds.get("both") if len(sets) == 1 else None
            over = over or topic_worlds(one.systems, one.values, given["worlds"], seed=given["seed"])
            ranks = over.table(given["level"]).select("system", "rank_low", "rank_high")
            table = table.with_columns(low=means.low, high=means.high).join(ranks, on="system", maintain_order="left")
        if FEWEST_TOPICS > len(one.topics) > 1:
            note(f"there is no top set: {len(one.topics)} topics are fewer than {FEWEST_TOPICS}")
        if len(one.topics) >= FEWEST_TOPICS:
            top = top_set(
                one,
                given["top_test"],
                alpha=given["alpha"],
                correction=given["correction"],
                resamples=given["resamples"],
                seed=given["seed"],
                zeros=given["zeros"],
            )
            p = pl.Series([top.p[key] for key in one.systems])
            table = table.with_columns(p_best=p, top=pl.col("system").is_in(top.members))
        ordered = table.sort("mean", "system", descending=[True, False])
        parts.append(ordered.select(pl.lit(name).alias("set"), pl.all()))
    return pl.concat(parts)


def _print(tables: Tables, sets: dict[str, ScoreArray], worlds: dict[str, Worlds], given: dict[str, Any]) -> None:
    from judgewell.commands.compare_text import report

    print(report(tables, sets, worlds, given, SHOWN))


def _draw(sets: dict[str, ScoreArray], worlds: dict[str, Worlds], given: dict[str, Any]) -> None:
    from judgewell.comparison.charts import rank_chart, save, score_chart, tau_chart

    if len(worlds) > 1:
        chart = rank_chart(worlds["both"], given["level"]) & tau_chart(worlds)
    elif len(sets) > 1:
        pair = dict(list(sets.items())[:2])
        chart = score_chart(pair, level=given["level"], seed=given["seed"])
    elif worlds:
        chart = rank_chart(worlds["topics"], given["level"])
    else:
        raise InputError("one topic has no intervals to draw", cure="give the scores of more topics")
    save(chart, given["chart"])


def _write(tables: Tables, output: str, options: dict[str, Any], inputs: list[str], told: list[str]) -> None:
    """All tables: to a folder, one JSON file, or a file for the first with the others beside it."""
    import json

    from judgewell.formats.provenance import provenance, write_record, write_result

    record = provenance("compare", options, inputs, told)
    main = "sets" if "sets" in tables else "pairs" if "pairs" in tables else "systems"
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
