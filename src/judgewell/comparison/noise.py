"""The score that judgments without noise would have given.

Noise in gains moves most measures one way (nDCG down). So the gains are made noisier on purpose, once and twice as
much as they are, and the score is extrapolated back to no noise (simulation extrapolation, Cook & Stefanski 1994).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from judgewell.errors import DataError
from judgewell.stats.arrays import Floats, Ints

Score = Callable[[Floats], Floats]  # gains (draws × rows) -> scores (draws × systems × topics)

LEAST_JUDGMENTS = 2  # of each document: one says nothing about its noise


def scores_without_noise(score: Score, gains: Floats, draws: Iterable[Floats], judgments: Ints) -> Floats:
    """Systems × topics: 3 s₀ − 3 s₁ + s₂, the quadratic through s₀, s₁ and s₂ at −1.

    s₀ is the score under the gains; s₁ and s₂ are mean scores under draws (blocks of draws × rows, read twice) whose
    deviations from the gains are multiplied by √(λ n / (n − 1)) with λ = 1 and 2, n the document's judgments: without
    n / (n − 1) a bootstrap's variance is too small. The noisier gains stay inside the range of gains and draws, so
    inside the scale. A document without a gain in a draw does not deviate there.
    """
    few = int((judgments < LEAST_JUDGMENTS).sum())
    if few:
        raise DataError(
            f"{few} of {len(judgments)} documents have fewer than {LEAST_JUDGMENTS} judgments, which say nothing about "
            "their noise; collect more judgments, or leave these documents out"
        )
    widening = np.sqrt(judgments / (judgments - 1))
    least, most = float(gains.min()), float(gains.max())
    for block in draws:
        least, most = min(least, float(np.nanmin(block))), max(most, float(np.nanmax(block)))
    sums: list[Floats] = [np.zeros(()), np.zeros(())]
    count = 0
    for block in draws:
        deviation = np.nan_to_num(block - gains, nan=0.0) * widening
        for at, noise in enumerate((1.0, 2.0)):
            sums[at] = sums[at] + score(np.clip(gains + np.sqrt(noise) * deviation, least, most)).sum(axis=0)
        count += len(block)
    if not count:
        raise DataError("there are no draws of gain tables; draw one or more")
    return np.asarray(3 * score(gains[None])[0] - 3 * sums[0] / count + sums[1] / count)
