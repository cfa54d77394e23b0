"""Rank the sample collection with every system and write its runs: python scripts/sample_runs.py"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import rankers
from rankers import Index, Numbers, Split

from judgewell import sample

DEPTH = 100
SEED = 2009
# Rounded before ranking, so that the last bits of a sum, which differ between processors, decide nothing.
DECIMALS = 5


@dataclass(frozen=True)
class Topic:
    """What a person typed and, at length, what they meant."""

    name: str
    title: str
    description: str
    narrative: str

    @property
    def everything(self) -> str:
        return f"{self.title} {self.description} {self.narrative}"


@dataclass(frozen=True)
class Collection:
    """The documents, indexed in the ways that systems ask for."""

    docs: tuple[str, ...]
    titles: tuple[str, ...]
    texts: tuple[str, ...]

    def _indexed(self, split: Split) -> Index:
        return Index.of([f"{title} {text}" for title, text in zip(self.titles, self.texts, strict=True)], split)

    @cached_property
    def stemmed(self) -> Index:
        return self._indexed(rankers.stems)

    @cached_property
    def plain(self) -> Index:
        return self._indexed(rankers.words)

    @cached_property
    def pieces(self) -> Index:
        return self._indexed(rankers.pieces)

    @cached_property
    def headlines(self) -> Index:
        return Index.of(self.titles, rankers.stems)

    @cached_property
    def openings(self) -> Index:
        return Index.of([" ".join(text.split()[:25]) for text in self.texts], rankers.stems)


Ranker = Callable[[Index, Numbers], Numbers]
System = Callable[[Collection, Topic], Numbers]


def _with(ranker: Ranker, index: str = "stemmed", query: str = "title") -> System:
    """A ranker over one of the indexes, asked with one part of the topic."""

    def system(collection: Collection, topic: Topic) -> Numbers:
        chosen: Index = getattr(collection, index)
        return ranker(chosen, chosen.query(getattr(topic, query)))

    return system


def _fusion(collection: Collection, topic: Topic) -> Numbers:
    members = ("bm25-everything", "dirichlet", "rocchio", "relevance-model", "latent")
    return rankers.fused(SYSTEMS[name](collection, topic) for name in members)


def _reversed(collection: Collection, topic: Topic) -> Numbers:
    """What BM25 would show, the last first."""
    scores = np.round(SYSTEMS["bm25"](collection, topic), DECIMALS)
    shown = [collection.docs.index(doc) for doc, _ in ranked(collection, scores)]
    upside_down = np.full_like(scores, -np.inf)
    upside_down[shown] = -scores[shown]
    return upside_down


def _random(collection: Collection, topic: Topic) -> Numbers:
    place = [ord(letter) for letter in topic.name]
    return np.random.default_rng([SEED, *place]).random(len(collection.docs))


SYSTEMS: dict[str, System] = {
    "bm25": _with(rankers.bm25),
    "bm25-no-lengths": _with(partial(rankers.bm25, k1=2.0, b=0.0)),
    "bm25-full-lengths": _with(partial(rankers.bm25, k1=0.6, b=1.0)),
    "bm25-once": _with(partial(rankers.bm25, k1=0.0)),
    "bm25-unstemmed": _with(rankers.bm25, index="plain"),
    "bm25-headlines": _with(rankers.bm25, index="headlines"),
    "bm25-openings": _with(rankers.bm25, index="openings"),
    "bm25-description": _with(rankers.bm25, query="description"),
    "bm25-narrative": _with(rankers.bm25, query="narrative"),
    "bm25-everything": _with(rankers.bm25, query="everything"),
    "tfidf": _with(rankers.cosine),
    "dirichlet": _with(rankers.dirichlet),
    "jelinek-mercer": _with(rankers.jelinek_mercer),
    "relevance-model": _with(rankers.relevance_model, query="description"),
    "rocchio": _with(rankers.rocchio),
    "latent": _with(rankers.latent, query="everything"),
    "pieces": _with(rankers.cosine, index="pieces"),
    "coordination": _with(rankers.coordination),
    "longest": _with(rankers.longest),
    "fusion": _fusion,
    "reversed": _reversed,
    "random": _random,
}


def load() -> tuple[Collection, list[Topic]]:
    """The collection and its topics."""
    documents = sample.documents()
    collection = Collection(tuple(documents["doc"]), tuple(documents["title"]), tuple(documents["text"]))
    rows = sample.topics().select("topic", "title", "description", "narrative").iter_rows()
    return collection, [Topic(*row) for row in rows]


def ranked(collection: Collection, scores: Numbers) -> list[tuple[str, float]]:
    """The documents with a score, best first; equal ones by their id from the last to the first, as trec_eval does."""
    rounded = np.round(scores, DECIMALS) + 0.0  # no minus zero
    found = [(float(score), doc) for doc, score in zip(collection.docs, rounded, strict=True) if np.isfinite(score)]
    return [(doc, score) for score, doc in sorted(found, reverse=True)[:DEPTH]]


def lines(name: str, collection: Collection, topics: list[Topic]) -> Iterator[str]:
    """A system's run as TREC writes it."""
    for topic in topics:
        for rank, (doc, score) in enumerate(ranked(collection, SYSTEMS[name](collection, topic)), start=1):
            yield f"{topic.name} Q0 {doc} {rank} {score:.{DECIMALS}f} {name}\n"


def write(folder: Path) -> None:
    """All runs; the same files every time."""
    folder.mkdir(parents=True, exist_ok=True)
    collection, topics = load()
    for name in SYSTEMS:
        text = "".join(lines(name, collection, topics))
        # The time is excluded from the header, else each making would differ.
        (folder / f"{name}.run.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=sample.folder() / "runs", help="where runs are written")
    write(parser.parse_args().folder)
