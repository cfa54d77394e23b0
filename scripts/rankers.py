"""Rankers of the textbook kind over a collection small enough to hold as one matrix.

A ranker takes an :class:`Index` and a query (weights of terms) and gives every document a score, -inf where it has
nothing to say about it. N documents, f occurrences of a term in a document of length l, mean length m, term in n
documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Split = Callable[[str], list[str]]

_WITHOUT_MEANING = """
a about above after again all also am an and any are as at be because been before being but by can could did do
does down each else even for from had has have he her here him his how i if in into is it its just may me might
more most must my no nor not of off on one or other our out over own same she should so some such than that the
their them then there these they this those to too under until up very was we were what when where whether which
while who whom why will with would you your
"""
STOP_WORDS = frozenset(_WITHOUT_MEANING.split())
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+")


def words(text: str) -> list[str]:
    """Every word in small letters, as it stands."""
    return WORD.findall(text.lower().replace("’", "'"))


def stems(text: str) -> list[str]:
    """The words that carry meaning, without their endings."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def stem(word: str) -> str:
    """The word without 's, plural, -ing, -ed, -ure and a last e: crude, but alike for most forms of a word."""
    word = word.removesuffix("'s")
    if word.endswith(("eaves", "lves")):  # leaves, shelves
        word = word[:-3] + "f"
    elif len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ure"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and re.search("[aeiouy]", rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def pieces(text: str, size: int = 4) -> list[str]:
    """All runs of `size` letters, over the ends of words too."""
    joined = f" {' '.join(words(text))} "
    return [joined[start : start + size] for start in range(len(joined) - size + 1)]


@dataclass(frozen=True)
class Index:
    """How often each term occurs in each document."""

    counts: Numbers
    terms: dict[str, int]
    split: Split

    @classmethod
    def of(cls, texts: Sequence[str], split: Split) -> Index:
        counted = [Counter(split(text)) for text in texts]
        terms = {term: place for place, term in enumerate(sorted(set().union(*counted)))}
        counts = np.zeros((len(texts), len(terms)))
        for row, found in enumerate(counted):
            for term, count in found.items():
                counts[row, terms[term]] = count
        return cls(counts, terms, split)

    def query(self, text: str) -> Numbers:
        """The text as weights of terms; words that no document has are excluded."""
        weights = np.zeros(len(self.terms))
        for term in self.split(text):
            if term in self.terms:
                weights[self.terms[term]] += 1
        return weights

    def matched(self, query: Numbers) -> NDArray[np.bool_]:
        """The documents that have at least one of the query's terms."""
        return np.asarray(self.counts[:, query > 0].any(axis=1))

    @cached_property
    def lengths(self) -> Numbers:
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def frequency(self) -> Numbers:
        """In how many documents each term occurs."""
        return np.asarray((self.counts > 0).sum(axis=0), dtype=np.float64)

    @cached_property
    def share(self) -> Numbers:
        """Each term's share of all the text."""
        return np.asarray(self.counts.sum(axis=0) / self.counts.sum())

    @cached_property
    def tfidf(self) -> Numbers:
        """(1 + log f) · log(N/n), each document of length 1."""
        damped = 1 + np.log(np.maximum(self.counts, 1))
        weights = np.where(self.counts > 0, damped * np.log(len(self.counts) / self.frequency), 0.0)
        return unit(weights)

    @cached_property
    def directions(self) -> tuple[Numbers, Numbers]:
        """The directions that tell the documents apart best, first ones first, and how far they reach.

        Left vectors and values of the singular value decomposition, by way of the small matrix of all cosines.
        """
        squares, vectors = np.linalg.eigh(self.tfidf @ self.tfidf.T)
        return vectors[:, ::-1], np.sqrt(np.maximum(squares[::-1], 0))


