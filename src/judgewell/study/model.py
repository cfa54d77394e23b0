"""The study as read from study.toml: one frozen section for each table of the file, defaults filled in."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, field_validator, model_validator

from judgewell.study.checks import (
    CommentReview,
    Comprehension,
    EndCheck,
    KnownOrder,
    KnownPairs,
    LeastTime,
    PracticeLines,
    Quiz,
)
from judgewell.study.closing import Questionnaire
from judgewell.study.design.templates import documents_used
from judgewell.study.machine import Machine
from judgewell.study.platform import Platform
from judgewell.study.questions import Absolute, AnyScale, Preference, Ratio, Scale, pair_questions
from judgewell.study.section import Section, address_parts, many, renamed, setting, shortened, valid

CENT = 0.01
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def cents(amount: float) -> float:
    """A sum of money to the cent, halves up. Amounts are rounded before they are added, so totals match their parts."""
    return math.floor(100 * amount + 0.5 + 1e-6) / 100  # 0.145 × 3 is 0.435 less a rounding error


class About(Section):
    name: str = setting("a short name for the study, used for files", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = setting("the title that assessors see", "")
    consent: str = setting("what assessors read before they agree: who asks, what for, whom to write to", "")
    texts: str | None = setting("a file with translated or changed page texts", None)
    seed: int = setting("the number from which every random choice of the design follows", 1, ge=0)


class Topics(Section):
    file: str = setting("TREC topics, id<TAB>text, JSON lines or CSV")
    only: list[str] = setting("the topics to use, by id; all when empty", [])
    show: list[Literal["title", "description", "narrative"]] = setting(
        "the parts that assessors see", ["title", "description", "narrative"], min_length=1
    )


class Documents(Section):
    file: str = setting("JSON lines, CSV, TREC markup, or a folder of text and HTML files")


class Pool(Section):
    runs: Annotated[list[str], BeforeValidator(many)] = setting("run files to pool, e.g. runs/*.run", [])
    depth: int = setting("how many documents of each run and topic are pooled", 10, ge=1)
    file: str | None = setting("a ready list of what to judge: topic, doc, and inclusion where they were drawn", None)

    @model_validator(mode="after")
    def _one_source(self) -> Pool:
        if bool(self.runs) == (self.file is not None):
            raise ValueError("name either runs to pool or the file of a ready list, one of the two")
        return self


class Grades(Section):
    file: str = setting("expert grades where they are known: qrels, or CSV with topic, doc and gain")


class Known(Section):
    """Which documents are known to be highly relevant (H) and not relevant (N)."""

    high: list[float] = setting("grades of documents that count as known relevant", [3.0], min_length=1)
    reserve: list[float] = setting("grades to take from when those are too few", [])
    low: list[float] = setting("grades of documents that count as known not relevant", [0.0], min_length=1)
    file: str | None = setting("a list with the columns topic, doc and known (H or N) instead of grades", None)

    @model_validator(mode="after")
    def _apart(self) -> Known:
        both = sorted(set(self.low) & set(self.high + self.reserve))
        if both:
            raise ValueError(f"grade {both[0]:g} cannot be known relevant and known not relevant; list it once")
        return self


class Units(Section):
    """Documents one at a time: units of some documents of a topic."""

    documents: int = setting("how many documents a unit has, the known ones included", 8, ge=1)
    redundancy: int = setting("the minimum number of judgments of each document", 10, ge=1)
    order: Literal["random", "balanced"] = setting("random, or every document in every place equally often", "random")


class Templates(Section):
    """Documents one at a time, in fixed orders of expert grades."""

    orders: list[str] = setting("orders of grades such as NMRH", ["NMRH", "HRMN", "NNNN", "MRMR"], min_length=1)
    judges: int = setting("how many assessors judge each template on each scale", 10, ge=1)
    grades: dict[str, float] = setting("the grade behind each letter", {"N": 0.0, "M": 1.0, "R": 2.0, "H": 3.0})
    documents: dict[str, int] = setting("how many documents of a grade are used; the fewest that do when not set", {})

    @model_validator(mode="before")
    @classmethod
    def _former(cls, given: Any) -> Any:
        return renamed(given, "levels", "grades")

    @model_validator(mode="after")
    def _letters(self) -> Templates:
        strange = sorted({*"".join(self.orders), *self.documents} - set(self.grades))
        if strange:
            raise ValueError(
                f"no grade is given for the letter {strange[0]!r}; the letters are {', '.join(self.grades)}"
            )
        valid(documents_used, self.orders, self.documents)
        return self


class Groups(Section):
    """Documents two at a time: groups whose members meet in pairs."""

    documents: int = setting("how many documents a group has, the known pair included", 8, ge=2)
    partners: int = setting("how many others of its group a document meets", 3, ge=1)
    share: float = setting("the share of the topic's documents that each document meets", 0.15, gt=0, le=1)
    partitions: int | None = setting("how often the pool is partitioned; from the share when not set", None, ge=1)
    assessors: int = setting("how many assessors judge each group", 3, ge=1)
    questions: list[Literal["preference", "absolute", "ratio"]] = setting(
        "what is asked about each pair", ["preference", "absolute", "ratio"], min_length=1
    )
    ties: bool = setting("may a preference be a tie", False)
    padding: bool = setting("fill up groups with graded documents from outside the pool", True)
    avoid_repeats: bool = setting("look for partitions in which no two documents meet twice", True)

    @field_validator("questions")
    @classmethod
    def _once(cls, questions: list[str]) -> list[str]:
        valid(pair_questions, questions)
        return questions

    @model_validator(mode="after")
    def _possible(self) -> Groups:
        from judgewell.study.design.graphs import check_group

        valid(check_group, self.documents, self.partners)
        return self

    @property
    def pairs(self) -> int:
        """The pairs of a group, the known one included."""
        return self.documents * self.partners // 2

    def asked(self) -> tuple[Preference | Absolute | Ratio, ...]:
        """What is asked about each pair."""
        return pair_questions(self.questions, self.ties)


class Double(Section):
    """Second judgments by another assessor for a share of the documents, to predict relevance for users."""

    share: float = setting("the share of each topic's documents that is judged twice", 0.2, gt=0, le=1)
    depth: int | None = setting("only documents that a run ranked so high", None, ge=1)
    least_grade: float | None = setting("only documents whose first grade is at least this", None)
    given: bool = setting("the grades are the first judgments, so only the second ones are collected", False)


CONFIDENCES = (0.9, 0.95, 0.99)


def _conclusion(value: Any) -> Any:
    """best, order, or the names of two systems."""
    pair = isinstance(value, list) and all(isinstance(one, str) for one in value) and len(set(value)) == 2 == len(value)
    if value not in ("best", "order") and not pair:
        raise ValueError(f'{shortened(value)} is not a goal; write "best", "order", or two systems: ["A", "B"]')
    return value


class Goal(Section):
    """What the study wants to know: it asks about the documents this depends on, and stops when it is sure."""

    systems: Annotated[list[str], BeforeValidator(many)] = setting(
        "the run files of the systems to decide between, e.g. runs/*.run", min_length=1
    )
    measure: str = setting("the measure to decide by, a weighted sum of gains with a cutoff", "DCG@10")
    decide: Annotated[str | list[str], BeforeValidator(_conclusion)] = setting(
        'best (which system is the best), order (all pairs that differ over topics), or two systems: ["A", "B"]', "best"
    )
    within: float = setting(
        "how much worse than the best the chosen system may be, as a share of the highest possible score",
        0.01,
        ge=0,
        lt=1,
    )
    confidence: float = setting("how sure the conclusion must be: 0.9, 0.95 or 0.99", 0.95)
    ask: Literal["sampled", "floor"] | None = setting(
        "sampled: only the documents that matter; floor: every document once, then those that matter; "
        "sampled for best and floor for order when not set",
        None,
    )

    @model_validator(mode="after")
    def _possible(self) -> Goal:
        if self.confidence not in CONFIDENCES:
            raise ValueError(f"confidence {self.confidence:g} has no tested threshold; choose 0.9, 0.95 or 0.99")
        if self.decide == "order" and "within" in self.model_fields_set:
            raise ValueError("an order has no within; leave it out")
        return self


class Checks(Section):
    comment: int = setting("the minimum length of a comment, in characters; 0 asks for no comments", 0, ge=0)
    least_seconds: float = setting(
        "the check “minimum reading time”: active seconds on each document; it asks to revise and fails no unit",
        0.0,
        ge=0,
    )
    known: Literal["strict", "ties", "off"] = setting("must the known H be scored above the known N", "strict")
    revisions: int = setting("how often a unit may be revised when a check at its end fails", 2, ge=0)
    most_failed: int = setting("how many units an assessor may fail before they get no more; 0 sets no limit", 3, ge=0)
    practice: PracticeLines | None = setting("the check “practice with lines”, before the work", None)
    question: Annotated[list[Comprehension], BeforeValidator(many)] = setting(
        "the check “question about the topic”, before a unit", []
    )
    quiz: Quiz | None = setting("the check “quiz of pairs”, before the work", None)
    review: CommentReview | None = setting("the check “review of comments”, blind, after the work", None)


class Work(Section):
    most_units: int = setting("how many units one assessor may do", 18, ge=1)
    units_per_topic: int = setting("how many units of one topic an assessor may do", 1, ge=1)
    assessors: int | None = setting("how many assessors there are, where that is known", None, ge=1)
    silence: float = setting("minutes without a signal from the page after which a unit is free again", 10.0, gt=0)
    going_back: bool = setting("may assessors go back to earlier documents", True)
    highlight: bool = setting("offer to mark the title's words in the text", False)
    show_previous: bool = setting(
        "show the document before and its number, where numbers are given in proportion to it", True
    )
    straight_on: bool = setting(
        "show invited assessors the next topic with the last answer of a unit, instead of a page of thanks", False
    )


class Pay(Section):
    amount: float = setting("what a unit pays", 0.0, ge=0)
    currency: str = setting("the currency", "USD", min_length=1)
    fee: float = setting("the platform's fee as a share of the pay (write 0.2 for 20 %)", 0.0, ge=0, le=1)
    seconds: float = setting("the seconds one judgment is expected to take", 60.0, gt=0)
    overhead: float = setting("the seconds a unit takes besides (reading the topic, checks)", 60.0, ge=0)
    lost: float = setting("the share of units expected to be lost and done again", 0.0, ge=0, lt=1)
    covered: int = setting("the units of one assessor that the platform's own reward pays for", 1, ge=0)
    bonus: float | None = setting("what each further unit pays as a bonus; the unit's amount when not set", None, ge=0)
    budget: float | None = setting("the most that all units may cost, with the fee; may change at any time", None, gt=0)

    def earned(self, units: int) -> float:
        """What an assessor gets for so many completed units: the platform's reward and the bonus, each to the cent."""
        further = self.amount if self.bonus is None else self.bonus
        return cents(cents(min(units, self.covered) * self.amount) + cents(max(0, units - self.covered) * further))

    def fee_on(self, paid: float) -> float:
        """The platform's fee on a sum that assessors get, to the cent."""
        return cents(paid * self.fee)

    def with_fee(self, paid: float) -> float:
        """What a sum that assessors get costs: to the cent the sum of the pay and the fee that are shown."""
        return cents(cents(paid) + self.fee_on(paid))

    @property
    def dearest(self) -> float:
        """The most that another unit costs, with the fee."""
        return max(self.amount, self.bonus or 0.0) * (1 + self.fee)

    def affordable(self, spent: float = 0.0) -> float:
        """How many units the rest of the budget pays for; sums are compared to the cent."""
        if self.budget is None or not self.dearest:
            return math.inf
        return max(0, (self.budget + CENT / 2 - spent) // self.dearest)


class Privacy(Section):
    retention_days: float | None = setting(
        "days after an assessor's last step until their personal data is deleted; until asked when not set", None, gt=0
    )


class Owner(Section):
    """Whom the server tells that the study ended, was paused or reached its budget."""

    webhook: str = setting("the https address that gets messages, e.g. that of a chat; may change at any time", "")
    webhook_secret: str = setting(
        "the environment variable that holds the secret which signs what is sent; never the secret itself",
        "",
        pattern=r"^([A-Z_][A-Z0-9_]*)?$",
    )

    @field_validator("webhook")
    @classmethod
    def _safe(cls, address: str) -> str:
        """Over https the receiver must prove its name; plain http stays on this computer."""
        if not address:
            return address
        parts = address_parts(address)
        if parts is None:
            raise ValueError(f"{address!r} is not an address; write https://host/path")
        if parts.username is not None or parts.fragment:
            raise ValueError("the address must hold no user name, password or #part; put a secret into the path")
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ValueError("the address must begin with https://; http:// is for localhost alone")
        return address


class Study(Section):
    """A whole study: what is judged, how, by whom, under which checks and for which pay."""

    study: About
    topics: Topics
    documents: Documents
    pool: Pool
    grades: Grades | None = setting("expert grades", None)
    known: Known | None = setting("known documents", None)
    scale: Annotated[list[AnyScale], BeforeValidator(many)] = setting("one scale, or several to compare", [])
    units: Units | None = setting("a design with documents one at a time", None)
    templates: Templates | None = setting("a design with fixed orders of grades", None)
    groups: Groups | None = setting("a design with pairs of documents", None)
    double: Double | None = setting("second judgments for a share of the documents", None)
    goal: Goal | None = setting("what the study wants to know; it stops when it is sure", None)
    checks: Checks = Checks()
    questionnaire: Questionnaire = setting("a few questions when the work is done", Questionnaire())
    work: Work = Work()
    pay: Pay = Pay()
    platform: Platform = Platform()
    privacy: Privacy = setting("how long personal data is kept", Privacy())
    owner: Owner = setting("whom the server tells what happened", Owner())
    machine: Machine = setting("models that judge as assessors; `judgewell judge` asks them", Machine())

    @property
    def has_known(self) -> bool:
        """Whether known documents, or known pairs, are checked at the end of a unit."""
        return self.known is not None and self.checks.known != "off"

    @property
    def end_checks(self) -> tuple[EndCheck, ...]:
        """The checks at the end of a unit, in order."""
        checks: list[EndCheck] = []
        if self.has_known:
            checks += [KnownOrder(ties=self.checks.known == "ties"), KnownPairs()]
        if self.checks.least_seconds > 0:
            checks.append(LeastTime(self.checks.least_seconds))
        return tuple(checks)

    @property
    def scales(self) -> dict[str, Scale]:
        """The scales by name; a study of pairs has none."""
        return {scale.name or scale.kind: scale for scale in self.scale}
