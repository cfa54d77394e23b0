"""What the items of EVIA 2014 and its poster are made from: judgments of documents in fixed orders of grades."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from judgewell.agreement.order_effects import with_templates
from judgewell.errors import DataError
from judgewell.papers import synthetic
from judgewell.papers.data import Asked, coded_judgments, expert_labels, magnitudes_only, needed, read_asked_judgments
from judgewell.scales import kind_of
from judgewell.scaling.magnitude import normalised

SCALES = {"magnitude": "unbounded", "bounded": "bounded", "s100": "0–100"}
TWO_ORDERS = ("NMRH", "HRMN")


@dataclass(frozen=True)
class Judged:
    """Judgments with expert grades (0 to 3, N to H)."""

    source: str
    judgments: pl.DataFrame
    grades: pl.DataFrame

    @cached_property
    def by_scale(self) -> dict[str, pl.DataFrame]:
        """The judgments of each scale, by the paper's name for it."""
        parts = self.judgments.with_columns(pl.col("scale").fill_null("magnitude")).partition_by("scale", as_dict=True)
        return {SCALES.get(str(key[0]), str(key[0])): part for key, part in sorted(parts.items(), reverse=True)}

    def offset(self, scale: str) -> float:
        """What is added to scores before a ratio: 1 on a scale that has 0."""
        return kind_of(self.by_scale[scale]).offset

    @cached_property
    def normalised(self) -> pl.DataFrame:
        """Scores after geometric averaging within each scale, and their logarithms (normalised_log)."""
        parts = [normalised(part).with_columns(scale_name=pl.lit(name)) for name, part in self.by_scale.items()]
        table = pl.concat(parts, how="diagonal")
        return table.with_columns(normalised_log=pl.col("normalised").log())

    @cached_property
    def templated(self) -> pl.DataFrame:
        """The same with the order of grades of each unit, for units of four labelled documents."""
        names = dict(enumerate("NMRH"))
        table = with_templates(self.normalised, self.grades, {float(grade): name for grade, name in names.items()})
        kept = table.filter(pl.col("template").is_in(synthetic.TEMPLATES))
        if kept.is_empty():
            raise DataError(f"no unit shows documents in one of the orders {', '.join(synthetic.TEMPLATES)}")
        return kept


@dataclass(frozen=True)
class Data:
    """`orders` has units in fixed orders of grades, `any` may have documents in any order."""

    orders: Judged
    any: Judged
    seed: int = 0
    draws: int = 1000


def read(asked: Asked) -> Data:
    """The user's judgments; else a synthetic study of the paper's design, beside the public scores from 0 to 100."""
    own = read_asked_judgments(asked)
    if own is not None:
        magnitudes_only(own, asked.judgments)
        grades, _ = expert_labels(asked, own)
        cure = "give --labels sormunen=FILE, or judgments with a column grade"
        given = Judged(f"the judgments in {asked.judgments}", own, needed(grades, "there are no expert grades", cure))
        return Data(given, given, asked.seed, asked.draws)
    study = _synthetic(asked.seed)
    return Data(study, _public(asked) or study, asked.seed, asked.draws)


def _synthetic(seed: int) -> Judged:
    judgments = synthetic.template_study(seed)
    grades, _ = expert_labels(Asked(), judgments)
    source = (
        "a synthetic study of the paper's design: three topics, four orders, two scales, ten judges for each, "
        "before any cleaning"
    )
    return Judged(
        source, judgments.drop("template", "grade"), needed(grades, "there are no grades", "make another study")
    )


def _public(asked: Asked) -> Judged | None:
    path = asked.data_file("trec8-s100", "judgments.csv.gz")
    if path is None:
        return None
    judgments = coded_judgments(path)
    grades, _ = expert_labels(Asked(), judgments)
    source = (
        "trec8-s100: 0–100 scores of TREC-8 documents in random order, with Sormunen's grades (1 is added before "
        "logarithms)"
    )
    return Judged(source, judgments, needed(grades, "there are no grades", "take the export with them"))
