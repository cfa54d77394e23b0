"""Many gain tables beside a loop over pytrec_eval, worlds whose memory does not grow, and tests of all pairs.

Each measurement is made in a process of its own that makes the data, does the work and prints its seconds. A loop that
would take minutes is timed on its first tables and scaled up, and its row says so.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from measure import LIMIT, PEAK_UNIT, Outcome, Row

TABLES, WORLDS, TESTS = "tables", "worlds", "tests"
SYSTEMS, TOPICS, JUDGED, DEPTH, CUT = 129, 18, 237, 1000, 10
OURS = {"judgewell, nDCG@10": ("nDCG@10",), "judgewell, nDCG@10 and ERR@10": ("nDCG@10", "ERR@10")}
LOOKUP = "judgewell, looking the documents up once"
LOOPS = {"pytrec_eval loop, nDCG@10": DEPTH, "pytrec_eval loop, nDCG@10, runs cut to 10": CUT}
PAIRED = ("wilcoxon", "t", "randomisation", "bootstrap")


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    tables, repeats = (100, 1) if quick else (1000, 3)
    case = f"{tables:,} tables × {SYSTEMS} × {TOPICS}"
    outcomes: dict[str, list[Outcome]] = {tool: [] for tool in (*OURS, LOOKUP, *LOOPS)}
    for _ in range(repeats):
        for tool, found in outcomes.items():
            found.append(measured(TABLES, tool, tables))
    for tool, found in outcomes.items():
        yield Row(TABLES, case, tool, tuple(found))
    for count in (100, 1000) if quick else (1000, 10_000, 100_000):
        yield Row(WORLDS, f"{count:,} worlds", "judgewell", (measured(WORLDS, "judgewell", count),))
    for test in PAIRED:
        found = [measured(TESTS, f"judgewell, {test}", 0) for _ in range(repeats)]
        yield Row(TESTS, "7,503 pairs × 50 topics", f"judgewell, {test}", tuple(found))
    yield Row(TESTS, "7,503 pairs × 50 topics", "scipy loop, wilcoxon", (measured(TESTS, "scipy", 0),))


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    ours = next((row for row in found if row.tool == "judgewell, nDCG@10" and not row.failure), None)
    wilcoxon = next((row for row in found if row.tool == "judgewell, wilcoxon" and not row.failure), None)
    return "\n".join(
        (
            "## Comparison",
            "",
            f"Alternative gain tables for {SYSTEMS} systems on {TOPICS} topics with {JUDGED} judged documents each,",
            "everything in memory before the clock starts; seconds of the processor, all cores added up. pytrec_eval",
            "takes whole numbers, so its gains are rounded; it has no ERR, so its loop does less. Its first tables are",
            "timed and scaled up to all. Our nDCG of the rounded gains equals its values within 1e-6, or the row says",
            "otherwise.",
            "",
            "| tables × systems × topics | tool | median s | times our nDCG | peak MB |",
            "|---|---|---:|---:|---:|",
            *[_line(row, ours) for row in found if row.table == TABLES],
            "",
            "Worlds over judgments, topics and both from draws made as they are needed: memory does not grow.",
            "",
            "| | tool | seconds | peak MB |",
            "|---|---|---:|---:|",
            *[_line(row) for row in found if row.table == WORLDS],
            "",
            "All pairs of 123 systems (10,000 replicates where there are any); scipy timed on 200 pairs, one by one.",
            "",
            "| | tool | median s | times our Wilcoxon | peak MB |",
            "|---|---|---:|---:|---:|",
            *[_line(row, wilcoxon) for row in found if row.table == TESTS],
            "",
        )
    )


def _line(row: Row, yardstick: Row | None = None) -> str:
    if row.failure:
        return f"| {row.case} | {row.tool} | {row.failure} | | |"
    if row.table == WORLDS:
        return f"| {row.case} | {row.tool} | {row.median:.2f} | {row.megabytes:.0f} |"
    ratio = f"{row.median / yardstick.median:,.1f}" if yardstick and row is not yardstick else ""
    return f"| {row.case} | {row.tool} | {row.median:.3f} | {ratio} | {row.megabytes:.0f} |"


def measured(table: str, tool: str, size: int) -> Outcome:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, table, tool, str(size)]
    try:
        child = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Outcome(LIMIT, 0.0, f"stopped after {LIMIT:.0f} s")
    if child.returncode != 0:
        return Outcome(0.0, 0.0, (child.stderr.strip().splitlines() or [f"exit {child.returncode}"])[-1])
    told = json.loads(child.stdout.splitlines()[-1])
    return Outcome(told["seconds"], told["megabytes"], told["failure"])


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The least processor time of some runs and what the last one gave; a busy machine does not change it much."""
    best, result = float("inf"), None
    for _ in range(repeats):
        begun = time.process_time()
        result = work()
        best = min(best, time.process_time() - begun)
    return best, result


