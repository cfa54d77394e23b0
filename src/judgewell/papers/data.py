"""What the papers are made from: the user's files, the public data sets found in a folder, or synthetic studies.

Each kind of data says in `source` where it comes from; an item's page repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from judgewell.errors import DataError
from judgewell.formats.frames import read_frame
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.formats.runs import Run, open_runs
from judgewell.reports.sources import with_codes
from judgewell.scales import Kind


@dataclass(frozen=True)
class Asked:
    """What the user named; `data` is a folder with the public data sets under their own names."""

    judgments: str | None = None
    pairs: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    likes: str | None = None
    lengths: str | None = None
    units: str | None = None
    data: str | None = None
    seed: int = 0
    draws: int = 1000
    used: list[str] = field(default_factory=list, compare=False)  # files of the data folder, as they are found

    def data_file(self, *names: str) -> Path | None:
        """A file (or folder) of the data folder, if it is there; its files go into the record."""
        path = Path(self.data, *names) if self.data else None
        if path is None or not path.exists():
            return None
        self.used.extend(map(str, sorted(path.iterdir()) if path.is_dir() else [path]))
        return path

    @property
    def files(self) -> list[str]:
        """Every file that was read."""
        named = [self.judgments, self.pairs, self.likes, self.lengths, self.units, *self.labels.values()]
        return [*(path for path in named if path), *self.runs, *sorted(set(self.used))]


@dataclass(frozen=True)
class Crowd:
    """Judgments by many assessors, with the experts' grades and, where they have them, binary labels and runs."""

    source: str
    judgments: pl.DataFrame
    graded: pl.DataFrame | None = None
    binary: pl.DataFrame | None = None
    runs: tuple[Run, ...] = ()
    same: bool = False  # whether this is the paper's own collection
    units: pl.DataFrame | None = None  # how each unit went: topic, unit, backs, revisions

    @property
    def expert(self) -> pl.DataFrame:
        return needed(self.graded, "there are no expert grades", "give --labels sormunen=FILE, or judgments with them")

    @property
    def two_valued(self) -> pl.DataFrame:
        return needed(self.binary, "there are no binary labels", "give --labels trec=FILE")


@dataclass(frozen=True)
class Collection:
    """Runs with several sets of gains for the same topics."""

    source: str
    gains: pl.DataFrame
    graded: pl.DataFrame
    binary: pl.DataFrame
    runs: tuple[Run, ...]
    same: bool = False  # whether this is the paper's own collection


def needed(frame: pl.DataFrame | None, problem: str, cure: str) -> pl.DataFrame:
    """A table that is there, or the words that it is not."""
    if frame is None or frame.is_empty():
        raise DataError(f"{problem}; {cure}")
    return frame


def read_asked_judgments(asked: Asked) -> pl.DataFrame | None:
    return coded_judgments(asked.judgments) if asked.judgments else None


def magnitudes_only(judgments: pl.DataFrame, name: str | None) -> pl.DataFrame:
    """The judgments if their values have ratios: magnitudes, or scores between two ends; grades from 0 are refused."""
    names = {Kind.parse(kind).name for kind in judgments["kind"].unique()}
    others = sorted(names - {"ratio", "interval"})
    if others and judgments["value"].min() <= 0:  # type: ignore[operator]
        raise DataError(
            f"{name}: the values are {' and '.join(others)} and hold 0, and this paper needs magnitudes or scores "
            "such as 0 to 100; grades are for prm15, and pairs for adcs18"
        )
    return judgments


def read_asked_pairs(asked: Asked) -> pl.DataFrame | None:
    return coded_pairs(asked.pairs) if asked.pairs else None


def coded_judgments(path: str | Path) -> pl.DataFrame:
    """Judgments with assessors as A1, A2, …: a page that is passed on should not name people."""
    coded = with_codes(read_judgments(path), None)[0]
    return needed(coded, f"{path} holds no judgments", "give a file that does")


def coded_pairs(path: str | Path) -> pl.DataFrame:
    """Pairs with assessors as A1, A2, …"""
    coded = with_codes(None, read_pairs(path))[1]
    return needed(coded, f"{path} holds no pairs", "give a file that does")


def read_asked_runs(asked: Asked) -> tuple[Run, ...]:
    return tuple(open_runs(list(asked.runs))) if asked.runs else ()


def read_asked_frame(path: str | None) -> pl.DataFrame | None:
    return read_frame(path) if path else None


