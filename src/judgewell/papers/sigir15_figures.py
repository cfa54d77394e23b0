"""Turpin, Scholer, Mizzaro and Maddalena, SIGIR 2015: the figures."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgewell.agreement.grades import (
    adjacent_grade_tests,
    exception_counts,
    grade_distributions,
    order_agreement_summary,
)
from judgewell.agreement.scale_use import FAR, document_ratios, ratios_within_units, width_distribution
from judgewell.agreement.scale_use import widths as unit_widths
from judgewell.analysis.draws import score_of_draws
from judgewell.charts.marks import boxes, histogram, scatter
from judgewell.comparison.charts import score_points
from judgewell.comparison.correlation import tau_b
from judgewell.comparison.profiles import side_by_side
from judgewell.errors import DataError
from judgewell.evaluation.measures import parse
from judgewell.formats.runs import Run
from judgewell.papers.charts import box_numbers, box_panels, marked_boxes
from judgewell.papers.items import Made, beside
from judgewell.papers.sigir15_data import ERR, MEASURES, Data, scores_under
from judgewell.papers.sigir15_order import agreement_within_grades, overall
from judgewell.reports.parts import Figure, Grid
from judgewell.scaling.grade_ratios import with_labels
from judgewell.scaling.known import by_known
from judgewell.scaling.magnitude import normalised, sampled

NAMES = {"0": "N", "1": "M", "2": "R", "3": "H", "U": "U"}
FEWEST = 4  # units of a bar that is drawn
WIDEST = 20.0  # the magnitude above which Figure 8 only counts


def _named(frame: pl.DataFrame, four: bool) -> pl.DataFrame:
    """Grades by the paper's letters, where there are four; without a grade first, as in the paper."""
    label = pl.col("label").replace_strict(NAMES, default=pl.col("label")) if four else pl.col("label")
    return frame.with_columns(name=label).sort(pl.col("name") != "U", maintain_order=True)


def figure_1(data: Data) -> Made:
    """Figure 1: median magnitudes of documents by Sormunen's grade and by TREC's (§4.1); box 25–75 %."""
    shown: list[Figure | Grid] = []
    tests = []
    rows: list[tuple[str, float | None, float | None]] = []
    for name, labels, limit in (("Sormunen", data.crowd.expert, 0.002), ("TREC", data.crowd.two_valued, 0.001)):
        four = labels["gain"].n_unique() == 4
        frame = _named(grade_distributions(data.gains, labels), four)
        key = f"figure-1-{name.lower()}"
        shown.append(
            Figure(
                key,
                f"By {name}'s grade",
                "Documents' median normalised magnitudes; U has no grade. Boxes hold the middle half, whiskers end "
                "within 1.5 times its length.",
                boxes(frame, "grade", "median magnitude", log=_wide(frame)),
                frame.drop("name"),
            )
        )
        tested = adjacent_grade_tests(data.gains, labels).with_columns(labels=pl.lit(name))
        tests.append(tested)
        worst = tested["p_welch"].max()
        rows.append((f"{name}: largest p between adjacent grades (printed: below)", limit, _float(worst)))
    columns = (
        "labels",
        "lower",
        "upper",
        "lower_count",
        "upper_count",
        "lower_median",
        "upper_median",
        "p_student",
        "p_welch",
        "p_welch_log",
        "p_rank_sum",
        "note",
    )
    table = pl.concat(tests, how="vertical_relaxed")
    shown.append(
        Grid("figure-1-tests", "Adjacent grades", "Tests between the medians of adjacent grades.", table, columns)
    )
    note = "The paper's t-test is not named: here are Student's, Welch's, Welch's on logarithms and the rank-sum."
    return Made(tuple(shown), beside("figure-1", rows, same=data.crowd.same), (note,))


