"""Delimited text, written without a table in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 20_000  # topics


def csv_rows(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """A line of names and a line for each row; numbers with all their digits, nothing where a value is missing."""
    for row in chain([header], rows):
        yield ",".join("" if value is None else quoted(str(value), ",") for value in row) + "\n"


def csv_scores(
    systems: Iterable[tuple[str, NDArray[np.float64]]],
    topics: Sequence[str],
    measures: Sequence[str],
    separator: str = ",",
) -> Iterator[str]:
    """A scores table: system by system, topic by topic, measure by measure; values (topics × measures) that are NaN are
    left out. Most of the time goes into the digits of the values."""
    yield separator.join(("system", "topic", "measure", "value")) + "\n"
    names = [quoted(name, separator) for name in measures]
    places = [quoted(topic, separator) for topic in topics]
    for system, values in systems:
        head = quoted(system, separator) + separator
        for start in range(0, len(places), BLOCK):
            block, some = places[start : start + BLOCK], values[start : start + BLOCK]
            columns = [
                [
                    f"{head}{topic}{separator}{name}{separator}{text}\n" if text != "nan" else ""
                    for topic, text in zip(block, map(repr, column), strict=True)
                ]
                for name, column in zip(names, some.T.tolist(), strict=True)
            ]
            yield "".join(chain.from_iterable(zip(*columns, strict=True)))


def quoted(text: str, separator: str) -> str:
    """A field that holds a separator, a quote or a line end is put between quotes."""
    if separator in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text
