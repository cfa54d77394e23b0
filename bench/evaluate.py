"""From run and judgment files to nDCG@10, AP and P@10 per topic and on average, beside the other tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from measure import Row, read_once, run, take_turns

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
JUDGEWELL = Path(sys.executable).parent / "judgewell"
PEERS = ("pytrec_eval", "ir_measures", "ranx")
YARDSTICK = PEERS[:1]
MEASURES = ("-m", "nDCG@10", "-m", "AP", "-m", "P@10")

LARGE = ((1_000_000, 10), (100_000, 1000))  # topics × documents: 10^6 topics, and 10^8 lines

# What is asked: how many times as fast as pytrec_eval, and the most memory in MB, by the kind of case.
ASKED = {
    "1 run, 50 ×": (1.3, 80),
    "runs, 50 × 1000, .gz": (6.0, 80),
    "runs, 50 ×": (8.0, 80),
    "× 100 (": (10.0, 150),
    "× 1000 (": (10.0, 150),
}

SPEED, GROWTH, MEMORY, START, VALUES, LARGEST = "speed", "growth", "memory", "start", "values", "largest"


@dataclass(frozen=True)
class Case:
    """A qrels file and the runs measured with it."""

    name: str
    qrels: Path
    runs: tuple[Path, ...]

    def judgewell(self, output: Path, *options: str) -> list[str | Path]:
        return [JUDGEWELL, "evaluate", self.qrels, *self.runs, *MEASURES, "-q", "-o", output, *options]

    def peer(self, tool: str, output: Path) -> list[str | Path]:
        return [sys.executable, HERE / "peers" / f"with_{tool}.py", self.qrels, output, *self.runs]

    @property
    def label(self) -> str:
        size = sum(path.stat().st_size for path in self.runs) / 1e6
        return f"{self.name} ({size:.0f} MB)" if size >= 10 else self.name


def many(data: Path, count: int | None = None, kind: str = "") -> Case:
    """Runs of 50 topics, as TREC files or as copies of another kind."""
    folder = data / f"many-{kind}" if kind else data / "many"
    runs = tuple(sorted(folder.iterdir())[:count])
    number = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return Case(f"{number}, 50 × 1000" + (f", .{kind}" if kind else ""), data / "many.qrels", runs)


def single(data: Path, file: str, depth: int, topics: int) -> Case:
    return Case(f"1 run, {topics:,} × {depth}", data / f"{file}.qrels", (data / f"{file}.run",))


def prepared(quick: bool) -> Path:
    """The folder of data, made by a process of its own so that this one stays small."""
    data = HERE / "data" / ("quick" if quick else "full")
    command = [sys.executable, str(HERE / "make_data.py"), str(data), *(["--quick"] if quick else [])]
    subprocess.run(command, check=True)
    return data


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    data = prepared(quick)
    wide, long = (4_000, 500) if quick else (100_000, 10_000)
    usual, few = (2, 2) if quick else (5, 3)
    cases = [
        (many(data, 1), PEERS[:2] if quick else PEERS, usual),  # ranx needs a minute or more for the others
        (many(data), PEERS[:2], usual),
        (many(data, kind="gz"), YARDSTICK, usual),
        (single(data, "wide", 100, wide), PEERS[:2], few),
        (single(data, "long", 1000, long), PEERS[:2], few),
    ]
    work = data / "out"
    work.mkdir(exist_ok=True)
    for case, peers, repeats in cases:
        yield from beside_peers(case, work, peers, repeats)
        yield same_values(case, work)
    parts = [(f"long-{percent}", long * percent // 100) for percent in (10, 30)] + [("long", long)]
    for file, topics in parts:
        yield from ours_alone(GROWTH, single(data, file, 1000, topics), work, repeats=2 if quick else 3)
    for kind in ("", "gz", "csv", "parquet"):
        for count in (10, 40, 129):
            if count <= len(cases[1][0].runs):
                yield from ours_alone(MEMORY, many(data, count, kind), work, repeats=1)
    yield from start_up(repeats=3 if quick else 10)
    if os.environ.get("LARGE"):
        for topics, depth in LARGE:
            yield from largest(data / "large", topics, depth)


def beside_peers(case: Case, work: Path, peers: Sequence[str], repeats: int) -> Iterable[Row]:
    """Judgewell and the peers, taking turns; no output of an earlier case is left to be compared with by mistake."""
    for output in work.iterdir():
        output.unlink()
    read_once((case.qrels, *case.runs))
    commands = {tool: case.peer(tool, work / f"{tool}.tsv") for tool in peers}
    if "ranx" in commands:
        run(commands["ranx"])  # it compiles itself anew for ids of another length, and keeps that: not timed
    tools = {"judgewell": case.judgewell(work / "judgewell.csv"), **commands}
    return take_turns(SPEED, case.label, tools, repeats, always=YARDSTICK)


def ours_alone(table: str, case: Case, work: Path, repeats: int) -> Iterable[Row]:
    read_once((case.qrels, *case.runs))
    return take_turns(table, case.label, {"judgewell": case.judgewell(work / "judgewell.csv")}, repeats)


def largest(folder: Path, topics: int, depth: int) -> Iterable[Row]:
    """A run too large for most tools, made for this and removed after it."""
    try:
        command = [sys.executable, HERE / "make_data.py", folder, "--large", topics, depth]
        subprocess.run([str(word) for word in command], check=True)
        case = Case(f"1 run, {topics:,} × {depth}", folder / "large.qrels", (folder / "large.run",))
        yield from ours_alone(LARGEST, case, folder, repeats=1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def same_values(case: Case, work: Path) -> Row:
    """Our values with scores in single precision, as pytrec_eval holds them, against its values of the run before."""
    ours, theirs = work / "single.csv", work / "pytrec_eval.tsv"
    outcome = run(case.judgewell(ours, "--precision", "single"))
    if not outcome.failure:
        outcome = run([sys.executable, HERE / "compare_values.py", ours, theirs])
    return Row(VALUES, case.label, "judgewell", (outcome,))


def start_up(repeats: int) -> Iterable[Row]:
    """What a user waits for when there is next to nothing to do, and what Python alone takes of it."""
    small = [EXAMPLES / "tiny.qrels", EXAMPLES / "reranked.run", "-m", "nDCG@5"]
    commands: dict[str, Sequence[str | Path]] = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import polars, numpy'": [sys.executable, "-c", "import polars, numpy"],
        "judgewell --help": [JUDGEWELL, "--help"],
        "judgewell evaluate, one run of 5 topics": [JUDGEWELL, "evaluate", *small],
    }
    return take_turns(START, "", commands, repeats)


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    names = (SPEED, VALUES, GROWTH, MEMORY, START, LARGEST)
    tables = {name: [row for row in found if row.table == name] for name in names}
    return "\n".join(
        (
            "## Evaluation",
            "",
            "nDCG@10, AP and P@10, each topic's value and the mean written to a file, from TREC files on disk, process",
            "start included. Times faster: pytrec_eval's median divided by the tool's. ir_measures and ranx run once",
            "where they need more than 5 seconds. ranx, which takes longest, is measured on the smallest case only,",
            "with its compiled code already cached.",
            "",
            *asked_lines(tables[SPEED]),
            "",
            *speed_lines(tables[SPEED]),
            "",
            *values_lines(tables[VALUES]),
            "",
            "How it grows (judgewell alone, one run of 1000 documents a topic):",
            "",
            *alone_lines(tables[GROWTH], relative=True),
            "",
            "Memory against the number of runs (judgewell alone):",
            "",
            *alone_lines(tables[MEMORY]),
            "",
            "Start-up:",
            "",
            *start_lines(tables[START]),
            "",
            *largest_lines(tables[LARGEST]),
        )
    )


def asked_lines(found: Sequence[Row]) -> Iterator[str]:
    """What is asked of judgewell beside what it reaches; the faster runs of both tools are compared too."""
    yield "| | times faster: asked | reached | fastest runs | peak MB: at most | reached | |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for case, group in groupby(found, lambda row: row.case):
        rows = {row.tool: row for row in group}
        ours, theirs = rows["judgewell"], rows["pytrec_eval"]
        asked = next((limits for part, limits in ASKED.items() if part in case), None)
        if asked is None:
            continue
        if problem := ours.failure or theirs.failure:
            yield f"| {case} | {asked[0]:g} | | | {asked[1]} | | {problem} |"
            continue
        ratio, fastest = theirs.median / ours.median, theirs.fastest / ours.fastest
        reached = ratio >= asked[0] and ours.megabytes <= asked[1]
        yield (
            f"| {case} | {asked[0]:g} | {ratio:.2f} | {fastest:.2f} | {asked[1]} | {ours.megabytes:.0f} "
            f"| {'reached' if reached else 'missed'} |"
        )


def speed_lines(found: Sequence[Row]) -> Iterator[str]:
    yield "| topics × documents | tool | median s | fastest s | times run | times faster | peak MB |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for case, group in groupby(found, lambda row: row.case):
        tools = list(group)
        yardstick = next(row for row in tools if row.tool == "pytrec_eval")
        for row in tools:
            if row.failure:
                yield f"| {case} | {row.tool} | {row.failure} | | {len(row.outcomes)} | | {row.megabytes:.0f} |"
                continue
            ratio = "" if yardstick.failure else f"{yardstick.median / row.median:.2f}"
            yield (
                f"| {case} | {row.tool} | {row.median:.2f} | {row.fastest:.2f} | {len(row.outcomes)} "
                f"| {ratio} | {row.megabytes:.0f} |"
            )


def values_lines(found: Sequence[Row]) -> Iterator[str]:
    """Which cases gave pytrec_eval's values; a difference is shown."""
    yield "Every topic's values equal pytrec_eval's within 1e-6, scores read in single precision as it does:"
    yield ""
    for row in found:
        yield f"- {row.case}: {row.failure or 'yes'}"


