"""From where an assessor is to the page they see. Reads, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import sqlalchemy as sa
from markupsafe import Markup

from judgewell.server.platforms.endings import best_ending, ending
from judgewell.server.session import pages
from judgewell.server.session.answers import current_answer
from judgewell.server.session.assignment import ALIVE_EVERY, outlook, waits_for_pause
from judgewell.server.session.questions import (
    closing_questions,
    digits,
    pair_questions,
    scale_input,
    side_choices,
    with_keys,
)
from judgewell.server.session.served import Served, as_html
from judgewell.server.session.state import State
from judgewell.server.store.schema import topics
from judgewell.server.tokens import step_token
from judgewell.study.design.chance import generator
from judgewell.study.questions import Questions, Scale
from judgewell.study.typed_numbers import shown

Typed = Mapping[str, tuple[str, ...]]
Common = dict[str, Any]


def page_of(
    connection: sa.Connection,
    served: Served,
    state: State,
    *,
    problem: str = "",
    field: str = "",
    typed: Typed | None = None,
) -> pages.Page:
    """The page an assessor is on; `problem`, the `field` it is about and `typed` where an answer was not taken.

    A problem of the step before (a wrong answer that counted as a try) and a notice are in the scratch.
    """
    common: Common = {
        **served.marks,
        "step": step_token(served.secret, state.assessor, state.turn),
        "problem": problem or state.scratch.get("problem", ""),
        "problem_field": field or state.scratch.get("problem_field", ""),
        "notice": state.scratch.get("notice") or "",
        "alive_every": ALIVE_EVERY if state.holding and state.holding.state in ("live", "expired", "late") else 0,
    }
    if typed is not None:
        common["typed"] = typed
    return _PAGES[state.stage](connection, served, state, common)


def trouble(served: Served, key: str) -> pages.Trouble:
    """A page for somebody we do not know, or cannot serve just now."""
    return pages.Trouble(**served.marks, step="", text=served.show(f"trouble.{key}"))


def scale_of(served: Served, state: State) -> Scale | None:
    """The scale of the unit in hand; None for pairs."""
    name = state.held.scale
    return None if name is None else served.scales[name]


def practice_lines(served: Served, state: State) -> list[float]:
    """The lines' lengths in the order this assessor sees them on this try."""
    section = served.study.checks.practice
    lengths = list(section.lengths) if section else []
    tried = str(state.scratch.get("tried", 0))
    order = generator(served.study.study.seed, "practice", state.pseudonym, tried).permutation(len(lengths))
    return [lengths[number] for number in order]


