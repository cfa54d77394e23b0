"""From judgments and pairs to gains: Bradley-Terry beside choix, and how ratios and magnitudes grow with their number.

Each measurement is made in a process of its own that makes the data, does the work once untimed where it is short, and
prints its seconds; the tools of a case take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from measure import LIMIT, PEAK_UNIT, Outcome, Row

HERE = Path(__file__).parent
STRENGTHS, RATIOS, MAGNITUDES = "strengths", "ratios", "magnitudes"
OURS = ("judgewell, from a table of ids", "judgewell, from counts")
PEERS = ("choix.ilsr_pairwise", "choix.ilsr_pairwise_dense")
SLOW = ("choix.opt_pairwise", "choix.mm_pairwise")  # maximum likelihood too, run once and stopped at SLOW_LIMIT
SLOW_LIMIT = 60.0
EXACT = (*OURS, *PEERS, *SLOW)
# a table of ids beside a list of pairs, counts beside a matrix of counts
LIKE = {tool: "matrix" if tool.endswith(("counts", "dense")) else "list" for tool in (*OURS, *PEERS, *SLOW)}
ROUGH = ("choix.lsr_pairwise", "choix.lsr_pairwise_dense", "choix.rank_centrality")
GROWTH = (
    (1_000, 30_000),
    (10_000, 300_000),
    (100_000, 3_000_000),
    (10_000, 30_000),
    (10_000, 3_000_000),
)  # documents in proportion, then the same number of documents


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    items, pairs = (200, 5_000) if quick else (1_000, 100_000)
    tools = (*OURS, *PEERS, *ROUGH)
    outcomes: dict[str, list[Outcome]] = {tool: [] for tool in tools}
    for _ in range(2 if quick else 5):
        for tool in tools:
            outcomes[tool].append(measured(STRENGTHS, tool, items, pairs))
    for tool, found in outcomes.items():
        yield Row(STRENGTHS, f"{items:,} documents, {pairs:,} pairs", tool, tuple(found))
    for tool in SLOW:
        found = [measured(STRENGTHS, tool, items, pairs, SLOW_LIMIT)]
        yield Row(STRENGTHS, f"{items:,} documents, {pairs:,} pairs", tool, tuple(found))
    for documents, ratios in GROWTH[: 2 if quick else None]:
        found = [measured(RATIOS, "judgewell", documents, ratios) for _ in range(1 if quick else 3)]
        yield Row(RATIOS, f"{documents:,} documents, {ratios:,} ratios", "judgewell", tuple(found))
    judgments = 100_000 if quick else 10_000_000
    for ending in ("csv", "parquet"):
        for tool in ("reading alone", "judgewell, reading included"):
            found = [measured(MAGNITUDES, f"{tool}|{ending}", judgments, 0) for _ in range(1 if quick else 3)]
            yield Row(MAGNITUDES, f"{judgments:,} judgments, {ending}", tool, tuple(found))


def measured(table: str, tool: str, size: int, count: int, limit: float = LIMIT) -> Outcome:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, table, tool, str(size), str(count)]
    try:
        child = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(limit, 0.0, f"stopped after {limit:.0f} s")
    if child.returncode != 0:
        said = child.stderr.strip().splitlines() or [f"exit {child.returncode}"]
        return Outcome(0.0, 0.0, said[-1])
    told = json.loads(child.stdout)
    return Outcome(told["seconds"], told["megabytes"], told["failure"])


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The shortest of some runs and what the last one gave."""
    best, result = float("inf"), None
    for _ in range(repeats):
        begun = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - begun)
    return best, result


