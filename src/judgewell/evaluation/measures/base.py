"""What a measure is: a value that prints and parses back, called on gains whose last axis is the rank.

`gains` holds, in ranked order, the gain of each document, NaN where it is unjudged or the ranking has ended; `ideal`
holds all judged gains of the topic in descending order, NaN behind the last. Leading axes broadcast, so the same few
lines serve one ranking, systems × topics, and draws × systems × topics. The result loses the last axis and is
always finite: a topic without anything to find scores 0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.ranks import Array, weighted_sum
from judgewell.values import dataclass

DEEPEST = 1_000_000  # ranks
LN2 = math.log(2)

# The laws of most measures: of those whose best value is 1, and of sums over ranks from 0 to 1.
USUAL = frozenset({"range01", "best_is_one", "monotone_append", "unjudged_is_zero", "zero_without_relevant", "swap_up"})
SUMMED = USUAL - {"best_is_one"} | {"ideal_is_best"}


def setting(
    default: Any,
    about: str,
    *,
    choices: tuple[str, ...] = (),
    least: float = -math.inf,
    most: float = math.inf,
    ends: bool = True,
) -> Any:
    """A parameter of a measure: its default, what it says, and the values it may take (`ends`: limits included)."""
    rule = {"about": about, "choices": choices, "least": least, "most": most, "ends": ends}
    return dataclasses.field(default=default, metadata=rule)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The base of all measures; a subclass adds its parameters as fields and its formula as `__call__`.

    A subclass without parameters of its own needs no decorator: it is the same frozen dataclass, and loads quicker.
    """

    cutoff: int | None = None  # the k of "@k": ranks below it do not count
    largest: float | None = dataclasses.field(default=None, repr=False, compare=False)  # filled in by `prepared`

    name: ClassVar[str]  # as printed; ir_measures' spelling where it has one
    source: ClassVar[str]  # the paper it comes from
    other_names: ClassVar[tuple[str, ...]] = ()
    trec_names: ClassVar[tuple[str, ...]] = ()  # trec_eval's names for it; those that end in _cut need a cutoff
    uncut: ClassVar[Mapping[str, str]] = {}  # names that mean another measure without a cutoff
    shorthands: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # other names, each with its parameters
    other_settings: ClassVar[Mapping[tuple[str, str], Mapping[str, Any]]] = {}  # other tools' parameters, as ours
    at: ClassVar[str] = "cutoff"  # the parameter that is written behind the @
    dotted: ClassVar[str] = ""  # the one that other tools write behind a dot (rbp.95), where it is not that one
    never_at: ClassVar[Mapping[str, str]] = {}  # names that are not written with an @ here, with what to write
    always_shown: ClassVar[tuple[str, ...]] = ()  # printed even at its default, where other tools' default differs
    assumed: ClassVar[Mapping[str, str]] = {}  # parameters whose default is reported as a note, with what it says
    settled_by_gains: ClassVar[tuple[str, ...]] = ()  # parameters that `settled` fills in
    over_topics: ClassVar[str] = "mean"  # how topics are put together; a count's are added up (sum), or geometric
    needs_cutoff: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = True
    takes_level: ClassVar[bool] = True  # a least relevant gain for all measures (trec_eval's -l) is for it too
    needs_lengths: ClassVar[bool] = False  # is called with `lengths`, the number of retrieved documents, too
    has_residual: ClassVar[bool] = False
    residual_needs_cutoff: ClassVar[bool] = True
    by_intent: ClassVar[bool] = False  # is called on gains by intent, which have one more axis
    sees_pool: ClassVar[bool] = False  # tells pooled documents that were not judged (a gain below 0) from others
    linear: ClassVar[bool] = False  # has `credit` and `total`, so that tied documents can share their ranks
    in_example: ClassVar[str] = ""  # the parameters that its page in the documentation shows it with
    listed: ClassVar[bool] = True  # among all measures; those that only trec_eval's output has are not
    laws: ClassVar[frozenset[str]] = frozenset()  # checked for every measure by the tests

    def __post_init__(self) -> None:
        if self.cutoff is None and self.needs_cutoff:
            raise MeasureError(f"{self.name} needs a cutoff; write {self.name}@10")
        if self.cutoff is not None and not self.takes_cutoff:
            raise MeasureError(f"{self.name} takes no cutoff, here {self.cutoff}; write {self.name}")
        if self.cutoff is not None and (self.cutoff != int(self.cutoff) or self.cutoff < 1):
            raise MeasureError(f"{self.name}@{self.cutoff}: a cutoff is a whole number from 1 on; write {self.name}@10")
        if self.cutoff is not None and self.cutoff > DEEPEST:
            raise MeasureError(f"{self.name}@{self.cutoff}: a cutoff is at most {DEEPEST:,}; leave it out to count all")
        for parameter in self.parameters():
            _check_setting(self.name, parameter, getattr(self, parameter.name))

    def __call__(self, gains: Array, ideal: Array) -> Array:
        raise NotImplementedError

    def check(self, gains: Array) -> None:
        """Refuse gains (all those of the collection) that this measure has no meaning for."""

    def settled(self, gains: Array) -> Self:
        """This measure with what it leaves open filled in from all gains of the collection, so that its name says all.

        Gains that it has no meaning for are refused.
        """
        self.check(gains)
        return self.prepared(float(np.max(gains, initial=0.0)))

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest value it can have, by the laws it declares."""
        if "range01" in self.laws:
            return 0.0, 1.0
        return (0.0, math.inf) if "nonnegative" in self.laws else (-math.inf, math.inf)

    def prepared(self, largest: float) -> Self:
        """This measure with what it takes from the whole collection filled in: `largest`, the largest gain.

        It prints and compares as before.
        """
        return dataclasses.replace(self, largest=largest)

    def residual(self, gains: Array, ideal: Array) -> Array:
        """How much larger the value could be if all unjudged documents turned out to be as good as can be."""
        raise MeasureError(f"{self.name} has no residual; ask for {self} alone")

    def credit(self, gains: Array) -> Array:
        """What each rank adds before it is weighted; only linear measures have it. Not cut at the cutoff."""
        raise MeasureError(f"{self.name} is not a sum over ranks, so tied documents cannot share theirs")

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        """The measure's value from the credit of each rank, `weights` replacing its own; only linear measures."""
        raise MeasureError(f"{self.name} is not a sum over ranks, so tied documents cannot share theirs")

    def weights(self, depth: int) -> Array:
        """The weight of the ranks 1 … depth, whatever the cutoff; only linear measures have it."""
        raise MeasureError(f"{self.name} is not a sum over ranks, so tied documents cannot share theirs")

    def top(self, gains: Array) -> Array:
        """The gains down to the cutoff."""
        return gains if self.cutoff is None else gains[..., : self.cutoff]

    @classmethod
    def parameters(cls) -> list[dataclasses.Field[Any]]:
        """The fields a user may set, the one behind the @ included unless it is the cutoff."""
        return [field for field in dataclasses.fields(cls) if field.metadata]

    def __str__(self) -> str:
        return self.written()

    def written(self, **more: Any) -> str:
        """Its name with its parameters, and `more` behind them."""
        shown = {
            field.name: getattr(self, field.name)
            for field in self.parameters()
            if field.name != self.at and (field.name in self.always_shown or getattr(self, field.name) != field.default)
        }
        inside = ",".join(f"{name}={_spelled(value)}" for name, value in {**shown, **more}.items())
        behind = getattr(self, self.at)
        return self.name + (f"({inside})" if inside else "") + ("" if behind is None else f"@{_spelled(behind)}")


