"""Files whose judgments do not stand one to a row: several columns alike (`value=rel*`), or parts of nested JSON.

Only columns that the reader of the file names are taken apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgewell.errors import Place

ROW = "row of the file"


def taken_apart(frame: pl.DataFrame, columns: Mapping[str, str], place: Place) -> tuple[pl.DataFrame, Place]:
    """The frame with a column for every one that `columns` names by a path or a star, one judgment a row."""
    paths = [theirs for theirs in columns.values() if _is_path(theirs, frame)]
    starred = {
        ours: theirs for ours, theirs in columns.items() if theirs not in frame.columns and theirs.count("*") == 1
    }
    if not paths and not starred:
        return frame, place
    frame = frame.with_row_index(ROW)
    exploded = ""
    for path in paths:
        frame, exploded = _reached(frame, path, exploded, place)
    if starred:
        frame = _spread(frame, starred, columns, place)
    return frame.drop(ROW), place.of_rows(frame[ROW])


def _is_path(name: str, frame: pl.DataFrame) -> bool:
    """Whether a name leads into a column that has parts, or is a list itself."""
    if name in frame.columns:
        return isinstance(frame.schema[name], pl.List)
    first = name.split(".", 1)[0]
    return "." in name and first in frame.columns and frame.schema[first].is_nested()


def _reached(frame: pl.DataFrame, path: str, exploded: str, place: Place) -> tuple[pl.DataFrame, str]:
    """The frame with the column `path`; a list on the way gives a row for each of its members.

    `exploded` is the last list that was taken apart: another one must lie within it, or members that do not belong
    together would meet.
    """
    parts = path.split(".")
    name = parts.pop(0)
    while True:
        dtype = frame.schema[name]
        if isinstance(dtype, pl.List | pl.Array):
            several = (frame[name].list.len() if isinstance(dtype, pl.List) else pl.Series([2])).max()
            if exploded and not name.startswith(f"{exploded}.") and isinstance(several, int) and several > 1:
                raise place.error(
                    f"{exploded} and {name} are lists that do not lie within each other",
                    "read them one at a time, or write a table with one judgment a row",
                )
            exploded = name if isinstance(several, int) and several > 1 else exploded
            filled = pl.when(pl.col(name).list.len() > 0).then(name) if isinstance(dtype, pl.List) else pl.col(name)
            frame = frame.with_columns(filled.alias(name)).explode(name)  # an empty list: one row of nothing
        elif not parts:
            return frame, exploded
        elif isinstance(dtype, pl.Struct) and parts[0] in (fields := [field.name for field in dtype.fields]):
            part = parts.pop(0)
            frame = frame.with_columns(frame[name].struct.field(part).alias(f"{name}.{part}"))
            name = f"{name}.{part}"
        else:
            if not isinstance(dtype, pl.Struct):
                raise place.error(f"there is no {path}; {name} has no parts", f"name {name} itself")
            has = ", ".join(f"{name}.{field}" for field in fields)
            raise place.error(f"there is no {path}; {name} has {has}", "name one of them")


def _spread(frame: pl.DataFrame, starred: Mapping[str, str], columns: Mapping[str, str], place: Place) -> pl.DataFrame:
    """One row for each of the columns that a star stands for; columns of several stars go together by what it is."""
    taken = set(columns.values()) | {ROW}
    found = {ours: _matches(frame, pattern, taken) for ours, pattern in starred.items()}
    ours, keys = next((ours, list(matches)) for ours, matches in found.items())
    for other, matches in found.items():
        if not matches:
            raise place.error(f"no column is called {starred[other]}; the columns are {', '.join(frame.columns[1:])}")
        if set(matches) != set(keys):
            raise place.error(
                f"{starred[ours]} and {starred[other]} do not stand for the same: {', '.join(keys)}; "
                f"{', '.join(matches)}",
                "a star is the same in each, as in doc=doc*,value=rel* for doc1, doc2, rel1, rel2",
            )
    parts = [
        frame.with_columns(frame[matches[key]].alias(starred[ours]) for ours, matches in found.items()).with_columns(
            _assessor(found, key, frame, columns)
        )
        for key in keys
    ]
    said = "; ".join(f"{ours} is read from {', '.join(matches.values())}" for ours, matches in found.items())
    whose = ", each an assessor of that name" if _assessor(found, keys[0], frame, columns) else ""
    place.note(f"{said}{whose}: {len(keys)} rows for each row of the file")
    return pl.concat(parts, how="vertical_relaxed").sort(ROW, maintain_order=True)


def _matches(frame: pl.DataFrame, pattern: str, taken: set[str]) -> dict[str, str]:
    """The columns that fit a pattern, by what its star stands for."""
    before, after = pattern.split("*")
    fitting = [
        name
        for name in frame.columns
        if name not in taken and name.startswith(before) and name.endswith(after) and len(name) > len(before + after)
    ]
    return {name[len(before) : len(name) - len(after)]: name for name in fitting}


def _assessor(
    found: Mapping[str, Mapping[str, str]], key: str, frame: pl.DataFrame, columns: Mapping[str, str]
) -> list[pl.Expr]:
    """Where one document's values stand side by side and nobody is named, each column is an assessor."""
    alone = list(found) == ["value"] and "assessor" not in columns and "assessor" not in frame.columns
    return [pl.lit(found["value"][key]).alias("assessor")] if alone else []
