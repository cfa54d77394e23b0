"""`agree` names assessors who deserve a second look, and why; who judges like the others is not named."""

from __future__ import annotations

import random

import polars as pl
import pytest

from judgewell import agree
from judgewell.agreement.sections.unusual import SECTION


def judged(reverse: str | None) -> pl.DataFrame:
    draw = random.Random(5)
    rows = []
    for who in "abcdefgh":
        for doc in range(16):
            value = min(3, max(0, doc // 4 + draw.choice([-1, 0, 0, 0, 1])))
            rows.append(("t", f"d{doc}", who, 3 - value if who == reverse else value))
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")


def test_a_reversed_assessor_is_named_with_the_reason() -> None:
    agreement = agree(judged("c"), section=["unusual assessors"], kind="ordinal")
    assert agreement.findings[0].startswith("1 of 8 assessors deserves a second look: c (reversed). ")
    row = agreement["unusual_assessors"].row(0, named=True)
    assert (row["assessor"], row["why"]) == ("c", "reversed")
    assert row["reason"] == "ordered 5 of 95 pairs of documents as the others do (5 %; usually 92 %)"
    (usual,) = agree(judged(None), section=["unusual assessors"], kind="ordinal").findings
    assert usual == "None of 8 assessors is unusual in speed, variety of answers and comments, or ranking of documents."


def test_who_gives_one_answer_but_for_known_documents_is_constant() -> None:
    constant = pl.when(pl.col("assessor") == "c").then(2).otherwise("value")
    ends = {f"k{number}": ("N", 0) if number % 2 else ("H", 3) for number in range(6)}
    known = pl.DataFrame(
        [("t", doc, who, value, h_or_n) for who in "abcdefgh" for doc, (h_or_n, value) in ends.items()],
        schema=["topic", "doc", "assessor", "value", "known"],
        orient="row",
    )
    table = pl.concat([judged(None).with_columns(value=constant, known=pl.lit(None, pl.String)), known])
    flagged = agree(table, section=["unusual assessors"], kind="ordinal")["unusual_assessors"]
    assert flagged.filter(why="constant")["assessor"].to_list() == ["c"]


def test_one_pair_of_documents_does_not_make_an_assessor_reversed() -> None:
    ends = pl.col("doc").is_in(["d0", "d15"])
    one_pair = judged("c").with_columns(topic=pl.when(ends).then("topic").otherwise("doc"))
    table = agree(one_pair, section=["unusual assessors"], kind="ordinal")["unusual_assessors"]
    assert table.filter(assessor="c").select("alike", "why").row(0) == (0.0, None)


def test_constant_assessors_are_named_even_where_half_of_all_are_constant() -> None:
    constant = pl.col("assessor").is_in(list("abcde"))
    rare = judged(None).with_columns(value=pl.when(constant | (pl.col("doc") < "d4")).then(3).otherwise("value"))
    long = pl.concat([rare.with_columns(topic=pl.lit(topic)) for topic in "uvwx"])
    table = agree(long, section=["unusual assessors"], kind="ordinal")["unusual_assessors"]
    assert table.filter(why="constant")["assessor"].sort().to_list() == list("abcde")


def test_who_writes_one_comment_again_and_again_is_named() -> None:
    own = pl.when(pl.col("assessor") == "d").then(pl.lit("nice")).otherwise(pl.col("doc") + pl.col("assessor"))
    for comment, named in ((own, ["d"]), (pl.when(pl.col("doc") < "d13").then(own), [])):  # five comments are too few
        table = judged(None).with_columns(comment=comment)
        table = agree(table, section=["unusual assessors"], kind="ordinal")["unusual_assessors"]
        assert table.filter(why="one comment")["assessor"].to_list() == named
    (reason,) = agree(judged(None).with_columns(comment=own), section=["unusual assessors"], kind="ordinal")[
        "unusual_assessors"
    ].filter(assessor="d")["reason"]
    assert reason == "the same comment with 16 of 16 answers"


def test_one_word_for_most_documents_is_no_reason_to_look() -> None:
    """Who writes "not relevant" beside the many documents that are not relevant has explained the answer."""
    often = pl.when((pl.col("assessor") == "d") & (pl.col("doc") > "d12")).then(pl.lit("not relevant"))
    table = judged(None).with_columns(comment=often.otherwise(pl.col("doc") + pl.col("assessor")))
    mine = table.filter(assessor="d")
    assert 0.5 < (mine["comment"] == "not relevant").mean() < 0.9
    agreement = agree(table, section=["unusual assessors"], kind="ordinal")
    assert agreement["unusual_assessors"].filter(assessor="d")["why"].to_list() == [None]


def test_the_sentence_counts_reasons_and_names_the_weightiest_first() -> None:
    (table,) = [one for one in SECTION.tables if one.name == "unusual_assessors"]
    rows = {
        "assessor": list("abcde"),
        "reasons": [2, 1, 1, 1, 0],
        "why": ["reversed, too fast"] + ["too fast"] * 3 + [None],
    }
    assert table.finding is not None
    text = str(table.finding(pl.DataFrame(rows)))
    assert text.startswith(
        "4 of 5 assessors deserve a second look (reversed 1, too fast 4): a (reversed, too fast), b (too fast), "
        "c (too fast) and 1 more. "
    )


def test_comments_and_times_on_known_documents_count() -> None:
    """Six equal comments and six short times, of which two are on known documents."""
    own = pl.when(pl.col("assessor") == "d").then(pl.lit("nice")).otherwise(pl.col("doc") + pl.col("assessor"))
    known = pl.col("doc").replace_strict({"d0": "N", "d15": "H"}, default=None)
    table = judged(None).filter(pl.col("doc").is_in(["d0", "d3", "d6", "d9", "d12", "d15"]))
    table = table.with_columns(
        comment=own, known=known, seconds=pl.when(pl.col("assessor") == "e").then(1.0).otherwise(20)
    )
    found = agree(table, section=["unusual assessors"], kind="ordinal")["unusual_assessors"]
    assert found.filter(assessor="d")["why"].to_list() == ["one comment"]
    assert found.filter(assessor="e")["reason"].to_list() == [
        "median of 1.0 s per answer, with the time for revisions (usually 20.0 s)"
    ]


def test_few_assessors_are_not_compared() -> None:
    few = judged(None).filter(pl.col("assessor").is_in(["a", "b", "c"]))
    agreement = agree(few, section=["unusual assessors"], kind="ordinal")
    assert "needs 4 assessors to say what is usual; there are 3" in agreement.not_analysed.values()


def test_pairs_of_each_assessor() -> None:
    rows = [
        *[("t", "x", "y", who, "left") for who in "abc"],
        ("t", "y", "x", "d", "left"),  # the other document than the majority of the others
        ("t", "x", "z", "a", "same"),
        ("t", "x", "z", "b", "right"),  # each of two others another answer: no majority
        ("t", "x", "z", "d", "left"),
    ]
    pairs = pl.DataFrame(rows, schema=["topic", "left", "right", "assessor", "preferred"], orient="row")
    table = agree(pairs, section=["unusual assessors"])["pairs_by_assessor"]
    assert table.rows() == [
        ("d", 2, 0.0, 1, 0.0, 1.0),
        ("a", 2, 1.0, 1, 0.5, 1.0),
        ("b", 2, 1.0, 1, 0.0, 0.5),
        ("c", 1, 1.0, 1, 0.0, 1.0),
    ]


@pytest.mark.realdata
def test_real_pairs_have_a_row_for_each_assessor(data) -> None:
    agreement = agree(data / "music-preferences" / "judgments.csv", section=["unusual assessors"])
    assert agreement["pairs_by_assessor"].height == 79
    assert (
        agreement.findings[0].startswith(("None of 79", "1 of 79"))
        or "of 79 assessors deserve" in agreement.findings[0]
    )


def test_a_topic_where_all_values_are_equal_has_no_alpha() -> None:
    """Magnitudes are compared without their unit's offset, which would leave noise of such a topic."""
    draw = random.Random(1)
    rows = [
        (topic, f"{topic}{doc}", who, f"{topic}{who}", 100.0 if topic == "flat" else 10.0 * (doc + draw.random() + 1))
        for topic in ("flat", "other")
        for who in "abcde"
        for doc in range(6)
    ]
    rows += [("other", f"other{doc}", "f", "otherf", 10.0 * (doc + 1)) for doc in range(6)]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "unit", "value"], orient="row")
    by_topic = agree(frame, section=["reliability"], kind="ratio")["alpha_by_topic"].sort("topic")
    assert by_topic["alpha"].is_null().to_list() == [True, False]
    assert by_topic["low"][0] is None
    assert by_topic["note"][0] == "no variation: all values are 100.0"


def test_a_value_that_most_judgments_have_is_a_warning_about_alpha() -> None:
    values = [3, 3, 3, 3, 3, 3, 3, 2, 3, 3, 1, 3]
    frame = pl.DataFrame({"topic": "t", "doc": list("aabbccddeeff"), "assessor": ["x", "y"] * 6, "value": values})
    findings = agree(frame, section=["reliability"], kind="ordinal").findings
    assert findings[1].startswith("83.3 % of the judgments are 3: so little varies that α can be low")
    assert len(agree(judged(None), section=["reliability"], kind="ordinal").findings) == 1


def test_the_first_sentence_of_every_scale_precedes_the_second_of_any() -> None:
    values = [3, 3, 3, 3, 3, 3, 3, 2, 3, 3, 1, 3]
    frame = pl.DataFrame({"topic": "t", "doc": list("aabbccddeeff"), "assessor": ["x", "y"] * 6, "value": values})
    both = pl.concat([frame.with_columns(scale=pl.lit(name)) for name in ("one", "two")])
    findings = agree(both, section=["reliability"], kind="ordinal").findings
    assert [text[:14] for text in findings] == ["Scale one: Kri", "Scale two: Kri", "Scale one: 83.", "Scale two: 83."]
