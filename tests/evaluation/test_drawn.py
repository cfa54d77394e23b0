"""Gains with inclusion probabilities: estimates are unbiased, the same everywhere, and never count a document as 0."""

import warnings

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from judgewell import compare, evaluate, report
from judgewell.commands.evaluate import evaluate as evaluate_command
from judgewell.errors import JudgewellWarning, collect_notes

TOPICS, DOCS = 12, 30
MEASURES = ["DCG@10", "CG@10", "RBP(p=0.8)@10", "P(rel=0.5)@10"]


def collection(seed=0):
    """Runs that rank by the true gain with more and more noise, and the true gains (0 to 1) of all documents."""
    rng = np.random.default_rng(seed)
    gains = pl.DataFrame(
        [(f"t{topic:02}", f"d{doc:02}", float(rng.beta(1, 2))) for topic in range(TOPICS) for doc in range(DOCS)],
        ["topic", "doc", "gain"],
        orient="row",
    )
    runs = [
        gains.select("topic", "doc", score=pl.col("gain") + pl.Series(rng.normal(0, noise, len(gains)))).with_columns(
            system=pl.lit(name)
        )
        for name, noise in (("A", 0.1), ("B", 0.3), ("C", 0.6))
    ]
    return pl.concat(runs).select("system", "topic", "doc", "score"), gains


def drawn(gains, seed, chance=0.4):
    """A sample in which better documents are likelier, as where systems' first documents matter most."""
    rng = np.random.default_rng([7, seed])
    inclusion = np.clip(chance * (0.5 + gains["gain"].to_numpy()), 0.05, 1)
    return gains.with_columns(inclusion=pl.Series(inclusion)).filter(pl.Series(rng.random(len(gains)) < inclusion))


def means(runs, gains, measures):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        scores = evaluate(runs, gains, measures)
    table = scores.group_by("measure", "system").agg(pl.col("value").mean()).sort("measure", "system")
    return table["value"].to_numpy().reshape(len(measures), -1)


def test_the_mean_over_samples_of_sums_of_gains_is_the_true_score():
    runs, gains = collection()
    truth = means(runs, gains, MEASURES)
    samples = np.array([means(runs, drawn(gains, seed), MEASURES) for seed in range(60)])
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(axis=0) - truth) < 4 * error)
    gaps = samples[:, :, 0] - samples[:, :, 2]
    assert (gaps.mean(axis=0) / (truth[:, 0] - truth[:, 2])).round(2) == pytest.approx(np.ones(4), abs=0.15)


def test_ndcg_is_near_the_true_one_and_far_from_that_of_judged_documents():
    runs, gains = collection()
    truth = means(runs, gains, ["nDCG@10"])
    samples = np.mean([means(runs, drawn(gains, seed), ["nDCG@10"]) for seed in range(20)], axis=0)
    plain = np.mean([means(runs, drawn(gains, seed).drop("inclusion"), ["nDCG@10"]) for seed in range(20)], axis=0)
    assert np.abs(samples - truth).max() < 0.1
    assert np.all(plain < truth - 0.15)


def test_everything_drawn_for_certain_is_what_it_is():
    runs, gains = collection()
    sure = gains.with_columns(inclusion=pl.lit(1.0))
    assert np.array_equal(means(runs, sure, ["DCG@10", "nDCG@10"]), means(runs, gains, ["DCG@10", "nDCG@10"]))


def test_a_document_with_probability_1_counts_with_its_own_gain():
    runs, gains = collection()
    rare = pl.DataFrame({"topic": ["t00"], "doc": ["d00"]})
    sample = gains.with_columns(inclusion=pl.lit(1.0)).join(rare, on=["topic", "doc"], how="anti")
    one = gains.join(rare, on=["topic", "doc"]).with_columns(inclusion=pl.lit(0.999999))
    almost = pl.concat([sample, one.select(sample.columns)])
    assert means(runs, almost, ["DCG@10"]) == pytest.approx(means(runs, gains, ["DCG@10"]), abs=1e-5)


def test_evaluate_its_command_and_compare_give_the_same(tmp_path):
    runs, gains = collection()
    sample = drawn(gains, 3)
    measures = ["DCG@10", "nDCG@10"]
    expected = means(runs, sample, measures)
    with pytest.warns(JudgewellWarning, match="DCG@10 is estimated"):
        compared = compare(runs=runs, gains={"people": sample}, measure="DCG@10")["systems"].sort("system")
    assert compared["mean"].to_numpy() == pytest.approx(expected[0])
    runs.write_csv(tmp_path / "runs.csv")
    sample.write_csv(tmp_path / "gains.csv")
    for gains_as, factor in ((), 1.0), (("--gains-as", "unit"), 1 / sample["gain"].max()):
        arguments = ["gains.csv", "runs.csv", "-m", "DCG@10", "-m", "nDCG@10", "-q", "-o", "-", *gains_as]
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            result = CliRunner().invoke(evaluate_command, arguments)
        assert result.exit_code == 0, result.output
        assert "DCG@10, nDCG@10 are estimated" in result.stderr
        assert "one system's nDCG has no interval" in result.stderr
        table = pl.read_csv(result.stdout.encode()).group_by("measure", "system").agg(pl.col("value").mean())
        values = table.sort("measure", "system")["value"].to_numpy().reshape(2, -1)
        assert values[0] == pytest.approx(expected[0] * factor)
        assert values[1] == pytest.approx(expected[1])


