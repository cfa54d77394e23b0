"""Scores as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgewell.evaluation.measures import Measure, residual_of
from judgewell.terminal import number, text_table


def means_text(summary: pl.DataFrame, measures: Sequence[Measure], level: float) -> str:
    """One line per system, best first by the first measure: mean [interval] of each measure, with residual and the
    share of judged documents beside it."""
    first = summary.filter(pl.col("measure") == str(measures[0])).sort("mean", "system", descending=[True, False])
    cells = {(row["system"], row["measure"]): row for row in summary.iter_rows(named=True)}
    rest = [name for name in summary["measure"].unique(maintain_order=True) if name.startswith("Judged")]
    asked = {str(measure) for measure in measures}
    judged = [name for name in rest if name not in asked]
    header, rows = ["system"], [[system] for system in first["system"]]
    for measure in measures:
        header.append(str(measure))
        header.append(f"{100 * level:g} %")
        residual = residual_of(measure)
        if residual:
            header.append(str(residual))
        for line in rows:
            found = cells[line[0], str(measure)]
            line.append(number(found["mean"]))
            line.append("—" if found["low"] is None else f"[{number(found['low'])}, {number(found['high'])}]")
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


def topics_text(scores: pl.DataFrame) -> str:
    """Every topic of every system, a column for each measure."""
    wide = scores.pivot("measure", index=["system", "topic"], values="value")
    rows = [[system, topic, *map(number, values)] for system, topic, *values in wide.iter_rows()]
    return text_table(wide.columns, rows, left=2)
