"""Judge: a document or a pair at a time, back where that is allowed, and the checks at the end of the unit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import sqlalchemy as sa
from markupsafe import Markup

from judgewell.server.session.answers import (
    current_answer,
    read_answer,
    read_machine_answer,
    read_visit,
    standing_answers,
    to_keep,
)
from judgewell.server.session.assignment import close, outlook
from judgewell.server.session.limits import has_failed_often
from judgewell.server.session.pages import (
    CommentBox,
    Document,
    Page,
    PairQuestion,
    PreviousAnswer,
    Progress,
    ScaleInput,
    Topic,
)
from judgewell.server.session.questions import pair_questions, progress, scale_input
from judgewell.server.session.served import Served
from judgewell.server.session.stage import Look, Stage, Step, scale_of
from judgewell.server.session.stages.done import thank
from judgewell.server.session.stages.instructions import how_it_works
from judgewell.server.session.stages.topic import unit_progress
from judgewell.server.session.state import State, log, store
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import reservations, study
from judgewell.study.checks import FinishedUnit, Judged
from judgewell.study.questions import Bounded, Magnitude, Scale

LONGEST_REPLY = 1e6  # a machine's seconds are those of its reply, which came before the step


@dataclass(frozen=True, kw_only=True)
class Judging(Page):
    """What judging a document and judging a pair share; `typed` holds the earlier answer where there is one.

    `revising` is true after the checks at the end asked to look again; `last` where the button says Finish, `first`
    where questions are explained.
    """

    topic: Topic
    progress: Progress
    unit_progress: Progress | None
    can_go_back: bool
    first: bool
    last: bool
    revising: bool
    can_highlight: bool
    comment: CommentBox | None
    help: Markup

    def with_gaps(self, gap: Callable[[Callable[[Any], object]], str]) -> Self:
        there, unit = self.progress, self.unit_progress
        place = gap(lambda page: page.progress.position)
        return replace(
            self,
            step=gap(lambda page: page.step),
            title=gap(lambda page: page.title),
            progress=Progress(place, there.total, gap(lambda page: page.progress.text)),  # type: ignore[arg-type]
            unit_progress=unit and replace(unit, text=gap(lambda page: page.unit_progress.text)),
        )


@dataclass(frozen=True, kw_only=True)
class DocumentPage(Judging):
    """One document to judge; `previous` is the answer to the document before, where the study shows it."""

    kind: ClassVar[str] = "document"
    template: ClassVar[str] = "judge_document"
    document: Document
    scale: ScaleInput
    previous: PreviousAnswer | None = None

    def with_gaps(self, gap: Callable[[Callable[[Any], object]], str]) -> Self:
        previous = self.previous and replace(
            self.previous, title=gap(lambda page: page.previous.title), answer=gap(lambda page: page.previous.answer)
        )
        return replace(super().with_gaps(gap), previous=previous)


@dataclass(frozen=True, kw_only=True)
class PairPage(Judging):
    """Two documents side by side and the questions about them."""

    kind: ClassVar[str] = "pair"
    template: ClassVar[str] = "judge_pair"
    left: Document
    right: Document
    questions: tuple[PairQuestion, ...]


def _step(step: Step) -> State:
    state = step.state
    elapsed = step.now - state.moved if not state.is_machine else LONGEST_REPLY
    visit = read_visit(step.form, elapsed, step.served.silence)
    if step.action == "back" and state.position > 1 and _may_go_back(step.served, state):
        log(step.connection, state, step.now, "back", state.position, active=visit.active, idle=visit.idle)
        _change(step, backs=reservations.c.backs + 1)
        return step.go("judge", state.position - 1, reached=state.reached)
    read = read_machine_answer if state.is_machine else read_answer
    answer = read(step.served, scale_of(step.served, state), step.form)
    row = to_keep(step.connection, state, answer, visit, step.now)
    if state.position == 1:  # from now on the study is frozen
        _FREEZE.run(step.connection, now=step.now)
    if state.position < state.held.size:
        previous = row["typed"].get("value", [None])[0]
        reached = max(state.reached, state.position)
        return step.go("judge", state.position + 1, answer=row, reached=reached, previous=previous)
    store(step.connection, row)
    return _finish(step)


_FREEZE = Prepared(sa.update(study).where(study.c.first_judgment.is_(None)).values(first_judgment=sa.bindparam("now")))


def _may_go_back(served: Served, state: State) -> bool:
    """Going back is the study's choice; once the checks ask to look again it is everybody's."""
    return served.study.work.going_back or state.held.revisions > 0


def _change(step: Step, **values: Any) -> None:
    mine = reservations.c.number == step.state.held.number
    step.connection.execute(sa.update(reservations).where(mine).values(values))


def _finish(step: Step) -> State:
    """The checks at the end of a unit: passed, to be revised, or failed."""
    state, unit = step.state, _finished(step)
    attempt = state.held.revisions + 1
    failed = []
    for check in step.served.study.end_checks:
        if state.is_machine and not check.for_machines:
            continue
        verdict = check.of_unit(unit)
        if verdict is not None:
            step.verdict(check.name, attempt, verdict)
            failed += [] if verdict else [check]
    if failed and state.held.revisions < step.served.study.checks.revisions:
        _change(step, revisions=attempt)
        return step.go("revise")
    if any(check.decides for check in failed):
        close(step.connection, state, step.now, "failed_quality")
        out = not state.is_machine and has_failed_often(step.connection, step.served, state.assessor)
        kept = {"keep_stopped": True} if out else {}
        return step.go("stopped", ending="failed_quality", notice=step.served.say("check.revise_last"), **kept)
    close(step.connection, state, step.now, "completed")
    count = int(state.scratch.get("keep_units", 0)) + 1
    return step.go("questionnaire", keep_units=count) if _asks(step, count) else thank(step, keep_units=count)


def _finished(step: Step) -> FinishedUnit:
    """The unit in hand as the checks look at it."""
    items = step.served.items(step.connection, step.state.held.unit)
    given = standing_answers(step.connection, step.state)
    return FinishedUnit(
        tuple(
            Judged(item.name, item.known, row.value, row.preferred, row.seconds)
            for item, row in zip(items, given, strict=True)
        )
    )


def _asks(step: Step, units_done: int) -> bool:
    """Whether the closing questionnaire follows this unit."""
    questionnaire = step.served.study.questionnaire
    if questionnaire.questions == [] or step.state.is_machine:
        return False
    if questionnaire.when == "last":
        return outlook(step.connection, step.served, step.state, step.now) is None
    return units_done == 1 or questionnaire.when == "each"


def _page(look: Look) -> Page:
    served, state, position = look.served, look.state, look.state.position
    items = served.items(look.connection, state.held.unit)
    item, documents = items[position - 1], served.documents(look.connection, state.held.unit)
    scale = scale_of(served, state)
    if scale is not None:
        document = replace(documents[item.doc], label=served.words["document"])
        asked = served.once(("scale", state.held.scale), lambda: scale_input(served, scale))
        previous = _previous(look, scale, items[position - 2].doc) if position > 1 else None
        shared = _shared(look, state.held.scale, previous is None)
        return DocumentPage(**shared, document=document, scale=asked, previous=previous)
    both: dict[str, Any] = {}
    for side, number in {"left": item.doc, "right": item.other or item.doc}.items():
        new = position > 1 and item.new in (side, "both")
        mark = served.words["document_new"] if new else ""
        label = served.words[f"document_{side}"]
        both[side] = replace(documents[number], label=label, new=new, mark=mark)
    shared = _shared(look, both["left"].new, both["right"].new)
    return PairPage(**shared, **both, questions=served.once("pairs", lambda: pair_questions(served)))


def _shared(look: Look, *kind: Hashable) -> Mapping[str, Any]:
    """What pages of documents and of pairs share; `kind` and what is the same for many pages make their shape."""
    served, state, position = look.served, look.state, look.state.position
    shared = dict(look.common)
    if "typed" not in shared:
        before = current_answer(look.connection, state, position) if position <= state.reached else None
        shared["typed"] = {name: tuple(values) for name, values in before.typed.items()} if before else {}
    topic, size, least = served.topic(look.connection, state.held.topic), state.held.size, served.study.checks.comment
    unit, back = unit_progress(look), position > 1 and _may_go_back(served, state)
    same: dict[str, Any] = {
        "can_go_back": back,
        "first": position == 1,
        "last": position == size,
        "revising": state.held.revisions > 0,
        "alive_every": shared["alive_every"],
    }
    return shared | {
        **same,
        "shape": (*kind, size, unit is None, *same.values()),
        "title": topic.title,
        "topic": topic,
        "progress": progress(served, position, size),
        "unit_progress": unit,
        "can_highlight": served.study.work.highlight,
        "comment": CommentBox(served.say("comment.label"), served.say("comment.placeholder"), least) if least else None,
        "help": served.once(("help", state.held.scale, size), lambda: how_it_works(served, state)),
    }


def _previous(look: Look, scale: Scale, doc: int) -> PreviousAnswer | None:
    """The document before and its answer, where the scale asks to judge in proportion to it."""
    if not (look.served.study.work.show_previous and isinstance(scale, Magnitude | Bounded) and scale.relative):
        return None
    answer = look.state.scratch.get("previous")
    if answer is None:
        before = current_answer(look.connection, look.state, look.state.position - 1)
        answer = before.typed.get("value", [""])[0] if before else ""  # none where a machine left it unrated
    document = look.served.documents(look.connection, look.state.held.unit)[doc]
    title = document.title or beginning(document.text)
    return PreviousAnswer(look.served.words["previous"], title, answer)


def beginning(text: str, words: int = 8) -> str:
    """The first words of a text."""
    first = text[:200].split()
    return " ".join(first[:words]) + (" …" if len(first) > words else "")


STAGE = Stage(_step, _page, 100)
