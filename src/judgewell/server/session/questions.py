"""The questions of a page as its template takes them: scales, pairs and the closing ones, each choice with its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from string import ascii_uppercase

from judgewell.server.session import pages
from judgewell.server.session.served import Served
from judgewell.study.closing import ClosingQuestion
from judgewell.study.questions import Absolute, Grade, Preference, Ratio, Scale

DIGITS = "123456789"


def digits() -> Iterator[str]:
    """The keys of one page's choices in order; each is given out once."""
    return iter(DIGITS)


def with_keys(choices: tuple[pages.Choice, ...], keys: Iterator[str]) -> tuple[pages.Choice, ...]:
    """The choices with the next keys; those beyond the last key have none and are reached by Tab."""
    return tuple(replace(choice, key=next(keys, "")) for choice in choices)


def grade_keys(grades: Sequence[Grade]) -> Iterator[str]:
    """A grade's key is its number if all are single digits, else the key that the study gives it if all are single."""
    values = [grade.value for grade in grades]
    if all(value in range(10) for value in values):
        return iter([str(int(value)) for value in values])
    own = [grade.key.upper() for grade in grades]
    return iter(own) if all(len(key) == 1 and key.isalnum() for key in own) else digits()


def numbered_choices(answers: Sequence[str]) -> tuple[pages.Choice, ...]:
    """Answers to choose from, by number."""
    numbered = enumerate(answers, start=1)
    return with_keys(tuple(pages.Choice(str(number), answer) for number, answer in numbered), digits())


def progress(served: Served, position: int, total: int) -> pages.Progress:
    """Where in a unit or a quiz."""
    return pages.Progress(position, total, served.say("page.progress", position=position, total=total))


def scale_input(served: Served, scale: Scale) -> pages.ScaleInput:
    """How a document's value is asked for."""
    choices = tuple(pages.Choice(grade.key, grade.name, grade.about) for grade in scale.choices)
    ends = scale.wording if scale.widget != "choice" else {}
    return pages.ScaleInput(
        widget=scale.widget,
        question=served.say(scale.question, **scale.wording),
        instructions=served.show(scale.instructions, **scale.wording),
        choices=with_keys(choices, grade_keys(scale.choices)),
        low=ends.get("low", ""),
        high=ends.get("high", ""),
        untouched=served.say("scale.s100.untouched") if scale.widget == "slider" else "",
    )


def pair_questions(served: Served) -> tuple[pages.PairQuestion, ...]:
    """What is asked about a pair; no two choices of the page have the same key."""
    keys = digits()
    return tuple(_pair_question(served, question, keys) for question in served.questions)


def _pair_question(served: Served, question: Preference | Absolute | Ratio, keys: Iterator[str]) -> pages.PairQuestion:
    fields: tuple[str, ...] = ("left_score", "right_score")
    labels: tuple[str, ...] = ()
    choices: tuple[pages.Choice, ...] = ()
    if isinstance(question, Preference):
        fields, choices = ("preferred",), side_choices(served, question.choices)
    elif isinstance(question, Absolute):
        fields, choices = ("absolute",), _relevant_choices(served)
    else:
        labels = (served.say("pair.ratio.left"), served.say("pair.ratio.right"))
    return pages.PairQuestion(
        kind=question.kind,  # type: ignore[arg-type]
        question=served.say(question.question),
        instructions=served.show(question.instructions),
        fields=fields,
        labels=labels,
        choices=with_keys(choices, keys),
    )


def side_choices(served: Served, sides: tuple[str, ...]) -> tuple[pages.Choice, ...]:
    """The sides of a pair, to prefer one."""
    return tuple(pages.Choice(side, served.say(f"pair.preference.{side}")) for side in sides)


def _relevant_choices(served: Served) -> tuple[pages.Choice, ...]:
    """None, one or both where the preferred one is known; else the sides by name."""
    strict = any(isinstance(question, Preference) and not question.ties for question in served.questions)
    names = ("none", "one", "both") if strict else ("none", "left", "right", "both")
    return tuple(pages.Choice(name, served.say(f"pair.absolute.{name}")) for name in names)


def closing_questions(served: Served) -> tuple[pages.ClosingQuestion, ...]:
    """The closing questionnaire; choices that are digits have them as keys, in each question, others have letters."""
    keys = iter(ascii_uppercase)
    return tuple(_closing_question(question, keys) for question in served.closing)


def _closing_question(question: ClosingQuestion, keys: Iterator[str]) -> pages.ClosingQuestion:
    own = [choice.value if choice.value in tuple("0" + DIGITS) else "" for choice in question.options]
    named = tuple(pages.Choice(choice.value, choice.label) for choice in question.options)
    choices = with_keys(named, iter(own) if any(own) else keys)
    return pages.ClosingQuestion(
        name=question.name,
        question=question.question,
        kind=question.kind,
        choices=choices,
        needed=question.required,
        longest=question.longest,
        key="" if choices else next(keys, ""),
    )
