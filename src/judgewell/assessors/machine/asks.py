"""What is asked: the messages for one place of a unit or one question at the door, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgewell.assessors.machine.prompts import (
    Prompt,
    document_text,
    fenced,
    mark,
    own_prompt,
    previous_text,
    read_prompt,
    topic_text,
)
from judgewell.server.session.answers import NotTaken, read_answer
from judgewell.server.session.pages import Document, Question, Topic
from judgewell.server.session.served import Served
from judgewell.server.session.stages.practice import Practice
from judgewell.server.session.stages.quiz import QuizPair
from judgewell.study.machine import Machine
from judgewell.study.questions import Bounded, Magnitude, Preference, Scale
from judgewell.study.typed_numbers import Refused, shown

EARLIER = 1_200  # characters of an earlier document of the unit
SIDES = ("left", "right")
RELEVANT = {"none": "neither", "A": "only A", "B": "only B", "both": "both"}
Given = Mapping[str, Any]
Form = dict[str, str]


class NotRead(Exception):
    """A reply that holds no answer to what was asked."""


@dataclass(frozen=True)
class Ask:
    """One question to a model. `values` are the numbers behind the texts that its first field may hold, for token
    probabilities; `read` turns the fields of a reply into the form that is sent, or raises :class:`NotRead`."""

    purpose: str
    prompt: Prompt
    messages: list[dict[str, str]]
    fields: dict[str, dict[str, Any]]  # of the reply, as JSON schema
    read: Callable[[Given], Form]
    answer: str = "answer"  # the field that `values` is about
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": self.fields, "required": [*self.fields], "additionalProperties": False}

    @property
    def characters(self) -> int:
        return sum(len(message["content"]) for message in self.messages)


@dataclass(frozen=True)
class Prompts:
    """The prompts of one study: its own file where it names one, ours for the rest."""

    own: str | None = None

    def of(self, name: str) -> Prompt:
        if self.own is None or name in ("practice", "comprehension", "quiz"):
            return own_prompt(name)
        return read_prompt(self.own, "pair" if name == "pair" else "document")


def ask_document(
    served: Served,
    settings: Machine,
    prompts: Prompts,
    scale: Scale,
    topic: Topic,
    document: Document,
    *,
    place: Sequence[object],
    before: Sequence[tuple[Document, str]] = (),
    again: bool = False,
) -> Ask:
    """Ask for a document's value; `before` are those of its unit with their numbers, on scales of proportions."""
    prompt, sign, least = prompts.of(scale.kind), mark(served.secret, *place), served.study.checks.comment
    labels = _labels(scale)
    earlier = [(document_text(one, EARLIER), number) for one, number in before]
    values = {
        **_common(served, sign, topic, again),
        "instructions": _instructions(served, [served.say(scale.instructions, **scale.wording)]),
        "document": fenced("DOCUMENT", document_text(document, settings.longest), sign),
        "previous": previous_text(earlier, sign) if is_relative(scale) else "",
        "question": served.say(scale.question, **scale.wording),
        "format": _format(_reason(least), {"answer": _answers(scale, labels)}),
    }
    schema = {"type": "string", "enum": [*labels]} if labels else _numbers(scale)

    def read(given: Given) -> Form:
        text = as_typed(given.get("answer"))
        form = {"value": labels.get(text, text), **_comment(given, least)}
        _check(served, scale, form)
        return form

    fields = {**_reason_field(least), "answer": schema}
    numbers = {label: scale.read(key) for label, key in labels.items()}
    if scale.numbers.name == "interval":
        numbers = {str(value): float(value) for value in range(101)}
    return Ask("document", prompt, prompt.filled(values), fields, read, values=numbers)


