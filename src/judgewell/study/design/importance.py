"""Which documents people judge beside a machine's labels: drawn by how much they matter to the systems' scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from judgewell.errors import InputError, note
from judgewell.formats.runs import Run
from judgewell.stats.sampling import inclusion_probabilities, pareto_sample, shared_out
from judgewell.study.design.chance import generator
from judgewell.study.design.pools import first_of_run

DEPTH = 10  # ranks whose weight makes a document important
LEAST = 3  # documents of each topic: a spread needs two, and a prediction for one needs others


def population(runs: Sequence[Run], labels: pl.DataFrame) -> pl.DataFrame:
    """All documents that a conclusion is about: those that the machine labelled or a run has among its first 10.

    Columns topic, doc, label (none where the machine gave none), systems (how many runs have it among their first 10)
    and importance: a_d = √(mean over systems of w_sd²), w_sd the DCG weight of the document's rank in a system.
    """
    firsts = pl.concat(
        first_of_run(run.frame(ranks=False), run.system, DEPTH).with_columns(
            weight=1 / (pl.int_range(2, pl.len() + 2).over("topic")).log(2)
        )
        for run in runs
    )
    weighed = firsts.group_by("topic", "doc").agg(
        systems=pl.len(), importance=(pl.col("weight").pow(2).sum() / len(runs)).sqrt()
    )
    whole = labels.select("topic", "doc", label="gain").join(weighed, on=["topic", "doc"], how="full", coalesce=True)
    whole = whole.filter(pl.col("topic").is_in(labels["topic"].unique().implode())).sort("topic", "doc")
    unlabelled = whole["label"].null_count()
    if unlabelled:
        note(f"{unlabelled:,} of {len(whole):,} documents have no machine label; people may still be asked about them")
    return whole.with_columns(pl.col("systems").fill_null(0), pl.col("importance").fill_null(0.0))


def draw(documents: pl.DataFrame, budget: int, seed: int = 0) -> pl.DataFrame:
    """`budget` documents of a population with the probability with which each was drawn: topic, doc, inclusion.

    Every topic gets its share of the budget by its number of documents, and at least 3.
    """
    topics = documents["topic"].unique(maintain_order=True).to_list()
    sizes = documents.group_by("topic", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    least = int(np.minimum(sizes, LEAST).sum())
    if not least <= budget <= len(documents):
        raise InputError(
            f"a budget of {budget} documents for {len(topics)} topics with {len(documents)} documents",
            cure=f"people are needed on every topic: choose from {least} to {len(documents)}",
        )
    parts: list[pl.DataFrame] = []
    for topic, size in zip(topics, shared_out(budget, sizes, LEAST).tolist(), strict=True):
        part = documents.filter(pl.col("topic") == topic)
        inclusion = inclusion_probabilities(part["importance"].to_numpy(), size)
        uniform = generator(seed, "importance", topic).random(len(part))
        chosen = part.select("topic", "doc").with_columns(inclusion=pl.Series(inclusion))
        parts.append(chosen[pareto_sample(inclusion, uniform, size).tolist()])
    return pl.concat(parts)