def strengths(tool: str, items: int, count: int) -> tuple[float, str]:
    """Bradley-Terry from answers in memory: a table of ids or counts for us, a list of pairs or a matrix of counts for
    choix; our estimates are compared with the ones choix gives."""
    import choix
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    theta = rng.normal(0, 1, items)
    left = rng.integers(0, items, count)
    right = (left + rng.integers(1, items, count)) % items
    won = rng.random(count) < 1 / (1 + np.exp(theta[right] - theta[left]))
    winner, loser = np.where(won, left, right), np.where(won, right, left)
    matrix = np.zeros((items, items))
    np.add.at(matrix, (winner, loser), 1)
    if tool.startswith("judgewell"):
        from judgewell.scaling.bradley_terry import bradley_terry, fit_strengths

        ids = pl.Series([f"document-{number:05d}" for number in range(items)])
        frame = pl.DataFrame({"left": ids.gather(left), "right": ids.gather(right)})
        frame = frame.with_columns(topic=pl.lit("1"), preferred=pl.Series(np.where(won, "left", "right")))
        seconds, fit = timed(lambda: bradley_terry(frame, prior=0), 3)
        if tool.endswith("counts"):
            cells = fit.cells
            seconds, fit = timed(lambda: fit_strengths(cells, prior=0), 3)
        known = choix.ilsr_pairwise_dense(matrix)
        away = float(np.abs(fit.theta - (known - known.mean())).max())
        return seconds, "" if away < 1e-6 else f"{away:.1e} away from choix"
    name = tool.removeprefix("choix.")
    data = list(zip(winner.tolist(), loser.tolist(), strict=True))
    given = (matrix,) if name.endswith("dense") else (items, data)
    seconds, found = timed(lambda: getattr(choix, name)(*given), 3 if tool in ROUGH else 1)
    known = choix.ilsr_pairwise_dense(matrix)
    away = float(np.abs((found - found.mean()) - (known - known.mean())).max())
    if tool in ROUGH:
        return seconds, f"at most {away:.2g} away"
    return seconds, "" if away < 1e-3 else f"{away:.1e} from the maximum"


def ratios(tool: str, documents: int, count: int) -> tuple[float, str]:
    """Logarithmic least squares on a ring of documents and random pairs of them, from a table in memory."""
    import numpy as np
    import polars as pl

    from judgewell.scaling.ratio import log_ratio_fit

    rng = np.random.default_rng(0)
    worth = rng.normal(0, 1, documents)
    more = count - documents
    left = np.concatenate([np.arange(documents), rng.integers(0, documents, more)])
    right = (left + np.concatenate([np.ones(documents, int), rng.integers(1, documents, more)])) % documents
    ids = pl.Series([f"document-{number:06d}" for number in range(documents)])
    frame = pl.DataFrame(
        {
            "left": ids.gather(left),
            "right": ids.gather(right),
            "left_score": 10 * np.exp(worth[left] + rng.normal(0, 0.3, count)),
            "right_score": 10 * np.exp(worth[right]),
        }
    ).with_columns(topic=pl.lit("1"))
    seconds, fit = timed(lambda: log_ratio_fit(frame), 2)
    agreement = float(np.corrcoef(fit.y, worth)[0, 1])
    return seconds, "" if agreement > 0.98 else f"correlation {agreement:.3f} with what was put in"


def magnitudes(tool: str, count: int, unused: int) -> tuple[float, str]:
    """Geometric averaging and medians of a file of judgments; units of eight documents."""
    name, _, ending = tool.partition("|")
    path = HERE / "data" / f"magnitudes-{count}.{ending}"
    if not path.exists():
        made(path, count)
    from judgewell.formats.judgments import read_judgments
    from judgewell.scaling.methods import parse

    if name == "reading alone":
        seconds, table = timed(lambda: read_judgments(path))
        return seconds, "" if len(table) == count else "rows are missing"
    seconds, gains = timed(lambda: parse("magnitude")(read_judgments(path)))
    return seconds, "" if gains["judgments"].sum() == count else "judgments are missing"


