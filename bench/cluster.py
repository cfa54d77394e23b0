"""How work grows over workers: runs to score and worlds to count, by threads and by the workers of a Dask scheduler.

For 1, 2 and 4 workers the same work is done by threads of one process and by worker
processes of one thread each behind a real scheduler, in turn. The engine's overhead is the ratio of the two. The
client's own CPU time and memory are measured on a quarter of the work and on all of it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measure import PEAK_UNIT, ROOT, Outcome, Row, read_once

DATA = Path(__file__).parent / "data" / "cluster"
TOPICS, DEPTH, JUDGED = 500, 1000, 60  # a run of 500 topics has 25 MB
SYSTEMS, WORLD_TOPICS = 100, 50
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
        await worker.finished()

asyncio.run(main())
"""


@dataclass(frozen=True)
class Size:
    """How much work there is."""

    runs: int
    worlds: int
    repeats: int


FULL, QUICK = Size(40, 10_000, 2), Size(6, 1_500, 1)


def rows(quick: bool) -> Iterator[Row]:
    size = QUICK if quick else FULL
    paths = _make(size.runs)
    read_once(paths)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for workers in (1, 2, 4):
        for work, count in (("runs", size.runs), ("worlds", size.worlds)):
            with _scheduler(workers) as address:
                tools = {"threads": ["--threads", str(workers)], "cluster": ["--cluster", address]}
                measured: dict[str, list[Outcome]] = {tool: [] for tool in tools}
                for turn in range(size.repeats + 1):
                    for tool, where in tools.items():
                        outcome = _client(work, count, where)
                        measured[tool] += [outcome] if turn else []  # the first turn loads what workers need
                for tool, outcomes in measured.items():
                    yield Row("speed", f"{count} {work}, {workers} workers", f"judgewell {tool}", tuple(outcomes))
    for work, count in (("runs", size.runs), ("worlds", size.worlds)):
        with _scheduler(cores) as address:
            for share in (4, 1):
                outcome = _client(work, count // share, ["--cluster", address], own_time=True)
                yield Row("client", f"{count // share} {work}", "judgewell client", (outcome,))


def _client(work: str, count: int, where: Sequence[str], *, own_time: bool = False) -> Outcome:
    """The work once, by a process of its own; its seconds are those of the work alone, or of its own CPU."""
    command = [sys.executable, __file__, work, str(count), *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        return Outcome(0.0, 0.0, (done.stderr.strip().splitlines() or ["failed"])[-1])
    seconds, cpu, megabytes = json.loads(done.stdout.splitlines()[-1])
    return Outcome(cpu if own_time else seconds, megabytes)


@contextmanager
def _scheduler(workers: int) -> Iterator[str]:
    one = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        scheduler = subprocess.Popen(
            [sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
        )
        assert scheduler.stdout is not None
        address = scheduler.stdout.readline().strip()
        started = [
            subprocess.Popen([sys.executable, "-c", WORKER, address], cwd=folder, env=one, stderr=subprocess.DEVNULL)
            for _ in range(workers)
        ]
        try:
            yield address
        finally:
            for process in (*started, scheduler):
                process.kill()
                process.wait()


def _make(count: int) -> list[Path]:
    """Runs of 25 MB over the same documents, and judgments of some of them."""
    import numpy as np

    DATA.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    qrels = DATA / "qrels"
    if not qrels.exists():
        judged = ((topic, doc) for topic in range(TOPICS) for doc in rng.choice(3000, JUDGED, replace=False))
        qrels.write_text("".join(f"{topic} 0 document-{doc:08} {rng.integers(0, 4)}\n" for topic, doc in judged))
    paths = [DATA / f"{number:02}.run" for number in range(count)]
    for number, path in enumerate(paths):
        if path.exists():
            continue
        with path.open("w") as file:
            for topic in range(TOPICS):
                docs = np.random.default_rng([number, topic]).permutation(3000)[:DEPTH].tolist()
                file.writelines(
                    f"{topic} Q0 document-{doc:08} {rank + 1} {30 - rank / 64:.6f} system{number:02}\n"
                    for rank, doc in enumerate(docs)
                )
    return [*paths, qrels]


def section(found: Sequence[Row]) -> str:
    """Seconds by threads and by the cluster with the ratio of the two, and what the client itself takes."""
    speed = {(row.case, row.tool.split()[1]): row for row in found if row.table == "speed"}
    lines = ["## A cluster", "", "| work | threads | cluster | cluster / threads |", "|---|---|---|---|"]
    for case in dict.fromkeys(case for case, _ in speed):
        threads, cluster = speed[case, "threads"], speed[case, "cluster"]
        if threads.failure or cluster.failure:
            lines.append(f"| {case} | {threads.failure or 'done'} | {cluster.failure or 'done'} | |")
            continue
        ratio = cluster.median / threads.median
        lines.append(f"| {case} | {threads.median:.2f} s | {cluster.median:.2f} s | {ratio:.2f} |")
    lines += ["", "The client of a cluster, apart from the time until it is connected:", ""]
    lines += ["| work | CPU | peak memory |", "|---|---|---|"]
    lines += [f"| {row.case} | {row.median:.2f} s | {row.megabytes:.0f} MB |" for row in found if row.table == "client"]
    return "\n".join(lines)


def work() -> None:
    """`cluster.py runs|worlds COUNT --threads N|--cluster ADDRESS`: do it, and print seconds, CPU and memory."""
    import numpy as np

    import judgewell
    from judgewell.comparison.worlds import topic_worlds
    from judgewell.executors import Executor, Threads, executor_at

    kind, count, where, value = sys.argv[1:5]
    executor: Executor = Threads(int(value)) if where == "--threads" else executor_at(value, None)
    runs = [str(DATA / f"{number:02}.run") for number in range(int(count))] if kind == "runs" else []
    values = np.random.default_rng(3).random((SYSTEMS, WORLD_TOPICS))
    names = tuple(f"s{number:03}" for number in range(SYSTEMS))
    with executor:
        begun, cpu = time.perf_counter(), time.process_time()
        if runs:
            judgewell.evaluate(runs, str(DATA / "qrels"), ["nDCG@10", "AP(rel=2)"], executor=executor)
        else:
            topic_worlds(names, values, int(count), executor=executor)
        seconds, own = time.perf_counter() - begun, time.process_time() - cpu
    print(json.dumps([seconds, own, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / 1e6]))


if __name__ == "__main__":
    work()