def _wide(frame: pl.DataFrame) -> bool:
    low, high = frame["whisker_low"].min(), frame["whisker_high"].max()
    return bool(low and high and float(low) > 0 and float(high) / float(low) > 100)  # type: ignore[arg-type]


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def figure_2(data: Data) -> Made:
    """Figure 2: the same for each topic, and how many medians of grades are out of order (§4.1)."""
    grades = data.crowd.expert
    frame = _named(grade_distributions(data.gains, grades, by=("topic",)), grades["gain"].n_unique() == 4)
    frame = frame.sort("topic", maintain_order=True).rename({"topic": "panel"})
    chart = box_panels(frame, "grade", "median magnitude", columns=4, log=_wide(frame))
    figure = Figure("figure-2", "Each topic", "As Figure 1, one panel for each topic.", chart, frame.drop("name"))
    counts = pl.concat(
        exception_counts(data.gains, labels).with_columns(labels=pl.lit(name))
        for name, labels in (("Sormunen", grades), ("TREC", data.crowd.two_valued))
    )
    exceptions = counts.group_by("grades", maintain_order=True).agg(pl.col("cases", "exceptions").sum())
    by = {row["grades"]: row for row in exceptions.iter_rows(named=True)}
    rows = [
        ("medians out of order, adjacent grades", 6.0, float(by["adjacent"]["exceptions"])),
        ("cases, adjacent grades", 72.0, float(by["adjacent"]["cases"])),
        ("cases, all pairs of grades", 126.0, float(by["all"]["cases"])),
        ("share out of order, adjacent", 6 / 72, by["adjacent"]["exceptions"] / by["adjacent"]["cases"]),
        ("share out of order, all", 6 / 126, by["all"]["exceptions"] / by["all"]["cases"]),
    ]
    grid = Grid(
        "figure-2-exceptions",
        "Medians out of order",
        "Pairs of grades of a topic whose medians go against the grades.",
        counts.select("labels", "grades", "cases", "exceptions", "share"),
    )
    note = "A topic without documents of a grade has fewer cases, so ours may be below 72 and 126."
    return Made((figure, grid), beside("figure-2", rows, same=data.crowd.same), (note,))


def figure_3(data: Data) -> Made:
    """Figure 3: the share of document pairs of two Sormunen grades that two sets of judgments order alike (§4.2)."""
    graded, binary = data.crowd.expert, data.crowd.two_valued
    compared = {"ME–S": (data.gains, graded, 0.77), "ME–T": (data.gains, binary, 0.64), "S–T": (graded, binary, 0.65)}
    pair = pl.concat_str(*(_letter(column, graded) for column in ("lower", "upper")))
    parts, rows = [], []
    for name, (one, other, printed) in compared.items():
        table = agreement_within_grades(one, other, graded)
        parts.append(table.with_columns(panel=pl.lit(name), name=pair))
        rows += [(f"{name}, {way}, ties half", printed, value) for way, value in overall(table).items()]
    frame = box_numbers(pl.concat(parts), "half", ["panel", "name"])
    chart = box_panels(frame, "grades", "share of pairs ordered alike", zero=True)
    caption = (
        "Over topics: document pairs of two of Sormunen's grades that both order alike, a tie in either as one half."
    )
    figure = Figure("figure-3", "Document pairs ordered alike", caption, chart, frame)
    readings = {
        "ME–S": (data.gains, graded),
        "T–S": (binary, graded),
        "ME–T": (data.gains, binary),
        "S–T": (graded, binary),
    }
    tables = [
        order_agreement_summary(scores, labels).with_columns(compared=pl.lit(name))
        for name, (scores, labels) in readings.items()
    ]
    grid = Grid(
        "figure-3-readings",
        "Other readings",
        "Pairs of grades of the second that the first puts in order (ME: median magnitudes, S: Sormunen, T: TREC), "
        "with ties as one half, as agreement (lenient) and as disagreement (strict).",
        pl.concat(tables),
        ("compared", "figure", "half", "lenient", "strict", "pairs", "tied", "topics", "topics_without"),
    )
    notes = (
        "The paper's text calls it agreement when the lower document's score is lower or equal. TREC's two values tie "
        "so often that its 64 % and 65 % cannot come from that rule: over pairs of Sormunen's grades with ties as one "
        "half they do. The other readings are in the table.",
        "The paper says a pair disagrees when the second is higher; it must be the first.",
        "The overall figure is the mean over pairs of grades, or pooled over document pairs; the paper does not say.",
    )
    return Made((figure, grid), beside("figure-3", rows, same=data.crowd.same), notes)


def _letter(column: str, labels: pl.DataFrame) -> pl.Expr:
    text = pl.col(column).cast(pl.Int64).cast(pl.String)
    return text.replace_strict(NAMES, default=text) if labels["gain"].n_unique() == 4 else text


def figure_4(data: Data) -> Made:
    """Figure 4: systems' scores with binary labels and with magnitudes as gains (§5.1)."""
    one = data.collection
    printed = {"nDCG@10": (0.81, 0.44), ERR: (None, 0.76)}
    return _systems("figure-4", one.runs, one.gains, one.binary, "binary labels", printed, one.same)


def figure_5(data: Data) -> Made:
    """Figure 5: simulated systems' scores with Sormunen's grades and with magnitudes as gains (§5.1)."""
    one = data.collection
    printed = {"nDCG@10": (0.53, 0.51), ERR: (None, 0.81)}
    return _systems("figure-5", data.simulated(one), one.gains, one.graded, "expert grades", printed, one.same)