def ask_pair(
    served: Served,
    settings: Machine,
    prompts: Prompts,
    topic: Topic,
    pair: tuple[Document, Document],
    *,
    place: Sequence[object],
    swapped: bool = False,
    again: bool = False,
) -> Ask:
    """Ask the study's questions about two documents; A is the first one, which is the right one where `swapped`."""
    prompt, sign, least = prompts.of("pair"), mark(served.secret, *place), served.study.checks.comment
    questions, first = served.questions, pair[::-1] if swapped else pair
    texts = [document_text(document, settings.longest) for document in first]
    kinds = [question.kind for question in questions]
    sides = ["A", "B", *(["same"] if any(isinstance(one, Preference) and one.ties for one in questions) else [])]
    wanted: dict[str, str] = {}
    fields = _reason_field(least)
    if "preference" in kinds:
        wanted["preferred"] = " or ".join(f'"{side}"' for side in sides)
        fields["preferred"] = {"type": "string", "enum": sides}
    if "absolute" in kinds:
        wanted["relevant"] = ", ".join(f'"{name}" ({words})' for name, words in RELEVANT.items())
        fields["relevant"] = {"type": "string", "enum": [*RELEVANT]}
    if "ratio" in kinds:
        wanted |= {f"score_{name}": f"a number for {name}, 0 where it is not relevant" for name in "AB"}
        fields |= {f"score_{name}": {"type": "number", "minimum": 0} for name in "AB"}
    values = {
        **_common(served, sign, topic, again),
        "instructions": _instructions(served, [served.say(one.instructions) for one in questions]),
        **{name: fenced(f"DOCUMENT {letter}", text, sign) for name, letter, text in
           zip(("first", "second"), "AB", texts, strict=True)},
        "question": " ".join(served.say(one.question) for one in questions),
        "format": _format(_reason(least), wanted) + "\nA is the left one and B the right one.",
    }  # fmt: skip

    def read(given: Given) -> Form:
        form = {**_pair_form(given, kinds, swapped), **_comment(given, least)}
        _check(served, None, form)
        return form

    left = {"A": 0.0, "B": 1.0} if swapped else {"A": 1.0, "B": 0.0}
    return Ask("pair", prompt, prompt.filled(values), fields, read, "preferred", {**left, "same": 0.5})


def _pair_form(given: Given, kinds: Sequence[str], swapped: bool) -> Form:
    """A reply about A and B as a form about left and right."""
    side = dict(zip("AB", SIDES[::-1] if swapped else SIDES, strict=True)) | {"same": "same"}
    form = {}
    if "preference" in kinds:
        form["preferred"] = side.get(str(given.get("preferred")).strip(), "")
    if "absolute" in kinds:
        relevant = str(given.get("relevant")).strip()
        form["absolute"] = side.get(relevant, relevant)
    if "ratio" in kinds:
        form |= {f"{side[name]}_score": as_typed(given.get(f"score_{name}")) for name in "AB"}
    return form


def ask_at_the_door(served: Served, page: Practice | QuizPair | Question, place: Sequence[object]) -> Ask:
    """Ask what a page before the work asks: a line's length, a question with choices, or a quiz pair."""
    sign = mark(served.secret, *place)
    topic = getattr(page, "topic", None)
    values = {"mark": sign, "question": page.question, "topic": topic_text(topic, sign) if topic else ""}
    if isinstance(page, Practice):
        scale = Magnitude()
        prompt = own_prompt("practice")
        values |= {"length": shown(page.length), "widest": shown(page.widest), "format": _format("", NUMBER_ABOVE_ZERO)}
        values["instructions"] = served.say("practice.text", total=page.progress.total)

        def read_line(given: Given) -> Form:
            text = as_typed(given.get("answer"))
            try:
                scale.read(text)
            except Refused as refused:
                raise NotRead(str(refused)) from None
            return {"value": text}

        return Ask("practice", prompt, prompt.filled(values), {"answer": _numbers(scale)}, read_line)
    quiz = isinstance(page, QuizPair)
    choices = dict(zip("AB", SIDES, strict=True)) if quiz else {one.value: one.value for one in page.choices}
    labels = {"A": "the first text", "B": "the second text"} if quiz else {one.value: one.label for one in page.choices}
    if isinstance(page, QuizPair):
        values |= {"first": fenced("TEXT A", page.left.text, sign), "second": fenced("TEXT B", page.right.text, sign)}
        values["instructions"] = served.say("pair.preference.instructions")
    listed = "\n".join(f'"{name}": {label}' for name, label in labels.items())
    values["format"] = _format("", {"answer": f"one of these:\n{listed}"})
    prompt = own_prompt("quiz" if quiz else "comprehension")

    def read_choice(given: Given) -> Form:
        text = as_typed(given.get("answer"))
        if text not in choices:
            raise NotRead(f"{text[:40]!r} is not one of {', '.join(choices)}")
        return {"preferred" if quiz else "choice": choices[text]}

    schema = {"type": "string", "enum": [*choices]}
    return Ask("quiz" if quiz else "comprehension", prompt, prompt.filled(values), {"answer": schema}, read_choice)


