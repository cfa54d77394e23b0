"""What goes into a report: parts, findings computed from the data, what is left out and why."""

import json

import polars as pl
import pytest
from report_studies import sources, study

from judgewell.errors import InputError
from judgewell.evaluation.measures import parse_all
from judgewell.reports import findings as told
from judgewell.reports.assemble import assemble
from judgewell.reports.bins import on_a_log_axis
from judgewell.reports.grade_figures import by_grade
from judgewell.reports.parts import Figure, Grid
from judgewell.reports.sources import CollectedStudy, GoalEnd, Sources, not_people, preliminary, with_codes
from judgewell.scaling.methods import parse


@pytest.fixture(scope="module")
def report():
    return assemble(sources(), title="A study")


def part(report, name):
    return next(one for one in report.each() if one.name == name)


def texts(report):
    return [finding.text for one in report.each() for finding in one.findings]


def item(report, name):
    return next(one for one in (*report.figures, *report.grids) if one.name == name)


def test_answers_come_first_then_details_limits_and_tables(report):
    assert [one.title for one in report.parts] == [
        "Which system is best",
        "How good the judgments are",
        "What the judgments say about relevance",
        "Details",
        "What it cost",
        "What could not be analysed",
        "Appendix: tables",
    ]
    answers = report.parts[:3]
    assert all(one.findings and any(isinstance(item, Figure) for item in one.items) for one in answers)
    assert {item.place for one in answers for item in one.items} == {"body"}
    assert {item.place for one in report.parts[3].groups for item in one.items} == {"details"}
    assert {item.place for one in report.parts[-1].groups for item in one.items} == {"appendix"}


def test_nothing_is_said_or_shown_twice_and_every_finding_can_be_checked(report):
    assert len(texts(report)) == len(set(texts(report)))
    names = {one.name for one in (*report.figures, *report.grids)}
    for one in report.each():
        assert {finding.source for finding in one.findings} - {""} <= names, one.name


def test_magnitudes_are_drawn_on_a_logarithmic_axis_with_a_dot_for_every_document(report):
    figure = item(report, "gains_by_grade_1")
    judgments, labels, _ = study()
    assert figure.data.height == labels.join(judgments, on=["topic", "doc"], how="semi").height
    assert on_a_log_axis(pl.Series([1.0, 20.0]), ratio=True)
    assert not on_a_log_axis(pl.Series([0.0, 20.0]), ratio=True)
    assert not on_a_log_axis(pl.Series([1.0, 20.0]), ratio=False)


def test_names_of_figures_and_grids_are_unique_file_names(report):
    names = [one.name for one in (*report.figures, *report.grids)]
    assert len(names) == len(set(names))
    assert all(name.replace("_", "").isalnum() and name.isascii() for name in names)


def test_captions_say_how_many(report):
    for figure in report.figures:
        assert any(letter.isdigit() for letter in figure.caption), figure.name
        assert figure.caption.endswith("."), figure.name


def test_counts_are_those_of_the_data(report):
    judgments, labels, _ = study()
    asked = dict(item(report, "asked").frame.iter_rows())
    assert asked["judgments"] == str(judgments.height)
    assert asked["assessors"] == "7"
    assert asked["systems"] == "6"
    assert any(
        one.startswith(f"7 assessors gave {judgments.height} judgments of 120 documents") for one in texts(report)
    )
    assert item(report, "asked_by_topic").frame["labels expert"].sum() == labels.height


def test_findings_change_with_the_data():
    better, _, _ = study(seed=2)
    other = assemble(sources(judgments=better, runs=[], measures=[]), title="Another")
    first = assemble(sources(runs=[], measures=[]), title="A study")
    for name in ("agreement", "gains"):
        assert part(other, name).findings[0].text != part(first, name).findings[0].text


def test_systems_come_with_intervals_that_hold_their_mean(report):
    table = item(report, "systems").frame
    assert table["system"].to_list()[0] == "s4"
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    assert (table["rank_low"] <= table["rank_high"]).all()
    assert {"judged", "ERR(gmax='topic')@10", "top", "best"} <= set(table.columns)
    assert item(report, "worlds").frame["other"].to_list() == ["judgments", "topics", "both"]


def test_pairs_count_to_all_others(report):
    counts = item(report, "pair_counts").data
    assert set(counts.group_by("name").agg(pl.col("count").sum())["count"]) == {5}


