"""What a design costs and how reliable its judgments can be expected to be, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import polars as pl

from judgewell.study.design.groups import plan_groups
from judgewell.study.design.plan import Design
from judgewell.study.design.units import units_needed
from judgewell.study.model import Pay, Study, Work, cents
from judgewell.study.reliability import reliability_of_pairs, reliability_of_units
from judgewell.text import counted, work_time

UNIT_SIZES = (4, 6, 8, 10)
REDUNDANCIES = (5, 10, 15)
PARTNERS = (2, 3, 4)
SHARES = (0.05, 0.10, 0.15, 0.25)


@dataclass(frozen=True)
class Cost:
    """The work and the money of a design; `assessors` is the number of people it takes if each does all they may."""

    units: int
    judgments: int
    assessors: int
    hours: float
    pay: float
    fee: float
    per_document: float
    per_hour: float
    currency: str

    @property
    def total(self) -> float:
        return cents(self.pay + self.fee)


def cost_of_work(
    units: int, judgments: int, documents: int, assessors: int, paid: float, pay: Pay, seconds: float | None = None
) -> Cost:
    """The cost of work for which assessors get `paid`; it takes `seconds`, or what the study expects of such work."""
    hours = (unit_seconds(judgments, pay, units) if seconds is None else seconds) / 3600
    return Cost(
        units=units,
        judgments=judgments,
        assessors=assessors,
        hours=hours,
        pay=cents(paid),
        fee=pay.fee_on(paid),
        per_document=pay.with_fee(paid) / documents if documents else 0.0,
        per_hour=paid / hours if hours else 0.0,
        currency=pay.currency,
    )


def unit_seconds(judgments: int, pay: Pay, units: int = 1) -> float:
    """The seconds that units with so many judgments are expected to take."""
    return judgments * pay.seconds + units * pay.overhead


def cost_of(
    units: int, judgments: int, documents: int, largest_topic: int, pay: Pay, work: Work, assessors: int = 1
) -> Cost:
    """The cost of some units (each completion counted), judgments in them, and documents judged.

    `largest_topic` is the number of completions in the topic that has most; with a limit of units per topic it
    bounds the number of people from below, as do `assessors` per unit and the limit of units per person.
    """
    paid = ceil(units / (1 - pay.lost) - 1e-9)
    seconds = unit_seconds(judgments, pay, units) * paid / max(units, 1)
    people = max(assessors, ceil(largest_topic / work.units_per_topic), ceil(units / work.most_units))
    return cost_of_work(paid, judgments, documents, people, paid * pay.amount, pay, seconds)


def cost_text(cost: Cost, what: str = "unit", who: str = "by at least") -> str:
    """Units, judgments, hours and money in words, the same before a study, after a simulation and in a design."""
    work = (
        f"{counted(cost.units, what)} with {counted(cost.judgments, 'judgment')} {who} "
        f"{counted(cost.assessors, 'assessor')}, "
        f"{work_time(cost.hours)} of work"
    )
    if not cost.total:
        return f"{work}\nnothing is paid"
    paid = f"{cost.pay:,.2f} {cost.currency} to assessors + {cost.fee:,.2f} fee = {cost.total:,.2f} {cost.currency}"
    return f"{work}\n{paid}; {cost.per_document:,.2f} per document, {cost.per_hour:,.2f} per hour"


def cost_of_design(study: Study, design: Design) -> Cost:
    """The cost of a finished design."""
    work = largest_topic(design)
    people, _ = hand_out(work, study.work.units_per_topic)
    shown = pl.concat(
        [design.documents.select("topic", "doc")]
        + [design.pairs.select("topic", pl.col(side).alias("doc")) for side in ("left", "right")]
    )
    sizes = (design.completions, design.judgments, shown.n_unique(), work.completions)
    return cost_of(*sizes, study.pay, study.work, people)


@dataclass(frozen=True)
class TopicWork:
    """The work on one topic: each unit's documents (or pairs) as bits of a number, and how many people it needs."""

    topic: str
    units: tuple[tuple[int, int], ...]

    @property
    def completions(self) -> int:
        return sum(need for _, need in self.units)


def largest_topic(design: Design) -> TopicWork:
    """The topic that needs most completions; known documents, which everybody may judge again, are excluded."""
    by_topic = design.units.group_by("topic").agg(pl.col("assessors").sum())
    topic = by_topic.sort(-pl.col("assessors"), "topic")["topic"][0]
    units = design.units.filter(pl.col("topic") == topic)
    shared = pl.col("known").is_null() | pl.col("unit").is_in(units.filter(pl.col("template").is_not_null())["unit"])
    both = pl.concat_list("left", "right").list.sort().list.join("\t")
    judged = pl.concat(
        [
            design.documents.filter(shared).select("unit", "doc"),
            design.pairs.filter(shared).select("unit", both.alias("doc")),
        ]
    )
    bits = judged.select("unit", 1 + pl.col("doc").rank("dense").cast(pl.Int64))
    masks: dict[str, int] = {}
    for unit, bit in bits.join(units.select("unit"), on="unit").iter_rows():
        masks[unit] = masks.get(unit, 0) | 1 << bit
    needs = units.select("unit", "assessors").iter_rows()
    return TopicWork(topic, tuple((masks.get(unit, 0), need) for unit, need in needs))


