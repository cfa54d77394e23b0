"""The owner's side as JSON under /api/v1, for scripts and notebooks; /openapi.json describes it.

Every request carries a token of an owner's account (`judgewell account STUDY token NAME`), with the scope `read`, or
`write` for actions. Times are seconds since 1970, UTC.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import polars as pl
import sqlalchemy as sa
from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from judgewell.errors import InputError
from judgewell.server.judging.invitations import Invitation, invite, refuse_rehearsal
from judgewell.server.owner.access import Account, AuditEntry, audit_entries, bearer, record_request, require
from judgewell.server.owner.actions import ACTIONS, Action, Fields, perform
from judgewell.server.owner.api_errors import Problem
from judgewell.server.owner.live_analysis import Insight
from judgewell.server.owner.live_cache import Computed
from judgewell.server.owner.review import ReviewProgress, review_progress
from judgewell.server.process import Server, address_of, done
from judgewell.server.queries.export import defused
from judgewell.server.queries.history import AssessorRow, Trail, assessor_rows, find_assessor, trail
from judgewell.server.queries.money import MoneyDetails, money_details
from judgewell.server.queries.money import money as money_of
from judgewell.server.queries.progress import (
    Overview,
    TopicRow,
    UnitRow,
    Working,
    answers_stamp,
    overview,
    topic_rows,
    unit_rows,
    working,
)
from judgewell.server.queries.standing_answers import counting, judgments_frame, pairs_frame
from judgewell.server.queries.status import Status, remaining_completions, status, topic_progress
from judgewell.server.session.served import study_row
from judgewell.server.web import Refusal

T = TypeVar("T")

PREFIX = "/api/v1"
LARGEST_NUMBER = 2**53  # what JSON and both databases hold
MOST_ROWS = 10_000
KINDS = {"json": "application/json", "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}

Id = Annotated[str, Path(max_length=1000)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="The most rows.")]
Offset = Annotated[int, Query(ge=0, le=LARGEST_NUMBER, description="Rows to pass over.")]
Form = Annotated[Literal["json", "csv", "parquet"], Query(alias="format", description="What the table comes as.")]
All = Annotated[
    bool,
    Query(
        alias="all", description="Also of excluded, failed, abandoned and unfinished units, with the column `ending`."
    ),
]


class ErrorDetail(BaseModel):
    """What is wrong, in one line."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"detail": "there is no topic '9'; take its id …"}]})

    detail: str


REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorDetail, "description": "No token, or one that is unknown, expired or revoked."},
    403: {"model": ErrorDetail, "description": "The token lacks the scope, or its account is not an owner's."},
    422: {"model": ErrorDetail, "description": "A value breaks a rule; the detail says which."},
    429: {"model": ErrorDetail, "description": "Too many requests; Retry-After says when to come again."},
    503: {"model": ErrorDetail, "description": "The database is away; nothing was done."},
}
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorDetail, "description": "There is no such thing."}}
REFUSED_BODY: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorDetail, "description": "The body is not JSON."},
    413: {"model": ErrorDetail, "description": "The body is larger than any action needs."},
}
TABLE: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in KINDS.values()}, "description": "The table."}
}


class About(BaseModel):
    """The study."""

    name: str
    title: str
    hash: str = Field(description="The hash of the study's settings and files; it changes when they do.")
    begun: float | None = Field(description="When the first judgment came in; from then on the study is frozen.")
    settings: dict[str, Any]


class Computing(BaseModel):
    """What was computed last, and whether something newer is on its way."""

    busy: bool
    insight: Insight | None


