"""A Dask scheduler and workers on the loopback, each a process of its own; the benchmark starts them too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

SCHEDULER = """
import asyncio, distributed

async def main():
    async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""
WORKER = """
import asyncio, sys, distributed

async def main():
    async with distributed.Worker(sys.argv[1], nthreads=1, dashboard=False) as worker:
        print(worker.address, flush=True)
        await worker.finished()

asyncio.run(main())
"""


class Cluster:
    """A scheduler with workers of one thread each, which are ready when it is made; they end with the block."""

    def __init__(self, folder: Path, workers: int, environment: Mapping[str, str] | None = None) -> None:
        self.folder, self.environment = folder, environment
        self.processes: list[subprocess.Popen[str]] = []
        self.scheduler = self._start(SCHEDULER)
        self.address = first_line(self.scheduler)
        self.workers = [self.worker() for _ in range(workers)]
        for worker in self.workers:
            first_line(worker)

    def worker(self, before: str = "") -> subprocess.Popen[str]:
        """One more worker, which prints its address when it has joined; `before` is done before it begins."""
        return self._start(before + WORKER, self.address)

    def _start(self, code: str, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words], cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
