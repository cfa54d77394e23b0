"""Sections run what the data allow, report what is missing, carry their words, and finish on real studies."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study, moduli_study

from judgewell.agreement.section import FILE, FOLDED, OPEN, PARTS
from judgewell.agreement.sections import (
    Evidence,
    Need,
    Outcome,
    Section,
    Table,
    all_sections,
    run_section,
    run_sections,
    section_named,
)
from judgewell.errors import DataError, note


def outcomes_of(evidence: Evidence) -> dict[str, Outcome]:
    return {outcome.name: outcome for outcome in run_sections(evidence)}


def run(name: str, evidence: Evidence) -> Outcome:
    section = section_named(name)
    assert section is not None
    return run_section(section, evidence)


def test_with_nothing_everything_is_left_out_with_words() -> None:
    outcomes = list(run_sections(Evidence()))
    assert [outcome.section for outcome in outcomes] == list(all_sections())
    assert all(not outcome.tables for outcome in outcomes)
    assert all(outcome.not_analysed["all"].startswith("needs ") for outcome in outcomes)
    by_name = {outcome.name: outcome.not_analysed["all"] for outcome in outcomes}
    assert by_name["grades"] == "needs judgments or gains and labels to compare with"


def test_every_table_carries_its_words_and_a_name_of_its_own() -> None:
    tables = [table for section in all_sections() for table in section.tables]
    assert len({table.name for table in tables}) == len(tables)  # each can be a file of its own
    assert len({table.title for table in tables}) == len(tables)
    assert {section.part for section in all_sections()} == set(PARTS)
    with pytest.raises(ValueError, match="no part of a report is called 'nowhere'"):
        Section("s", "about", "nowhere", 1, ())
    for table in tables:
        assert table.caption.endswith("."), table.name
        assert table.shown in (OPEN, FOLDED, FILE)
        assert not table.finding or table.shown != FILE, f"{table.name}: a sentence must be checkable in the report"


def test_made_study_runs_through_every_section_for_judgments() -> None:
    judgments, grades = made_study(0, units=60)
    outcomes = outcomes_of(Evidence(judgments=judgments, labels={"truth": grades}, replicates=50))
    named = section_named("levels")
    assert named is not None
    assert set(outcomes["grades"].tables) == {table.name for table in named.tables}
    assert outcomes["grades"].tables["order_agreement"]["labels"].unique().to_list() == ["truth"]
    assert any("no gains are given" in text for text in outcomes["grades"].notes)
    assert outcomes["reliability"].tables["alpha"]["metric"].to_list() == ["interval", "ratio"]
    assert "at most 20 values" in outcomes["reliability"].not_analysed["fleiss_kappa"]
    assert outcomes["assessors"].not_analysed["assessor_tau_mean"].startswith("needs the table assessor_tau: ")
    assert "all" in outcomes["transitivity"].not_analysed
    for outcome in outcomes.values():
        for name, table in outcome.tables.items():
            assert table.height or name == "repeated_judgments"
            numbers = table.select(pl.col(pl.Float64))
            assert not any(numbers[column].is_nan().any() for column in numbers.columns), name
        for result in outcome.results:
            shown = [name for name in result.table.columns if name not in ("template", "scale", "note")]
            assert set(shown) <= set(result.frame.columns), result.table.name


def test_gains_given_are_used() -> None:
    judgments, grades = made_study(0, units=60)
    gains = grades.with_columns(pl.col("gain") * 2)
    outcome = run("grades", Evidence(judgments=judgments, gains=gains, labels={"truth": grades}))
    assert outcome.tables["order_agreement"]["half"].drop_nulls().unique().to_list() == [1.0]
    assert not [text for text in outcome.notes if "no gains" in text]
    assert outcome.not_analysed["failure_judgments"] == "no document is scored like another grade"


def test_log_gains_keep_every_document() -> None:
    _, grades = made_study(0)
    logs = grades.with_columns(pl.col("gain") - 1.5)  # half of them below 0
    outcome = run("grades", Evidence(gains=logs, labels={"truth": grades}))
    boxes = outcome.tables["grade_distributions"]
    assert boxes["documents"].sum() == grades.height
    assert "log gains have no ratios" in outcome.not_analysed["document_ratios"]


def test_judgments_on_two_scales_are_never_mixed() -> None:
    judgments, _ = made_study(0, units=120)
    few = pl.col("value").log().round().clip(0, 3)
    both = pl.concat(
        [
            judgments.with_columns(scale=pl.lit("magnitude"), kind=pl.lit("ratio")),
            judgments.with_columns(few, scale=pl.lit("graded"), kind=pl.lit("ordinal:0..3")),
        ]
    )
    outcome = run("reliability", Evidence(judgments=both))
    table = outcome.tables["alpha"]
    assert table.select("scale", "metric").rows() == [
        ("magnitude", "interval"),
        ("magnitude", "ratio"),
        ("graded", "ordinal"),
    ]
    alone = run("reliability", Evidence(judgments=both.filter(scale="graded"))).tables["alpha"]
    assert table["alpha"][2] == alone["alpha"][0]
    assert [text.split(":")[0] for text in outcome.results[0].findings] == ["Scale magnitude", "Scale graded"]
    assert outcome.tables["fleiss_kappa"]["scale"].to_list() == ["graded"]
    assert any("not computed on the scale magnitude" in text for text in outcome.notes)
    assert run("scale", Evidence(judgments=both)).tables["compare_scales"].height == 1


def test_labels_with_many_values_are_continuous() -> None:
    judgments, grades = made_study(0, units=60)
    many = grades.with_columns(gain=pl.col("gain") + pl.int_range(pl.len()) / 100)
    evidence = Evidence(judgments=judgments, labels={"many": many, "few": grades}, replicates=50)
    outcomes = outcomes_of(evidence)
    assert outcomes["grades"].tables["order_agreement"]["labels"].unique().to_list() == ["few"]
    assert any("not compared with many: it has 60 different values" in text for text in outcomes["grades"].notes)
    row = outcomes["continuous labels"].tables["label_correlation"].row(0, named=True)
    assert row["labels"] == "many"
    assert row["tau_b"] > 0.5
    assert row["spearman"] > row["tau_b"]
    alone = outcomes_of(Evidence(judgments=judgments, labels={"many": many}))
    assert not alone["grades"].tables
    assert "all" in outcomes_of(Evidence(judgments=judgments, labels={"few": grades}))["continuous labels"].not_analysed


def test_two_grades_need_pairs_before_they_agree_least() -> None:
    _, grades = made_study(0, documents=40)
    few = pl.concat([grades, pl.DataFrame({"topic": ["t"], "doc": ["odd"], "gain": [9.0]})])
    gains = few.with_columns(gain=pl.when(pl.col("doc") == "odd").then(-1.0).otherwise("gain"))
    outcome = run("grades", Evidence(gains=gains, labels={"truth": few}))
    [text] = [one for result in outcome.results if result.table.name == "order_agreement" for one in result.findings]
    assert "and 9" not in text  # 40 pairs with the one document of grade 9, all wrong


def test_position_is_left_out_where_no_document_moved() -> None:
    judgments, _ = made_study(0, units=60)
    fixed = judgments.with_columns(position=pl.col("doc").str.slice(1).cast(pl.Int64) + 1)
    outcome = run("order", Evidence(judgments=fixed))
    assert set(outcome.not_analysed) >= {"position_effect", "position_effect_by_topic", "score_by_position"}
    assert "each of 60 stood at one" in outcome.not_analysed["position_effect"]


def test_free_moduli_without_noise_agree_perfectly() -> None:
    outcomes = outcomes_of(Evidence(judgments=moduli_study()))
    first, raw = outcomes["reliability"].tables["alpha"].iter_rows(named=True)
    assert first["alpha"] >= 0.99
    assert (raw["values"], raw["metric"]) == ("as given", "ratio")
    assert raw["alpha"] < 0.5
    assert outcomes["stability"].tables["document_stability"]["tau_median"][0] == pytest.approx(1)
    assert outcomes["assessors"].tables["against_the_rest"]["tau_b"].min() == pytest.approx(1)
    assert outcomes["assessors"].tables["against_the_rest"]["bias"].abs().max() < 1e-6  # type: ignore[operator]


def test_a_table_that_fails_does_not_take_the_others_with_it() -> None:
    def refuse(_: Evidence, __: Any) -> pl.DataFrame:
        raise DataError("too little")

    def give(_: Evidence, __: Any) -> pl.DataFrame:
        note("assumed")
        return pl.DataFrame({"x": [1]})

    needing = Table("c", "C", "c.", lambda e, get: get("a"))
    tables = [Table("a", "A", "a.", refuse), Table("b", "B", "b.", give), needing]
    section = Section("s", "about", "use", 1, (Need("nothing", lambda e: True),), tables=tables)
    outcome = run_section(section, Evidence())
    assert outcome.not_analysed == {"a": "too little", "c": "needs the table a: too little"}
    assert list(outcome.tables) == ["b"]
    assert outcome.notes == ("assumed",)


def test_tables_for_files_are_made_only_when_wanted() -> None:
    calls = []

    def count(_: Evidence, __: Any) -> pl.DataFrame:
        calls.append(1)
        return pl.DataFrame({"x": [1]})

    used, unused = Table("used", "U", "u.", count, shown=FILE), Table("unused", "V", "v.", count, shown=FILE)
    last = Table("last", "L", "l.", lambda e, get: get("used"))
    section = Section("s", "about", "use", 1, (), tables=[used, unused, last])
    assert list(run_section(section, Evidence(), files=False).tables) == ["last"]
    assert len(calls) == 1  # not the unused one
    assert list(run_section(section, Evidence()).tables) == ["used", "unused", "last"]
    assert len(calls) == 3


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
    outcomes = outcomes_of(Evidence(likes=likes, scores=scores))
    assert outcomes["difficulty"].tables["topic_difficulty"]["topic"].to_list() == ["0", "2", "3", "1"]
    assert outcomes["likes"].not_analysed == {}
    assert outcomes["likes"].tables["question_choice"]["term"].to_list() == ["intercept", "groups", "difficulty"]
    alone = outcomes_of(Evidence(likes=likes.drop("unit")))
    assert "needs the unit" in alone["likes"].not_analysed["question_choice"]


@pytest.mark.long
@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = trec8
    outcomes = outcomes_of(Evidence(judgments=judgments, labels=labels, replicates=200))
    assert outcomes["grades"].tables["failures"].height == 100
    assert outcomes["grades"].tables["failure_judgments"]["comment"].null_count() == 0
    assert "3 times of 0 seconds or below are excluded" in outcomes["time"].notes
    assert "some values are 0: ratios are taken after adding 1 to all values" in outcomes["scale"].notes
    done = {"label sets", "grades", "judgments against grades", "reliability", "known documents", "scale", "position"}
    assert all(outcomes[name].tables for name in done | {"time", "effort", "stability", "assessors"})


@pytest.mark.realdata
def test_nyt(nyt: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = nyt
    outcomes = outcomes_of(Evidence(judgments=judgments, labels=labels, replicates=100))
    assert (outcomes["reliability"].tables["fleiss_kappa"]["kappa"] > 0).all()
    assert outcomes["reliability"].tables["alpha"].height == 4  # one for each interface
    assert {"assessor_tau", "cohen_kappa_mean", "weighted_kappa_mean"} <= set(outcomes["assessors"].tables)
    assert outcomes["scale"].tables["scale_descriptives"].height == 4
    assert outcomes["scale"].tables["compare_scales"].height > 0
    assert "positions in the unit" in outcomes["position"].not_analysed["all"]


@pytest.mark.realdata
def test_music(music: pl.DataFrame) -> None:
    outcomes = outcomes_of(Evidence(pairs=music))
    assert outcomes["transitivity"].tables["transitivity_overall"]["consistency"][0] > 0.5
    row = outcomes["pairs"].tables["same_pair_agreement"].row(0, named=True)
    assert (row["pairs"], row["assessors"]) == (281, 79)
    assert row["low"] < row["alpha"] < row["high"]
    assert outcomes["time"].tables["time_distribution"]["count"][0] == music.height
    assert outcomes["effort"].tables["assessors_per_document"].height > 0
    assert outcomes["stability"].not_analysed["document_stability"] == "needs judgments, which are not given"
    assert outcomes["repeated labels"].not_analysed["all"] == "needs pairs with relevant or not"
