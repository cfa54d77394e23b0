"""agree() takes files and tables, gives what the command writes, and shows itself."""

from __future__ import annotations

import doctest
import random
from pathlib import Path

import polars as pl
import pytest
from agreement_studies import made_study
from polars.testing import assert_frame_equal

import judgewell
from judgewell.analysis import agree as module
from judgewell.errors import InputError, JudgewellWarning


def test_the_example_of_the_docstring() -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted
    assert not outcome.failed


def test_tables_labels_and_what_is_not_there() -> None:
    judgments, grades = made_study(0, units=40)
    agreement = judgewell.agree(judgments, {"truth": grades}, section=["grades", "reliability"], kind="ratio")
    assert [outcome.name for outcome in agreement.outcomes] == ["reliability", "grades"]
    assert agreement["alpha"]["values"][0] == "ln value minus the unit's offset"
    assert len(repr(agreement).splitlines()) > len(agreement.findings)
    assert "<h4>Agreement between assessors</h4>" in agreement._repr_html_()
    with pytest.warns(JudgewellWarning, match="the table level_distributions is now called grade_distributions"):
        assert agreement["level_distributions"].equals(agreement["grade_distributions"])
    with pytest.warns(JudgewellWarning, match="left_out is the former name of not_analysed"):
        assert agreement.left_out == agreement.not_analysed
    with pytest.raises(InputError, match="kappa needs a scale of at most 20 values"):
        agreement["fleiss_kappa"]
    with pytest.raises(InputError, match="there is no section 'astrology'"):
        judgewell.agree(judgments, section=["astrology"])


def test_scores_are_read_as_compare_reads_them() -> None:
    wide = pl.DataFrame({"system": ["s"] * 3, "topic": ["1", "2", "all"], "AP": [0.1, 0.4, 0.25]})
    with pytest.warns(JudgewellWarning, match="are means over topics and are excluded"):
        agreement = judgewell.agree(scores=wide, section=["difficulty"])
    assert agreement["topic_difficulty"]["topic"].to_list() == ["1", "2"]


def test_pairs_are_recognised_and_partitions_scored() -> None:
    rows = [
        (str(part), f"{part}-{who}", who, a, b, "left" if a < b else "right")
        for part in range(3)
        for who in "xyz"
        for a, b in (("a", "b"), ("c", "b"), ("a", "c"), ("d", "c"))
    ]
    names = ["partition", "unit", "assessor", "left", "right", "preferred"]
    pairs = pl.DataFrame(rows, schema=names, orient="row").with_columns(topic=pl.lit("t"))
    agreement = judgewell.agree(pairs, section=["pairs", "stability"])
    assert agreement["same_pair_agreement"]["agreement"].item() == 1
    assert agreement["partition_stability"]["tau_mean"].to_list() == pytest.approx([1, 1, 1])


