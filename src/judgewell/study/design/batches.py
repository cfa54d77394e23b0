"""Units of a batch: documents or pairs that are asked about while a study runs, beside the topic's known ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from judgewell.study.design.plan import DOCUMENTS, PAIRS, Design, units_table


def known_documents(design: Design) -> dict[str, dict[str, str]]:
    """The known documents of each topic, H before N; of a study of pairs the first known pair of the topic."""
    known: dict[str, dict[str, str]] = {}
    marked = design.documents.filter(pl.col("known").is_not_null()).select("topic", "doc", "known")
    for topic, doc, grade in marked.unique(maintain_order=True).iter_rows():
        known.setdefault(topic, {})[doc] = grade
    pairs = design.pairs.filter(pl.col("known").is_not_null()).unique("topic", keep="first", maintain_order=True)
    for topic, left, right, better in pairs.select("topic", "left", "right", "known").iter_rows():
        known[topic] = {left: "H", right: "N"} if better == "left" else {right: "H", left: "N"}
    return known


def batch_units(
    number: int,
    docs: pl.DataFrame,
    known: Mapping[str, Mapping[str, str]],
    size: int,
    scale: str,
    rng: np.random.Generator,
) -> Design:
    """Units of at most `size` documents of one topic, in random order; every unit holds the topic's known documents.

    `docs` has a row (topic, doc) for each document of the batch. A known document that is asked about for its own sake
    needs no place of its own, because it is in every unit of its topic.
    """
    units, rows = [], []
    for (topic,), part in docs.partition_by("topic", as_dict=True, maintain_order=True).items():
        grades = known.get(topic, {})
        asked = [doc for doc in part["doc"] if doc not in grades]
        room = size - len(grades)
        for at, start in enumerate(range(0, len(asked), room), start=1):
            unit, held = f"{topic}-{number}.{at}", [*grades, *asked[start : start + room]]
            units.append({"unit": unit, "topic": topic, "scale": scale, "size": len(held), "assessors": 1})
            order = rng.permutation(len(held))
            rows += [(topic, unit, place, held[of], grades.get(held[of])) for place, of in enumerate(order, start=1)]
    documents = pl.DataFrame(rows, schema=DOCUMENTS, orient="row")
    return Design(units_table(pl.DataFrame(units)), documents, pl.DataFrame(schema=PAIRS))


def batch_pairs(
    number: int,
    pairs: Sequence[tuple[str, str, str]],
    known: Mapping[str, Mapping[str, str]],
    size: int,
    rng: np.random.Generator,
) -> Design:
    """Units of at most `size` pairs of one topic (topic, doc, doc), the known pair of the topic among them.

    Pairs that share a document follow each other where that is possible, and the shared document keeps its side.
    """
    units, rows = [], []
    for topic in dict.fromkeys(pair[0] for pair in pairs):
        asked = [pair[1:] for pair in pairs if pair[0] == topic]
        grades = known.get(topic, {})
        anchor = [tuple(sorted(grades, key=lambda doc: grades[doc]))] if len(grades) == 2 else []  # H before N
        room = size - len(anchor)
        for at, start in enumerate(range(0, len(asked), room), start=1):
            unit = f"{topic}-{number}.{at}"
            held = _sequence([*asked[start : start + room], *anchor], rng)
            units.append({"unit": unit, "topic": topic, "size": len(held), "assessors": 1})
            before = ("", "")
            for place, (left, right) in enumerate(held, start=1):
                new = ("none", "left", "right", "both")[(left != before[0]) + 2 * (right != before[1])]
                better = {"H": "left", "N": "right"}.get(grades.get(left, "")) if right in grades else None
                rows.append((topic, unit, place, left, right, new, better))
                before = left, right
    return Design(
        units_table(pl.DataFrame(units)), pl.DataFrame(schema=DOCUMENTS), pl.DataFrame(rows, schema=PAIRS, orient="row")
    )


def _sequence(pairs: Sequence[Sequence[str]], rng: np.random.Generator) -> list[tuple[str, str]]:
    """The pairs in an order in which neighbours share a document where possible; sides by lot."""
    left = [tuple(pair) for pair in pairs]
    ordered: list[tuple[str, str]] = []
    while left:
        near = [pair for pair in left if ordered and set(pair) & set(ordered[-1])] or left
        one, other = near[int(rng.integers(len(near)))]
        left.remove((one, other))
        turned = bool(rng.random() < 0.5)
        if ordered:
            kept = {one, other} & set(ordered[-1])
            turned = (other if other in kept else one) == ordered[-1][0 if other in kept else 1] if kept else turned
        ordered.append((other, one) if turned else (one, other))
    return ordered
