"""The sample collection keeps what it promises: enough documents, a real spread, and nothing that gives levels away."""

from __future__ import annotations

import re
from itertools import combinations

import polars as pl
import pytest

from judgewell import sample
from judgewell.formats.documents import read_documents
from judgewell.formats.topics import read_topics
from judgewell.study.checks import Comprehension, Quiz, QuizPair
from judgewell.tables import GAINS, RUNS, check


@pytest.fixture(scope="module")
def documents() -> pl.DataFrame:
    words = pl.col("text").str.split(" ").list.len().alias("words")
    return sample.documents().join(sample.levels(), on=["topic", "doc"], how="left").with_columns(words)


def grams(text: str, size: int = 5) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(*(words[start:] for start in range(size)), strict=False))


def alike(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / max(1, len(one | other))


def test_eight_topics_with_forty_documents_each(documents: pl.DataFrame) -> None:
    assert len(sample.topics()) == 8
    assert sample.topics()["topic"].is_unique().all()
    sizes = documents.group_by("topic").len()
    assert set(sizes["topic"]) == set(sample.topics()["topic"])
    assert sizes["len"].min() >= 40


def test_topics_have_title_description_and_narrative() -> None:
    for row in sample.topics().iter_rows(named=True):
        assert 2 <= len(row["title"].split()) <= 9, row["topic"]
        assert row["description"].endswith("?"), row["topic"]
        assert 50 <= len(row["narrative"].split()) <= 120, row["topic"]


def test_questions_have_four_answers_one_right() -> None:
    rights = []
    for row in sample.topics().iter_rows(named=True):
        Comprehension(**{name: row[name] for name in ("topic", "question", "answers", "right")})
        assert len({answer.lower().strip() for answer in row["answers"]}) == 4, row["topic"]
        rights.append(row["right"])
    assert set(rights) == {1, 2, 3, 4}, "a right answer that always stands in the same place can be guessed"


def test_every_document_is_judged_for_its_own_topic_and_no_other(documents: pl.DataFrame) -> None:
    assert documents["gain"].null_count() == 0
    assert len(sample.levels()) == len(documents)
    check(sample.levels(), GAINS)


def test_levels_are_spread_as_in_real_pools(documents: pl.DataFrame) -> None:
    wanted = {0.0: (0.44, 0.54), 1.0: (0.17, 0.25), 2.0: (0.15, 0.22), 3.0: (0.10, 0.16)}
    for (topic,), part in documents.group_by("topic"):
        for level, (low, high) in wanted.items():
            share = (part["gain"] == level).mean()
            assert low <= share <= high, (topic, level, share)
    assert set(documents["gain"]) == set(wanted)


def test_documents_have_ids_titles_and_a_readable_length(documents: pl.DataFrame) -> None:
    assert documents["doc"].is_unique().all()
    assert documents["doc"].str.contains(r"^D\d{3}$").all()
    assert documents["title"].is_unique().all()
    assert documents["words"].is_between(60, 180).all()
    assert not documents["text"].str.contains("  |\t|[<>]").any()


def test_ids_and_lengths_do_not_give_levels_away(documents: pl.DataFrame) -> None:
    numbered = documents.with_columns(number=pl.col("doc").str.slice(2).cast(pl.Int64))
    for hint in ("number", "words"):
        assert abs(numbered.select(pl.corr(hint, "gain", method="spearman")).item()) < 0.3, hint
    means = documents.group_by("gain").agg(pl.col("words").mean())["words"]
    assert means.max() / means.min() < 1.15


def test_no_two_documents_are_alike(documents: pl.DataFrame) -> None:
    found = [(doc, grams(text)) for doc, text in documents.select("doc", "text").iter_rows()]
    close = [(a, b) for (a, one), (b, other) in combinations(found, 2) if alike(one, other) >= 0.05]
    assert close == []


def test_likeness_is_seen() -> None:
    """The check of likeness can fail: a text with two words changed is found."""
    text = sample.documents()["text"][0]
    words = text.split()
    words[10], words[40] = "quite", "other"
    assert alike(grams(text), grams(" ".join(words))) > 0.3


def test_documents_share_words_with_the_query_at_every_level(documents: pl.DataFrame) -> None:
    """Judging is a real task only if non-relevant documents have the query's words, and some relevant ones have few."""
    from rankers import stems

    titles = dict(sample.topics().select("topic", "title").iter_rows())
    rows = documents.select("topic", "title", "text", "gain").iter_rows()
    shares: dict[float, list[float]] = {0.0: [], 1.0: [], 2.0: [], 3.0: []}
    for topic, title, text, gain in rows:
        query = set(stems(titles[topic]))
        shares[gain].append(len(query & set(stems(f"{title} {text}"))) / len(query))
    assert sum(share >= 0.5 for share in shares[0.0]) >= 60
    assert sum(share <= 0.5 for share in shares[2.0] + shares[3.0]) >= 25


def test_quizzes_are_twelve_pairs_that_cannot_be_passed_on_one_side() -> None:
    quiz = sample.quiz()
    for (name,), part in quiz.group_by("set"):
        held = Quiz(pair=[QuizPair(**row) for row in part.drop("set").iter_rows(named=True)])
        assert (len(part), held.needed(part["topic"][0])) == (12, 11), name
        assert part["better"].value_counts()["count"].to_list() == [6, 6], name
        assert part["topic"].n_unique() == 1
    assert set(quiz["topic"].drop_nulls()) <= set(sample.topics()["topic"])
    for row in quiz.drop("set").iter_rows(named=True):
        QuizPair(**row)
        assert row["left"] != row["right"]
    assert pl.concat([quiz["left"], quiz["right"].alias("left")]).is_unique().all()


def test_the_files_are_read_by_the_readers_of_studies() -> None:
    folder = sample.folder()
    topics, documents = read_topics(folder / "topics.jsonl"), read_documents(folder / "documents.jsonl")
    assert topics["title"].to_list() == sample.topics()["title"].to_list()
    assert topics["description"].to_list() == sample.topics()["description"].to_list()
    assert documents["text"].to_list() == sample.documents()["text"].to_list()
    assert set(documents["kind"]) == {"text"}


def test_the_collection_is_small() -> None:
    size = sum(path.stat().st_size for path in sample.folder().rglob("*") if path.suffix in (".jsonl", ".qrels", ".gz"))
    assert size < 1_000_000


def test_runs_are_a_checked_table_of_known_documents(documents: pl.DataFrame) -> None:
    runs = check(sample.runs(), RUNS)
    assert runs.columns == RUNS.names
    assert set(runs["doc"]) <= set(documents["doc"])
    sizes = runs.group_by("system", "topic").len()
    assert sizes["len"].max() == 100
    assert sizes.group_by("system").len()["len"].unique().to_list() == [8]