def unit(rows: Numbers) -> Numbers:
    """The rows at length 1; empty ones stay empty."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1.0))


def only_matched(index: Index, query: Numbers, scores: Numbers) -> Numbers:
    return np.where(index.matched(query), scores, -np.inf)


def bm25(index: Index, query: Numbers, k1: float = 1.2, b: float = 0.75) -> Numbers:
    """Σ log(1 + (N − n + ½)/(n + ½)) · f(k1 + 1)/(f + k1(1 − b + b·l/m)) (Robertson and Zaragoza, 2009)."""
    wanted = query > 0
    found, frequency = index.counts[:, wanted], index.frequency[wanted]
    rarity = np.log(1 + (len(index.counts) - frequency + 0.5) / (frequency + 0.5))
    room = k1 * (1 - b + b * index.lengths / index.lengths.mean())
    gained = found * (k1 + 1) / np.maximum(found + room[:, None], 1e-12)
    return only_matched(index, query, gained @ (query[wanted] * rarity))


def cosine(index: Index, query: Numbers) -> Numbers:
    """The cosine between TF-IDF weights (Salton and Buckley, 1988)."""
    rarity = np.log(len(index.counts) / index.frequency)
    return only_matched(index, query, index.tfidf @ unit(query * rarity))


def dirichlet(index: Index, query: Numbers, mu: float = 150) -> Numbers:
    """Σ log (f + mu·p)/(l + mu), p the term's share of the collection (Zhai and Lafferty, 2004)."""
    wanted = query > 0
    likelihood = (index.counts[:, wanted] + mu * index.share[wanted]) / (index.lengths[:, None] + mu)
    return only_matched(index, query, np.log(likelihood) @ query[wanted])


def jelinek_mercer(index: Index, query: Numbers, background: float = 0.5) -> Numbers:
    """Σ log ((1 − background)·f/l + background·p) (Zhai and Lafferty, 2004)."""
    wanted = query > 0
    seen = index.counts[:, wanted] / np.maximum(index.lengths, 1)[:, None]
    return only_matched(
        index, query, np.log((1 - background) * seen + background * index.share[wanted]) @ query[wanted]
    )


def coordination(index: Index, query: Numbers) -> Numbers:
    """How many of the query's terms a document has."""
    return only_matched(index, query, (index.counts[:, query > 0] > 0).sum(axis=1).astype(np.float64))


def longest(index: Index, query: Numbers) -> Numbers:
    """The length of the documents that have a query term."""
    return only_matched(index, query, index.lengths)


def latent(index: Index, query: Numbers, dimensions: int = 80) -> Numbers:
    """The cosine in the first directions of a singular value decomposition (Deerwester and others, 1990)."""
    directions, sizes = index.directions
    first, sizes = directions[:, :dimensions], sizes[:dimensions]
    rarity = np.log(len(index.counts) / index.frequency)
    place = (index.tfidf @ (query * rarity)) @ first / sizes
    return np.asarray(unit(first * sizes) @ unit(place))


def relevance_model(index: Index, query: Numbers, feedback: int = 6, expansion: int = 20, own: float = 0.6) -> Numbers:
    """BM25 with the query and the terms that the first documents share: RM3 (Abdul-Jaleel and others, 2004)."""
    first = dirichlet(index, query)
    best = np.argsort(-first, kind="stable")[:feedback]
    best = best[np.isfinite(first[best])]
    likely = np.exp(first[best] - first[best].max())
    model = (likely / likely.sum()) @ (index.counts[best] / index.lengths[best, None])
    kept = np.argsort(-model, kind="stable")[:expansion]
    expanded = np.zeros_like(query)
    expanded[kept] = model[kept] / model[kept].sum()
    return bm25(index, own * query / query.sum() + (1 - own) * expanded)


def rocchio(index: Index, query: Numbers, feedback: int = 6, weight: float = 0.75) -> Numbers:
    """The cosine with the query moved towards its first documents (Rocchio, 1971)."""
    first = cosine(index, query)
    best = np.argsort(-first, kind="stable")[:feedback]
    best = best[np.isfinite(first[best])]
    moved = unit(query * np.log(len(index.counts) / index.frequency)) + weight * index.tfidf[best].mean(axis=0)
    return only_matched(index, moved, index.tfidf @ unit(moved))


def fused(rankings: Iterable[Numbers], k: float = 60) -> Numbers:
    """Σ 1/(k + rank) (reciprocal rank fusion: Cormack, Clarke and Büttcher, 2009)."""
    total: Numbers | None = None
    for scores in rankings:
        ranks = np.empty(len(scores))
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        gained = np.where(np.isfinite(scores), 1 / (k + ranks), 0.0)
        total = gained if total is None else total + gained
    return np.array([]) if total is None else np.where(total > 0, total, -np.inf)
