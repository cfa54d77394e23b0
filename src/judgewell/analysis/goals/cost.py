"""What a goal is expected to cost and how sure its end will be, by simulated studies of the study's own systems."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judgewell.analysis.goals.follow import follow, recorded
from judgewell.analysis.goals.look import Mode, Rule, Systems
from judgewell.analysis.goals.plan import Plan
from judgewell.analysis.goals.replay import verdict
from judgewell.analysis.goals.state import FIRST_MEAN, INSIDE, NOISE, TOP
from judgewell.stats.arrays import Floats

CELLS = 4_000_000  # systems × documents × simulated studies: a few seconds
FEWEST, MOST = 5, 40  # simulated studies
SLOPE, SPREAD = 12.0, 22.0  # of gains over standardised log importance, and around that


@dataclass(frozen=True)
class ExpectedCost:
    """Over simulated studies: answers (median and 90 %), the even design's, and how the studies ended."""

    mode: Mode
    studies: int
    answers: int
    answers_90: int
    even: int
    decided: float
    wrong: float


def expected_cost(plan: Plan, rounds: int | None = None) -> ExpectedCost:
    """Studies of the plan's pool and systems with made-up gains and answers, by its own design and by the even one.

    Gains rise with how many systems rank a document high, and answers vary as those on a scale from 0 to 100 did:
    variance .45 · q (100 − q).
    """
    documents = len(plan.pool)
    rounds = rounds or int(np.clip(CELLS // (len(plan.systems.names) * documents), FEWEST, MOST))
    modes: tuple[Mode, ...] = (plan.rule.mode, "even")
    answers: dict[Mode, list[int]] = {mode: [] for mode in modes}
    decided, wrong = 0, 0
    for number in range(rounds):
        rng = np.random.default_rng([plan.seed, number])
        gains, table = made_up(plan.systems, plan.rule, rng)
        first = plan.first()
        first = replace(first, u=rng.permutation(first.u))
        for mode in modes:
            rule = replace(plan.rule, mode=mode)
            ended = follow(first, rule, plan.systems, recorded(table))
            answers[mode].append(ended.state.answers)
            if mode == plan.rule.mode:
                end = verdict(ended.last.status, ended.last, plan.systems.weights @ gains, rule, plan.systems)
                decided += end["status"] == "decided"
                wrong += end["status"] == "decided" and not end["right"]
    own = answers[plan.rule.mode]
    return ExpectedCost(
        plan.rule.mode,
        rounds,
        int(np.median(own)),
        int(np.quantile(own, 0.9)),
        int(np.median(answers["even"])),
        decided / rounds,
        wrong / rounds,
    )


def goal_words(plan: Plan) -> str:
    """What the study wants to know, in words."""
    rule, names = plan.rule, plan.systems.names
    sure = f"with {100 * rule.confidence:g} % confidence"
    if rule.decide == "order":
        return f"the order of {len(names)} systems by {plan.measure}, {sure}"
    which = f"the better of {names[0]} and {names[1]}" if len(names) == 2 else f"the best of {len(names)} systems"
    return f"{which} by {plan.measure}, within {rule.within:g} points of 100, {sure}"


def made_up(systems: Systems, rule: Rule, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Gains of all documents, and as many answers about each as the rule allows."""
    x = systems.importance
    standard = (x - x.mean()) / (x.std() or 1.0)
    gains = np.clip(FIRST_MEAN + SLOPE * standard + rng.normal(0, SPREAD, len(x)), INSIDE, TOP - INSIDE)
    strength = 1 / NOISE - 1  # of a beta distribution with variance NOISE · q (100 − q)
    share = gains / TOP
    answers = rng.beta((share * strength)[:, None], ((1 - share) * strength)[:, None], (len(x), rule.most))
    return gains, TOP * answers
