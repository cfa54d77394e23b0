"""Gains, also by intent, from whatever holds them: qrels, CSV, Parquet, JSON lines, frames, dicts, ir_datasets ids."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, Place, note
from judgewell.formats.delimited import Layout
from judgewell.formats.frames import load, mine, read_nested
from judgewell.formats.long_form import one_judgment_a_row
from judgewell.formats.trec import QRELS, read_fields, read_qrels
from judgewell.formats.words import settled
from judgewell.tables import GAINS, check, frame_of, named, refuse_missing
from judgewell.text import agrees, counted

INTENTS = ("intent", "subtopic", "subtopic_id", "iteration")  # columns that name a topic's intent
NEGATIVE = ("unjudged", "zero", "keep", "error", "auto")


def read_gains(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    negative: str = "unjudged",
    words: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> pl.DataFrame:
    """A checked gains table; `words` says what grades that are words mean ({"relevant": "1"}).

    A grade below 0 means "in the pool but not judged" in TREC's qrels, so by default such rows are excluded and
    counted; `negative` may also be "zero" (judged, gain 0), "keep", "error", or "auto": whole grades below 0 are
    unjudged, but a table with fractions holds real-valued gains (logs, say), all of which are kept.
    """
    path = str(data) if isinstance(data, str | Path) else None
    contents = None if path is None or path.startswith("irds:") else load(path, columns, layout)
    frame, place = pl.DataFrame(), Place(path)
    nested = read_nested(contents.data, contents.path) if contents is not None and contents.kind == "json" else None
    if contents is None:
        frame = _from_memory(data) if path is None else _from_ir_datasets(path.removeprefix("irds:"))
    elif nested is not None:
        frame = _from_memory(nested)
    elif contents.kind == "trec":
        frame, place = read_qrels(contents.path, contents.data), contents.place
        _note_unused(columns, place)
        columns = None
    else:
        frame, place = one_judgment_a_row(contents.frame(), mine(columns, GAINS) or {}, contents.place)
    ours = named(frame, GAINS, mine(columns, GAINS), file=path)
    refuse_missing(ours, GAINS, place, frame)
    frame, place = settled(ours, GAINS, words, place)
    frame = check(frame, GAINS, file=path, lines=place.lines, once=False)
    if frame.is_empty():
        raise InputError(
            "there is no judgment in it", cure="a line is: topic 0 document grade", file=path or "the gains"
        )
    try:
        frame = _without_repeats(frame, place)
    except InputError as error:
        raise _with_cures(error, contents.data if contents else b"") from None
    return without_negatives(frame, negative, path)


def read_intents(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    negative: str = "unjudged",
    words: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> pl.DataFrame:
    """A checked table of topic, intent, doc and gain; each document may be judged for several intents of a topic."""
    path = str(data) if isinstance(data, str | Path) else None
    contents = None if path is None else load(path, columns, layout)
    place = Place(path) if contents is None else contents.place
    if contents is None:
        frame = frame_of(data)
    elif contents.kind == "trec":
        frame = read_fields(contents.data, QRELS, contents.path, unused=()).rename({QRELS[1]: "intent"})
    else:
        frame = contents.frame()
    frame, place = settled(named(frame, GAINS, mine(columns, GAINS), file=path), GAINS, words, place)
    frame = check(frame, GAINS, file=path, lines=place.lines, once=False)
    column = next((name for name in INTENTS if name in frame.columns), None)
    if column is None:
        raise InputError("there is no column for the intent", cure=f"name one {' or '.join(INTENTS)}", file=path)
    table = frame.select("topic", pl.col(column).cast(pl.String).alias("intent"), "doc", "gain").unique(
        maintain_order=True
    )
    twice = table.filter(table.select("topic", "intent", "doc").is_duplicated())
    if len(twice):
        topic, intent, doc, _ = twice.row(0)
        raise InputError(
            f"topic {topic}, intent {intent}: document {doc} has several gains", cure="keep one of them", file=path
        )
    return without_negatives(table, negative, path)


def _note_unused(columns: Mapping[str, str] | None, place: Place) -> None:
    """Qrels have no names to map."""
    if mine(columns, GAINS):
        place.note(
            "this is a qrels file, whose columns have no names: --columns is not used; to choose columns by number: "
            "--no-header --columns topic=1,doc=3,gain=4"
        )


def _with_cures(error: InputError, contents: bytes) -> InputError:
    """The error, and what may be meant where a file of labels holds several for a document: judgments by several
    people, or by subtopic, as the second field of qrels tells."""
    fields = [line.split() for line in contents.split(b"\n")] if error.line else []
    seconds = sorted({line[1].decode("utf-8", "replace") for line in fields if len(line) == len(QRELS)})
    also = "if each line is a judgment by another person, make gains of them first (judgewell scale)"
    if len(seconds) > 1:
        also = (
            f"where the second field ({', '.join(seconds[:3])}, …) counts subtopics, use measures by intent such as "
            "alpha_nDCG@10, or keep the lines of one subtopic"
        )
    return InputError(error.problem, cure=f"{error.cure}; {also}", file=error.file, line=error.line)


def _from_memory(data: Any) -> pl.DataFrame:
    if hasattr(data, "qrels_iter"):  # a dataset of ir_datasets
        rows = [(row.query_id, row.doc_id, float(row.relevance)) for row in data.qrels_iter()]
        return pl.DataFrame(rows, schema=["topic", "doc", "gain"], orient="row")
    if isinstance(data, Mapping) and data and all(isinstance(value, Mapping) for value in data.values()):
        rows = [(str(topic), str(doc), gain) for topic, docs in data.items() for doc, gain in docs.items()]
        topics, docs, gains = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        return frame_of({"topic": topics, "doc": docs, "gain": gains})
    return frame_of(data)


def _from_ir_datasets(name: str) -> pl.DataFrame:
    try:
        import ir_datasets  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(f"irds:{name} needs the package ir_datasets", cure="pip install ir_datasets") from None
    try:
        return _from_memory(ir_datasets.load(name))
    except KeyError:
        raise InputError(f"ir_datasets has no {name!r}", cure="ir_datasets list shows the ids") from None
    except (OSError, RuntimeError) as error:  # what its downloads raise
        cause = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"ir_datasets could not get irds:{name}: {cause}", cure="see https://ir-datasets.com"
        ) from None


def _without_repeats(frame: pl.DataFrame, place: Place) -> pl.DataFrame:
    """Rows that are there twice to the letter count once, with a note; contradictions are refused."""
    if not frame.select(GAINS.key).is_duplicated().any():
        return frame
    kept, place = without_copies(frame, place)
    return check(kept, GAINS, file=place.file, lines=place.lines)


def without_copies(frame: pl.DataFrame, place: Place) -> tuple[pl.DataFrame, Place]:
    """The rows without those that repeat another to the letter, with a note, and where they come from."""
    first = pl.struct(frame.get_columns(), eager=True).is_first_distinct()
    if first.all():
        return frame, place
    place.note(f"{len(frame) - int(first.sum())} of {len(frame)} rows repeat another row exactly; each counts once")
    return frame.filter(first), place.of_rows(first.arg_true())


def without_negatives(frame: pl.DataFrame, negative: str, path: str | None = None) -> pl.DataFrame:
    """The gains with grades below 0 taken for what `negative` says, with a note."""
    if negative not in NEGATIVE:
        raise InputError(f"negative {negative!r} is not one of {', '.join(NEGATIVE)}")
    below = frame.filter(pl.col("gain") < 0)
    real_valued = negative == "auto" and bool((frame["gain"] % 1 != 0).any())
    if not len(below) or negative == "keep" or real_valued:
        return frame
    first = f"the first: topic {below['topic'][0]}, document {below['doc'][0]}"
    problem = f"{len(below)} of {len(frame)} gains are below 0 ({first})"
    if negative == "error":
        raise InputError(problem, cure="say what they mean: negative = unjudged, zero or keep", file=path)
    if negative == "zero":
        note(f"{problem}; taken as 0", path)
        return frame.with_columns(pl.col("gain").clip(lower_bound=0))
    kept = frame.filter(pl.col("gain") >= 0)
    lost = sorted(set(frame["topic"]) - set(kept["topic"]))
    what = f"; {counted(len(lost), 'topic')} {agrees(len(lost), 'has', 'have')} no other and" if lost else ""
    alone = f"{what} {agrees(len(lost), 'does', 'do')} not count (the first: {lost[0]})" if lost else ""
    note(f"{problem}; taken as unjudged, as trec_eval does{alone}", path)
    return kept
