"""Cost and reliability before spending: the published figures, and what must hold for any design."""

import gzip

import polars as pl
import pytest

from judgewell.study.check import alternatives, check_study, load_study
from judgewell.study.cost import cost_of, group_alternatives, unit_alternatives
from judgewell.study.design.groups import plan_groups
from judgewell.study.model import Pay, Work, cents
from judgewell.study.new import new_study
from judgewell.study.reliability import Assumed, reliability_of_pairs, reliability_of_units


def test_the_magnitude_study_cost_what_it_says():
    cost = cost_of(7059, 56472, 4269, 500, Pay(amount=0.2, fee=0.2), Work())
    assert cost.pay == pytest.approx(1411.80)
    assert cost.total == pytest.approx(1694.16)
    assert cost.per_document == pytest.approx(0.397, abs=0.001)


def test_the_pairwise_study_paid_what_it_says():
    cost = cost_of(7884, 94608, 1869, 1596, Pay(amount=0.12), Work(most_units=32, units_per_topic=32), assessors=3)
    assert cost.pay == pytest.approx(946.08)
    assert cost.assessors == 247  # the most industrious of the 806 did 32 units


def test_people_hours_and_lost_work():
    pay = Pay(amount=1.0, seconds=60.0, overhead=120.0, lost=0.2)
    cost = cost_of(40, 320, 30, 8, pay, Work(most_units=4))
    assert cost.units == 50
    assert cost.assessors == 10
    assert cost.hours == pytest.approx(50 * 600 / 3600)
    assert cost.per_hour == pytest.approx(6.0)
    assert cost_of(40, 320, 30, 20, pay, Work()).assessors == 20
    assert cost_of(40, 320, 30, 20, pay, Work(units_per_topic=5)).assessors == 4
    assert cost_of(1, 8, 8, 1, pay, Work(), assessors=7).assessors == 7


def test_more_judgments_are_more_reliable_and_noise_is_less():
    by_redundancy = [reliability_of_units(100, 8, redundancy, seed=1) for redundancy in (2, 5, 15)]
    assert by_redundancy == sorted(by_redundancy)
    assert reliability_of_units(100, 8, 10, seed=1, assumed=Assumed(noise=0.01)) > 0.85
    assert reliability_of_units(100, 8, 10, seed=1, assumed=Assumed(noise=50.0)) < 0.1
    quiet = Assumed(noise=0.01)
    by_size = [reliability_of_units(100, size, 10, seed=1, assumed=quiet) for size in (4, 8, 20)]
    assert by_size == sorted(by_size)  # a unit's mean is a better zero when the unit is larger


def test_pairs_without_noise_are_fully_reliable():
    plan = plan_groups(64, high=0, low=0)
    assert reliability_of_pairs(plan, 3, seed=1, assumed=Assumed(noise=1e-9)) == pytest.approx(1)
    by_share = [
        reliability_of_pairs(plan_groups(64, high=0, low=0, share=share), 1, seed=1) for share in (0.05, 0.2, 0.6)
    ]
    assert by_share == sorted(by_share)


def test_reliability_is_the_same_for_the_same_seed():
    assert reliability_of_units(50, 8, 10, seed=3) == reliability_of_units(50, 8, 10, seed=3)
    assert reliability_of_units(50, 8, 10, seed=3) != reliability_of_units(50, 8, 10, seed=4)


def test_large_topics_are_simulated_quickly():
    plan = plan_groups(3000, high=0, low=0)
    assert 0.9 < reliability_of_pairs(plan, 3, seed=1, rounds=2) <= 1


def test_alternatives_let_a_person_choose(tmp_path):
    study, inputs = load_study(new_study(tmp_path / "a", "magnitude")[0])
    table = alternatives(study, inputs)
    assert table.select("documents", "redundancy").rows() == [(m, r) for m in (4, 6, 8, 10) for r in (5, 10, 15)]
    own = table.filter(documents=6, redundancy=5)
    assert own["units"].item() == check_study(tmp_path / "a" / "study.toml").cost.units
    rising = table.sort("documents", "redundancy").group_by("documents", maintain_order=True)
    assert all(frame["reliability"].is_sorted() and frame["total"].is_sorted() for _, frame in rising)


