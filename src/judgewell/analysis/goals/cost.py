"""What a goal is expected to cost and how sure its end will be, by simulated studies of the study's own systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from judgewell.analysis.goals.follow import follow, recorded
from judgewell.analysis.goals.look import Mode, Rule, Systems
from judgewell.analysis.goals.plan import Plan, known_rows
from judgewell.analysis.goals.replay import verdict
from judgewell.analysis.goals.state import FIRST_MEAN, INSIDE, TOP
from judgewell.stats.arrays import Floats
from judgewell.study.design.batches import batch_units, known_documents
from judgewell.study.design.plan import Design
from judgewell.study.model import Study

CELLS = 4_000_000  # systems × documents × simulated studies: a few seconds
FEWEST, MOST = 5, 40  # simulated studies
SLOPE, SPREAD = 12.0, 22.0  # of gains over standardised log importance, and around that
NOISES = 0.2, 0.5  # variance of an answer over q (100 − q): careful assessors, and a crowd
NEAR_END = 1.0  # points from the ends of the scale: answers vary there, too
Graded = Callable[[int], Floats]  # a seed → the gain of each document of the pool in points, NaN where it has no grade


@dataclass(frozen=True)
class ExpectedCost:
    """Over simulated studies: units and the judgments in them, and how the studies ended.

    Judgments are those of whole units, with the known documents.
    """

    mode: Mode
    studies: int
    units: int  # median
    judgments: int  # median
    judgments_10: int
    judgments_90: int
    even: int  # judgments of the even design, median
    decided: int  # studies
    wrong: int


def expected_cost(
    plan: Plan, study: Study, design: Design, rounds: int | None = None, graded: Graded | None = None
) -> ExpectedCost:
    """Studies of the plan's pool and systems with made-up answers, by its own design and by the even one.

    Gains are those that `graded` gives for a seed. Where it gives none (NaN), they rise with how many systems rank a
    document high. Answers vary with variance .2 to .5 · q (100 − q),
    as those of careful assessors and of a crowd on a scale from 0 to 100 do. Units are made as the server makes them.
    Work that is in progress when the study stops is not counted. Units of the even design are full.
    """
    plan = plan.limited_to(design.completions)
    known, size = known_documents(design), study.units.documents if study.units else 1
    room = max(1, size - max((len(grades) for grades in known.values()), default=0))
    marked = known_rows(plan.pool, known)
    rounds = rounds or int(np.clip(CELLS // (len(plan.systems.names) * len(plan.pool)), FEWEST, MOST))
    work: list[tuple[int, int]] = []  # units and judgments
    even: list[int] = []
    decided, wrong = 0, 0
    for number in range(rounds):
        rng = np.random.default_rng([plan.seed, number])
        gains, table = made_up(plan.systems, plan.rule, rng, graded(plan.seed + number) if graded else None)
        first = plan.first()
        first = replace(first, u=rng.permutation(first.u))
        ended = follow(first, plan.rule, plan.systems, recorded(table), unit=room, known=marked)
        made = [batch_units(1, plan.pool[docs], known, size, "", rng).units for docs in ended.batches]
        work.append((sum(map(len, made)), sum(int(one["size"].sum()) for one in made)))
        end = verdict(ended.last.status, ended.last, plan.systems.weights @ gains, plan.rule, plan.systems)
        decided += end["status"] == "decided"
        wrong += end["status"] == "decided" and not end["right"]
        evenly = follow(first, replace(plan.rule, mode="even", most_units=None), plan.systems, recorded(table))
        even.append(ceil(evenly.state.n[~marked].sum() / room) * size)
    units, judgments = np.array(work).T
    return ExpectedCost(
        plan.rule.mode,
        rounds,
        int(np.median(units)),
        int(np.median(judgments)),
        int(np.quantile(judgments, 0.1)),
        int(np.quantile(judgments, 0.9)),
        int(np.median(even)),
        decided,
        wrong,
    )


def goal_words(plan: Plan) -> str:
    """What the study wants to know, in words."""
    rule, names = plan.rule, plan.systems.names
    sure = f"with {100 * rule.confidence:g} % confidence"
    if rule.decide == "order":
        return f"the order of {len(names)} systems by {plan.measure}, {sure}"
    which = f"the better of {names[0]} and {names[1]}" if len(names) == 2 else f"the best of {len(names)} systems"
    return f"{which} by {plan.measure}, within {rule.within:g} points of 100, {sure}"


def made_up(
    systems: Systems, rule: Rule, rng: np.random.Generator, given: Floats | None = None
) -> tuple[Floats, Floats]:
    """Gains of all documents (the given ones, where they are not NaN), and as many answers about each as the rule
    allows."""
    x = systems.importance
    standard = (x - x.mean()) / (x.std() or 1.0)
    gains = np.clip(FIRST_MEAN + SLOPE * standard + rng.normal(0, SPREAD, len(x)), INSIDE, TOP - INSIDE)
    if given is not None:
        gains = np.where(np.isnan(given), gains, np.clip(given, NEAR_END, TOP - NEAR_END))
    strength = 1 / rng.uniform(*NOISES) - 1  # of a beta distribution with variance noise · q (100 − q)
    share = gains / TOP
    answers = rng.beta((share * strength)[:, None], ((1 - share) * strength)[:, None], (len(x), rule.most))
    return gains, TOP * answers
