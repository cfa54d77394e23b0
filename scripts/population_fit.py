"""Synthetic people beside real ones: writes docs/evidence/population.md and its picture.

    JUDGEWELL_DATA=… python scripts/population_fit.py [--seed 1]

Reads trec8-s100/judgments.csv.gz and rankme/stp2_plainME_inf.csv from the folder of public data.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import fields
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import population_measured as measured
from evidence import ROOT, made_by, markdown, write
from population_figures import figures, known_ratios
from population_fitting import fit, fit_known, known_figures

from judgewell.assessors.population import Population
from judgewell.assessors.synthetic_tables import synthetic_table
from judgewell.charts.themes import theme
from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_judgments
from judgewell.reports.files import svg

PICTURE = ROOT / "docs" / "pictures" / "population.svg"
LEVELS = ("N", "M", "R", "H")
PUBLISHED_WIDTH = 5.0  # known H over known N, Turpin et al. 2015
FIGURES = {
    "mean": "mean score",
    "zeros": "share of 0",
    "hundreds": "share of 100",
    "between documents": "sd between documents",
    "within documents": "sd within a document",
}
OTHERS = {
    "tens": "tens among scores from 1 to 99",
    "fives": "fives among them",
    "unit log sd": "sd of log scores in a unit",
    "seconds": "median seconds",
    "seconds log sd": "sd of log seconds",
    "seconds log sd within": "the same within a person",
}
TUNED = {
    "person": "by hand: persons' own means come near the measured ones, kinds included",
}


def data_folder() -> Path:
    return Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data"))


def read_off(judgments: pl.DataFrame, typed: pl.Series, seed: int) -> dict[str, tuple[float, float | None, str]]:
    """Parameters that follow from data: value, standard error where there is a formula, and how."""
    own = judgments.filter(pl.col("known").is_null())["value"]
    tens, fives = measured.round_numbers(own.filter((own > 0) & (own < 100)))
    typed_tens, typed_fives = measured.round_numbers(typed.filter((typed > 0) & (typed != 100)))
    crowd = "measured, trec8-s100"
    found: dict[str, tuple[float, float | None, str]] = {
        "tens_s100": (tens, None, crowd),
        "fives_s100": (fives, None, crowd),
        "tens_typed": (typed_tens, None, "measured, RankME"),
        "fives_typed": (typed_fives, None, "measured, RankME"),
        "width": (
            measured.solved_width(PUBLISHED_WIDTH, seed=seed),
            None,
            "solved: known H over known N is 5 (Turpin et al. 2015)",
        ),
    }
    for one in (measured.times, measured.order, measured.persons, measured.work):
        values = one(judgments)
        for name, value in values.items():
            if not name.endswith(("_error", "_low", "_high")):
                unsure = values.get(f"{name}_low", 1.0) < 0 < values.get(f"{name}_high", 1.0)
                source = f"{crowd}: 0 lies inside its interval" if unsure else crowd
                found[name] = (value, values.get(f"{name}_error"), source)
    return found


def parameters(found: dict[str, tuple[float, float | None, str]], fitted: Population) -> str:
    """Every parameter: its value, what the data give, and where it comes from."""
    population, rows = Population(), []
    by_fit = ("grades", "document", "noise", "nothing", "everything")
    by_known = ("known_high", "known_low", "known")
    for field in fields(Population):
        name, value = field.name, getattr(population, field.name)
        if name == "kinds":
            continue
        given, source = "—", TUNED.get(name, "assumed")
        if name in by_fit or name in by_known:
            given = said(getattr(fitted, name))
            source = "fitted, trec8-s100" + ("" if name in by_fit else ", known documents")
        elif name in found:
            measured_value, error, source = found[name]
            given = said(measured_value) + (f" ± {error:.3f}" if error is not None else "")
            source = TUNED.get(name, source)
        rows.append([f"`{name}`", source, said(value), given])
    return markdown(["parameter", "where from", "used", "the data give"], rows, words=2)


def said(value: float | tuple[float, ...]) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{one:.3g}" for one in value)
    return f"{value:.3g}"


def by_level(real: dict[str, float], ours: dict[str, float]) -> str:
    def cell(name: str, number: int) -> str:
        pair = real[f"{name} {number}"], ours[f"{name} {number}"]
        return " / ".join(f"{100 * one:.0f} %" if "share" in FIGURES[name] else f"{one:.1f}" for one in pair)

    rows = [[words, *(cell(name, number) for number in range(4))] for name, words in FIGURES.items()]
    return markdown(["real / synthetic", *LEVELS], rows)


def overall(real: dict[str, float], ours: dict[str, float]) -> str:
    return markdown(
        ["", "real", "synthetic"], [[words, f"{real[name]:.2f}", f"{ours[name]:.2f}"] for name, words in OTHERS.items()]
    )


KNOWN = {
    "mean H": "mean score of known H, of 1",
    "end H": "share of 100 among them",
    "between H": "its sd between topics",
    "mean N": "mean score of known N, of 1",
    "end N": "share of 0 among them",
    "between N": "its sd between topics",
}


def known_table(judgments: pl.DataFrame, synthetic: pl.DataFrame) -> str:
    """What the known documents were fitted to, then their ratios, to which nothing was fitted."""
    pairs = [known_figures(table) for table in (judgments, synthetic)]
    rows = [[words, *(f"{one[name]:.3f}" for one in pairs)] for name, words in KNOWN.items()]
    for words, middle in (("median", np.median), ("geometric mean", measured.geometric_mean)):
        low, high = measured.width_interval(judgments, middle=middle)
        real, ours = (float(middle(known_ratios(table).to_numpy())) for table in (judgments, synthetic))
        rows.append([f"H over N, each raised by 1: {words}", f"{real:.1f} [{low:.1f}, {high:.1f}]", f"{ours:.1f}"])
    return markdown(["known documents", "real", "synthetic"], rows)


def picture(judgments: pl.DataFrame, synthetic: pl.DataFrame) -> str:
    """The distribution of scores by expert grade, real beside synthetic people."""
    parts = []
    for name, table, level in (("real", judgments, "sormunen"), ("synthetic", synthetic, "grade")):
        own = table.filter(pl.col("known").is_null()).drop_nulls(level).with_columns(pl.col(level).cast(pl.Int64))
        binned = own.group_by(level, score=(pl.col("value") / 10).floor().clip(0, 9) * 10 + 5).len()
        shares = binned.with_columns(share=pl.col("len") / pl.col("len").sum().over(level)).sort(level, "score")
        parts.append(
            shares.select("score", "share", people=pl.lit(name), grade=pl.col(level).replace_strict(range(4), LEVELS))
        )
    values = alt.Data(values=pl.concat(parts).with_columns(pl.col("share").round(4)).to_dicts())
    chart = (
        alt.Chart(values)
        .mark_line(strokeWidth=2, point={"size": 18})
        .encode(
            x=alt.X("score:Q", title="score, in tens", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("share:Q", title="share of scores", axis=alt.Axis(format="%", tickCount=5)),
            color=alt.Color("people:N", title=None),
            strokeDash=alt.StrokeDash("people:N", title=None, scale=alt.Scale(range=[[1, 0], [5, 3]])),
            facet=alt.Facet("grade:N", columns=4, title="expert grade", sort=list(LEVELS)),
        )
        .properties(width=150, height=150)
    )
    return svg({**chart.to_dict(validate=False), "config": {**theme(), "background": "white"}})


def share_of_small(judgments: pl.DataFrame) -> float:
    """Of the scores of known N, those from 1 to 5."""
    return float(judgments.filter(pl.col("known") == "N").select(pl.col("value").is_between(1, 5).mean()).item())


def page(judgments: pl.DataFrame, typed: pl.Series, seed: int) -> str:
    synthetic = synthetic_table("s100", seed=seed, topics=40)
    real, ours = figures(judgments, "sormunen"), figures(synthetic)
    fitted = fit_known(known_figures(judgments), start=fit(real, steps=1500))
    small = [100 * share_of_small(table) for table in (judgments, synthetic)]
    PICTURE.write_text(picture(judgments, synthetic), "utf-8")
    graded = judgments.filter(pl.col("known").is_null()).drop_nulls("sormunen").height
    return f"""# Synthetic people compared with real ones

