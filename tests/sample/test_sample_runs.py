"""The runs of the sample: remade to the byte, by rankers that do what the books say, of different quality."""

from __future__ import annotations

import gzip
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import rankers
import sample_runs
from rankers import Index
from sample_runs import SYSTEMS, Collection, Topic, lines, load

from judgewell import evaluate, sample

TEXTS = ["the cat sat on the mat", "a cat and a cat", "dogs bark", ""]


@pytest.fixture(scope="module")
def loaded() -> tuple[Collection, list[Topic]]:
    return load()


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.of(TEXTS, rankers.words)


@pytest.mark.parametrize("system", SYSTEMS)
def test_stored_runs_are_what_the_rankers_make(system: str, loaded: tuple[Collection, list[Topic]]) -> None:
    """To the byte once unpacked; how gzip packs them is the library's own affair."""
    stored = gzip.decompress((sample.folder() / "runs" / f"{system}.run.gz").read_bytes()).decode()
    assert "".join(lines(system, *loaded)) == stored


def test_there_is_a_file_for_every_system_and_no_other() -> None:
    stored = {path.name.removesuffix(".run.gz") for path in (sample.folder() / "runs").iterdir()}
    assert stored == set(SYSTEMS)
    assert set(sample.runs()["system"]) == stored
    assert len(stored) >= 12


def test_written_files_are_alike_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_runs, "SYSTEMS", {name: SYSTEMS[name] for name in ("bm25", "random")})
    sample_runs.write(tmp_path / "one")
    sample_runs.write(tmp_path / "two")
    for name in ("bm25", "random"):
        assert (tmp_path / "one" / f"{name}.run.gz").read_bytes() == (tmp_path / "two" / f"{name}.run.gz").read_bytes()


def test_rankers_really_differ() -> None:
    scores = evaluate(sample.runs(), sample.levels(), ["nDCG@10"])
    means = dict(scores.group_by("system").agg(pl.col("value").mean()).iter_rows())
    assert means["latent"] > means["bm25"] + 0.15
    assert means["bm25"] > means["bm25-headlines"] > means["longest"] > means["random"]
    assert means["bm25"] > means["reversed"] + 0.3
    assert max(means.values()) < 0.95
    assert means["random"] < 0.1
    ranked = sorted(means.values())
    assert sum(high - low > 0.005 for low, high in pairwise(ranked)) >= 12


def test_stems_join_the_forms_of_a_word() -> None:
    for forms in (
        "leaf leaves",
        "rise rises rising",
        "bicycle bicycles",
        "close closed closing closure",
        "stop stopped",
    ):
        assert len({rankers.stem(word) for word in forms.split()}) == 1, forms
    for apart in ("bus business", "sing sting", "need"):
        assert len({rankers.stem(word) for word in apart.split()}) == len(apart.split()), apart


def test_stop_words_are_left_out_of_stems_only() -> None:
    assert rankers.stems("What is in the kettle?") == ["kettl"]
    assert rankers.words("What is in the kettle?") == ["what", "is", "in", "the", "kettle"]


def test_pieces_run_over_the_ends_of_words() -> None:
    assert rankers.pieces("a cat", 4) == [" a c", "a ca", " cat", "cat "]


def test_bm25_by_hand(index: Index) -> None:
    """For "cat": N = 4, n = 2; document 2 has f = 2, l = 5 and the mean length is 13/4."""
    rarity = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    wanted = rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 5 / 3.25))
    found = rankers.bm25(index, index.query("cat"))
    assert found[1] == pytest.approx(wanted)
    assert found[1] > found[0] > -np.inf
    assert list(found[2:]) == [-np.inf, -np.inf]


def test_language_models_by_hand(index: Index) -> None:
    share = 3 / 13
    query = index.query("cat")
    assert rankers.dirichlet(index, query, mu=10)[0] == pytest.approx(math.log((1 + 10 * share) / (6 + 10)))
    assert rankers.jelinek_mercer(index, query, background=0.5)[1] == pytest.approx(math.log(0.5 * 2 / 5 + 0.5 * share))


def test_cosine_of_a_document_with_itself_ignores_only_its_damping(index: Index) -> None:
    assert rankers.cosine(index, index.query("dogs bark"))[2] == pytest.approx(1)


def test_latent_with_all_directions_is_the_cosine(loaded: tuple[Collection, list[Topic]]) -> None:
    """With no direction left out a document's place is its weights; only the query's length differs."""
    collection, _ = loaded
    index = Index.of(collection.titles[:40], rankers.words)
    query = index.query("a kettle in the kitchen")
    matched = index.matched(query)
    full, plain = rankers.latent(index, query, dimensions=40), rankers.cosine(index, query)
    assert matched.sum() > 5
    assert np.corrcoef(full[matched], plain[matched])[0, 1] == pytest.approx(1, abs=1e-6)


def test_coordination_counts_terms_once(index: Index) -> None:
    assert list(rankers.coordination(index, index.query("cat mat a"))[:2]) == [2, 2]


def test_feedback_finds_documents_without_a_query_word() -> None:
    texts = ["kettle vinegar boil", "kettle vinegar rinse", "vinegar rinse boil", "train night"]
    index = Index.of(texts, rankers.words)
    query = index.query("kettle")
    assert rankers.bm25(index, query)[2] == -np.inf
    for ranker in (rankers.relevance_model, rankers.rocchio):
        scores = ranker(index, query)
        assert scores[0] > scores[2] > -np.inf
        assert scores[3] == -np.inf


def test_fusion_by_hand() -> None:
    found = rankers.fused([np.array([3.0, 2.0, -np.inf]), np.array([1.0, 5.0, -np.inf])], k=60)
    assert found[:2] == pytest.approx([1 / 61 + 1 / 62] * 2)
    assert found[2] == -np.inf


def test_ties_are_ranked_by_the_last_id_first() -> None:
    collection = Collection(("a", "b", "c"), ("", "", ""), ("", "", ""))
    assert [doc for doc, _ in sample_runs.ranked(collection, np.array([1.0, 2.0, 1.0]))] == ["b", "c", "a"]
