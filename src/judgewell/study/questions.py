"""The scales on which a document or a pair is judged.

A scale is a frozen value and the only place that turns what was typed into a number. It knows the kind of
its numbers, which widget asks for them and which texts explain it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal

from judgewell.errors import InputError
from judgewell.scales import Kind
from judgewell.study.typed_numbers import Refused, read_number, shown

Widget = Literal["choice", "number", "slider"]


@dataclass(frozen=True)
class Level:
    """One step of an ordinal scale: a short key, its number, the name on the button and what it means."""

    key: str
    value: float
    name: str
    about: str = ""


@dataclass(frozen=True)
class Scale:
    """What all scales share; a new scale is one class with its `read`, added to :data:`SCALES`."""

    kind: ClassVar[str]
    widget: ClassVar[Widget]

    @property
    def numbers(self) -> Kind:
        """What the numbers of this scale mean."""
        raise NotImplementedError

    @property
    def question(self) -> str:
        """The key of the question's text."""
        return f"scale.{self.kind}.question"

    @property
    def instructions(self) -> str:
        """The key of the text that explains the scale."""
        return f"scale.{self.kind}.instructions"

    @property
    def wording(self) -> dict[str, str]:
        """The values that this scale's texts need."""
        return {}

    @property
    def choices(self) -> tuple[Level, ...]:
        """The levels to choose from, where the scale has any."""
        return ()

    def read(self, typed: str) -> float:
        """The number that was typed or chosen, or :class:`Refused`."""
        return self.allow(read_number(typed))

    def allow(self, value: float) -> float:
        """The number itself if it lies on the scale, or :class:`Refused`; for answers that come as numbers."""
        raise NotImplementedError


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Refused("refused.not_finite", typed=shown(value))
    return value


def _level(value: float, levels: tuple[Level, ...]) -> float:
    if value not in [level.value for level in levels]:
        raise Refused("refused.unknown_choice", typed=shown(value), choices=", ".join(level.name for level in levels))
    return value


def _choice(typed: str, levels: tuple[Level, ...]) -> float:
    """The level whose key, name or number was given; capitals and spaces around do not matter."""
    wanted = typed.strip().casefold()
    names = ", ".join(level.name for level in levels)
    if not wanted:
        raise Refused("refused.no_choice", choices=names)
    for level in levels:
        if wanted in (level.key.casefold(), level.name.casefold(), shown(level.value)):
            return level.value
    raise Refused("refused.unknown_choice", typed=typed.strip()[:40], choices=names)


@dataclass(frozen=True)
class Binary(Scale):
    """Relevant or not: 1 or 0."""

    low: str = "not relevant"
    high: str = "relevant"

    kind: ClassVar[str] = "binary"
    widget: ClassVar[Widget] = "choice"

    @property
    def numbers(self) -> Kind:
        return Kind("nominal")

    @property
    def wording(self) -> dict[str, str]:
        return {"low": self.low, "high": self.high}

    @property
    def choices(self) -> tuple[Level, ...]:
        return Level("0", 0.0, self.low), Level("1", 1.0, self.high)

    def read(self, typed: str) -> float:
        return _choice(typed, self.choices)

    def allow(self, value: float) -> float:
        return _level(value, self.choices)


FOUR_LEVELS = (
    Level("N", 0.0, "not relevant", "nothing in it helps the person"),
    Level("M", 1.0, "marginally relevant", "it touches the question, but says no more than the topic already does"),
    Level("R", 2.0, "relevant", "it answers part of the question"),
    Level("H", 3.0, "highly relevant", "it is about the question and answers much of it"),
)


@dataclass(frozen=True)
class Ordinal(Scale):
    """Named levels from low to high; only their order means something."""

    levels: tuple[Level, ...] = FOUR_LEVELS

    kind: ClassVar[str] = "ordinal"
    widget: ClassVar[Widget] = "choice"

    @property
    def numbers(self) -> Kind:
        return Kind("ordinal")

    def __post_init__(self) -> None:
        if len(self.levels) < 2:
            raise InputError(f"{len(self.levels)} level is no scale", cure="give at least two levels, the lowest first")
        values = [level.value for level in self.levels]
        if any(high <= low for low, high in pairwise(values)):
            said = ", ".join(shown(value) for value in values)
            raise InputError(f"the levels' values {said} do not rise", cure="order them from low to high, each once")
        words = [word.casefold() for level in self.levels for word in {level.key, level.name}]
        twice = sorted({word for word in words if words.count(word) > 1})
        if twice:
            raise InputError(f"the level {twice[0]!r} is there twice", cure="give every level its own key and name")

    @property
    def choices(self) -> tuple[Level, ...]:
        return self.levels

    @property
    def wording(self) -> dict[str, str]:
        lines = (f"- **{level.name}**" + (f": {level.about}" if level.about else "") for level in self.levels)
        return {"levels": "\n".join(lines)}

    def read(self, typed: str) -> float:
        return _choice(typed, self.levels)

    def allow(self, value: float) -> float:
        return _level(value, self.levels)


@dataclass(frozen=True)
class Magnitude(Scale):
    """Magnitude estimation with a free start: any number above zero, meaningful in proportions.

    `relative` asks to judge in relation to the document before (Turpin et al. 2015), else each for itself
    (Maddalena et al. 2014).
    """

    relative: bool = True

    kind: ClassVar[str] = "magnitude"
    widget: ClassVar[Widget] = "number"

    @property
    def numbers(self) -> Kind:
        return Kind("ratio")

    @property
    def instructions(self) -> str:
        return f"scale.{self.kind}.instructions_{'relative' if self.relative else 'alone'}"

    def allow(self, value: float) -> float:
        _finite(value)
        if value <= 0:
            raise Refused("refused.not_positive", typed=shown(value))
        return value


