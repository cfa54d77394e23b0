"""A small collection written for judgewell, to try everything on without asking anybody for data.

Eight topics, about forty short documents each at known grades (0 N, 1 M, 2 R, 3 H), rankings of the whole collection
by real rankers of very different quality, and quizzes with known answers. Every document is judged for the topic it
was written for and for no other: what a system finds among another topic's documents is unjudged; its gain is not 0.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from judgewell.formats.gains import read_gains
from judgewell.formats.runs import open_runs
from judgewell.tables import RUNS, check


def folder() -> Path:
    """Where the files are, for a study file that names them: topics.jsonl, documents.jsonl, levels.qrels, quiz.jsonl
    and runs/*.run.gz."""
    return Path(__file__).parent


def topics() -> pl.DataFrame:
    """topic, title, description, narrative, and the comprehension question: question, answers, right (from 1)."""
    return pl.read_ndjson(folder() / "topics.jsonl")


def documents() -> pl.DataFrame:
    """doc, the topic it was written for, title, text."""
    return pl.read_ndjson(folder() / "documents.jsonl")


def levels() -> pl.DataFrame:
    """The known grades as gains: 0 not relevant, 1 marginally relevant, 2 relevant, 3 highly relevant."""
    return read_gains(folder() / "levels.qrels")


def runs() -> pl.DataFrame:
    """The rankings, a hundred documents at most for each system and topic; scripts/sample_runs.py makes them."""
    opened = open_runs([str(path) for path in sorted((folder() / "runs").glob("*.run.gz"))])
    parts = [run.frame(ranks=False).with_columns(system=pl.lit(run.system)) for run in opened]
    return check(pl.concat(parts).select(RUNS.names), RUNS)


def quiz() -> pl.DataFrame:
    """Pairs of short texts with a clear answer, in sets of twelve: set, topic (null: fits any), left, right, better."""
    schema = {name: pl.String() for name in ("set", "topic", "left", "right", "better")}
    return pl.read_ndjson(folder() / "quiz.jsonl", schema=schema)
