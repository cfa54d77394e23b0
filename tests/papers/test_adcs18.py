"""Pairwise crowd judgments re-done: what can be recomputed from the paper is, and the rest comes out of any pairs."""

import numpy as np
import polars as pl
import pytest

from judgewell.agreement.likes import question_likes
from judgewell.errors import DataError, JudgewellWarning
from judgewell.papers import paper
from judgewell.papers.adcs18_figures import both_readings, whole_partitions
from judgewell.papers.adcs18_printed import DESIGN, DOCUMENTS, SIGNIFICANT_PAIRS, SYSTEMS
from judgewell.papers.data import Asked, read_asked_likes
from judgewell.papers.items import make
from judgewell.papers.synthetic import pair_study


@pytest.fixture(scope="module")
def outcomes():
    one = paper("adcs18")
    data = one.read(Asked())
    chosen = [item for item in one.items if item.number != "Figure 7"]  # slow; its parts are tested below
    return {item.number: make(item, data) for item in chosen}


def printed(outcome):
    return {row[0]: row[1:] for row in outcome.made.printed.frame.iter_rows()}


def test_every_item_but_the_screenshot_is_made(outcomes):
    assert [number for number, one in outcomes.items() if one.made is None] == ["Figure 1"]
    assert "screenshot" in outcomes["Figure 1"].reason


def test_table_1_the_rule_gives_every_x_and_the_equation_not_every_group(outcomes):
    found = printed(outcomes["Table 1"])
    assert all(found[f"{topic}: X"][2] == 0 for topic, *_ in DESIGN)
    wrong = [topic for topic, *_ in DESIGN if found[f"{topic}: groups by eq. (1)"][2] != 0]
    assert wrong == ["402", "403", "407", "440"]
    assert found["groups in all"][1] == 2628
    assert found["completed groups"][2] == found["pairs judged"][2] == 0
    frame = outcomes["Table 1"].made.shown[0].frame
    assert frame["places left over"].to_list() == [26, 8, 0, 15, 0, 0, 0, 0, 18]


def test_table_2_taus_are_agreement_less_disagreement(outcomes):
    found = printed(outcomes["Table 2"])
    assert found["systems, Sormunen–Binary: A − D"][0] == 0.876
    assert found["systems, Ratio–Rele: A − D"][0] == 0.940
    assert found["systems, Sormunen–Binary: A − D"][1] is not None
    assert found["systems, ME–Binary: A − D"][1] is None  # no magnitudes among the pairs
    assert len(SYSTEMS) == len(DOCUMENTS) == 15
    for shares in DOCUMENTS.values():
        assert sum(shares) == pytest.approx(1, abs=0.0015)


def test_table_3_means_of_the_printed_likes(outcomes):
    found = {what: value[1] for what, value in printed(outcomes["Table 3"]).items()}
    for number, mean, weighted in ((1, 0.507, 0.489), (2, 0.548, 0.567), (3, 0.252, 0.251)):
        assert found[f"Q{number}: mean over the printed topics"] == pytest.approx(mean, abs=5e-4)
        assert found[f"Q{number}: weighted by workers"] == pytest.approx(weighted, abs=5e-4)
    assert found["Q1 − Q2 against AP over the printed topics: Pearson's r"] == pytest.approx(0.824, abs=5e-4)
    assert found["Q1 − Q2 against AP: Kendall's τ"] == pytest.approx(0.39, abs=5e-3)
    assert found["workers of all topics (806 different ones)"] == 911


def test_table_4_sums_kappa_and_tests_of_the_printed_counts(outcomes):
    found = {what: value[1] for what, value in printed(outcomes["Table 4"]).items()}
    kappas = (0.733, 0.657, 0.654, 0.656, 0.644, 0.629, 0.646, 0.655, 0.007)
    told = (3224, 3601, 3634, 3589, 3586, 3650, 3561, 3587, 451)
    for name, kappa, count in zip(SIGNIFICANT_PAIRS, kappas, told, strict=True):
        assert found[f"{name}: pairs in all"] == 7503
        assert found[f"{name}: significant"] == count
        assert found[f"{name}: κ with the binary labels"] == pytest.approx(kappa, abs=5e-4)
    assert found["significant under the binary labels"] == 3226
    assert found["Q1 against binary: χ² with Yates' correction"] == pytest.approx(48.03, abs=5e-3)
    assert found["Q1, binary and Sormunen: χ²"] == pytest.approx(64.9, abs=0.05)
    assert found["Q1 against binary: McNemar's χ²"] == pytest.approx(129.5, abs=0.05)


