"""Units of a batch: documents that are asked about while a study runs, beside the topic's known documents."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from judgewell.study.design.plan import DOCUMENTS, PAIRS, Design, units_table


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
