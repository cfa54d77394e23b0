"""A Dask cluster as an executor: what it needs of `distributed`, which is the extra `cluster`."""

from __future__ import annotations

import logging
import os
import pickle
import re
import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from judgewell._version import __version__
from judgewell.errors import ClusterError, InputError
from judgewell.executors.local import FOLDER, MOST_TOGETHER, Outcome, _done, _Submitting

ADDRESS = re.compile(r"(\w+://)?[^/\s]+:\d+/?")
SECONDS_TO_CONNECT = 15
SECONDS_FOR_WORKERS = 30
SIZE_LASTS = 1.0  # seconds until the cluster is asked again how large it is


def connected(address: str) -> Dask:
    """The cluster of a scheduler; the address `dask` is the one in Dask's own configuration."""
    try:
        import dask
        from distributed import Client
    except ImportError:
        raise InputError("--cluster needs Dask", cure="pip install 'judgewell[cluster]'") from None
    if address == "dask":
        address = dask.config.get("scheduler-address", None)
        if not address:
            raise InputError(
                "Dask's configuration names no scheduler", cure="set DASK_SCHEDULER_ADDRESS, or give --cluster tcp://…"
            )
    if not ADDRESS.fullmatch(address):
        raise InputError(f"--cluster {address} is not an address", cure="give tcp://HOST:8786")
    _silence_dask()
    try:
        client: Any = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except OSError:
        raise ClusterError(
            f"no scheduler answers at {address}; start one (dask scheduler) and workers (dask worker {address})"
        ) from None
    try:
        return Dask(client, own=True)
    except BaseException:
        client.close()
        raise


def _silence_dask() -> None:
    """What matters is reported here, in one line. Dask gives some of its loggers a level of their own."""
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


class Dask(_Submitting):
    """The workers of a Dask cluster."""

    together = MOST_TOGETHER

    def __init__(self, client: Any, *, own: bool = False) -> None:
        self.client, self.own = client, own
        self.address = client.scheduler.address if client.scheduler else "the cluster"
        self._size, self._asked = 1, 0.0
        try:
            client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
        except TimeoutError:
            raise ClusterError(
                f"the scheduler at {self.address} has no workers; start one with: dask worker {self.address}"
            ) from None
        self._refuse_other_versions()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The threads of all workers, those that joined lately among them."""
        if time.monotonic() - self._asked > SIZE_LASTS:
            try:
                self._size = max(1, sum(self.client.nthreads().values()))
            except OSError:
                raise self._lost() from None
            self._asked = time.monotonic()
        return self._size

    def share(self, value: Any) -> Any:
        """The value as a task of its own: the scheduler keeps its bytes, so that it survives a worker; workers copy it
        from each other."""
        import dask

        data = pickle.dumps(value, protocol=5)
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            return self.client.submit(pickle.loads, data, key=f"judgewell-shared-{uuid.uuid4().hex}")

    def _submit(self, work: Callable[..., Any], batch: list[Any], shared: tuple[Any, ...]) -> Any:
        key = f"judgewell-{work.__name__.strip('_')}-{uuid.uuid4().hex}"
        return self.client.submit(_done_there, work, batch, __version__, os.getcwd(), *shared, key=key, pure=False)

    def _result(self, future: Any) -> list[Outcome]:
        from concurrent.futures import CancelledError

        from distributed.scheduler import KilledWorker

        try:
            return super()._result(future)
        except KilledWorker:
            raise ClusterError(
                f"four workers of {self.address} ended while they did the same task, most likely for lack of memory; "
                "give workers more memory, or fewer threads"
            ) from None
        except (CancelledError, OSError):
            raise self._lost() from None

    def _lost(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self.address} went away before the work was done")

    def _cancel(self, pending: Iterable[Any]) -> None:
        waiting = list(pending)
        if waiting and self.client.status == "running":
            self.client.cancel(waiting)

    def _refuse_other_versions(self) -> None:
        def installed() -> str:  # by value: the worker may not have judgewell
            try:
                from judgewell._version import __version__ as there
            except ImportError:
                return "none"
            return there

        for worker, there in self.client.run(installed).items():
            _refuse_version(__version__, there, worker)

    def close(self) -> None:
        if self.own:
            self.client.close()


def _refuse_version(client: str, worker: str, address: str) -> None:
    if client != worker:
        other = "no judgewell" if worker == "none" else f"judgewell {worker}"
        raise ClusterError(
            f"the worker at {address} has {other} and this is judgewell {client}; install the same version on all"
        )


def _done_there(work: Callable[..., Any], batch: list[Any], version: str, folder: str, *shared: Any) -> list[Outcome]:
    """On a worker: refuse what another version would compute, then do the work with the client's relative paths."""
    from distributed import get_worker

    _refuse_version(version, __version__, get_worker().address)
    token = FOLDER.set(folder)
    try:
        return _done(work, batch, shared)
    finally:
        FOLDER.reset(token)
