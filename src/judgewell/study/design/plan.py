"""The exact work that every assessor will be given, made from a study and its inputs.

The same study and seed give the same design on every machine; each topic has its own random numbers, so adding a
topic changes nothing for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from judgewell.errors import DataError
from judgewell.formats.frames import write_table
from judgewell.stats.arrays import Ints
from judgewell.study.design.chance import generator
from judgewell.study.design.graphs import Graphs, make_graphs
from judgewell.study.design.groups import Grouping, make_groups, plan_groups
from judgewell.study.design.second_judgments import plan_doubles
from judgewell.study.design.templates import fill_templates
from judgewell.study.design.units import make_units
from judgewell.study.inputs import Inputs
from judgewell.study.model import Groups, Study, Templates, Units

UNITS = {
    "unit": pl.String(),
    "topic": pl.String(),
    "scale": pl.String(),
    "template": pl.String(),
    "partition": pl.Int64(),
    "size": pl.Int64(),
    "assessors": pl.Int64(),
}
DOCUMENTS = {
    "topic": pl.String(),
    "unit": pl.String(),
    "position": pl.Int64(),
    "doc": pl.String(),
    "known": pl.String(),
}
PAIRS = {
    "topic": pl.String(),
    "unit": pl.String(),
    "position": pl.Int64(),
    "left": pl.String(),
    "right": pl.String(),
    "new": pl.String(),
    "known": pl.String(),
}


@dataclass(frozen=True)
class Note:
    """Something that the rule could not give a topic."""

    topic: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"topic {self.topic}: {self.text}"


@dataclass(frozen=True)
class Design:
    """The work of a study in tables.

    units      one unit of work: scale, template or partition, size, and how many assessors do it
    documents  one document in a unit: its position, and its grade (H, N; in templates any) where known
    pairs      one pair in a unit: left, right, which side is new (left, right, both), where a known H is
    notes      what the rule could not give: places filled twice, pairs that meet again, breaks
    """

    units: pl.DataFrame
    documents: pl.DataFrame
    pairs: pl.DataFrame
    notes: tuple[Note, ...] = ()

    @property
    def completions(self) -> int:
        """Units times the assessors who do each."""
        return int(self.units["assessors"].sum())

    @property
    def judgments(self) -> int:
        """Documents or pairs judged, over all assessors."""
        return int((self.units["size"] * self.units["assessors"]).sum())


def make_design(study: Study, inputs: Inputs) -> Design:
    """The design of a study; what cannot be is an error that names the topic."""
    parts: list[Design] = []
    if study.groups:
        parts = list(_of_groups(study, study.groups, inputs))
    elif study.templates:
        parts = list(_of_templates(study, study.templates, inputs))
    elif study.units:
        parts = list(_of_units(study, study.units, inputs))
    return Design(
        pl.concat(part.units for part in parts),
        pl.concat(part.documents for part in parts),
        pl.concat(part.pairs for part in parts),
        tuple(note for part in parts for note in part.notes),
    )


def write_design(design: Design, folder: str | Path) -> list[Path]:
    """The design's tables as CSV files in a folder; a table without rows is not written."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in ("units", "documents", "pairs"):
        frame: pl.DataFrame = getattr(design, name)
        if not frame.is_empty():
            written.append(folder / f"{name}.csv")
            write_table(frame, written[-1])
    return written


def _of_units(study: Study, settings: Units, inputs: Inputs) -> Iterator[Design]:
    unknown = without_known(study, inputs)
    if unknown:
        raise DataError("; ".join(unknown))
    twice = _judged_twice(study, inputs)
    for topic in inputs.topics["topic"]:
        rng = generator(study.study.seed, "units", topic)
        docs = inputs.pool_of(topic)
        known = _known_pair(study, inputs, topic, docs, rng)
        docs = sorted({*docs, *known})
        again = np.isin(np.array(docs), np.array(twice.get(topic, []), dtype=str))
        first = 0 if study.double and study.double.given else settings.redundancy
        numbers = tuple(docs.index(doc) for doc in known)
        rows = make_units(len(docs), settings.documents, first + again, rng, known=numbers, order=settings.order)
        yield _unit_tables(topic, rows, docs, dict(zip(known, ("H", "N"), strict=False)), list(study.scales))


def _of_templates(study: Study, settings: Templates, inputs: Inputs) -> Iterator[Design]:
    for topic in inputs.topics["topic"]:
        docs = set(inputs.pool_of(topic))
        grades = inputs.grades.filter(pl.col("topic") == topic, pl.col("doc").is_in(docs))
        known = {
            letter: grades.filter(pl.col("gain") == grade)["doc"].sort().to_list()
            for letter, grade in settings.grades.items()
        }
        filled = fill_templates(
            settings.orders,
            known,
            generator(study.study.seed, "templates", topic),
            documents=settings.documents,
            topic=topic,
        )
        yield _template_tables(topic, filled, list(study.scales), settings.judges)


