"""Which scaling method finds the relevant documents: gains of trec8-s100 against NIST's and Sormunen's labels; writes
docs/evidence/scaling.md.

    JUDGEWELL_DATA=… python scripts/scaling_advice.py
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from evidence import ROOT, made_by, markdown, write
from scipy.stats import rankdata

from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_judgments
from judgewell.scaling.methods import parse

METHODS = ("mean", "two-way", "median", "magnitude(average=log-mean)", "magnitude", "known-ratio", "majority")
DATA = Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data"))


def auc(gains: pl.DataFrame, labels: pl.DataFrame) -> float:
    """The chance that a relevant document has a larger gain than a non-relevant one of its topic; mean over topics."""
    joined = gains.join(labels, on=["topic", "doc"])
    values = []
    for _, part in joined.group_by("topic"):
        relevant = part["label"].to_numpy() > 0
        if 0 < relevant.sum() < len(relevant):
            ranks = rankdata(part["gain"].to_numpy())
            above = ranks[relevant].sum() - relevant.sum() * (relevant.sum() + 1) / 2
            values.append(above / (relevant.sum() * (~relevant).sum()))
    return float(np.mean(values))


def rows() -> list[list[str]]:
    judgments = read_judgments(DATA / "trec8-s100" / "judgments.csv.gz")
    documents = judgments.select("topic", "doc", "trec", "sormunen").unique()
    labels = [documents.select("topic", "doc", label=name).drop_nulls() for name in ("trec", "sormunen")]
    table = []
    for name in METHODS:
        gains = parse(name)(judgments)
        table.append([f"`{name}`", *(f"{auc(gains, known):.3f}" for known in labels)])
    return table


def page() -> str:
    return f"""# Which scaling method to start with

{made_by("scaling_advice.py", "no random choices")}
The data are trec8-s100: 0–100 judgments by crowd workers, about ten for each of 4,269 documents. AUC is the chance that
a relevant document has a larger gain than a non-relevant one of the same topic, by NIST's labels and by Sormunen's
(grade 1 or more is relevant), as a mean over the 18 topics.

{markdown(["method", "AUC, NIST", "AUC, Sormunen"], rows())}
On this scale the plain mean orders documents best: moving units to a common level removes some of the information in
the judgments, and a median has ties. Magnitudes without bounds are different: every assessor chooses a modulus, which
has to be removed (`magnitude`, `two-way`). No public data with such magnitudes and relevance labels were available, so
this page measures nothing for them.
"""


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        write("scaling.md", page())


if __name__ == "__main__":
    main()
