"""Every result knows how it was made: a small JSON beside a file, or inside it for Parquet.

It holds nothing that changes from run to run, nor where results are written or work is done, so the same command on the
same files writes the same bytes, wherever it writes them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from judgewell._version import __version__
from judgewell.errors import note
from judgewell.executors import Executor, Threads
from judgewell.formats.files import matching, opened
from judgewell.formats.remote import is_remote

if TYPE_CHECKING:
    from concurrent.futures import Future

    import polars as pl

PLACES = ("output", "draws_to", "chart", "cluster", "processes")  # options that change nothing of a result
WORTH_A_THREAD = 16 << 20  # bytes; a few hundredths of a second


def provenance(
    command: str,
    options: Mapping[str, Any],
    inputs: Iterable[str | Path] | Mapping[str, str],
    notes: Iterable[str] = (),
) -> dict[str, Any]:
    """The record of one result: command, version, options with their defaults, hashes of the inputs, what was noted.

    Options that only name places are excluded. `inputs` are files, or what `digests` has found of them. What a study
    with a goal concluded goes from the record of its export into those of all results made from it.
    """
    hashes = dict(inputs) if isinstance(inputs, Mapping) else digests(inputs)
    goal = goal_of(hashes)
    given = {name: value for name, value in options.items() if name not in PLACES}
    record = {"command": command, "judgewell": __version__, "options": given, "inputs": hashes}
    return {**record, **({"goal": goal} if goal else {}), "notes": list(notes)}


def goal_of(inputs: Iterable[str | Path]) -> str:
    """What the study with a goal concluded from which one of these files was made, or how far it was; "" for none."""
    return next((goal for path in _files(inputs) if (goal := _record_of(path).get("goal", ""))), "")


def note_goal(inputs: Iterable[str | Path]) -> None:
    """Note what a study with a goal concluded, beside results that do not know that it chose when to stop."""
    goal = goal_of(inputs)
    if goal:
        note(
            f"these judgments are of a study that stops by its goal. Its result: {goal} The tests and intervals here "
            "assume that the number of judgments was fixed beforehand: report the goal's result"
        )


def _record_of(path: str) -> dict[str, Any]:
    """The record of a file, inside it or beside it; empty where there is none that can be read."""
    try:
        if is_remote(path):
            return {}
        if path.endswith(".parquet"):
            import polars as pl

            text = pl.read_parquet_metadata(path).get("judgewell", "{}")
        else:
            text = Path(f"{path}.meta.json").read_text(encoding="utf-8")
        record = json.loads(text)
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def digests(
    inputs: Iterable[str | Path], executor: Executor | None = None, given_up: Callable[[], bool] | None = None
) -> dict[str, str]:
    """The SHA-256 of each input that is a file; here, work that is `given_up` ends soon and means nothing."""
    paths = _files(inputs)
    if executor is not None:
        return dict(zip(paths, executor.map(digest, paths, total=len(paths)), strict=True))
    with Executor() if _are_small(paths) else Threads() as here:
        return dict(zip(paths, here.map(digest, paths, given_up, total=len(paths)), strict=True))


class Digests:
    """`digests` in a thread beside other work; a block that ends with an error does not wait for them.

    The hash of one file cannot be split, so `begin` early with one large file. With many files, the work itself uses
    the threads better.
    """

    def __init__(self, inputs: Iterable[str | Path], executor: Executor | None = None) -> None:
        self.paths, self.executor = _files(inputs), executor
        self.given_up = False
        self.hashes: Future[dict[str, str]] | None = None

    def begin(self) -> None:
        """Start the thread, unless the files are small enough to be read in no time."""
        if self.hashes is None and (self.executor is not None or not _are_small(self.paths)):
            from concurrent.futures import ThreadPoolExecutor

            thread = ThreadPoolExecutor(1)
            self.hashes = thread.submit(self._made)
            thread.shutdown(wait=False)

    def result(self) -> dict[str, str]:
        """The SHA-256 of each file, waited for."""
        return self._made() if self.hashes is None else self.hashes.result()

    def _made(self) -> dict[str, str]:
        return digests(self.paths, self.executor, lambda: self.given_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *problem: object) -> None:
        self.given_up = kind is not None


def _files(inputs: Iterable[str | Path]) -> list[str]:
    names = [path for name in inputs for path in matching(name)]
    return [path for path in names if path != "-" and (is_remote(path) or Path(path).is_file())]


def _are_small(paths: Iterable[str]) -> bool:
    return sum(WORTH_A_THREAD if is_remote(path) else os.path.getsize(path) for path in paths) < WORTH_A_THREAD


def digest(path: str | Path, given_up: Callable[[], bool] | None = None) -> str:
    """The SHA-256 of a file."""
    hashed = hashlib.sha256()
    with opened(path) as file:
        while (piece := file.read(1 << 20)) and not (given_up and given_up()):
            hashed.update(piece)
    return hashed.hexdigest()


def write_result(frame: pl.DataFrame, path: str | Path, record: Mapping[str, Any]) -> None:
    """A table in the format of the path's ending, with its record."""
    from judgewell.formats.frames import write_table

    text = json.dumps(record, indent=2, ensure_ascii=False)
    if str(path).endswith(".parquet"):
        write_table(frame, path, metadata={"judgewell": text})
    else:
        write_table(frame, path)
        write_record(path, record)


def write_record(path: str | Path, record: Mapping[str, Any]) -> None:
    """The record of a file, beside it."""
    Path(f"{path}.meta.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
