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
    excluded."""
    yield separator.join(("system", "topic", "measure", "value")) + "\n"
    names = [f"{separator}{quoted(name, separator)}{separator}" for name in measures]
    places = [quoted(topic, separator) for topic in topics]
    for system, values in systems:
        head = quoted(system, separator) + separator
        for start in range(0, len(places), BLOCK):
            begins = [head + topic for topic in places[start : start + BLOCK]]
            columns = zip(names, values[start : start + BLOCK].T, strict=True)
            pieces = [piece for name, column in columns for piece in _pieces(begins, name, column)]
            yield "".join(chain.from_iterable(zip(*pieces, strict=True)))


def _pieces(begins: list[str], name: str, column: NDArray[np.float64]) -> list[Iterable[str]]:
    """The text of each line of a measure, in pieces; numbers that many topics share are formatted once."""
    values = (column + 0.0).tolist()  # −0.0 is written as 0.0
    different = set(values)
    if np.isnan(column).any():
        lines = zip(begins, values, strict=True)
        return [[f"{begin}{name}{value!r}\n" if value == value else "" for begin, value in lines]]
    if len(different) > len(values) // 4:
        return [begins, [f"{name}{value!r}\n" for value in values]]
    texts = {value: f"{name}{value!r}\n" for value in different}
    return [begins, map(texts.__getitem__, values)]


def quoted(text: str, separator: str) -> str:
    """A field that holds a separator, a quote or a line end is put between quotes."""
    if separator in text or '"' in text or "\n" in text or "\r" in text:
        return '"' + text.replace('"', '""') + '"'
    return text
