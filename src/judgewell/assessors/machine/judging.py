"""Machines at work: every assessor takes the session's steps, and the units it holds are asked about side by side.

A machine holds some units at a time (`reserve_ahead`). The places of a unit are asked in order, each reply is stored as
soon as it comes, and when all of them are there the steps are taken as a browser takes them. So a run that is killed
goes on with what was paid for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any

import sqlalchemy as sa

from judgewell.assessors.machine import bank
from judgewell.assessors.machine.asks import Ask, Form, Prompts, ask_at_the_door, ask_document, ask_pair, is_relative
from judgewell.assessors.machine.chat import LETTERS, Chat, Rejected
from judgewell.assessors.machine.reading import READ, REJECTED, Reading, read_reply
from judgewell.errors import DataError, InputError, JudgewellError, note
from judgewell.server.process import done
from judgewell.server.session import machine_runs
from judgewell.server.session.assignment import expire, reclaim, reserve_ahead
from judgewell.server.session.pages import Document, Page, Question, Topic
from judgewell.server.session.served import Item, Served
from judgewell.server.session.stages.done import Done
from judgewell.server.session.stages.judge import Judging
from judgewell.server.session.stages.practice import Practice
from judgewell.server.session.stages.quiz import QuizPair
from judgewell.server.session.stages.stopped import Stopped
from judgewell.server.session.stages.waiting import ComeBack, NoWork
from judgewell.server.session.state import State, load
from judgewell.server.session.steps import page_of, take
from judgewell.server.store.schema import units
from judgewell.server.store.transactions import Store
from judgewell.study.machine import Machine
from judgewell.study.questions import Scale
from judgewell.text import price

ALIVE_EVERY = 20.0  # seconds between signs of life while replies are waited for


class BudgetReached(JudgewellError):
    """The budget allows no further request."""


@dataclass
class Run:
    """One run of `judgewell judge`: what it works with, and what it has used so far."""

    store: Store
    served: Served
    settings: Machine
    prompts: Prompts
    chat: Chat
    progress: Callable[[int, int], None] = lambda done, total: None
    total: int = 0
    tokens: int = 0
    cost: float = 0.0
    under_way: int = 0  # tokens of requests that have no reply yet, at most,
    under_way_cost: float = 0.0  # and what they cost
    places: int = 0
    estimated: bool = False
    waiting: int = 0  # machines that found all work in other hands
    paying: set[asyncio.Task[Any]] = field(default_factory=set)  # requests under way: their replies are always kept
    ahead: dict[tuple[int, int, int], asyncio.Task[dict[int, Form]]] = field(default_factory=dict)
    working: set[int] = field(default_factory=set)  # machines whose replies can be read
    slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.slots = asyncio.Semaphore(self.settings.concurrency)


@dataclass(frozen=True)
class Place:
    """What a reply is for."""

    machine: int
    unit: int
    purpose: str
    position: int
    revision: int
    swapped: bool = False


async def judge(run: Run, who: Sequence[bank.Identity]) -> None:
    """Let every machine judge until there is no work for it; what they hold is freed at the end, however it comes."""
    run.tokens, run.cost = await done(run.store.read(bank.spent))
    enter = lambda connection: [bank.enter(connection, run.served, run.settings, one) for one in who]  # noqa: E731
    numbers: list[int] = await done(run.store.write(enter))
    now, holder = run.served.clock(), machine_runs.new_holder()
    await done(run.store.write(partial(machine_runs.hold, numbers=numbers, holder=holder, now=now)))
    await done(run.store.write(partial(reclaim, served=run.served, machines=numbers, now=now)))
    models = dict(zip(numbers, who, strict=True))
    workers = [asyncio.create_task(_work(run, number, models[number], len(numbers))) for number in numbers]
    work: asyncio.Future[Any] = asyncio.gather(*workers)
    held: asyncio.Future[Any] = asyncio.create_task(_stay(run, numbers, holder))
    try:
        await asyncio.wait({work, held}, return_when=asyncio.FIRST_COMPLETED)
        (work if work.done() else held).result()
    finally:
        run.chat.stopping = True
        tasks = [*workers, held, *run.ahead.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *run.paying, return_exceptions=True)
        for number in numbers:
            if run.store.write(partial(machine_runs.let_go, number=number, holder=holder)).result():
                run.store.write(partial(bank.let_go, machine=number, now=run.served.clock())).result()


async def _stay(run: Run, numbers: Sequence[int], holder: str) -> None:
    """Hold the machines for as long as the run lives."""
    while True:
        await asyncio.sleep(ALIVE_EVERY)
        await done(run.store.write(partial(machine_runs.renew, numbers=numbers, holder=holder, now=run.served.clock())))


async def _work(run: Run, number: int, who: bank.Identity, machines: int) -> None:
    """The steps of one machine, from consent to the last unit."""
    most = max(1, ceil(run.settings.concurrency / machines))
    waited = False
    while True:
        state, page = await done(run.store.read(partial(_look, served=run.served, machine=number)))
        if isinstance(page, ComeBack):
            if waited:
                run.waiting += 1
                return
            waited = True
            await done(run.store.write(partial(expire, now=run.served.clock(), silence=run.served.silence)))
        if isinstance(page, NoWork) or (isinstance(page, Done | Stopped) and not page.more):
            return
        form = await _form(run, number, who, state, page, most)
        sent = {name: (value,) for name, value in form.items()}
        step = partial(take, served=run.served, assessor=number, turn=state.turn, form=sent)
        taken = await done(run.store.write(step))
        if taken is None or taken.outcome == "not taken":
            why = "" if taken is None else taken.page.problem
            raise DataError(f"{who.label}: the session did not take {form} at {state.stage} ({why})")
        if isinstance(page, Judging):
            waited = False


def _look(connection: sa.Connection, served: Served, machine: int) -> tuple[State, Page]:
    state = load(connection, served, machine)
    if state is None:
        raise InputError("this machine's data was deleted", cure="change its settings, or use another database")
    return state, page_of(connection, served, state)


async def _form(run: Run, number: int, who: bank.Identity, state: State, page: Page, most: int) -> Form:
    """What is sent from a page."""
    match page:
        case Judging():
            return await _judgment(run, number, who, state, most)
        case Practice() | QuizPair() | Question():
            return await _at_the_door(run, number, who, state, page)
        case Done() | Stopped():
            return {"action": "more"}
    return {"action": "agree"} if page.kind == "consent" else {}


async def _at_the_door(
    run: Run, number: int, who: bank.Identity, state: State, page: Practice | QuizPair | Question
) -> Form:
    """Answer a question before the work; a model that gives none cannot go on."""
    unit = state.held.unit
    tried = len(state.scratch.get("chosen", [])) + int(state.scratch.get("tried", 0)) + 1
    ask = ask_at_the_door(run.served, page, (number, unit, page.kind, state.position, tried))
    place = Place(number, unit, ask.purpose, state.position, tried)
    held = await done(run.store.read(partial(bank.stored, machine=number, unit=unit, revision=tried)))
    row = await _reply(run, who, ask, place, held.get((ask.purpose, state.position, False), []))
    if row.outcome != READ:
        raise InputError(
            f"{who.label} gave no readable answer to the {ask.purpose} ({row.outcome})", cure="choose another model"
        )
    return dict(row.form)


async def _judgment(run: Run, number: int, who: bank.Identity, state: State, most: int) -> Form:
    """The answer at a place of the unit in hand, once the whole unit was asked about; others are asked meanwhile."""
    revision = state.held.revisions + 1
    if state.position == 1:
        await _ask_ahead(run, number, who, most, state.held.unit)
    task = _asking(run, number, who, state.held.unit, revision)
    while not (await asyncio.wait({task}, timeout=ALIVE_EVERY))[0]:
        await _ask_ahead(run, number, who, most, state.held.unit)
    forms = task.result()
    if state.position == state.held.size:
        run.ahead.pop((number, state.held.unit, revision))
    return forms[state.position]


async def _ask_ahead(run: Run, number: int, who: bank.Identity, most: int, in_hand: int) -> None:
    """Reserve and ask about the next units; a sign of life for those that are held."""
    now = run.served.clock()
    held = await done(run.store.write(lambda connection: reserve_ahead(connection, run.served, number, most, now)))
    for unit in held:
        if unit != in_hand:
            _asking(run, number, who, unit, 1)


def _asking(run: Run, number: int, who: bank.Identity, unit: int, revision: int) -> asyncio.Task[dict[int, Form]]:
    key = (number, unit, revision)
    if key not in run.ahead:
        run.ahead[key] = asyncio.create_task(_ask_unit(run, number, who, unit, revision))
    return run.ahead[key]


@dataclass(frozen=True)
class Material:
    """A unit as it is asked about."""

    topic: Topic
    scale: Scale | None
    items: tuple[Item, ...]
    documents: dict[int, Document]


def material(connection: sa.Connection, served: Served, unit: int) -> Material:
    """Everything a unit shows."""
    row = connection.execute(sa.select(units.c.topic, units.c.scale).where(units.c.number == unit)).one()
    items, documents = served.items(connection, unit), served.documents(connection, unit)
    scale = None if row.scale is None else served.scales[row.scale]
    return Material(served.topic(connection, row.topic), scale, items, documents)


async def _ask_unit(run: Run, number: int, who: bank.Identity, unit: int, revision: int) -> dict[int, Form]:
    """The forms of a unit's places, asked in order."""
    shown = await done(run.store.read(partial(material, served=run.served, unit=unit)))
    held = await done(run.store.read(partial(bank.stored, machine=number, unit=unit, revision=revision)))
    forms: dict[int, Form] = {}
    before: list[tuple[Document, str]] = []
    for item in shown.items:
        rows = []
        for swapped in (False, True) if item.other is not None and run.settings.both_orders else (False,):
            ask = ask_about(run, shown, item, (number, unit), before, swapped=swapped, again=revision > 1)
            place = Place(number, unit, ask.purpose, item.position, revision, swapped)
            rows.append(await _reply(run, who, ask, place, held.get((ask.purpose, item.position, swapped), [])))
        form = forms[item.position] = combined(rows)
        run.places += 1
        run.progress(run.places, run.total)
        if shown.scale is not None and is_relative(shown.scale) and "value" in form:
            before.append((shown.documents[item.doc], form["value"]))
    return forms


