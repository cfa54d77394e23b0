"""`compare`: scores, or runs under several sets of gains → which systems are better, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from judgewell.analysis.conclusions import Choices, Comparison, conclude
from judgewell.analysis.draws import (
    DOCUMENT,
    GainDraws,
    Resampled,
    comparable_judgments,
    draws_of_judgments,
    draws_of_table,
    resample,
    score_of_draws,
)
from judgewell.analysis.scores import Progress, Sets, named_sets, score_sets, sets_of_scores
from judgewell.comparison.design import judgments_needed
from judgewell.comparison.noise import Score
from judgewell.comparison.scores import Missing, ScoreArray
from judgewell.comparison.signed_rank import Zeros
from judgewell.comparison.significance import DEFAULT_CORRECTION, Correction, Test
from judgewell.comparison.simulated import random_gains, simulated_systems
from judgewell.comparison.top_sets import TopTest
from judgewell.errors import InputError, formerly
from judgewell.evaluation.measures import Measure, parse_all
from judgewell.evaluation.resampled import cutoff_of
from judgewell.evaluation.settings import Settings
from judgewell.evaluation.transform import parse_transform
from judgewell.executors import executor_of
from judgewell.formats.files import files_among, is_given, is_path, named_file
from judgewell.formats.frames import read_frame
from judgewell.formats.gains import read_gains, read_intents
from judgewell.formats.judgments import read_judgments
from judgewell.formats.options import reading
from judgewell.formats.provenance import note_goal
from judgewell.formats.runs import Run, open_runs
from judgewell.formats.scores import read_scores
from judgewell.tables import frame_of

DEFAULT_MEASURE = "nDCG@10"


@formerly(resamples="replicates", tell_apart="separate")
def compare(
    scores: Any = None,
    *,
    runs: Any = None,
    gains: Any = None,
    measure: str | Sequence[str] = (),
    test: Test = "t",
    top_test: TopTest = "joint",
    correction: Correction = DEFAULT_CORRECTION,
    zeros: Zeros = "drop",
    alpha: float = 0.05,
    baseline: str | None = None,
    reference: str | None = None,
    draws: Any = None,
    worlds: int = 1000,
    judgments: Any = None,
    machine: Any = None,
    users: bool = False,
    separate: tuple[str, str] | None = None,
    random: bool = False,
    simulated: int | None = None,
    missing: Missing = "error",
    common: bool = False,
    gains_as: Sequence[str] = (),
    order: str = "score",
    precision: str = "double",
    unjudged: str = "zero",
    negative: str = "unjudged",
    replicates: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    columns: str | Mapping[str, str] | None = None,
    words: str | Mapping[str, str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    kind: str | None = None,
    executor: Any = None,
    progress: Progress | None = None,
) -> Comparison:
    """Which systems are better and how sure that is, from tables of scores, or from runs under sets of gains.

    `scores` and `gains` are files ("NAME=FILE" gives a name), frames, or a mapping of names to these; the options are
    those of `judgewell compare`, and `executor` does the work (Threads, Processes, a Dask client). The result prints as
    the command does, holds its tables by name, and draws itself.

    >>> from judgewell import compare, sample
    >>> result = compare(runs=sample.runs(), gains={"levels": sample.levels()}, measure="nDCG@10")
    >>> result["systems"].select("system", "top").head(2).rows()
    [('latent', True), ('fusion', True)]
    """
    named = [measure] if isinstance(measure, str) else list(measure)
    made = {"random": random, "simulated": simulated, "draws": draws, "judgments": judgments}
    _check_inputs(scores, runs, gains, users and not (is_given(runs) and judgments is not None and machine is None))
    given = {"columns": columns, "words": words, "separator": separator, "no_header": no_header}
    how = reading(given, *(("scores",) if is_given(scores) else ("judgments", "gains")))
    choices = Choices(
        test, top_test, correction, zeros, alpha, baseline, reference, separate, worlds, replicates, level, seed,
        None if executor is None else executor_of(executor),
    )  # fmt: skip
    if is_given(scores):
        if any(is_given(value) for value in (*made.values(), machine, gains_as)):
            raise InputError("scores cannot be computed again under other gains", cure="give --runs and --gains")
        called = named[0] if len(named) == 1 else None
        tables = named_sets(scores, lambda source: read_scores(source, how["columns"], how["layout"], called))
        sets = sets_of_scores(tables, named, missing=missing, common=common)
        note_goal(files_among(scores))
        return conclude(sets, choices, inputs=files_among(scores))
    wanted, settings = parse_all(named or [DEFAULT_MEASURE]), Settings(order, precision, "doc", unjudged)
    by_intent = next((one for one in wanted if one.by_intent), None)
    read = read_gains if by_intent is None else read_intents
    tables = named_sets(gains, lambda source: read(source, negative=negative, words=how["words"]))
    if by_intent is not None:
        _refuse_beside(str(by_intent), "ask for measures that do not look at intents", **made, machine=machine)
    if machine is not None:
        others = {"gains_as": gains_as, "separate": separate, f"{len(tables)} sets of gains": len(tables) > 1}
        _refuse_beside("--machine", "give the gains of people, once, and the labels", **made, **others)
    systems = open_runs(runs, executor=choices.executor)
    note_goal(files_among(gains, draws, judgments))
    inputs = files_among(gains, draws, judgments, machine, [run.source for run in systems if run.source])
    if machine is not None:
        from judgewell.analysis.machine import compare_with_machine

        source = named_file(str(machine))[1] if is_path(machine) else machine
        labels = read_gains(source, negative=negative, words=how["words"])
        return compare_with_machine(systems, next(iter(tables.items())), labels, wanted, choices, settings, inputs)
    tables = _transformed(tables, gains_as)
    if random:
        tables["random"] = random_gains(tables[reference or next(iter(tables))], seed)
    if simulated:
        systems, tables = _simulated(systems, tables, simulated, seed)
    for one in wanted if draws is not None or judgments is not None else ():
        cutoff_of(one)  # which refuses it before anything is scored
    judged = None if judgments is None else read_judgments(judgments, **how, kind=kind)
    sets = score_sets(systems, tables, wanted, settings, common=common, progress=progress, executor=choices.executor)
    if draws is None and judged is None:
        return conclude(sets, choices, inputs=inputs)
    drawn = _drawn(next(iter(tables.values())), sets, draws, judged, choices)
    result = _over_draws(drawn, judged, systems, sets, wanted, settings, choices, inputs)
    if users and judged is not None:
        _add_users(result, judged, systems, wanted, settings)
    return result


def _check_inputs(scores: Any, runs: Any, gains: Any, users_of_nothing: bool) -> None:
    """Refuse what cannot be compared: neither or both of scores and runs, runs without gains, users unknown."""
    if users_of_nothing:
        cure = "give --runs, --gains and --judgments with the column assessor"
        raise InputError("profiles of users come from judgments", cure=cure)
    if is_given(scores) == is_given(runs) or is_given(runs) != is_given(gains):
        cure = "give gains and qrels with --gains (judgewell compare --help has examples)"
        raise InputError("name either scores, or --runs with --gains", cure=cure)


def _over_draws(
    drawn: GainDraws,
    judged: pl.DataFrame | None,
    systems: Sequence[Run],
    sets: Mapping[str, Sets],
    measures: Sequence[Measure],
    settings: Settings,
    choices: Choices,
    inputs: tuple[str, ...],
) -> Comparison:
    """The conclusions over draws of the gains; with judgments, how many of them it takes to separate two systems."""
    score = {
        name: score_of_draws(systems, drawn.documents, one, next(iter(sets[name].values())), settings, choices.executor)
        for name, one in zip(sets, measures, strict=True)
    }

    def resampled(measure: str, one: ScoreArray) -> Resampled:
        return resample(drawn, score[measure], one, worlds=choices.worlds, seed=choices.seed, executor=choices.executor)

    result = conclude(sets, choices, resampled, inputs)
    if choices.separate and judged is not None:
        first = next(iter(sets))
        needed = _judgments_needed(drawn, judged, score[first], sets[first], choices)
        result.tables["judgments needed"] = needed.select(pl.lit(first).alias("measure"), pl.all())
    return result


def _add_users(
    result: Comparison, judged: pl.DataFrame, systems: Sequence[Run], measures: Sequence[Measure], settings: Settings
) -> None:
    """For how many users each system is better: a table of profiles, and one of pairs for every measure."""
    from judgewell.analysis.users import profile_points, user_pairs, user_profiles

    profiles = user_profiles(judged)
    level = result.choices.level
    parts = [
        user_pairs(profiles, systems, one, settings, level).select(pl.lit(name).alias("measure"), pl.all())
        for name, one in zip(result.scores, measures, strict=True)
    ]
    result.tables["users"] = profiles.users.with_columns(reliability=pl.lit(profiles.reliability))
    result.tables["user pairs"] = pl.concat(parts)
    result.tables["profiles"] = profile_points(profiles)


def _refuse_beside(what: str, cure: str, **options: Any) -> None:
    """Refuse options that are given and have no meaning beside something else."""
    for name, value in options.items():
        if is_given(value):
            option = name if " " in name else f"--{name.replace('_', '-')}"
            raise InputError(f"{option} cannot be used with {what}", cure=cure)


def _transformed(tables: Mapping[str, pl.DataFrame], gains_as: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Each set of gains under each transform."""
    if not gains_as:
        return dict(tables)
    return {
        f"{name} {text}": table if text == "linear" else parse_transform(text)(table)
        for name, table in tables.items()
        for text in gains_as
    }


