"""Quality checks: frozen values that turn answers into a verdict with its reason.

Each names the stage at which it is asked: at the door (before any work), with an answer, at the end of a unit, and
after the work. They are pure functions of answers, so the server and an analysis of exported data use the same
ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, comb, factorial
from typing import ClassVar, Literal

from judgewell.errors import InputError
from judgewell.study.questions import Scale, Side
from judgewell.study.texts import Catalogue
from judgewell.study.typed_numbers import Refused, shown

Stage = Literal["door", "answer", "end", "after"]


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
class Check:
    """What all checks share."""

    name: ClassVar[str]
    stage: ClassVar[Stage]


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
class EndCheck(Check):
    """What checks at the end of a unit share. Where it `decides`, a unit that fails it to the last is not paid."""

    stage: ClassVar[Stage] = "end"
    decides: ClassVar[bool] = True

    def of_unit(self, unit: FinishedUnit) -> Verdict | None:
        """The verdict on a finished unit, or None where there is nothing to check."""
        raise NotImplementedError


@dataclass(frozen=True)
class PracticeLines(Check):
    """Door: magnitudes of lines of different lengths must rise with the lengths (Turpin et al. 2015)."""

    lengths: tuple[float, ...] = (40, 120, 260)
    tries: int = 2
    strict: bool = True

    name: ClassVar[str] = "practice"
    stage: ClassVar[Stage] = "door"

    def __post_init__(self) -> None:
        if len(self.lengths) < 2 or len(set(self.lengths)) < len(self.lengths) or min(self.lengths) <= 0:
            raise InputError(
                f"lines of lengths {', '.join(map(shown, self.lengths))} do not make a practice",
                cure="give two or more different lengths above zero",
            )

    def __call__(self, numbers: Sequence[float], lengths: Sequence[float] | None = None, used: int = 1) -> Verdict:
        """The verdict on the numbers given to the lines; `lengths` in the order shown, `used` tries so far."""
        lengths = self.lengths if lengths is None else lengths
        if len(numbers) != len(lengths):
            raise InputError(f"{len(numbers)} numbers were given for {len(lengths)} lines")
        by_length = [number for _, number in sorted(zip(lengths, numbers, strict=True))]
        steps = pairwise(by_length)
        if all(low < high if self.strict else low <= high for low, high in steps):
            return PASSED
        numbers_given = ", ".join(map(shown, by_length))
        again = used < self.tries
        text = "practice.failed" if again else "practice.failed_last"
        return Verdict(False, f"from the shortest line to the longest: {numbers_given}", text, again=again)

    @property
    def by_chance(self) -> float:
        """How often different numbers given at random pass, over all tries."""
        return 1 - (1 - 1 / factorial(len(self.lengths))) ** self.tries


@dataclass(frozen=True)
class Comprehension(Check):
    """Door: a question about the topic with several answers and at least two tries (Turpin et al. 2015).

    Crowd platforms ask for two tries at least, and for a request to return the place instead of a rejection.
    """

    question: str
    answers: tuple[str, ...]
    right: int
    tries: int = 2

    name: ClassVar[str] = "comprehension"
    stage: ClassVar[Stage] = "door"

    def __post_init__(self) -> None:
        if len(self.answers) < 2 or len(set(self.answers)) < len(self.answers):
            raise InputError(f"the question {self.question!r} needs different answers", cure="give four of them")
        if not 1 <= self.right <= len(self.answers):
            raise InputError(
                f"answer {self.right} of the question {self.question!r} cannot be the right one",
                cure=f"count from 1 to {len(self.answers)}",
            )
        if self.tries < 2:
            raise InputError(f"{self.tries} try is too few", cure="give at least two tries")

    def __call__(self, chosen: Sequence[int]) -> Verdict:
        """The verdict on the answers chosen so far (numbers from 1, in order)."""
        if self.right in chosen[: self.tries]:
            return PASSED
        listed = ", ".join(map(str, chosen)) or "nothing"
        again = len(chosen) < self.tries
        text = "comprehension.failed" if again else "comprehension.failed_last"
        return Verdict(False, f"chose {listed}; {self.right} is right", text, again=again)

    @property
    def by_chance(self) -> float:
        """How often choosing at random passes, no answer chosen twice."""
        return min(1.0, self.tries / len(self.answers))


@dataclass(frozen=True)
class Quiz(Check):
    """Door: known pairs with a pass mark (Yang et al. 2018): 84 % of 12 are 11."""

    right: tuple[Side, ...]
    pass_mark: float = 0.84

    name: ClassVar[str] = "quiz"
    stage: ClassVar[Stage] = "door"

    def __post_init__(self) -> None:
        if not self.right or not 0 < self.pass_mark <= 1:
            raise InputError(
                f"a quiz of {len(self.right)} questions with a pass mark of {self.pass_mark:g} cannot be held",
                cure="give questions and a mark above 0 and up to 1",
            )

    @property
    def needed(self) -> int:
        """The right answers it takes."""
        return ceil(self.pass_mark * len(self.right) - 1e-9)

    def __call__(self, chosen: Sequence[str]) -> Verdict:
        """The verdict on the sides chosen, in the order of the questions."""
        count = sum(answer == right for answer, right in zip(chosen, self.right, strict=False))
        values = (("right", count), ("total", len(self.right)), ("needed", self.needed))
        if count >= self.needed:
            return Verdict(True, text="quiz.passed", values=values[:2])
        return Verdict(False, f"{count} of {len(self.right)} right, {self.needed} needed", "quiz.failed", values)

    @property
    def by_chance(self) -> float:
        """How often choosing sides at random passes."""
        total = len(self.right)
        return sum(comb(total, hits) for hits in range(self.needed, total + 1)) / float(2**total)


@dataclass(frozen=True)
class Syntax(Check):
    """Answer: what was typed lies on the scale (Turpin et al. 2015)."""

    scale: Scale

    name: ClassVar[str] = "syntax"
    stage: ClassVar[Stage] = "answer"

    def __call__(self, typed: str) -> Verdict:
        """The verdict on what was typed; the number itself comes from the scale's `read`."""
        try:
            self.scale.read(typed)
        except Refused as refusal:
            return Verdict(False, str(refusal), refusal.key, tuple(refusal.values.items()), again=True)
        return PASSED


