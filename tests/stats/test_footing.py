"""Values on a common footing."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError, JudgewellWarning, collect_notes
from judgewell.scaling.methods import method_for
from judgewell.stats.footing import offset_of, on_common_footing
from judgewell.tables import JUDGMENTS, check


def units(moduli: list[float], docs: list[list[int]], kind: str = "ratio", noise: float = 0.0) -> pl.DataFrame:
    """Units of the documents named, each with its own modulus; document i has the true value 1.5^i."""
    rng = np.random.default_rng(1)
    rows = [
        {"topic": "t", "doc": f"d{doc}", "assessor": f"a{number}", "unit": f"u{number}", "kind": kind,
         "value": modulus * 1.5**doc * float(np.exp(noise * rng.standard_normal()))}
        for number, (modulus, held) in enumerate(zip(moduli, docs, strict=True))
        for doc in held
    ]  # fmt: skip
    return check(rows, JUDGMENTS)


def spread_by_document(frame: pl.DataFrame) -> float:
    spreads = frame.group_by("topic", "doc").agg(pl.col("value").max() - pl.col("value").min())
    return float(np.max(spreads["value"].to_numpy()))


def test_free_moduli_vanish_and_proportions_stay() -> None:
    frame = units([1, 30, 0.2], [[0, 1, 2], [1, 2, 3], [0, 2, 3]])
    footed = on_common_footing(frame)
    assert spread_by_document(footed) == pytest.approx(0, abs=1e-12)
    means = footed.group_by("doc").agg(pl.col("value").mean()).sort("doc")["value"].to_numpy()
    assert np.diff(means) == pytest.approx(np.log(1.5))
    assert footed["value"].mean() == pytest.approx(0, abs=1e-12)
    assert footed["kind"].unique().to_list() == ["interval"]
    assert footed.drop("value", "kind").equals(frame.drop("value", "kind"))  # the rows and their order stay


def test_a_unit_of_poor_documents_is_not_lifted() -> None:
    """Removing each unit's mean would put d0 of the poor unit beside d3 of the good one."""
    footed = on_common_footing(units([1, 1, 1], [[0, 1], [1, 2], [2, 3]]))
    means = dict(footed.group_by("doc").agg(pl.col("value").mean()).iter_rows())
    assert means["d3"] - means["d0"] == pytest.approx(3 * np.log(1.5))


def test_units_that_share_no_documents_are_noted() -> None:
    with pytest.warns(JudgewellWarning, match="in 1 topics \\(t\\) some units share no documents"):
        footed = on_common_footing(units([1, 5], [[0, 1], [2, 3]]))
    assert footed.group_by("unit").agg(pl.col("value").mean())["value"].to_list() == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("kind", ["interval", "ordinal", "nominal"])
def test_other_kinds_stay_as_they_are(kind: str) -> None:
    frame = units([1, 3], [[0, 1], [0, 1]], kind)
    assert on_common_footing(frame).equals(frame)


def test_values_without_a_logarithm_and_judgments_of_nobody_are_refused() -> None:
    frame = units([1, 3], [[0, 1], [0, 1]])
    with pytest.raises(DataError, match=r"the value 0 .* cannot lie on a ratio scale"):
        on_common_footing(frame.with_columns(value=pl.lit(0.0)))
    nobody = frame.with_columns(unit=pl.lit(None, pl.String), assessor=pl.lit(None, pl.String))
    with pytest.raises(DataError, match="4 of 4 judgments on a ratio scale name neither a unit nor an assessor"):
        on_common_footing(nobody)


def alone(assessors: int = 4, topics: int = 30, seed: int = 3) -> pl.DataFrame:
    """Magnitudes with a modulus for each assessor, every judgment alone in its unit (a topic and an assessor)."""
    rng = np.random.default_rng(seed)
    relevance = rng.normal(size=(topics, 2))
    rows = [
        {"topic": f"t{topic}", "doc": f"d{who % 2}", "assessor": f"w{who}", "unit": None, "scale": "magnitude",
         "kind": "ratio", "value": math.exp(relevance[topic, who % 2] + 2 * who)}
        for topic in range(topics) for who in range(assessors)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"unit": pl.String})


def test_judgments_alone_in_their_units_are_compared_within_assessors() -> None:
    with collect_notes() as notes:
        footed = on_common_footing(alone())
    assert any("values are compared within assessors" in text for text in notes)
    by_document = footed.group_by("topic", "doc").agg(pl.col("value").max() - pl.col("value").min())
    assert by_document["value"].max() == pytest.approx(0, abs=1e-9)  # the moduli are gone, the proportions stay
    assert footed["value"].std() > 0.5
    assert method_for(alone(), None) == "magnitude(group=assessor)"
    with collect_notes() as notes:
        assert (method_for(alone(), None, group="unit"), notes) == ("magnitude", [])
    together = alone().with_columns(pl.lit("u").alias("unit"), pl.lit("t").alias("topic"))
    assert (offset_of(together), method_for(together, None)) == ("unit", "magnitude")
    assert offset_of(alone().head(4)) == "unit"  # assessors with one judgment each have no modulus either
