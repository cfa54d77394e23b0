"""Fixed orders of expert grades, such as NMRH: every slot holds a document of that grade (Scholer et al. 2014)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judgewell.errors import DataError, InputError

if TYPE_CHECKING:
    import numpy as np


def documents_needed(templates: Sequence[str]) -> dict[str, int]:
    """The fewest documents of each grade with which every template can be filled."""
    needed: Counter[str] = Counter()
    for template in templates:
        needed |= Counter(template)
    return dict(sorted(needed.items()))


def fill_templates(
    templates: Sequence[str],
    grades: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    *,
    documents: Mapping[str, int] | None = None,
    topic: str = "",
) -> dict[str, tuple[str, ...]]:
    """The documents of each template in order, the same ones used in several templates as far as they go.

    `grades` holds the documents known at each grade. `documents` says how many of a grade to use (by default the
    fewest that fill every template). Templates with the same letters share their documents; the others take those
    of a grade that are used least so far. With 1 H, 3 R, 3 M and 4 N this is the pattern of Maddalena et al. 2014.
    """
    chosen = {
        grade: _drawn(grade, count, grades.get(grade, ()), rng, topic)
        for grade, count in documents_used(templates, documents or {}).items()
    }
    uses: Counter[str] = Counter()
    by_letters: dict[str, dict[str, list[str]]] = {}
    filled = {}
    for template in templates:
        letters = "".join(sorted(template))
        if letters not in by_letters:
            by_letters[letters] = {
                grade: sorted(chosen[grade], key=uses.__getitem__)[:count] for grade, count in Counter(template).items()
            }
        ready = {grade: iter(docs) for grade, docs in by_letters[letters].items()}
        filled[template] = tuple(next(ready[grade]) for grade in template)
        uses.update(filled[template])
    return filled


def documents_used(templates: Sequence[str], documents: Mapping[str, int]) -> dict[str, int]:
    """How many documents of each grade are used: as many as asked for, else the fewest that fill every template."""
    if not templates or any(not template for template in templates) or len(set(templates)) < len(templates):
        raise InputError(
            f"the templates {', '.join(map(repr, templates)) or '(none)'} cannot be used",
            cure="give one or more different orders of grades, such as NMRH",
        )
    fewest = documents_needed(templates)
    for grade, count in documents.items():
        if grade not in fewest:
            raise InputError(f"no template uses the grade {grade!r}", cure=f"the grades are {', '.join(fewest)}")
        if count < fewest[grade]:
            raise InputError(
                f"{count} documents of grade {grade} cannot fill the templates", cure=f"use at least {fewest[grade]}"
            )
    return fewest | dict(documents)


def _drawn(grade: str, count: int, known: Sequence[str], rng: np.random.Generator, topic: str) -> list[str]:
    if len(known) < count:
        raise DataError(
            f"{f'topic {topic}: ' if topic else ''}{len(known)} documents are known at grade {grade}, {count} are "
            "needed; grade more documents, or leave the topic or the template out"
        )
    return [sorted(known)[number] for number in rng.permutation(len(known))[:count]]