{made_by("population_fit.py", f"seed {seed}")}
`judgewell simulate`, `judgewell design --compare` and `judgewell demo` use synthetic assessors. This page compares
them with real ones and lists every parameter with its source. The real data are {judgments.height:,} crowd judgments
of TREC-8 documents on a 0–100 scale (trec8-s100, Roitero et al. 2018) and {len(typed):,} plain magnitudes (RankME,
Novikova et al. 2018). The tables by grade use the {graded:,} judgments of documents that have an expert grade and are
not known documents. The synthetic data are {synthetic.height:,} judgments with the same design.

![Shares of scores by expert grade, real and synthetic](../pictures/population.svg)

## By expert grade

{by_level(real, ours)}
## Over all judgments

{overall(real, ours)}
Synthetic times vary more than real ones: the synthetic assessors include lazy and hurried ones, while every real
assessor had passed a check of 20 seconds.

## Known documents

The three parameters of known documents were fitted to the first six figures, using only units in which H was scored
above N. The ratios were not fitted. Brackets hold 95 % bootstrap intervals over topics; each of the
{judgments["topic"].n_unique()} topics has one known H and one known N.

{known_table(judgments, synthetic)}
The median ratio is sensitive to small differences. A known N scored 0 gives a ratio of about 100 and one scored 5
about 16, with few values in between (scores from 1 to 5 are {small[0]:.0f} % of the real and {small[1]:.0f} % of the
synthetic scores of known N). So a few per cent more zeros change the median a lot. The geometric mean does not have
this problem.

## Every parameter

- *Fitted* parameters were chosen together so that simulated figures by grade match the real ones (method of simulated
  moments, Nelder–Mead from the values used, all assessors careful). Only their proportions are well determined.
- *Measured* parameters follow from the data by a formula (`scripts/population_measured.py`), with a standard error
  where the formula has one. Effects of order (assimilation, drift) are bootstrapped over assessors and corrected by
  what the formula gives when the order within every unit is shuffled. If the 95 % interval contains 0, 0 is used.
- *Solved* parameters reproduce one published figure.
- Parameters set *by hand* or *assumed* have no evidence here. The types of assessors and their shares are assumed.

{parameters(read_off(judgments, typed, seed), fitted)}"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore", JudgewellWarning)
    folder = data_folder()
    crowd = read_judgments(folder / "trec8-s100" / "judgments.csv.gz")
    rankme = pl.read_csv(folder / "rankme" / "stp2_plainME_inf.csv", infer_schema_length=None)
    write("population.md", page(crowd, rankme["informativeness"].cast(pl.Float64), given.seed))
