"""Studies of the papers' designs filled by synthetic people, for items whose data are not at hand.

What synthetic people do is fitted to real judgments (`judgewell.assessors`); the numbers say how the analyses work, and
nothing about people. Everything follows from the seed.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import polars as pl

from judgewell.assessors import answers
from judgewell.assessors.arrays import answered, crowd_of, impressions, seconds
from judgewell.assessors.people import make_people
from judgewell.assessors.population import Population
from judgewell.assessors.synthetic_tables import synthetic_table
from judgewell.formats.runs import Run, open_runs
from judgewell.study.design.groups import make_groups, plan_groups
from judgewell.study.design.templates import fill_templates
from judgewell.tables import JUDGMENTS, check

KEYS = "NMRH"
SCALES = ("unbounded", "bounded")
TEMPLATES = ("NMRH", "HRMN", "NNNN", "MRMR")


def magnitude_study(seed: int, topics: int = 18, documents: int = 40) -> pl.DataFrame:
    """Units of eight with a known H and N, ten magnitudes for each document; columns `sormunen` and `trec` hold the
    grades (0 to 3) and another expert's yes or no."""
    table = synthetic_table("magnitude", seed=seed, topics=topics, documents=documents)
    known = pl.when(pl.col("known") == "H").then(3.0).when(pl.col("known") == "N").then(0.0)
    docs = table.select("topic", "doc").unique().sort("topic", "doc")
    doubt = docs.with_columns(doubt=pl.Series(np.random.default_rng(seed).normal(0, 1.5, len(docs))))
    joined = table.join(doubt, on=["topic", "doc"], how="left", maintain_order="left")
    yes = pl.col("relevance") + pl.col("doubt") > answers.thresholds(2, Population())[0]
    return (
        joined.with_columns(
            sormunen=known.otherwise(pl.col("grade")), trec=yes.cast(pl.Float64), unit=pl.col("unit").cast(pl.String)
        )
        .drop("doubt")
        .pipe(check, JUDGMENTS)
    )


def rankings(relevances: pl.DataFrame, seed: int, systems: int = 60, depth: int = 20) -> tuple[Run, ...]:
    """Runs of systems of every skill: each ranks documents (topic, doc, relevance) by relevance and chance."""
    rng = np.random.default_rng(seed)
    skills = np.linspace(0.4, 0.6, systems)
    parts = []
    for (topic,), part in relevances.sort("topic", "doc").group_by("topic", maintain_order=True):
        relevance = part["relevance"].to_numpy()
        spread = float(relevance.std()) or 1.0
        shared = rng.normal(size=len(relevance))  # what all systems get wrong alike
        for number, skill in enumerate(skills):
            noise = sqrt(0.5) * (shared + rng.normal(size=len(relevance)))
            score = skill * (relevance - relevance.mean()) / spread + (1 - skill) * noise
            best = np.argsort(-score)[:depth]
            parts.append(
                pl.DataFrame(
                    {"doc": part["doc"].gather(best.tolist()), "score": score[best]},
                ).select(pl.lit(f"s{number + 1:02}").alias("system"), pl.lit(topic).alias("topic"), "doc", "score")
            )
    return tuple(open_runs(pl.concat(parts)))


