"""From where an assessor is to the page they see. Reads, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import sqlalchemy as sa
from markupsafe import Markup

from judgewell.collect import pages
from judgewell.collect.answers import current_answer
from judgewell.collect.assign import ALIVE_EVERY, outlook
from judgewell.collect.served import Served, as_html
from judgewell.collect.state import State
from judgewell.collect.tokens import step_token
from judgewell.study.chance import generator
from judgewell.study.numbers import shown
from judgewell.study.scales import Absolute, Preference, Questions, Scale

Typed = Mapping[str, tuple[str, ...]]
Common = dict[str, Any]

KEYS = "123456789"


def page_of(
    connection: sa.Connection, served: Served, state: State, *, problem: str = "", typed: Typed | None = None
) -> pages.Page:
    """The page an assessor is on; `problem` and `typed` where an answer was not taken."""
    notice = state.scratch.get("notice")
    common: Common = {
        "study": served.title,
        "language": served.language,
        "step": step_token(served.secret, state.assessor, state.turn),
        "words": served.words,
        "problem": problem,
        "notice": notice or "",
        "alive_every": ALIVE_EVERY if state.holding and state.holding.state in ("live", "expired", "late") else 0,
    }
    if typed is not None:
        common["typed"] = typed
    return _PAGES[state.stage](connection, served, state, common)


def trouble(served: Served, key: str) -> pages.Trouble:
    """A page for somebody we do not know, or cannot serve just now."""
    return pages.Trouble(
        study=served.title, language=served.language, step="", words=served.words, text=served.show(f"trouble.{key}")
    )


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
    if outlook(connection, served, state, served.clock()) is None:
        return _waiting(connection, served, state, common)
    return pages.Consent(
        **common,
        title=served.say("consent.title"),
        text=served.show("consent.text", details=served.study.study.consent),
        agree=served.say("consent.agree"),
        disagree=served.say("consent.disagree"),
    )


def _waiting(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    """No work left where that is true; else when to come back."""
    now = served.clock()
    wait = outlook(connection, served, state, now)
    if wait is None:
        return pages.NoWork(**common, text=served.show("end.no_work"), ending=pages.Ending())
    minutes = max(1, ceil(wait / 60))
    text = served.show("end.come_back", minutes=minutes)
    return pages.ComeBack(**common, text=text, minutes=minutes, again=served.say("page.again"))


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
        unit_progress=_unit_progress(served, state),
    )


def _unit_progress(served: Served, state: State) -> pages.Progress | None:
    number, most = int(state.scratch.get("keep_units", 0)) + 1, served.study.work.most_units
    if most == 1:
        return None
    return pages.Progress(number, most, served.say("page.unit_progress", position=number, total=most))


def _comprehension(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    question = served.questions_about(state.held.topic)[state.position - 1]
    choices = tuple(
        pages.Choice(str(number), answer, key=_key(number)) for number, answer in enumerate(question.answers, start=1)
    )
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
    pairs = [pair for pair in section.pair if pair.topic in (None, topic)] if section else []
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
        choices=_sides(served, ("left", "right")),
        progress=_progress(served, state.position, len(pairs)),
    )


def _progress(served: Served, position: int, total: int) -> pages.Progress:
    return pages.Progress(position, total, served.say("page.progress", position=position, total=total))


def _sides(served: Served, sides: tuple[str, ...]) -> tuple[pages.Choice, ...]:
    return tuple(
        pages.Choice(side, served.say(f"pair.preference.{side}"), key=_key(number))
        for number, side in enumerate(sides, start=1)
    )


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
        "unit_progress": _unit_progress(served, state),
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
        document = replace(served.document(connection, item.doc), label=served.words["document"])
        asked = served.once(("scale", state.held.scale), lambda: _scale_input(served, scale))
        return pages.DocumentPage(**shared, document=document, scale=asked)
    sides = {"left": item.doc, "right": item.other or item.doc}
    both: Common = {}
    for side, number in sides.items():
        new = position > 1 and item.new in (side, "both")
        label = served.words[f"document_{side}"]
        mark = served.words["document_new"] if new else ""
        both[side] = replace(served.document(connection, number), label=label, new=new, mark=mark)
    return pages.PairPage(**shared, **both, questions=served.once("pairs", lambda: _pair_questions(served)))


def may_go_back(served: Served, state: State) -> bool:
    """Going back is the study's choice; once the checks ask to look again it is everybody's."""
    return served.study.work.going_back or state.held.revisions > 0


def _scale_input(served: Served, scale: Scale) -> pages.ScaleInput:
    choices = tuple(
        pages.Choice(level.key, level.name, level.about, _key(number)) for number, level in enumerate(scale.choices, 1)
    )
    ends = scale.wording if scale.widget != "choice" else {}
    return pages.ScaleInput(
        widget=scale.widget,
        question=served.say(scale.question, **scale.wording),
        instructions=served.show(scale.instructions, **scale.wording),
        choices=choices,
        low=ends.get("low", ""),
        high=ends.get("high", ""),
        untouched=served.say("scale.s100.untouched") if scale.widget == "slider" else "",
    )


def _pair_questions(served: Served) -> tuple[pages.PairQuestion, ...]:
    found = []
    for question in (served.questions or Questions()).asked:
        fields: tuple[str, ...] = ("left_score", "right_score")
        labels: tuple[str, ...] = ()
        choices: tuple[pages.Choice, ...] = ()
        if isinstance(question, Preference):
            fields, choices = ("preferred",), _sides(served, question.choices)
        elif isinstance(question, Absolute):
            fields, choices = ("absolute",), _relevant_choices(served)
        else:
            labels = (served.say("pair.ratio.left"), served.say("pair.ratio.right"))
        found.append(
            pages.PairQuestion(
                kind=question.kind,  # type: ignore[arg-type]
                question=served.say(question.question),
                instructions=served.show(question.instructions),
                fields=fields,
                labels=labels,
                choices=choices,
            )
        )
    return tuple(found)


def _relevant_choices(served: Served) -> tuple[pages.Choice, ...]:
    """None, one or both where the preferred one is known; else the sides by name."""
    asked = (served.questions or Questions()).asked
    strict = any(isinstance(question, Preference) and not question.ties for question in asked)
    names = ("none", "one", "both") if strict else ("none", "left", "right", "both")
    return tuple(pages.Choice(name, served.say(f"pair.absolute.{name}")) for name in names)


def _revise(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Revise(**common, text=served.show("check.revise"))


def closing_questions(served: Served) -> tuple[pages.ClosingQuestion, ...]:
    """The closing questionnaire: which of several questions about pairs were liked, and a free word."""
    found = []
    asked = served.questions.asked if served.questions else ()
    if len(asked) > 1:
        choices = tuple(pages.Choice(question.kind, served.say(question.question)) for question in asked)
        found.append(pages.ClosingQuestion("liked", served.say("end.liked"), "several", choices))
    found.append(pages.ClosingQuestion("feedback", served.say("end.feedback"), "text"))
    return tuple(found)


def _questionnaire(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Questionnaire(**common, questions=closing_questions(served))


def _done(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    more = outlook(connection, served, state, served.clock()) is not None
    return pages.Done(
        **common,
        text=served.show("end.completed_more" if more else "end.completed"),
        ending=_ending(served, "completed"),
        more=served.say("page.continue") if more else "",
    )


def _stopped(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    ending = state.scratch.get("ending", "failed_quality")
    last = "keep_stopped" in state.scratch
    more = not last and outlook(connection, served, state, served.clock()) is not None
    key = "failed_quality" if ending == "failed_quality" else "failed_comprehension"
    return pages.Stopped(
        **common,
        text=served.show(f"end.{key}"),
        ending=_ending(served, key),
        more=served.say("page.again") if more else "",
    )


def _declined(connection: sa.Connection, served: Served, state: State, common: Common) -> pages.Page:
    return pages.Stopped(**common, text=served.show("end.no_consent"), ending=_ending(served, "no_consent"))


def _ending(served: Served, key: str) -> pages.Ending:
    """The code for this way of ending, and the link that carries it; nothing where there is no code."""
    platform = served.study.platform
    code: str = getattr(platform.codes, key)
    if not code:
        return pages.Ending()
    link = "" if platform.kind == "invite" else platform.return_link.replace("{code}", code)
    return pages.Ending(code, served.show("end.code", code=code), link, served.say("end.return_link") if link else "")


def _key(number: int) -> str:
    return KEYS[number - 1] if number <= len(KEYS) else ""


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
