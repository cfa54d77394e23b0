"""Quality checks: frozen values that turn answers into a verdict with its reason.

They are asked at the door (before any work), with an answer, at the end of a unit, and after the work. Those with a
table of their own in the study file are that table. They are pure functions of answers, so the server and an analysis
of exported data use the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import ClassVar, Literal

from pydantic import model_validator

from judgewell.errors import InputError
from judgewell.study.section import Section, setting
from judgewell.study.texts import Catalogue
from judgewell.study.typed_numbers import shown


@dataclass(frozen=True)
class Verdict:
    """Whether a check is passed, why not (for the team), and the text for the assessor with its values.

    `again` says that another try is allowed. The assessor's text never says which document was at fault at the end
    of a unit; the reason does.
    """

    passed: bool
    reason: str = ""
    text: str = ""
    values: tuple[tuple[str, object], ...] = ()
    again: bool = False

    def __bool__(self) -> bool:
        return self.passed

    def sentence(self, texts: Catalogue) -> str:
        """What the assessor reads, in the study's language; sides are words of that language too."""
        sides = ("left", "right", "same")
        values = {name: texts.text(f"side.{value}") if value in sides else value for name, value in self.values}
        return texts.text(self.text, **values) if self.text else ""


PASSED = Verdict(True)


@dataclass(frozen=True)
class Judged:
    """One place of a unit with its answer: the document's id (of a pair both), H or N (of a pair the better side)
    where that is known, and the active seconds."""

    name: str
    known: str | None
    value: float | None
    preferred: str | None
    seconds: float


@dataclass(frozen=True)
class FinishedUnit:
    """What the checks at the end of a unit look at: its places in order."""

    places: tuple[Judged, ...]

    @property
    def values(self) -> dict[str, float]:
        """The values by document; empty for pairs."""
        return {place.name: place.value for place in self.places if place.value is not None}


@dataclass(frozen=True)
class EndCheck:
    """What checks at the end of a unit share. Where it `decides`, a unit that fails it to the last is not paid."""

    name: ClassVar[str]
    decides: ClassVar[bool] = True
    for_machines: ClassVar[bool] = True

    def of_unit(self, unit: FinishedUnit) -> Verdict | None:
        """The verdict on a finished unit, or None where there is nothing to check."""
        raise NotImplementedError


class PracticeLines(Section):
    """Door: magnitudes of lines of different lengths must rise with the lengths (Turpin et al. 2015)."""

    lengths: list[float] = setting("the lengths of the lines, in pixels", [40.0, 120.0, 260.0])
    tries: int = setting("how many tries an assessor has", 2, ge=1)

    @model_validator(mode="after")
    def _different(self) -> PracticeLines:
        if len(self.lengths) < 2 or len(set(self.lengths)) < len(self.lengths) or min(self.lengths) <= 0:
            lengths = ", ".join(map(shown, self.lengths))
            raise ValueError(
                f"lines of lengths {lengths} cannot be used for practice; give two or more different lengths above zero"
            )
        return self

    def __call__(self, numbers: Sequence[float], lengths: Sequence[float] | None = None, used: int = 1) -> Verdict:
        """The verdict on the numbers given to the lines; `lengths` in the order shown, `used` tries so far."""
        lengths = self.lengths if lengths is None else lengths
        if len(numbers) != len(lengths):
            raise InputError(f"{len(numbers)} numbers were given for {len(lengths)} lines")
        by_length = [number for _, number in sorted(zip(lengths, numbers, strict=True))]
        if all(low < high for low, high in pairwise(by_length)):
            return PASSED
        numbers_given = ", ".join(map(shown, by_length))
        again = used < self.tries
        text = "practice.failed" if again else "practice.failed_last"
        return Verdict(False, f"numbers from the shortest line to the longest: {numbers_given}", text, again=again)


