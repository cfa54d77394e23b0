"""`judgewell evaluate`: runs × gains → scores."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import choice, reading, reading_options, refuse_unwritable
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.evaluation.evaluate import SystemScores
    from judgewell.evaluation.judged import Judged
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
@reading_options
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
    separator: str | None,
    no_header: bool,
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

    from judgewell.evaluation.evaluate import ready, system_scores
    from judgewell.evaluation.settings import Settings
    from judgewell.evaluation.summary import summary_rows
    from judgewell.formats.provenance import digests, provenance
    from judgewell.formats.runs import open_runs
    from judgewell.terminal import notes, progress

    settings = Settings(order, precision, ties, unjudged, topics or ("run" if format == "trec_eval" else "judged"))
    refuse_unwritable(output, gains, *runs)
    if format == "trec_eval" and output:
        raise InputError("--format trec_eval is only printed", cure="leave -o out, or choose another format")
    with notes(strict) as told:
        wanted, lines = _asked(measure, format, rel)
        how = reading(options, "gains", "runs")
        judged = _judged(gains, wanted, negative, gains_as, how)
        systems = open_runs(list(runs), how["columns"], how["layout"])
        if lines:
            print(_trec_eval(systems, judged, lines, settings, per_topic), end="")
            return
        wanted = ready(wanted, judged, settings)
        options |= {"measure": [str(one) for one in wanted], "topics": settings.topics}
        beside = ready(_beside(wanted), judged, settings)
        with ThreadPoolExecutor(1) as meanwhile, progress("evaluating") as show:
            recorded = [gains, *runs_read(systems)] if output not in (None, "-") else []
            hashes = meanwhile.submit(digests, recorded)
            results = list(system_scores(systems, judged, [*wanted, *beside], settings, progress=show))
        scores = Scores(results, judged.topics, wanted)
        if output == "-":
            scores.print("json" if format == "json" else "csv")
            return
        if output:
            scores.write(output, provenance("evaluate", options, hashes.result(), told))
        values, names = np.stack([result.values for result in results]), [result.system for result in results]
        summary = summary_rows(values, names, [str(one) for one in [*wanted, *beside]], level=level, seed=seed)
        _print(scores, summary, format, per_topic and not output, level)


def _judged(path: str, measures: list[Measure], negative: str, gains_as: str | None, how: dict[str, Any]) -> Judged:
    """The judged documents; a plain qrels file is read without what other tables need."""
    from judgewell.evaluation.compiled import plain_qrels
    from judgewell.evaluation.judged import prepare

    plain = None if gains_as or any(how.values()) else plain_qrels(path)
    if plain is not None:
        return plain
    from judgewell.evaluation.evaluate import settle_negatives
    from judgewell.formats.gains import read_gains

    table = settle_negatives(read_gains(path, negative="keep", **how), negative, measures)
    if gains_as is not None:
        from judgewell.evaluation.transform import parse_transform

        table = parse_transform(gains_as)(table)
    return prepare(table)


@dataclass(frozen=True)
class Scores:
    """The scores of all systems, written row by row; only what needs a table makes one."""

    results: list[SystemScores]
    topics: list[str]
    measures: list[Measure]

    def text(self, separator: str = ",") -> Iterator[str]:
        """As delimited text, a piece at a time."""
        from judgewell.formats.csv_text import csv_scores

        systems = ((result.system, result.values[:, : len(self.measures)]) for result in self.results)
        return csv_scores(systems, self.topics, [str(measure) for measure in self.measures], separator)

    def table(self) -> pl.DataFrame:
        from judgewell.evaluation.evaluate import scores_table

        return scores_table(self.results, self.topics, self.measures)

    def print(self, format: str) -> None:
        if format == "json":
            print(self.table().write_json())
        else:
            sys.stdout.writelines(self.text())

    def write(self, path: str, record: dict[str, Any]) -> None:
        from judgewell.formats.provenance import write_record, write_result

        if not path.endswith((".csv", ".tsv")):
            write_result(self.table(), path, record)
            return
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(self.text("\t" if path.endswith(".tsv") else ","))
        write_record(path, record)


def _asked(measures: tuple[str, ...], format: str, rel: float | None) -> tuple[list[Measure], list[TrecMeasure]]:
    """The measures to work out, and for trec_eval's format the lines it prints of them."""
    from judgewell.evaluation.measures import parse_all

    if format != "trec_eval":
        return [_from(one, rel) for one in parse_all(measures or DEFAULT_MEASURES)], []
    from judgewell.evaluation.trec_names import needed, trec_measures

    lines = trec_measures(measures or ["official"], rel=rel)
    return needed(lines), lines


def _beside(wanted: list[Measure]) -> list[Measure]:
    """What is shown beside the measures asked for: how many of the documents are judged, and residuals."""
    from judgewell.evaluation.measures import Judged, residual_of
    from judgewell.evaluation.part import depth_of

    depths = {depth for one in wanted if (depth := depth_of(one))}
    residuals = [found for one in wanted if (found := residual_of(one))]
    return [one for one in [*(Judged(cutoff=depth) for depth in sorted(depths)), *residuals] if one not in wanted]


def _print(scores: Scores, summary: list[dict[str, Any]], format: str, per_topic: bool, level: float) -> None:
    """Means with intervals, or every topic; on the terminal as a table, else as csv or json."""
    from judgewell.commands.scores_text import means_text, topics_text

    if format == "table":
        print(means_text(summary, scores.measures, level))
        if per_topic:
            print("\n" + topics_text(scores.results, scores.topics, scores.measures))
    elif per_topic:
        scores.print(format)
    elif format == "csv":
        from judgewell.formats.csv_text import csv_rows

        sys.stdout.writelines(csv_rows(list(summary[0]), (list(row.values()) for row in summary)))
    else:
        import polars as pl

        print(pl.DataFrame(summary, infer_schema_length=None).write_json())


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
    systems: list[Run], judged: Judged, lines: list[TrecMeasure], settings: Settings, per_topic: bool
) -> str:
    """What trec_eval prints, one system after the other."""
    from judgewell.evaluation.evaluate import system_scores
    from judgewell.evaluation.trec_names import needed, print_trec

    return "".join(
        print_trec(result.system, judged.topics, lines, result.values, per_topic=per_topic)
        for result in system_scores(systems, judged, needed(lines), settings)
    )
