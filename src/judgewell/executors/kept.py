"""Results that outlive an attempt: a file beside the output from which the same work goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from judgewell.executors.local import Executor, Outcome


class Kept(Executor):
    """An executor that keeps each result in `path` as it comes; `work` says what they are results of.

    Results kept by an earlier attempt at the same work are taken from the file. `finish` removes it. The file holds
    lines of JSON, so that a file from elsewhere can do no harm; `dump` and `load` turn a result into JSON and back.
    """

    def __init__(
        self, executor: Executor, path: str, work: str, dump: Callable[[Any], Any], load: Callable[[Any], Any]
    ) -> None:
        self.executor, self.path, self.dump, self.load = executor, Path(path), dump, load
        self.calls = 0  # of map: the same work makes the same calls in the same order
        self.before: dict[int, list[Outcome]] = {}
        end = self._read(work)
        self.resumed = self.count = sum(map(len, self.before.values()))  # results of earlier attempts, and all
        self.file = self.path.open("r+b" if end else "wb")
        self.file.seek(end)
        self.file.truncate()
        if not end:
            self._write(work)

    @property
    def workers(self) -> int:  # type: ignore[override]
        return self.executor.workers

    def share(self, value: Any) -> Any:
        return self.executor.share(value)

    def _batches(
        self, work: Callable[..., Any], tasks: Iterable[Any], shared: tuple[Any, ...], total: int | None
    ) -> Iterator[list[Outcome]]:
        call, self.calls = self.calls, self.calls + 1
        before = self.before.pop(call, [])
        yield before
        rest = islice(tasks, len(before), None)
        for outcomes in self.executor._batches(work, rest, shared, None if total is None else total - len(before)):
            done = [one for one in outcomes if one[1] is None]
            self._write(*([call, self.dump(value), notes] for value, _, notes in done))
            self.count += len(done)
            yield outcomes

    def _write(self, *records: Any) -> None:
        self.file.writelines(json.dumps(record).encode() + b"\n" for record in records)
        self.file.flush()

    def _read(self, work: str) -> int:
        """Take what an earlier attempt left; where it ends, 0 where there is none at this work."""
        if not self.path.is_file():
            return 0
        end = 0
        with self.path.open("rb") as file:
            for line in file:
                try:
                    record = json.loads(line if line.endswith(b"\n") else b"")  # the last one may be cut short
                    if not end:
                        if record != work:
                            return 0
                    else:
                        call, value, notes = record
                        self.before.setdefault(call, []).append((self.load(value), None, list(notes)))
                except (ValueError, TypeError, KeyError):
                    return end
                end += len(line)
        return end

    def finish(self) -> None:
        """All work is done: the file is no longer needed."""
        self.file.close()
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        self.file.close()
        self.executor.close()
