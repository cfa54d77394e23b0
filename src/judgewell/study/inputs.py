"""What a study is made of: topics, documents, pool, grades and known documents, read and checked together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import polars as pl

from judgewell.errors import InputError, JudgewellError, Place, collect_notes
from judgewell.formats.documents import read_documents
from judgewell.formats.frames import read_frame
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import open_runs
from judgewell.formats.topics import read_topics
from judgewell.study.design.pools import first_of_run, pool_list, pool_runs
from judgewell.study.file import Problem, Source, matching
from judgewell.study.model import Study
from judgewell.study.section import many
from judgewell.study.texts import Catalogue, catalogue, english
from judgewell.tables import INCLUSION, OTHER_NAMES, with_inclusion

T = TypeVar("T")
BESIDE = "paths start from the folder of the study file"

GRADES = {"topic": pl.String(), "doc": pl.String(), "gain": pl.Float64()}
FILES = (
    ("topics", "file"), ("documents", "file"), ("pool", "file"), ("grades", "file"), ("known", "file"),
    ("study", "texts"),
)  # fmt: skip

KNOWN = {"topic": pl.String(), "doc": pl.String(), "known": pl.String()}


@dataclass(frozen=True)
class Inputs:
    """The tables of a study; `known` has topic, doc and known: H, N, or reserve for those taken when H are too few."""

    topics: pl.DataFrame
    documents: pl.DataFrame
    pool: pl.DataFrame
    grades: pl.DataFrame
    known: pl.DataFrame
    texts: Catalogue

    def pool_of(self, topic: str) -> list[str]:
        """The documents to judge for a topic, sorted."""
        return self.pool.filter(pl.col("topic") == topic)["doc"].sort().to_list()

    def known_of(self, topic: str, kind: str) -> list[str]:
        """The topic's known documents of a kind, sorted."""
        return self.known.filter(pl.col("topic") == topic, pl.col("known") == kind)["doc"].sort().to_list()


@dataclass
class _Reading:
    """What is wrong with the files, collected so that all of it is reported at once."""

    source: Source
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)


def read_inputs(study: Study, source: Source) -> tuple[Inputs | None, list[Problem], list[Problem]]:
    """The study's tables, what is wrong with them, and what was noted while reading."""
    reading = _Reading(source)
    topics = _read(reading, ("topics", "file"), study.topics.file, read_topics)
    documents = _read(reading, ("documents", "file"), study.documents.file, read_documents)
    pool = _read_pool(reading, study)
    grades: pl.DataFrame | None = pl.DataFrame(schema=GRADES)
    if study.grades:
        grades = _read(reading, ("grades", "file"), study.grades.file, read_gains)
    texts = _read(reading, ("study", "texts"), study.study.texts, _read_texts) if study.study.texts else english()
    given = (
        _read(reading, ("known", "file"), study.known.file, _read_known) if study.known and study.known.file else None
    )
    if topics is None or documents is None or pool is None or grades is None or texts is None or reading.problems:
        return None, reading.problems, reading.notes
    strange = sorted(set(pool["topic"].drop_nulls()) - set(topics["topic"]))
    topics = _chosen(reading, topics, study.topics.only)
    pool = pool.filter(pl.col("topic").is_in(topics["topic"].implode()))
    _note_grades(reading, study, grades, given)
    known = _known(study, grades, given).filter(pl.col("topic").is_in(topics["topic"].implode()))
    known = known.join(documents.select("doc"), on="doc", how="semi")
    inputs = Inputs(topics, documents, pool, grades, known, texts)
    _check_together(reading, inputs, study, strange)
    return (None if reading.problems else inputs), reading.problems, reading.notes


def missing_files(source: Source) -> list[Problem]:
    """The files that the settings name and that are not there, whatever else is wrong with the settings."""
    problems = []
    for section, key in FILES:
        table = source.settings.get(section)
        name = table.get(key) if isinstance(table, dict) else None
        if isinstance(name, str) and not source.resolved(name).exists():
            problems.append(source.problem((section, key), f"there is no file {name}", BESIDE))
    for section, key in (("pool", "runs"), ("goal", "systems")):
        table = source.settings.get(section)
        patterns = many(table.get(key)) if isinstance(table, dict) else None
        named = [one for one in patterns if isinstance(one, str)] if isinstance(patterns, list) else []
        if named and not any(matching(source, pattern) for pattern in named):
            problems.append(source.problem((section, key), f"no run file matches {', '.join(named)}"))
    return problems


def _read(reading: _Reading, place: tuple[str, ...], name: str, read: Callable[[Path], T]) -> T | None:
    """A file of the study, or None with the problem noted; warnings become notes."""
    path = reading.source.resolved(name)
    with collect_notes() as notes:
        try:
            table = read(path)
        except InputError as error:
            line = None if error.file else reading.source.problem(place, "").line
            file = error.file or str(reading.source.path)
            if error.file == str(path) and not path.exists():
                reading.problems.append(reading.source.problem(place, f"there is no file {name}", BESIDE))
            else:
                reading.problems.append(Problem(error.problem, error.cure, file, error.line or line))
            return None
        except JudgewellError as error:
            reading.problems.append(reading.source.problem(place, f"{name}: {error}"))
            return None
    reading.notes += [reading.source.problem(place, text) for text in notes]
    return table


def _read_pool(reading: _Reading, study: Study) -> pl.DataFrame | None:
    if study.pool.file is not None:
        return _read(reading, ("pool", "file"), study.pool.file, _read_list)
    paths = [str(path) for pattern in study.pool.runs for path in matching(reading.source, pattern)]
    if not paths:
        patterns = ", ".join(study.pool.runs)
        reading.problems.append(reading.source.problem(("pool", "runs"), f"no run file matches {patterns}"))
        return None
    return _read(reading, ("pool", "runs"), ".", lambda _: _pooled(paths, study.pool.depth))


