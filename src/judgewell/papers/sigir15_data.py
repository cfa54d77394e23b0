"""What the items of SIGIR 2015 are made from, and the steps that several of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from judgewell.analysis.scores import score_sets
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.simulated import simulated_systems
from judgewell.errors import DataError
from judgewell.evaluation.measures import parse
from judgewell.formats.runs import Run, open_runs
from judgewell.papers import synthetic
from judgewell.papers.data import (
    Asked,
    Collection,
    Crowd,
    coded_judgments,
    dl21,
    expert_labels,
    magnitudes_only,
    read_asked_judgments,
    read_asked_runs,
    read_asked_units,
)
from judgewell.scales import kind_of
from judgewell.scaling.known import width_gains, widths
from judgewell.scaling.magnitude import averaged, normalised

ERR = "ERR(gmax='topic')@10"  # the paper does not say which gain satisfies: each topic's largest
MEASURES = ("nDCG@10", ERR)
SYSTEMS = 100  # simulated ones
CUT = 5.0  # the width from which a unit is wide


@dataclass(frozen=True)
class Data:
    """`crowd` is what was judged, `study` judgments that have runs too, `collection` runs under several gains."""

    crowd: Crowd
    study: Crowd
    given: Collection | None
    seed: int = 0
    draws: int = 1000

    @cached_property
    def gains(self) -> pl.DataFrame:
        return median_gains(self.crowd.judgments)

    @cached_property
    def study_gains(self) -> pl.DataFrame:
        return self.gains if self.study is self.crowd else median_gains(self.study.judgments)

    @cached_property
    def offset(self) -> float:
        """What is added to scores before a ratio: 1 on a scale that holds 0."""
        return kind_of(self.crowd.judgments).offset

    @cached_property
    def collection(self) -> Collection:
        if self.given:
            return self.given
        one = self.study
        return Collection(one.source, self.study_gains, one.expert, one.two_valued, one.runs, one.same)

    def simulated(self, one: Crowd | Collection) -> tuple[Run, ...]:
        """Systems put together from rankings whose first ten documents all have expert grades (§5.1)."""
        grades = one.expert if isinstance(one, Crowd) else one.graded
        return tuple(open_runs(simulated_systems(top(one.runs), grades, SYSTEMS, seed=self.seed)))


def is_the_papers(judgments: pl.DataFrame) -> bool:
    """Whether these are the paper's topics and documents: 18 topics with 4,269 documents."""
    documents = judgments.select("topic", "doc").unique()
    return (documents["topic"].n_unique(), documents.height) == (18, 4269)


def median_gains(judgments: pl.DataFrame) -> pl.DataFrame:
    """The median of each document's scores after geometric averaging (§3.3)."""
    return averaged(normalised(judgments), "median")


def top(runs: tuple[Run, ...], depth: int = 10) -> pl.DataFrame:
    """The first documents of every ranking, as a runs table."""
    if not runs:
        raise DataError("there are no runs to measure; give --runs")
    parts = []
    for run in runs:
        frame = run.frame(ranks=False).select("topic", "doc", pl.col("score").cast(pl.Float64))
        best = frame.sort("topic", "score", "doc", descending=[False, True, True]).group_by(
            "topic", maintain_order=True
        )
        parts.append(best.head(depth).select(pl.lit(run.system).alias("system"), "topic", "doc", "score"))
    return pl.concat(parts)


def scores_under(runs: tuple[Run, ...], sets: Mapping[str, pl.DataFrame], measure: str) -> dict[str, ScoreArray]:
    """Systems' scores on the topics that all sets of gains judge."""
    if not runs:
        raise DataError("there are no runs to measure; give --runs")
    return next(iter(score_sets(runs, sets, [parse(measure)], common=True).values()))


def sides(data: Data) -> dict[str, pl.DataFrame]:
    """Document gains from narrow units, wide units and all of the study's (§5.2)."""
    judgments = data.study.judgments
    scores = normalised(judgments)
    spread = widths(judgments, missing="skip")
    narrow = width_gains(scores, spread, side="narrow", cut=CUT)
    wide = width_gains(scores, spread, side="wide", cut=CUT)
    return {"narrow": narrow, "wide": wide, "all": data.study_gains}


def read(asked: Asked) -> Data:
    """The user's judgments and runs; else the public scores from 0 to 100; else a synthetic study of magnitudes."""
    own = read_asked_judgments(asked)
    if own is not None:
        magnitudes_only(own, asked.judgments)
        graded, binary = expert_labels(asked, own)
        runs = read_asked_runs(asked)
        source = f"the judgments in {asked.judgments}" + (" and the runs given" if runs else "")
        crowd = Crowd(source, own, graded, binary, runs, is_the_papers(own), read_asked_units(asked.units))
        return Data(crowd, crowd, None, asked.seed, asked.draws)
    crowd = study = _synthetic(asked.seed)
    public = asked.data_file("trec8-s100", "judgments.csv.gz")
    if public is not None:
        judgments = coded_judgments(public)
        graded, binary = expert_labels(asked, judgments)
        source = (
            "trec8-s100: the paper's topics, documents, units and labels, judged anew on a scale from 0 to 100 (1 "
            "is added before a logarithm or ratio)"
        )
        crowd = Crowd(source, judgments, graded, binary, read_asked_runs(asked), is_the_papers(judgments))
        study = crowd if crowd.runs else study
    return Data(crowd, study, dl21(asked), asked.seed, asked.draws)


def _synthetic(seed: int) -> Crowd:
    judgments = synthetic.magnitude_study(seed)
    graded, binary = expert_labels(Asked(), judgments)
    runs = synthetic.rankings(judgments.select("topic", "doc", "relevance").unique(), seed)
    source = "a synthetic study: 18 topics of 42 documents, magnitudes by synthetic people, made-up runs"
    return Crowd(source, judgments.drop("relevance"), graded, binary, runs)
