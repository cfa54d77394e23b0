"""What an executor is, and those of one machine: this thread, threads, processes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from judgewell.errors import ClusterError, JudgewellError, kept_notes, note

if TYPE_CHECKING:
    from concurrent import futures  # loaded where a pool is made

PROCESSORS = os.cpu_count() or 1
AHEAD = 4  # tasks in flight for each worker
LEAST_TOGETHER, MOST_TOGETHER = 3, 12  # items sent as one task, where sending costs something
FOLDER: ContextVar[str] = ContextVar("folder", default="")  # relative paths begin here, on another machine too
Outcome = tuple[Any, JudgewellError | None, list[str]]  # of one item: its result, or the error; and its notes


class Executor:
    """Does the work in this thread, one task after the other; the base of the others."""

    workers = 1

    def share(self, value: Any) -> Any:
        """A value that many tasks need, sent once; `map` takes what this gives."""
        return value

    def map(
        self, work: Callable[..., Any], tasks: Iterable[Any], *shared: Any, total: int | None = None
    ) -> Iterator[Any]:
        """`work(task, *shared)` of every task, in order; `total` tasks, where known, may be sent several at a time.

        Tasks go out a few ahead of the result waited for. If the caller stops reading, the others are cancelled. Notes
        of the work are emitted here, with its result.
        """
        for outcomes in self._batches(work, tasks, shared, total):
            for result, error, notes in outcomes:
                for text in notes:
                    note(text)
                if error is not None:
                    raise error
                yield result

    def _batches(
        self, work: Callable[..., Any], tasks: Iterable[Any], shared: tuple[Any, ...], total: int | None
    ) -> Iterator[list[Outcome]]:
        return (_done(work, [task], shared) for task in tasks)

    def close(self) -> None:
        """Give back what was taken."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def _done(work: Callable[..., Any], batch: list[Any], shared: tuple[Any, ...]) -> list[Outcome]:
    """What becomes of some tasks, up to the first error."""
    outcomes: list[Outcome] = []
    for task in batch:
        with kept_notes() as notes:
            try:
                outcomes.append((work(task, *shared), None, notes))
            except JudgewellError as error:
                return [*outcomes, (None, error, notes)]
    return outcomes


class _Submitting(Executor):
    """An executor with tasks in flight."""

    together = 1  # items of a task at most

    def _batches(
        self, work: Callable[..., Any], tasks: Iterable[Any], shared: tuple[Any, ...], total: int | None
    ) -> Iterator[list[Outcome]]:
        left = total or 0
        least = max(1, min(LEAST_TOGETHER, left // (AHEAD * self.workers)))
        queue = iter(tasks)
        pending: deque[Any] = deque()
        try:
            while True:
                while len(pending) < AHEAD * self.workers:
                    # Half of what is left for all workers, so that they end together (Hummel et al. 1992, factoring).
                    batch = list(islice(queue, min(self.together, max(least, left // (2 * self.workers)))))
                    if not batch:
                        break
                    left -= len(batch)
                    pending.append(self._submit(work, batch, shared))
                if not pending:
                    return
                yield self._result(pending.popleft())
        finally:
            self._cancel(pending)

    def _submit(self, work: Callable[..., Any], batch: list[Any], shared: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def _result(self, future: Any) -> list[Outcome]:
        outcomes: list[Outcome] = future.result()
        return outcomes

    def _cancel(self, pending: Iterable[Any]) -> None:
        for future in pending:
            future.cancel()


class Pool(_Submitting):
    """The threads or processes of a pool that somebody else closes."""

    def __init__(self, pool: futures.Executor, workers: int | None = None) -> None:
        self.pool = pool
        self.workers = workers or getattr(pool, "_max_workers", None) or PROCESSORS

    def _submit(self, work: Callable[..., Any], batch: list[Any], shared: tuple[Any, ...]) -> Any:
        return self.pool.submit(_done, work, batch, shared)


class Threads(Pool):
    """Threads of this process: no time to begin, and memory is shared."""

    def __init__(self, workers: int = PROCESSORS) -> None:
        from concurrent.futures import ThreadPoolExecutor

        super().__init__(ThreadPoolExecutor(workers), workers)

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


class Processes(Pool):
    """Processes of this machine; a shared value goes to each of them once, through a file."""

    together = MOST_TOGETHER

    def __init__(self, workers: int = PROCESSORS, pool: futures.Executor | None = None) -> None:
        import multiprocessing
        import tempfile
        from concurrent.futures import ProcessPoolExecutor

        # Spawned, because polars must not be forked once it has run.
        spawn = multiprocessing.get_context("spawn")
        self.own = pool is None
        made = pool or ProcessPoolExecutor(workers, mp_context=spawn, initializer=_leave_interrupts_to_parent)
        super().__init__(made, None if pool else workers)
        self.folder = tempfile.TemporaryDirectory(prefix="judgewell-", ignore_cleanup_errors=True)
        self.values = 0

    def share(self, value: Any) -> Any:
        import pickle

        self.values += 1
        path = os.path.join(self.folder.name, str(self.values))
        with open(path, "wb") as file:
            pickle.dump(value, file, protocol=5)
        return _Stored(path)

    def _submit(self, work: Callable[..., Any], batch: list[Any], shared: tuple[Any, ...]) -> Any:
        return self.pool.submit(_done_with_stored, work, batch, shared)

    def _result(self, future: Any) -> list[Outcome]:
        from concurrent.futures.process import BrokenProcessPool

        try:
            return super()._result(future)
        except BrokenProcessPool:
            raise ClusterError(
                "a worker process ended before its work was done, likely for lack of memory; give fewer --processes"
            ) from None

    def close(self) -> None:
        if self.own:
            self.pool.shutdown(cancel_futures=True)
        self.folder.cleanup()


class _Stored:
    """A shared value in a file; a process loads it once."""

    loaded: dict[str, Any] = {}  # noqa: RUF012 - of this process

    def __init__(self, path: str) -> None:
        self.path = path

    def value(self) -> Any:
        import pickle

        if self.path not in self.loaded:
            with open(self.path, "rb") as file:
                self.loaded[self.path] = pickle.load(file)
            while len(self.loaded) > AHEAD:
                del self.loaded[next(iter(self.loaded))]
        return self.loaded[self.path]


def _done_with_stored(work: Callable[..., Any], batch: list[Any], shared: tuple[Any, ...]) -> list[Outcome]:
    return _done(work, batch, tuple(one.value() if isinstance(one, _Stored) else one for one in shared))


def _leave_interrupts_to_parent() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