def _simulated(
    runs: Sequence[Run], tables: Mapping[str, pl.DataFrame], count: int, seed: int
) -> tuple[list[Run], dict[str, pl.DataFrame]]:
    """Systems made of complete sub-runs under the first gains, their topics the only ones kept."""
    parts = [
        run.frame(ranks=False).select("topic", "doc", "score").with_columns(pl.lit(run.system).alias("system"))
        for run in runs
    ]
    made = simulated_systems(pl.concat(parts), next(iter(tables.values())), count, seed=seed)
    kept = pl.col("topic").is_in(made["topic"].unique().implode())
    return open_runs(made), {name: table.filter(kept) for name, table in tables.items()}


def _drawn(
    gains: pl.DataFrame, sets: Mapping[str, Sets], draws: Any, judged: pl.DataFrame | None, choices: Choices
) -> GainDraws:
    """Draws of the first set of gains, on the topics that are compared."""
    shared = next(iter(next(iter(sets.values())).values())).topics
    kept = pl.col("topic").is_in(shared)
    if judged is not None:
        return draws_of_judgments(judged, gains.filter(kept), choices.worlds, seed=choices.seed)
    table = read_frame(draws) if is_path(draws) else frame_of(draws)
    return draws_of_table(table.filter(kept), gains.filter(kept), str(draws) if is_path(draws) else None)


def _judgments_needed(
    drawn: GainDraws, judged: pl.DataFrame, score: Score, sets: Sets, choices: Choices
) -> pl.DataFrame:
    """How sure the order of the two systems is with more or fewer judgments of each document."""
    values = comparable_judgments(judged, drawn.documents).group_by(DOCUMENT).agg("value")
    joined = drawn.documents.select(DOCUMENT).join(values, on=DOCUMENT, how="left", maintain_order="left")
    systems = next(iter(sets.values())).systems
    pair, size = choices.separate or ("", ""), choices.worlds
    judgments = [one.to_numpy() for one in joined["value"]]
    return judgments_needed(
        score, judgments, systems, *pair, simulations=size, seed=choices.seed, executor=choices.executor
    )
