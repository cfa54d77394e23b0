"""`judgewell evaluate`: runs × gains → scores."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import (
    choice,
    cluster_options,
    executing,
    negative_option,
    reading,
    reading_options,
    refuse_unwritable,
)
from judgewell.errors import InputError
from judgewell.values import dataclass

if TYPE_CHECKING:
    import polars as pl

    from judgewell.evaluation.evaluate import SystemScores
    from judgewell.evaluation.judged import Judged
    from judgewell.evaluation.measures import Measure
    from judgewell.evaluation.settings import Settings
    from judgewell.evaluation.trec_names import TrecMeasure
    from judgewell.executors import Executor
    from judgewell.formats.provenance import Digests
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
    "-m",
    "--measure",
    multiple=True,
    help="Use this measure: nDCG@10, 'RBP(p=0.9)', 'AP(rel=2)', …; may be repeated.  [default: nDCG@10]",
)
@click.option("-q", "--per-topic", is_flag=True, help="Show every topic, not only means.")
@click.option("-n", "--no-summary", is_flag=True, help="Leave out the means, with -q.")
@click.option("-o", "--output", help="Write the scores table: .csv, .tsv, .json, .jsonl or .parquet.")
@choice("--format", "table", "csv", "json", "trec_eval", help="Print in this format.")
@choice(
    "--trec-version",
    "10",
    "9",
    help="Print as this trec_eval: 9 rounds recall levels up and ranks by single-precision scores.",
)
@click.option(
    "-l", "--rel", type=float, help="Count this gain and above as relevant, unless the measure says otherwise."
)
@click.option("--gains-as", help="Transform gains first: exp2, binary(2), unit, unit(topic), 0=0,1=0.3,2=1.")
@choice("--order", "score", "rank", help="Rank by score, or by the ranks in the file.")
@click.option(
    "--precision",
    type=click.Choice(["double", "single"]),
    help="Read scores in this precision; trec_eval 9 and pytrec_eval use single.  "
    "[default: double; with --trec-version 9: single]",
)
@choice(
    *("--ties", "doc", "shared", "spread"),
    help="Order tied documents by id, descending (doc); take the mean over their orders (shared); or give each the "
    "mean weight of the tie, as rbp_eval does (spread).",
)
@choice(
    "--unjudged",
    "zero",
    "condense",
    "error",
    help="Give unjudged documents gain 0, remove them from rankings, or refuse them.",
)
@click.option("-J", "--judged-only", is_flag=True, help="The same as --unjudged condense.")
@click.option("-M", "--most", type=click.IntRange(min=1), help="Cut rankings after this many documents.")
@click.option(
    "--topics",
    help="Average over all judged topics, missing ones as 0 (judged), over those of the run (run), or over those in a "
    "FILE, one id per line.  [default: judged; with --format trec_eval: run]",
)
@click.option("-c", "--complete", is_flag=True, help="The same as --topics judged, for --format trec_eval.")
@negative_option
@click.option("--level", default=0.95, help="Compute intervals over topics at this level.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed the bootstrap over topics with this number.")
@reading_options
@cluster_options
@click.option("--strict", is_flag=True, help="Treat notes as errors.")
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_list_measures, help="List the measures."
)
def evaluate(strict: bool, cluster: str | None, processes: int | None, **given: Any) -> None:
    """Score RUNS with GAINS, whole numbers or fractions, by any measure.

    GAINS is a qrels file, a table of topic, doc and gain (csv, parquet, jsonl) or irds:ID; RUNS are TREC runs or tables
    of system, topic, doc and score. Globs, compressed files and - (standard input) are read.

    \b
    Examples:
      judgewell evaluate qrels.txt runs/*.run -m nDCG@10 -m 'RBP(p=0.9)'
      judgewell evaluate gains.csv bm25.run.gz -m nDCG@10 -q -o scores.parquet
      judgewell evaluate qrels.txt bm25.run --format trec_eval -m official -c
      judgewell evaluate qrels.txt bm25.run -m 'RBP(p=0.8)' --gains-as 0=0,1=0.33,2=0.67,3=1
      judgewell evaluate ntcir.qrels bm25.run --words L0=0,L1=1,L2=2,L3=3
      judgewell evaluate qrels.txt 'runs/*.run' --cluster tcp://scheduler:8786 -o scores.parquet
    """
    options = {**dict(sorted(given.items())), "strict": strict, "measure": list(given["measure"])}
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy, which would start threads that have no work here
    from judgewell.formats.provenance import Digests
    from judgewell.formats.runs import open_runs
    from judgewell.terminal import notes

    settings, only = _settings(options)
    _refuse_contradictions(options)
    with notes(strict) as assumed, executing(cluster, processes) as executor:
        wanted, lines = _asked(options, settings)
        how = reading(options, "gains", "runs")
        systems = open_runs(list(given["runs"]), how["columns"], how["layout"], executor=executor)
        files = [run.source for run in systems if run.source]
        recorded = [given["gains"], *files] if given["output"] not in (None, "-") else []
        with Digests(recorded, executor) as hashes:
            if len(systems) == 1:
                hashes.begin()
            judged, pool, drawn = _judged(options, only, how, wanted)
            work = Work(systems, judged, pool, drawn, settings, executor)
            if lines:
                _print_as_trec_eval(work, lines, options)
            else:
                _print_and_write(work, wanted, options, hashes, assumed)


def _refuse_contradictions(given: dict[str, Any]) -> None:
    """What cannot be written, and options that ask for nothing, before any work."""
    output = given["output"]
    refuse_unwritable(output, given["gains"], *given["runs"])
    if given["format"] == "trec_eval" and output:
        raise InputError("--format trec_eval is only printed", cure="leave -o out, or choose another format")
    if given["no_summary"] and not given["per_topic"]:
        raise InputError("-n removes the means, and nothing else is requested", cure="add -q for every topic")


@dataclass(frozen=True)
class Work:
    """What is to be measured, how, and where."""

    systems: list[Run]
    judged: Judged
    pool: pl.DataFrame | None
    drawn: pl.DataFrame | None  # the gains, where documents were drawn with known probabilities
    settings: Settings
    executor: Executor | None

    def scores(
        self, measures: Sequence[Measure], executor: Executor | None = None, progress: Any = None
    ) -> Iterator[SystemScores]:
        from judgewell.evaluation.evaluate import scores_with_pool

        executor = executor or self.executor
        scored = scores_with_pool(self.systems, self.judged, self.pool, measures, self.settings, executor, progress)
        if self.drawn is None:
            return scored
        from judgewell.evaluation.drawn import with_estimates

        return with_estimates(scored, self.drawn, self.systems, measures, self.settings, self.executor)


def _print_as_trec_eval(work: Work, lines: list[TrecMeasure], given: dict[str, Any]) -> None:
    from judgewell.evaluation.trec_names import TrecOutput, needed

    several, version = len(work.systems) > 1, int(given["trec_version"])
    output = TrecOutput(lines, given["per_topic"], not given["no_summary"], several, version)
    for result in work.scores(needed(lines)):
        print(output.text(result.system, work.judged.topics, result.values, result.lengths), end="")


def _print_and_write(
    work: Work, wanted: list[Measure], given: dict[str, Any], hashes: Digests, assumed: list[str]
) -> None:
    """The means on the terminal, every topic in the file."""
    import numpy as np

    from judgewell.evaluation.evaluate import ready
    from judgewell.evaluation.summary import summary_rows
    from judgewell.formats.provenance import provenance
    from judgewell.terminal import progress

    output, level, topics = given["output"], given["level"], work.judged.topics
    wanted = ready(wanted, work.judged, work.settings)
    settled = {"measure": [str(one) for one in wanted], "topics": given["topics"] or work.settings.topics}
    options = {**given, **settled, "precision": work.settings.precision, "unjudged": work.settings.unjudged}
    residuals, shares = _beside(wanted, estimated=work.drawn is not None)
    beside = ready([*residuals, *shares], work.judged, work.settings)
    with progress("evaluating") as show, _kept(work.executor, output, options, hashes.paths) as kept:
        results = list(work.scores([*wanted, *beside], kept, show))
    written = Scores(results, topics, [*wanted, *beside[: len(residuals)]])
    if output == "-":
        written.print("json" if given["format"] == "json" else "csv")
        return
    hashes.begin()
    of_scores = list(assumed)  # the summary's notes are not about the file
    values = results[0].values[None] if len(results) == 1 else np.stack([result.values for result in results])
    names = [result.system for result in results]
    measures = [*wanted, *beside]
    biased = None
    if work.drawn is not None:
        from judgewell.evaluation.drawn import is_biased

        biased = [is_biased(one, work.drawn, work.settings) for one in measures]
    summary = summary_rows(values, names, [*map(str, measures)], level=level, seed=given["seed"], biased=biased)
    if output:
        written.write(output, lambda: provenance("evaluate", options, hashes.result(), of_scores))
    shown = Scores(results, topics, wanted)
    _print(shown, summary, given["format"], given["per_topic"] and not output, not given["no_summary"], level)


@contextmanager
def _kept(executor: Executor | None, output: str | None, options: dict[str, Any], files: list[str]) -> Iterator[Any]:
    """The executor, keeping what is finished in OUTPUT.partial until all is; the same command again goes on there."""
    if executor is None or not files:
        yield executor
        return
    import json

    from judgewell._version import __version__
    from judgewell.evaluation.part import PartScores
    from judgewell.executors.kept import Kept
    from judgewell.formats.files import mark

    work = json.dumps([__version__, options, [(path, mark(path)) for path in files]], default=str)
    kept = Kept(executor, f"{output}.partial", work, PartScores.dump, PartScores.load)
    if kept.resumed:
        print(f"{kept.resumed} parts were finished before ({output}.partial)", file=sys.stderr)
    try:
        yield kept
    except BaseException:
        kept.file.close()
        if kept.count:
            print(
                f"{kept.count} finished parts are kept in {output}.partial; the same command goes on from there",
                file=sys.stderr,
            )
        raise
    kept.finish()


def _settings(given: dict[str, Any]) -> tuple[Settings, str | None]:
    """The choices that change scores, and the file of topics to keep."""
    from judgewell.evaluation.settings import Settings

    trec = given["format"] == "trec_eval"
    if given["trec_version"] == "9" and not trec:
        raise InputError("--trec-version is for trec_eval's format", cure="add --format trec_eval, or leave it out")
    precision = given["precision"] or ("single" if given["trec_version"] == "9" else "double")
    unjudged = "condense" if given["judged_only"] else given["unjudged"]
    if given["judged_only"] and given["unjudged"] == "error":
        raise InputError("-J leaves unjudged documents out, and --unjudged error refuses them", cure="give one of them")
    asked = given["topics"]
    only = None if asked in (None, "judged", "run") else asked
    if given["complete"] and asked == "run":
        raise InputError("-c averages over all judged topics, and --topics run over the run's", cure="give one of them")
    topics = "judged" if given["complete"] or not trec else "run"
    topics = asked if asked in ("judged", "run") else topics
    return Settings(given["order"], precision, given["ties"], unjudged, topics, given["most"]), only


def _judged(
    given: dict[str, Any], only: str | None, how: dict[str, Any], measures: Sequence[Measure]
) -> tuple[Judged, pl.DataFrame | None, pl.DataFrame | None]:
    """The judged documents, the pool with grades below 0, and the gains where documents were drawn.

    A plain qrels file is read without what tables need.
    """
    from judgewell.evaluation.compiled import plain_qrels
    from judgewell.evaluation.judged import prepare

    path, negative, gains_as = given["gains"], given["negative"], given["gains_as"]
    by_intent = any(one.by_intent for one in measures)
    plain = None if gains_as or only or by_intent or any(how.values()) else plain_qrels(path)
    if plain is not None:
        return plain, None, None
    from judgewell.evaluation.drawn import is_drawn
    from judgewell.evaluation.intents import prepare_intents
    from judgewell.evaluation.transform import only_topics, parse_transform
    from judgewell.formats.gains import read_gains, read_intents, without_negatives

    pool = read_intents(path, negative="keep", **how) if by_intent else read_gains(path, negative="keep", **how)
    if only is not None:
        pool = only_topics(pool, read_topic_ids(only), only)
    table = without_negatives(pool, negative, path)
    if gains_as is not None:
        table = parse_transform(gains_as)(table)
    if by_intent:
        return prepare_intents(table), None, None
    pooled = pool if negative == "unjudged" and gains_as is None else None
    return prepare(table), pooled, table if is_drawn(table) else None


def read_topic_ids(path: str) -> list[str]:
    """The first word of each line of a file."""
    from pathlib import Path

    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except OSError:
        raise InputError(f"--topics {path}: there is no such file", cure="write judged, run or a file of ids") from None
    except UnicodeDecodeError:
        raise InputError("the topic ids are not text in UTF-8", cure="write one id a line", file=path) from None
    return [line.split()[0] for line in lines if line.strip()]


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

    def write(self, path: str, record: Callable[[], dict[str, Any]]) -> None:
        """The file and, when that is there, its record."""
        from judgewell.formats.provenance import write_record, write_result

        if not path.endswith((".csv", ".tsv")):
            write_result(self.table(), path, record())
            return
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.writelines(self.text("\t" if path.endswith(".tsv") else ","))
        write_record(path, record())


def _asked(given: dict[str, Any], settings: Settings) -> tuple[list[Measure], list[TrecMeasure]]:
    """The measures to work out, and for trec_eval's format the lines it prints of them."""
    from judgewell.evaluation.measures import parse_all, with_rel

    if given["format"] != "trec_eval":
        return [with_rel(one, given["rel"]) for one in parse_all(given["measure"] or DEFAULT_MEASURES)], []
    from judgewell.evaluation.trec_names import trec_measures

    version, complete = int(given["trec_version"]), settings.topics == "judged"
    return [], trec_measures(given["measure"] or ["official"], rel=given["rel"], version=version, complete=complete)


def _beside(wanted: list[Measure], *, estimated: bool) -> tuple[list[Measure], list[Measure]]:
    """What is shown beside the measures asked for: residuals, and how many of the documents are judged.

    An estimate from drawn documents has no residual: documents that were not drawn count with their prediction.
    """
    from judgewell.evaluation.measures import Judged, residual_of
    from judgewell.evaluation.part import depth_of

    depths = {depth for one in wanted if (depth := depth_of(one))}
    residuals: list[Measure] = [one for each in wanted if not estimated and (one := residual_of(each))]
    shares: list[Measure] = [Judged(cutoff=depth) for depth in sorted(depths)]
    return [one for one in residuals if one not in wanted], [one for one in shares if one not in wanted]


def _print(
    scores: Scores, summary: list[dict[str, Any]], format: str, per_topic: bool, means: bool, level: float
) -> None:
    """Means with intervals, or every topic; on the terminal as a table, else as csv or json."""
    from judgewell.commands.scores_text import means_text, topics_text

    if format == "table":
        if means:
            print(means_text(summary, scores.measures, level) + ("\n" if per_topic else ""))
        if per_topic:
            print(topics_text(scores.results, scores.topics, scores.measures))
    elif per_topic:
        scores.print(format)
    elif format == "csv":
        from judgewell.formats.csv_text import csv_rows

        sys.stdout.writelines(csv_rows(list(summary[0]), (list(row.values()) for row in summary)))
    else:
        import polars as pl

        print(pl.DataFrame(summary, infer_schema_length=None).write_json())