def template_study(seed: int, judges: int = 10, topics: int = 3) -> pl.DataFrame:
    """Four documents in a fixed order of grades, on a scale without and one with bounds: a judge for each unit."""
    population = Population()
    rng = np.random.default_rng(seed)
    crowd = crowd_of(make_people(judges * topics * len(TEMPLATES) * len(SCALES), seed, population), population)
    parts: list[pl.DataFrame] = []
    judge = 0
    for topic in range(1, topics + 1):
        names = {key: [f"t{topic}-{key}{number}" for number in range(1, 6)] for key in KEYS}
        relevance = {
            doc: population.grades[KEYS.index(key)] + 0.3 * population.document * rng.normal()  # chosen as clear cases
            for key, docs in names.items()
            for doc in docs
        }
        filled = fill_templates(TEMPLATES, names, rng, documents={"H": 1, "R": 3, "M": 3, "N": 4}, topic=str(topic))
        for template, docs in filled.items():
            for scale in SCALES:
                who = np.arange(judge, judge + judges)
                judge += judges
                seen = impressions(np.tile([relevance[doc] for doc in docs], (judges, 1)), crowd, who, rng)
                values = answered("magnitude" if scale == "unbounded" else "s100", seen, crowd, who, rng)
                values = values if scale == "unbounded" else np.clip(values, 0.01, 99)
                parts.append(_template_rows(f"t{topic}", template, scale, docs, who, values, len(parts)))
    return check(pl.concat(parts), JUDGMENTS)


def _template_rows(
    topic: str, template: str, scale: str, docs: tuple[str, ...], who: np.ndarray, values: np.ndarray, part: int
) -> pl.DataFrame:
    size = len(docs)
    return pl.DataFrame(
        {
            "topic": topic,
            "doc": list(docs) * len(who),
            "assessor": [f"a{person}" for person in np.repeat(who, size)],
            "unit": [f"u{part}-{person}" for person in np.repeat(who, size)],
            "position": np.tile(np.arange(1, size + 1), len(who)),
            "scale": "magnitude" if scale == "unbounded" else "bounded",
            "value": values.ravel(),
            "grade": [float(KEYS.index(key)) for key in template] * len(who),
            "template": template,
        }
    )


def double_study(seed: int, topics: int = 50, documents: int = 60, grades: int = 4) -> pl.DataFrame:
    """Every document graded by two of many assessors, called U1 and U2, with its relevance; grades from 0."""
    population = Population()
    rng = np.random.default_rng(seed)
    crowd = crowd_of([one for one in make_people(80, seed, population) if one.kind.sense > 0], population)
    grade = rng.choice(len(population.grades), (topics, documents), p=population.mixture)
    relevance = np.asarray(population.grades)[grade] + population.document * rng.normal(size=grade.shape)
    parts = []
    for name in ("U1", "U2"):
        who = rng.integers(0, len(crowd), topics)
        seen = (
            relevance + 0.5 * crowd.noise[who][:, None] * rng.normal(size=relevance.shape) + crowd.shift[who][:, None]
        )
        given = answers.grades(seen, grades, population).astype(np.float64)
        parts.append(
            pl.DataFrame(
                {
                    "topic": [f"t{topic:02}" for topic in range(1, topics + 1) for _ in range(documents)],
                    "doc": [f"d{doc:02}" for _ in range(topics) for doc in range(1, documents + 1)],
                    "assessor": name,
                    "value": given.ravel(),
                    "relevance": relevance.ravel(),
                }
            )
        )
    kind = pl.when(pl.col("topic").str.slice(1).cast(pl.Int64) % 4 == 0).then(pl.lit("navigational"))
    return pl.concat(parts).with_columns(type=kind.otherwise(pl.lit("informational")))


def pair_study(seed: int, sizes: tuple[int, ...] = (96, 80, 64), people: int = 120) -> pl.DataFrame:
    """Groups of eight with a known H and N, twelve pairs each and three questions a pair, three people for a group.

    Extra columns: partition, left_known, right_known, left_grade, right_grade, left_relevance, right_relevance.
    """
    rng = np.random.default_rng(seed)
    return pl.concat([_pair_topic(f"t{number}", size, people, seed, rng) for number, size in enumerate(sizes, 1)])