class Linear(Measure):
    """A measure that adds up, over the ranks, credit × the rank's weight."""

    linear: ClassVar[bool] = True

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        top = self.top(credit)
        depth = top.shape[-1]
        weights = self.weights(depth) if weights is None else weights[..., :depth]
        return weighted_sum(top, weights, self.cutoff)

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return self.total(self.credit(self.top(gains)), ideal)

    def top_credit(self, ideal: Array) -> float | Array:
        """The most that one document can be credited with."""
        return 1.0

    def tail(self, depth: int) -> float:
        """The weight of all ranks below `depth`, down to the cutoff."""
        rest = 0 if self.cutoff is None else max(self.cutoff, depth)
        return float(self.weights(rest)[depth:].sum())

    def residual(self, gains: Array, ideal: Array) -> Array:
        if not self.has_residual:
            return super().residual(gains, ideal)
        return self.residual_total(np.isnan(self.top(gains)).astype(np.float64), ideal)

    def residual_total(self, unjudged: Array, ideal: Array, weights: Array | None = None) -> Array:
        """The residual from the share of each rank that is unjudged; ranks behind the ranking's end are unjudged."""
        top = self.top(unjudged)
        depth = top.shape[-1]
        weights = self.weights(depth) if weights is None else weights[..., :depth]
        return (weighted_sum(top, weights, self.cutoff) + self.tail(depth)) * self.top_credit(ideal)


