"""Real data as tables."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_judgments, read_pairs

Labels = dict[str, pl.DataFrame]


@pytest.fixture(scope="session")
def trec8(data: Path) -> tuple[pl.DataFrame, Labels]:
    """trec8-s100 as judgments and its two sets of labels."""
    judgments = _quietly(read_judgments, data / "trec8-s100" / "judgments.csv.gz")
    return judgments.drop("trec", "sormunen"), {name: _labels(judgments, name) for name in ("trec", "sormunen")}


@pytest.fixture(scope="session")
def nyt(data: Path) -> tuple[pl.DataFrame, Labels]:
    """nyt-crowd's judgments, each interface a scale of its own, and the NIST labels."""
    judgments = _quietly(read_judgments, data / "nyt-crowd" / "judgments.csv.gz")
    return judgments.with_columns(unit="pilot", scale="pilot"), {"nist": _labels(judgments, "label")}


@pytest.fixture(scope="session")
def music(data: Path) -> pl.DataFrame:
    """music-preferences as pairs; the five empty answers stay empty."""
    return _quietly(read_pairs, data / "music-preferences" / "judgments.csv")


def _labels(judgments: pl.DataFrame, name: str) -> pl.DataFrame:
    labels = judgments.unique(["topic", "doc"], maintain_order=True)
    return labels.select("topic", "doc", gain=pl.col(name).cast(pl.Float64)).drop_nulls()


def _quietly(read, path: Path) -> pl.DataFrame:  # type: ignore[no-untyped-def]
    """The file without what its reader has to say, which is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        return read(path)
