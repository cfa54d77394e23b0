"""People and machines: what is compared, and what the data do not allow."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgewell import agree
from judgewell.agreement import machines
from judgewell.errors import DataError, JudgewellWarning

SECTION = ["people and machines"]


def studies(
    seed: int = 0, topics: int = 12, documents: int = 20, off: float = 0.6
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Grades by three people, and a machine that is too generous, most visibly to the worst documents."""
    rng = np.random.default_rng(0)
    worth = rng.normal(1.3, 1.1, (topics, documents))
    rows = []
    for who in "abc":
        seen = np.clip(np.rint(worth + 0.5 * rng.normal(size=worth.shape)), 0, 3)
        rows += [(f"t{t}", f"d{d}", who, seen[t, d]) for t in range(topics) for d in range(documents)]
    generous = np.clip(np.rint(worth + off + 0.5 * rng.normal(size=worth.shape)), 0, 3)
    label = [(f"t{t}", f"d{d}", generous[t, d]) for t in range(topics) for d in range(documents)]
    people = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")
    return people, pl.DataFrame(label, schema=["topic", "doc", "gain"], orient="row")


def test_bias_and_agreement_by_hand() -> None:
    people = pl.DataFrame({"topic": list("aabb"), "doc": list("1212"), "gain": [0.0, 1, 2, 3]})
    machine = pl.DataFrame({"topic": list("aabb"), "doc": list("1219"), "gain": [1.0, 1, 3, 0]})
    row = machines.agreement(people, {"m": machine}, 50, 0).row(0, named=True)
    assert (row["documents"], row["equal"], row["higher"], row["lower"]) == (3, pytest.approx(1 / 3), 2 / 3, 0)
    assert row["bias"] == pytest.approx(2 / 3)
    assert row["low"] is None  # two topics are too few for an interval
    table = machines.confusions(people, {"m": machine})
    filled = table.filter(pl.col("documents") > 0)
    assert filled.rows() == [("m", 0, 1, 1, 1.0), ("m", 1, 1, 1, 1.0), ("m", 2, 3, 1, 1.0)]


def test_the_interval_over_topics_is_the_jackknife_of_a_ratio() -> None:
    rng = np.random.default_rng(1)
    topic = np.repeat(np.arange(8), rng.integers(2, 9, 8))
    values = rng.normal(size=len(topic))
    found = machines.cluster_mean(values, pl.DataFrame({"topic": topic.astype(str)}))
    without = np.array([values[topic != one].mean() for one in range(8)])
    spread = np.sqrt(7 / 8 * np.square(without - without.mean()).sum())
    assert found["bias"] == pytest.approx(values.mean())
    assert found["high"] - found["bias"] == pytest.approx(2.364624 * spread, rel=1e-5)


def test_coverage_of_the_bias_over_topics() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        topic = np.repeat(np.arange(15), 12)
        values = 0.3 + 0.4 * rng.normal(size=15)[topic] + rng.normal(size=len(topic))
        found = machines.cluster_mean(values, pl.DataFrame({"topic": topic.astype(str)}))
        held += found["low"] <= 0.3 <= found["high"]
    assert 0.92 <= held / 400 <= 0.98


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
def test_a_generous_machine_is_described_in_sentences() -> None:
    people, machine = studies()
    lengths = pl.DataFrame({"doc": [f"d{d}" for d in range(20)], "text": ["word " * (d + 1) for d in range(20)]})
    made = agree(
        people, machine={"llm": machine}, documents=lengths, section=SECTION, kind="ordinal:0..3", replicates=50
    )
    row = made["machine_agreement"].row(0, named=True)
    assert row["low"] > 0.2
    assert row["weighted_low"] < row["weighted_kappa"] < row["weighted_high"]
    alone, joined = made["machine_alpha"]["alpha"]
    assert joined < alone
    assert any("the machine agrees with people less than they agree with each other" in text for text in made.findings)
    assert made["machine_bias"]["by"].unique(maintain_order=True).to_list() == ["people’s grade", "length", "topic"]
    shorter, middle, longer = made["machine_bias"].filter(by="length")["group"]
    assert shorter.startswith("up to")
    assert middle.startswith("up to")
    assert longer.startswith("more than")
    lowest, *_, highest = made["machine_bias"].filter(by="people’s grade")["bias"]
    assert lowest > 0.5
    assert highest < 0
    assert made.not_analysed["people and machines, machine_systems"] == "needs runs (--runs)"


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
def test_judgments_by_a_machine_are_kept_apart_from_peoples() -> None:
    people, machine = studies()
    mine = machine.select("topic", "doc", assessor=pl.lit("gpt"), value="gain", assessor_kind=pl.lit("machine"))
    both = pl.concat([people.with_columns(assessor_kind=pl.lit("person")), mine])
    with pytest.warns(JudgewellWarning, match="240 judgments by 1 machine assessors are compared with people's"):
        made = agree(both, section=[*SECTION, "reliability"], kind="ordinal:0..3", replicates=50)
    alone = agree(people, section=["reliability"], kind="ordinal:0..3", replicates=50)
    assert made["alpha"]["alpha"].item() == alone["alpha"]["alpha"].item()
    assert made["machine_agreement"]["machine"].to_list() == ["gpt"]


def test_labels_on_another_scale_are_compared_by_order_alone() -> None:
    people, machine = studies()
    other = machine.with_columns(pl.col("gain") * 10 - 5)
    with pytest.warns(JudgewellWarning, match="outside people's scale, so only its order is compared"):
        made = machines.agreement(machines.people_of(people), {"llm": other}, 20, 0)
    assert made.columns == ["machine", "documents", "topics", "tau_b"]
    with pytest.raises(DataError, match="no machine's labels are on people's scale"), pytest.warns(JudgewellWarning):
        machines.biases(machines.people_of(people), {"llm": other}, None, None)


