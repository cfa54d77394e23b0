"""The scales on which a document or a pair is judged.

A scale is a frozen value and the only place that turns what was typed into a number. It knows the kind of
its numbers, which widget asks for them and which texts explain it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import Field, field_validator, model_validator

from judgewell.errors import InputError
from judgewell.scales import Kind
from judgewell.study.section import Section, renamed, setting
from judgewell.study.typed_numbers import Refused, read_number, shown

Widget = Literal["choice", "number", "slider"]


class Grade(Section):
    """One step of a scale to choose from: a short key, its number, the name on the button and what it means."""

    key: str = setting("the grade's letter, as in templates")
    value: float = setting("the grade's number; values rise from grade to grade")
    name: str = setting("the words on its button")
    about: str = setting("what the grade means", "")


class Scale(Section):
    """What all scales share, and the settings of a `[scale]` table in the study file.

    A new scale is one class below, with its `kind`, its `numbers` and its `allow`; its texts are in texts/en.toml.
    """

    name: str = setting("the scale's name in the results; its kind when empty", "")
    kind: str = setting("which scale it is")
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
    def choices(self) -> tuple[Grade, ...]:
        """The grades to choose from, where the scale has any."""
        return ()

    def read(self, typed: str) -> float:
        """The number that was typed or chosen, or :class:`Refused`."""
        return _choice(typed, self.choices) if self.choices else self.allow(read_number(typed))

    def allow(self, value: float) -> float:
        """The number itself if it lies on the scale, or :class:`Refused`; for answers that come as numbers."""
        if value not in [grade.value for grade in self.choices]:
            names = ", ".join(grade.name for grade in self.choices)
            raise Refused("refused.unknown_choice", typed=shown(value), choices=names)
        return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Refused("refused.not_finite", typed=shown(value))
    return value


def _choice(typed: str, grades: tuple[Grade, ...]) -> float:
    """The grade whose key, name or number was given; capitals and spaces around do not matter."""
    wanted = typed.strip().casefold()
    names = ", ".join(grade.name for grade in grades)
    if not wanted:
        raise Refused("refused.no_choice", choices=names)
    for grade in grades:
        if wanted in (grade.key.casefold(), grade.name.casefold(), shown(grade.value)):
            return grade.value
    raise Refused("refused.unknown_choice", typed=typed.strip()[:40], choices=names)


class Binary(Scale):
    """Relevant or not: 1 or 0."""

    kind: Literal["binary"] = "binary"
    low: str = setting("the words for 0", "not relevant")
    high: str = setting("the words for 1", "relevant")
    widget: ClassVar[Widget] = "choice"

    @property
    def numbers(self) -> Kind:
        return Kind("nominal")

    @property
    def wording(self) -> dict[str, str]:
        return {"low": self.low, "high": self.high}

    @property
    def choices(self) -> tuple[Grade, ...]:
        return Grade(key="0", value=0.0, name=self.low), Grade(key="1", value=1.0, name=self.high)


FOUR_GRADES = (
    Grade(key="N", value=0.0, name="not relevant", about="nothing in it helps the person"),
    Grade(
        key="M",
        value=1.0,
        name="marginally relevant",
        about="it touches the question, but says no more than the topic already does",
    ),
    Grade(key="R", value=2.0, name="relevant", about="it answers part of the question"),
    Grade(key="H", value=3.0, name="highly relevant", about="it is about the question and answers much of it"),
)


class Ordinal(Scale):
    """Named grades from low to high; only their order means something."""

    kind: Literal["ordinal"] = "ordinal"
    grades: tuple[Grade, ...] = setting("the grades from low to high", FOUR_GRADES, strict=False)
    widget: ClassVar[Widget] = "choice"

    @model_validator(mode="before")
    @classmethod
    def _former(cls, given: Any) -> Any:
        return renamed(given, "levels", "grades")

    @field_validator("grades")
    @classmethod
    def _rising(cls, grades: tuple[Grade, ...]) -> tuple[Grade, ...]:
        if len(grades) < 2:
            raise ValueError(f"{len(grades)} grade does not make a scale; give at least two grades, the lowest first")
        values = [grade.value for grade in grades]
        if any(high <= low for low, high in pairwise(values)):
            listed = ", ".join(shown(value) for value in values)
            raise ValueError(f"the grades' values {listed} do not rise; order them from low to high, each once")
        words = [word.casefold() for grade in grades for word in {grade.key, grade.name}]
        twice = sorted({word for word in words if words.count(word) > 1})
        if twice:
            raise ValueError(f"the grade {twice[0]!r} appears twice; give every grade its own key and name")
        return grades

    @property
    def numbers(self) -> Kind:
        return Kind("ordinal")

    @property
    def choices(self) -> tuple[Grade, ...]:
        return self.grades

    @property
    def wording(self) -> dict[str, str]:
        lines = (f"- **{grade.name}**" + (f": {grade.about}" if grade.about else "") for grade in self.grades)
        text = "\n".join(lines)
        return {"grades": text, "levels": text}  # levels: the former name, in texts written before 0.2


class Magnitude(Scale):
    """Magnitude estimation with a free start: any number above zero, meaningful in proportions.

    `relative` asks to judge in relation to the document before (Turpin et al. 2015), else each for itself
    (Maddalena et al. 2014).
    """

    kind: Literal["magnitude"] = "magnitude"
    relative: bool = setting("judge in proportion to the document before (true) or each for itself (false)", True)
    widget: ClassVar[Widget] = "number"

    @property
    def numbers(self) -> Kind:
        return Kind("ratio")

    @property
    def instructions(self) -> str:
        return f"scale.{self.kind}.instructions_{'relative' if self.relative else 'alone'}"

    def allow(self, value: float) -> float:
        if _finite(value) <= 0:
            raise Refused("refused.not_positive", typed=shown(value))
        return value


class Bounded(Scale):
    """Magnitude estimation between two ends that are themselves excluded."""

    kind: Literal["bounded"] = "bounded"
    relative: bool = setting("judge in proportion to the document before (true) or each for itself (false)", True)
    low: float = setting("the lower end, itself excluded", 0.0, ge=0)
    high: float = setting("the upper end, itself excluded", 100.0)
    widget: ClassVar[Widget] = "number"

    @model_validator(mode="after")
    def _apart(self) -> Bounded:
        if self.low >= self.high:
            raise ValueError(
                f"a bounded magnitude cannot lie between {shown(self.low)} and {shown(self.high)}; "
                "give a higher high end"
            )
        return self

    @property
    def numbers(self) -> Kind:
        return Kind("ratio", self.low, self.high)

    @property
    def instructions(self) -> str:
        return f"scale.{self.kind}.instructions_{'relative' if self.relative else 'alone'}"

    @property
    def wording(self) -> dict[str, str]:
        return {"low": shown(self.low), "high": shown(self.high)}

    def allow(self, value: float) -> float:
        if not self.low < _finite(value) < self.high:
            raise Refused("refused.outside", typed=shown(value), **self.wording)
        return value


class S100(Scale):
    """Whole numbers from 0 to 100 (Roitero et al. 2018); a slider without a start position, and a number field."""

    kind: Literal["s100"] = "s100"
    low: ClassVar[int] = 0
    high: ClassVar[int] = 100
    widget: ClassVar[Widget] = "slider"

    @property
    def numbers(self) -> Kind:
        return Kind("interval", self.low, self.high)

    @property
    def wording(self) -> dict[str, str]:
        return {"low": str(self.low), "high": str(self.high)}

    def allow(self, value: float) -> float:
        if not self.low <= _finite(value) <= self.high:
            raise Refused("refused.outside_closed", typed=shown(value), **self.wording)
        if value != int(value):
            raise Refused("refused.not_whole", typed=shown(value), **self.wording)
        return value


SCALES: Mapping[str, type[Scale]] = {scale.model_fields["kind"].default: scale for scale in Scale.__subclasses__()}

if TYPE_CHECKING:
    AnyScale = Scale
else:  # the study file's [scale] table: one of the classes above, by its kind
    AnyScale = Annotated[Union[tuple(SCALES.values())], Field(discriminator="kind")]  # noqa: UP007

Side = Literal["left", "right", "same"]


@dataclass(frozen=True)
class PairQuestion:
    """A question about two documents side by side."""

    kind: ClassVar[str]

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
    choices: ClassVar[tuple[str, ...]] = ()

    def read(self, typed: str) -> float:
        """One of the two numbers, zero or more."""
        return self.allow(read_number(typed))

    def allow(self, value: float) -> float:
        """The number itself if it is finite and not below zero, or :class:`Refused`."""
        if _finite(value) < 0:
            raise Refused("refused.negative", typed=shown(value))
        return value


PAIR_QUESTIONS: Mapping[str, type[Preference] | type[Absolute] | type[Ratio]] = {
    question.kind: question for question in (Preference, Absolute, Ratio)
}


def pair_questions(kinds: Sequence[str], ties: bool = False) -> tuple[Preference | Absolute | Ratio, ...]:
    """The questions asked about every pair, in this order."""
    if not kinds or len(set(kinds)) < len(kinds):
        raise InputError(
            f"the questions {', '.join(kinds) or '(none)'} cannot be asked about a pair",
            cure="ask one or more of preference, absolute and ratio, each once",
        )
    return tuple(Preference(ties) if kind == "preference" else PAIR_QUESTIONS[kind]() for kind in kinds)


def _not_among(typed: str, choices: tuple[str, ...]) -> Refused:
    listed = ", ".join(choices)
    if not typed.strip():
        return Refused("refused.no_choice", choices=listed)
    return Refused("refused.unknown_choice", typed=typed.strip()[:40], choices=listed)
