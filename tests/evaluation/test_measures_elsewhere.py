"""Every name of ir_measures, ranx and NTCIREVAL has the value here that it has there.

oracles.py makes oracles.json, one small collection with the values of these tools.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import polars as pl
import pytest
from ir_measures import measures as theirs

from judgewell.errors import InputError, JudgewellInformation, MeasureError
from judgewell.evaluation.evaluate import evaluate

FROZEN = json.loads(Path(__file__).with_name("oracles.json").read_text())
BINARY = {topic: {doc: min(grade, 1) for doc, grade in grades.items()} for topic, grades in FROZEN["qrels"].items()}
ROUNDED = ("ERR@", "nDCG(dcg='exp-log2')")  # gdeval prints five digits
CASES = [(source, name) for source in ("ir_measures", "ranx", "ranx_binary", "ntcir") for name in FROZEN[source]]


@pytest.mark.parametrize(("source", "name"), CASES, ids=[f"{source} {name}" for source, name in CASES])
def test_a_name_has_the_value_that_it_has_elsewhere(source, name):
    expected = FROZEN[source][name]
    gains = BINARY if source == "ranx_binary" else FROZEN["qrels"]
    asked = name.replace("RBP(rel=1)", "RBP(p=0.8,rel=1)")  # whose p is 0.9 here, with a note
    scores = evaluate(FROZEN["run"], gains, asked)
    values = dict(zip(scores["topic"], scores["value"], strict=True))
    close = 6e-6 if name.startswith(ROUNDED) else 1e-9
    assert {topic: values[topic] for topic in expected} == pytest.approx(expected, abs=close)


@pytest.mark.parametrize("name", FROZEN["by_intent"])
def test_a_measure_by_intent_has_the_value_of_ndeval(name):
    gains = pl.DataFrame(FROZEN["intents"], schema=["topic", "intent", "doc", "gain"], orient="row")
    scores = evaluate(FROZEN["run"], gains, name)
    assert dict(zip(scores["topic"], scores["value"], strict=True)) == pytest.approx(
        FROZEN["by_intent"][name], abs=1e-9
    )


def test_qrels_with_intents_are_read_from_their_second_field(tmp_path):
    lines = [f"{topic} {intent} {doc} {grade}" for topic, intent, doc, grade in FROZEN["intents"]]
    (tmp_path / "intents.qrels").write_text("\n".join(lines) + "\n")
    scores = evaluate(FROZEN["run"], tmp_path / "intents.qrels", ["alpha_nDCG@5", "R(rel=1)@5"])
    values = {(row["topic"], row["measure"]): row["value"] for row in scores.iter_rows(named=True)}
    expected = FROZEN["by_intent"]["alpha_nDCG@5"]
    assert {topic: values[topic, "alpha_nDCG@5"] for topic in expected} == pytest.approx(expected)
    relevant = {doc for topic, _, doc, grade in FROZEN["intents"] if topic == "1" and grade > 0}
    best = sorted(FROZEN["run"]["1"], key=lambda doc: -FROZEN["run"]["1"][doc])[:5]
    assert values["1", "R(rel=1)@5"] == pytest.approx(len(relevant & set(best)) / len(relevant))


def test_gains_without_intents_are_refused_by_measures_of_them(tmp_path):
    with pytest.raises(InputError, match="there is no column for the intent; name one intent or subtopic"):
        evaluate(FROZEN["run"], pl.DataFrame({"topic": ["1"], "doc": ["d01"], "gain": [1]}), "alpha_nDCG@5")
    (tmp_path / "g.qrels").write_text("1 1 a 1\n1 1 a 0\n")
    with pytest.raises(InputError, match="topic 1, intent 1: document a has several gains"):
        evaluate(FROZEN["run"], tmp_path / "g.qrels", "alpha_nDCG@5")


def test_every_name_of_ir_measures_is_held_against_its_value():
    held = {
        name.partition("(")[0].partition("@")[0] for source in ("ir_measures", "by_intent") for name in FROZEN[source]
    }
    assert set(theirs.registry) - {"α_DCG", "α_nDCG"} <= held  # which are other spellings


def test_grades_are_not_summed_up_as_ranx_does():
    with pytest.raises(MeasureError, match="takes gains from 0 to 1"):
        evaluate(FROZEN["run"], FROZEN["qrels"], "rbp.95")


def test_no_note_is_needed_for_any_of_them_but_rbp():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", JudgewellInformation)
        for source, name in CASES:
            if not name.startswith("RBP(rel"):
                evaluate(FROZEN["run"], BINARY if source == "ranx_binary" else FROZEN["qrels"], name)