def ask_about(
    run: Run,
    shown: Material,
    item: Item,
    whose: Sequence[object],
    before: Sequence[tuple[Document, str]] = (),
    *,
    swapped: bool = False,
    again: bool = False,
) -> Ask:
    """What is asked about one place."""
    place, given = (*whose, item.position), (run.served, run.settings, run.prompts)
    if shown.scale is None or item.other is not None:
        pair = shown.documents[item.doc], shown.documents[item.other or item.doc]
        return ask_pair(*given, shown.topic, pair, place=place, swapped=swapped, again=again)
    document = shown.documents[item.doc]
    return ask_document(*given, shown.scale, shown.topic, document, place=place, before=before, again=again)


def combined(rows: Sequence[Any]) -> Form:
    """The form for a place: the reply in the order that people see, with what the other order gave beside it."""
    row = rows[0]
    seconds = {"active": f"{sum(one.seconds for one in rows):.3f}"}
    if row.outcome != READ:
        return {"unrateable": row.outcome, **seconds}
    form = {**row.form, **seconds}
    if len(rows) > 1 and rows[1].outcome == READ:
        form["swapped"] = rows[1].form.get("preferred", "")
    likely = [one.expected for one in rows if one.expected is not None]
    if likely:
        mean = sum(likely) / len(likely)
        spread = row.spread if len(rows) == 1 else (mean * (1 - mean)) ** 0.5
        form |= {"expected": repr(mean), "spread": repr(spread)}
    return form


