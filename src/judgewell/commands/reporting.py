"""The public function `report`: a study's database, or files and frames → a report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from judgewell.agreement.direction import note_labels, note_reversed
from judgewell.agreement.machines import split_machines
from judgewell.analysis.scores import named_sets
from judgewell.commands.database import database_of, existing
from judgewell.comparison.scores import system_number
from judgewell.errors import Information, InputError, collect_notes, note
from judgewell.evaluation.measures import parse_all
from judgewell.executors import executor_of
from judgewell.formats.files import files_among, is_given, is_path
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.formats.options import kept_where, read_labels, reading, where_files
from judgewell.formats.provenance import note_goal, provenance
from judgewell.formats.runs import open_runs
from judgewell.reports.assemble import Progress, assemble
from judgewell.reports.parts import Report
from judgewell.reports.sources import (
    CollectedStudy,
    Sources,
    codes_of,
    not_people,
    note_with_codes,
    preliminary,
    with_codes,
)
from judgewell.scales import with_kinds
from judgewell.scaling.inputs import judgments_of, pairs_of
from judgewell.scaling.methods import method_for, parse

if TYPE_CHECKING:
    from judgewell.study.model import Goal

DEFAULT_MEASURE = "nDCG@10"
SQLITE = b"SQLite format 3"  # how a file of it begins


def report(
    study: str | None = None,
    *,
    database: str | None = None,
    judgments: Any = None,
    pairs: Any = None,
    gains: Any = (),
    method: str | None = None,
    labels: Any = (),
    machine: Any = (),
    runs: Any = (),
    measure: str | Sequence[str] = (),
    baseline: str | None = None,
    title: str | None = None,
    name_assessors: bool = False,
    draws: int = 200,
    worlds: int = 1000,
    replicates: int = 1000,
    seed: int = 0,
    columns: str | Mapping[str, str] | None = None,
    words: str | Mapping[str, str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    where: Iterable[str] = (),
    kind: str | None = None,
    executor: Any = None,
    progress: Progress | None = None,
) -> Report:
    """Everything that the data say, as a report: `.save("report.html")` writes the page, `.figures` and `.grids` hold
    its Altair charts and polars frames.

    `study` is a study file or its database; `judgments`, `pairs` and `runs` are files or frames; `gains` and `labels`
    are files ("NAME=FILE" gives a name), or a mapping of names to files or frames; so are `machine`, label sets by
    machines. The options are those of `judgewell report`; `executor` does the work (Threads, Processes, a Dask client).

    >>> from judgewell import report, sample
    >>> page = report(labels={"levels": sample.levels()}, runs=sample.runs(), worlds=100)
    >>> page.parts[0].findings[0].text.split(":")[0]
    'Under levels, latent has the best mean nDCG@10'
    """
    _check_inputs(study, database, judgments, pairs, gains, labels, method)
    given = {"columns": columns, "words": words, "separator": separator, "no_header": no_header}
    how = reading(given, "judgments", "pairs")
    workers = None if executor is None else executor_of(executor)
    with collect_notes() as notes:
        collected = _collected(study, database)
        own = _answers(collected, judgments, pairs, how, where, kind)
        people, machines = split_machines(own[0])
        answers = (people, own[1]) if name_assessors else with_codes(people, own[1])
        own_runs, named = not is_given(runs), [measure] if isinstance(measure, str) else list(measure)
        labels, runs, goal = _of_study(study, labels, runs)
        systems = open_runs(runs, executor=workers) if is_given(runs) else []
        if goal is not None and own_runs and not isinstance(goal.decide, str):
            systems = [run for run in systems if run.system in goal.decide]
        _check_baseline(baseline, [run.system for run in systems])
        sources = Sources(
            judgments=answers[0],
            pairs=answers[1],
            gains=named_sets(gains, read_gains) if is_given(gains) else {},
            labels=_labels(labels, answers[0], how),
            machine=machines | _labels(machine, answers[0], how),
            runs=systems,
            measures=parse_all(named or [goal.measure if goal else DEFAULT_MEASURE]) if systems else [],
            method=None if is_given(gains) else _method(method, *answers),
            draws=draws,
            worlds=worlds,
            replicates=replicates,
            seed=seed,
            baseline=baseline,
            study=collected,
            executor=workers,
        )
        if how["words"]:
            meanings = ", ".join(f"{word} is {means}" for word, means in how["words"].items())
            note(Information(f"answers in words: {meanings}"))
        if collected is None or collected.goal is None:  # else it is among the findings
            note_goal(files_among(judgments, pairs, gains))
        note_labels(sources.judgments)
        note_reversed(sources.judgments, {**sources.labels, **sources.machine}, sources.pairs)
    for text in notes:
        note(text)
    codes = {} if name_assessors else codes_of(people, own[1])
    notes = [text if isinstance(text, Information) else note_with_codes(text, codes) for text in notes]
    title = title or _title(sources, judgments, pairs)
    of_runs = [run.source for run in systems if run.source]
    study_file = study if _is_study_file(study) else None
    sources_of = (judgments, pairs, study_file, gains, labels, machine, of_runs, where_files(where))
    inputs = files_among(*sources_of, _database_file(study, database))
    options: dict[str, Any] = {"title": title, "measure": [str(one) for one in sources.measures], "baseline": baseline}
    options |= {"method": str(sources.method or "none")}
    options |= {"draws": draws, "worlds": worlds, "replicates": replicates, "seed": seed, "words": how["words"]}
    options |= {"columns": how["columns"], "where": list(where), "name_assessors": name_assessors, "kind": kind}
    record = provenance("report", options, inputs)
    notice = " ".join(filter(None, [preliminary(collected), not_people(*own)]))
    return assemble(sources, title=title, notes=notes, record=record, notice=notice, progress=progress)


def _check_inputs(study: Any, database: Any, judgments: Any, pairs: Any, gains: Any, labels: Any, method: Any) -> None:
    """Refuse what gives no report: nothing, a database of no study, and gains that are given and made."""
    if not any(is_given(data) for data in (study, judgments, pairs, gains, labels)):
        cure = "name a study, or give --judgments, --pairs, --gains or --labels"
        raise InputError("there is nothing to report on", cure=cure)
    if database and not study:
        raise InputError("--database is given without its study", cure="name the study file first")
    if is_given(gains) and method:
        raise InputError("both gains and a method to make them are given", cure="leave out --gains or --method")


def _check_baseline(baseline: str | None, systems: list[str]) -> None:
    if baseline is not None and not systems:
        raise InputError("a baseline is given without runs", cure="add --runs")
    if baseline is not None:
        system_number(systems, baseline)


def _title(sources: Sources, judgments: Any, pairs: Any) -> str:
    """What the report is about, where no title is given."""
    if sources.study is not None:
        return f"Report on the study {sources.study.name}"
    if len(sources.runs) > 1:
        return f"Comparison of {len(sources.runs)} systems"
    given = judgments if judgments is not None else pairs
    if given is not None:
        return f"Report on {os.path.basename(given)}" if is_path(given) else "Report on relevance judgments"
    sets = [*sources.gains, *sources.labels, *sources.machine]
    return f"Comparison of {len(sets)} label sets" if len(sets) > 1 else f"Gains and labels: {', '.join(sets)}"


def _is_study_file(study: str | None) -> bool:
    return study is not None and str(study).endswith(".toml")


def _is_database(study: str) -> bool:
    """Whether a study is named by its database: an address, or a file that SQLite wrote."""
    if "://" in study:
        return True
    if not os.path.isfile(study):
        return False
    with open(study, "rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _database_file(study: str | None, database: str | None) -> list[str]:
    """The file of the study's database, where it is one."""
    where = database or (database_of(str(study), None) if _is_study_file(study) else str(study)) if study else ""
    return [where] if os.path.isfile(where) else []


