"""Small made-up studies whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl


def made_study(
    seed: int = 0,
    *,
    units: int = 200,
    documents: int = 60,
    size: int = 8,
    noise: float = 0.5,
    drift: float = 0.0,
    spammers: float = 0.0,
    positive: bool = True,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments of random units and the documents' true grades 0 … 3.

    A value is exp(grade + noise + drift · position); a spammer's is noise alone. Units of one assessor follow each
    other in random order; position is the place in the unit.
    """
    rng = np.random.default_rng(seed)
    grade = rng.integers(0, 4, documents)
    shown = np.stack([rng.permutation(documents)[:size] for _ in range(units)])
    position = np.broadcast_to(np.arange(1, size + 1), shown.shape)
    spammer = (np.arange(units) < spammers * units)[:, None]
    signal = np.where(spammer, 1.5, grade[shown]) + drift * (position - 1)
    value = signal + noise * rng.normal(size=shown.shape) + np.where(spammer, 1.2 * rng.normal(size=shown.shape), 0)
    judgments = pl.DataFrame(
        {
            "topic": ["t"] * shown.size,
            "doc": [f"d{number}" for number in shown.ravel()],
            "assessor": [f"a{number:03d}" for number in np.repeat(np.arange(units), size)],
            "unit": [str(number) for number in np.repeat(np.arange(units), size)],
            "position": position.ravel(),
            "value": (np.exp(value) if positive else value).ravel(),
        }
    )
    grades = pl.DataFrame(
        {"topic": ["t"] * documents, "doc": [f"d{n}" for n in range(documents)], "gain": grade.astype(float)}
    )
    return judgments, grades


def moduli_study(units: int = 60, documents: int = 30, size: int = 8) -> pl.DataFrame:
    """Magnitudes without noise: every unit has its own modulus and the same ratios."""
    rng = np.random.default_rng(5)
    worth = np.exp(rng.normal(size=documents))
    shown = np.stack([rng.permutation(documents)[:size] for _ in range(units)])
    modulus = np.exp(3 * rng.normal(size=(units, 1)))
    who = np.repeat(np.arange(units), size)
    return pl.DataFrame(
        {
            "topic": ["t"] * shown.size,
            "doc": [f"d{number}" for number in shown.ravel()],
            "assessor": [f"a{number:03d}" for number in who],
            "unit": [str(number) for number in who],
            "scale": ["magnitude"] * shown.size,
            "kind": ["ratio"] * shown.size,
            "value": (modulus * worth[shown]).ravel(),
        }
    )
