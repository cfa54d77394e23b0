"""Which prior of Bradley-Terry strengths predicts preferences that were excluded; writes docs/evidence/preferences.md.

JUDGEWELL_DATA=… python scripts/preference_priors.py [--seed 1] [--folds 10]
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from evidence import ROOT, made_by, markdown, write

from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_pairs
from judgewell.scaling.bradley_terry import Prior, bradley_terry

PRIORS: tuple[Prior, ...] = (0.1, 0.3, 1.0, 3.0, "auto")
DATA = Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data"))


def held_out(pairs: pl.DataFrame, prior: Prior, seed: int, folds: int) -> tuple[float, float]:
    """The mean log loss of pairs predicted from those of the other folds, and the mean prior used."""
    fold = pl.Series(np.random.default_rng(seed).integers(0, folds, len(pairs)))
    losses, used = [], []
    for out in range(folds):
        fit = bradley_terry(pairs.filter(fold != out), prior=prior, components="separate")
        used.append(fit.prior)
        theta = fit.cells.documents.select("topic", "doc").with_columns(theta=pl.Series(fit.theta))
        test = pairs.filter(fold == out)
        for side in ("left", "right"):
            own = theta.rename({"doc": side, "theta": f"{side}_theta"})
            test = test.join(own, on=["topic", side], how="left", maintain_order="left")
        gap = (test["left_theta"].fill_null(0) - test["right_theta"].fill_null(0)).to_numpy()
        left = (test["preferred"] == "left").to_numpy()
        losses.append(np.logaddexp(0, np.where(left, -gap, gap)))
    return float(np.concatenate(losses).mean()), float(np.mean(used))


def page(seed: int, folds: int) -> str:
    pairs = read_pairs(DATA / "dl21-preferences" / "judgments.txt")
    rows = []
    for prior in PRIORS:
        loss, used = held_out(pairs, prior, seed, folds)
        rows.append([f"auto ({used:.2f})" if prior == "auto" else f"{prior:g}", f"{loss:.4f}"])
    rows.append(["random guessing", f"{np.log(2):.4f}"])
    return f"""# Which prior predicts preferences

{made_by("preference_priors.py", f"seed {seed} and {folds} folds")}
dl21-preferences: {len(pairs):,} crowd preferences over passages of {pairs["topic"].n_unique()} topics. Strengths are
fitted to all folds but one and predict that one. The prior is the weight of Σ θ² in `bradley-terry`: a normal prior of
variance 1/(2 prior). Lower is better.

{markdown(["prior", "mean log loss"], rows)}
The default is 1. `prior=auto` chooses the prior with the largest likelihood of all answers; it helps if documents
differ more, or less, than here. Maximum likelihood (`prior=0`) has no finite result for these data: 43 passages never
won.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folds", type=int, default=10)
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        write("preferences.md", page(given.seed, given.folds))


if __name__ == "__main__":
    main()
