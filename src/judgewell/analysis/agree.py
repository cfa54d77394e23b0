"""How far judgments agree with labels, with each other and with themselves: one call for everything."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.agreement.direction import note_labels, note_reversed
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.machines import split_machines
from judgewell.agreement.section import OPEN, Outcome, Result, Section
from judgewell.agreement.sections import all_sections, run_sections, section_named
from judgewell.analysis.trust import system_tables
from judgewell.errors import InputError, collect_notes, note
from judgewell.evaluation.measures import Measure, parse_all
from judgewell.executors import executor_of
from judgewell.formats.documents import read_documents
from judgewell.formats.files import is_given, is_path, named_file, named_files
from judgewell.formats.frames import read_frame
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import holds_labels, holds_pairs, read_judgments, read_pairs
from judgewell.formats.options import kept_where, read_labels, reading
from judgewell.formats.runs import open_runs
from judgewell.formats.scores import read_scores
from judgewell.tables import frame_of
from judgewell.text import counted

Progress = Callable[[int, int], None]
DEFAULT_MEASURE = "nDCG@10"

# What tables were called before 0.2; the old names still find them.
OLD_NAMES = {
    "level_distributions": "grade_distributions",
    "level_distributions_by_topic": "grade_distributions_by_topic",
    "adjacent_level_tests": "adjacent_grade_tests",
    "level_value_tests": "grade_value_tests",
    "level_power": "grade_power",
    "level_ratios": "grade_ratios",
    "worker_statistics": "assessor_statistics",
    "workers_per_document": "assessors_per_document",
    "units_per_worker": "units_per_assessor",
}


@dataclass(frozen=True)
class Agreement:
    """What the sections of the agreement stage gave.

    `agreement["alpha"]` is a table by name; `tables` holds all of them, `findings` the sentences that follow from them,
    `not_analysed` what could not be analysed and why, `notes` what was assumed or dropped.
    """

    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def results(self) -> list[Result]:
        return [result for outcome in self.outcomes for result in outcome.results]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        return {result.table.name: result.frame for result in self.results}

    @property
    def findings(self) -> list[str]:
        return [text for result in self.results for text in result.findings]

    @property
    def left_out(self) -> dict[str, str]:
        """The former name of `not_analysed`."""
        note("left_out is the former name of not_analysed; it works in this version")
        return self.not_analysed

    @property
    def not_analysed(self) -> dict[str, str]:
        """By section, or section and table: why it could not be analysed."""
        return {
            one.name if name == "all" else f"{one.name}, {name}": reason
            for one in self.outcomes
            for name, reason in one.not_analysed.items()
        }

    def __getitem__(self, name: str) -> pl.DataFrame:
        tables = self.tables
        if name in OLD_NAMES:
            note(f"the table {name} is now called {OLD_NAMES[name]}")
            name = OLD_NAMES[name]
        if name not in tables:
            reasons = [one.not_analysed[name] for one in self.outcomes if name in one.not_analysed]
            why = f" ({reasons[0]})" if reasons else ""
            raise InputError(f"there is no table {name!r}{why}", cure=f"the tables are {', '.join(tables)}")
        return tables[name]

    def __repr__(self) -> str:
        made = sum(bool(one.results) for one in self.outcomes)
        head = f"Agreement: {counted(len(self.results), 'table')} in {counted(made, 'section')}"
        wrapped = [textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  ") for text in self.findings]
        return "\n".join([head, *wrapped])

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{html.escape(text)}</li>" for text in self.findings)
        shown = [result for result in self.results if result.table.shown == OPEN]
        tables = "".join(f"<h4>{html.escape(one.table.title)}</h4>{one.visible._repr_html_()}" for one in shown)
        return f"<ul>{sentences}</ul>{tables}"


def agree(
    judgments: Any = None,
    labels: Mapping[str, Any] | Sequence[Any] | str | Path = (),
    *,
    against: Sequence[str] = (),
    gains: Any = None,
    scores: Any = None,
    documents: Any = None,
    likes: Any = None,
    machine: Mapping[str, Any] | Sequence[Any] | str | Path = (),
    runs: Any = (),
    measure: str | Sequence[str] = (),
    pairs: bool = False,
    section: Sequence[str] = (),
    replicates: int = 1000,
    seed: int = 0,
    columns: str | Mapping[str, str] | None = None,
    words: str | Mapping[str, str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    where: str | Sequence[str] = (),
    kind: str | None = None,
    executor: Any = None,
    progress: Progress | None = None,
) -> Agreement:
    """Run every analysis of agreement that the data allow, or the sections asked for.

    `judgments` are judgments or pairs, in a file or a frame; `labels` are label sets to compare with: files, columns of
    the judgments, or a mapping of names to files or tables. `machine` are label sets by machines, beside judgments
    whose `assessor_kind` is machine; with `runs` they are compared by what they make of systems too. The other options
    are those of `judgewell agree`; an `executor` (Processes, a Dask client) makes sections side by side.

    >>> rows = [(d, a, v) for d, values in {"x": (3, 3, 2), "y": (1, 0, 1), "z": (0, 0, 0)}.items()
    ...         for a, v in zip("abc", values)]
    >>> table = pl.DataFrame(rows, schema=["doc", "assessor", "value"], orient="row").with_columns(topic=pl.lit("t"))
    >>> agreement = agree(table, section=["reliability"], kind="ordinal")
    >>> agreement
    Agreement: 5 tables in 1 section
    - Krippendorff’s α between assessors is 0.815 over 3 documents (1 is perfect, 0 is chance; ordinal
      metric on the values as given). By the customary limit of 0.8, single judgments are reliable.
    >>> agreement["alpha"]["judgments"].item()
    9
    """
    if not isinstance(pairs, bool):
        raise InputError(
            f"pairs is True or False, not a {type(pairs).__name__}",
            cure="give the pairs as the first argument: agree(table)",
        )
    chosen = _sections(section)
    with _kept_notes() as notes:
        given = {"columns": columns, "words": words, "separator": separator, "no_header": no_header}
        how = reading(given, "judgments", "pairs")
        own = _own_labels(judgments, how["words"]) if labels or against else {}
        table = None
        if judgments is not None and not own:
            table = kept_where(_read(judgments, pairs, kind, how), where)
        paired = table is not None and "left" in table.columns
        judged, machines = (None, {}) if paired else split_machines(table)
        systems = open_runs(runs) if is_given(runs) else []
        evidence = Evidence(
            judgments=judged,
            pairs=table if paired else None,
            labels=_label_sets(labels, against, own, table, how),
            gains=None if gains is None else read_gains(gains, negative="auto"),
            scores=None if scores is None else read_scores(scores),
            scaled=_default_gains,
            lengths=None if documents is None else _lengths(documents),
            likes=None if likes is None else _likes(likes),
            machine=machines | _label_sets(machine, (), {}, table, how),
            systems=partial(system_tables, runs=systems, measures=_measures(measure) if systems else (), seed=seed),
            progress=(steps := _Steps(len(chosen), progress)).within,
            replicates=replicates,
            seed=seed,
        )
        note_labels(judged)
        note_reversed(judged, {**evidence.labels, **evidence.machine}, evidence.pairs)
    outcomes = []
    for one in run_sections(evidence, chosen, None if executor is None else executor_of(executor)):
        outcomes.append(one)
        steps.next()
    return Agreement(tuple(outcomes), tuple(notes))


def _default_gains(judgments: pl.DataFrame) -> pl.DataFrame:
    """The gains that `scale` and `report` make of the judgments, so that all three say the same of them."""
    from judgewell.scaling.scale import scale

    return scale(judgments, interval="none")


def _measures(names: str | Sequence[str]) -> Sequence[Measure]:
    wanted = [names] if isinstance(names, str) else list(names)
    return parse_all(wanted or [DEFAULT_MEASURE])


class _Steps:
    """Progress in hundredths of sections; long sections report from within."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.progress, self.done = total, progress, 0

    def within(self, done: int, total: int) -> None:
        if self.progress:
            self.progress(100 * self.done + 100 * done // total, 100 * self.total)

    def next(self) -> None:
        self.done += 1
        self.within(0, 1)


def _sections(names: Sequence[str]) -> Sequence[Section]:
    wanted = [names] if isinstance(names, str) else names
    chosen = []
    for name in wanted:
        named = section_named(name)
        if named is None:
            known = ", ".join(one.name for one in all_sections())
            raise InputError(f"there is no section {name!r}", cure=f"the sections are {known}")
        if named.name != name:
            note(f"the section {name} is now called {named.name}")
        chosen.append(named)
    return [one for one in all_sections() if one in chosen] if wanted else all_sections()


@contextmanager
def _kept_notes() -> Iterator[list[str]]:
    """The notes emitted inside, which are emitted again behind it."""
    with collect_notes() as notes:
        yield notes
    for text in notes:
        note(text)


def _read(data: Any, pairs: bool, kind: str | None, how: Mapping[str, Any]) -> pl.DataFrame:
    """Judgments or pairs, from a file or a frame; `how` holds columns, words and layout."""
    data = data if is_path(data) else frame_of(data)
    if pairs or (not (is_path(data) and str(data) == "-") and holds_pairs(data, how["columns"], how["layout"])):
        return read_pairs(data, **how)
    return read_judgments(data, **how, kind=kind)


def _own_labels(judgments: Any, words: Mapping[str, str] | None) -> dict[str, pl.DataFrame]:
    """A file of labels (or NAME=FILE) in the place of judgments is one more label set, unless it labels a document
    several times."""
    if not is_path(judgments) or str(judgments) == "-":
        return {}
    file = named_file(str(judgments))[1]
    if not holds_labels(file):
        return {}
    try:
        return {str(judgments): read_labels(file, None, words)}
    except InputError:
        return {}


def _label_sets(
    labels: Any,
    against: Sequence[str],
    own: Mapping[str, pl.DataFrame],
    table: pl.DataFrame | None,
    how: Mapping[str, Any],
) -> dict[str, pl.DataFrame]:
    """The label sets by name: the file in the place of judgments, frames, files, and columns of the judgments."""
    if isinstance(labels, Mapping):
        named, sources = dict(labels), list(against)
    else:
        listed = [labels] if is_path(labels) or isinstance(labels, pl.DataFrame) else list(labels)
        named = {f"labels {number}": one for number, one in enumerate(listed, 1) if not is_path(one)}
        sources = [*(str(one) for one in listed if is_path(one)), *against]
    own_file = {named_file(word)[1]: own[word] for word in own}
    named |= named_files(dict.fromkeys([*own, *sources]))
    return {
        name: own_file[data]
        if isinstance(data, str) and data in own_file
        else read_labels(data, table, how["words"], how["columns"])
        for name, data in named.items()
    }


def _lengths(documents: Any) -> pl.DataFrame:
    """Each document's length in words."""
    words = pl.col("text").str.count_matches(r"\S+").alias("length")
    return (read_documents(documents) if is_path(documents) else frame_of(documents)).select("doc", words)


def _likes(likes: Any) -> pl.DataFrame:
    truth = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    liked = pl.col("liked").cast(pl.String).str.to_lowercase().replace_strict(truth, return_dtype=pl.Boolean)
    frame = read_frame(likes) if is_path(likes) else frame_of(likes)
    return frame.with_columns(liked) if "liked" in frame.columns else frame