@dataclass(frozen=True, kw_only=True)
class Variant(Measure):
    """A measure made of another one, on whose gains it depends."""

    of: Measure

    listed: ClassVar[bool] = False

    def check(self, gains: Array) -> None:
        self.of.check(gains)

    def settled(self, gains: Array) -> Self:
        return dataclasses.replace(self, of=self.of.settled(gains))

    def prepared(self, largest: float) -> Self:
        return dataclasses.replace(self, of=self.of.prepared(largest))


class Residual(Variant):
    """The residual of a measure, asked for like any other measure: `RBP(p=0.9).residual`.

    It is how much larger the value could be if all that is unjudged down to the cutoff (for RBP and INST, down to
    infinity) had the best gain there is. With gains from 0 to that best gain, the true value lies between value and
    value + residual, whatever the gains of the unjudged documents are.
    """

    name: ClassVar[str] = "residual"
    source: ClassVar[str] = "Moffat & Zobel, ACM TOIS 27(1), 2008"
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative"})

    def __post_init__(self) -> None:
        if not self.of.has_residual:
            raise MeasureError(f"{self.of.name} has no residual; ask for {self.of} alone")
        if self.of.residual_needs_cutoff and self.of.cutoff is None:
            raise MeasureError(
                f"{self.of}.residual would grow without end; write it with a cutoff: {self.of}@10.residual"
            )

    @property
    def linear(self) -> bool:  # type: ignore[override]  # as linear as what it is the residual of
        return self.of.linear

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return self.of.residual(gains, ideal)

    def credit(self, gains: Array) -> Array:
        return np.isnan(gains).astype(np.float64) if self.linear else super().credit(gains)

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        if not isinstance(self.of, Linear):
            return super().total(credit, ideal, weights)
        return self.of.residual_total(credit, ideal, weights)

    def weights(self, depth: int) -> Array:
        return self.of.weights(depth)

    def __str__(self) -> str:
        return f"{self.of}.residual"


class JudgedOnly(Variant):
    """A measure of the ranking without its unjudged documents: `P(judged_only=True)@10`, as ir_measures writes it."""

    name: ClassVar[str] = "judged_only"
    source: ClassVar[str] = "Sakai, SIGIR 2007"
    laws: ClassVar[frozenset[str]] = frozenset({"condense_invariant"})

    @property
    def needs_lengths(self) -> bool:  # type: ignore[override]  # as what it is a variant of
        return self.of.needs_lengths

    @property
    def over_topics(self) -> str:  # type: ignore[override]
        return self.of.over_topics

    @property
    def by_intent(self) -> bool:  # type: ignore[override]
        return self.of.by_intent

    @property
    def limits(self) -> tuple[float, float]:
        return self.of.limits

    def __call__(self, gains: Array, ideal: Array, lengths: Any = None) -> Array:
        judged = ~np.isnan(gains)
        if self.by_intent:  # for any intent
            judged = np.broadcast_to(judged.any(axis=-2, keepdims=True), gains.shape)
        first = np.argsort(~judged, axis=-1, kind="stable")
        condensed = np.take_along_axis(gains, first, axis=-1)
        if self.needs_lengths:
            return self.of(condensed, ideal, np.count_nonzero(judged, axis=-1))  # type: ignore[call-arg]
        return self.of(condensed, ideal)

    def __str__(self) -> str:
        return self.of.written(judged_only=True)


