"""Revise: the checks at the end ask to look through the answers again, without saying which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from markupsafe import Markup

from judgewell.server.session.answers import first, standing_answers
from judgewell.server.session.pages import Document, GivenAnswer, Page
from judgewell.server.session.questions import pair_questions, scale_input
from judgewell.server.session.served import as_html
from judgewell.server.session.stage import Look, Stage, Step, scale_of, tries_left
from judgewell.server.session.stages.judge import beginning
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class Revise(Page):
    """The checks at the end ask to look through the answers again, without saying which; `answers` are all of them."""

    kind: ClassVar[str] = "revise"
    text: Markup
    answers: tuple[GivenAnswer, ...] = ()


def _step(step: Step) -> State:
    """To the place that was chosen, or to the first one."""
    size, place = step.state.held.size, first(step.form, "place")
    chosen = place in map(str, range(1, size + 1))
    return step.go("judge", int(place) if chosen else 1, reached=size)


def _page(look: Look) -> Page:
    served, study = look.served, look.served.study
    parts = ["check.revise"] + ["check.revise_counts"] * any(check.decides for check in study.end_checks)
    tries = tries_left(served, study.checks.revisions - look.state.held.revisions + 1)
    text = as_html("\n\n".join([*map(served.say, parts), tries]))
    return Revise(**look.common, text=text, answers=_answers(look))


def _answers(look: Look) -> tuple[GivenAnswer, ...]:
    """Every place of the unit with what it shows and what was answered."""
    unit = look.state.held.unit
    items, documents = look.served.items(look.connection, unit), look.served.documents(look.connection, unit)
    given = standing_answers(look.connection, look.state)
    return tuple(
        GivenAnswer(item.position, " | ".join(_title(documents[doc]) for doc in _docs(item)), _answer(look, row.typed))
        for item, row in zip(items, given, strict=True)
    )


def _docs(item: Any) -> tuple[int, ...]:
    return (item.doc,) if item.other is None else (item.doc, item.other)


def _title(document: Document) -> str:
    return document.title or beginning(document.text)


def _answer(look: Look, typed: dict[str, list[str]]) -> str:
    """What was answered, as the page words it."""
    scale = scale_of(look.served, look.state)
    if scale is not None:
        asked = [("value", choice) for choice in scale_input(look.served, scale).choices]
    else:
        asked = [(one.fields[0], choice) for one in pair_questions(look.served) for choice in one.choices]
    labels = {(field, choice.value): choice.label for field, choice in asked}
    values = [(name, value) for name, given in typed.items() if name != "comment" for value in given]
    return "; ".join(labels.get((name, value), value) for name, value in values)


STAGE = Stage(_step, _page)