def _pair_topic(topic: str, documents: int, people: int, seed: int, rng: np.random.Generator) -> pl.DataFrame:
    population = Population()
    crowd = crowd_of([one for one in make_people(people, seed, population) if one.kind.sense > 0], population)
    grade = rng.choice(len(population.grades), documents, p=population.mixture)
    grade[: documents // 8], grade[documents // 8 : documents // 4] = 3, 0
    relevance = np.asarray(population.grades)[grade] + population.document * rng.normal(size=documents)
    high, low = range(documents // 8), range(documents // 8, documents // 4)
    plan = plan_groups(documents, high=len(high), low=len(low))
    grouping = make_groups(plan, rng, high=high, low=low)
    groups, size, times = grouping.pairs.shape[0], grouping.pairs.shape[1], 3
    who = np.stack([rng.choice(len(crowd), times, replace=False) for _ in range(groups)]).ravel()
    at = np.repeat(grouping.pairs, times, axis=0)
    noise, lasting = crowd.noise[who][:, None], population.lasting
    own = noise * sqrt(lasting) * rng.normal(size=(len(who), documents))
    passing = noise[..., None] * sqrt(1 - lasting) * rng.normal(size=at.shape)
    seen = relevance[at] + np.take_along_axis(own, at.reshape(len(who), -1), 1).reshape(at.shape) + passing
    relevant = seen + crowd.shift[who][:, None, None] > answers.thresholds(2, population)[0]
    scale = crowd.modulus[who][:, None, None], crowd.width[who][:, None, None]
    habits = crowd.typed[who][:, 0][:, None, None], crowd.typed[who][:, 1][:, None, None]
    scores = np.where(relevant, answers.magnitudes(seen, *scale, *habits, rng), 0.0)
    spent = 1.2 * seconds(crowd, who, size, rng)
    left, right = at[..., 0].ravel(), at[..., 1].ravel()
    flags = np.array(["H"] * len(high) + ["N"] * len(low) + [""] * (documents - documents // 4))
    number = np.repeat(np.arange(groups), times)
    frame = pl.DataFrame(
        {
            "topic": topic,
            "left": [f"{topic}-d{doc:03}" for doc in left],
            "right": [f"{topic}-d{doc:03}" for doc in right],
            "assessor": [f"a{person}" for person in np.repeat(who, size)],
            "unit": [f"{topic}/{group}" for group in np.repeat(number, size)],
            "position": np.tile(np.arange(1, size + 1), len(who)),
            "preferred": np.where(seen[..., 0] >= seen[..., 1], "left", "right").ravel().tolist(),
            "left_relevant": relevant[..., 0].ravel(),
            "right_relevant": relevant[..., 1].ravel(),
            "left_score": scores[..., 0].ravel(),
            "right_score": scores[..., 1].ravel(),
            "seconds": spent.ravel(),
            "partition": np.repeat(grouping.partition[number], size),
            "left_known": flags[left].tolist(),
            "right_known": flags[right].tolist(),
            "left_grade": grade[left].astype(np.float64),
            "right_grade": grade[right].astype(np.float64),
            "left_relevance": relevance[left],
            "right_relevance": relevance[right],
        }
    )
    blank = pl.col("left_known", "right_known")
    return frame.with_columns(pl.when(blank != "").then(blank).name.keep())


def question_answers(pairs: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Which of the three questions each person liked after each unit: topic, assessor, unit, question, liked."""
    rng = np.random.default_rng(seed)
    units = pairs.select("topic", "assessor", "unit").unique(maintain_order=True)
    parts = [
        units.with_columns(question=pl.lit(name), liked=pl.Series(rng.random(len(units)) < share))
        for name, share in (("Q1", 0.5), ("Q2", 0.55), ("Q3", 0.25))
    ]
    return pl.concat(parts)


def document_lengths(pairs: pl.DataFrame, seed: int) -> pl.DataFrame:
    """A length in words for each document, which nobody's time depends on: doc, length."""
    rng = np.random.default_rng(seed)
    docs = pl.concat([pairs["left"], pairs["right"]]).unique().sort()
    return pl.DataFrame({"doc": docs, "length": np.round(np.exp(rng.normal(6, 0.7, len(docs))))})
