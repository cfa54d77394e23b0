"""For how many users one system is better: slopes, shares with their interval, and what is refused."""

import numpy as np
import polars as pl
import pytest

from judgewell import compare
from judgewell.analysis.users import UNDERSTATED, profile_points, user_profiles
from judgewell.errors import DataError, InputError

DOCUMENTS, USERS = 40, 30


def judged(seed=0, noise=0.15):
    """Judgments from 0 to 100 by users whose slopes range from .5 to 1.5."""
    rng = np.random.default_rng(seed)
    worth = rng.uniform(1, 4.4, (2, DOCUMENTS))
    rows = []
    for user, slope in enumerate(np.linspace(0.5, 1.5, USERS)):
        for topic in range(2):
            for doc in rng.choice(DOCUMENTS, 20, replace=False):
                log = 2.7 + slope * (worth[topic, doc] - 2.7) + rng.normal(0, noise)
                value = float(np.clip(np.exp(log) - 1, 0, 100))
                rows.append((f"t{topic}", f"d{doc}", f"u{user:02}", f"t{topic}-{user}", value))
    frame = pl.DataFrame(rows, ["topic", "doc", "assessor", "unit", "value"], orient="row")
    return frame.with_columns(scale=pl.lit("s100"), kind=pl.lit("interval:0..100")), worth


def runs_of(worth):
    """One system with the best and worst documents on top, one with middling ones: users weigh them differently."""
    rows = []
    for topic in range(2):
        order = np.argsort(worth[topic])
        for system, picked in {"mixed": [order[-1], order[0]], "middling": [order[31], order[32]]}.items():
            rows += [(system, f"t{topic}", f"d{doc}", 2.0 - at) for at, doc in enumerate(picked)]
        rows += [("worst", f"t{topic}", f"d{doc}", 2.0 - at) for at, doc in enumerate(order[:2])]
    return pl.DataFrame(rows, ["system", "topic", "doc", "score"], orient="row")


def test_slopes_are_those_that_users_have():
    table, _ = judged()
    profiles = user_profiles(table)
    slopes = profiles.users["shrunken"].to_numpy()
    assert np.corrcoef(slopes, np.linspace(0.5, 1.5, USERS))[0, 1] > 0.97
    assert profiles.reliability > 0.9
    assert np.allclose(profiles.gains(np.array([slopes.mean()]))[0], np.exp(profiles.documents["log_gain"]) - 1)
    points = profile_points(profiles)
    assert points["gain"].max() == pytest.approx(1)


def test_the_share_of_users_goes_with_a_wilson_interval_and_the_sentence_on_dissent():
    table, worth = judged()
    gains = table.group_by("topic", "doc").agg(gain=pl.col("value").mean())
    result = compare(
        runs=runs_of(worth), gains={"mean": gains}, judgments=table, users=True, measure="DCG@2", worlds=20
    )
    pairs = result["user pairs"]
    assert len(pairs) == 3
    sure = pairs.filter((pl.col("first") != "worst") & (pl.col("second") == "worst"))
    assert (sure["share"] == 1).all()
    assert (sure["low"] > 0.85).all()
    contested = pairs.filter(pl.col("second") != "worst")
    assert 0.1 < contested["share"][0] < 0.9
    assert contested["low"][0] < contested["share"][0] < contested["high"][0]
    assert contested["disagree"].all()
    assert UNDERSTATED in " ".join(repr(result).split())
    assert result.chart().to_dict()["layer"]


def test_few_assessors_and_missing_judgments_are_refused():
    table, worth = judged()
    few = table.filter(pl.col("assessor") < "u05")
    with pytest.raises(DataError, match=r"5 assessors judged 4 or more documents that others judged too; .* need 10"):
        user_profiles(few)
    gains = table.group_by("topic", "doc").agg(gain=pl.col("value").mean())
    with pytest.raises(InputError, match="profiles of users come from judgments; give --runs, --gains and --judgments"):
        compare(runs=runs_of(worth), gains={"mean": gains}, users=True)
