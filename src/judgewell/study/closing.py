"""The closing questionnaire: a few questions about the work, asked when it is done; what is typed is checked here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, model_validator

from judgewell.study.section import Section, many, setting
from judgewell.study.typed_numbers import Refused, read_number, shown

Kind = Literal["choice", "several", "text", "number", "scale"]
When = Literal["first", "each", "last"]

LONGEST_TEXT = 5_000
MOST_POINTS = 11  # of a scale, so that it fits on one line and each point has its key
# Fields of every form, which no question may be called.
TAKEN = ("step", "action", "active", "idle", "highlight")
_OWN = {
    "choices": ("choice", "several"),
    "length": ("text",),
    "low": ("number", "scale"),
    "high": ("number", "scale"),
    "ends": ("scale",),
}


@dataclass(frozen=True)
class Choice:
    """One of a question's choices: what is stored, and what is read."""

    value: str
    label: str


class ClosingQuestion(Section):
    """A question at the end: choose one, choose several, write, type a number, or choose a point of a scale."""

    name: str = setting("a short name for the answers, used in the export", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    question: str = setting("the question, in the words that assessors read", min_length=1)
    kind: Kind = setting("how it is answered: choice, several, text, number or scale", "text")
    choices: list[str] = setting("what can be chosen, for kind choice and several", [])
    required: bool = setting("must it be answered", False)
    length: int | None = setting("the most characters of a text", None, ge=1, le=LONGEST_TEXT)
    low: float | None = setting("the least number; of a scale its lower end", None)
    high: float | None = setting("the largest number; of a scale its upper end", None)
    ends: list[str] = setting("the words for the two ends of a scale", [])

    @model_validator(mode="after")
    def _answerable(self) -> ClosingQuestion:
        """A setting that its kind has no use for is a mistake."""
        for name, kinds in _OWN.items():
            if getattr(self, name) not in (None, []) and self.kind not in kinds:
                raise ValueError(f"a question of kind {self.kind} has no {name}; {name} is for {kinds[0]}")
        if self.name in TAKEN:
            raise ValueError(f"{self.name!r} is taken; call the question something else")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low {self.low:g} is not below high {self.high:g}; low comes first")
        if self.kind == "scale":
            _refuse_points(*self._ends, self.ends)
        if self.kind in _OWN["choices"]:
            _refuse_choices(self.choices)
        return self

    @property
    def options(self) -> tuple[Choice, ...]:
        """What can be chosen: the choices, or a scale's points with the words for its ends."""
        if self.kind != "scale":
            return tuple(Choice(text, text) for text in self.choices)
        low, high = self._ends
        numbers = [str(number) for number in range(int(low), int(high) + 1)]
        words = dict(zip((numbers[0], numbers[-1]), self.ends, strict=False))
        return tuple(Choice(number, f"{number} {words[number]}" if number in words else number) for number in numbers)

    @property
    def _ends(self) -> tuple[float, float]:
        return 1.0 if self.low is None else self.low, 5.0 if self.high is None else self.high

    @property
    def longest(self) -> int:
        """The most letters of a text."""
        return self.length or LONGEST_TEXT

    def read(self, typed: Sequence[str]) -> list[str]:
        """The answer as it is stored, empty where none was given and none is needed; or :class:`Refused`."""
        given = list(dict.fromkeys(text.strip() for text in typed if text.strip()))
        if not given:
            if self.required:
                raise Refused("refused.answer_missing", question=self.question)
            return []
        if self.kind == "text":
            return [self._text(given[0])]
        if self.kind == "number":
            return [shown(self._number(given[0]))]
        return self._chosen(given if self.kind == "several" else given[:1])

    @property
    def examples(self) -> tuple[str, ...]:
        """Answers that would be taken, for people who are made up."""
        if self.kind == "text":
            return ("Thank you."[: self.longest],)
        if self.kind == "number":
            return (shown(self.low if self.low is not None else self.high if self.high is not None else 1.0),)
        return tuple(choice.value for choice in self.options)

    def _text(self, given: str) -> str:
        if len(given) > self.longest:
            raise Refused("refused.text_too_long", limit=self.longest, letters=len(given))
        return given

    def _number(self, given: str) -> float:
        number = read_number(given)
        if self.low is not None and number < self.low:
            raise Refused("refused.below", low=shown(self.low), typed=shown(number))
        if self.high is not None and number > self.high:
            raise Refused("refused.above", high=shown(self.high), typed=shown(number))
        return number

    def _chosen(self, given: list[str]) -> list[str]:
        known = [choice.value for choice in self.options]
        strange = [text for text in given if text not in known]
        if strange:
            labels = ", ".join(choice.label for choice in self.options)
            raise Refused("refused.unknown_choice", typed=strange[0][:40], choices=labels)
        return [value for value in known if value in given]


class LikedQuestion(ClosingQuestion):
    """The built-in question about what was liked: its choices are stored by names and read in the study's words."""

    labels: list[str]

    @property
    def options(self) -> tuple[Choice, ...]:
        return tuple(map(Choice, self.choices, self.labels))


class Questionnaire(Section):
    """A few questions about the work; without `questions` the built-in ones are asked, with an empty list none."""

    when: When = setting(
        "first: after the first unit; each: after every unit; last: after the unit that nothing follows", "first"
    )
    questions: Annotated[list[ClosingQuestion] | None, BeforeValidator(many)] = setting(
        "the questions; the built-in ones when not set, none at all with []", None
    )

    @model_validator(mode="after")
    def _names(self) -> Questionnaire:
        names = [question.name for question in self.questions or ()]
        twice = [name for number, name in enumerate(names) if name in names[:number]]
        if twice:
            raise ValueError(f"two questions are called {twice[0]!r}; give each a name of its own")
        return self


def _refuse_points(low: float, high: float, ends: Sequence[str]) -> None:
    if low != int(low) or high != int(high) or not 1 <= high - low < MOST_POINTS:
        raise ValueError(f"a scale from {low:g} to {high:g}; take two to {MOST_POINTS} whole numbers, such as 1 to 5")
    if len(ends) not in (0, 2):
        raise ValueError(f"ends has {len(ends)} texts; give two, for the lower and the upper end")


def _refuse_choices(choices: Sequence[str]) -> None:
    tidy = [text.strip() for text in choices]
    if len(tidy) < 2 or len(set(tidy)) < len(tidy) or "" in tidy or tidy != list(choices):
        different = len(set(tidy) - {""})
        raise ValueError(f"{len(choices)} choices, {different} of them different; give two or more, each once")