class Invitations(BaseModel):
    """Whom to invite."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"labels": ["Ann", "Ben"]}]})

    labels: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(min_length=1, max_length=2000)


class Done(BaseModel):
    """What an action did."""

    action: str
    result: dict[str, Any]


class Known(BaseModel):
    """An action there is."""

    name: str
    help: str
    fields: dict[str, Any] = Field(description="The JSON schema of what it takes.")


def guarded(server: Server) -> type[APIRoute]:
    """Routes that let nobody in without an owner's token, before anything of the request is read."""

    class Guarded(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def respond(request: Request) -> Response:
                account = await bearer(server, request, "read" if request.method == "GET" else "write")
                if account.role != "owner":
                    raise Problem(403, f"the token is {account.name}'s, a {account.role}; use an owner's")
                request.state.account = account
                return await handler(request)

            return respond

    return Guarded


@dataclass(frozen=True)
class Asked:
    """A server and how its API reads from it."""

    server: Server

    async def read(self, job: Callable[[sa.Connection], T]) -> T:
        return await done(self.server.store.read(job))

    async def table(self, make: Callable[[sa.Connection], pl.DataFrame], form: str) -> Response:
        """A whole table, made in a thread of its own so that judging goes on."""

        def made() -> bytes:
            with self.server.store.snapshot() as connection:
                return written(make(connection), form)

        return Response(await asyncio.to_thread(made), media_type=KINDS[form])


def router(server: Server, computed: Computed) -> APIRouter:
    """The API."""
    token = Depends(HTTPBearer(auto_error=False, description="A token of an owner's account."))  # for the description
    routes = APIRouter(prefix=PREFIX, responses=REFUSALS, route_class=guarded(server), dependencies=[token])
    asked = Asked(server)
    _add_study(routes, asked, computed)
    _add_people(routes, asked)
    _add_tables(routes, asked)
    _add_acting(routes, asked)
    return routes


def description(server: Server) -> APIRouter:
    """The description of the API, for holders of a token and signed-in owners."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/openapi.json")
    async def described(request: Request) -> JSONResponse:
        if "authorization" not in request.headers:
            await require(server, request)
        elif (await bearer(server, request, "read")).role != "owner":
            raise Refusal(403, "link")
        return JSONResponse(request.app.openapi())

    return routes


def _add_study(routes: APIRouter, asked: Asked, computed: Computed) -> None:
    served, clock = asked.server.served, asked.server.served.clock

    @routes.get("/study", tags=["study"], summary="The study and its settings")
    async def about() -> About:
        row = await asked.read(study_row)
        settings = row.frozen["settings"]
        return About(name=row.name, title=served.title, hash=row.hash, begun=row.first_judgment, settings=settings)

    @routes.get("/status", tags=["study"], summary="Progress, checks and cost, as judgewell status shows them")
    async def state() -> Status:
        return await asked.read(lambda connection: status(connection, clock()))

    @routes.get("/overview", tags=["study"], summary="The study at a glance, with pace and money")
    async def glance() -> Overview:
        return await asked.read(lambda connection: overview(connection, served, clock()))

    @routes.get("/money", tags=["study"], summary="Cost, budget, spending over time and pay for an hour")
    async def money() -> MoneyDetails:
        pay = served.study.pay

        def find(connection: sa.Connection) -> MoneyDetails:
            now = clock()
            spent = money_of(connection, pay, remaining_completions(connection, now))
            return money_details(connection, pay, spent, now)

        return await asked.read(find)

    @routes.get("/topics", tags=["study"], summary="Progress of each topic")
    async def all_topics() -> list[TopicRow]:
        return await asked.read(lambda connection: topic_rows(connection, topic_progress(connection, clock())))

    @routes.get("/topics/{topic:path}/units", tags=["study"], summary="The units of a topic", responses=NOT_FOUND)
    async def all_units(topic: Id) -> list[UnitRow]:
        sayable(topic)
        rows = await asked.read(lambda connection: unit_rows(connection, topic, clock()))
        if not rows:
            raise Problem(404, f"there is no topic {topic!r} with units")
        return rows

    @routes.get("/insight", tags=["study"], summary="Agreement, stability, documents and assessors to look at")
    async def insight() -> Computing:
        """Computed apart from judging, in the background: ask again where `busy` is true."""
        stamp = await asked.read(answers_stamp)
        return Computing(insight=computed.look(stamp), busy=computed.busy)


def _add_people(routes: APIRouter, asked: Asked) -> None:
    server, clock = asked.server, asked.server.served.clock

    @routes.get("/working", tags=["people"], summary="Who is working now")
    async def who_works() -> list[Working]:
        return await asked.read(lambda connection: working(connection, clock()))

    @routes.get("/assessors", tags=["people"], summary="All assessors, in the order in which they came")
    async def everybody(limit: Limit = 1000, offset: Offset = 0) -> list[AssessorRow]:
        rows = await asked.read(lambda connection: assessor_rows(connection, clock()))
        return rows[offset : offset + limit]

    @routes.get("/assessors/{pseudonym}", tags=["people"], summary="All an assessor did", responses=NOT_FOUND)
    async def one(pseudonym: Id) -> Trail:
        sayable(pseudonym)

        def find(connection: sa.Connection) -> Trail | None:
            number = find_assessor(connection, pseudonym)
            return None if number is None else trail(connection, number, clock())

        history = await asked.read(find)
        if history is None:
            raise Problem(404, f"there is no assessor {pseudonym!r}")
        return history

    @routes.post("/invitations", tags=["people"], status_code=201, summary="New invite links", responses=REFUSED_BODY)
    async def invitations(request: Request, wanted: Invitations) -> list[Invitation]:
        account: Account = request.state.account
        sayable(wanted.labels)
        try:
            await asyncio.to_thread(refuse_rehearsal, server.store)
        except InputError as error:
            raise Problem(422, str(error)) from None
        made = await asyncio.to_thread(invite, server.store, server.served, wanted.labels)
        await record_request(server, request, account, "invite", count=sum(one.new for one in made))
        return made

    @routes.get("/reviews", tags=["people"], summary="How far the review of comments is, and how reviewers agree")
    async def reviews() -> ReviewProgress | None:
        """Nothing where the study asks for no review."""
        return await asked.read(lambda connection: review_progress(connection, server.served))

    @routes.get("/audit", tags=["people"], summary="What owners did, newest first")
    async def log(
        limit: Limit = 100,
        before: Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER, description="Only lines before this one.")] = None,
    ) -> list[AuditEntry]:
        return await asked.read(lambda connection: audit_entries(connection, limit, before))


def _add_tables(routes: APIRouter, asked: Asked) -> None:
    clock = asked.server.served.clock

    @routes.get("/judgments", tags=["tables"], summary="The judgments table", responses=TABLE, response_class=Response)
    async def judgments(form: Form = "json", everything: All = False) -> Response:
        return await asked.table(lambda connection: kept(judgments_frame(connection, clock()), everything), form)

    @routes.get("/pairs", tags=["tables"], summary="The pairs table", responses=TABLE, response_class=Response)
    async def pairs(form: Form = "json", everything: All = False) -> Response:
        return await asked.table(lambda connection: kept(pairs_frame(connection, clock()), everything), form)


def _add_acting(routes: APIRouter, asked: Asked) -> None:
    @routes.get("/actions", tags=["actions"], summary="What can be done")
    async def known() -> list[Known]:
        return [
            Known(name=action.name, help=action.help, fields=action.fields.model_json_schema())
            for action in ACTIONS.values()
        ]

    for action in ACTIONS.values():
        routes.add_api_route(
            f"/actions/{action.name}",
            _acting(asked, action),
            methods=["POST"],
            tags=["actions"],
            summary=action.help,
            responses=REFUSED_BODY,
            name=action.name,
        )


def _acting(asked: Asked, action: Action) -> Callable[..., Any]:
    """The route of one action; its fields are the body."""

    async def act(request: Request, fields: Fields) -> Done:
        account: Account = request.state.account
        sayable(fields.model_dump())
        server, address = asked.server, address_of(request)
        try:
            result = await asyncio.to_thread(perform, server.store, server.served, action, fields, account, address)
        except InputError as error:
            raise Problem(422, str(error)) from None
        return Done(action=action.name, result=result)

    act.__annotations__ = {"request": Request, "fields": action.fields, "return": Done}
    return act


def kept(frame: pl.DataFrame, everything: bool) -> pl.DataFrame:
    """The rows of completed units, or all with how each unit ended."""
    return frame if everything else counting(frame)


def written(frame: pl.DataFrame, form: str) -> bytes:
    """A table as bytes."""
    if form == "parquet":
        place = io.BytesIO()
        frame.write_parquet(place)
        return place.getvalue()
    return (defused(frame).write_csv() if form == "csv" else frame.write_json()).encode()


def sayable(value: Any) -> None:
    """Refuse what no database holds: text with a NUL or half a character, numbers beyond 2^53."""
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise Problem(422, "a text holds a NUL or half a character; send plain Unicode")
    elif isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
        raise Problem(422, f"{value} is too large a number; the largest is {LARGEST_NUMBER}")
    elif isinstance(value, Mapping):
        for one in value.values():
            sayable(one)
    elif isinstance(value, list | tuple):
        for one in value:
            sayable(one)