def residual_of(measure: Measure) -> Residual | None:
    """The residual of a measure, asked for like a measure, where it has one."""
    if not measure.has_residual or (measure.residual_needs_cutoff and measure.cutoff is None):
        return None
    return Residual(of=measure)


def ratio(part: Any, whole: Any) -> Array:
    """part / whole, and 0 where whole is 0: nothing to find scores nothing."""
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole)
    out = np.zeros(np.broadcast_shapes(part.shape, whole.shape))
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def cut_known(known: Any, norm: str, cutoff: int | None) -> Any:
    """What a mean over relevant documents is divided by: all of them, or no more than the cutoff (`norm="min"`)."""
    return known if norm == "all" or cutoff is None else np.minimum(known, cutoff)


def unjudged_as(value: float | Array, gains: Array) -> Array:
    """A copy of the gains with `value` where they are NaN."""
    return np.where(np.isnan(gains), value, gains)


def unjudged_as_zero(gains: Array) -> Array:
    """A copy of gains that are not negative with 0 where they are NaN, in one pass."""
    return np.fmax(gains, 0.0)


def exp2_less_one(gains: Array) -> Array:
    """2^g − 1, exact for whole gains and without cancelling where gains are tiny."""
    return np.where(gains < 0.01, np.expm1(gains * LN2), np.exp2(gains) - 1)


def largest_of(ideal: Array, *, by_topic: bool = False) -> Any:
    """The largest judged gain, of each topic (its axis kept) or of all; 0 where nothing is judged."""
    if not ideal.shape[-1]:
        return np.zeros((*ideal.shape[:-1], 1)) if by_topic else 0.0
    first = np.fmax(ideal[..., :1], 0.0)  # sorted descending
    return first if by_topic else float(first.max(initial=0.0))


def given_lengths(measure: Measure, lengths: Any) -> Array:
    """The number of retrieved documents of each ranking down to the cutoff, which gains do not tell."""
    if lengths is None:
        raise MeasureError(
            f"{measure.name} counts the retrieved documents, which gains do not tell; give their lengths"
        )
    whole = np.asarray(lengths, dtype=np.float64)
    return whole if measure.cutoff is None else np.minimum(whole, measure.cutoff)


def refuse_negative(measure: Measure, gains: Array) -> None:
    """Refuse gains below 0."""
    lowest = float(np.min(gains, initial=math.inf))
    if lowest < 0:
        raise MeasureError(
            f"{measure} takes gains from 0 on, and there is a gain of {lowest:g}; "
            "leave such documents out (unjudged) or give them 0"
        )


def refuse_outside_unit(measure: Measure, gains: Array) -> None:
    """Refuse gains that are not shares of the best gain there is."""
    for worst in (float(np.min(gains, initial=0.0)), float(np.max(gains, initial=1.0))):
        if not 0 <= worst <= 1:
            raise MeasureError(
                f"{measure} takes gains from 0 to 1, and there is a gain of {worst:g}; "
                "rescale to [0, 1] first, e.g. divide by the largest gain (--gains-as unit)"
            )


def _check_setting(measure: str, parameter: dataclasses.Field[Any], value: Any) -> None:
    rule, name = parameter.metadata, parameter.name
    if isinstance(value, str):
        if value not in rule["choices"]:
            allowed = " or ".join(repr(choice) for choice in rule["choices"])
            raise MeasureError(f"{measure}: {name}={value!r} is not {allowed or 'a number'}; {name} is {rule['about']}")
    elif isinstance(value, float | int) and not isinstance(value, bool):
        low, high = rule["least"], rule["most"]
        inside = low <= value <= high if rule["ends"] else low < value < high
        if not inside or not math.isfinite(value):
            raise MeasureError(
                f"{measure}: {name}={value} is not {_limits(low, high, rule['ends'])}; {name} is {rule['about']}"
            )


def _limits(low: float, high: float, ends: bool) -> str:
    """A range in words."""
    if math.isfinite(low) and math.isfinite(high):
        return f"from {low:g} to {high:g}" if ends else f"between {low:g} and {high:g}"
    if math.isfinite(low):
        return f"{low:g} or more" if ends else f"above {low:g}"
    return "a finite number"


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_spelled(grade)}:{_spelled(gain)}" for grade, gain in value) + "}"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
