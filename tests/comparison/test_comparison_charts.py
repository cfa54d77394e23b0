"""Charts: the numbers drawn are those computed, and a drawing holds every system."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judgewell.comparison import charts
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.worlds import topic_worlds
from judgewell.errors import InputError

NAMES = tuple("abcde"), tuple(map(str, range(12)))


def sets() -> dict[str, ScoreArray]:
    rng = np.random.default_rng(0)
    base = rng.random((5, 12)) + np.linspace(0, 0.5, 5)[:, None]
    return {"nist": ScoreArray(*NAMES, base), "crowd": ScoreArray(*NAMES, base + rng.normal(0, 0.1, base.shape))}


def test_points_are_means_with_intervals_around_them() -> None:
    points = charts.score_points(sets())
    np.testing.assert_allclose(points["x"], sets()["nist"].means)
    np.testing.assert_allclose(points["y"], sets()["crowd"].means)
    assert ((points["x_low"] < points["x"]) & (points["x"] < points["x_high"])).all()
    with pytest.raises(InputError, match="two"):
        charts.score_points({"nist": sets()["nist"]})


def test_rank_and_tau_points() -> None:
    one = sets()["nist"]
    worlds = topic_worlds(*(one.systems, one.values), worlds=300)
    ranks = worlds.table()
    assert ((ranks["rank_low"] <= ranks["rank"]) & (ranks["rank"] <= ranks["rank_high"])).all()
    taus = charts.tau_points({"topics": worlds}, bins=10)
    assert len(taus) == 10
    assert taus["share"].sum() == pytest.approx(1)
    assert taus["low"][0] == pytest.approx(worlds.tau.min())


def test_drawings(tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="altair is not installed")
    pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")
    one = sets()["nist"]
    worlds = topic_worlds(one.systems, one.values, 200)
    drawn = {
        "scores": charts.score_chart(sets()),
        "ranks": charts.rank_chart(worlds),
        "tau": charts.tau_chart({"topics": worlds}),
    }
    for name, chart in drawn.items():
        charts.save(chart, tmp_path / f"{name}.svg")
        text = (tmp_path / f"{name}.svg").read_text()
        assert text.startswith("<svg")
    assert "nist" in (tmp_path / "scores.svg").read_text()
    assert all(f">{system}<" in (tmp_path / "ranks.svg").read_text() for system in "abcde")
    equal = drawn["scores"].to_dict()["layer"][0]
    assert all(end["x"] == end["y"] for end in equal["data"]["values"])
    with pytest.raises(InputError, match=r"\.svg"):
        charts.save(drawn["tau"], tmp_path / "tau.bmp")


def test_without_altair_the_cure_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(charts.importlib, "import_module", gone)
    with pytest.raises(InputError, match=r"pip install 'judgewell\[report\]'"):
        charts.score_chart(sets())