def test_progress_reaches_the_end_and_moves_within_a_long_section() -> None:
    units = [
        (str(unit), who, a, b) for unit in range(150) for who in "xy" for a, b in (("a", "b"), ("c", "b"), ("a", "c"))
    ]
    pairs = pl.DataFrame(units, schema=["unit", "assessor", "left", "right"], orient="row")
    seen: list[tuple[int, int]] = []
    judgewell.agree(
        pairs.with_columns(topic=pl.lit("t"), preferred=pl.lit("left")),
        section=["transitivity", "pairs"],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (200, 200)
    assert seen == sorted(seen)
    assert any(done % 100 for done, _ in seen)


def test_a_table_in_the_place_of_the_flag_pairs_is_refused() -> None:
    table = pl.DataFrame({"topic": ["1"], "left": ["a"], "right": ["b"], "preferred": ["left"]})
    with pytest.raises(InputError, match=r"pairs is True or False, not a DataFrame; give the pairs as the first arg"):
        judgewell.agree(pairs=table)  # type: ignore[arg-type]


COMPARING = {
    "reliability": ("alpha", "alpha_by_topic", "disagreement", "fleiss_kappa", "fleiss_kappa_by_topic"),
    "assessors": ("against_the_rest", "assessor_tau", "assessor_tau_mean", "cohen_kappa_mean", "weighted_kappa_mean"),
    "stability": ("document_stability", "split_halves"),
    "unusual assessors": (),
    "people and machines": ("machine_alpha",),
}


def test_known_documents_count_in_no_comparison_of_assessors() -> None:
    draw = random.Random(3)
    who = [f"a{number}" for number in range(6)]
    rows = [("t", f"d{doc}", one, draw.choice([doc % 4, 0, 1, 2, 3]), None) for doc in range(24) for one in who]
    rows += [("t", doc, one, value, doc) for doc, value in (("H", 3), ("N", 0)) for one in who for _ in range(4)]
    table = pl.DataFrame(
        rows, schema=["topic", "doc", "assessor", "value", "known"], orient="row", infer_schema_length=None
    )
    machine = {"llm": table.select("topic", "doc", gain="value").unique(["topic", "doc"], maintain_order=True)}
    asked = {"section": list(COMPARING), "kind": "ordinal", "machine": machine}
    whole = judgewell.agree(table, **asked)
    rest = judgewell.agree(table.filter(pl.col("known").is_null()), **asked)
    for name in (name for names in COMPARING.values() for name in names):
        assert_frame_equal(whole[name], rest[name])
    order = ["assessor", "same", "alike"]  # times and comments of known documents count
    assert_frame_equal(whole["unusual_assessors"].select(order), rest["unusual_assessors"].select(order))


def test_known_pairs_count_in_no_comparison_of_assessors() -> None:
    draw = random.Random(4)
    who = [f"a{number}" for number in range(6)]
    sides = ["left", "right", "same"]
    rows = [("t", f"d{doc}", f"d{doc + 1}", one, draw.choice(sides), None, None) for doc in range(24) for one in who]
    rows += [("t", "H", "N", one, "left", "H", "N") for one in who]
    names = ["topic", "left", "right", "assessor", "preferred", "left_known", "right_known"]
    table = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    asked = {"section": ["pairs", "unusual assessors"]}
    whole, rest = (
        judgewell.agree(table, **asked),
        judgewell.agree(table.filter(pl.col("left_known").is_null()), **asked),
    )
    tables = ("same_pair_agreement", "same_pair_agreement_by_topic", "repeated_pairs", "pairs_by_assessor")
    for name in (*tables, "unusual_assessors"):
        assert_frame_equal(whole[name], rest[name])


def _labels(grades: str) -> pl.DataFrame:
    gains = [float(grade) for grade in grades]
    return pl.DataFrame({"topic": "t", "doc": [f"d{place}" for place in range(len(gains))], "gain": gains})


def test_labels_0_and_1_are_not_compared_by_number_with_labels_of_more_grades() -> None:
    sets = {"two": _labels("0101"), "four": _labels("0312")}
    agreement = judgewell.agree(labels=sets, section=["label sets"])
    reason = agreement.not_analysed["label sets, label_alpha"]
    assert "two has grades 0 and 1 only and four has higher ones" in reason
    assert "label sets, label_kappa" in agreement.not_analysed
    assert "concordance" in agreement.tables
    more = judgewell.agree(labels=sets | {"other": _labels("0013")}, section=["label sets"])
    assert more["label_kappa"].select("first", "second").rows() == [("four", "other")]


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        (0, "limit of 0.8, single judgments are reliable"),
        (0.9, "tentative conclusions (0.667), not"),
        (3, "are below the"),
    ],
)
def test_alpha_comes_with_what_its_customary_limits_say(spread: float, words: str) -> None:
    rows = [("t", f"d{doc}", who, doc % 5 + spread * (doc % 3 - 1) * side) for doc in range(30) for who, side in SIDES]
    table = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")
    agreement = judgewell.agree(table, section=["reliability"], kind="interval")
    assert words in agreement.findings[0]


SIDES = (("a", 1), ("b", -1), ("c", 0))


def test_findings_say_what_their_numbers_mean() -> None:
    judgments, _ = made_study(positive=False, drift=0.3)
    zeros = judgments.with_columns(value=pl.when(pl.col("doc") == "d0").then(0).otherwise(pl.col("value").abs() * 30))
    sections = ["position", "scale", "stability", "assessors"]
    said = "\n".join(judgewell.agree(zeros, kind="interval", section=sections).findings)
    assert "Documents shown later in a unit got higher values: a document’s rank within the unit rises by" in said
    assert "% are 0 and" in said
    assert "other multiples of 10" in said
    assert "Spearman–Brown; 1 is perfect)" in said


def test_labels_of_other_topics_are_named_in_the_reason() -> None:
    rows = [("q", "a", "b", who, "left") for who in "uvw"]
    pairs = pl.DataFrame(rows, schema=["topic", "left", "right", "assessor", "preferred"], orient="row")
    labels = pl.DataFrame({"topic": ["other", "other"], "doc": ["a", "b"], "gain": [1.0, 0.0]})
    reason = judgewell.agree(pairs, {"x": labels}, section=["pairs"]).not_analysed["pairs, preferences_against_grades"]
    assert "topic q has preferences, topic other labels" in reason


def test_the_first_label_file_can_have_a_name_too(tmp_path: Path) -> None:
    for name, grades in (("a", "0123"), ("b", "0132")):
        lines = [f"t 0 d{number} {grade}\n" for number, grade in enumerate(grades)]
        (tmp_path / f"{name}.qrels").write_text("".join(lines))
    agreement = judgewell.agree(f"nist={tmp_path}/a.qrels", [f"crowd={tmp_path}/b.qrels"])
    assert agreement["concordance"].select("first", "second").row(0) == ("nist", "crowd")