def test_matrix_and_its_mirror_add_up_to_one(report):
    data = item(report, "above_matrix").data
    both = data.join(data, left_on=["first", "second"], right_on=["second", "first"])
    assert (both["value"] + both["value_right"] - 1).abs().max() < 1e-9
    signs = dict(zip(zip(data["first"], data["second"], strict=True), data["sign"], strict=True))
    mirror = {"+": "−", "−": "+", "": ""}
    assert all(signs[other, one] == mirror[sign] for (one, other), sign in signs.items())


def test_what_the_data_do_not_allow_is_named_with_its_reason(report):
    names = [name for name in item(report, "not_analysed").frame["analysis"] if "between label sets" in name]
    assert names == ["κ between label sets"]  # not the Greek capital, which looks like a K
    missing = {row["section"]: row["reason"] for row in item(report, "not_analysed").frame.iter_rows(named=True)}
    assert missing["transitivity"].startswith("Needs pairs")
    assert "14 of" not in missing
    assert not any(reason.startswith("Needs the table") for reason in missing.values())


def test_gains_and_labels_alone_make_a_report():
    _, labels, runs = study()
    from judgewell.formats.runs import open_runs

    found = assemble(sources(judgments=None, method=None, runs=open_runs(runs)), title="Labels")
    assert [one.name for one in found.parts] == ["systems", "agreement", "details", "limits", "appendix"]
    reasons = dict(item(found, "not_analysed").frame.select("section", "reason").iter_rows())
    assert "reliability" not in reasons
    limits = next(part for part in found.parts if part.name == "limits")
    assert "of assessors’ work (agreement, times, use of the scale) need judgments" in limits.findings[-1].text
    assert any("Uncertainty from judgments" in row for row in item(found, "not_analysed").frame["analysis"].to_list())
    given = assemble(
        sources(judgments=None, method=None, labels={}, gains={"mine": labels}, runs=[], measures=[]), title="G"
    )
    assert "as given: mine" in part(given, "gains").findings[0].text
    assert "Needs runs" in item(given, "not_analysed").frame["reason"].to_list()


def test_one_system_is_not_called_the_best_and_its_topics_are_counted():
    _, _, runs = study()
    from judgewell.formats.runs import open_runs

    found = assemble(sources(runs=open_runs(runs.filter(pl.col("system") == "s3"))), title="One system")
    said = part(found, "systems").findings[0].text
    low, mean, high = item(found, "systems").frame.select("low", "mean", "high").row(0)
    assert low < mean < high
    assert f"{mean:.3f} [{low:.3f}, {high:.3f}] over 5 topics; there is no other system" in said
    assert said.startswith("Under gains, s3 has")
    assert "best" not in said
    reasons = item(found, "not_analysed").frame.filter(pl.col("reason") == "There is one system")["analysis"].to_list()
    assert reasons == ["Ranks and pairs of systems"]


def test_alpha_is_worked_out_for_the_metrics_that_fit_and_as_on_its_own(report):
    from judgewell.agreement.alpha import krippendorff_alpha

    shown = item(report, "alpha").frame
    assert shown["metric"].to_list() == ["interval", "ratio"]  # on the common footing, and as given
    judged = sources().judgments
    alone = krippendorff_alpha(judged.filter(pl.col("known").is_null()), "ratio", interval=False)
    assert alone["judgments"].item() < judged.height  # known documents, which everybody had to order to pass, are out
    assert shown.filter(pl.col("metric") == "ratio").select(alone.columns).row(0) == alone.row(0)
    graded = study()[0].with_columns(scale=pl.lit("ordinal"), value=(pl.col("value") > 20).cast(pl.Float64))
    few = assemble(sources(judgments=graded, method=parse("mean")), title="Few levels")
    assert item(few, "alpha").frame["metric"].to_list() == ["ordinal"]


def test_widths_of_intervals_are_told_only_where_there_are_any(report):
    caption = item(report, "gains_by_topic").caption
    assert ("width" in caption) == (item(report, "gains_by_topic").frame["width"].null_count() < 4)


def test_one_topic_has_no_intervals_and_says_so():
    judgments, labels, runs = study()
    from judgewell.formats.runs import open_runs

    one = pl.col("topic") == "t0"
    found = assemble(
        sources(
            judgments=judgments.filter(one), labels={"expert": labels.filter(one)}, runs=open_runs(runs.filter(one))
        ),
        title="One topic",
    )
    assert "one topic allows no interval" in part(found, "systems").findings[0].text
    assert "There is one topic" in item(found, "not_analysed").frame["reason"].to_list()


