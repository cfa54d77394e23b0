"""`judgewell evaluate`: runs × gains → scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import choice, parse_columns, refuse_unwritable
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.evaluation.measures import Measure
    from judgewell.evaluation.settings import Settings
    from judgewell.evaluation.trec_names import TrecMeasure
    from judgewell.formats.runs import Run

DEFAULT_MEASURES = ["nDCG@10"]


def _list_measures(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from judgewell.evaluation.measures import describe_all

        print(describe_all())
        context.exit()


@click.command()
@click.argument("gains")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m", "--measure", multiple=True, help="A measure: nDCG@10, 'RBP(p=0.9)', 'AP(rel=2)', …; may be repeated."
)
@click.option("-q", "--per-topic", is_flag=True, help="Show every topic, not only means.")
@click.option("-o", "--output", help="Write the scores table: .csv, .tsv, .json, .jsonl or .parquet.")
@choice("--format", "table", "csv", "json", "trec_eval", help="What is printed.")
@click.option("-l", "--rel", type=float, help="The least gain that counts as relevant, for measures that do not say.")
@click.option("--gains-as", help="Transform gains first: exp2, binary(2), unit, unit(topic), 0=0,1=0.3,2=1.")
@choice("--order", "score", "rank", help="Rank by score, or by the ranks in the file.")
@choice("--precision", "double", "single", help="Of scores; trec_eval 9 and pytrec_eval rank by single precision.")
@choice(
    *("--ties", "doc", "shared", "spread"),
    help="Tied documents: by id descending; the expected value over their orders; or each with the mean weight of the "
    "tie, as rbp_eval does.",
)
@choice("--unjudged", "zero", "condense", "error", help="Unjudged documents: worth 0, left out, or an error.")
@click.option(
    "--topics",
    type=click.Choice(["judged", "run"]),
    help="Average over all judged topics (a missing one scores 0) or those in the run.  "
    "[default: judged; with --format trec_eval: run]",
)
@choice("--negative", "unjudged", "zero", "keep", "error", help="What a grade below 0 means.")
@click.option("--strict", is_flag=True, help="Refuse what is otherwise told as a note.")
@click.option("--level", default=0.95, help="Level of the intervals over topics.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the bootstrap over topics.")
@click.option("--columns", help="Names of the columns in a gains table: topic=qid,doc=docno,gain=label.")
@click.option("--words", help="What grades that are words mean: L0=0,L1=1,L2=2 or 'not relevant=0,relevant=1,junk='.")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_measures, help="List the measures."
)
def evaluate(
    gains: str,
    runs: tuple[str, ...],
    measure: tuple[str, ...],
    per_topic: bool,
    output: str | None,
    format: str,
    rel: float | None,
    gains_as: str | None,
    order: str,
    precision: str,
    ties: str,
    unjudged: str,
    topics: str | None,
    negative: str,
    strict: bool,
    level: float,
    seed: int,
    columns: str | None,
    words: str | None,
) -> None:
    """Score RUNS against GAINS, whole or fractional, with any measure.

    GAINS is a qrels file, a table of topic, doc and gain (csv, parquet, jsonl) or irds:ID; RUNS are TREC runs or tables
    of system, topic, doc and score. Globs, .gz, .zst and - (standard input) are read.

    \b
    Examples:
      judgewell evaluate qrels.txt runs/*.run -m nDCG@10 -m 'RBP(p=0.9)'
      judgewell evaluate gains.csv bm25.run.gz -m nDCG@10 -q -o scores.parquet
      judgewell evaluate qrels.txt bm25.run --format trec_eval -m official
      judgewell evaluate qrels.txt bm25.run -m 'RBP(p=0.8)' --gains-as 0=0,1=0.33,2=0.67,3=1
      judgewell evaluate ntcir.qrels bm25.run --words L0=0,L1=1,L2=2,L3=3
    """
    options = {**locals(), "measure": list(measure)}
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    from judgewell.evaluation.evaluate import ready, scores_table, settle_negatives, system_scores, topic_names
    from judgewell.evaluation.settings import Settings
    from judgewell.evaluation.summary import summarise_values
    from judgewell.evaluation.transform import parse_transform
    from judgewell.formats.gains import read_gains
    from judgewell.formats.provenance import digests, provenance, write_result
    from judgewell.formats.runs import open_runs
    from judgewell.formats.words import parse_words
    from judgewell.terminal import notes, progress

    settings = Settings(order, precision, ties, unjudged, topics or ("run" if format == "trec_eval" else "judged"))
    refuse_unwritable(output, gains, *runs)
    if format == "trec_eval" and output:
        raise InputError("--format trec_eval is only printed", cure="leave -o out, or choose another format")
    with notes(strict) as told:
        wanted, lines = _asked(measure, format, rel)
        table = read_gains(gains, columns=parse_columns(columns), negative="keep", words=parse_words(words))
        table = settle_negatives(table, negative, wanted)
        if gains_as is not None:
            table = parse_transform(gains_as)(table)
        systems = open_runs(list(runs), parse_columns(columns))
        if lines:
            print(_trec_eval(systems, table, lines, settings, per_topic), end="")
            return
        wanted = ready(wanted, table, settings)
        options |= {"measure": [str(one) for one in wanted], "topics": settings.topics}
        beside = ready(_beside(wanted), table, settings)
        with ThreadPoolExecutor(1) as meanwhile, progress("evaluating") as show:
            recorded = [gains, *runs_read(systems)] if output not in (None, "-") else []
            hashes = meanwhile.submit(digests, recorded)
            results = list(system_scores(systems, table, [*wanted, *beside], settings, progress=show))
        scores = scores_table(results, topic_names(table), wanted)
        if output == "-":
            print(scores.write_json() if format == "json" else scores.write_csv(), end="")
            return
        if output:
            write_result(scores, output, provenance("evaluate", options, hashes.result(), told))
        values, names = np.stack([result.values for result in results]), [result.system for result in results]
        summary = summarise_values(values, names, [str(one) for one in [*wanted, *beside]], level=level, seed=seed)
        _print(scores, summary, wanted, format, per_topic and not output, level)


def _asked(measures: tuple[str, ...], format: str, rel: float | None) -> tuple[list[Measure], list[TrecMeasure]]:
    """The measures to work out, and for trec_eval's format the lines it prints of them."""
    from judgewell.evaluation.measures import parse_all
    from judgewell.evaluation.trec_names import needed, trec_measures

    if format != "trec_eval":
        return [_from(one, rel) for one in parse_all(measures or DEFAULT_MEASURES)], []
    lines = trec_measures(measures or ["official"], rel=rel)
    return needed(lines), lines


def _beside(wanted: list[Measure]) -> list[Measure]:
    """What is shown beside the measures asked for: how many of the documents are judged, and residuals."""
    from judgewell.evaluation.measures import Judged, residual_of
    from judgewell.evaluation.part import depth_of

    depths = {depth for one in wanted if (depth := depth_of(one))}
    residuals = [found for one in wanted if (found := residual_of(one))]
    return [one for one in [*(Judged(cutoff=depth) for depth in sorted(depths)), *residuals] if one not in wanted]


def _print(
    scores: pl.DataFrame, summary: pl.DataFrame, wanted: list[Measure], format: str, per_topic: bool, level: float
) -> None:
    """Means with intervals, or every topic; on the terminal as a table, else as csv or json."""
    from judgewell.commands.scores_text import means_text, topics_text

    if format == "table":
        print(means_text(summary, wanted, level) + ("\n\n" + topics_text(scores) if per_topic else ""))
        return
    shown = scores if per_topic else summary
    print(shown.write_csv() if format == "csv" else shown.write_json() + "\n", end="")


def _from(measure: Measure, rel: float | None) -> Measure:
    """The measure with the least relevant gain asked for, where it has one and does not say it itself."""
    import dataclasses

    says_none = getattr(measure, "rel", "no such parameter") is None
    changed: dict[str, Any] = {"rel": rel} if says_none else {}
    return dataclasses.replace(measure, **changed)


def runs_read(systems: list[Run]) -> list[str]:
    """The files the systems come from."""
    return [run.source for run in systems if run.source]


def _trec_eval(
    systems: list[Run], table: pl.DataFrame, lines: list[TrecMeasure], settings: Settings, per_topic: bool
) -> str:
    """What trec_eval prints, one system after the other."""
    from judgewell.evaluation.evaluate import system_scores, topic_names
    from judgewell.evaluation.trec_names import needed, print_trec

    topics = topic_names(table).to_list()
    return "".join(
        print_trec(result.system, topics, lines, result.values, per_topic=per_topic)
        for result in system_scores(systems, table, needed(lines), settings)
    )