class Comprehension(Section):
    """Door: a question about the topic with several answers and at least two tries (Turpin et al. 2015).

    Crowd platforms ask for two tries at least, and for a request to return the place instead of a rejection.
    """

    topic: str = setting("the topic that the question is about")
    question: str = setting("a question that can be answered from the topic alone", min_length=1)
    answers: list[str] = setting("four answers, one of them right", min_length=2)
    right: int = setting("the number of the right answer, counted from 1", ge=1)
    tries: int = setting("how many tries an assessor has; platforms ask for two at least", 2, ge=2)

    @model_validator(mode="after")
    def _answerable(self) -> Comprehension:
        if len(set(self.answers)) < len(self.answers):
            raise ValueError(f"the question {self.question!r} needs different answers; give four of them")
        if self.right > len(self.answers):
            raise ValueError(
                f"answer {self.right} of the question {self.question!r} cannot be the right one; "
                f"count from 1 to {len(self.answers)}"
            )
        return self

    def __call__(self, chosen: Sequence[int]) -> Verdict:
        """The verdict on the answers chosen so far (numbers from 1, in order)."""
        if self.right in chosen[: self.tries]:
            return PASSED
        listed = ", ".join(map(str, chosen)) or "none"
        again = len(chosen) < self.tries
        text = "comprehension.failed" if again else "comprehension.failed_last"
        return Verdict(False, f"chose answer {listed}; answer {self.right} is right", text, again=again)


class QuizPair(Section):
    left: str = setting("a short text on the left", min_length=1)
    right: str = setting("a short text on the right", min_length=1)
    better: Literal["left", "right"] = setting("the side of the better one")
    topic: str | None = setting("the topic it belongs to; all when not set", None)


class Quiz(Section):
    """Door: known pairs with a pass mark (Yang et al. 2018): 84 % of 12 are 11."""

    pass_mark: float = setting("the share of right answers that it takes", 0.84, gt=0, le=1)
    pair: list[QuizPair] = setting("pairs of short texts with a clear answer", min_length=1)

    def pairs(self, topic: str | None) -> list[QuizPair]:
        """A topic's own pairs and those for all topics."""
        return [pair for pair in self.pair if pair.topic in (None, topic)]

    def needed(self, topic: str | None) -> int:
        """The right answers it takes."""
        return ceil(self.pass_mark * len(self.pairs(topic)) - 1e-9)

    def __call__(self, chosen: Sequence[str], topic: str | None = None) -> Verdict:
        """The verdict on the sides chosen, in the order of the topic's pairs."""
        pairs, needed = self.pairs(topic), self.needed(topic)
        count = sum(answer == pair.better for answer, pair in zip(chosen, pairs, strict=False))
        values = (("right", count), ("total", len(pairs)), ("needed", needed))
        if count >= needed:
            return Verdict(True, text="quiz.passed", values=values[:2])
        return Verdict(False, f"{count} of {len(pairs)} right, {needed} needed", "quiz.failed", values)


@dataclass(frozen=True)
class Comment:
    """Answer: a reason in words."""

    least: int = 1

    def __call__(self, comment: str | None) -> Verdict:
        """The verdict on a comment; only letters and digits count."""
        written = sum(character.isalnum() for character in comment or "")
        if written >= self.least:
            return PASSED
        if not written:
            return Verdict(False, "no comment", "check.comment_missing", again=True)
        reason = f"{written} letters, {self.least} needed"
        return Verdict(False, reason, "check.comment_short", (("least", self.least),), again=True)


@dataclass(frozen=True)
class PairAgrees:
    """Answer: the three answers about a pair fit together (Yang et al. 2018).

    The preferred document's number is the larger one, or both are 0; a number is above 0 exactly where the document
    was called relevant. Questions that were not asked are not compared.
    """

    def __call__(
        self,
        preferred: str | None = None,
        relevant: tuple[bool | None, bool | None] = (None, None),
        scores: tuple[float | None, float | None] = (None, None),
    ) -> Verdict:
        left, right = scores
        if left is None or right is None:
            return PASSED
        for side, called, score in zip(("left", "right"), relevant, scores, strict=True):
            if called is not None and score is not None and called != (score > 0):
                text = "check.ratio_against_relevant" if called else "check.ratio_against_irrelevant"
                reason = f"the {side} document is {'' if called else 'not '}relevant and has {shown(score)}"
                return Verdict(False, reason, text, (("side", side),), again=True)
        if preferred is None or left == right == 0:
            return PASSED
        larger = "left" if left > right else "right" if right > left else "same"
        if larger == preferred:
            return PASSED
        reason = f"{preferred} is preferred, the numbers are {shown(left)} and {shown(right)}"
        return Verdict(False, reason, "check.ratio_against_preference", (("preferred", preferred),), again=True)