def hand_out(work: TopicWork, most: int, people: int | None = None) -> tuple[int, int]:
    """Hand out a topic's units as the server does: how many people it takes, and how many completions they do.

    Everybody does up to `most` units, none with a document they have judged before. Without `people` as many come as
    are needed.
    """
    open_units = dict(enumerate(need for _, need in work.units))
    came = done = 0
    while open_units and (people is None or came < people):
        came += 1
        judged = taken = 0
        for unit in list(open_units):
            mask = work.units[unit][0]
            if taken == most or judged & mask:
                continue
            judged, taken, done = judged | mask, taken + 1, done + 1
            open_units[unit] -= 1
            if not open_units[unit]:
                del open_units[unit]
    return came, done


def unit_alternatives(documents: Sequence[int], study: Study, *, rounds: int | None = None) -> pl.DataFrame:
    """Units of several sizes and redundancies for topics of these sizes, with cost and expected reliability."""
    known = 2 if study.known else 0
    typical = sorted(documents)[len(documents) // 2]
    rows = []
    most_documents = max(documents)  # a unit cannot hold more
    for size in [one for one in UNIT_SIZES if known < one <= most_documents] or [most_documents]:
        for redundancy in REDUNDANCIES:
            counts = [units_needed(count, size, redundancy, known) for count in documents]
            judged = sum(units * min(size, count) for units, count in zip(counts, documents, strict=True))
            pay = _same_rate(study, size)
            apart = [max(1, (count - known) // max(1, min(size, count) - known)) for count in documents]
            each = [min(study.work.units_per_topic, most) for most in apart]  # units that share no document
            people = max(ceil(units / most) for units, most in zip(counts, each, strict=True))
            cost = cost_of(sum(counts), judged, sum(documents), max(counts), pay, study.work, people)
            reliable = reliability_of_units(typical, size, redundancy, known, seed=study.study.seed, rounds=rounds)
            rows.append(
                {
                    "documents": size,
                    "redundancy": redundancy,
                    **_rounded_parts(cost, size, pay),
                    "reliability": reliable,
                }
            )
    return pl.DataFrame(rows)


def group_alternatives(
    topics: Sequence[tuple[int, int, int]], study: Study, *, rounds: int | None = None
) -> pl.DataFrame:
    """Numbers of partners and shares of others met, for topics of (documents, known relevant, known not relevant)."""
    settings = study.groups
    if settings is None:
        return pl.DataFrame()
    rows = []
    for count in PARTNERS:
        if settings.documents * count % 2 or count >= settings.documents:
            continue
        for share in SHARES:
            plans = [
                plan_groups(n, high=high, low=low, size=settings.documents, partners=count, share=share)
                for n, high, low in topics
            ]
            units = [plan.total * settings.assessors for plan in plans]
            pairs = [plan.size * plan.partners // 2 for plan in plans]
            judged = sum(a * b for a, b in zip(units, pairs, strict=True))
            size = settings.documents * count // 2
            pay = _same_rate(study, size)
            cost = cost_of(
                sum(units), judged, sum(n for n, *_ in topics), max(units), pay, study.work, settings.assessors
            )
            typical = sorted(plans, key=lambda plan: plan.documents)[len(plans) // 2]
            reliable = reliability_of_pairs(typical, settings.assessors, seed=study.study.seed, rounds=rounds)
            sizes = {"partners": count, "share": share, "partitions": typical.partitions}
            rows.append({**sizes, **_rounded_parts(cost, size, pay), "reliability": reliable})
    return pl.DataFrame(rows)


def _same_rate(study: Study, size: int) -> Pay:
    """The pay of a unit of another size at the hourly rate of the study's own units, to the cent."""
    pay = study.pay
    own = study.units.documents if study.units else size
    if study.groups:
        own = study.groups.pairs
    amount = pay.amount * unit_seconds(size, pay) / unit_seconds(own, pay)
    return pay.model_copy(update={"amount": pay.amount if size == own else cents(amount)})


def _rounded_parts(cost: Cost, size: int, pay: Pay) -> dict[str, float | int]:
    """A design's cost, and the minutes and the pay of a unit of its size that it assumes."""
    return {
        "minutes_per_unit": round(unit_seconds(size, pay) / 60, 1),
        "pay_per_unit": pay.amount,
        "units": cost.units,
        "judgments": cost.judgments,
        "assessors": cost.assessors,
        "hours": round(cost.hours, 1),
        "total": cost.total,
    }
