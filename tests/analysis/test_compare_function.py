"""`judgewell.compare` as a notebook calls it."""

from __future__ import annotations

import doctest
import inspect
import warnings

import numpy as np
import polars as pl
import pytest

import judgewell
from judgewell import sample
from judgewell.analysis import compare as module
from judgewell.analysis.draws import comparable_judgments
from judgewell.commands.compare import compare as command
from judgewell.errors import InputError, JudgewellWarning


@pytest.fixture(scope="module")
def runs() -> pl.DataFrame:
    return sample.runs().filter(pl.col("system").is_in(["latent", "fusion", "bm25", "random"]))


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
def test_its_example_holds() -> None:
    assert doctest.testmod(module).failed == 0


def test_it_takes_the_options_of_the_command_with_their_defaults() -> None:
    ours = inspect.signature(judgewell.compare).parameters
    printing = {"pairs", "output", "chart", "strict", "separator", "no_header", "cluster", "processes"}
    printing |= {"resamples", "tell_apart"}  # the former names of replicates and separate
    for name, default in command.make_context("compare", []).params.items():
        if name not in printing:
            assert (ours[name].default or None) == (default or None), name


def test_frames_names_and_files_give_the_same(runs: pl.DataFrame, tmp_path) -> None:  # type: ignore[no-untyped-def]
    levels = sample.levels()
    levels.write_csv(tmp_path / "levels.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        named = judgewell.compare(runs=runs, gains={"levels": levels})
        file = judgewell.compare(runs=runs, gains=str(tmp_path / "levels.csv"))
        alone = judgewell.compare(runs=runs, gains=levels)
        scores = judgewell.compare(judgewell.evaluate(runs, levels, "nDCG@10"))
    assert named["systems"].equals(file["systems"])
    for other in (alone, scores):
        assert named["systems"].drop("set").equals(other["systems"].drop("set"))
    assert file.inputs == (str(tmp_path / "levels.csv"),)


def test_it_prints_draws_and_names_its_tables(runs: pl.DataFrame) -> None:
    with pytest.warns(JudgewellWarning, match="Student's t"):
        result = judgewell.compare(runs=runs, gains={"levels": sample.levels()})
    assert repr(result).startswith("nDCG@10 of 4 systems on 8 topics")
    assert result._repr_html_().startswith("<pre>nDCG@10 of 4 systems")
    assert result.chart().to_dict()["layer"]
    with pytest.raises(InputError, match="there is no table 'sistems'; the tables are systems, pairs"):
        result["sistems"]


def test_judgments_of_a_ratio_scale_are_compared_without_their_units_offset() -> None:
    rows = [
        ("t", doc, unit, modulus * gain) for unit, modulus in (("u", 1.0), ("v", 70.0)) for doc, gain in GAINS.items()
    ]
    table = pl.DataFrame(rows, schema=["topic", "doc", "unit", "value"], orient="row").with_columns(
        kind=pl.lit("ratio"), scale=pl.lit("magnitude"), assessor=pl.col("unit")
    )
    gains = pl.DataFrame([("t", *item) for item in GAINS.items()], schema=["topic", "doc", "gain"], orient="row")
    own = comparable_judgments(table, gains).join(gains, on=["topic", "doc"])
    np.testing.assert_allclose(own["value"], own["gain"])
    plain = comparable_judgments(table.with_columns(kind=pl.lit("interval")), gains)
    assert plain["value"].to_list() == table["value"].to_list()


GAINS = {"a": 1.0, "b": 2.5, "c": 8.0}
