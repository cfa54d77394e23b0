"""What every stage of an assessor's way has: a step, a page, and a place between taking a unit and judging it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import sqlalchemy as sa

from judgewell.server.session import stages as package
from judgewell.server.session.answers import Form, NotTaken, first
from judgewell.server.session.pages import Page
from judgewell.server.session.served import Served
from judgewell.server.session.state import State, judge, move
from judgewell.study.checks import Verdict
from judgewell.study.questions import Scale

Common = Mapping[str, Any]


@dataclass(frozen=True)
class Look:
    """What a page is made from; `common` are the fields that all pages have."""

    connection: sa.Connection
    served: Served
    state: State
    common: Common


@dataclass(frozen=True)
class Step:
    """A step under way: everything its stage needs."""

    connection: sa.Connection
    served: Served
    state: State
    form: Form
    now: float

    @property
    def action(self) -> str:
        return first(self.form, "action") or "next"

    def go(self, stage: str, position: int = 0, **values: Any) -> State:
        """Bring the assessor to a stage; see `state.move`."""
        return move(self.connection, self.state, self.now, stage, position, **values)

    def advance(self, **values: Any) -> State:
        """Bring the assessor to the next stage on the way to judging that they have to pass."""
        place = stages()[self.state.stage].place
        name = next(name for name, stage in _way() if stage.place > place and stage.wanted(self))
        return self.go(name, 1, **values)

    def verdict(self, name: str, attempt: int, verdict: Verdict) -> None:
        """Keep the verdict of a check."""
        judge(self.connection, self.state, self.now, name, attempt, verdict)

    def chosen(self, name: str, choices: Mapping[str, str]) -> str:
        """The form's choice, one of these values with their labels, or :class:`NotTaken`."""
        value = first(self.form, name)
        if value not in choices:
            sentence = self.served.say("refused.no_choice", choices=", ".join(choices.values()))
            raise NotTaken(sentence, "no choice", name)
        return value


@dataclass(frozen=True)
class Stage:
    """A stage: what its step does and what its page shows.

    `place` orders the stages between taking a unit and judging it (100); `wanted` says whether an assessor has to pass
    this one now.
    """

    step: Callable[[Step], State]
    page: Callable[[Look], Page]
    place: int = 0
    wanted: Callable[[Step], bool] = lambda _: True


@cache
def stages() -> dict[str, Stage]:
    """All stages by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}").STAGE for name in names}


@cache
def _way() -> list[tuple[str, Stage]]:
    """The stages from taking a unit to judging it, in order."""
    return sorted(((name, stage) for name, stage in stages().items() if stage.place), key=lambda item: item[1].place)


def tries_left(served: Served, left: int) -> str:
    """How many tries an assessor has left, in words."""
    return served.say("check.last_try") if left == 1 else served.say("check.tries", left=left)


def tried_again(served: Served, verdict: Verdict, left: int) -> str:
    """What an assessor who may try again reads, with the number of tries left."""
    return f"{verdict.sentence(served.texts)} {tries_left(served, left)}"


def scale_of(served: Served, state: State) -> Scale | None:
    """The scale of the unit in hand; None for pairs."""
    name = state.held.scale
    return None if name is None else served.scales[name]
