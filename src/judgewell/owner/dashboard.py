"""The owner's pages: how the study goes, who judges, which documents are unclear, what it costs.

Every page is whole without scripts. With the header `X-Fragment` it is its inside alone, which an open page asks for
every few seconds; where nothing changed the answer is 304.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from judgewell.collect.server import Server, done
from judgewell.collect.web import Refusal
from judgewell.owner import drawn, progress
from judgewell.owner.access import Account, audit_entries, guard, require
from judgewell.owner.acting import told
from judgewell.owner.computed import Computed
from judgewell.owner.insight import Document, Insight
from judgewell.owner.progress import TopicRow, UnitRow
from judgewell.owner.suspicion import Person
from judgewell.owner.trail import AssessorRow, assessor_rows, trail
from judgewell.owner.views import Column, Listing, listing, own_files, respond

KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
Values = dict[str, Any]
Read = Callable[[sa.Connection, float], Values]

TOPICS = (
    Column("topic", "topic", lambda row: row.progress.topic),
    Column("units", "units", lambda row: row.progress.units, True),
    Column("complete", "complete", lambda row: row.progress.complete, True),
    Column("done", "done", lambda row: row.progress.done / max(row.progress.needed, 1), True),
    Column("live", "in hand", lambda row: row.progress.live, True),
    Column("late", "late", lambda row: row.progress.late, True),
    Column("failed", "failed", lambda row: row.progress.failed, True),
    Column("expired", "abandoned", lambda row: row.progress.expired, True),
)
UNITS = (
    Column("unit", "unit", lambda row: row.number),
    Column("size", "places", lambda row: row.size, True),
    Column("done", "done", lambda row: row.done / max(row.need, 1), True),
    Column("live", "in hand", lambda row: row.in_hand, True),
    Column("late", "late", lambda row: row.late, True),
    Column("failed", "failed", lambda row: row.failed, True),
    Column("expired", "abandoned", lambda row: row.abandoned, True),
)
ASSESSORS = (
    Column("assessor", "assessor", lambda pair: pair[0].pseudonym),
    Column("signs", "evidence", lambda pair: len(pair[1].evidence) if pair[1] else 0, True),
    Column("done", "done", lambda pair: pair[0].done, True),
    Column("failed", "failed", lambda pair: pair[0].failed, True),
    Column("abandoned", "abandoned", lambda pair: pair[0].abandoned, True),
    Column("seconds", "median time", lambda pair: pair[1].seconds if pair[1] else None, True),
    Column("tau", "τ with others", lambda pair: pair[1].tau if pair[1] else None, True),
    Column("known", "known failed", lambda pair: pair[1].known_failed if pair[1] else None, True),
    Column("moved", "last step", lambda pair: pair[0].moved, True),
)
DOCUMENTS = (
    Column("doc", "document", lambda row: (row.topic, row.doc)),
    Column("judgments", "judgments", lambda row: row.judgments, True),
    Column("gain", "gain", lambda row: row.gain, True),
    Column("spread", "spread", lambda row: row.spread, True),
    Column("unsure", "unsure", lambda row: row.unsure, True),
)


def router(server: Server, computed: Computed) -> APIRouter:
    """Where the owner looks."""
    routes = APIRouter(include_in_schema=False)
    served = server.served

    async def page(request: Request, name: str, read: Read) -> Response:
        account = await require(server, request)
        now = served.clock()
        values, stamp = await done(
            server.store.read(lambda connection: (read(connection, now), progress.answers_stamp(connection)))
        )
        return respond(
            request, name, values | _common(server, account, computed, stamp) | {"told": told(server, request)}
        )

    @routes.get("/owner/static/{name}")
    async def static(name: str) -> Response:
        """The style sheet and scripts of these pages, which hold nothing of the study."""
        if name not in own_files():
            raise Refusal(404, "link")
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(own_files()[name], media_type=KINDS[name.rpartition(".")[2]], headers=headers)

    @routes.get("/owner")
    async def overview(request: Request) -> Response:
        def read(connection: sa.Connection, now: float) -> Values:
            found = progress.overview(connection, served, now)
            rows = progress.topic_rows(connection, found.topics)
            least = sorted(rows, key=lambda row: row.progress.done / max(row.progress.needed, 1))[:8]
            working = progress.working(connection, now)
            return {"found": found, "least": least, "working": working, "chart": drawn.done_chart(found.bars)}

        return await page(request, "overview", read)

    @routes.get("/owner/topics")
    async def topics(request: Request) -> Response:
        def read(connection: sa.Connection, now: float) -> Values:
            rows = progress.topic_rows(connection, progress.overview(connection, served, now).topics)
            return {"table": listing(request, rows, TOPICS, _topic_words, sort="topic")}

        return await page(request, "topics", read)

    @routes.get("/owner/topic")
    async def topic(request: Request) -> Response:
        def read(connection: sa.Connection, now: float) -> Values:
            rows = progress.topic_rows(connection, progress.overview(connection, served, now).topics)
            found = next((row for row in rows if row.progress.topic == request.query_params.get("topic")), None)
            if found is None:
                raise Refusal(404, "link")
            units = progress.unit_rows(connection, found.progress.topic, now)
            shown = listing(request, units, UNITS, _unit_words, sort="unit")
            return {"topic": found, "table": shown, "parts_shown": served.topic(connection, found.progress.topic).parts}

        return await page(request, "topic", read)

    @routes.get("/owner/assessors")
    async def assessors(request: Request) -> Response:
        def read(connection: sa.Connection, _: float) -> Values:
            return {"table": _assessors(request, assessor_rows(connection), computed.latest), "pay": served.study.pay}

        return await page(request, "assessors", read)

    @routes.get("/owner/assessors/{number}")
    async def assessor(request: Request, number: str) -> Response:
        def read(connection: sa.Connection, _: float) -> Values:
            found = (
                trail(connection, int(number)) if number.isascii() and number.isdigit() and len(number) < 12 else None
            )
            if found is None:
                raise Refusal(404, "link")
            return {"trail": found, "person": _person(computed.latest, found.who.pseudonym), "pay": served.study.pay}

        return await page(request, "assessor", read)

    @routes.get("/owner/documents")
    async def documents(request: Request) -> Response:
        def read(*_: object) -> Values:
            found = computed.latest
            rows = found.documents if found else ()
            if request.query_params.get("only") == "split":
                rows = tuple(row for row in rows if row.split)
            return {"table": listing(request, rows, DOCUMENTS, _document_words, sort="unsure", down=True)}

        return await page(request, "documents", read)

    @routes.get("/owner/checks")
    async def checks(request: Request) -> Response:
        def read(connection: sa.Connection, now: float) -> Values:
            return {
                "checks": progress.overview(connection, served, now).checks,
                "charts": drawn.check_charts(progress.check_bars(connection)),
                "failures": progress.failures(connection),
            }

        return await page(request, "checks", read)

    @routes.get("/owner/money")
    async def money(request: Request) -> Response:
        def read(connection: sa.Connection, now: float) -> Values:
            found = progress.overview(connection, served, now)
            return {"found": found, "m": progress.priced(connection, found.money), "pay": served.study.pay}

        return await page(request, "money", read)

    @routes.get("/owner/log")
    async def log(request: Request) -> Response:
        def read(connection: sa.Connection, _: float) -> Values:
            before = request.query_params.get("before", "")
            last = int(before) if before.isascii() and before.isdigit() and len(before) < 12 else None
            return {"entries": audit_entries(connection, 100, last)}

        return await page(request, "log", read)

    @routes.get("/owner/")
    async def slash() -> Response:
        return RedirectResponse("/owner", 308)

    return routes


def _common(server: Server, account: Account, computed: Computed, stamp: str) -> Values:
    """What every page shows: who looks, and what was computed, with a newer one on its way where there is news."""
    found = computed.look(stamp)
    return {
        "study": server.served.title,
        "account": account,
        "guard": guard(server, account),
        "insight": found,
        "computing": computed.busy and (found is None),
        "trouble": computed.trouble,
        "settling": drawn.settling_charts(found) if found else [],
        "times": drawn.time_charts(found.times) if found else [],
    }


def _topic_words(row: TopicRow) -> str:
    return f"{row.progress.topic} {row.title}"


def _unit_words(row: UnitRow) -> str:
    return f"{row.unit} {row.scale or ''}"


def _document_words(row: Document) -> str:
    return f"{row.topic} {row.doc} {row.scale}"


def _assessor_words(pair: tuple[AssessorRow, Person | None]) -> str:
    row, person = pair
    signs = " ".join(evidence.kind for evidence in person.evidence) if person else ""
    return f"{row.pseudonym} {row.label} {row.origin} {row.stage} {signs} {'left out' if row.left_out else ''}"


def _assessors(request: Request, rows: list[AssessorRow], found: Insight | None) -> Listing:
    known = {person.assessor: person for person in found.assessors} if found else {}
    pairs = [(row, known.get(row.pseudonym)) for row in rows]
    return listing(request, pairs, ASSESSORS, _assessor_words, sort="signs", down=True)


def _person(found: Insight | None, pseudonym: str) -> Person | None:
    return next((person for person in found.assessors if person.assessor == pseudonym), None) if found else None