def _of_groups(study: Study, settings: Groups, inputs: Inputs) -> Iterator[Design]:
    graphs: dict[tuple[int, int], Graphs] = {}
    for topic in inputs.topics["topic"]:
        rng = generator(study.study.seed, "groups", topic)
        docs, high, low = _group_pool(inputs, topic, settings.documents, rng, known=study.known is not None)
        outside = _outside(inputs, topic, docs) if settings.padding else []
        try:
            plan = plan_groups(
                len(docs),
                high=len(high),
                low=len(low),
                size=settings.documents,
                partners=settings.partners,
                partitions=settings.partitions,
                share=settings.share,
                outside=len(outside),
            )
        except DataError as error:
            raise DataError(f"topic {topic}: {error}") from None
        docs = sorted(docs + [outside[number] for number in rng.permutation(len(outside))[: plan.padding]])
        shape = (plan.size, plan.partners)
        if shape not in graphs:
            graphs[shape] = make_graphs(*shape, generator(study.study.seed, "graphs", *map(str, shape)))
        made = make_groups(
            plan,
            rng,
            high=[docs.index(doc) for doc in high],
            low=[docs.index(doc) for doc in low],
            graphs=graphs[shape],
            avoid_repeats=settings.avoid_repeats,
        )
        yield _group_tables(topic, made, docs, settings, known=bool(high))


def _judged_twice(study: Study, inputs: Inputs) -> dict[str, list[str]]:
    """The documents of each topic that a second assessor judges."""
    if study.double is None:
        return {}
    pool = inputs.pool.join(inputs.grades.select("topic", "doc", grade="gain"), on=["topic", "doc"], how="left")
    double = study.double
    if double.given:
        pool = pool.filter(pl.col("grade").is_not_null())
    chosen = plan_doubles(
        pool, share=double.share, seed=study.study.seed, depth=double.depth, least_grade=double.least_grade
    )
    return dict(chosen.group_by("topic").agg("doc").iter_rows())


def without_known(study: Study, inputs: Inputs) -> tuple[str, str] | None:
    """The problem and its cure where topics of a design of units lack a known document that [known] asks for."""
    if study.known is None or study.units is None:
        return None
    for kinds, grade in ((("H", "reserve"), "highly relevant"), (("N",), "not relevant")):
        topics = [one for one in inputs.topics["topic"] if not any(inputs.known_of(one, kind) for kind in kinds)]
        if topics:
            names = ", ".join(topics[:5]) + (f" and {len(topics) - 5} more" if len(topics) > 5 else "")
            problem = f"topic{'s' if len(topics) > 1 else ''} {names}: no document is known to be {grade}"
            return problem, "grade one, list it in a file of known documents, or leave [known] out"
    return None


def _known_pair(study: Study, inputs: Inputs, topic: str, docs: list[str], rng: np.random.Generator) -> tuple[str, ...]:
    """The topic's H and N for all its units: by lot, from the pool where it has any; none where none are asked for."""
    if study.known is None:
        return ()
    chosen = []
    for kinds in (("H", "reserve"), ("N",)):
        candidates = next((known for kind in kinds if (known := inputs.known_of(topic, kind))), [])
        pooled = [doc for doc in candidates if doc in set(docs)]
        candidates = pooled or candidates
        chosen.append(candidates[rng.integers(len(candidates))])
    return tuple(chosen)


