"""Scores as text for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgewell.evaluation.evaluate import SystemScores
from judgewell.evaluation.measures import Measure, residual_of
from judgewell.terminal import number, text_table


def means_text(summary: Sequence[Mapping[str, Any]], measures: Sequence[Measure], level: float) -> str:
    """One line per system, best first by the first measure: mean [interval] of each measure, with residual and the
    share of judged documents beside it."""
    best = sorted((row for row in summary if row["measure"] == str(measures[0])), key=_best_first)
    cells = {(row["system"], row["measure"]): row for row in summary}
    rest = [name for name in dict.fromkeys(row["measure"] for row in summary) if name.startswith("Judged")]
    asked = {str(measure) for measure in measures}
    judged = [name for name in rest if name not in asked]
    header, rows = ["system"], [[row["system"]] for row in best]
    for measure in measures:
        header.append(str(measure))
        header.append(f"{100 * level:g} %")
        residual = residual_of(measure)
        residual = residual if any(name == str(residual) for _, name in cells) else None
        if residual:
            header.append(str(residual))
        for line in rows:
            cell = cells[line[0], str(measure)]
            line.append(number(cell["mean"]))
            line.append("—" if cell["low"] is None else f"[{number(cell['low'])}, {number(cell['high'])}]")
            if residual:
                line.append(f"+{number(cells[line[0], str(residual)]['mean'])}")
    for name in [*judged, "topics"]:
        header.append(name)
        for line in rows:
            line.append(
                str(cells[line[0], str(measures[0])]["topics"])
                if name == "topics"
                else f"{100 * cells[line[0], name]['mean']:.1f} %"
            )
    return text_table(header, rows)


def _best_first(row: Mapping[str, Any]) -> tuple[float, str]:
    return -row["mean"] if row["mean"] == row["mean"] else math.inf, row["system"]


def topics_text(results: Sequence[SystemScores], topics: Sequence[str], measures: Sequence[Measure]) -> str:
    """Every topic of every system, a column for each measure."""
    rows = [
        [result.system, topic, *map(number, values)]
        for result in results
        for topic, values in zip(topics, result.values[:, : len(measures)].tolist(), strict=True)
        if not all(map(math.isnan, values))
    ]
    return text_table(["system", "topic", *map(str, measures)], rows, left=2)