def test_larger_units_are_paid_at_the_same_rate(tmp_path):
    path = new_study(tmp_path / "a", "magnitude")[0]
    path.write_text(path.read_text().replace("amount = 0 ", "amount = 1.4 "))
    study, _ = load_study(path)
    table = unit_alternatives([240] * 18, study, rounds=1)
    hourly = table.select(pl.col("total") / pl.col("hours"))["total"]
    assert hourly.to_numpy() == pytest.approx(hourly[0], rel=0.01)
    assert hourly[0] == pytest.approx(12, rel=0.01)  # 1.4 for 6 × 60 + 60 seconds


def test_the_published_pair_design_is_among_the_alternatives(tmp_path):
    path = new_study(tmp_path / "a", "pairs")[0]
    path.write_text(path.read_text().replace("documents = 4 ", "documents = 8 "))
    study, _ = load_study(path)
    table = group_alternatives([(216, 27, 27)], study, rounds=1)
    row = table.filter(partners=3, share=0.15)
    assert row["partitions"].item() == 11
    assert row["units"].item() == 297 * 3
    assert row["judgments"].item() == 297 * 3 * 12
    assert alternatives(*load_study(new_study(tmp_path / "b", "templates")[0])).is_empty()


@pytest.mark.realdata
def test_the_assumed_spread_is_near_that_of_real_judgments(data):
    source = gzip.decompress((data / "trec8-s100" / "judgments.csv.gz").read_bytes())
    judged = pl.read_csv(source, columns=["topic_id", "unit_id", "document_id", "relevance_score"])
    logs = judged.with_columns(log=(pl.col("relevance_score") + 1).log())
    unit = pl.col("log").mean().over("topic_id", "unit_id")
    logs = logs.with_columns(free=pl.col("log") - unit + pl.col("log").mean().over("topic_id"))
    docs = logs.group_by("topic_id", "document_id").agg(
        pl.col("log", "free").var().name.suffix("_var"), pl.col("log").mean(), n=pl.len()
    )
    docs = docs.filter(pl.col("n") < 50)
    raw, free = docs["log_var"].mean(), docs["free_var"].mean()
    between = docs.select((pl.col("log") - pl.col("log").mean().over("topic_id")) ** 2)["log"].mean() - raw / 10
    assumed = Assumed()
    assert between**0.5 == pytest.approx(assumed.documents, abs=0.15)
    assert (raw - free) ** 0.5 == pytest.approx(assumed.units, abs=0.15)
    assert free**0.5 == pytest.approx(assumed.noise, abs=0.15)


@pytest.mark.parametrize(
    ("amount", "units", "fee"), [(0.35, 7, 0.333), (0.125, 3, 0.1), (0.145, 3, 0.145), (0.01, 1, 0.5)]
)
def test_money_adds_up_to_the_cent_as_it_is_shown(amount, units, fee):
    pay = Pay(amount=amount, fee=fee)
    cost = cost_of(units, units, units, units, pay, Work())
    assert round(100 * float(f"{cost.pay:.2f}")) + round(100 * float(f"{cost.fee:.2f}")) == round(100 * cost.total)
    assert cost.total == pay.with_fee(units * amount) == cents(cost.total)
    assert abs(cost.total - units * amount * (1 + fee)) <= 0.01


def test_halves_of_a_cent_are_rounded_up_whatever_their_binary_form():
    assert [cents(3 * 0.145), cents(0.125), cents(1.005), cents(2.675)] == [0.44, 0.13, 1.01, 2.68]


def test_other_sizes_say_what_time_and_pay_of_a_unit_they_assume(tmp_path):
    path = new_study(tmp_path / "a", "magnitude")[0]
    path.write_text(path.read_text().replace("amount = 0 ", "amount = 1 "))
    study, _ = load_study(path)
    table = unit_alternatives([240] * 18, study, rounds=1).unique("documents").sort("documents")
    rows = table.select("documents", "minutes_per_unit", "pay_per_unit").rows()
    assert rows == [(4, 5.0, 0.71), (6, 7.0, 1.0), (8, 9.0, 1.29), (10, 11.0, 1.57)]


def test_units_larger_than_every_topic_are_no_alternative(tmp_path):
    study, _ = load_study(new_study(tmp_path / "a", "magnitude")[0])
    assert unit_alternatives([8, 7], study, rounds=1)["documents"].unique().sort().to_list() == [4, 6, 8]
    assert unit_alternatives([3], study, rounds=1)["documents"].unique().to_list() == [3]
