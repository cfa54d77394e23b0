"""[goal] in the study file: mistakes with line, value, rule and cure; a plan that goes through JSON."""

import json

import numpy as np
import polars as pl
import pytest

from judgewell.analysis.goals.plan import Plan, load_plan, plan_of
from judgewell.sample import folder
from judgewell.study.check import check_study, load_study
from judgewell.study.file import read_source
from judgewell.study.frozen import freeze

STUDY = f"""[study]
name = "goal"
[topics]
file = "{folder()}/topics.jsonl"
[documents]
file = "{folder()}/documents.jsonl"
[pool]
file = "pool.csv"
[scale]
kind = "s100"
[units]
documents = 8
redundancy = 5
[goal]
systems = "runs/*.run"
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "runs").mkdir()
    for path in sorted((folder() / "runs").glob("*.run.gz"))[:4]:
        import gzip

        (tmp_path / "runs" / path.name.removesuffix(".gz")).write_bytes(gzip.decompress(path.read_bytes()))
    from judgewell.sample import levels

    levels().select("topic", "doc").write_csv(tmp_path / "pool.csv")

    def write(goal="", **changes):
        text = STUDY
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "study.toml"
        path.write_text(text + goal)
        return path

    return write


def mistakes(path):
    checked = check_study(path)
    problems = list(checked.mistakes)
    if not problems:
        problems = plan_of(checked.study, checked.inputs, read_source(path))[1]
    return [str(problem).removeprefix(f"{path.parent}/") for problem in problems]


def test_a_plan_goes_through_json_and_gives_the_same_batch(study):
    path = study("within = 0.02\n")
    plan = load_plan(path, *load_study(path))
    assert plan.rule.within == 2
    assert plan.rule.mode == "sampled"
    assert plan.rule.most == 5
    assert len(plan.systems.names) == 4
    assert np.allclose(plan.systems.weights.sum(axis=1) <= 1 + 1e-9, True)
    loaded = Plan.load(json.loads(json.dumps(plan.dump())))
    assert np.array_equal(loaded.systems.weights, plan.systems.weights)
    assert loaded.rule == plan.rule
    assert loaded.pool.equals(plan.pool)
    assert np.array_equal(loaded.first().u, plan.first().u)
    answers = plan.pool.head(3).with_columns(value=pl.Series([0.0, 50.0, 100.0]))
    state = loaded.state(answers, np.ones(len(plan.pool)))
    assert state.total[:3].tolist() == [0, 50, 100]
    assert state.answers == 3


def test_scores_are_those_of_evaluate_as_shares_of_the_highest(study):
    from judgewell import evaluate
    from judgewell.sample import levels

    path = study()
    plan = load_plan(path, *load_study(path))
    assert len(plan.pool) < levels().height  # documents that no system ranks high change no score
    gains = plan.pool.join(levels(), on=["topic", "doc"], maintain_order="left")["gain"].to_numpy() / 3 * 100
    runs = sorted(str(one) for one in (path.parent / "runs").glob("*.run"))
    scores = evaluate(runs, levels(), ["DCG@10"])
    theirs = scores.group_by("system").agg(pl.col("value").mean()).sort("system")
    highest = 3 * (1 / np.log2(np.arange(2, 12))).sum()
    assert dict(zip(plan.systems.names, plan.systems.weights @ gains, strict=True)) == pytest.approx(
        {system: 100 * score / highest for system, score in theirs.iter_rows()}
    )


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ('measure = "nDCG@10"\n', "study.toml:16: nDCG@10 depends on the topic's other documents; decide by DCG@10"),
        ('measure = "AP@10"\n', "is not a weighted sum of gains; decide by DCG@10"),
        ('measure = "DCG"\n', "study.toml:16: DCG looks at whole rankings; give it a cutoff: DCG@10"),
        ('decide = "worst"\n', 'study.toml:16: goal.decide: \'worst\' is not a goal; write "best", "order"'),
        ('decide = ["bm25-everything", "bm26"]\n', "study.toml:16: there is no system 'bm26'; "),
        ("within = 1.5\n", "study.toml:16: goal.within 1.5 must be below 1"),
        ("confidence = 0.8\n", "study.toml:14: goal: confidence 0.8 has no tested threshold; choose 0.9, 0.95 or 0.99"),
        ('decide = "order"\nwithin = 0.1\n', "an order has no within; leave it out"),
        ("[double]\nshare = 0.5\n", "study.toml:14: [goal] beside [double]; take [units] or [groups]"),
    ],
)
def test_mistakes_in_a_goal_say_line_value_rule_and_cure(study, goal, expected):
    assert expected in "\n".join(mistakes(study(goal)))


def test_systems_and_scales_that_a_goal_cannot_use(study):
    assert "study.toml:15: no run file matches none/*.run" in mistakes(study(files=("runs/*.run", "none/*.run")))[0]
    free = mistakes(study(kind=('"s100"', '"magnitude"')))
    assert 'magnitude lets each choose their own; take kind = "s100", "ordinal" or "binary"' in free[0]


def test_floor_asks_about_documents_that_no_system_ranks(study):
    sampled, floor = (load_plan(path, *load_study(path)) for path in map(study, ("", 'ask = "floor"\n')))
    assert len(floor.pool) == len(load_study(study())[1].pool) > len(sampled.pool)


def test_a_pool_without_the_systems_documents_is_refused(study):
    path = study()
    for run in (path.parent / "runs").glob("*.run"):
        run.write_text(f"kettle Q0 elsewhere 1 1 {run.stem}\n")
    assert "no document of the pool is among the first of the systems; pool their runs" in mistakes(path)[0]


def test_a_goal_freezes_its_runs(study):
    files = freeze(study())["files"]
    assert sum(name.startswith("runs/") for name in files) == 4


def test_a_threshold_turns_each_answer_into_all_or_nothing(study):
    path = study('measure = "P(rel=2)@10"\n', kind=('"s100"', '"ordinal"'))
    plan = load_plan(path, *load_study(path))
    assert plan.points(np.array([0.0, 1.0, 2.0, 3.0])).tolist() == [0, 0, 100, 100]


def test_short_rankings_of_pooled_documents_are_not_outside_the_pool(study):
    path = study()
    for run in (path.parent / "runs").glob("*.run"):
        pooled = load_study(path)[1].pool
        rows = [
            f"{topic} Q0 {doc} {rank} {-rank} {run.stem}\n"
            for (topic,), docs in pooled.group_by("topic", maintain_order=True)
            for rank, doc in enumerate(docs["doc"].head(4), start=1)
        ]
        run.write_text("".join(rows))
    checked = check_study(path)
    topics = checked.inputs.topics.height
    notes = [str(one) for one in plan_of(checked.study, checked.inputs, read_source(path))[2]]
    assert len(notes) == 2
    unranked = pooled.height - 4 * topics
    assert f"{unranked} of {pooled.height} documents of the pool are not asked about" in notes[1]
    assert f"{4 * topics} of {4 * topics} rankings have fewer than 10 documents" in notes[0]
    first = sorted((path.parent / "runs").glob("*.run"))[0]
    first.write_text(first.read_text().replace(f" {pooled['doc'][0]} ", " elsewhere ", 1))
    notes = [str(one) for one in plan_of(checked.study, checked.inputs, read_source(path))[2]]
    assert f"{100 / (16 * topics):.1f} % of the first 10 documents" in notes[0]
