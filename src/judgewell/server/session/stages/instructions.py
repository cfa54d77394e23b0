"""Instructions: how it works, with the scale's own explanation; once for each scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

from markupsafe import Markup

from judgewell.server.session.pages import Page
from judgewell.server.session.served import Served, as_html
from judgewell.server.session.stage import Look, Stage, Step, scale_of
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class Instructions(Page):
    """How it works, with the scale's own explanation."""

    kind: ClassVar[str] = "instructions"
    text: Markup
    scale: Markup
    ready: str


def _wanted(step: Step) -> bool:
    return bool(step.state.scratch.get("keep_instructed") != (step.state.held.scale or "pairs"))


def _step(step: Step) -> State:
    return step.advance(keep_instructed=step.state.held.scale or "pairs")


def _page(look: Look) -> Page:
    served, state = look.served, look.state
    return Instructions(
        **look.common,
        title=served.say("instructions.title"),
        text=how_it_works(served, state),
        scale=_scale_help(served, state),
        ready=ready(served, state),
    )


def how_it_works(served: Served, state: State) -> Markup:
    """What to do, for the instructions and the help beside each document."""
    scale, total = scale_of(served, state), state.held.size
    checks = served.study.checks
    known = "_known" if served.study.has_known else ""  # one of them must be judged above the other
    if scale is None:
        trust = served.say(f"instructions.trust_pairs{known}")
        text = served.say("instructions.pairs", total=total, trust=trust)
    else:
        question = served.say(scale.question, **scale.wording)
        comment = served.say("instructions.comment" if checks.comment else "instructions.no_comment")
        trust = served.say(f"instructions.trust_documents{known}")
        text = served.say("instructions.documents", total=total, question=question, comment=comment, trust=trust)
    parts = [text, served.say("instructions.judging")]
    if checks.least_seconds > 0:
        parts.append(served.say("instructions.time"))
    if served.study.work.going_back:
        parts.append(served.say("instructions.going_back"))
    return as_html("\n\n".join(parts))


def _scale_help(served: Served, state: State) -> Markup:
    scale = scale_of(served, state)
    if scale is not None:
        return served.show(scale.instructions, **scale.wording)
    asked = (f"**{served.say(one.question)}** {served.say(one.instructions)}" for one in served.questions)
    return as_html("\n\n".join(asked))


def ready(served: Served, state: State) -> str:
    """How large the task is."""
    pay, size = served.study.pay, state.held.size
    minutes = max(1, ceil((size * pay.seconds + pay.overhead) / 60))
    return served.say("ready.text", total=size, minutes=minutes)


STAGE = Stage(_step, _page, 10, _wanted)