def test_pairs_make_a_report():
    rows = [("t", a, b, w, "left" if a < b else "right") for w in "xyz" for a in "abcd" for b in "abcd" if a != b]
    frame = pl.DataFrame(rows, schema=["topic", "left", "right", "assessor", "preferred"], orient="row")
    from judgewell.tables import PAIRS, check

    pairs = check(frame.with_columns(seconds=pl.lit(9.5), unit=pl.col("assessor")), PAIRS)
    found = assemble(Sources(pairs=pairs, method=parse("preference"), replicates=50), title="Pairs")
    agreement = texts(found)
    assert agreement[0].startswith("Two assessors agree on 100 % of answers to the same pair (50.0 % by chance)")
    assert any(text.startswith("0 of 36 preferences contradict") for text in agreement)
    gains = item(found, "gains").frame.sort("gain", descending=True)
    assert gains["doc"].to_list() == list("abcd")


def test_gains_given_beside_judgments_say_how_to_analyse_judgments():
    _, labels, _ = study()
    found = assemble(sources(method=None, labels={}, gains={"mine": labels}), title="Given")
    missing = dict(item(found, "not_analysed").frame.select("analysis", "reason").iter_rows())
    assert missing["Uncertainty from judgments"] == (
        "The gains mine are given ready-made; make them here with --method instead of --gains"
    )


def test_labels_that_share_no_document_are_left_out():
    _, labels, _ = study()
    other = labels.with_columns(topic="other " + pl.col("topic"))
    found = assemble(sources(labels={"expert": labels, "other": other}, runs=[], measures=[]), title="Labels")
    assert [one.name for one in found.figures if one.name.startswith("gains_by_grade")] == ["gains_by_grade_1"]


def test_few_topics_show_no_ranks():
    few = pl.col("topic").is_in(["t0", "t1"])
    judgments, labels, runs = study()
    from judgewell.formats.runs import open_runs

    two = {"judgments": judgments.filter(few), "labels": {"expert": labels.filter(few)}}
    found = assemble(sources(**two, runs=open_runs(runs.filter(few))), title="Two topics")
    assert "2 topics cannot show which system is the best" in part(found, "systems").findings[0].text
    assert not any("ranks first most often" in text for text in texts(found))


def test_alpha_of_many_topics_is_a_histogram():
    judgments, *_ = study(topics=42, docs=8)
    found = assemble(sources(judgments=judgments, labels={}, runs=[], measures=[]), title="Many topics")
    figure = next(one for one in found.figures if one.name == "alpha_figure")
    assert figure.data.columns == ["low", "high", "count"]
    assert figure.data["count"].sum() == 42
    assert "of 42 topics" in figure.caption


def test_nothing_is_refused():
    with pytest.raises(InputError, match="nothing to report on"):
        assemble(Sources(), title="")


