"""Files that do not have one judgment per row: several columns alike (`value=rel*`; `value=*` for all that are not
named otherwise), or parts of nested JSON.

Only columns that the user names are taken apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgewell.errors import Place

ROW = "row of the file"
STAR = "@star"  # the column with what a star matched, which assessor=* reads


def one_judgment_a_row(frame: pl.DataFrame, columns: Mapping[str, str], place: Place) -> tuple[pl.DataFrame, Place]:
    """The frame with a column for every one that `columns` names by a path or a star, one judgment a row."""
    paths = [theirs for theirs in columns.values() if _is_path(theirs, frame)]
    starred = {
        ours: theirs for ours, theirs in columns.items() if theirs not in frame.columns and theirs.count("*") == 1
    }
    if not paths and not starred:
        return frame, place
    frame = _reached(frame.with_row_index(ROW), paths, place)
    if starred:
        frame = _spread(frame, starred, columns, place)
    return frame.drop(ROW), place.of_rows(frame[ROW])


def _is_path(name: str, frame: pl.DataFrame) -> bool:
    """Whether a name leads into a column that has parts, or is a list itself."""
    if name in frame.columns:
        return isinstance(frame.schema[name], pl.List)
    first = name.split(".", 1)[0]
    return "." in name and first in frame.columns and frame.schema[first].is_nested()


def _reached(frame: pl.DataFrame, paths: list[str], place: Place) -> pl.DataFrame:
    """The frame with the columns `paths`; a list on the way gives a row for each of its members.

    Lists side by side must be of one length in each row: their members then belong together.
    """
    heads = {path: path if path in frame.columns else path.split(".", 1)[0] for path in paths}
    while True:
        for path, head in heads.items():
            frame, heads[path] = _inside(frame, path, head, place)
        lists = [head for head in dict.fromkeys(heads.values()) if isinstance(frame.schema[head], pl.List | pl.Array)]
        if not lists:
            return frame
        frame = _exploded(frame, lists, place)


def _inside(frame: pl.DataFrame, path: str, head: str, place: Place) -> tuple[pl.DataFrame, str]:
    """The frame with the column for as much of the path as lies before a list, and that column's name."""
    while head != path and not isinstance(frame.schema[head], pl.List | pl.Array):
        dtype = frame.schema[head]
        part = path[len(head) + 1 :].split(".", 1)[0]
        if not isinstance(dtype, pl.Struct):
            raise place.error(f"there is no {path}; {head} has no parts", f"name {head} itself")
        fields = [field.name for field in dtype.fields]
        if part not in fields:
            has = ", ".join(f"{head}.{field}" for field in fields)
            raise place.error(f"there is no {path}; {head} has {has}", "name one of them")
        frame = frame.with_columns(frame[head].struct.field(part).alias(f"{head}.{part}"))
        head = f"{head}.{part}"
    return frame, head


def _exploded(frame: pl.DataFrame, lists: list[str], place: Place) -> pl.DataFrame:
    """A row for each member of the lists, which go together; an empty list gives one row of nothing."""
    frame = frame.with_columns(pl.col(name).arr.to_list() for name in lists if isinstance(frame.schema[name], pl.Array))
    lengths = frame.select(pl.col(name).list.len().fill_null(0).clip(1) for name in lists)
    longer = [name for name in lists if (lengths[name] > 1).any()]
    for other in longer[1:]:
        uneven = (lengths[longer[0]] != lengths[other]).arg_true()
        if len(uneven):
            row = int(uneven[0])
            raise place.error(
                f"{longer[0]} holds {lengths[row, longer[0]]} members and {other} {lengths[row, other]}; lists that "
                "are read together must have the same length",
                "read them one at a time, or write a table with one judgment a row",
                row=int(frame[row, ROW]),
            )
    filled = (pl.when(pl.col(name).list.len() > 0).then(name).alias(name) for name in lists)
    frame = frame.with_columns(filled)
    for name in set(lists) - set(longer):
        frame = frame.explode(name)
    return frame.explode(longer) if longer else frame


def _spread(frame: pl.DataFrame, starred: Mapping[str, str], columns: Mapping[str, str], place: Place) -> pl.DataFrame:
    """One row for each column that a star matches; columns of several stars are joined by what the star matched."""
    taken = set(columns.values()) | {ROW}
    matches = {ours: _matching(frame, pattern, taken) for ours, pattern in starred.items()}
    ours, keys = next((ours, list(named)) for ours, named in matches.items())
    for other, named in matches.items():
        if not named:
            raise place.error(f"no column is called {starred[other]}; the columns are {', '.join(frame.columns[1:])}")
        if set(named) != set(keys):
            raise place.error(
                f"{starred[ours]} and {starred[other]} do not match the same columns: {', '.join(keys)}; "
                f"{', '.join(named)}",
                "a star is the same in each, as in doc=doc*,value=rel* for doc1, doc2, rel1, rel2",
            )
    parts = [
        frame.with_columns(frame[named[key]].alias(starred[ours]) for ours, named in matches.items()).with_columns(
            pl.lit(key).alias(STAR)
        )
        for key in keys
    ]
    read = "; ".join(f"{ours} is read from {', '.join(named.values())}" for ours, named in matches.items())
    unnamed = list(matches) == ["value"] and "assessor" not in {*columns, *frame.columns}
    whose = "; if each column is an assessor: --columns assessor=*" if unnamed else ""
    place.note(f"{read}: {len(keys)} rows for each row of the file{whose}")
    return pl.concat(parts, how="vertical_relaxed").sort(ROW, maintain_order=True)


def _matching(frame: pl.DataFrame, pattern: str, taken: set[str]) -> dict[str, str]:
    """The columns that match a pattern, by what its star matched."""
    before, after = pattern.split("*")
    fitting = [
        name
        for name in frame.columns
        if name not in taken and name.startswith(before) and name.endswith(after) and len(name) > len(before + after)
    ]
    return {name[len(before) : len(name) - len(after)]: name for name in fitting}