async def _reply(run: Run, who: bank.Identity, ask: Ask, place: Place, held: Sequence[Any]) -> Any:
    """The reply for a place: a stored one, else a new one; asked again while it cannot be read, as often as set."""
    row: Any = None
    for attempt in range(1, run.settings.tries + 1):
        row = held[attempt - 1] if attempt <= len(held) else await _pay(run, who, ask, place, attempt)
        if row.outcome in (READ, REJECTED):
            break
    return row


async def _pay(run: Run, who: bank.Identity, ask: Ask, place: Place, attempt: int) -> Any:
    """Ask, and store the reply before anything else is done with it."""
    sent = ask.characters // LETTERS + 1
    most, dearest = sent + run.settings.max_tokens, run.settings.cost(sent, run.settings.max_tokens)
    async with run.slots:
        run.under_way += most
        run.under_way_cost += dearest
        try:
            _refuse_beyond_budget(run)
            task = asyncio.create_task(_asked_and_kept(run, who, ask, place, attempt))
            run.paying.add(task)
            task.add_done_callback(run.paying.discard)
            stored = await asyncio.shield(task)
        finally:
            run.under_way -= most
            run.under_way_cost -= dearest
    run.estimated = run.estimated or stored.estimated
    run.tokens += stored.tokens_in + stored.tokens_out
    run.cost += stored.cost
    return stored