def test_progress_reaches_the_end():
    seen = []
    assemble(sources(draws=70), title="", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert len({total for _, total in seen}) == 1
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_assessors_become_codes_that_tell_them_apart():
    judgments, _, _ = study()
    coded, none = with_codes(judgments, None)
    assert none is None
    assert sorted(coded["assessor"].unique()) == [f"A{number}" for number in range(1, 8)]
    pairs = pl.DataFrame({"assessor": judgments["assessor"], "code": coded["assessor"]}).unique()
    assert pairs.height == 7


def test_charts_stay_small(report):
    for figure in report.figures:
        assert isinstance(figure, Figure)
        assert len(json.dumps(figure.chart.to_dict())) < 200_000
    assert all(isinstance(one, Grid) for one in report.grids)


def test_labels_with_many_values_get_a_cloud_and_no_figure_by_grade():
    _, labels, _ = study()
    many = labels.with_columns(gain=pl.col("gain") + pl.int_range(pl.len()) / 1000)
    found = assemble(sources(gains={"mine": labels}, labels={"many": many}, runs=[], measures=[]), title="Many")
    names = [one.name for one in (*found.figures, *found.grids)]
    assert "label_cloud_1" in names
    assert "label_correlation" in names
    assert not [name for name in names if "grade" in name or "order_agreement" in name]


@pytest.mark.parametrize(("gains", "drawn"), [([0.0, 1.0, 2.0, 1.0], "matrix"), ([0.5, 3.25, 7.5, 1.0], "dots")])
def test_few_documents_with_any_gains_are_dots_and_grades_a_matrix(gains, drawn):
    documents = {"topic": ["t"] * 4, "doc": list("abcd")}
    labels = pl.DataFrame(documents | {"gain": [0.0, 1.0, 2.0, 0.0]})
    (figure,) = by_grade(pl.DataFrame(documents | {"gain": gains}), {"experts": labels}, log=False)
    assert ("share of the row" in json.dumps(figure.chart.to_dict())) == (drawn == "matrix")


def test_a_width_that_not_all_documents_have_says_of_how_many():
    gains = pl.DataFrame({"gain": [1.0, 2.0], "low": [0.5, None], "high": [1.5, None]})
    assert "the median width of 95 % intervals (1 of them) is 1." in told.gains(gains, "by mean").text


def test_report_and_compare_count_the_same_differences():
    from judgewell.analysis.compare import compare
    from judgewell.commands.reporting import report

    _, labels, runs = study(topics=9)
    given = {"runs": runs, "measure": "nDCG@10", "worlds": 50}
    for baseline in (None, "s2"):
        page = report(labels={"expert": labels}, **given, baseline=baseline)
        pairs = next(one.frame for one in page.grids if one.name == "pairs")
        compared = compare(gains={"expert": labels}, **given, baseline=baseline)
        assert "Holm's correction" in " ".join(str(compared).split())
        shared = ["first", "second", "difference", "p", "p_corrected", "significant"]
        assert pairs.select(shared).sort(shared).equals(compared["pairs"].select(shared).sort(shared))
        assert 0 < pairs["significant"].sum() < (pairs["p"] < 0.05).sum() or baseline
    texts = [one.text for part in page.each() for one in part.findings]
    better = pairs.filter("significant", pl.col("difference") > 0).height
    said = f"of 5 other systems differ significantly from s2: {better} better"
    assert any(said in text and "Holm’s correction" in text for text in texts)
    assert {"baseline_differences"} <= {one.name for one in page.figures}
    with pytest.raises(InputError, match=r"there is no system 'bm25'; the systems are s0, s1"):
        report(labels={"expert": labels}, **given, baseline="bm25")


def test_changed_verdicts_and_other_measures_are_those_of_compare():
    from judgewell.analysis.compare import compare
    from judgewell.commands.reporting import report

    _, labels, runs = study(topics=9)
    best = labels.with_columns(gain=(pl.col("gain") >= pl.col("gain").max()).cast(pl.Float64))
    sets = {"expert": labels, "best": best}
    given = {"runs": runs, "measure": ["nDCG@10", "nDCG@3"], "worlds": 50, "baseline": "s2"}
    page, compared = report(labels=sets, **given), compare(gains=sets, **given)
    said = " ".join(str(compared).split())
    (verdicts,) = [text for text in texts(page) if "the same way under expert and best" in text]
    assert verdicts in said
    assert " only under expert (" in verdicts
    every = report(labels=sets, **given | {"baseline": None})
    (verdicts,) = [text for text in texts(every) if "the same way under expert and best" in text]
    pairs = item(every, "pairs").frame.filter("significant")
    one = verdicts.split("only under expert (")[1].split(", ")[0].split(" above ")
    assert tuple(one) in set(pairs.select("first", "second").iter_rows())
    columns = ["system", "mean", "low", "high", "p_top", "top", "ruled_out_by"]
    of_compare = compared["systems"].filter(pl.col("measure") == "nDCG@3", pl.col("set") == "expert")
    assert item(page, "systems_2").frame.select(columns).equals(of_compare.select(columns))
    assert any("the best mean nDCG@3: " in text and "(the top set)" in text for text in texts(page))


@pytest.mark.parametrize(
    ("completed", "goal", "text"),
    [
        (8, None, "8 of 32 units are complete; results are preliminary."),
        (32, None, ""),
        (8, GoalEnd("best", (), ended=True), ""),
        (32, GoalEnd("best", (), ended=False), "The study has not stopped by its goal yet; results are preliminary."),
    ],
)
def test_a_report_says_at_the_top_that_a_study_goes_on(completed, goal, text):
    none = pl.DataFrame()
    assert preliminary(CollectedStudy("s", "h", None, None, *(none,) * 4, 32, completed, goal=goal)) == text
    assert preliminary(None) == ""


def test_a_report_says_at_the_top_which_assessors_are_not_people():
    kinds = ["person", "synthetic", "machine", "machine"]
    some = pl.DataFrame({"assessor_kind": kinds})
    assert not_people(some, None) == (
        "This is a rehearsal: 1 of 4 judgments come from synthetic assessors, not from people. It shows how the study "
        "works, not how relevant the documents are. 2 of 4 judgments come from machine assessors (language models), "
        "not from people."
    )
    machines = some.filter(assessor_kind="machine")
    both = "All 2 judgments and all 2 pairwise judgments come from machine assessors"
    assert not_people(machines, machines).startswith(both)
    assert not_people(some.filter(assessor_kind="person"), pl.DataFrame({"assessor": ["a"]})) == ""


def test_ratios_of_grades_are_drawn_for_ratio_scales_alone_and_few_of_many():
    from judgewell.reports.grade_figures import ratios

    ordinal = study()[0].with_columns(pl.col("value").log().round().clip(0, 3), scale=pl.lit("ordinal"))
    names = {one.name for one in assemble(sources(judgments=ordinal, method=parse("mean")), title="Grades").figures}
    assert "grade_ratios_figure" not in names
    assert "gains_by_grade_1" in names
    rows = [(float(low), float(up), 1.5, 1.2, 2.0, 10) for low in range(13) for up in range(low + 1, 13)]
    table = pl.DataFrame(rows, schema=["lower", "upper", "median", "q1", "q3", "ratios"], orient="row")
    (figure,) = ratios(table, "gains")
    assert table.height == 78
    assert figure.data["grades"].to_list() == [f"{low + 1} over {low}" for low in range(12)]
    assert "Only neighbouring grades are drawn" in figure.caption


def test_rankings_that_are_mostly_unjudged_are_named_beside_the_best_system():
    whole = study()[1]
    for labels, first in ((whole, False), (whole.filter(pl.col("doc").is_in(["d1", "d2", "d3"])), True)):
        report = assemble(sources(judgments=None, labels={"expert": labels}, method=None), title="Labels")
        part = next(one for one in report.parts if one.name == "systems")
        assert ("are not judged; their gain counts as 0" in part.findings[1].text) == first


def test_systems_that_share_the_best_mean_are_all_named():
    from judgewell.reports.system_findings import best

    means = {"system": ["a", "b", "c"], "mean": [0.5, 0.5, 0.2], "low": 0.4, "high": 0.6}
    table = pl.DataFrame({**means, "top": [True, True, False]})
    text = best(table, "nDCG@10", "nist", 9).text
    assert text.startswith("Under nist, a and b share the best mean nDCG@10: 0.5")
    assert text.endswith("the best system is one of 2 of 3 (the top set): a and b.")


@pytest.mark.parametrize("measures", [["nDCG@10", "P@10"], ["P@10", "nDCG@10"]])
def test_a_set_is_left_out_only_where_the_first_measure_has_no_meaning_and_the_reader_learns_why(measures):
    labels = study()[1]
    sets = {"grades": labels, "fractions": labels.with_columns(pl.col("gain") / 2)}
    given = sources(judgments=None, labels=sets, method=None, measures=parse_all(measures))
    page = assemble(given, title="Labels")
    scored = measures[0] == "nDCG@10"
    assert ("mean under fractions" in item(page, "systems").frame.columns) == scored
    why = "Systems could not be scored under fractions: P@10 counts relevant documents, and there is a gain of 0.5"
    assert any(text.startswith(why) for text in texts(page)) != scored
    assert item(page, "systems_2").title == f"Systems by {measures[1]}"


def test_few_scores_are_drawn_in_bins_that_the_caption_names():
    from judgewell.reports.participants import values_figures

    scores = pl.DataFrame({"value": [float(n * 37 % 101) for n in range(101)], "scale": "s100"})
    (figure,) = values_figures(scores)
    assert ", in bins of 10: 101 judgments" in figure.caption
    assert figure.data.select(pl.col("low").min(), pl.col("high").max(), pl.col("count").sum()).row(0) == (0, 100, 101)
    (figure,) = values_figures(pl.concat([scores] * 10))
    assert "bins" not in figure.caption