def _consent(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    now = served.clock()
    if outlook(connection, served, state, now) is None or waits_for_pause(connection, served, state, now):
        return _waiting(connection, served, state, common)
    return pages.Consent(
        **common,
        title=served.say("consent.title"),
        text=served.show("consent.text", details=served.study.study.consent),
        agree=served.say("consent.agree"),
        disagree=served.say("consent.disagree"),
    )


def _waiting(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    """No work left where that is true; else when to come back. Whoever has done work before keeps its code."""
    wait = outlook(connection, served, state, served.clock())
    reached = best_ending(connection, state.assessor)
    if wait is None:
        earned = ending(connection, served, state.assessor, reached)
        return pages.NoWork(**common, text=served.show(f"end.{reached}"), ending=earned)
    minutes = max(1, ceil(wait / 60))
    stands = waits_for_pause(connection, served, state, served.clock())
    return pages.ComeBack(
        **common,
        text=served.show("trouble.paused") if stands else served.show("end.come_back", minutes=minutes),
        minutes=minutes,
        again=served.say("page.again"),
        ending=pages.Ending() if reached == "no_work" else ending(connection, served, state.assessor, reached),
    )


def _instructions(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Instructions(
        **common,
        title=served.say("instructions.title"),
        text=_how_it_works(served, state),
        scale=_scale_help(served, state),
        ready=_ready(served, state),
        start=served.say("page.start"),
    )


def _how_it_works(served: Served, state: State) -> Markup:
    scale, total = scale_of(served, state), state.held.size
    checks = served.study.checks
    if scale is None:
        text = served.say("instructions.pairs", total=total)
    else:
        question = served.say(scale.question, **scale.wording)
        comment = served.say("instructions.comment" if checks.comment else "instructions.no_comment")
        text = served.say("instructions.documents", total=total, question=question, comment=comment)
    parts = [text, served.say("instructions.judging")]
    if checks.least_seconds > 0:
        parts.append(served.say("instructions.time", seconds=shown(checks.least_seconds)))
    if served.study.work.going_back:
        parts.append(served.say("instructions.going_back"))
    return as_html("\n\n".join(parts))


def _scale_help(served: Served, state: State) -> Markup:
    scale = scale_of(served, state)
    if scale is not None:
        return served.show(scale.instructions, **scale.wording)
    asked = (served.questions or Questions()).asked
    return as_html("\n\n".join(f"**{served.say(one.question)}** {served.say(one.instructions)}" for one in asked))


def _ready(served: Served, state: State) -> str:
    pay, size = served.study.pay, state.held.size
    minutes = max(1, ceil((size * pay.seconds + pay.overhead) / 60))
    return served.say("ready.text", total=size, minutes=minutes)


def _practice(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    lines = practice_lines(served, state)
    where = served.say("practice.line", position=state.position, total=len(lines))
    return pages.Practice(
        **common,
        title=served.say("practice.title"),
        text=served.show("practice.text", total=len(lines)),
        question=served.say("practice.question"),
        progress=pages.Progress(state.position, len(lines), where),
        length=lines[state.position - 1],
        widest=max(lines),
    )


def _topic(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.TopicPage(
        **common,
        title=served.say("page.topic"),
        topic=served.topic(connection, state.held.topic),
        ready=_ready(served, state),
        unit_progress=_unit_progress(connection, served, state),
    )


def _unit_progress(connection: sa.Connection, served: Served, state: State) -> pages.Progress | None:
    """Which of an assessor's units this is, of as many as the study's topics let one person do."""
    work = served.study.work
    there = served.once(
        "topics", lambda: connection.execute(sa.select(sa.func.count()).select_from(topics)).scalar_one()
    )
    number, most = int(state.scratch.get("keep_units", 0)) + 1, min(work.most_units, there * work.units_per_topic)
    if most == 1:
        return None
    return pages.Progress(number, most, served.say("page.unit_progress", position=number, total=most))


def _comprehension(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    question = served.questions_about(state.held.topic)[state.position - 1]
    numbered = enumerate(question.answers, start=1)
    choices = with_keys(tuple(pages.Choice(str(number), answer) for number, answer in numbered), digits())
    return pages.Comprehension(
        **common,
        title=served.say("comprehension.title"),
        topic=served.topic(connection, state.held.topic),
        text=served.show("comprehension.text"),
        question=question.question,
        choices=choices,
    )


def _quiz(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    section, topic = served.study.checks.quiz, state.held.topic
    pairs = served.quiz_pairs(topic)
    pair = pairs[state.position - 1]
    needed = section.check(topic).needed if section else 0
    return pages.QuizPair(
        **common,
        title=served.say("quiz.title"),
        topic=served.topic(connection, topic),
        text=served.show("quiz.text", total=len(pairs), needed=needed),
        left=pages.Document(served.say("page.document_left"), "", pair.left),
        right=pages.Document(served.say("page.document_right"), "", pair.right),
        question=served.say("pair.preference.question"),
        choices=with_keys(side_choices(served, ("left", "right")), digits()),
        progress=_progress(served, state.position, len(pairs)),
    )


def _progress(served: Served, position: int, total: int) -> pages.Progress:
    return pages.Progress(position, total, served.say("page.progress", position=position, total=total))


def _judge(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    position, size = state.position, state.held.size
    if "typed" not in common:
        before = current_answer(connection, state, position) if position <= state.reached else None
        common["typed"] = {name: tuple(values) for name, values in before.typed.items()} if before else {}
    checks, work = served.study.checks, served.study.work
    comment = None
    if checks.comment:
        comment = pages.CommentBox(served.say("comment.label"), served.say("comment.placeholder"), checks.comment)
    topic = served.topic(connection, state.held.topic)
    shared: Common = {
        **common,
        "title": topic.title,
        "topic": topic,
        "progress": _progress(served, position, size),
        "unit_progress": _unit_progress(connection, served, state),
        "can_go_back": position > 1 and may_go_back(served, state),
        "last": position == size,
        "revising": state.held.revisions > 0,
        "can_highlight": work.highlight,
        "comment": comment,
        "help": served.once(("help", state.held.scale, size), lambda: _how_it_works(served, state)),
    }
    item = served.items(connection, state.held.unit)[position - 1]
    scale = scale_of(served, state)
    if scale is not None:
        document = replace(served.document(connection, item.doc, state.held.unit), label=served.words["document"])
        asked = served.once(("scale", state.held.scale), lambda: scale_input(served, scale))
        return pages.DocumentPage(**shared, document=document, scale=asked)
    sides = {"left": item.doc, "right": item.other or item.doc}
    both: Common = {}
    for side, number in sides.items():
        new = position > 1 and item.new in (side, "both")
        label = served.words[f"document_{side}"]
        mark = served.words["document_new"] if new else ""
        both[side] = replace(served.document(connection, number, state.held.unit), label=label, new=new, mark=mark)
    return pages.PairPage(**shared, **both, questions=served.once("pairs", lambda: pair_questions(served)))


def may_go_back(served: Served, state: State) -> bool:
    """Going back is the study's choice; once the checks ask to look again it is everybody's."""
    return served.study.work.going_back or state.held.revisions > 0


def _revise(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Revise(**common, text=served.show("check.revise"))


def _questionnaire(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Questionnaire(**common, questions=served.once("closing", lambda: closing_questions(served)))


def _done(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    more = outlook(connection, served, state, served.clock()) is not None
    return pages.Done(
        **common,
        text=served.show("end.completed_more" if more else "end.completed"),
        ending=ending(connection, served, state.assessor, "completed"),
        more=served.say("page.continue") if more else "",
    )


def _stopped(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    how = state.scratch.get("ending", "failed_quality")
    last = "keep_stopped" in state.scratch
    more = not last and outlook(connection, served, state, served.clock()) is not None
    earned = best_ending(connection, state.assessor) == "completed"  # an earlier unit's code is not lost by a later one
    key = "failed_quality" if how == "failed_quality" else "failed_comprehension"
    return pages.Stopped(
        **common,
        text=served.show(f"end.{key}"),
        ending=ending(connection, served, state.assessor, "completed" if earned else key),
        more=served.say("page.again") if more else "",
    )


def _declined(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Stopped(
        **common, text=served.show("end.no_consent"), ending=ending(connection, served, state.assessor, "no_consent")
    )


_PAGES: dict[str, Callable[[sa.Connection, Served, State, Common], pages.Page]] = {
    "consent": _consent,
    "waiting": _waiting,
    "instructions": _instructions,
    "practice": _practice,
    "topic": _topic,
    "comprehension": _comprehension,
    "quiz": _quiz,
    "judge": _judge,
    "revise": _revise,
    "questionnaire": _questionnaire,
    "done": _done,
    "stopped": _stopped,
    "declined": _declined,
}
