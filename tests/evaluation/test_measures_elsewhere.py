"""Every name of ir_measures, ranx and NTCIREVAL has the value here that it has there.

oracles.py makes oracles.json, one small collection with the values of these tools.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from ir_measures import measures as theirs

from judgewell.errors import MeasureError
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
        for source, name in CASES:
            if not name.startswith("RBP(rel"):
                evaluate(FROZEN["run"], BINARY if source == "ranx_binary" else FROZEN["qrels"], name)