@dataclass(frozen=True)
class KnownOrder(EndCheck):
    """End: the document known to be highly relevant is scored above the one known not to be (Turpin et al. 2015)."""

    ties: bool = False

    name: ClassVar[str] = "known"

    def of_unit(self, unit: FinishedUnit) -> Verdict | None:
        values = unit.values
        high, low = (next((one.name for one in unit.places if one.known == kind), None) for kind in ("H", "N"))
        return self(values, high, low) if values else None

    def __call__(self, values: Mapping[str, float], high: str | None, low: str | None) -> Verdict:
        """The verdict on a unit's values by document; a unit without a known pair passes."""
        if high is None or low is None or high not in values or low not in values:
            return PASSED
        above, below = values[high], values[low]
        if above > below or (self.ties and above == below):
            return PASSED
        reason = (
            f"{high}, known to be highly relevant, was scored {shown(above)}; "
            f"{low}, known not to be relevant, was scored {shown(below)}"
        )
        return Verdict(False, reason, "check.revise", again=True)


@dataclass(frozen=True)
class KnownPairs(EndCheck):
    """End: the known relevant document was preferred in the known pairs (Yang et al. 2018)."""

    share: float = 1.0

    name: ClassVar[str] = "known_pairs"

    def of_unit(self, unit: FinishedUnit) -> Verdict | None:
        known = [(one.preferred, one.known) for one in unit.places if one.known and one.preferred]
        return self(*zip(*known, strict=True)) if known else None

    def __call__(self, chosen: Sequence[str], right: Sequence[str]) -> Verdict:
        """The verdict on the sides chosen in the known pairs, and the sides on which the known H stood."""
        hits = sum(answer == side for answer, side in zip(chosen, right, strict=True))
        if hits >= self.share * len(right) - 1e-9:
            return PASSED
        return Verdict(False, f"{hits} of {len(right)} known pairs answered correctly", "check.revise", again=True)


@dataclass(frozen=True)
class LeastTime(EndCheck):
    """End: enough active time on every document (Turpin et al. 2015); it asks to revise, never to reject."""

    seconds: float = 20.0

    name: ClassVar[str] = "time"
    decides: ClassVar[bool] = False  # too little time alone is never held against anybody
    for_machines: ClassVar[bool] = False  # how fast a server replies says nothing about reading

    def of_unit(self, unit: FinishedUnit) -> Verdict | None:
        return self({f"place {place} ({one.name})": one.seconds for place, one in enumerate(unit.places, start=1)})

    def __call__(self, seconds: Mapping[str, float]) -> Verdict:
        """The verdict on the active seconds by document."""
        short = [(doc, spent) for doc, spent in seconds.items() if spent < self.seconds]
        if not short:
            return PASSED
        doc, spent = min(short, key=lambda item: item[1])
        reason = f"{len(short)} of {len(seconds)} read for less than {self.seconds:g} s; {doc} for {spent:.1f} s"
        return Verdict(False, reason, "check.revise", again=True)


class CommentReview(Section):
    """After: blind reviewers read the comments; k of them against make a unit fall (Scholer et al. 2014)."""

    reviewers: int = setting("how many people read each unit's comments", 3, ge=1)
    against: int = setting("how many of them must object for the unit to fail", 2, ge=1)

    name: ClassVar[str] = "review"

    @model_validator(mode="after")
    def _decidable(self) -> CommentReview:
        if self.against > self.reviewers:
            raise ValueError(f"{self.against} of {self.reviewers} reviewers cannot decide; ask for 1 up to all of them")
        return self

    def __call__(self, reasonable: Sequence[bool]) -> Verdict:
        """The verdict on the reviewers' votes; open while the votes that are missing could still change it."""
        if len(reasonable) > self.reviewers:
            raise InputError(f"{len(reasonable)} votes came from {self.reviewers} reviewers")
        against = sum(not vote for vote in reasonable)
        if against >= self.against:
            return Verdict(False, f"{against} of {self.reviewers} reviewers found the comments not reasonable")
        missing = self.reviewers - len(reasonable)
        if missing and against + missing >= self.against:
            return Verdict(False, f"{missing} of {self.reviewers} reviews are missing", again=True)
        return PASSED


CHECK_WORDS = {  # the checks' names as people read them
    "known": "known documents in order",
    "known_pairs": "known pairs",
    "time": "minimum reading time",
    "practice": "practice with lines",
    "comprehension": "question about the topic",
    "quiz": "quiz of pairs",
    "quality": "checks at the end of the unit",
    "review": "review of comments",
}


def check_words(check: str) -> str:
    """A check's name in words."""
    return CHECK_WORDS.get(check, check.replace("_", " "))