def _pooled(paths: list[str], depth: int) -> pl.DataFrame:
    """The pool of some run files, one run in memory at a time."""
    firsts = [first_of_run(run.frame(), run.system, depth) for run in open_runs(paths)]
    return pool_runs(pl.concat(firsts), depth)


def _read_list(path: Path) -> pl.DataFrame:
    pool = _named(read_frame(path), ("topic", "doc"), path)
    return pool_list(with_inclusion(pool, Place(str(path))) if INCLUSION.name in pool.columns else pool)


def _read_known(path: Path) -> pl.DataFrame:
    known = _named(read_frame(path), ("topic", "doc", "known"), path).select(list(KNOWN))
    strange = known.filter(~pl.col("known").is_in(["H", "N"]).fill_null(False))
    if not strange.is_empty():
        topic, doc, value = strange.row(0)
        raise InputError(f"topic {topic}, document {doc}: known {value!r} is neither H nor N", file=path)
    twice = known.filter(known.select("topic", "doc").is_duplicated())
    if not twice.is_empty():
        topic, doc, _ = twice.row(0)
        raise InputError(f"topic {topic}: document {doc} appears twice", cure="call it H or N, once", file=path)
    return known


def _read_texts(path: Path) -> Catalogue:
    return catalogue(path.read_text("utf-8"), path)


def _named(frame: pl.DataFrame, names: tuple[str, ...], path: Path) -> pl.DataFrame:
    """The frame with our column names, all as text; the names other tools use are taken too."""
    for name in names:
        other = next((other for other in OTHER_NAMES.get(name, ()) if other in frame.columns), None)
        if name not in frame.columns and other is None:
            raise InputError(
                f"the column {name} is missing; there are {', '.join(frame.columns)}",
                cure=f"name the columns {', '.join(names)}",
                file=path,
                line=1 if path.suffix.lower() in (".csv", ".tsv") else None,
            )
        if name not in frame.columns and other is not None:
            frame = frame.rename({other: name})
    return frame.with_columns(pl.col(*names).cast(pl.String))


def _chosen(reading: _Reading, topics: pl.DataFrame, only: list[str]) -> pl.DataFrame:
    """The topics to use; one that is asked for and not there is a mistake."""
    strange = [topic for topic in only if topic not in topics["topic"]]
    reading.problems += [
        reading.source.problem(("topics", "only"), f"topic {topic!r} is not in the topic file") for topic in strange
    ]
    return topics.filter(pl.col("topic").is_in(only)) if only else topics


def _known(study: Study, grades: pl.DataFrame, given: pl.DataFrame | None) -> pl.DataFrame:
    """Known documents from their own list, or from the grades."""
    if study.known is None or given is not None:
        return pl.DataFrame(schema=KNOWN) if given is None else given
    kinds = {"H": study.known.high, "reserve": study.known.reserve, "N": study.known.low}
    parts = [
        grades.filter(pl.col("gain").is_in(values)).select("topic", "doc", pl.lit(kind).alias("known"))
        for kind, values in kinds.items()
    ]
    return pl.concat(parts)


def _note_grades(reading: _Reading, study: Study, grades: pl.DataFrame, given: pl.DataFrame | None) -> None:
    """Note grades of known documents that no document has."""
    if study.known is None or given is not None:
        return
    for key, values in (("high", study.known.high), ("low", study.known.low)):
        if values and not grades["gain"].is_in(values).any():
            named = ", ".join(f"{value:g}" for value in values)
            there = ", ".join(f"{value:g}" for value in sorted(grades["gain"].unique())[:8])
            problem = f"no document has a grade of known.{key} ({named})"
            reading.notes.append(reading.source.problem(("known", key), problem, f"the grades are {there}"))


def _check_together(reading: _Reading, inputs: Inputs, study: Study, strange: list[str]) -> None:
    """Whether the tables fit each other: every topic has documents, and every document a text.

    `strange` are the topics of the pool that the topic file does not have.
    """
    source = reading.source
    place = ("pool", "file") if study.pool.file else ("pool", "runs")
    pooled = set(inputs.pool["topic"].unique())
    without = [topic for topic in inputs.topics["topic"] if topic not in pooled]
    if without:
        beside = f", but for {_few(strange, 'topic')} that the topic file does not have" if strange else ""
        problem = f"the pool has no documents for {_few(without, 'topic')}{beside}"
        reading.problems.append(source.problem(place, problem, "see topics.only"))
    elif strange and study.pool.file:
        problem = f"the topic file does not have {_few(strange, 'topic')} of the pool"
        cure = "such rows are not judged: add the topic, or take them out of the pool"
        reading.notes.append(source.problem(place, problem, cure))
    textless = inputs.pool.join(inputs.documents, on="doc", how="anti").sort("topic", "doc")
    if not textless.is_empty():
        documents = _few([f"{doc} (topic {topic})" for topic, doc, *_ in textless.iter_rows()], "document")
        cure = "add them to the documents, or take them out of the pool"
        reading.problems.append(source.problem(place, f"the documents file does not have {documents}", cure))
    for number, question in enumerate(study.checks.question):
        if question.topic not in inputs.topics["topic"]:
            at = ("checks", "question", number, "topic")
            cure = f"the topics are {', '.join(inputs.topics['topic'][:5])}; name one of them or remove the question"
            problem = f"topic {question.topic!r} is not among the study's topics"
            reading.problems.append(source.problem(at, problem, cure))


def _few(names: list[str], what: str) -> str:
    """The first of some names and how many there are."""
    if len(names) == 1:
        return f"{what} {names[0]}"
    return f"{len(names)} {what}s: {', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