async def _asked_and_kept(run: Run, who: bank.Identity, ask: Ask, place: Place, attempt: int) -> Any:
    """A request that is under way when the run stops is waited for: it is paid for."""
    row = await _asked(run, who, ask, place, attempt)
    return await done(run.store.write(partial(bank.keep, row=row)))


async def _asked(run: Run, who: bank.Identity, ask: Ask, place: Place, attempt: int) -> dict[str, Any]:
    """One request as the row that is kept."""
    settings, seed = run.settings, run.settings.seed
    if seed is not None:
        seed += 1000 * (who.sample - 1) + attempt - 1
    taken: dict[str, Any] = {"text": "", "tokens_in": 0, "tokens_out": 0, "estimated": False, "seconds": 0.0}
    taken["model"] = who.model
    try:
        reply = await run.chat.ask(who.model, ask.messages, ask.schema, seed)
    except Rejected as error:
        works = place.machine in run.working
        if not works and not await done(run.store.read(partial(bank.any_read, machine=place.machine))):
            raise InputError(
                f"{settings.endpoint} does not take the first request: {error}", cure="look at --model and [machine]"
            ) from None
        reading, taken["text"] = Reading(REJECTED, {}), str(error)
    else:
        reading = read_reply(ask, reply)
        taken |= {name: getattr(reply, name) for name in taken}
        taken["text"] = reply.refusal or reply.text
        if reading.outcome == READ:
            run.working.add(place.machine)
    return {
        "assessor": place.machine,
        "unit": place.unit,
        "purpose": place.purpose,
        "position": place.position,
        "revision": place.revision,
        "swapped": place.swapped,
        "attempt": attempt,
        "outcome": reading.outcome,
        "form": reading.form,
        "expected": reading.expected,
        "spread": reading.spread,
        "prompt": ask.prompt.hash,
        "cost": settings.cost(taken["tokens_in"], taken["tokens_out"]),
        "at": run.served.clock(),
        **taken,
    }


def _refuse_beyond_budget(run: Run) -> None:
    """Stop before a request that could go beyond the budget, those under way counted at their longest."""
    settings = run.settings
    again = "raise it to go on where it stopped"
    if settings.budget_tokens is not None and run.tokens + run.under_way > settings.budget_tokens:
        used = f"{run.tokens:,} of the budget of {settings.budget_tokens:,} tokens are used"
        raise BudgetReached(f"{used}, and the next requests could take up to {run.under_way:,}; {again}")
    if settings.budget is not None and run.cost + run.under_way_cost > settings.budget + 1e-12:
        used = f"{price(run.cost)} of the budget of {price(settings.budget)} {settings.currency} is used"
        raise BudgetReached(f"{used}, and the next requests could cost up to {price(run.under_way_cost)}; {again}")


def note_assumptions(run: Run) -> None:
    """What the figures of a run rest on."""
    if run.estimated:
        note("the server counts no tokens; they are estimated at four characters each")
    if run.settings.samples > 1 and run.settings.temperature == 0:
        note("samples at temperature 0 are nearly the same; set machine.temperature above 0 to see how replies vary")
