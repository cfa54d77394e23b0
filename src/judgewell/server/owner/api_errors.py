"""Errors of the API as JSON: one line in `detail`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

DETAILS = {
    401: "a valid token is needed: Authorization: Bearer jw_…; make one with judgewell account STUDY token NAME",
    403: "the token does not have the scope for this; make one with --scope write",
    429: "too many requests; wait a little",
    503: "the database is away; nothing was done, try again",
}


class Problem(Exception):
    """A request to the API that is refused."""

    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail


def speak_json(app: FastAPI, prefix: str) -> None:
    """Let every refusal under the prefix be JSON; elsewhere it stays a page."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(400, _bad)
    for kind, handler in list(app.exception_handlers.items()):
        if kind not in (Problem, RequestValidationError, 400):
            app.add_exception_handler(kind, _either(handler, prefix))


def _either(page: Callable[[Request, Any], Any], prefix: str) -> Callable[[Request, Exception], Any]:
    async def respond(request: Request, error: Exception) -> Response:
        shown = page(request, error)
        response: Response = await shown if inspect.isawaitable(shown) else shown
        if not request.url.path.startswith(f"{prefix}/"):
            return response
        detail = DETAILS.get(response.status_code) or HTTPStatus(response.status_code).phrase.lower()
        if isinstance(error, HTTPException) and error.status_code not in DETAILS:
            detail = str(error.detail)
        return refusal(response.status_code, detail, _carried(response))

    return respond


def _carried(response: Response) -> dict[str, str]:
    """The headers that mean something to a program."""
    names = ("retry-after", "www-authenticate", "allow")
    return {name: response.headers[name] for name in names if name in response.headers}


def _problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return refusal(error.status, error.detail)


def _bad(_: Request, error: Exception) -> Response:
    return refusal(400, str(getattr(error, "detail", "the request cannot be read")))


def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return refusal(422, f"{where}: {first['msg']}" if where else str(first["msg"]))


def refusal(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    plain = detail.encode("utf-8", "replace").decode()
    return JSONResponse({"detail": plain}, status, headers)
