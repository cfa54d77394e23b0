"""Fixed orders of expert levels, such as NMRH: every slot holds a document of that level (Scholer et al. 2014)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judgewell.errors import DataError, InputError

if TYPE_CHECKING:
    import numpy as np


def documents_needed(templates: Sequence[str]) -> dict[str, int]:
    """The fewest documents of each level with which every template can be filled."""
    needed: Counter[str] = Counter()
    for template in templates:
        needed |= Counter(template)
    return dict(sorted(needed.items()))


def fill_templates(
    templates: Sequence[str],
    levels: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    *,
    documents: Mapping[str, int] | None = None,
    topic: str = "",
) -> dict[str, tuple[str, ...]]:
    """The documents of each template in order, the same ones used in several templates as far as they go.

    `levels` holds the documents known at each level. `documents` says how many of a level to use (by default the
    fewest that fill every template). Templates with the same letters share their documents; the others take those
    of a level that are used least so far. With 1 H, 3 R, 3 M and 4 N this is the pattern of Maddalena et al. 2014.
    """
    chosen = {
        level: _drawn(level, count, levels.get(level, ()), rng, topic)
        for level, count in _counts(templates, documents or {}).items()
    }
    uses: Counter[str] = Counter()
    by_letters: dict[str, dict[str, list[str]]] = {}
    filled = {}
    for template in templates:
        letters = "".join(sorted(template))
        if letters not in by_letters:
            by_letters[letters] = {
                level: sorted(chosen[level], key=uses.__getitem__)[:count] for level, count in Counter(template).items()
            }
        ready = {level: iter(docs) for level, docs in by_letters[letters].items()}
        filled[template] = tuple(next(ready[level]) for level in template)
        uses.update(filled[template])
    return filled


def _counts(templates: Sequence[str], documents: Mapping[str, int]) -> dict[str, int]:
    if not templates or any(not template for template in templates) or len(set(templates)) < len(templates):
        raise InputError(
            f"the templates {', '.join(map(repr, templates)) or '(none)'} cannot be used",
            cure="give one or more different orders of levels, such as NMRH",
        )
    fewest = documents_needed(templates)
    for level, count in documents.items():
        if level not in fewest:
            raise InputError(f"no template uses the level {level!r}", cure=f"the levels are {', '.join(fewest)}")
        if count < fewest[level]:
            raise InputError(
                f"{count} documents of level {level} cannot fill the templates", cure=f"use at least {fewest[level]}"
            )
    return fewest | dict(documents)


def _drawn(level: str, count: int, known: Sequence[str], rng: np.random.Generator, topic: str) -> list[str]:
    if len(known) < count:
        raise DataError(
            f"{f'topic {topic}: ' if topic else ''}{len(known)} documents are known at level {level}, {count} are "
            "needed; grade more documents, or leave the topic or the template out"
        )
    return [sorted(known)[number] for number in rng.permutation(len(known))[:count]]
