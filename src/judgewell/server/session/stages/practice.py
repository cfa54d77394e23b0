"""Practice: magnitudes of lines of different lengths, before the first unit (Turpin et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from judgewell.server.session.answers import about, first
from judgewell.server.session.pages import Page, Progress
from judgewell.server.session.served import Served
from judgewell.server.session.stage import Look, Stage, Step, tried_again
from judgewell.server.session.stages.stopped import stop
from judgewell.server.session.state import State, log
from judgewell.study.design.chance import generator
from judgewell.study.questions import Magnitude


@dataclass(frozen=True, kw_only=True)
class Practice(Page):
    """One line whose length is estimated; `length` is in pixels, `widest` is that of the longest line."""

    kind: ClassVar[str] = "practice"
    text: Markup
    question: str
    progress: Progress
    length: float
    widest: float


def _wanted(step: Step) -> bool:
    return step.served.study.checks.practice is not None and "keep_practised" not in step.state.scratch


def _step(step: Step) -> State:
    section, scratch = step.served.study.checks.practice, step.state.scratch
    if section is None:
        return step.advance()
    with about(step.served, "value"):
        number = Magnitude().read(first(step.form, "value"))
    lines, numbers = _lines(step.served, step.state), [*scratch.get("numbers", []), number]
    log(step.connection, step.state, step.now, "practice", step.state.position, number=number)
    if len(numbers) < len(lines):
        return step.go("practice", len(numbers) + 1, forget=False, numbers=numbers, notice="")
    tried = scratch.get("tried", 0) + 1
    verdict = section(numbers, lines, tried)
    step.verdict("practice", tried, verdict)
    if verdict:
        return step.advance(keep_practised=True, notice=step.served.say("practice.passed"))
    if verdict.again:
        notice = tried_again(step.served, verdict, section.tries - tried)
        return step.go("practice", 1, tried=tried, notice=notice)
    return stop(step, "failed_practice", verdict, last=True)


def _lines(served: Served, state: State) -> list[float]:
    """The lines' lengths in the order this assessor sees them on this try."""
    section = served.study.checks.practice
    lengths = list(section.lengths) if section else []
    tried = str(state.scratch.get("tried", 0))
    order = generator(served.study.study.seed, "practice", state.pseudonym, tried).permutation(len(lengths))
    return [lengths[number] for number in order]


def _page(look: Look) -> Page:
    served, position = look.served, look.state.position
    lines = _lines(served, look.state)
    return Practice(
        **look.common,
        title=served.say("practice.title"),
        text=served.show("practice.text", total=len(lines)),
        question=served.say("practice.question"),
        progress=Progress(position, len(lines), served.say("practice.line", position=position, total=len(lines))),
        length=lines[position - 1],
        widest=max(lines),
    )


STAGE = Stage(_step, _page, 20, _wanted)