def is_relative(scale: Scale) -> bool:
    """Whether numbers are given in proportion to the documents before."""
    return isinstance(scale, Magnitude | Bounded) and scale.relative


def as_typed(value: Any) -> str:
    """A value of a reply as an assessor would type it: a number in a spelling that can be read in one way only."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        text = shown(float(value))
        return f"{text}0" if len(text.partition(".")[2]) == 3 else text
    return str(value).strip()


def _common(served: Served, sign: str, topic: Topic, again: bool) -> dict[str, str]:
    look_again = f"{served.say('check.revise').strip()}\n\n" if again else ""
    return {"mark": sign, "topic": topic_text(topic, sign), "again": look_again}


def _instructions(served: Served, of_scale: Sequence[str]) -> str:
    return "\n\n".join(text.strip() for text in (served.say("instructions.judging"), *of_scale))


def _labels(scale: Scale) -> dict[str, str]:
    """What a model answers on a scale with choices, and the key of each: digits where they do, for a single token."""
    numbers = [shown(grade.value) for grade in scale.choices]
    plain = all(len(text) == 1 and text.isdigit() for text in numbers)
    return {number if plain else grade.key: grade.key for number, grade in zip(numbers, scale.choices, strict=True)}


def _answers(scale: Scale, labels: Mapping[str, str]) -> str:
    """What the answer may be, in words."""
    if labels:
        about = {grade.key: f"{grade.name}{f' ({grade.about})' if grade.about else ''}" for grade in scale.choices}
        return "one of these:\n" + "\n".join(f'"{label}": {about[key]}' for label, key in labels.items())
    low, high = (shown(end) if end is not None else "" for end in (scale.numbers.low, scale.numbers.high))
    if scale.numbers.name == "interval":
        return f"a whole number from {low} to {high}"
    return f"a number above {low} and below {high}" if high else "a number above 0"


def _numbers(scale: Scale) -> dict[str, Any]:
    low, high = scale.numbers.low, scale.numbers.high
    if scale.numbers.name == "interval":
        return {"type": "integer", "minimum": low, "maximum": high}
    ends = {"exclusiveMinimum": low or 0.0} | ({} if high is None else {"exclusiveMaximum": high})
    return {"type": "number", **ends}


NUMBER_ABOVE_ZERO = {"answer": "a number above 0"}


def _reason(least: int) -> str:
    return f"your reason in a few words, {least} letters at least" if least else ""


def _reason_field(least: int) -> dict[str, dict[str, Any]]:
    return {"reason": {"type": "string"}} if least else {}


def _format(reason: str, wanted: Mapping[str, str]) -> str:
    """The fields of the reply, in order."""
    lines = [f'- "{name}": {what}' for name, what in {"reason": reason, **wanted}.items() if what]
    return "Reply with a JSON object that has\n" + "\n".join(lines)


def _comment(given: Given, least: int) -> Form:
    return {"comment": str(given.get("reason") or "").strip()} if least else {}


def _check(served: Served, scale: Scale | None, form: Form) -> None:
    try:
        read_answer(served, scale, {name: (value,) for name, value in form.items()})
    except NotTaken as problem:
        raise NotRead(problem.reason) from None
