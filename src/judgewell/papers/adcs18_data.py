"""What the items of ADCS 2018 are made from: pairs that people compared, labels and runs of the same documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from judgewell.analysis.scores import scores_under
from judgewell.comparison.scores import ScoreArray
from judgewell.errors import DataError
from judgewell.evaluation.measures import parse
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_pairs
from judgewell.formats.runs import Run, open_runs
from judgewell.papers import synthetic
from judgewell.papers.data import (
    Asked,
    coded_pairs,
    needed,
    read_asked_frame,
    read_asked_likes,
    read_asked_pairs,
    read_asked_runs,
    read_labels,
)
from judgewell.scaling.combine import combine
from judgewell.scaling.preference import Preference, Relevance
from judgewell.scaling.ratio import Ratio

MEASURE = "RBP(p=0.9)@10"
QUESTIONS = {"Pref": Preference(), "Rele": Relevance(), "Ratio": Ratio()}


@dataclass(frozen=True)
class Compared:
    """Pairs with labels and runs; the labels' first set is the reference (the paper's binary labels)."""

    source: str
    pairs: pl.DataFrame
    labels: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    given_likes: pl.DataFrame | None = None
    given_lengths: pl.DataFrame | None = None

    @cached_property
    def gains(self) -> dict[str, pl.DataFrame]:
        """Documents' scores from each question that was answered."""
        gains = {}
        for name, method in QUESTIONS.items():
            column = {"Pref": "preferred", "Rele": "left_relevant", "Ratio": "left_score"}[name]
            if column in self.pairs.columns and self.pairs[column].null_count() < self.pairs.height:
                gains[name] = method.gains(self.pairs)
        if not gains:
            raise DataError("no question about the pairs was answered")
        return gains

    @cached_property
    def sets(self) -> dict[str, pl.DataFrame]:
        """Labels and scores for the documents that were compared, in [0, 1]."""
        judged = next(iter(self.gains.values())).select("topic", "doc")
        labels = {
            name: frame.join(judged, on=["topic", "doc"], how="semi").with_columns(
                pl.col("gain") / pl.col("gain").max()
            )
            for name, frame in self.labels.items()
        }
        return {name: frame.filter(pl.col("gain") >= 0) for name, frame in labels.items()} | self.gains

    @cached_property
    def combined(self) -> dict[str, pl.DataFrame]:
        """The geometric means of two and of all three questions' scores."""
        if len(self.gains) < 3:
            return {}
        choices = {
            "Q1, Q2 and Q3": ("Pref", "Rele", "Ratio"),
            "Q1 and Q3": ("Pref", "Ratio"),
            "Q2 and Q3": ("Rele", "Ratio"),
            "Q1 and Q2": ("Pref", "Rele"),
        }
        return {name: combine([self.gains[one] for one in of]) for name, of in choices.items()}

    def scores(self, gains: pl.DataFrame) -> ScoreArray:
        """RBP of every run under gains, for the topics that were compared."""
        if not self.runs:
            raise DataError("there are no runs to measure; give --runs")
        return scores_under(self.runs, gains, [parse(MEASURE)])[0]

    @property
    def likes(self) -> pl.DataFrame:
        return needed(
            self.given_likes,
            "nobody was asked which question they liked",
            "give --likes FILE (topic, assessor, unit, question, liked)",
        )

    @property
    def lengths(self) -> pl.DataFrame:
        return needed(self.given_lengths, "the documents' lengths are not known", "give --lengths FILE (doc, length)")


@dataclass(frozen=True)
class Data:
    """`study` has all three questions and what workers did, `systems` pairs with labels and runs, `workers` pairs with
    workers' names and times."""

    study: Compared
    systems: Compared
    workers: Compared
    seed: int = 0


def read(asked: Asked) -> Data:
    """The user's pairs; else public preferences where an item can do with them and a synthetic study elsewhere."""
    own = read_asked_pairs(asked)
    if own is not None:
        given = Compared(
            f"the pairs in {asked.pairs}",
            own,
            read_labels(asked),
            read_asked_runs(asked),
            read_asked_likes(asked.likes),
            read_asked_frame(asked.lengths),
        )
        return Data(given, given, given, asked.seed)
    study = _synthetic(asked.seed)
    return Data(study, _dl21(asked) or study, _music(asked) or study, asked.seed)


def _dl21(asked: Asked) -> Compared | None:
    path = asked.data_file("dl21-preferences", "judgments.txt")
    grades, runs = asked.data_file("trec-dl21", "qrels.nist.txt"), asked.data_file("trec-dl21", "runs")
    if path is None or grades is None or runs is None:
        return None
    graded = read_gains(grades)
    pairs = read_pairs(path).join(graded.select("topic").unique(), on="topic", how="semi")
    labels = {"Binary": graded.with_columns(gain=(pl.col("gain") >= 2).cast(pl.Float64)), "NIST": graded}
    source = (
        "dl21-preferences: preferences of crowd workers (Q1 only, no workers' names) over the best passages of TREC "
        "Deep Learning 2021, with NIST's grades (2 or more as binary) and the 63 runs"
    )
    return Compared(source, pairs, labels, tuple(open_runs(str(runs / "*"))))


def _music(asked: Asked) -> Compared | None:
    path = asked.data_file("music-preferences", "judgments.csv")
    if path is None:
        return None
    source = "music-preferences: which of two melodies is more like a third, by 79 crowd workers (Q1 only)"
    return Compared(source, coded_pairs(path))


def _synthetic(seed: int) -> Compared:
    pairs = synthetic.pair_study(seed)
    documents = pl.concat(
        pairs.select("topic", doc=side, grade=f"{side}_grade", relevance=f"{side}_relevance")
        for side in ("left", "right")
    ).unique()
    grades = read_gains(documents.select("topic", "doc", gain="grade").sort("topic", "doc"))
    binary = grades.with_columns(gain=(pl.col("gain") > 0).cast(pl.Float64))
    runs = synthetic.rankings(documents, seed, systems=40)
    hidden = [name for name in pairs.columns if name.endswith(("_relevance", "_grade"))]
    source = (
        "a synthetic study: three topics, groups of eight and all three questions by synthetic people, made-up runs"
    )
    return Compared(
        source,
        pairs.drop(hidden),
        {"Binary": binary, "Sormunen": grades},
        runs,
        synthetic.question_answers(pairs, seed),
        synthetic.document_lengths(pairs, seed),
    )