def _collected(study: str | None, database: str | None) -> CollectedStudy | None:
    """What is in the study's database; the study may be named by its file or by the database itself."""
    if not study:
        return None
    import time

    from judgewell.server.queries.collected import collected_study

    if not database and not _is_study_file(study) and not _is_database(str(study)):
        cure = "give labels and qrels with --labels, runs with --runs, gains with --gains"
        raise InputError(f"{study} is neither a study file (.toml) nor the database of a study", cure=cure)
    with existing(str(study), database or (None if _is_study_file(study) else study)) as store:
        return collected_study(store, time.time())


def _answers(
    study: CollectedStudy | None,
    judgments: Any,
    pairs: Any,
    how: dict[str, Any],
    where: Iterable[str],
    kind: str | None,
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """The judgments and pairs, of the study or given."""
    tables: list[pl.DataFrame | None] = []
    conditions = list(where)
    for name, given in (("judgments", judgments), ("pairs", pairs)):
        own: pl.DataFrame | None = getattr(study, name, None)
        if given is not None and own is not None:
            raise InputError(f"the study has {name}, and --{name} gives others", cure="leave out one of them")
        table = own
        if given is not None and name == "judgments":
            read = is_path(given)
            table = read_judgments(given, **how, kind=kind) if read else with_kinds(judgments_of(given), kind=kind)
        elif given is not None:
            table = read_pairs(given, **how) if is_path(given) else pairs_of(given)
        tables.append(None if table is None else kept_where(table, conditions))
    return tables[0], tables[1]


def _of_study(study: str | None, labels: Any, runs: Any) -> tuple[Any, Any, Goal | None]:
    """The labels and runs given, else the study file's own: the systems of its goal or those of its pool; its goal."""
    if not _is_study_file(study):
        return labels, runs, None
    from judgewell.study.file import read_source, read_study

    assert study is not None
    chosen, source = read_study(study), read_source(study)
    grades = [f"grades={source.resolved(chosen.grades.file)}"] if chosen.grades else []
    own = [str(source.resolved(pattern)) for pattern in (chosen.goal.systems if chosen.goal else chosen.pool.runs)]
    return (labels if is_given(labels) else grades), (runs if is_given(runs) else own), chosen.goal


def _labels(labels: Any, judgments: pl.DataFrame | None, how: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Sets of labels by name: files or frames, or columns of the judgments."""
    if not is_given(labels):
        return {}

    def read(one: Any) -> pl.DataFrame:
        return read_labels(one, judgments, how["words"], how["columns"]) if is_path(one) else read_gains(one)

    return named_sets(labels, read)


def _method(name: str | None, judgments: pl.DataFrame | None, pairs: pl.DataFrame | None) -> Any:
    """The method asked for, or the one that fits the data, with a note."""
    fitting = name or method_for(judgments, pairs)
    if not fitting:
        return None
    method = parse(fitting)
    if (judgments if method.takes == "judgments" else pairs) is None:
        raise InputError(
            f"{method} makes gains from {method.takes}, which are not given", cure=f"give --{method.takes}"
        )
    if not name:
        note(f"no gains and no method are given: gains are made by {method}")
    return method
