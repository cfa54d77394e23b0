"""A machine's labels in a report: how far to believe them, and systems with their help."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgewell import report, sample


@pytest.fixture(scope="module")
def page():
    levels = sample.levels()
    rng = np.random.default_rng(0)
    off = rng.choice([0, 1], levels.height, p=[0.6, 0.4])
    machine = levels.select("topic", "doc", gain=(pl.col("gain") + pl.Series(off)).clip(0, 3))
    drawn = levels.with_columns(inclusion=pl.lit(0.5)).filter(pl.Series(rng.random(levels.height) < 0.5))
    people = drawn.select("topic", "doc", "gain", "inclusion")
    return report(
        gains={"people": people}, machine={"llm": machine}, runs=sample.runs(), measure=["nDCG@10", "AP"], worlds=50
    )


def test_the_estimate_with_labels_comes_before_scores_of_the_sample_alone(page) -> None:
    first = page.parts[0]
    assert first.title == "Which system is best"
    assert first.findings[0].text.startswith("With ")
    assert "judged by people and the labels of llm, " in first.findings[0].text
    grids = {grid.name: grid for grid in page.grids}
    systems = grids["machine_systems_llm_nDCG_10"].frame
    assert {"mean", "low", "high", "topics_low", "topics_high", "machine", "order"} <= set(systems.columns)
    assert grids["machine_calibration_llm_nDCG_10"].frame["standard_error"].item() > 0


def test_people_and_machines_have_a_part_and_what_is_lacking_is_listed(page) -> None:
    part = next(one for one in page.each() if one.title == "People and machines")
    text = " ".join(finding.text for one in page.each() for finding in one.findings)
    assert "llm and people share" in text
    assert "llm and people order systems alike at τ-b" in text
    assert [item.name for item in part.items][:2] == ["machine_favours", "machine_agreement"]
    lacking = next(grid for grid in page.grids if grid.name == "not_analysed").frame
    reasons = dict(lacking.select("analysis", "reason").iter_rows())
    assert "looks at whole rankings" in reasons["AP with the labels of llm"]


def test_labels_of_documents_that_people_judged_all_are_not_estimated_with() -> None:
    levels = sample.levels().select("topic", "doc", "gain")
    made = report(gains={"people": levels}, machine={"llm": levels}, runs=sample.runs(), measure=["nDCG@10"], worlds=50)
    assert [grid.name for grid in made.grids if grid.name.startswith("machine_systems_")] == []
    assert made.parts[0].findings[0].text.startswith("Under people, latent has the best mean")
    (table,) = [grid.frame for grid in made.grids if grid.name == "not_analysed"]
    assert any("people judged every document that it labels" in why.lower() for why in table["reason"])
