"""Random choices that come out the same on every machine.

Each topic and purpose has its own generator, made from the study's seed and its name, so that adding a topic changes
nothing for the others.
"""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """The generator for a purpose: PCG64 seeded with the study's seed and the names."""
    source = "\x1f".join((str(seed), *names)).encode()
    return np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(source).digest(), "big")))
