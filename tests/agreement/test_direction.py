"""Label sets that run the other way."""

import polars as pl
import pytest

from judgewell.agreement.direction import note_labels, note_reversed
from judgewell.errors import collect_notes

VALUES = [(doc * 7) % 4 for doc in range(30)]
JUDGMENTS = pl.DataFrame({"topic": ["t", "u"] * 15, "doc": [f"d{n}" for n in range(30)], "value": VALUES})


def labels(grades):
    return JUDGMENTS.select("topic", "doc").with_columns(gain=pl.Series(grades, dtype=pl.Float64))


@pytest.mark.parametrize("judgments", [JUDGMENTS, None])
def test_labels_with_1_for_the_best_grade_are_noted_with_the_cure(judgments):
    sets = {"nist": labels(VALUES), "ours": labels([4 - value for value in VALUES])}
    with collect_notes() as notes:
        note_reversed(judgments, sets)
    with_what = "the judgments" if judgments is not None else "nist"
    assert notes == [
        f"the labels ours and {with_what} correlate negatively (Spearman's ρ = −1 over 30 documents); if 1 is the best "
        "grade of ours, reverse its grades: judgewell scale FILE --method mean --words 1=4,2=3,3=2,4=1 "
        "-o reversed.qrels"
    ]


def test_labels_that_agree_or_differ_by_chance_or_are_few_are_not():
    unlike = [(doc * 11) % 3 for doc in range(30)]
    few = labels([4 - value for value in VALUES]).head(19)
    constant = labels([1] * 30)
    with collect_notes() as notes:
        note_reversed(JUDGMENTS, {"same": labels(VALUES), "unlike": labels(unlike), "few": few, "constant": constant})
        note_reversed(None, {})
    assert notes == []


def test_labels_of_no_judged_document_are_noted():
    with collect_notes() as notes:
        note_reversed(JUDGMENTS, {"nist": labels(VALUES).with_columns(topic=pl.lit("T") + pl.col("topic"))})
    assert notes == [
        "no label of nist belongs to a document of the judgments; check that both use the same topic and document ids"
    ]


def test_labels_that_hardly_share_a_document_are_noted():
    other = labels(VALUES).with_columns(
        doc=pl.when(pl.col("doc") == "d1").then("doc").otherwise(pl.lit("x") + pl.col("doc"))
    )
    with collect_notes() as notes:
        note_reversed(JUDGMENTS, {"llama": other})
    assert notes == [
        "1 of 30 labels of llama belongs to a document of the judgments; check that both use the same topic and "
        "document ids"
    ]


def test_labels_with_1_for_the_best_grade_are_noted_beside_pairs():
    docs = [f"d{n}" for n in range(30)]
    pairs = pl.DataFrame({"topic": "t", "left": docs[1:], "right": docs[:-1], "preferred": "left"})
    down = pl.DataFrame({"topic": "t", "doc": docs, "gain": [1.0] + [2.0] * 28 + [3.0]})
    for gains, noted in ((down.with_columns(gain=4 - pl.col("gain")), True), (down, False)):
        with collect_notes() as notes:
            note_reversed(None, {"groups": gains}, pairs)
        assert any(one.startswith("the labels groups and the preferences correlate neg") for one in notes) == noted


def test_a_label_in_the_place_of_judgments_is_noted():
    twice = pl.concat([JUDGMENTS, JUDGMENTS])
    with collect_notes() as notes:
        note_labels(twice)
        note_labels(JUDGMENTS)  # one judgment each
        note_labels(pl.concat([JUDGMENTS, JUDGMENTS.with_columns(pl.col("value").reverse())]))
    assert [text.split(":")[0] for text in notes] == [
        "each of 30 documents with several judgments has one and the same value from all of them"
    ]
