"""The owner's pages: how the study goes, who judges, which documents are unclear, what it costs.

Every page is whole without scripts. With the header `X-Fragment` it is its inside alone, which an open page asks for
every few seconds; where nothing changed the answer is 304.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from judgewell.agreement.unusual import Person
from judgewell.server.bundles import files, lasting
from judgewell.server.judging.invitations import is_rehearsal, open_links
from judgewell.server.owner import figures as drawn
from judgewell.server.owner.access import audit_entries, require
from judgewell.server.owner.action_routes import show
from judgewell.server.owner.invite_routes import MOST, base_address, join_address
from judgewell.server.owner.live_analysis import Document, Insight
from judgewell.server.owner.live_cache import Computed
from judgewell.server.owner.pages import Column, listing, whole_number
from judgewell.server.process import Server, done
from judgewell.server.queries import progress
from judgewell.server.queries.endings import failed_units
from judgewell.server.queries.history import AssessorRow, assessor_rows, trail
from judgewell.server.queries.machines import MachineRow, machine_rows
from judgewell.server.queries.money import money_details, paid_units, shares
from judgewell.server.queries.progress import TopicRow
from judgewell.server.queries.status import check_results, topic_progress
from judgewell.server.session.served import Served
from judgewell.server.web import Refusal

Values = dict[str, Any]

TOPICS = (
    Column("topic", "topic", lambda row: row.progress.topic),
    Column("done", "completed", lambda row: row.progress.completed / max(row.progress.needed, 1), True),
    Column("live", "in progress", lambda row: row.progress.in_progress, True),
    Column("units", "units", lambda row: row.progress.units, True),
    Column("failed", "failed", lambda row: row.progress.failed, True),
    Column("expired", "abandoned", lambda row: row.progress.abandoned, True),
    Column("excluded", "excluded", lambda row: row.progress.excluded, True),
)
UNITS = (
    Column("unit", "unit", lambda row: row.number),
    Column("done", "completed", lambda row: row.done / max(row.need, 1), True),
    Column("live", "in progress", lambda row: row.in_progress, True),
    Column("size", "places", lambda row: row.size, True),
    Column("failed", "failed", lambda row: row.failed, True),
    Column("expired", "abandoned", lambda row: row.abandoned, True),
    Column("excluded", "excluded", lambda row: row.excluded, True),
)
ASSESSORS = (
    Column("assessor", "assessor", lambda pair: pair[0].pseudonym),
    Column("signs", "evidence", lambda pair: _signs(*pair), True),
    Column("done", "completed", lambda pair: pair[0].done, True),
    Column("failed", "failed", lambda pair: pair[0].failed, True),
    Column("abandoned", "abandoned", lambda pair: pair[0].abandoned, True),
    Column("seconds", "median time", lambda pair: pair[1].seconds if pair[1] else None, True),
    Column("alike", "pairs like others", lambda pair: pair[1].alike if pair[1] else None, True),
    Column("known", "known failed", lambda pair: pair[1].known_failed if pair[1] else None, True),
    Column("moved", "last step", lambda pair: None if pair[0].unopened else pair[0].moved, True),
)
INVITED = (
    Column("label", "name", lambda pair: pair[0].label),
    Column("number", "link", lambda pair: pair[0].number),
    Column("stage", "now", lambda pair: pair[0].stage),
    Column("done", "completed", lambda pair: pair[0].done, True),
)
DOCUMENTS = (
    Column("doc", "document", lambda row: (row.topic, row.doc)),
    Column("judgments", "judgments", lambda row: row.judgments, True),
    Column("gain", "gain", lambda row: row.gain, True),
    Column("spread", "spread", lambda row: row.spread, True),
    Column("unsure", "uncertainty", lambda row: row.unsure, True),
)


@dataclass(frozen=True)
class Look:
    """A request for a page of the dashboard: what was asked for, and the data to answer it from."""

    served: Served
    request: Request
    connection: sa.Connection
    now: float
    latest: Insight | None

    def overview(self) -> progress.Overview:
        return progress.overview(self.connection, self.served, self.now)

    def topics(self) -> list[TopicRow]:
        return progress.topic_rows(self.connection, topic_progress(self.connection, self.now))


Read = Callable[[Look], Values]


def router(server: Server, computed: Computed) -> APIRouter:
    """Where the owner looks."""
    routes = APIRouter(include_in_schema=False)

    def page(name: str, read: Read) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            account = await require(server, request)
            now = server.served.clock()

            def job(connection: sa.Connection) -> tuple[Values, str]:
                look = Look(server.served, request, connection, now, computed.latest)
                return read(look), progress.answers_stamp(connection)

            values, stamp = await done(server.store.read(job))
            return show(server, request, account, name, values | _computed(computed, stamp))

        return answer

    for path, (name, read) in PAGES.items():
        routes.add_route(path, page(name, read), ["GET"])
    routes.add_route("/owner/static/{name}", static, ["GET"])
    routes.add_route("/owner/", lambda _: RedirectResponse("/owner", 308), ["GET"])
    return routes


async def static(request: Request) -> Response:
    """The style sheet and scripts of these pages, which hold nothing of the study."""
    name = request.path_params["name"]
    if name not in files("owner"):
        raise Refusal(404, "link")
    return lasting(files("owner")[name], name.rpartition(".")[2])


def _overview(look: Look) -> Values:
    glance = look.overview()
    rows = progress.topic_rows(look.connection, glance.topics)
    split = sorted(_split(look), key=lambda row: -(row.spread or 0.0))[:3]
    return {
        "glance": glance,
        "rehearsal": is_rehearsal(look.connection),
        "least": sorted(rows, key=lambda row: row.progress.completed / max(row.progress.needed, 1))[:8],
        "working": progress.working(look.connection, look.now),
        "chart": drawn.done_chart(glance.bars),
        "failures": progress.failures(look.connection, 5),
        "titles": {row.progress.topic: row.title for row in rows},
        "split": split,
        "texts": _texts(look, split),
    }


def _topics(look: Look) -> Values:
    words: Callable[[TopicRow], str] = lambda row: f"{row.progress.topic} {row.title}"  # noqa: E731
    return {"table": listing(look.request, look.topics(), TOPICS, words, sort="topic")}


def _topic(look: Look) -> Values:
    wanted = look.request.query_params.get("topic")
    row = next((row for row in look.topics() if row.progress.topic == wanted), None)
    if row is None:
        raise Refusal(404, "link")
    units = progress.unit_rows(look.connection, row.progress.topic, look.now)
    shown = listing(look.request, units, UNITS, lambda row: f"{row.unit} {row.scale or ''}", sort="unit")
    parts = look.served.topic(look.connection, row.progress.topic).parts
    return {"topic": row, "table": shown, "parts_shown": parts}


def _assessors(look: Look) -> Values:
    known = {person.assessor: person for person in look.latest.assessors} if look.latest else {}
    pairs = [(row, known.get(row.pseudonym)) for row in assessor_rows(look.connection, look.now)]
    shown = listing(look.request, pairs, ASSESSORS, _assessor_words, sort="signs", down=True)
    failed = failed_units(look.connection)
    return {"table": shown, "pay": look.served.study.pay, "machines": _machines(look), "failed": failed}


def _signs(row: AssessorRow, person: Person | None) -> int:
    """How many pieces of evidence there are; failed units are one."""
    return (len(person.evidence) if person else 0) + (row.failed > 0)


def _machines(look: Look) -> dict[int, MachineRow]:
    return {row.number: row for row in machine_rows(look.connection, look.now)}


def _assessor(look: Look) -> Values:
    number = whole_number(look.request.path_params["number"])
    history = None if number is None else trail(look.connection, number, look.now)
    if history is None:
        raise Refusal(404, "link")
    people = look.latest.assessors if look.latest else ()
    person = next((one for one in people if one.assessor == history.who.pseudonym), None)
    titles = progress.topic_titles(look.connection)
    machine = _machines(look).get(history.who.number)
    study = look.served.study
    failed = failed_units(look.connection).get(history.who.number, [])
    shown = {"trail": history, "person": person, "titles": titles, "machine": machine, "failed": failed}
    return {**shown, "pay": study.pay, "is_paid": study.platform.pays(history.who.origin)}


def _invitations(look: Look) -> Values:
    links = open_links(look.connection, look.served)
    people = [row for row in assessor_rows(look.connection, look.now) if row.number in links]
    base, platform = base_address(look.request), look.served.study.platform
    rows = [(row, base + links[row.number].path) for row in reversed(people)]
    table = listing(
        look.request, rows, INVITED, lambda pair: f"{pair[0].label} {pair[0].pseudonym}", sort="number", down=True
    )
    return {"table": table, "platform": platform, "join": join_address(base, platform), "most": MOST}


def _documents(look: Look) -> Values:
    everything = look.request.query_params.get("only") == "all"
    rows = look.latest.documents if everything and look.latest else _split(look)
    table = listing(
        look.request, rows, DOCUMENTS, lambda row: f"{row.topic} {row.doc} {row.scale}", sort="spread", down=True
    )
    titles, texts = progress.topic_titles(look.connection), _texts(look, table.rows)
    return {"table": table, "titles": titles, "texts": texts, "everything": everything}


def _split(look: Look) -> list[Document]:
    """The documents on which assessors are unusually far apart."""
    return [row for row in look.latest.documents if row.split] if look.latest else []


def _texts(look: Look, rows: Iterable[Document]) -> dict[str, tuple[str, str]]:
    """The titles and texts of documents, by their id."""
    return progress.document_texts(look.connection, [row.doc for row in rows])


def _checks(look: Look) -> Values:
    return {
        "checks": check_results(look.connection),
        "charts": drawn.check_charts(progress.check_bars(look.connection)),
        "failures": progress.failures(look.connection),
    }


def _money(look: Look) -> Values:
    glance = look.overview()
    pay = look.served.study.pay
    details = money_details(look.connection, pay, glance.money, look.now)
    titles = progress.topic_titles(look.connection)
    charts = drawn.money_charts(details)
    left = [max(one.needed - one.completed, 0) for one in glance.topics]
    paid = paid_units(look.connection, look.now)
    units = [paid.get(one.topic, 0) for one in glance.topics]
    so_far = shares(glance.money.so_far, units)
    to_come = shares(pay.with_fee(sum(left) * pay.amount), left)
    by_topic = list(zip(glance.topics, units, so_far, to_come, strict=True))
    shown = {"m": glance.money, "details": details, "charts": charts, "pay": pay, "titles": titles}
    return {**shown, "by_topic": by_topic, "pays_invited": look.served.study.platform.pays("invite")}


def _log(look: Look) -> Values:
    return {"entries": audit_entries(look.connection, 100, whole_number(look.request.query_params.get("before", "")))}


PAGES: dict[str, tuple[str, Read]] = {
    "/owner": ("overview", _overview),
    "/owner/topics": ("topics", _topics),
    "/owner/topic": ("topic", _topic),
    "/owner/assessors": ("assessors", _assessors),
    "/owner/assessors/{number}": ("assessor", _assessor),
    "/owner/invitations": ("invitations", _invitations),
    "/owner/documents": ("documents", _documents),
    "/owner/checks": ("checks", _checks),
    "/owner/money": ("money", _money),
    "/owner/log": ("log", _log),
}


def _computed(computed: Computed, stamp: str) -> Values:
    """What was computed, which every page shows, with a newer one on its way where there is news."""
    insight = computed.look(stamp)
    return {
        "insight": insight,
        "computing": computed.busy and insight is None,
        "trouble": computed.trouble,
        "settling": drawn.settling_charts(insight) if insight else [],
        "times": drawn.time_charts(insight.times) if insight else [],
    }


def _assessor_words(pair: tuple[AssessorRow, Person | None]) -> str:
    row, person = pair
    signs = " ".join(evidence.kind for evidence in person.evidence) if person else ""
    words = (row.pseudonym, row.label, row.origin, row.kind, row.stage, signs, "excluded" if row.excluded_for else "")
    return " ".join(words)
