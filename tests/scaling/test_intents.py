"""Judgments by intent: none becomes an explicit 0 for each, the most probable intent, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.double_judgments import tallies
from judgewell.scaling.grade_probabilities import estimated
from judgewell.scaling.intents import each_intent, expanded, top_intents

COLUMNS = ["topic", "doc", "assessor", "intent", "value"]
ROWS = [
    ("t", "a", "x", "1", 2.0),
    ("t", "a", "y", "2", 1.0),
    ("t", "b", "x", "0", 0.0),
    ("t", "b", "y", "1", 1.0),
    ("s", "a", "x", "1", 1.0),
]
INTENTS = {"topic": ["t", "t", "t", "s"], "intent": ["1", "2", "3", "1"], "probability": [0.3, 0.5, 0.2, 1.0]}


def table(rows: list[tuple[str, str, str, str | None, float]] = ROWS) -> pl.DataFrame:  # type: ignore[assignment]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def test_none_becomes_a_zero_for_each_intent_of_the_topic() -> None:
    found = expanded(table(), INTENTS).select(COLUMNS)
    assert found.rows()[:4] == [ROWS[0], ROWS[1], ROWS[3], ROWS[4]]
    assert found.rows()[4:] == [("t", "b", "x", intent, 0.0) for intent in "123"]


def test_without_a_table_the_intents_are_those_that_were_judged() -> None:
    found = expanded(table()).filter(pl.col("value") == 0)
    assert found["intent"].to_list() == ["1", "2"]


def test_expansion_makes_pairs_that_predicted_relevance_can_learn_from() -> None:
    """x says none, y gives intent 1 a grade of 1: only with the explicit 0 do both judge the same thing."""
    found = estimated(tallies(each_intent(expanded(table(), INTENTS)), threshold=1, grades=(0, 1, 2)))
    assert found.filter(pl.col("grade") == 0).select("relevant", "judged", "p").row(0) == (1.0, 1.0, 1.0)
    with pytest.raises(DataError, match="no document was judged by two"):
        estimated(tallies(each_intent(table()), threshold=1))


def test_the_most_probable_intent_is_kept_and_the_rest_told() -> None:
    with pytest.warns(JudgewellWarning, match="4 of 7 judgments are of other intents"):
        kept = top_intents(expanded(table(), INTENTS), INTENTS)
    assert kept.select("topic", "intent").unique().sort("topic").rows() == [("s", "1"), ("t", "2")]
    even = {**INTENTS, "probability": [0.4, 0.4, 0.2, 1.0]}
    with pytest.warns() as told:
        assert set(top_intents(expanded(table(), INTENTS), even)["intent"]) == {"1"}
    assert "1 topics have several intents of the highest probability" in " ".join(str(one.message) for one in told)


@pytest.mark.parametrize(
    ("row", "intents", "said"),
    [
        (("t", "c", "x", None, 0.0), INTENTS, "1 judgments name no intent .topic t, document c"),
        (("t", "c", "x", "0", 2.0), INTENTS, "of no intent .0. has the grade 2 .topic t, document c"),
        (("t", "c", "x", "9", 1.0), INTENTS, "the intent 9 is not among the topic's .topic t, document c"),
        (("u", "c", "x", "0", 0.0), INTENTS, "the topic u has no known intents"),
        (ROWS[0], {"topic": ["t"]}, "needs the column intent"),
        (ROWS[0], {**INTENTS, "probability": [3, 0, 0, 0]}, "probability outside 0 to 1"),
        (ROWS[0], {"topic": ["t", "t"], "intent": ["1", "1"]}, "has the intent 1 twice"),
    ],
)
def test_what_cannot_be_expanded_is_named(
    row: tuple[str, str, str, str | None, float], intents: dict[str, list[object]], said: str
) -> None:
    with pytest.raises((InputError, DataError), match=said):
        expanded(table([*ROWS, row]), intents)


def test_the_top_intent_needs_probabilities() -> None:
    with pytest.raises(DataError, match="the intent 1 of topic t has no probability"):
        top_intents(table(), {"topic": ["t"], "intent": ["1"]})