def _systems(
    name: str,
    runs: tuple[Run, ...],
    gains: pl.DataFrame,
    labels: pl.DataFrame,
    labels_name: str,
    printed: dict[str, tuple[float | None, float]],
    same: bool,
) -> Made:
    shown: list[Figure | Grid] = []
    rows: list[tuple[str, float | None, float | None]] = []
    tables = []
    for measure in MEASURES:
        sets = scores_under(runs, {"magnitudes": gains, labels_name: labels}, measure)
        table = side_by_side(sets, test="wilcoxon", common=True)
        points = score_points(sets).rename({"system": "name"})
        key = f"{name}-{measure.partition('@')[0].partition('(')[0].lower()}"
        chart = scatter(points, f"{measure} with magnitudes", f"{measure} with {labels_name}", "system")
        said_tau = f"Kendall's τ-b {table['tau_b'][0]:.3f}; lines are 95 % intervals over topics."
        shown.append(Figure(key, measure, f"One dot for each of {len(points)} systems. {said_tau}", chart, points))
        rows.append((f"{measure}: τ", printed[measure][0], table["tau_b"][0]))
        rows.append((f"{measure}: overlap of top sets", printed[measure][1], table["top_jaccard"][0]))
        rows.append((f"{measure}: overlap, share of the magnitudes' set", printed[measure][1], table["top_share"][0]))
        tables.append(table.with_columns(measure=pl.lit(measure)))
    columns = (
        "measure",
        "tau_b",
        "tau_a",
        "tau_ap",
        "rbo",
        "top_first",
        "top_second",
        "top_shared",
        "top_jaccard",
        "top_share",
    )
    caption = "Top sets: systems that do not differ significantly from the best (Wilcoxon's signed-rank test at 0.05)."
    shown.append(Grid(f"{name}-sets", "How alike the orders are", caption, pl.concat(tables), columns))
    note = "The paper names neither its variant of τ nor its rule for the overlap; τ-b and Jaccard come first here."
    return Made(tuple(shown), beside(name, rows, same=same), (note,))


def figure_6(data: Data) -> Made:
    """Figure 6: τ when each document's gain is one random score of it, drawn again and again (§5.2)."""
    study, rng = data.study, np.random.default_rng(data.seed)
    scores = normalised(study.judgments)
    draws = sampled(scores, rng, data.draws)
    documents = data.study_gains.sort("topic", "doc")
    rows: list[tuple[str, float | None, float | None]] = []
    points = []
    for labels, gains, runs in (
        ("TREC", study.two_valued, study.runs),
        ("Sormunen", study.expert, data.simulated(study)),
    ):
        for measure in MEASURES:
            reference = scores_under(runs, {labels: gains, "magnitudes": documents}, measure)[labels]
            score = score_of_draws(runs, documents, parse(measure), reference)
            taus = tau_b(score(np.vstack([draws, documents["gain"].to_numpy()])).mean(axis=-1), reference.means)
            name = f"{labels} {measure.partition('(')[0].partition('@')[0]}@10"
            points.append(pl.DataFrame({"name": name, "tau": taus[:-1][~np.isnan(taus[:-1])]}))
            rows.append((f"{name}: τ of the medians", None, float(taus[-1])))
            rows.append((f"{name}: median τ of single scores", None, _median(taus[:-1])))
    frame = box_numbers(pl.concat(points), "tau", ["name"])
    chart = boxes(frame, "labels and measure", "Kendall's τ-b")
    caption = f"{data.draws} times one of its normalised scores at random is each document's gain."
    figure = Figure("figure-6", "τ over random scores", caption, chart, frame)
    note = "The paper says that single scores give lower τ than medians; its values can only be read off the drawing."
    return Made((figure,), beside("figure-6", rows, same=data.study.same), (note,))


