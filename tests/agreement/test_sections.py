"""Sections run what the data allow, say what they left out, and finish on real studies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study

from judgewell.agreement.sections import SECTIONS, Evidence, Need, Section, run_section, run_sections
from judgewell.errors import DataError, JudgewellWarning


def test_with_nothing_everything_is_left_out_with_words() -> None:
    outcomes = list(run_sections(Evidence()))
    assert [outcome.name for outcome in outcomes] == [section.name for section in SECTIONS]
    assert all(not outcome.tables for outcome in outcomes)
    assert all(outcome.left_out["all"].startswith("needs ") for outcome in outcomes)
    by_name = {outcome.name: outcome.left_out["all"] for outcome in outcomes}
    assert by_name["levels"] == "needs judgments or gains and labels to compare with"


def test_made_study_runs_through_every_section_for_judgments() -> None:
    judgments, levels = made_study(0, units=60)
    evidence = Evidence(judgments=judgments, labels={"truth": levels}, replicates=50)
    outcomes = {outcome.name: outcome for outcome in run_sections(evidence)}
    assert set(outcomes["levels"].tables) == set(SECTIONS[1].steps)
    assert outcomes["levels"].tables["order_agreement"]["labels"].unique().to_list() == ["truth"]
    assert "no gains are given" in outcomes["levels"].notes[0]
    assert outcomes["reliability"].tables["alpha"]["metric"].to_list() == ["nominal", "ordinal", "interval", "ratio"]
    assert "different values" in outcomes["reliability"].left_out["fleiss_kappa"]
    assert outcomes["assessors"].left_out["assessor_tau_mean"] == "needs the table assessor_tau, which was left out"
    assert "all" in outcomes["transitivity"].left_out
    names = [name for outcome in outcomes.values() for name in outcome.tables]
    assert len(names) == len(set(names))  # each table can be a file of its own
    for outcome in outcomes.values():
        for name, table in outcome.tables.items():
            assert table.height or name == "repeated_judgments"
            numbers = table.select(pl.col(pl.Float64))
            assert not any(numbers[column].is_nan().any() for column in numbers.columns)


def test_gains_given_are_used() -> None:
    judgments, levels = made_study(0, units=60)
    gains = levels.with_columns(pl.col("gain") * 2)
    outcome = run_section(SECTIONS[1], Evidence(judgments=judgments, gains=gains, labels={"truth": levels}))
    assert outcome.tables["order_agreement"]["half"].drop_nulls().unique().to_list() == [1.0]
    assert not [note for note in outcome.notes if "no gains" in note]
    assert outcome.left_out == {"failure_judgments": "no document sits in another level's territory"}


def test_a_table_that_fails_does_not_take_the_others_with_it() -> None:
    def refuse(_: Evidence, __: Any) -> pl.DataFrame:
        raise DataError("too little")

    def give(_: Evidence, __: Any) -> pl.DataFrame:
        warnings.warn("assumed", JudgewellWarning, stacklevel=1)
        return pl.DataFrame({"x": [1]})

    section = Section("s", "about", (Need("nothing", lambda e: True),), {"a": refuse, "b": give})
    outcome = run_section(section, Evidence())
    assert outcome.left_out == {"a": "too little"}
    assert list(outcome.tables) == ["b"]
    assert outcome.notes == ("assumed",)


def test_likes_with_scores() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (str(topic), f"w{worker}", str(unit), question, bool(rng.random() < 0.5))
        for topic in range(4)
        for worker in range(15)
        for unit in range(int(rng.integers(1, 4)))
        for question in ("Q1", "Q2")
    ]
    likes = pl.DataFrame(rows, schema=["topic", "assessor", "unit", "question", "liked"], orient="row")
    scores = pl.DataFrame(
        {"system": ["s"] * 4, "topic": [str(t) for t in range(4)], "measure": ["AP"] * 4, "value": [0.1, 0.4, 0.2, 0.3]}
    )
    outcomes = {o.name: o for o in run_sections(Evidence(likes=likes, scores=scores))}
    assert outcomes["difficulty"].tables["topic_difficulty"]["topic"].to_list() == ["0", "2", "3", "1"]
    assert outcomes["likes"].left_out == {}
    assert outcomes["likes"].tables["question_choice"]["term"].to_list() == ["intercept", "groups", "difficulty"]
    alone = {o.name: o for o in run_sections(Evidence(likes=likes.drop("unit")))}
    assert "needs the unit" in alone["likes"].left_out["question_choice"]


@pytest.mark.long
@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = trec8
    outcomes = {o.name: o for o in run_sections(Evidence(judgments=judgments, labels=labels, replicates=200))}
    assert outcomes["levels"].tables["failures"].height == 100
    assert outcomes["levels"].tables["failure_judgments"]["comment"].null_count() == 0
    assert "3 times of 0 seconds or below are left out" in outcomes["time"].notes
    assert "some values are 0: ratios are taken after adding 1 to all values" in outcomes["scale"].notes
    done = {"label sets", "levels", "judgments against levels", "reliability", "known documents", "scale", "order"}
    assert all(outcomes[name].tables for name in done | {"time", "workers", "stability", "assessors"})


@pytest.mark.realdata
def test_nyt(nyt: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = nyt
    evidence = Evidence(judgments=judgments, labels=labels, replicates=100)
    outcomes = {o.name: o for o in run_sections(evidence)}
    assert outcomes["reliability"].tables["fleiss_kappa"]["kappa"][0] > 0
    assert {"assessor_tau", "cohen_kappa_mean", "weighted_kappa_mean"} <= set(outcomes["assessors"].tables)
    assert outcomes["scale"].tables["scale_descriptives"].height == 4
    assert outcomes["scale"].tables["compare_scales"].height > 0
    assert "positions in the unit" in outcomes["order"].left_out["all"]


@pytest.mark.realdata
def test_music(music: pl.DataFrame) -> None:
    outcomes = {o.name: o for o in run_sections(Evidence(pairs=music))}
    assert outcomes["transitivity"].tables["transitivity_overall"]["consistency"][0] > 0.5
    assert outcomes["time"].tables["time_distribution"]["count"][0] == music.height
    assert outcomes["workers"].tables["workers_per_document"].height > 0
    assert outcomes["stability"].left_out["document_stability"] == "needs judgments, which are not given"
    assert outcomes["repeated labels"].left_out["all"] == "needs pairs with relevant or not"
