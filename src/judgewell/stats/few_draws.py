"""The first draws of numpy's default generator, without loading `numpy.random`.

Loading it takes 15 ms and 7 MB, more than all resampling of a small table. Up to some hundred thousand draws are made
here instead, number for number the same: a SeedSequence of Melissa O'Neill's design seeds PCG64 (O'Neill 2014), whose
states all come from one 128-bit product in 32-bit limbs, and Lemire (2019) makes whole numbers of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64
WORD, STATE = (1 << 32) - 1, (1 << 128) - 1
POOL = 4  # words of entropy


class FewDraws:
    """A generator that draws once; what it draws is what `numpy.random.default_rng(seed)` draws first."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def integers(self, low: int, high: int, size: tuple[int, ...]) -> NDArray[np.int64]:
        """Whole numbers from `low` to below `high`, which differ by less than 2³²."""
        span, count = high - low, int(np.prod(size))
        some = count // 64 + 64  # in place of those that are rejected, fewer than one in a million
        scaled = _words(self.seed, count + some) * np.uint64(span)
        fair = (scaled & np.uint64(WORD)) >= np.uint64((1 << 32) % span)
        return (scaled[fair][:count] >> np.uint64(32)).astype(np.int64).reshape(size) + low


def _words(seed: int, count: int) -> Words:
    """At least `count` words of 32 bits; a number of 64 bits gives its lower half first."""
    side = int((count / 2) ** 0.5) + 1
    state, increment = _first_state(seed)
    steps, factor, shift = [], 1, 0  # j steps from a state: state · factor + shift
    for _ in range(side):
        factor, shift = factor * MULTIPLIER & STATE, (shift * MULTIPLIER + increment) & STATE
        steps.append((factor, shift))
    starts = [state]
    for _ in range(side - 1):
        starts.append((starts[-1] * factor + shift) & STATE)
    numbers = _rotated(*_moved(starts, steps))
    return np.stack([numbers & np.uint64(WORD), numbers >> np.uint64(32)], axis=-1).ravel()


def _moved(starts: Sequence[int], steps: Sequence[tuple[int, int]]) -> tuple[Words, Words]:
    """state · factor + shift of each state and step, modulo 2¹²⁸: the upper and the lower half."""
    states = [limb[:, None] for limb in _limbs(starts)]
    factors = _limbs([factor for factor, _ in steps])
    sums = [np.repeat(limb[None], len(starts), axis=0) for limb in _limbs([shift for _, shift in steps])]
    for i, state in enumerate(states):
        for j, factor in enumerate(factors[: 4 - i]):
            product = state * factor
            sums[i + j] += product & np.uint64(WORD)
            if i + j < 3:
                sums[i + j + 1] += product >> np.uint64(32)
    for place in range(3):
        sums[place + 1] += sums[place] >> np.uint64(32)
        sums[place] &= np.uint64(WORD)
    return (sums[3] << np.uint64(32)) | sums[2], (sums[1] << np.uint64(32)) | sums[0]


def _limbs(values: Sequence[int]) -> list[Words]:
    """Numbers of 128 bits as four of 32, the lowest first."""
    return [np.array([value >> shift & WORD for value in values], np.uint64) for shift in (0, 32, 64, 96)]


def _rotated(upper: Words, lower: Words) -> Words:
    """PCG64's output of its states: both halves mixed, turned right by the six highest bits."""
    turn, mixed = upper >> np.uint64(58), upper ^ lower
    back = (np.uint64(64) - turn) & np.uint64(63)
    return np.asarray((mixed >> turn) | (mixed << back), dtype=np.uint64)


def _first_state(seed: int) -> tuple[int, int]:
    """PCG64's state and increment after seeding."""
    words = _seed_words(seed)
    whole = sum(word << 32 * at for word, at in zip(words, (2, 3, 0, 1, 6, 7, 4, 5), strict=True))
    increment = (whole >> 128) * 2 + 1 & STATE
    return ((increment + (whole & STATE)) * MULTIPLIER + increment) & STATE, increment


def _seed_words(seed: int) -> list[int]:
    """Eight words from a seed of any length, as numpy's SeedSequence makes them."""
    entropy = [seed >> 32 * at & WORD for at in range(max(POOL, -(-seed.bit_length() // 32)))]
    mix = _Hash(0x43B0D7E5, 0x931E8875)
    pool = [mix(word) for word in entropy[:POOL]]
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                pool[target] = _joined(pool[target], mix(pool[source]))
    for word in entropy[POOL:]:
        pool = [_joined(one, mix(word)) for one in pool]
    spread = _Hash(0x8B51F9DD, 0x58F38DED)
    return [spread(pool[at % POOL]) for at in range(8)]


class _Hash:
    """A hash of words whose constant changes with each."""

    def __init__(self, constant: int, factor: int) -> None:
        self.constant, self.factor = constant, factor

    def __call__(self, word: int) -> int:
        word ^= self.constant
        self.constant = self.constant * self.factor & WORD
        word = word * self.constant & WORD
        return word ^ word >> 16


def _joined(one: int, other: int) -> int:
    both = (0xCA01F9DD * one - 0x4973F715 * other) & WORD
    return both ^ both >> 16
