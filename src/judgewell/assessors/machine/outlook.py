"""What a run will ask and cost, before it starts; and what is asked, to look at."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from judgewell.assessors.machine import bank
from judgewell.assessors.machine.asks import Ask, Prompts, is_relative
from judgewell.assessors.machine.chat import LETTERS, Chat
from judgewell.assessors.machine.judging import Run, ask_about, material
from judgewell.server.session.pages import Document
from judgewell.server.session.served import load_served
from judgewell.server.store.schema import units
from judgewell.server.store.setup import prepare
from judgewell.server.store.transactions import open_store
from judgewell.study.machine import Machine
from judgewell.text import counted, price

SAMPLE = 40  # units whose prompts are written to see how long they are
REPLY = 25  # tokens of an answer,
REASON = 40  # and of its reason


@dataclass(frozen=True)
class Outlook:
    """What is left to ask, and about how much that takes."""

    machines: int
    units: int
    places: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float
    cut: int  # documents among those looked at that are longer than what is sent
    spent_tokens: int
    spent: float
    free: int  # places of units that nobody has taken


def expected(run: Run, who: Sequence[bank.Identity]) -> Outlook:
    """The work that is left for these machines; tokens follow from the prompts of some units."""
    planned = run.store.read(partial(bank.plan, settings=run.settings, who=who)).result()
    missing = [one for one in planned if one.missing]
    step = max(1, len(missing) // SAMPLE)
    some = missing[::step][:SAMPLE]
    asks = [ask for one in some for ask in run.store.read(partial(_asks, run=run, planned=one)).result()]
    letters = sum(ask.characters + len(str(ask.schema)) for ask in asks)
    requests = sum(len(one.missing) for one in missing)
    tokens_in = round(letters / LETTERS / len(asks) * requests) if asks else 0
    tokens_out = requests * (REPLY + (REASON if run.served.study.checks.comment else 0))
    tokens, cost = run.store.read(bank.spent).result()
    return Outlook(
        machines=len(who),
        units=len(planned),
        places=sum(run.store.read(partial(_size, unit=one.unit)).result() for one in planned),
        requests=requests,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=run.settings.cost(tokens_in, tokens_out),
        cut=sum("[the rest of this text was cut]" in ask.messages[-1]["content"] for ask in asks),
        spent_tokens=tokens,
        spent=cost,
        free=int(run.store.read(_free).result()),
    )


def _size(connection: sa.Connection, unit: int) -> int:
    return int(connection.execute(sa.select(units.c.size).where(units.c.number == unit)).scalar_one())


def _free(connection: sa.Connection) -> int:
    return connection.execute(sa.select(sa.func.sum(units.c.free))).scalar() or 0


def _asks(connection: sa.Connection, run: Run, planned: bank.Planned) -> list[Ask]:
    """The prompts of a unit as they will be, earlier documents among them."""
    shown = material(connection, run.served, planned.unit)
    relative = shown.scale is not None and is_relative(shown.scale)
    before: list[tuple[Document, str]] = []
    asks = []
    for item in shown.items:
        if (item.position, False) in planned.missing or (item.position, True) in planned.missing:
            asks.append(ask_about(run, shown, item, (0, planned.unit), before))
        if relative:
            before.append((shown.documents[item.doc], "10"))
    return asks


def expected_text(outlook: Outlook, settings: Machine) -> str:
    """The outlook in sentences."""
    if not outlook.places:
        return "There is nothing left to judge for these machines."
    lines = [
        f"{counted(outlook.machines, 'machine')} will judge {counted(outlook.places, 'place')} in "
        f"{counted(outlook.units, 'unit')}; {outlook.free:,} completions of units are open for all assessors.",
        f"Expected: {counted(outlook.requests, 'request')} with about {outlook.tokens_in:,} tokens sent and "
        f"{outlook.tokens_out:,} received"
        + (f", about {price(outlook.cost)} {settings.currency}." if outlook.cost else "; no prices are set.")
        + " Practice, questions about topics, revisions and repeated requests are not counted.",
    ]
    if outlook.spent_tokens:
        lines.append(f"Used before: {outlook.spent_tokens:,} tokens, {price(outlook.spent)} {settings.currency}.")
    limits = [f"{price(settings.budget)} {settings.currency}"] if settings.budget is not None else []
    limits += [f"{settings.budget_tokens:,} tokens"] if settings.budget_tokens is not None else []
    if limits:
        lines.append(f"Budget: {' and '.join(limits)}.")
    if outlook.cut:
        lines.append(f"Of the prompts looked at, {outlook.cut:,} hold only the first {settings.longest:,} characters.")
    return "\n".join(lines)


def first_asks(study: str | Path, settings: Machine) -> dict[str, Ask]:
    """What is asked about the first place of each scale, or the first pair; nothing is kept."""
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "study.sqlite")) as store:
        prepare(store, study, time.time)
        served = store.read(load_served).result()
        run = Run(store, served, settings, Prompts(settings.prompt), Chat(settings, None, "", "schema"))
        first = sa.select(units.c.scale, sa.func.min(units.c.number)).group_by(units.c.scale)
        asks = {}
        with store.snapshot() as connection:
            for scale, unit in connection.execute(first).all():
                shown = material(connection, served, unit)
                asks[scale or "pairs"] = ask_about(run, shown, shown.items[0], ("shown", unit))
    return asks
