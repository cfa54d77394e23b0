"""judgewell replay: recorded answers and preferences by several designs, and what is refused."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from judgewell.analysis.goals.study_replay import replay_study
from judgewell.commands.replay import replay
from judgewell.errors import InputError

HEAD = """[study]
name = "again"
[topics]
file = "topics.txt"
[documents]
file = "documents.jsonl"
[pool]
file = "pool.csv"
"""
DOCUMENTS = HEAD + '[scale]\nkind = "s100"\n[units]\nredundancy = 5\n[goal]\nsystems = "*.run"\nwithin = 0.02\n'
STUDIES = ("short.toml", "documents.toml")
PAIRS = HEAD + '[groups]\nquestions = ["preference"]\n[goal]\nsystems = "*.run"\ndecide = "order"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers about documents and pairs, three runs of different quality, and a study for each."""
    folder, rng = tmp_path_factory.mktemp("replay"), np.random.default_rng(0)
    truth = rng.uniform(5, 95, (8, 15))
    answers = [
        (f"t{t}", f"d{d:02}", f"a{n}", float(np.clip(truth[t, d] + rng.normal(0, 15), 0, 100).round()))
        for t in range(8) for d in range(15) for n in range(5)
    ]  # fmt: skip
    pl.DataFrame(answers, ["topic", "doc", "assessor", "value"], orient="row").write_csv(folder / "judgments.csv")
    pairs = []
    for t in range(8):
        for _ in range(60):
            one, other = rng.choice(15, 2, replace=False)
            left = rng.random() < 1 / (1 + np.exp((truth[t, other] - truth[t, one]) / 15))
            pairs.append((f"t{t}", f"d{one:02}", f"d{other:02}", "left" if left else "right"))
    pl.DataFrame(pairs, ["topic", "left", "right", "preferred"], orient="row").write_csv(folder / "pairs.csv")
    for system, noise in {"good": 5, "fair": 40, "poor": 200}.items():
        lines = []
        for t in range(8):
            order = np.argsort(-(truth[t] + rng.normal(0, noise, 15)))
            lines += [f"t{t} Q0 d{d:02} {rank} {20 - rank} {system}\n" for rank, d in enumerate(order, 1)]
        (folder / f"{system}.run").write_text("".join(lines))
    (folder / "documents.toml").write_text(DOCUMENTS)
    (folder / "pairs.toml").write_text(PAIRS)
    return folder


def test_designs_over_recorded_answers(folder):
    result = replay_study(folder / "documents.toml", folder / "judgments.csv", repeats=3)
    assert result.table["design"].unique(maintain_order=True).to_list() == ["even", "floor", "sampled"]
    assert result.table["right"].all()
    assert set(result.table["leader"]) == {"good"}
    assert result.table.filter(pl.col("design") == "floor")["cost"].min() >= 1
    assert result.rule.full == 5
    assert result.table.equals(replay_study(folder / "documents.toml", folder / "judgments.csv", repeats=3).table)
    assert "Medians over 3 random orders" in repr(result)
    assert "goal: the best system within 2 of 100 points" in repr(result)
    ratios = dict(result.summary.select("design", "ratio").rows())
    needed = f"floor {100 * ratios['floor']:.0f} %, sampled {100 * ratios['sampled']:.0f} %"
    assert f"Answers needed, of those of the even design: {needed}." in repr(result)


def test_topics_documents_and_pool_are_those_of_the_answers(folder):
    (folder / "short.toml").write_text(DOCUMENTS.removeprefix(HEAD))
    short, whole = (replay_study(folder / name, folder / "judgments.csv", repeats=1) for name in STUDIES)
    assert short.table.equals(whole.table)


def test_answers_that_a_goal_drew_are_no_base_for_other_designs(folder):
    drawn = pl.read_csv(folder / "judgments.csv").unique(["topic", "doc"], maintain_order=True)
    with pytest.warns(UserWarning, match="were drawn by a goal") as noted:
        result = replay_study(folder / "documents.toml", drawn.with_columns(inclusion=0.5), repeats=1)
    assert not [one for one in noted if issubclass(one.category, RuntimeWarning)]  # documents with π = 0 are unknown
    assert "would the one answer per document agree?" in repr(result)


def test_designs_over_recorded_preferences(folder):
    result = replay_study(folder / "pairs.toml", folder / "pairs.csv", repeats=1)
    assert result.table["design"].to_list() == ["even", "pairs"]
    assert (result.table["similar"] <= 1).all()
    assert (result.table["similar_own"] <= 1).all()
    assert "similar_own: the same by the estimate that stops the study" in " ".join(repr(result).split())
    assert result.answers == 480


def test_the_command_writes_table_chart_and_record(folder):
    study, answers = str(folder / "documents.toml"), str(folder / "judgments.csv")
    options = [study, "--from", answers, "--simulated", "4", "--rule", "goal", "--repeats", "2"]
    written = CliRunner().invoke(
        replay, [*options, "-o", str(folder / "out.csv"), "--chart", str(folder / "out.svg")], catch_exceptions=False
    )
    assert written.exit_code == 0
    assert "ratio_90" in written.output
    assert len(pl.read_csv(folder / "out.csv")) == 6
    assert (folder / "out.svg").read_text().startswith("<svg")


def test_what_cannot_be_replayed(folder):
    with pytest.raises(InputError, match="there is no design 'floored'; the designs are even, floor, sampled"):
        replay_study(folder / "documents.toml", folder / "judgments.csv", designs=("floored",))
    (folder / "without.toml").write_text(DOCUMENTS.split("[goal]")[0])
    with pytest.raises(InputError, match="the study has no goal; add \\[goal\\]"):
        replay_study(folder / "without.toml", folder / "judgments.csv")
