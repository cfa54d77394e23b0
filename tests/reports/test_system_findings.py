"""Sentences of the report about systems."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from judgewell.comparison.scores import ScoreArray
from judgewell.reports.system_figures import MOST, most
from judgewell.reports.system_findings import best_elsewhere, limits, significant, similar


def scores(*means):
    values = np.repeat(np.array(means)[:, None], 4, axis=1)
    return ScoreArray(("a", "b", "c"), ("1", "2", "3", "4"), values, "nDCG@10", (0.0, 1.0))


TABLE = pl.DataFrame({"system": ["a", "b", "c"], "top": [True, True, False]})


def test_one_system_that_is_best_under_every_set():
    finding = best_elsewhere({"crowd": scores(3, 2, 1), "experts": scores(9, 2, 1)}, TABLE)
    assert finding.text == "a also has the best mean under experts."
    assert finding.source == "systems"


def test_systems_that_tie_under_every_set_are_all_named():
    finding = best_elsewhere({"crowd": scores(3, 3, 1), "experts": scores(9, 9, 1)}, TABLE)
    assert finding.text == "a and b also have the best mean under experts."
    finding = best_elsewhere({"crowd": scores(3, 3, 1), "experts": scores(9, 8, 1)}, TABLE)
    assert finding.text == "a also has the best mean under experts."


def test_another_best_system_within_the_first_top_set():
    finding = best_elsewhere({"crowd": scores(3, 2, 1), "experts": scores(1, 2, 0), "pairs": scores(3, 1, 1)}, TABLE)
    assert finding.text == (
        "Under experts, b is first; under pairs, a is first too. Both are in the top set under crowd: these topics "
        "cannot show which of them is better."
    )


def test_another_best_system_outside_the_first_top_set():
    finding = best_elsewhere({"crowd": scores(3, 2, 1), "experts": scores(1, 2, 8)}, TABLE)
    assert finding.text == (
        "Under experts, c is first. Under crowd, c is not in the top set: the sets disagree about the best system."
    )


def test_one_set_alone_has_nothing_to_add():
    assert best_elsewhere({"crowd": scores(3, 2, 1)}, TABLE) is None


def differing(*significant_pairs):
    rows = [(one, other, (one, other) in significant_pairs) for one, other in (("a", "b"), ("a", "c"), ("b", "c"))]
    return pl.DataFrame(rows, schema=["first", "second", "significant"], orient="row")


def test_a_top_set_with_a_system_that_differs_from_the_best_is_explained():
    text = significant(differing(("a", "b"), ("a", "c")), TABLE, "crowd").text
    assert text.startswith("Under crowd, 2 of 3 pairs of systems differ significantly (66.7 %; paired t-test")
    assert text.endswith(
        "The top set comes from a joint test of each system against all others, so it can differ from these t-tests: "
        "it keeps 1 system that differs significantly from a here."
    )


def test_a_top_set_without_a_system_like_the_best_is_explained():
    text = significant(differing(("b", "c")), TABLE, "crowd").text
    assert text.endswith("t-tests: it excludes 1 system that does not differ significantly from a here.")


def test_a_top_set_that_fits_the_pairs_needs_no_explanation():
    text = significant(differing(("a", "c")), TABLE, "crowd").text
    assert text.startswith("Under crowd, 1 of 3 pairs of systems differs significantly (33.3 %; ")
    assert text.endswith("5 % level).")


def test_two_systems_are_not_counted_in_pairs():
    text = significant(differing().head(1), TABLE.head(2), "crowd").text
    assert text.startswith("Under crowd, the two systems do not differ significantly (paired t-test")


@pytest.mark.parametrize(
    ("judgments", "said"),
    [
        (0.066, "Judgments and topics limit the conclusion about equally: "),
        (0.2, "More judgments would make the conclusion surer than more topics: "),
        (0.01, "More topics would make the conclusion surer than more judgments: "),
    ],
)
def test_what_limits_the_conclusion_unless_both_do(judgments, said):
    worlds = {
        name: SimpleNamespace(spread=np.array([size])) for name, size in (("judgments", judgments), ("topics", 0.06))
    }
    assert limits(worlds).text.startswith(said)


def test_figures_hold_all_systems_that_have_room_and_say_how_many_are_left_out():
    table = pl.DataFrame({"system": [f"s{n}" for n in range(129)]})
    assert most(table)[0].height == 129
    assert most(table)[1] == ""
    more = pl.DataFrame({"system": [f"s{n}" for n in range(170)]})
    drawn, left = most(more)
    assert drawn.height == MOST
    assert left == " The best 150 of 170 systems are drawn, 20 are not."


def test_rankings_are_compared_with_that_under_the_first_set():
    rows = [("nist", "gpt4", 0.924), ("nist", "llama", 0.84), ("gpt4", "llama", 0.8)]
    table = pl.DataFrame(rows, schema=["first", "second", "tau_b"], orient="row").with_columns(systems=63, discordant=5)
    assert similar(table).text == (
        "The ranking of the 63 systems under nist correlates at τ-b = 0.924 with that under gpt4 and 0.840 with that "
        "under llama."
    )
