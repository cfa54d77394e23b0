"""`compare` with people's gains of some documents and a machine's labels of all."""

import numpy as np
import polars as pl
import pytest

from judgewell import compare, sample
from judgewell.errors import InputError, collect_notes
from judgewell.formats.runs import open_runs
from judgewell.study.design.importance import draw, population

MEASURE = "DCG@10"


@pytest.fixture(scope="module")
def collection():
    """The sample collection: its levels are people's gains, and a machine is one too high for a third of them."""
    truth = sample.levels().select("topic", "doc", "gain")
    rng = np.random.default_rng(1)
    labels = truth.with_columns(gain=(pl.col("gain") + pl.Series(rng.random(len(truth)) < 1 / 3)).clip(0, 3))
    whole = population(open_runs(sample.runs()), labels)
    return truth, labels, whole.join(truth, on=["topic", "doc"], how="left").with_columns(pl.col("gain").fill_null(0))


def people(collection, budget, seed=0):
    _, _, whole = collection
    return draw(whole, budget, seed).join(whole.select("topic", "doc", "gain"), on=["topic", "doc"])


def test_everything_judged_gives_the_ordinary_scores(collection):
    _, labels, whole = collection
    gains = whole.select("topic", "doc", "gain")
    found = compare(runs=sample.runs(), gains=gains, machine=labels, measure=[MEASURE, "nDCG@10"])
    plain = compare(runs=sample.runs(), gains=gains, measure=[MEASURE, "nDCG@10"])
    one, other = found["systems"].sort("measure", "system"), plain["systems"].sort("measure", "system")
    assert one["mean"].to_numpy() == pytest.approx(other["mean"].to_numpy())
    assert one["low"].to_numpy() == pytest.approx(one["high"].to_numpy())
    assert one["topics_low"].to_numpy() == pytest.approx(other["low"].to_numpy(), rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_sample_gives_intervals_and_its_record(collection):
    _, labels, whole = collection
    gains = people(collection, 260)
    found = compare(runs=sample.runs(), gains={"people": gains}, machine=labels, measure=MEASURE)
    plain = compare(runs=sample.runs(), gains=whole.select("topic", "doc", "gain"), measure=MEASURE)
    both = found["systems"].join(plain["systems"].select("system", truth="mean"), on="system")
    inside = (both["low"] <= both["truth"]) & (both["truth"] <= both["high"])
    assert inside.mean() > 0.8
    assert (both["machine"] > both["truth"]).all()
    assert (both["topics_high"] - both["topics_low"]).mean() > (both["high"] - both["low"]).mean()
    assert sorted(both["order"].to_list())[0] == 1
    documents = found["documents"]
    judged = documents.filter(pl.col("gain").is_not_null())
    assert len(judged) == 260
    expected = judged["predicted"] + (judged["gain"] - judged["predicted"]) / judged["inclusion"]
    assert judged["pseudo_gain"].to_numpy() == pytest.approx(expected.to_numpy())
    assert "from the machine's labels and the 260 of 467 documents that people judged" in str(found)
    best = found["systems"]["system"][0]
    own = found["pairs"].filter((pl.col("first") == best) | (pl.col("second") == best))
    lead = f"{best} has the highest mean. It differs significantly from {own['significant'].sum()} of the {len(own)} "
    assert lead in " ".join(str(found).split())
    again = compare(runs=sample.runs(), gains={"people": gains}, machine=labels, measure=MEASURE)
    assert again["systems"].equals(found["systems"])


def test_without_probabilities_the_assumption_is_noted(collection):
    _, labels, _ = collection
    gains = people(collection, 260).drop("inclusion")
    with pytest.warns(UserWarning, match="no column inclusion"):
        compare(runs=sample.runs(), gains=gains, machine=labels, measure=MEASURE)


def test_a_measure_without_a_known_interval_gets_none(collection):
    _, labels, _ = collection
    with pytest.warns(UserWarning, match=r"ERR.*has no interval here"):
        found = compare(runs=sample.runs(), gains=people(collection, 260), machine=labels, measure="ERR@10")
    assert "low" not in found["systems"].columns
    assert found["systems"]["mean"].null_count() == 0
    with pytest.raises(InputError, match="give it a cutoff"):
        compare(runs=sample.runs(), gains=people(collection, 260), machine=labels, measure="AP")


def test_documents_that_were_not_drawn_are_left_out(collection):
    _, labels, whole = collection
    gains = people(collection, 260)
    known = whole.join(gains, on=["topic", "doc"], how="anti").head(3).select("topic", "doc", "gain")
    with pytest.warns(UserWarning, match="3 documents that people judged were not drawn"):
        more = compare(
            runs=sample.runs(), gains=pl.concat([gains, known], how="diagonal"), machine=labels, measure=MEASURE
        )
    assert more["calibration"]["judged"].to_list() == [260]


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_asked_for_is_refused(collection):
    _, labels, _ = collection
    gains = people(collection, 260)
    with pytest.raises(InputError, match="2 sets of gains cannot be used with --machine"):
        compare(runs=sample.runs(), gains={"a": gains, "b": gains}, machine=labels)
    with pytest.raises(InputError, match="--random cannot be used with --machine"):
        compare(runs=sample.runs(), gains=gains, machine=labels, random=True)
    noisy = gains.with_columns(gain=pl.col("gain") + pl.int_range(pl.len()) / 1000)
    with pytest.raises(InputError, match="needs grades"):
        compare(runs=sample.runs(), gains=noisy, machine=labels, measure="nDCG@10")


@pytest.mark.filterwarnings("ignore")
def test_the_documents_needed_for_a_width_give_about_that_width(collection):
    given = {"runs": sample.runs(), "machine": collection[1], "measure": "P(rel=2)@10"}
    small = compare(**given, gains=people(collection, 160))
    needed = small["needed"].filter(pl.col("width") == 0.02).row(0, named=True)
    assert 160 < needed["mean"] < len(small["documents"])
    wide = small["needed"]
    assert wide["mean"].is_sorted(descending=True)
    assert wide["difference"].is_sorted(descending=True)
    larger = compare(**given, gains=people(collection, needed["mean"]))
    half = (larger["systems"]["high"] - larger["systems"]["low"]).mean() / 2
    assert half == pytest.approx(0.02, rel=0.4)
    assert "Documents that people judge until the typical interval" in str(small)


def test_labels_that_are_not_needed_are_noted(collection):
    _, labels, whole = collection
    gains = whole.select("topic", "doc", "gain")
    with collect_notes() as notes:
        compare(runs=sample.runs(), gains=gains, machine=labels, measure=MEASURE)
    assert any(one.startswith("people judged 467 of 467 documents, so the machine's labels add") for one in notes)