def _group_pool(
    inputs: Inputs, topic: str, size: int, rng: np.random.Generator, *, known: bool
) -> tuple[list[str], list[str], list[str]]:
    """The topic's documents, those known relevant and those known not to be.

    Reserve documents join the known relevant ones where a partition would have to use one of these twice.
    """
    docs = inputs.pool_of(topic)
    if not known:
        return docs, [], []
    high, low, reserve = (inputs.known_of(topic, kind) for kind in ("H", "N", "reserve"))
    pool = set(docs)
    inside = [[doc for doc in kind if doc in pool] for kind in (high, low)]
    docs = sorted(pool | {*(() if inside[0] else high[:1]), *(() if inside[1] else low[:1])})
    high, low = inside[0] or high[:1], inside[1] or low[:1]
    short = -(-len(docs) // size) - len(high)
    spare = [doc for doc in reserve if doc in pool and doc not in high]
    if short > 0 and spare:
        high = sorted(high + [spare[number] for number in np.sort(rng.permutation(len(spare))[:short])])
    return docs, high, low


def _outside(inputs: Inputs, topic: str, docs: list[str]) -> list[str]:
    """Graded documents of the topic that are not in its pool: they may fill up its groups."""
    graded = inputs.grades.filter(pl.col("topic") == topic).join(inputs.documents, on="doc", how="semi")
    return graded.filter(~pl.col("doc").is_in(docs))["doc"].sort().to_list()


def _unit_tables(topic: str, rows: Ints, docs: list[str], known: dict[str, str], scales: list[str]) -> Design:
    """Units of a topic as tables; with several scales each unit is done on each of them."""
    count, size = rows.shape
    rows = np.tile(rows, (len(scales), 1))
    names = _unit_names(topic, len(rows))
    scale = _picked(scales, np.repeat(np.arange(len(scales)), count))
    units = pl.DataFrame({"unit": names, "scale": scale}, schema_overrides={"unit": pl.String()})
    documents = pl.DataFrame(
        {
            "unit": _picked(names, np.repeat(np.arange(len(rows)), size)),
            "position": np.tile(np.arange(1, size + 1), len(rows)),
            "doc": _picked(docs, rows),
            "known": _picked([known.get(doc) for doc in docs], rows),
        }
    )
    return Design(
        units_table(units.with_columns(topic=pl.lit(topic), size=pl.lit(size), assessors=pl.lit(1))),
        documents.with_columns(topic=pl.lit(topic)).select(pl.col(name).cast(kind) for name, kind in DOCUMENTS.items()),
        pl.DataFrame(schema=PAIRS),
    )


def _template_tables(topic: str, filled: dict[str, tuple[str, ...]], scales: list[str], judges: int) -> Design:
    cells = [(scale, template) for scale in scales for template in filled]
    names = _unit_names(topic, len(cells))
    units = pl.DataFrame(
        [
            {"unit": name, "topic": topic, "scale": scale, "template": template, "size": len(template)}
            for name, (scale, template) in zip(names, cells, strict=True)
        ]
    ).with_columns(assessors=pl.lit(judges))
    rows = [
        (topic, name, position, doc, template[position - 1])
        for name, (_, template) in zip(names, cells, strict=True)
        for position, doc in enumerate(filled[template], start=1)
    ]
    return Design(units_table(units), pl.DataFrame(rows, schema=DOCUMENTS, orient="row"), pl.DataFrame(schema=PAIRS))


def _group_tables(topic: str, made: Grouping, docs: list[str], settings: Groups, *, known: bool) -> Design:
    count, size, _ = made.pairs.shape
    names = _unit_names(topic, count)
    units = pl.DataFrame({"unit": names, "partition": made.partition}).with_columns(
        topic=pl.lit(topic), size=pl.lit(size), assessors=pl.lit(settings.assessors)
    )
    left, right = made.pairs[..., 0], made.pairs[..., 1]
    changed = np.ones((2, count, size), dtype=np.int64)
    changed[0, :, 1:] = left[:, 1:] != left[:, :-1]
    changed[1, :, 1:] = right[:, 1:] != right[:, :-1]
    high, low = made.documents[:, :1], made.documents[:, 1:2]
    side = (left == high) & (right == low), (left == low) & (right == high)
    pairs = pl.DataFrame(
        {
            "unit": _picked(names, np.repeat(np.arange(count), size)),
            "position": np.tile(np.arange(1, size + 1), count),
            "left": _picked(docs, left),
            "right": _picked(docs, right),
            "new": _picked(["none", "left", "right", "both"], changed[0] + 2 * changed[1]),
            "known": _picked([None, "left", "right"], known * (side[0] + 2 * side[1])),
        }
    )
    pairs = pairs.with_columns(topic=pl.lit(topic)).select(pl.col(name).cast(kind) for name, kind in PAIRS.items())
    return Design(units_table(units), pl.DataFrame(schema=DOCUMENTS), pairs, _group_notes(topic, made, settings))


def _group_notes(topic: str, made: Grouping, settings: Groups) -> tuple[Note, ...]:
    """What the rule could not give this topic."""
    plan = made.plan
    pairs = made.pairs.shape[0] * made.pairs.shape[1]
    counted = {
        "padding": (plan.padding, f"{plan.padding} graded documents from outside the pool fill up its groups"),
        "small": (
            settings.documents - plan.size,
            f"its {plan.documents} documents make one group of {plan.size}, each meeting {plan.partners} others",
        ),
        "resampled": (
            made.resampled,
            f"its documents do not fill groups of {plan.size} evenly, so {made.resampled} of "
            f"{plan.size * plan.groups} places repeat a document, which gets more judgments (see groups.documents)",
        ),
        "repeats": (
            made.repeats,
            f"{made.repeats} of {pairs} pairs repeat a pair of an earlier group (a lower groups.share repeats fewer)",
        ),
        "known_repeats": (
            made.known_repeats,
            f"the known pair of {made.known_repeats} of {len(made.pairs)} groups is also that of an earlier group "
            "(more known documents repeat fewer)",
        ),
        "breaks": (made.breaks, f"{made.breaks} times both documents of a pair change at once"),
    }
    return tuple(Note(topic, kind, text) for kind, (count, text) in counted.items() if count)


def _picked(names: Sequence[str | None], numbers: Ints) -> pl.Series:
    """Names by number."""
    return pl.Series(names, dtype=pl.String()).gather(numbers.ravel())


def _unit_names(topic: str, count: int) -> list[str]:
    width = max(3, len(str(count)))
    return [f"{topic}-{number:0{width}d}" for number in range(1, count + 1)]


def units_table(units: pl.DataFrame) -> pl.DataFrame:
    """The units table with every column, in order."""
    missing = [pl.lit(None, dtype).alias(name) for name, dtype in UNITS.items() if name not in units.columns]
    return units.with_columns(missing).select(pl.col(name).cast(dtype) for name, dtype in UNITS.items())
