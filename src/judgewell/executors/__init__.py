"""Where work is done that can be split: in this thread, in threads, in processes, or on a Dask cluster.

Every stage cuts its work into tasks that do not depend on who does them, each with a seed of its own, and takes the
results in the order of the tasks. So an executor changes how long a result takes and never the result.

>>> with Threads(2) as executor:
...     list(executor.map(pow, [2, 3, 4], executor.share(2)))
[4, 9, 16]
"""

from __future__ import annotations

from typing import Any

from judgewell.errors import InputError
from judgewell.executors.local import PROCESSORS, Executor, Pool, Processes, Threads

__all__ = ["PROCESSORS", "Executor", "Pool", "Processes", "Threads", "executor_at", "executor_of"]


def executor_of(given: Any) -> Executor:
    """An executor from what a caller has: ours, a pool of concurrent.futures, a Dask client; None is this thread."""
    if given is None:
        return Executor()
    if isinstance(given, Executor):
        return given
    if type(given).__module__.partition(".")[0] == "distributed":
        from judgewell.executors.cluster import Dask

        return Dask(getattr(given, "_client", given))
    from concurrent import futures

    if isinstance(given, futures.ProcessPoolExecutor):
        return Processes(pool=given)
    if isinstance(given, futures.Executor):
        return Pool(given)
    raise InputError(
        f"{type(given).__name__} is not an executor",
        cure="give Threads, Processes or a pool of concurrent.futures, or a Dask client",
    )


def executor_at(cluster: str | None, processes: int | None) -> Executor:
    """The executor that --cluster or --processes names; this thread where neither does."""
    if cluster is not None and processes is not None:
        raise InputError("--cluster and --processes both say where to work", cure="give one of them")
    if cluster is None:
        return Executor() if processes is None else Processes(processes)
    from judgewell.executors.cluster import connected

    return connected(cluster)