def test_p_of_the_printed_taus(outcomes):
    assert printed(outcomes["Figure 4"])["p of the printed τ = 0.029 with 911 dots"][1] == pytest.approx(
        0.190, abs=5e-4
    )
    assert printed(outcomes["Figure 6"])["p of the printed τ = −0.047 with 911 dots"][1] == pytest.approx(
        0.034, abs=5e-4
    )


def test_columns_instead_of_rows_turn_the_scores_round():
    pairs = pair_study(3, sizes=(64,))
    assert both_readings(pairs)["correlation"][0] < -0.8


def test_settling_over_partitions_is_made():
    one = paper("adcs18")
    data = one.read(Asked())
    pairs = data.study.pairs.filter(data.study.pairs["topic"] == "t3")
    from dataclasses import replace

    outcome = make(one.chosen(["figure 7"])[0], replace(data, study=replace(data.study, pairs=pairs)))
    bars = outcome.made.shown[0].data
    assert set(bars["panel"]) == {"Pref, topic t3", "Rele, topic t3", "Ratio, topic t3"}
    taus = bars.filter(pl.col("panel") == "Pref, topic t3")["count"].to_numpy()
    assert len(taus) == pairs["partition"].n_unique()
    assert taus[-1] == pytest.approx(1)
    assert np.all(np.diff(taus) > -0.05)


def test_pairs_of_the_user_with_preferences_alone(tmp_path):
    rows = ["topic,left,right,assessor,unit,preferred"]
    rows += [f"q,d{a},d{b},w{n % 4},u{n % 4},{'left' if a > b else 'right'}" for n, (a, b) in
             enumerate((a, b) for a in range(5) for b in range(5) if a != b)]  # fmt: skip
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    one = paper("adcs18")
    data = one.read(Asked(pairs=str(tmp_path / "pairs.csv")))
    outcomes = {item.number: make(item, data) for item in one.items}
    assert list(data.study.gains) == ["Pref"]
    assert "give --likes" in outcomes["Table 3"].reason
    assert "give --labels" in outcomes["Table 4"].reason
    assert "partition" in outcomes["Figure 7"].reason
    assert outcomes["Figure 4"].made is not None


@pytest.mark.realdata
def test_public_preferences_are_found_by_name(data):
    one = paper("adcs18")
    found = one.read(Asked(data=str(data)))
    outcome = make(one.chosen(["figure 4"])[0], found)
    assert any(text.startswith("music-preferences") for text in outcome.made_from)
    table = make(one.chosen(["figure 3"])[0], found)
    assert table.made_from[0].startswith("dl21-preferences")
    means = table.made.shown[0].data.filter(table.made.shown[0].data["label"] != "U")["mean"].to_list()
    assert means[0] < means[1]  # binary labels: not relevant, relevant


def test_the_questionnaire_of_an_export_says_what_was_liked(tmp_path):
    path = tmp_path / "questionnaire.csv"
    path.write_text(
        "assessor,topic,unit,question,answer\n"
        'p1,1,u1,liked,"Which one helps more; A number for each"\n'
        "p2,1,u1,liked,Which one helps more\n"
        "p2,1,u1,feedback,none\n"
    )
    likes = question_likes(read_asked_likes(str(path)))
    assert dict(likes.select("question", "share").rows()) == {"A number for each": 0.5, "Which one helps more": 1.0}
    path.write_text("assessor,topic,unit,question,answer\np1,1,u1,best,x\np1,1,u1,feedback,none\n")
    with pytest.raises(DataError, match=r"answers to best, feedback and none is called liked"):
        read_asked_likes(str(path))


def test_partitions_that_lack_documents_are_left_out():
    rows = [("t", "a", "b", 1), ("t", "c", "d", 1), ("t", "a", "c", 2), ("t", "b", "d", 2), ("t", "a", "d", 3)]
    pairs = pl.DataFrame(rows, schema=["topic", "left", "right", "partition"], orient="row")
    with pytest.warns(JudgewellWarning, match=r"1 of 3 partitions lack documents"):
        assert whole_partitions(pairs)["partition"].unique().sort().to_list() == [1, 2]
    with pytest.raises(DataError, match=r"no partition shows all documents"):
        whole_partitions(pairs.filter(pl.col("partition") == 3).vstack(pairs.filter(pl.col("left") == "c")))
