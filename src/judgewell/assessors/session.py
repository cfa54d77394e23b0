"""One synthetic assessor: what is seen on a page, what is sent back, and after how long.

The door provides the pages (the server's own functions in process, or an HTTP client). A page reaches the assessor as a
:class:`Sight`; beside what the page shows it holds what a reader would understand: which documents these are, and which
answer to a question is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from judgewell.assessors.answers import number, thresholds, typed, typed_magnitude
from judgewell.assessors.people import Person
from judgewell.assessors.population import Population
from judgewell.assessors.truth import Truth
from judgewell.study.questions import Scale, Side

SECONDS = {"consent": 20.0, "instructions": 30.0, "topic": 25.0, "comprehension": 15.0, "quiz": 10.0, "practice": 5.0}
PATIENCE = 3  # how often a person looks again when all work is in other hands
AFTER_A_HINT = 1.5  # times the usual seconds, at least, after a request to look again
LINE_NOISE = 0.15  # sd of the logarithm of a line's length as it is seen


@dataclass(frozen=True)
class Sight:
    """What a person sees on a page; only the fields of the page's kind are filled."""

    kind: str
    topic: str = ""
    docs: tuple[str, ...] = ()  # the document, or the two of a pair
    position: int = 1
    scale: Scale | None = None
    questions: tuple[str, ...] = ()  # of a pair: preference, absolute, ratio
    comment: int = 0  # letters that a comment needs
    revising: bool = False
    length: float = 0.0  # of a practice line
    choices: int = 0
    right: str = ""  # the right answer of a question or quiz pair
    closing: tuple[tuple[str, tuple[str, ...]], ...] = ()  # questions at the end: name, answers to choose from
    more: bool = False  # another unit may be taken
    minutes: float = 0.0  # to wait


@dataclass(frozen=True)
class Reply:
    """What is sent, and how many seconds after the page was shown."""

    form: dict[str, str]
    seconds: float


@dataclass
class Session:
    """A person at work. Remembers impressions of documents, so that seeing one again is not a new throw."""

    person: Person
    truth: Truth
    units: int = 0
    waits: int = 0
    impressions: dict[tuple[str, str], float] = field(default_factory=dict)
    before: float | None = None  # the impression of the document before, in this unit
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = self.person.chance("session")

    @property
    def population(self) -> Population:
        return self.truth.population

    def reply(self, sight: Sight) -> Reply | None:
        """The answer to a page; None where the person leaves."""
        answer = _REPLIES.get(sight.kind)
        if answer is None:
            return None
        reply = answer(self, sight)
        if reply is not None and not reply.seconds:
            usual = SECONDS.get(sight.kind, 10.0) * self.person.kind.pace
            reply = replace(reply, seconds=float(usual * np.exp(self.rng.normal(0, 0.4))))
        return reply

    def impression(self, sight: Sight, doc: str) -> float:
        """How relevant the document looks just now, in log odds, before the person's own shift."""
        person, lasting = self.person, self.population.lasting
        place = (sight.topic, doc)
        if place not in self.impressions:
            own = person.chance("impression", *place)
            around = float(own.normal()) * person.noise * sqrt(lasting)
            self.impressions[place] = self.truth.relevance(*place) + around
        elif sight.revising and person.kind.sense:  # a closer look: half-way to what is there
            self.impressions[place] = (self.impressions[place] + self.truth.relevance(*place)) / 2
        moment = float(self.rng.normal()) * person.noise * sqrt(1 - lasting)
        if not person.kind.sense:
            return float(self.rng.normal(0, 3))
        return person.kind.sense * (self.impressions[place] + moment)

    def judged(self, sight: Sight, doc: str) -> float:
        """The impression as it is answered: with the person's shift, the document before and the place."""
        person = self.person
        seen = self.impression(sight, doc)
        pulled = person.assimilation * (self.before - seen) if self.before is not None and sight.position > 1 else 0.0
        self.before = seen
        return seen + pulled + person.shift + person.drift * (sight.position - 1)

    def seconds(self, sight: Sight, part: float = 1.0) -> float:
        """How long a document takes."""
        people = self.population
        usual = self.person.pace * sight.position**-people.faster * part
        if sight.revising:
            usual = max(usual, AFTER_A_HINT * people.seconds * part * 0.3)
        return float(usual * np.exp(self.rng.normal(0, people.time_noise)))


def _consent(session: Session, sight: Sight) -> Reply:
    return Reply({"action": "agree"}, 0)


def _next(session: Session, sight: Sight) -> Reply:
    return Reply({}, 0)


def _practice(session: Session, sight: Sight) -> Reply:
    seen = sight.length * float(np.exp(session.rng.normal(0, LINE_NOISE)))
    if session.person.kind.sense == 0:  # those who have relevance upside down see lines as everybody does
        seen = float(session.rng.integers(1, 100))
    return Reply({"value": str(max(1, round(seen)))}, 0)