def alone_lines(found: Sequence[Row], relative: bool = False) -> Iterator[str]:
    yield "| | median s | fastest s | peak MB |" + (" time | memory |" if relative else "")
    yield "|---|---:|---:|---:|" + ("---:|---:|" if relative else "")
    for row in found:
        if row.failure:
            yield f"| {row.case} | {row.failure} | | |" + (" | |" if relative else "")
            continue
        line = f"| {row.case} | {row.median:.2f} | {row.fastest:.2f} | {row.megabytes:.0f} |"
        if relative and not found[0].failure:
            line += f" {row.median / found[0].median:.1f}× | {row.megabytes / found[0].megabytes:.1f}× |"
        yield line


def largest_lines(found: Sequence[Row]) -> Iterator[str]:
    """What only `make bench LARGE=1` measures."""
    if found:
        yield "Very large runs (judgewell alone; made for this with `LARGE=1` and removed after it):"
        yield ""
        yield from alone_lines(found)
        yield ""


def start_lines(found: Sequence[Row]) -> Iterator[str]:
    yield "| command | median s | fastest s | peak MB |"
    yield "|---|---:|---:|---:|"
    for row in found:
        told = row.failure or f"{row.median:.2f}"
        yield f"| {row.tool} | {told} | {row.fastest:.2f} | {row.megabytes:.0f} |"
