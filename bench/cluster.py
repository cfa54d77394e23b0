"""How work grows over workers: runs to score and worlds to count, by threads and by the workers of a Dask scheduler.

For 1, 2 and 4 workers the same work is done by threads of one process and by worker
processes of one thread each behind a real scheduler, in turn. The engine's overhead is the ratio of the two, in seconds
and in CPU seconds of all processes. The client's own CPU time and memory are measured on a quarter of the work and on
all of it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import PEAK_UNIT, ROOT, Outcome, Row, read_once

sys.path.append(str(ROOT / "tests" / "executors"))
from local_cluster import Cluster

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}  # of numpy and polars in every process
DATA = Path(__file__).parent / "data" / "cluster"
TOPICS, DEPTH, JUDGED = 500, 1000, 60  # a run of 500 topics has 25 MB
SYSTEMS, WORLD_TOPICS = 100, 50


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
    amounts = {"runs": size.runs, "worlds": size.worlds}
    for workers in (1, 2, 4):
        for work, count in amounts.items():
            with _cluster(workers) as cluster:
                tools = {"threads": ["--threads", str(workers)], "cluster": ["--cluster", cluster.address]}
                measured: dict[str, list[Measured]] = {tool: [] for tool in tools}
                for turn in range(size.repeats + 1):
                    for tool, where in tools.items():
                        outcome = _client(work, count, where)
                        measured[tool] += [outcome] if turn else []  # the first turn loads what workers need
                for tool, outcomes in measured.items():
                    case = f"{count} {work}, {workers} workers"
                    yield Row("speed", case, f"judgewell {tool}", tuple(one.wall for one in outcomes))
                    yield Row("cpu", case, f"judgewell {tool}", tuple(one.cpu for one in outcomes))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for work, count in amounts.items():
        with _cluster(cores) as cluster:
            for share in (4, 1):
                outcome = _client(work, count // share, ["--cluster", cluster.address])
                yield Row("client", f"{count // share} {work}", "judgewell client", (outcome.own,))


@dataclass(frozen=True)
class Measured:
    """The work done once: its seconds, the CPU seconds of all processes, and those of the client itself."""

    wall: Outcome
    cpu: Outcome
    own: Outcome


def _cluster(workers: int) -> Cluster:
    return Cluster(ROOT, workers, {**os.environ, **ONE_THREAD})


def _client(work: str, count: int, where: Sequence[str]) -> Measured:
    """The work once, by a process of its own; seconds are those of the work alone, once the client is connected."""
    command = [sys.executable, __file__, work, str(count), *where]
    threads = {"POLARS_MAX_THREADS": where[1]} if where[0] == "--threads" else {}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **ONE_THREAD, **threads}
    )
    if done.returncode:
        failed = Outcome(0.0, 0.0, (done.stderr.strip().splitlines() or ["failed"])[-1])
        return Measured(failed, failed, failed)
    seconds, own, there, megabytes = json.loads(done.stdout.splitlines()[-1])
    return Measured(*(Outcome(value, megabytes) for value in (seconds, own + there, own)))


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
    """Threads beside the cluster, in seconds and in CPU seconds, and what the client itself takes."""
    by_case = {(row.table, row.case, row.tool.split()[1]): row for row in found}
    lines = ["## A cluster", "", "| work | threads | cluster | ratio | CPU, threads | CPU, cluster | ratio |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for case in dict.fromkeys(row.case for row in found if row.table == "speed"):
        cells = []
        for table in ("speed", "cpu"):
            threads, cluster = by_case[table, case, "threads"], by_case[table, case, "cluster"]
            failed = threads.failure or cluster.failure
            both = [f"{threads.median:.2f} s", f"{cluster.median:.2f} s"]
            cells += [failed, "", ""] if failed else [*both, f"{cluster.median / threads.median:.2f}"]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    lines += ["", "CPU is that of all processes: client, scheduler, workers. The client of a cluster by itself:", ""]
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
        there = _cpu_of_cluster(executor)
        begun, cpu = time.perf_counter(), time.process_time()
        if runs:
            judgewell.evaluate(runs, str(DATA / "qrels"), ["nDCG@10", "AP(rel=2)"], executor=executor)
        else:
            topic_worlds(names, values, int(count), executor=executor)
        seconds, own = time.perf_counter() - begun, time.process_time() - cpu
        there = _cpu_of_cluster(executor) - there
    print(json.dumps([seconds, own, there, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / 1e6]))


def _cpu_of_cluster(executor: Any) -> float:
    """The CPU seconds of the scheduler and the workers so far; 0 without a cluster."""
    client = getattr(executor, "client", None)
    if client is None:
        return 0.0
    return float(client.run_on_scheduler(time.process_time) + sum(client.run(time.process_time).values()))


if __name__ == "__main__":
    work()