@dataclass(frozen=True)
class Bounded(Magnitude):
    """Magnitude estimation between two ends that are themselves excluded."""

    low: float = 0.0
    high: float = 100.0

    kind: ClassVar[str] = "bounded"

    @property
    def numbers(self) -> Kind:
        return Kind("ratio", self.low, self.high)

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high:
            raise InputError(
                f"a bounded magnitude cannot lie between {shown(self.low)} and {shown(self.high)}",
                cure="give a low end of at least 0 and a higher high end",
            )

    @property
    def wording(self) -> dict[str, str]:
        return {"low": shown(self.low), "high": shown(self.high)}

    def allow(self, value: float) -> float:
        _finite(value)
        if not self.low < value < self.high:
            raise Refused("refused.outside", typed=shown(value), **self.wording)
        return value


@dataclass(frozen=True)
class S100(Scale):
    """Whole numbers from 0 to 100 (Roitero et al. 2018); a slider without a start position, and a number field."""

    low: int = 0
    high: int = 100

    kind: ClassVar[str] = "s100"
    widget: ClassVar[Widget] = "slider"

    @property
    def numbers(self) -> Kind:
        return Kind("interval", self.low, self.high)

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise InputError(f"a scale cannot go from {self.low} to {self.high}", cure="give a higher high end")

    @property
    def wording(self) -> dict[str, str]:
        return {"low": str(self.low), "high": str(self.high)}

    def allow(self, value: float) -> float:
        _finite(value)
        if not self.low <= value <= self.high:
            raise Refused("refused.outside_closed", typed=shown(value), **self.wording)
        if value != int(value):
            raise Refused("refused.not_whole", typed=shown(value), **self.wording)
        return value


SCALES: Mapping[str, type[Scale]] = {scale.kind: scale for scale in (Binary, Ordinal, Magnitude, Bounded, S100)}

Side = Literal["left", "right", "same"]


@dataclass(frozen=True)
class PairQuestion:
    """A question about two documents side by side."""

    kind: ClassVar[str]
    widget: ClassVar[Widget]

    @property
    def question(self) -> str:
        return f"pair.{self.kind}.question"

    @property
    def instructions(self) -> str:
        return f"pair.{self.kind}.instructions"


@dataclass(frozen=True)
class Preference(PairQuestion):
    """Which of the two is better; forced unless `ties` allows "same"."""

    ties: bool = False

    kind: ClassVar[str] = "preference"
    widget: ClassVar[Widget] = "choice"

    @property
    def instructions(self) -> str:
        return "pair.preference.instructions" + ("_ties" if self.ties else "")

    @property
    def choices(self) -> tuple[Side, ...]:
        return ("left", "right", "same") if self.ties else ("left", "right")

    def read(self, typed: str) -> Side:
        """left, right or, where allowed, same."""
        for side in self.choices:
            if typed.strip().casefold() == side:
                return side
        raise _not_among(typed, self.choices)


@dataclass(frozen=True)
class Absolute(PairQuestion):
    """Which of the two are relevant at all.

    Three buttons (none, one, both) suffice where the preferred document is known: "one" is that one. The answers
    left and right are taken as well.
    """

    kind: ClassVar[str] = "absolute"
    widget: ClassVar[Widget] = "choice"
    choices: ClassVar[tuple[str, ...]] = ("none", "one", "both")

    def read(self, typed: str, preferred: Side | None = None) -> tuple[bool, bool]:
        """Is the left, is the right document relevant."""
        answer = typed.strip().casefold()
        if answer == "one":
            if preferred not in ("left", "right"):
                raise Refused("refused.needs_preference")
            answer = preferred
        if answer not in ("none", "left", "right", "both"):
            raise _not_among(typed, self.choices)
        return answer in ("left", "both"), answer in ("right", "both")


@dataclass(frozen=True)
class Ratio(PairQuestion):
    """A number for each of the two: 0 for a document that is not relevant; only the proportion counts."""

    kind: ClassVar[str] = "ratio"
    widget: ClassVar[Widget] = "number"
    choices: ClassVar[tuple[str, ...]] = ()

    def read(self, typed: str) -> float:
        """One of the two numbers, zero or more."""
        return self.allow(read_number(typed))

    def allow(self, value: float) -> float:
        """The number itself if it is finite and not below zero, or :class:`Refused`."""
        if _finite(value) < 0:
            raise Refused("refused.negative", typed=shown(value))
        return value


@dataclass(frozen=True)
class Questions:
    """The questions asked about every pair, in this order."""

    asked: tuple[Preference | Absolute | Ratio, ...] = field(
        default_factory=lambda: (Preference(), Absolute(), Ratio())
    )

    def __post_init__(self) -> None:
        kinds = [question.kind for question in self.asked]
        if not kinds or len(set(kinds)) < len(kinds):
            raise InputError(
                f"the questions {', '.join(kinds) or '(none)'} cannot be asked about a pair",
                cure="ask one or more of preference, absolute and ratio, each once",
            )


PAIR_QUESTIONS: Mapping[str, type[Preference] | type[Absolute] | type[Ratio]] = {
    question.kind: question for question in (Preference, Absolute, Ratio)
}


def _not_among(typed: str, choices: tuple[str, ...]) -> Refused:
    said = ", ".join(choices)
    if not typed.strip():
        return Refused("refused.no_choice", choices=said)
    return Refused("refused.unknown_choice", typed=typed.strip()[:40], choices=said)