@dataclass(frozen=True)
class Comment(Check):
    """Answer: a reason in words."""

    least: int = 1

    name: ClassVar[str] = "comment"
    stage: ClassVar[Stage] = "answer"

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
class PairAgrees(Check):
    """Answer: the three answers about a pair fit together (Yang et al. 2018).

    The preferred document's number is the larger one, or both are 0; a number is above 0 exactly where the document
    was called relevant. Questions that were not asked are not compared.
    """

    name: ClassVar[str] = "pair"
    stage: ClassVar[Stage] = "answer"

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
    """End: the document known to be highly relevant stands above the one known not to be (Turpin et al. 2015)."""

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
        reason = f"known H {high} got {shown(above)}, known N {low} got {shown(below)}"
        return Verdict(False, reason, "check.revise", again=True)

    by_chance: ClassVar[float] = 0.5


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
        return Verdict(False, f"{hits} of {len(right)} known pairs right", "check.revise", again=True)


@dataclass(frozen=True)
class LeastTime(EndCheck):
    """End: enough active time on every document (Turpin et al. 2015); it asks to revise, never to reject."""

    seconds: float = 20.0

    name: ClassVar[str] = "time"
    decides: ClassVar[bool] = False  # too little time alone is never held against anybody

    def of_unit(self, unit: FinishedUnit) -> Verdict | None:
        return self({f"{place}: {one.name}": one.seconds for place, one in enumerate(unit.places, start=1)})

    def __call__(self, seconds: Mapping[str, float]) -> Verdict:
        """The verdict on the active seconds by document."""
        short = [(doc, spent) for doc, spent in seconds.items() if spent < self.seconds]
        if not short:
            return PASSED
        doc, spent = min(short, key=lambda item: item[1])
        reason = f"{len(short)} of {len(seconds)} documents under {self.seconds:g} s; {doc} had {spent:.1f} s"
        return Verdict(False, reason, "check.revise", again=True)


@dataclass(frozen=True)
class CommentReview(Check):
    """After: blind reviewers read the comments; k of them against make a unit fall (Scholer et al. 2014)."""

    reviewers: int = 3
    against: int = 2

    name: ClassVar[str] = "review"
    stage: ClassVar[Stage] = "after"

    def __post_init__(self) -> None:
        if not 1 <= self.against <= self.reviewers:
            raise InputError(
                f"{self.against} of {self.reviewers} reviewers cannot decide", cure="ask for 1 up to all of them"
            )

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
    "practice": "practice",
    "comprehension": "question about the topic",
    "quiz": "quiz",
    "quality": "checks at the end of the unit",
    "review": "review of comments",
}


def check_words(check: str) -> str:
    """A check's name in words."""
    return CHECK_WORDS.get(check, check.replace("_", " "))
