"""Studies that synthetic people fill, for the tests and pictures of the owner's pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HEAD = """[study]
name = "{name}"
title = "{title}"
consent = "Nothing leaves this computer."
seed = 5
[topics]
file = "topics.csv"
[documents]
file = "docs.csv"
[pool]
file = "pool.csv"
[grades]
file = "levels.qrels"
[known]
high = [3]
low = [0]
[pay]
amount = 1.2
currency = "EUR"
fee = 0.25
seconds = 60
[work]
most_units = {most}
"""
UNITS = """[scale]
kind = "{kind}"
[units]
documents = {size}
redundancy = {redundancy}
[checks]
least_seconds = 5
"""
GROUPS = """[groups]
documents = 6
partners = 3
partitions = 1
assessors = {redundancy}
"""


def write_graded_study(
    folder: Path,
    *,
    kind: str = "s100",
    topics: int = 12,
    docs: int = 16,
    size: int = 8,
    redundancy: int = 6,
    most: int = 6,
    title: str = "How useful are these texts?",
    topic: str = "t{0:03d}",
    name: str = "graded",
) -> Path:
    """A study whose documents have levels from 0 to 3."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(4)
    names = [topic.format(number) for number in range(topics)]
    cells = [(place, name, doc) for place, name in enumerate(names) for doc in range(docs)]
    (folder / "topics.csv").write_text(
        "topic,title,description\n"
        + "".join(f'{n},Title of number {i},"Says what is sought"\n' for i, n in enumerate(names))
    )
    (folder / "docs.csv").write_text(
        "doc,text\n" + "".join(f"n{p}d{d},A text about {d} for {p}\n" for p, _, d in cells)
    )
    (folder / "pool.csv").write_text("topic,doc\n" + "".join(f"{n},n{p}d{d}\n" for p, n, d in cells))
    levels = [0, 3, *rng.integers(0, 4, docs).tolist()]
    (folder / "levels.qrels").write_text("".join(f"{n} 0 n{p}d{d} {levels[d]}\n" for p, n, d in cells))
    design = GROUPS if kind == "pairs" else UNITS
    path = folder / "study.toml"
    path.write_text(
        HEAD.format(name=name, title=title, most=most) + design.format(kind=kind, size=size, redundancy=redundancy)
    )
    return path
