"""Reports of real studies: what must come out, and that a big one is quick enough and small enough."""

import warnings

import numpy as np
import polars as pl
import pytest
from report_studies import study

from judgewell.evaluation.measures import parse_all
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_judgments
from judgewell.formats.runs import open_runs
from judgewell.reports.assemble import assemble
from judgewell.reports.page import render
from judgewell.reports.sources import Sources, with_codes
from judgewell.scaling.methods import parse

MEGABYTES = 1_000_000


def grid(report, name):
    return next(one.frame for one in report.grids if one.name == name)


def findings(report):
    return [one.text for part in report.each() for one in part.findings]


@pytest.mark.realdata
@pytest.mark.long
def test_scores_of_the_trec8_study(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judgments, _ = with_codes(read_judgments(data / "trec8-s100" / "judgments.csv.gz"), None)
    levels = judgments.select("topic", "doc", gain="sormunen").drop_nulls().unique(maintain_order=True)
    sources = Sources(
        judgments=judgments, labels={"sormunen": read_gains(levels)}, method=parse("median"), replicates=50
    )
    report = assemble(sources, title="TREC-8, 0 to 100")
    work = "1,340 assessors gave 56,472 judgments of 4,269 documents in 18 topics"
    assert any(text.startswith(work) for text in findings(report))
    assert any("most frequent value is 0 (30.9 %" in text for text in findings(report))
    known = "Every unit orders its known documents correctly (7,059 comparisons). This is no sign of care where"
    assert any(text.startswith(known) for text in findings(report))
    medians = "17.00 at grade 0, 75.00 at grade 1, 89.00 at grade 2, 91.50 at grade 3"
    assert f"Median gains rise with every grade of the label set sormunen: {medians}." in findings(report)
    inventory = dict(grid(report, "asked").iter_rows())
    assert inventory["units"] == "7,059"
    assert inventory["known documents"] == "36 in 18 topics"
    assert "Needs runs" in grid(report, "not_analysed")["reason"].to_list()
    page = render(report)
    assert len(page.encode()) < 5 * MEGABYTES
    assert "gAAAAA" not in page  # no one's id


@pytest.mark.realdata
@pytest.mark.long
def test_systems_of_dl21_under_two_sets_of_labels(data):
    folder = data / "trec-dl21"
    other = next(folder.glob("labels/umbrella_gpt-4_*"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = {"nist": read_gains(folder / "qrels.nist.txt"), "umbrela": read_gains(other)}
    runs = open_runs(sorted(map(str, folder.glob("runs/*"))))
    report = assemble(Sources(labels=labels, runs=runs, measures=parse_all(["nDCG@10"]), worlds=200), title="DL 2021")
    systems = grid(report, "systems")
    assert systems.height == 63
    assert systems.head(3)["mean"].n_unique() == 1  # three runs tie for best
    assert systems.head(3)["top"].all()
    assert grid(report, "sets")["tau_b"][0] > 0.8
    assert any("score the same" in note for part in report.each() for note in part.notes)
    assert len(render(report).encode()) < 5 * MEGABYTES


@pytest.mark.long
def test_a_hundred_thousand_judgments_and_129_systems():
    judgments, labels, runs = study(topics=50, docs=200, per=10, systems=129, seed=3)
    assert judgments.height == 100_000
    names = np.array([f"w{number}" for number in range(1500)])
    unit = judgments["unit"].str.strip_prefix("u").cast(pl.Int64).to_numpy()
    judgments = judgments.with_columns(
        assessor=pl.Series(names[np.random.default_rng(0).integers(0, 1500, unit.max() + 1)[unit]])
    )
    sources = Sources(
        judgments=judgments,
        labels={"expert": labels},
        runs=open_runs(runs),
        measures=parse_all(["nDCG@10"]),
        method=parse("magnitude"),
    )
    page = render(assemble(sources, title="Big"))
    assert len(page.encode()) < 5 * MEGABYTES
    assert "First 200 of 8,256 rows." in page
