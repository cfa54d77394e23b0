"""A small made-up study that has everything: judgments with known documents, labels, runs."""

import numpy as np
import polars as pl

from judgewell.evaluation.measures import parse_all
from judgewell.formats.runs import open_runs
from judgewell.reports.sources import Sources
from judgewell.scaling.methods import parse


def study(topics=5, docs=24, per=5, systems=6, seed=1):
    """Judgments on a magnitude scale, expert levels and runs of rising quality, all from one latent relevance."""
    rng = np.random.default_rng(seed)
    topic, doc = np.repeat(np.arange(topics), docs), np.tile(np.arange(docs), topics)
    latent = rng.normal(size=topics * docs)
    rows = np.concatenate([rng.permutation(np.flatnonzero(topic == one)) for one in range(topics) for _ in range(per)])
    count, unit = len(rows), np.arange(len(rows)) // 8
    who = rng.integers(0, 7, count // 8)[unit]
    value = np.round(np.exp(latent[rows] + rng.normal(0, 0.4, count)) * (10 + 5 * who), 1) + 0.1
    best = {one: latent[topic == one].argmax() for one in range(topics)}
    known = ["H" if doc[row] == best[topic[row]] else None for row in rows]
    judgments = pl.DataFrame(
        {
            "topic": [f"t{one}" for one in topic[rows]],
            "doc": [f"d{one}" for one in doc[rows]],
            "assessor": [f"worker {one}" for one in who],
            "unit": [f"u{one}" for one in unit],
            "position": np.arange(count) % 8 + 1,
            "scale": ["magnitude"] * count,
            "value": value,
            "seconds": np.round(rng.gamma(2, 20, count), 1),
            "comment": [None] * count,
            "known": known,
        },
        schema_overrides={"comment": pl.String},
    )
    labels = pl.DataFrame(
        {
            "topic": [f"t{one}" for one in topic],
            "doc": [f"d{one}" for one in doc],
            "gain": np.digitize(latent, [0.0, 0.8, 1.5]).astype(float),
            "low": [None] * len(topic),
            "high": [None] * len(topic),
            "judgments": [None] * len(topic),
        },
        schema_overrides={"low": pl.Float64, "high": pl.Float64, "judgments": pl.Int64},
    )
    runs = pl.DataFrame(
        {
            "system": [f"s{one}" for one in range(systems) for _ in latent],
            "topic": [f"t{one}" for _ in range(systems) for one in topic],
            "doc": [f"d{one}" for _ in range(systems) for one in doc],
            "score": np.concatenate([latent * one / 2 + rng.normal(size=len(latent)) for one in range(systems)]),
        }
    )
    return judgments, labels, runs


def sources(**changes):
    judgments, labels, runs = study()
    given = {
        "judgments": judgments,
        "labels": {"expert": labels},
        "runs": open_runs(runs),
        "measures": parse_all(["nDCG@10", "ERR(gmax='topic')@10"]),
        "method": parse("magnitude"),
        "draws": 20,
        "worlds": 100,
        "replicates": 50,
    }
    return Sources(**(given | changes))
