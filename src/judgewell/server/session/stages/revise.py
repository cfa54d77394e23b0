"""Revise: the checks at the end ask to look through the answers again, without saying which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from judgewell.server.session.pages import Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class Revise(Page):
    """The checks at the end ask to look through the answers again, without saying which."""

    kind: ClassVar[str] = "revise"
    text: Markup


def _step(step: Step) -> State:
    return step.go("judge", 1, reached=step.state.held.size)


def _page(look: Look) -> Page:
    return Revise(**look.common, text=look.served.show("check.revise"))


STAGE = Stage(_step, _page)