def test_the_table_of_the_command_shows_estimates_without_residuals(tmp_path):
    runs, gains = collection()
    runs.write_csv(tmp_path / "runs.csv")
    drawn(gains, 3).write_csv(tmp_path / "gains.csv")
    result = CliRunner().invoke(
        evaluate_command, [str(tmp_path / "gains.csv"), str(tmp_path / "runs.csv"), "-m", "DCG@10"]
    )
    assert result.exit_code == 0, result.output
    assert "residual" not in result.stdout
    assert "Judged@10" in result.stdout


def test_one_systems_ndcg_has_no_interval_and_a_difference_has(tmp_path):
    runs, gains = collection()
    sample = drawn(gains, 3)
    for measure, biased in (("nDCG@10", True), ("AP(rel=0.5)@10", True), ("DCG@10", False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JudgewellWarning)
            compared = compare(runs=runs, gains={"people": sample}, measure=measure)
        assert (compared["systems"]["low"].null_count() == 3) == biased
        assert compared["pairs"]["low"].null_count() == 0
        text = " ".join(repr(compared).split())
        assert ("Means have no interval: drawn documents bias the score of one system." in text) == biased
    runs.write_csv(tmp_path / "runs.csv")
    sample.write_csv(tmp_path / "gains.csv")
    names = [str(tmp_path / name) for name in ("gains.csv", "runs.csv")]
    result = CliRunner().invoke(evaluate_command, [*names, "-m", "nDCG@10", "-m", "DCG@10", "--format", "csv"])
    table = pl.read_csv(result.stdout.encode())
    kinds = dict(table.group_by("measure").agg(pl.col("interval").unique().first()).rows())
    assert kinds["nDCG@10"] == "none: drawn documents"
    assert kinds["DCG@10"] == "bootstrap"
    assert table.filter(pl.col("measure") == "nDCG@10")["low"].null_count() == 3


def test_a_report_gives_no_interval_of_one_systems_ndcg(tmp_path):
    runs, gains = collection()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        made = report(runs=runs, gains=drawn(gains, 3), measure="nDCG@10")
    items = {item.name: item for part in made.each() for item in part.items}
    assert "low" not in items["systems"].frame.columns
    assert "means have no interval, because drawn documents bias the score of one system" in items["systems"].caption
    assert items["pairs"].frame["low"].null_count() == 0


def test_other_judgments_are_drawn_around_the_same_estimates():
    runs, gains = collection()
    sample = drawn(gains, 4)
    rng = np.random.default_rng(0)
    judgments = pl.concat(
        sample.select("topic", "doc", value=pl.col("gain") + pl.Series(rng.choice([-0.01, 0.01], len(sample))))
        for _ in range(4)
    ).with_columns(kind=pl.lit("interval:-1..2"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        result = compare(runs=runs, gains={"g": sample}, judgments=judgments, measure="DCG@10", worlds=100)
    systems = result["systems"].sort("system")
    assert systems["without_noise"].to_numpy() == pytest.approx(systems["mean"].to_numpy(), abs=0.05)


def test_measures_that_are_no_sums_take_gains_as_they_are_with_a_note():
    runs, gains = collection()
    sample = drawn(gains, 1)
    with pytest.warns(JudgewellWarning, match=r"and AP\S* cannot be estimated from them: .* use DCG@10"):
        scores = evaluate(runs, sample, ["AP(rel=0.5)"])
    plain = evaluate(runs, sample.drop("inclusion"), ["AP(rel=0.5)"])
    assert scores["value"].to_list() == plain["value"].to_list()


def test_documents_without_a_probability_are_predicted_with_a_note():
    runs, gains = collection()
    sample = drawn(gains, 2)
    known = gains.join(sample, on=["topic", "doc"], how="anti").head(3).with_columns(inclusion=pl.lit(None, pl.Float64))
    known = known.with_columns(gain=pl.lit(0.99))
    with collect_notes() as notes:
        both = evaluate(runs, pl.concat([sample, known]), "DCG@10")
        alone = evaluate(runs, sample, "DCG@10")
    assert any("3 judged documents have no inclusion probability" in one for one in notes)
    assert both["value"].to_numpy() == pytest.approx(alone["value"].to_numpy())


@pytest.mark.parametrize(("measure", "limits"), [("nDCG@3", "outside 0 to 1"), ("DCG@1", "below 0")])
def test_estimates_of_topics_beyond_the_limits_of_a_score_are_kept_with_a_note(measure, limits):
    runs, gains = collection()
    with collect_notes() as notes:
        scores = evaluate(runs, drawn(gains, 5, chance=0.1), measure)["value"]
    beyond = int(((scores < 0) | ((scores > 1) if measure == "nDCG@3" else False)).sum())
    assert beyond > 0
    assert any(f"{beyond} of the {len(scores)} estimates of {measure}" in one and limits in one for one in notes)