def read_asked_units(path: str | None) -> pl.DataFrame | None:
    """How each unit went: the units.csv of an export, or any table with topic, unit, backs, revisions."""
    frame = read_asked_frame(path)
    if frame is None:
        return None
    lacking = [name for name in ("topic", "unit", "backs", "revisions") if name not in frame.columns]
    if lacking:
        raise DataError(f"{path} has no column {lacking[0]}; give the units.csv that judgewell export writes")
    completed = pl.col("ending") == "completed" if "ending" in frame.columns else pl.lit(True)
    columns = pl.col("topic", "unit").cast(pl.String), pl.col("backs", "revisions").cast(pl.Int64)
    return frame.filter(completed).select(*columns).unique(["topic", "unit"], keep="last", maintain_order=True)


def read_asked_likes(path: str | None) -> pl.DataFrame | None:
    """Which questions were liked: topic, assessor, unit, question, liked; or the questionnaire.csv of an export, whose
    question `liked` holds the chosen ones."""
    frame = read_asked_frame(path)
    if frame is None or "liked" in frame.columns or "answer" not in frame.columns:
        return frame
    names = frame["question"].unique().sort().to_list()
    asked = "liked" if "liked" in names else names[0]
    if asked != "liked" and len(names) > 1:
        raise DataError(
            f"{path} holds answers to {', '.join(names)} and none is called liked; keep the rows of the question that "
            "asks which questions were liked"
        )
    given = frame.filter(pl.col("question") == asked).with_columns(
        chosen=pl.col("answer").cast(pl.String).fill_null("").str.split("; ")
    )
    choices = given["chosen"].explode().drop_nulls().unique().sort().to_list()
    return pl.concat(
        given.select(
            pl.col("topic", "assessor", "unit").cast(pl.String),
            question=pl.lit(choice),
            liked=pl.col("chosen").list.contains(choice),
        )
        for choice in choices
        if choice
    )


def read_labels(asked: Asked) -> dict[str, pl.DataFrame]:
    """The sets of labels that the user named, in order."""
    return {name: read_gains(path) for name, path in asked.labels.items()}


def label_column(judgments: pl.DataFrame, *names: str) -> pl.DataFrame | None:
    """Each document's label in the first of these columns that the judgments have."""
    name = next((name for name in names if name in judgments.columns), None)
    if name is None:
        return None
    labels = judgments.select("topic", "doc", gain=pl.col(name).cast(pl.Float64)).drop_nulls()
    return read_gains(labels.unique(maintain_order=True).sort("topic", "doc"))


def expert_labels(asked: Asked, judgments: pl.DataFrame) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Graded and two-valued labels: by name (sormunen, trec) among those given, else the first and second given, else
    columns of the judgments; two-valued ones that are missing are the graded ones above their lowest grade."""
    given = read_labels(asked)
    others = iter([labels for name, labels in given.items() if name not in ("sormunen", "trec")])
    sets = []
    for columns in (("sormunen", "grade", "level"), ("trec",)):
        labels = given.get(columns[0])
        if labels is None:
            labels = next(others, None)
        sets.append(labels if labels is not None else label_column(judgments, *columns))
    if sets[1] is None and sets[0] is not None:
        sets[1] = above_lowest(sets[0])
    return sets[0], sets[1]


def above_lowest(grades: pl.DataFrame) -> pl.DataFrame:
    """1 for every grade above the lowest, 0 for that."""
    return grades.with_columns(gain=(pl.col("gain") > pl.col("gain").min()).cast(pl.Float64))


def dl21(asked: Asked) -> Collection | None:
    """TREC Deep Learning 2021: real runs, NIST's grades, and real-valued labels for the same passages."""
    grades, runs = asked.data_file("trec-dl21", "qrels.nist.txt"), asked.data_file("trec-dl21", "runs")
    nuggets = asked.data_file("trec-dl21", "labels", "gpt-4o__nuggets__weighted__qrels.autonuggetizer.w.dl21.txt.gz")
    if grades is None or runs is None or nuggets is None:
        return None
    graded = read_gains(grades)
    return Collection(
        "trec-dl21: the 63 passage runs of TREC Deep Learning 2021 and NIST's grades, with the real-valued nugget "
        "labels in the place of magnitudes and grade 2 or more in the place of binary relevance",
        read_gains(nuggets).filter(pl.col("topic").is_in(graded["topic"].unique().implode())),
        graded,
        graded.with_columns(gain=(pl.col("gain") >= 2).cast(pl.Float64)),
        tuple(open_runs(str(runs / "*"))),
    )
