"""What a machine's labels do to conclusions about systems."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgewell.analysis.trust import best_ranks, judgments_needed, residual_variances, system_tables
from judgewell.evaluation.measures import parse_all
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import open_runs

TOPICS, DOCUMENTS = [f"t{number}" for number in range(12)], [f"d{number:02}" for number in range(30)]


def collection(seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """People's grades, a machine that adds a grade to what the system `liked` ranks first, and three runs."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(1.2, 1, (len(TOPICS), len(DOCUMENTS)))
    people = np.clip(np.rint(worth), 0, 3)
    machine, rows = people.copy(), []
    for system, noise in (("good", 0.4), ("liked", 1.0), ("poor", 2.5)):
        score = worth + noise * rng.normal(size=worth.shape)
        rows.append((system, score))
        if system == "liked":
            first = np.argsort(-score, axis=1)[:, :10]
            np.put_along_axis(machine, first, np.minimum(np.take_along_axis(people, first, 1) + 1, 3), 1)
    names = {"topic": np.repeat(TOPICS, len(DOCUMENTS)), "doc": np.tile(DOCUMENTS, len(TOPICS))}
    runs = pl.concat(
        pl.DataFrame(names | {"score": score.ravel()}).select(pl.lit(system).alias("system"), pl.all())
        for system, score in rows
    )
    gains = [read_gains(pl.DataFrame(names | {"gain": table.ravel()})) for table in (people, machine)]
    return gains[0], gains[1], runs


def test_a_machine_that_likes_one_system_is_caught() -> None:
    people, machine, runs = collection()
    tables = system_tables(people, {"llm": machine}, runs=open_runs(runs), measures=parse_all(["P(rel=2)@10"]))
    systems = {row["system"]: row for row in tables["machine_systems"].iter_rows(named=True)}
    assert tables["machine_systems"]["system"][0] == "liked"
    assert systems["liked"]["favour_low"] > 0
    assert systems["liked"]["p"] < 0.05
    assert sum(row["favour"] for row in systems.values()) == pytest.approx(0)
    order = tables["machine_order"].row(0, named=True)
    assert (order["people_best"], order["systems"], order["topics"]) == ("good", 3, 12)
    needed = tables["machine_needed"]
    assert (needed["with_machine"] < needed["people_alone"]).all()
    assert tables["ranks"].filter(pl.col("rank") == 1).height >= len(TOPICS)


def test_both_sides_use_the_documents_that_both_have() -> None:
    people, machine, runs = collection()
    some = people.filter(pl.col("doc") < "d15")
    tables = system_tables(some, {"llm": some}, runs=open_runs(runs), measures=parse_all(["nDCG@10"]))
    assert tables["machine_systems"]["difference"].to_list() == [0, 0, 0]
    assert tables["machine_order"]["tau_b"].item() == 1
    wide = system_tables(some, {"llm": people}, runs=open_runs(runs), measures=parse_all(["nDCG@10"]))
    assert wide["machine_systems"]["difference"].to_list() == [0, 0, 0]
    assert machine.height > some.height


def test_labels_needed_by_hand_and_with_labels_that_say_nothing() -> None:
    assert judgments_needed(0.08, 4000, 0.02) == round(1 / (1 / 4000 + (0.02 / 1.96) ** 2 / 0.08))
    people, _, _ = collection()
    nothing = people.with_columns(label=pl.lit(1.0)).select("topic", "doc", "gain", "label")
    alone, left = residual_variances(nothing, 3.0)
    assert left == pytest.approx(alone, rel=0.1)
    perfect = people.with_columns(label="gain").select("topic", "doc", "gain", "label")
    assert residual_variances(perfect, 3.0)[1] < 0.02 * alone


def test_ranks_of_runs() -> None:
    runs = pl.DataFrame({"system": ["s"] * 12, "topic": ["t"] * 12, "doc": [f"d{n:02}" for n in range(12)],
                         "score": np.arange(12.0)[::-1]})  # fmt: skip
    ranks = best_ranks(open_runs(runs)).sort("doc")
    assert ranks["rank"].to_list() == list(range(1, 13))
    assert ranks["systems"].to_list() == [1] * 10 + [0, 0]


def test_llmjudge_needs_as_many_human_labels_as_published(data) -> None:
    """±.02 on the mean gain: 837 people's labels alone, 540 to 570 with one of the best label sets."""
    folder = data / "llmjudge"
    people = read_gains(folder / "human.qrels")
    machines = {name: read_gains(folder / "submissions" / f"{name}.txt") for name in ("Olz-gpt4o", "TREMA-nuggets")}
    table = system_tables(people, machines)["machine_needed"].filter(pl.col("width") == 0.02)
    assert table["people_alone"].to_list() == [837, 837]
    best, worst = table["with_machine"]
    assert 530 <= best <= 575
    assert 690 <= worst <= 760
