"""EVIA 2014 and its poster re-done, from a synthetic study of their design and from a file of the user's."""

import pytest

from judgewell.papers import paper
from judgewell.papers.data import Asked
from judgewell.papers.evia14 import COUNTS, MEANS, POSTER, TABLE_2, cell_sizes
from judgewell.papers.items import make


@pytest.fixture(scope="module")
def outcomes():
    one = paper("evia14")
    data = one.read(Asked(draws=50))
    return {item.number: make(item, data) for item in one.items}


def printed(outcome):
    return {row[0]: row[1:] for row in outcome.made.printed.frame.iter_rows()}


def test_every_item_but_pictures_and_instructions_is_made(outcomes):
    assert [number for number, one in outcomes.items() if one.made is None] == ["Figure 1", "Appendix A"]


def test_the_synthetic_study_has_the_papers_design(outcomes):
    found = printed(outcomes["Table 1"])
    assert found["judges"][1] == 240
    assert found["judgments"][1] == 960
    assert found["judges of NMRH"][1] == 60


def test_printed_percents_give_the_numbers_of_judges():
    assert [cell_sizes(values) for values in TABLE_2.values()] == [[24], [26], [18], [24]]
    assert [cell_sizes(values) for values in POSTER.values()] == [[28], [27], [27], [26]]


def test_printed_logs_are_natural():
    assert sum(COUNTS) == 756
    mean = sum(count * value for count, value in zip(COUNTS, MEANS["bounded"], strict=True)) / 756
    assert mean == pytest.approx(2.50, abs=5e-3)
    assert mean > 1.996  # log10 of 99, the greatest bounded score


def test_steps_between_grades_depend_on_the_scale(outcomes):
    found = {what.partition(": ")[2]: value[1] for what, value in printed(outcomes["Figure 4"]).items()}
    assert [found[f"linear step to {key}"] for key in "MRH"] == pytest.approx([0.155, 0.295, 0.405], abs=5e-4)
    assert [found[f"logarithmic step to {key}"] for key in "MRH"] == pytest.approx([0.728, 0.686, 0.520], abs=5e-4)


@pytest.mark.parametrize("column", ["grade", "level"])
def test_judgments_in_perfect_order(tmp_path, column):
    rows = [f"topic,doc,assessor,unit,position,scale,value,{column}"]
    for judge in range(6):
        template = ("NMRH", "HRMN")[judge % 2]
        for place, key in enumerate(template, 1):
            grade = "NMRH".index(key)
            rows.append(f"q,d{grade},w{judge},u{judge},{place},magnitude,{(judge + 1) * 3**grade},{grade}")
    (tmp_path / "judgments.csv").write_text("\n".join(rows) + "\n")
    one = paper("evia14")
    data = one.read(Asked(judgments=str(tmp_path / "judgments.csv"), draws=10))
    table = make(one.chosen(["table 2"])[0], data).made.shown[0].frame
    assert table["NMRH unbounded"].to_list() == [100.0] * 6
    chain = make(one.chosen(["poster figure 2"])[0], data).made.shown[0].data
    assert chain["y"].to_list()[:4] == pytest.approx([1, 3, 9, 27])
