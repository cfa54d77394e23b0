"""`scale`, the one call: what the command does, from Python."""

from __future__ import annotations

import inspect
from pathlib import Path

import polars as pl
import pytest

from judgewell.commands.scale import scale as command
from judgewell.errors import InputError
from judgewell.scaling.grades import Mean
from judgewell.scaling.scale import scale

ROWS = [("1", doc, f"w{who}", float((who * 7 + at * 11) % 4)) for at, doc in enumerate("abcd") for who in range(6)]
GRADES = pl.DataFrame(ROWS, schema=["topic", "doc", "assessor", "value"], orient="row")


def test_names_and_defaults_are_the_commands() -> None:
    own = inspect.signature(scale).parameters
    theirs = {option.name: option.default for option in command.params if option.name not in ("judgments", "method")}
    printing = {"output", "draws_to", "strict", "list", "cluster", "processes"}
    assert set(theirs) - printing == set(own) - {"judgments", "method", "options", "executor"}
    for name in ("interval", "level", "draws", "seed", "intent"):
        assert own[name].default == theirs[name]


def test_a_file_and_a_frame_give_the_same(tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    GRADES.rename({"value": "score"}).write_csv(file)
    by_file = scale(str(file), method="mean", kind="ordinal:0..3", columns="value=score", profile="exp2")
    by_frame = scale(GRADES, method="mean", kind="ordinal:0..3", profile="exp2")
    assert by_file.equals(by_frame)
    assert by_frame.columns == ["topic", "doc", "gain", "low", "high", "judgments"]
    assert by_frame["gain"].to_list() == Mean(profile="exp2")(GRADES)["gain"].to_list()


def test_the_seed_reaches_a_method_that_draws() -> None:
    magnitudes = GRADES.with_columns(pl.col("value") + 1, unit=pl.col("assessor"), kind=pl.lit("ratio"))
    drawn = [scale(magnitudes, method="sampled", interval="none", seed=seed)["gain"].to_list() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_options_go_with_a_name_and_not_with_a_method() -> None:
    with pytest.raises(InputError, match=r"mean has its options already"):
        scale(GRADES, method=Mean(), profile="exp2")
    with pytest.raises(InputError, match=r"mean has no option 'prior'"):
        scale(GRADES, method="mean", prior=1)


def test_intervals_can_be_left_out_or_resampled() -> None:
    ordinal = GRADES.with_columns(kind=pl.lit("ordinal:0..3"))
    assert scale(ordinal, method="mean", interval="none")["low"].null_count() == 4
    resampled = scale(ordinal, method="mean", interval="bootstrap", draws=50)
    assert resampled["low"].null_count() == 0
    with pytest.raises(InputError, match=r"majority has no formula"):
        scale(ordinal, method="majority", interval="formula")
