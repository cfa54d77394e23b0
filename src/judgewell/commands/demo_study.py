"""The demo's two studies of the sample collection, as folders that `judgewell check` and `serve` take too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from judgewell import sample

# A tenth of the time that people take for the first document of a unit, a sixth of that for the last: careful people
# are hardly ever so fast, those who do not read nearly always.
LEAST_SECONDS = 8

_HEAD = """[study]
name = "{name}"
title = "How useful are these texts?"
consent = "A demonstration with synthetic assessors; nothing leaves this computer."
seed = {seed}

[topics]
file = "topics.jsonl"

[documents]
file = "documents.jsonl"

[pool]
file = "pool.csv"

[grades]
file = "levels.qrels"

[known]
high = [3]
low = [0]
"""

_MAGNITUDE = """
[scale]
kind = "magnitude"

[units]
documents = 8
redundancy = {redundancy}

[checks]
comment = 3
least_seconds = {least}

[checks.practice]

[work]
most_units = 18
"""

_PAIRS = """
[groups]
documents = 8
partners = 3
partitions = {partitions}
assessors = {assessors}

[work]
most_units = 18
units_per_topic = 3

[checks.quiz]
"""


def write_magnitude_study(folder: Path, seed: int, redundancy: int) -> Path:
    """Magnitudes of every graded document, with practice, a question about the topic, comments and a least time."""
    return _write(
        folder,
        _HEAD.format(name="magnitude", seed=seed) + _MAGNITUDE.format(redundancy=redundancy, least=LEAST_SECONDS),
    )


def write_pairs_study(folder: Path, seed: int, partitions: int, assessors: int) -> Path:
    """Pairs of the same documents with three questions about each, after a quiz."""
    text = _HEAD.format(name="pairs", seed=seed) + _PAIRS.format(partitions=partitions, assessors=assessors)
    return _write(folder, text + _quiz())


def _write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("topics.jsonl", "documents.jsonl", "levels.qrels"):
        shutil.copyfile(sample.folder() / name, folder / name)
    sample.levels().select("topic", "doc").write_csv(folder / "pool.csv")
    path = folder / "study.toml"
    path.write_text(text + _questions(), "utf-8")
    return path


def _questions() -> str:
    asked = sample.topics().select("topic", "question", "answers", "right").iter_rows(named=True)
    return "".join(_table("checks.question", row) for row in asked)


def _quiz() -> str:
    """The set of pairs that fits any topic."""
    pairs = sample.quiz()
    anywhere = pairs.filter(pairs["topic"].is_null()).select("left", "right", "better")
    return "".join(_table("checks.quiz.pair", row) for row in anywhere.iter_rows(named=True))


def _table(name: str, row: dict[str, object]) -> str:
    """A table of TOML; its strings are written as JSON's, which TOML reads alike."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in row.items()]
    return f"\n[[{name}]]\n" + "\n".join(lines) + "\n"