def made(path: Path, count: int) -> None:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    units, topics, documents = count // 8, 50, max(100, count // 500)
    at = np.repeat(rng.integers(0, documents, units), 8) + np.tile(np.arange(8) * 7, units)
    columns = {
        "topic": (401 + np.repeat(rng.integers(0, topics, units), 8), "{}"),
        "doc": (at % documents, "FT{}"),
        "assessor": (np.repeat(rng.integers(0, 5000, units), 8), "w{}"),
        "unit": (np.repeat(np.arange(units), 8), "u{}"),
    }
    frame = pl.DataFrame({name: numbers for name, (numbers, _) in columns.items()})
    named = [pl.format(form, pl.col(name)).alias(name) for name, (_, form) in columns.items()]
    frame = frame.with_columns(*named, value=pl.Series(np.exp(rng.normal(0, 1, units * 8))).round(3) + 0.001)
    path.parent.mkdir(exist_ok=True)
    partial = path.with_suffix(".part")
    if path.suffix == ".csv":
        frame.write_csv(partial)
    else:
        frame.write_parquet(partial)
    os.replace(partial, path)


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    tables = {name: [row for row in found if row.table == name] for name in (STRENGTHS, RATIOS, MAGNITUDES)}
    return "\n".join(
        (
            "## Scaling",
            "",
            "Work in memory unless said otherwise, imports and data not counted; the median of several processes, each",
            "of which takes the shortest of a few runs.",
            "",
            f"Bradley-Terry. opt_pairwise and mm_pairwise run once and are stopped after {SLOW_LIMIT:.0f} s. One-step",
            "estimators are approximations: `gives` says how far from the maximum they end in a log strength. Ratios",
            "are to the fastest maximum-likelihood estimator of choix that takes the same: a list of pairs, or counts.",
            "",
            *strength_lines(tables[STRENGTHS]),
            "",
            "Ratios by logarithmic least squares, conjugate gradients to a relative residual of 1e-10. Ids are told",
            "apart and cells put together by sorting, which is n log n; all else is linear. With more documents each",
            "access misses the processor's caches more often: the rows with 10,000 documents show the rest.",
            "",
            *growth_lines(tables[RATIOS]),
            "",
            "Magnitudes from a file, geometric averaging and the median of each document; the share is that of reading",
            "alone:",
            "",
            *magnitude_lines(tables[MAGNITUDES]),
            "",
        )
    )


def strength_lines(found: Sequence[Row]) -> Iterator[str]:
    yield "| case | tool | gives | median s | fastest s | ratio |"
    yield "|---|---|---|---:|---:|---:|"
    peers: dict[str, float] = {}
    for row in found:
        if row.tool in (*PEERS, *SLOW) and not row.failure:
            peers[LIKE[row.tool]] = min(row.median, peers.get(LIKE[row.tool], float("inf")))
    for row in found:
        rough = row.tool in ROUGH
        gives = f"approximation, {row.failure}" if rough else "maximum likelihood"
        like = peers.get(LIKE.get(row.tool, ""), 0.0)
        ratio = f"{row.median / like:.3f}" if like and not row.failure else ""
        told = f"{row.median:.3f}" if rough or not row.failure else row.failure
        yield f"| {row.case} | {row.tool} | {gives} | {told} | {row.fastest:.3f} | {ratio} |"


def growth_lines(found: Sequence[Row]) -> Iterator[str]:
    yield "| case | tool | median s | fastest s | peak MB |"
    yield "|---|---|---:|---:|---:|"
    for row in found:
        told = row.failure or f"{row.median:.2f}"
        yield f"| {row.case} | {row.tool} | {told} | {row.fastest:.2f} | {row.megabytes:.0f} |"


def magnitude_lines(found: Sequence[Row]) -> Iterator[str]:
    yield "| case | tool | median s | fastest s | share of reading | peak MB |"
    yield "|---|---|---:|---:|---:|---:|"
    reading = {row.case: row.median for row in found if row.tool == "reading alone"}
    for row in found:
        share = f"{reading[row.case] / row.median:.0%}" if row.median and row.case in reading else ""
        told = row.failure or f"{row.median:.2f}"
        yield f"| {row.case} | {row.tool} | {told} | {row.fastest:.2f} | {share} | {row.megabytes:.0f} |"


def main() -> None:
    """One measurement, printed as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, kind in (("table", str), ("tool", str), ("size", int), ("count", int)):
        parser.add_argument(name, type=kind)
    given = parser.parse_args()
    work = {STRENGTHS: strengths, RATIOS: ratios, MAGNITUDES: magnitudes}[given.table]
    seconds, failure = work(given.tool, given.size, given.count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / 1e6
    print(json.dumps({"seconds": seconds, "megabytes": peak, "failure": failure}))


if __name__ == "__main__":
    main()