def _median(values: np.ndarray) -> float | None:
    """The median of what is defined: a draw that makes all systems equal has no τ."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def figure_7(data: Data) -> Made:
    """Figure 7: units by width H/N, rounded to the nearest 5, halves upward (§5.2)."""
    widths = unit_widths(data.crowd.judgments, offset=data.offset)
    counts = width_distribution(widths)
    shown = counts.filter(pl.col("units") >= FEWEST)
    hidden = int(counts.filter(pl.col("units") < FEWEST)["units"].sum())
    bars = shown.select(low=pl.col("width") - 2.5, high=pl.col("width") + 2.5, count="units")
    chart = histogram(bars, "width H/N, to the nearest 5", "units")
    caption = f"Bars of fewer than {FEWEST} units ({hidden} in all) are not drawn."
    figure = Figure("figure-7", "Widths of units", caption, chart, counts)
    middle = _float(widths["width"].median())
    rows = [
        ("units", 7059.0, float(widths.height)),
        ("median width", 5.0, middle),
        ("units not drawn", 37.0, float(hidden)),
    ]
    notes = ("A width of exactly 2.5, 7.5 … is rounded upward; the paper does not say.",)
    return Made((figure,), beside("figure-7", rows, same=data.crowd.same), notes)


def figure_8(data: Data) -> Made:
    """Figure 8: magnitudes over the unit's N document by grade, beside linear and exponential gains (§6)."""
    scores = with_labels(by_known(data.crowd.judgments, offset=data.offset, missing="skip"), data.crowd.expert)
    labelled = scores.drop_nulls("label").rename({"normalised": "ratio"})
    frame = box_numbers(labelled, "ratio", ["label"]).sort("label")
    above = labelled.group_by("label").agg(above=(pl.col("ratio") > WIDEST).sum())
    ranks = pl.int_range(1, pl.len() + 1)
    names = [NAMES.get(f"{grade:g}", f"{grade:g}") for grade in frame["label"]]
    frame = frame.join(above, on="label", how="left", maintain_order="left").with_columns(
        linear=ranks.cast(pl.Float64), exponential=(2.0**ranks), name=pl.Series(names)
    )
    chart = marked_boxes(frame, "grade", "magnitude / N's magnitude", ("linear", "exponential"))
    caption = (
        "Scores over the score of the same unit's known N document, which is excluded itself. In the data, "
        f"above counts scores above {WIDEST:g}."
    )
    kept = with_labels(
        by_known(data.crowd.judgments, offset=data.offset, missing="skip", keep_known=True), data.crowd.expert
    )
    other = kept.drop_nulls("label").group_by("label").agg(median=pl.col("normalised").median(), scores=pl.len())
    readings = frame.select("label", "median", scores="documents").join(
        other.sort("label"), on="label", suffix=" with N", how="left", maintain_order="left"
    )
    about = "Medians with the known N document excluded from its grade, and with it (always 1)."
    grid = Grid("figure-8-readings", "Both readings", about, readings)
    figure = Figure("figure-8", "Gains of the grades", caption, chart, frame.drop("name"))
    notes = ("Whether the N document itself, always 1, counts in grade N is not said in the paper.",)
    return Made((figure, grid), None, notes)


def figure_9(data: Data) -> Made:
    """Figure 9: the ratio of highly relevant to relevant and marginal documents (§6)."""
    grades = data.crowd.expert
    highest = grades["gain"].max()
    middle = grades.filter((pl.col("gain") > 0) & (pl.col("gain") < highest))
    merged = pl.concat([grades.filter(pl.col("gain") == highest), middle.with_columns(gain=pl.lit(1.0))])
    if middle.is_empty():
        raise DataError("the labels have no grade between the lowest and the highest; give labels of three or more")
    parts = []
    for which, labels in (("", grades), (" merged", merged)):
        table = ratios_within_units(data.crowd.judgments, labels, offset=data.offset)
        own = table.filter((pl.col("upper") == highest) & (pl.col("lower") > 0))
        label = _letter("lower", grades) if not which else pl.lit("(R, M)")
        parts.append(own.with_columns(name=pl.format("H/{}", label)).select("name", "ratio"))
    frame = box_numbers(pl.concat(parts), "ratio", ["name"])
    beyond = pl.concat(parts).group_by("name").agg(beyond=(pl.col("ratio") > FAR).sum())
    frame = frame.join(beyond, on="name", how="left", maintain_order="left")
    over = document_ratios(data.gains, merged, offset=data.offset if data.gains["gain"].min() == 0 else 0.0)
    drawn = frame.with_columns(pl.col("whisker_low", "q1", "median", "q3", "whisker_high").clip(upper_bound=FAR))
    chart = boxes(drawn, "grades", "ratio of magnitudes")
    caption = (
        f"Pairs of documents of one unit. The drawing ends at {FAR:g}, like the paper's; in the data, beyond counts "
        "larger ratios."
    )
    figure = Figure("figure-9", "Ratios of grades", caption, chart, frame)
    both = frame.filter(pl.col("name") == "H/(R, M)")
    about = "The same ratio between document medians of a topic instead of within a unit."
    grid = Grid("figure-9-documents", "The other reading", about, over)
    rows = [
        (
            "median H/(R, M), within units (Kanoulas and Aslam: 1.1)",
            1.1,
            _float(both["median"][0]) if len(both) else None,
        ),
        ("median H/(R, M), between document medians", 1.1, _float(over["median"][0]) if len(over) else None),
    ]
    notes = ("“Over all pairs of documents” may mean within a unit or between document medians; both are shown.",)
    return Made((figure, grid), beside("figure-9", rows, same=data.crowd.same), notes)