def collection() -> tuple[Any, Any]:
    """Gains and runs of realistic shape: each system ranks a thousand documents, judged ones mostly near the top."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    topics = pl.Series([f"{401 + topic}" for topic in range(TOPICS)])
    docs = pl.Series([f"FT{number:07d}" for number in range(5000)])
    gains = pl.DataFrame(
        {
            "topic": topics.gather(np.repeat(np.arange(TOPICS), JUDGED)),
            "doc": docs.gather(np.tile(np.arange(JUDGED), TOPICS)),
            "gain": rng.lognormal(0.5, 1, TOPICS * JUDGED).clip(0, 20),
        }
    )
    likely = np.concatenate([np.full(JUDGED, 4.0), np.zeros(5000 - JUDGED)])
    runs = []
    for system in range(SYSTEMS):
        ranked = np.argsort(-(likely + rng.gumbel(size=(TOPICS, 5000))), axis=1)[:, :DEPTH]
        runs.append(
            pl.DataFrame(
                {
                    "system": pl.Series([f"s{system:03}"]).gather(np.zeros(TOPICS * DEPTH, dtype=np.int64)),
                    "topic": topics.gather(np.repeat(np.arange(TOPICS), DEPTH)),
                    "doc": docs.gather(ranked.ravel()),
                    "score": np.tile(np.arange(DEPTH, 0, -1.0), TOPICS),
                }
            )
        )
    return gains, pl.concat(runs)


def alternatives(gains: Any, count: int) -> Any:
    """Gain tables that the judgments might have given: draws × rows."""
    import numpy as np

    noise = np.random.default_rng(1).lognormal(0, 0.4, (count, len(gains)))
    return (gains["gain"].to_numpy() * noise).clip(0, 20)


def tables(tool: str, count: int) -> tuple[float, str]:
    """All tables by array work, or a few by the loop, scaled up."""
    from judgewell.evaluation.measures import parse
    from judgewell.evaluation.resampled import ranked_items
    from judgewell.formats.runs import open_runs

    gains, runs = collection()
    opened = open_runs(runs)
    if tool == LOOKUP:
        return timed(lambda: ranked_items(opened, gains, CUT))[0], ""
    rankings = ranked_items(opened, gains, CUT)
    if tool in OURS:
        drawn = alternatives(gains, count)
        measures = [parse(name) for name in OURS[tool]]
        rankings.scores(measures[0], drawn[:2])  # what is imported on first use is not the work
        return timed(lambda: [rankings.scores(measure, drawn) for measure in measures], 3)[0], ""
    some = alternatives(gains, 3 if LOOPS[tool] == DEPTH else 20).round()
    seconds, theirs = timed(lambda: loop(gains, runs, some, LOOPS[tool]))
    ours = rankings.scores(parse("nDCG@10"), some[-1:])[0]
    away = max(
        abs(ours[system, rankings.topics.index(topic)] - values["ndcg_cut_10"])
        for system, result in enumerate(theirs[1])
        for topic, values in result.items()
    )
    return (seconds - theirs[0]) * count / len(some), "" if away < 1e-6 else f"{away:.1e} away from judgewell"


def loop(gains: Any, runs: Any, drawn: Any, depth: int) -> tuple[float, list[dict[str, dict[str, float]]]]:
    """pytrec_eval over the tables; the seconds its runs took to make are told, to be taken off."""
    import pytrec_eval

    begun = time.process_time()
    dicts = []
    for _, run in runs.group_by("system", maintain_order=True):
        made: dict[str, dict[str, float]] = {}
        cut = run.filter(run["score"] > DEPTH - depth)
        for topic, doc, score in cut.select("topic", "doc", "score").iter_rows():
            made.setdefault(topic, {})[doc] = score
        dicts.append(made)
    topics, docs = gains["topic"].to_list(), gains["doc"].to_list()
    made_in = time.process_time() - begun
    found: list[dict[str, dict[str, float]]] = []
    for table in drawn:
        judged: dict[str, dict[str, int]] = {}
        for topic, doc, gain in zip(topics, docs, table.astype(int).tolist(), strict=True):
            judged.setdefault(topic, {})[doc] = gain
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"})
        found = [evaluator.evaluate(run) for run in dicts]
    return made_in, found


def worlds(tool: str, count: int) -> tuple[float, str]:
    """Draw, score and count that many worlds, a block at a time."""
    import numpy as np

    from judgewell.comparison.worlds import all_worlds
    from judgewell.evaluation.measures import parse
    from judgewell.evaluation.resampled import ranked_items
    from judgewell.formats.runs import open_runs

    gains, runs = collection()
    rankings = ranked_items(open_runs(runs), gains, CUT)
    del runs
    point, measure = gains["gain"].to_numpy(), parse("nDCG@10")

    def draws() -> Iterator[Any]:
        for start in range(0, count, 100):
            rng = np.random.default_rng([1, start])
            yield (point * rng.lognormal(0, 0.4, (min(100, count - start), len(point)))).clip(0, 20)

    values = rankings.scores(measure, point[None])[0]
    seconds, found = timed(
        lambda: all_worlds(tuple(rankings.systems), values, lambda g: rankings.scores(measure, g), draws(), count)
    )
    return seconds, "" if found["both"].count == count else "worlds are missing"


def tests(tool: str, _: int) -> tuple[float, str]:
    """All pairs at once, or scipy on some, scaled up; the p-values are compared."""
    import numpy as np
    from scipy import stats

    from judgewell.comparison.significance import paired_tests, pairs_of

    values = np.random.default_rng(0).beta(2, 3, (123, 50))
    first, second = pairs_of(123)
    differences = values[first] - values[second]
    if tool == "scipy":
        some = differences[::37][:200]
        seconds, p = timed(lambda: [stats.wilcoxon(row).pvalue for row in some])
        away = float(np.abs(paired_tests(some, "wilcoxon").p - p).max())
        return seconds * len(differences) / len(some), "" if away < 1e-9 else f"{away:.1e} away from judgewell"
    name: Any = tool.removeprefix("judgewell, ")
    paired_tests(differences[:2], name, replicates=10)
    return timed(lambda: paired_tests(differences, name), 3)[0], ""


def main() -> None:
    table, tool, size = sys.argv[1:]
    seconds, failure = {TABLES: tables, WORLDS: worlds, TESTS: tests}[table](tool, int(size))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT / 1e6
    print(json.dumps({"seconds": seconds, "megabytes": peak, "failure": failure}))


if __name__ == "__main__":
    main()
