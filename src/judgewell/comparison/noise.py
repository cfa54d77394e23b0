"""The score that judgments without noise would have given.

Noise in gains moves most measures one way (nDCG down). So the gains are made noisier on purpose, once and twice as
much as they are, and the score is extrapolated back to no noise (simulation extrapolation, Cook & Stefanski 1994).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from judgewell.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Score = Callable[[Floats], Floats]  # gains (draws × rows) -> scores (draws × systems × topics)

LEAST_JUDGMENTS = 2  # of each document: one says nothing about its noise


def scores_without_noise(
    score: Score,
    gains: Floats,
    draws: Iterable[Floats],
    judgments: Ints,
    *,
    log: bool = False,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Floats:
    """Systems × topics: 3 s₀ − 3 s₁ + s₂, the quadratic through s₀, s₁, s₂ at −1.

    s₀ is the score under the gains; s₁ and s₂ are mean scores under draws whose deviations from the gains are multiplied
    by √(λ n / (n − 1)) with λ = 1 and 2, n the judgments of the document; n / (n − 1) makes up for a bootstrap's
    variance being too small. Deviations are of logarithms where `log`, and gains stay inside `bounds`, the scale.
    A document without a gain in a draw does not deviate there.
    """
    few = int((judgments < LEAST_JUDGMENTS).sum())
    if few:
        raise DataError(
            f"{few} of {len(judgments)} documents have fewer than {LEAST_JUDGMENTS} judgments, which say nothing about "
            "their noise; collect more judgments, or leave these documents out"
        )
    if log and (gains <= 0).any():
        raise DataError(f"a gain of a ratio scale is {gains.min():g} and not above 0; give gains of the ratio scale")
    widening = np.sqrt(judgments / (judgments - 1))
    sums: list[Floats] = [np.zeros(()), np.zeros(())]
    count = 0
    for block in draws:
        deviation = np.nan_to_num(np.log(block) - np.log(gains) if log else block - gains, nan=0.0) * widening
        for at, noise in enumerate((1.0, 2.0)):
            moved = np.sqrt(noise) * deviation
            table = gains * np.exp(moved) if log else gains + moved
            sums[at] = sums[at] + score(np.clip(table, *bounds)).sum(axis=0)
        count += len(block)
    if not count:
        raise DataError("there are no draws of gain tables; draw one or more")
    plain = score(gains[None])[0]
    return np.asarray(3 * plain - 3 * sums[0] / count + sums[1] / count)