def _comprehension(session: Session, sight: Sight) -> Reply:
    if session.rng.random() < session.person.kind.understands:
        return Reply({"choice": sight.right}, 0)
    return Reply({"choice": str(session.rng.integers(1, sight.choices + 1))}, 0)


def _quiz(session: Session, sight: Sight) -> Reply:
    kind, other = session.person.kind, "left" if sight.right == "right" else "right"
    if kind.sense == 0:
        side = ("left", "right")[int(session.rng.integers(2))]
    else:
        sees = session.rng.random() < max(kind.understands, 0.5)
        side = sight.right if sees == (kind.sense > 0) else other
    return Reply({"preferred": side}, 0)


def _document(session: Session, sight: Sight) -> Reply | None:
    if _gives_up(session, sight) or sight.scale is None:
        return None
    impression = session.judged(sight, sight.docs[0])
    value = typed(sight.scale, impression, session.person, session.population, session.rng)
    form = {"value": value} | _comment(session, sight, impression)
    return Reply(form, session.seconds(sight))


def _pair(session: Session, sight: Sight) -> Reply | None:
    if _gives_up(session, sight):
        return None
    person, rng = session.person, session.rng
    left, right = (session.judged(sight, doc) for doc in sight.docs)
    line = float(thresholds(2, session.population)[0])
    relevant = left > line, right > line
    preferred: Side = "left" if left > right else "right"
    form: dict[str, str] = {"preferred": preferred} if "preference" in sight.questions else {}
    if "absolute" in sight.questions:
        form["absolute"] = "both" if all(relevant) else preferred if any(relevant) else "none"
    if "ratio" in sight.questions:
        scores = _agreeing([typed_magnitude(x, person, rng) for x in (left, right)], relevant, preferred)
        form |= {"left_score": number(round(scores[0], 2)), "right_score": number(round(scores[1], 2))}
    form |= _comment(session, sight, max(left, right))
    return Reply(form, session.seconds(sight, session.population.pair_time))


def _agreeing(scores: list[float], relevant: tuple[bool, bool], preferred: Side) -> list[float]:
    """Numbers that fit the other two answers: 0 where not relevant, the preferred one's the larger."""
    left, right = (score if called else 0.0 for score, called in zip(scores, relevant, strict=True))
    if left or right:
        better, worse = (left, right) if preferred == "left" else (right, left)
        if better <= worse:  # both rounded to the same number
            better = worse * 1.1 if worse >= 1 else worse + 0.1
        left, right = (better, worse) if preferred == "left" else (worse, better)
    return [left, right]


def _gives_up(session: Session, sight: Sight) -> bool:
    return not sight.revising and session.rng.random() < session.population.abandons / 8


# For each grade some ways to say it, and some to go on: people who read do not write one text again and again.
_REASONS = (
    ("It has nothing to do with what is asked", "This is about something else", "Off the topic", "No help here"),
    ("It touches the topic but says little", "Mentions it in passing", "Only a hint", "Hardly anything on it"),
    ("It answers a part of the question", "Useful in part", "Some of what is asked", "Good, with gaps"),
    ("It answers the question in detail", "Just what is asked for", "Very useful", "All that one needs to know"),
)
_MORE = ("", ", as far as I can see", "; the middle shows it", ", from the first lines on", "; I read it twice")


def _comment(session: Session, sight: Sight, impression: float) -> dict[str, str]:
    """A reason in words, as long as it must be."""
    if not sight.comment:
        return {}
    if session.person.kind.sense == 0 or session.person.kind.name in ("lazy", "too fast"):
        text = "ok good"
    else:
        grade = int(np.searchsorted(thresholds(4, session.population), impression))
        own = session.person.chance("comment", sight.topic, *sight.docs)
        text = f"{_REASONS[grade][int(own.integers(4))]}{_MORE[int(own.integers(len(_MORE)))]}."
    while sum(character.isalnum() for character in text) < sight.comment:
        text += " " + text
    return {"comment": text}


def _questionnaire(session: Session, sight: Sight) -> Reply:
    form = {}
    for name, choices in sight.closing:
        form[name] = choices[int(session.rng.integers(len(choices)))]
    return Reply(form, 0)


def _finished(session: Session, sight: Sight) -> Reply | None:
    session.units += 1
    session.before = None
    if not sight.more or session.units >= session.person.units:
        return None
    return Reply({"action": "more"}, 0)


def _come_back(session: Session, sight: Sight) -> Reply | None:
    session.waits += 1
    return Reply({}, 60 * sight.minutes) if session.waits <= PATIENCE else None


_REPLIES: dict[str, Callable[[Session, Sight], Reply | None]] = {
    "consent": _consent,
    "instructions": _next,
    "practice": _practice,
    "topic": _next,
    "comprehension": _comprehension,
    "quiz": _quiz,
    "document": _document,
    "pair": _pair,
    "revise": _next,
    "questionnaire": _questionnaire,
    "done": _finished,
    "stopped": _finished,
    "come_back": _come_back,
}