def test_first_looks_prefer_labels_that_were_often_wrong_and_that_many_runs_rank() -> None:
    people = pl.DataFrame({"topic": ["t"] * 4, "doc": list("abcd"), "gain": [0.0, 0, 1, 1]})
    label = {"topic": ["t"] * 7, "doc": list("abcdxyz"), "gain": [1.0, 1, 1, 0, 1, 0, 1]}
    ranks = pl.DataFrame({"topic": ["t"] * 2, "doc": ["x", "z"], "rank": [1, 2], "systems": [1, 5]})
    looks = machines.first_looks(people, {"m": pl.DataFrame(label)}, ranks)
    assert looks["doc"].to_list() == ["z", "x", "y"]
    assert looks["wrong"][0] == pytest.approx((2 + 5 * 2 / 3) / 8)
    assert looks["expected"].to_list() == pytest.approx([1 / 3, 1 / 3, 1])
    with pytest.raises(DataError, match="people have judged every document that the machine labelled"):
        machines.first_looks(people, {"m": people}, None)


def test_a_machine_that_prefers_the_left_side() -> None:
    rows = []
    for t in range(6):
        for number in range(10):
            a, b = f"a{number}", f"b{number}"
            for left, right in ((a, b), (b, a)):
                rows.append((f"t{t}", left, right, "m", "left", "machine"))
                rows.append((f"t{t}", left, right, "p", "left" if left == a else "right", "person"))
    names = ["topic", "left", "right", "assessor", "preferred", "assessor_kind"]
    pairs = pl.DataFrame(rows, schema=names, orient="row")
    table = machines.pair_positions(pairs)
    machine, people = (table.filter(by=name).row(0, named=True) for name in ("m", "people"))
    assert (machine["left"], machine["consistent"], machine["both_orders"]) == (1.0, 0.0, 60)
    assert (people["left"], people["consistent"]) == (0.5, 1.0)
    made = agree(pairs, section=SECTION)
    assert made.findings == [
        "m prefers the left document in 100 % of answers [1, 1]; the same document wins in 0 % of 60 pairs shown in "
        "both orders."
    ]
    with pytest.raises(DataError, match="no pair was answered by a machine"):
        machines.pair_positions(pairs.drop("assessor_kind"))


def drawn_by_gain(people: pl.DataFrame, seed: int) -> pl.DataFrame:
    """A sample in which documents of high grades are much likelier, with the probabilities."""
    inclusion = np.where(people["gain"].to_numpy() >= 2, 0.8, 0.2)
    kept = np.random.default_rng([3, seed]).random(people.height) < inclusion
    return people.with_columns(inclusion=pl.Series(inclusion)).filter(pl.Series(kept))


def test_drawn_documents_count_one_over_their_probability() -> None:
    judgments, machine = studies(topics=40)
    people = machines.people_of(judgments)
    names = ["equal", "higher", "bias", "kappa", "weighted_kappa", "tau_b"]
    whole = machines.agreement(people, {"m": machine}, 0, 0).select(names).to_numpy()[0]
    samples = [drawn_by_gain(people, seed) for seed in range(30)]
    weighted = np.array([machines.agreement(one, {"m": machine}, 0, 0).select(names).to_numpy()[0] for one in samples])
    plain = [machines.agreement(one.drop("inclusion"), {"m": machine}, 0, 0) for one in samples]
    unweighted = np.array([one.select(names).to_numpy()[0] for one in plain])
    assert weighted.mean(axis=0) == pytest.approx(whole, abs=0.02)
    assert abs(unweighted.mean(axis=0)[2] - whole[2]) > 0.1  # the generous machine errs most at the bottom
    cells = machines.confusions(samples[0], {"m": machine})
    assert cells.group_by("people").agg(pl.col("share").sum())["share"].to_numpy() == pytest.approx(np.ones(4))


@pytest.mark.realdata
def test_a_sample_of_dl21_speaks_for_the_whole_pool(data) -> None:
    from judgewell.formats.gains import read_gains
    from judgewell.formats.runs import open_runs
    from judgewell.study.design.importance import draw, population

    folder = data / "trec-dl21"
    people = read_gains(folder / "qrels.nist.txt")
    machine = read_gains(folder / "labels" / "umbrella_gpt-4_zeroshot_dl21.txt.gz")
    runs = open_runs(sorted(str(path) for path in (folder / "runs").glob("*"))[::6])
    pool = population(runs, people).filter(pl.col("label").is_not_null())
    names = ["equal", "bias", "weighted_kappa"]
    both = people.join(machine.select("topic", "doc"), on=["topic", "doc"], how="semi")
    whole = machines.agreement(both, {"m": machine}, 0, 0).select(names).to_numpy()[0]
    found = {"weighted": [], "plain": []}
    for seed in range(6):
        sample = draw(pool, 2000, seed).join(people, on=["topic", "doc"]).drop_nulls("gain")
        for name, one in (("weighted", sample), ("plain", sample.drop("inclusion"))):
            found[name].append(machines.agreement(one, {"m": machine}, 0, 0).select(names).to_numpy()[0])
    error = {name: np.abs(np.mean(rows, axis=0) - whole) for name, rows in found.items()}
    assert np.all(error["weighted"] < 0.04)
    assert error["plain"][1] > 2 * error["weighted"][1]
