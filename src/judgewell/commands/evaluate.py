"""`judgewell evaluate`: runs × gains → scores."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judgewell.commands.common import parse_columns

if TYPE_CHECKING:
    import polars as pl

    from judgewell.evaluation.evaluate import Settings
    from judgewell.evaluation.measures import Measure
    from judgewell.formats.runs import Run

DEFAULT_MEASURES = ["nDCG@10"]


def _list_measures(asked: bool) -> None:
    if asked:
        from judgewell.evaluation.measures import describe_all

        print(describe_all())
        raise typer.Exit


def evaluate(
    gains: Annotated[str, typer.Argument(help="Qrels or a gains table (csv, parquet, jsonl), - , or irds:ID.")],
    runs: Annotated[list[str], typer.Argument(help="TREC runs or runs tables; globs and - are read.")],
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="A measure, e.g. nDCG@10, 'RBP(p=0.9)', 'AP(rel=2)'; may be repeated."),
    ] = None,
    per_topic: Annotated[bool, typer.Option("-q", "--per-topic", help="Show every topic, not only means.")] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Write the scores table: .csv, .tsv, .json, .jsonl or .parquet."),
    ] = None,
    format: Annotated[Literal["table", "csv", "json", "trec_eval"], typer.Option(help="What is printed.")] = "table",
    gains_as: Annotated[
        str | None,
        typer.Option("--gains-as", help="Transform gains first: exp2, binary(2), unit, unit(topic), 0=0,1=0.3,2=1."),
    ] = None,
    order: Annotated[Literal["score", "rank"], typer.Option(help="Rank by score or by the file's ranks.")] = "score",
    precision: Annotated[
        Literal["double", "single"],
        typer.Option(help="Of scores; trec_eval 9 and pytrec_eval rank by single precision."),
    ] = "double",
    ties: Annotated[
        Literal["doc", "shared", "spread"],
        typer.Option(
            help="Tied documents: by id descending; shared: expected value over their orders; spread: each gets the "
            "mean weight of the tie, as rbp_eval does."
        ),
    ] = "doc",
    unjudged: Annotated[
        Literal["zero", "condense", "error"],
        typer.Option(help="Unjudged documents: worth 0, left out of the ranking, or an error."),
    ] = "zero",
    topics: Annotated[
        Literal["judged", "run"] | None,
        typer.Option(
            help="Average over all judged topics (a missing one scores 0) or those in the run. "
            "Default: judged; with --format trec_eval: run."
        ),
    ] = None,
    negative: Annotated[
        Literal["unjudged", "zero", "keep", "error"], typer.Option(help="What a grade below 0 means.")
    ] = "unjudged",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what is otherwise told as a note.")] = False,
    level: Annotated[float, typer.Option(help="Level of the intervals over topics.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap over topics.")] = 0,
    columns: Annotated[
        str | None, typer.Option(help="Names of the columns in tables: topic=qid,doc=docno,gain=label.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", callback=_list_measures, is_eager=True, help="List the measures and stop.")
    ] = False,
) -> None:
    """Score runs against gains, whole or fractional, with any measure.

    \b
    Examples:
      judgewell evaluate qrels.txt runs/*.run -m nDCG@10 -m 'RBP(p=0.9)'
      judgewell evaluate gains.csv bm25.run.gz -m nDCG@10 -q -o scores.parquet
      judgewell evaluate qrels.txt bm25.run --format trec_eval -m official
      judgewell evaluate qrels.txt bm25.run -m 'RBP(p=0.8)' --gains-as 0=0,1=0.33,2=0.67,3=1
    """
    options = dict(locals())
    import numpy as np

    from judgewell.evaluation.evaluate import Settings, scores_table, system_scores, topic_names
    from judgewell.evaluation.measures import parse_all
    from judgewell.evaluation.summary import summarise_values
    from judgewell.evaluation.transform import parse_transform
    from judgewell.formats.gains import read_gains
    from judgewell.formats.runs import open_runs
    from judgewell.terminal import notes, progress

    settings = Settings(order, precision, ties, unjudged, topics or ("run" if format == "trec_eval" else "judged"))
    with notes(strict) as told:
        table = read_gains(gains, columns=parse_columns(columns), negative=negative)
        if gains_as:
            table = parse_transform(gains_as)(table)
        systems = open_runs(runs)
        if format == "trec_eval":
            print(_trec_eval(systems, table, measure, settings, per_topic), end="")
            return
        wanted = parse_all(measure or DEFAULT_MEASURES)
        beside = _beside(wanted)
        with progress("evaluating") as show:
            results = list(system_scores(systems, table, [*wanted, *beside], settings, progress=show))
        scores = scores_table(results, topic_names(table), wanted)
        if output:
            _write(scores, output, options, [gains, *(run.source or "-" for run in systems)], told)
        if output == "-":
            return
        summary = summarise_values(
            np.stack([result.values for result in results]),
            [result.system for result in results],
            [str(one) for one in [*wanted, *beside]],
            level=level,
            seed=seed,
        )
        _print(scores, summary, wanted, format, per_topic and not output, level)


def _beside(wanted: list[Measure]) -> list[Measure]:
    """What is shown beside the measures asked for: how many of the documents are judged, and residuals."""
    from judgewell.evaluation.evaluate import depth_of
    from judgewell.evaluation.measures import Judged, residual_of

    depths = {depth for one in wanted if (depth := depth_of(one))}
    residuals = [found for one in wanted if (found := residual_of(one))]
    return [one for one in [*(Judged(cutoff=depth) for depth in sorted(depths)), *residuals] if one not in wanted]


def _write(scores: pl.DataFrame, output: str, options: dict[str, object], inputs: list[str], told: list[str]) -> None:
    from judgewell.formats.provenance import provenance, write_result

    if output == "-":
        sys.stdout.write(scores.write_csv())
        return
    write_result(scores, output, provenance("evaluate", options, inputs, told))


def _print(
    scores: pl.DataFrame, summary: pl.DataFrame, wanted: list[Measure], format: str, per_topic: bool, level: float
) -> None:
    """Means with intervals, or every topic; on the terminal as a table, else as csv or json."""
    from judgewell.commands.scores_text import means_text, topics_text

    if format == "table":
        print(means_text(summary, wanted, level) + ("\n\n" + topics_text(scores) if per_topic else ""))
        return
    shown = scores if per_topic else summary.filter(summary["measure"].is_in([str(one) for one in wanted]))
    print(shown.write_csv() if format == "csv" else shown.write_json() + "\n", end="")


def _trec_eval(
    systems: list[Run], table: pl.DataFrame, names: list[str] | None, settings: Settings, per_topic: bool
) -> str:
    """What trec_eval prints, one system after the other."""
    from judgewell.evaluation.evaluate import system_scores, topic_names
    from judgewell.evaluation.trec_names import needed, print_trec, trec_measures

    lines = trec_measures(names or ["official"])
    topics = topic_names(table).to_list()
    return "".join(
        print_trec(result.system, topics, lines, result.values, per_topic=per_topic)
        for result in system_scores(systems, table, needed(lines), settings)
    )
