"""A running server from a notebook: `Client(address, token).judgments()` is the judgments table."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from judgewell.errors import InputError, JudgewellError

if TYPE_CHECKING:
    import polars as pl

TRIES = 3  # of a question; an action is sent once, unless the server said that nothing was done
LONGEST_WAIT = 10.0  # seconds between two tries


class Client:
    """The API of one server, with an owner's token (`judgewell account STUDY token NAME`).

        with Client("https://judge.example.org", token) as study:
            judgments = study.judgments()
            study.act("pause", topic="7", reason="two readings of the title")

    Tables are polars frames (`.to_pandas()` where wanted); all else is what the API's JSON holds.
    """

    def __init__(self, address: str, token: str, *, timeout: float = 60.0) -> None:
        import httpx

        if not address.startswith(("http://", "https://")):
            raise InputError(f"{address!r} is not an address", cure="begin it with https://")
        self._http = httpx.Client(
            base_url=f"{address.rstrip('/')}/api/v1", headers={"authorization": f"Bearer {token}"}, timeout=timeout
        )

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def judgments(self, *, all: bool = False) -> pl.DataFrame:
        """The judgments table of completed units; `all` adds the rest with how each unit ended."""
        return self._table("/judgments", all)

    def pairs(self, *, all: bool = False) -> pl.DataFrame:
        """The pairs table of completed units; `all` adds the rest with how each unit ended."""
        return self._table("/pairs", all)

    def study(self) -> dict[str, Any]:
        """The study and its settings."""
        return dict(self._get("/study"))

    def status(self) -> dict[str, Any]:
        """Progress by topic, checks and cost."""
        return dict(self._get("/status"))

    def overview(self) -> dict[str, Any]:
        """The study at a glance: pace, expected end, money."""
        return dict(self._get("/overview"))

    def topics(self) -> pl.DataFrame:
        """Progress of each topic."""
        rows = self._get("/topics")
        return _frame([{**row.pop("progress"), **row} for row in rows])

    def units(self, topic: str) -> pl.DataFrame:
        """The units of a topic."""
        from urllib.parse import quote

        return _frame(self._get(f"/topics/{quote(topic, safe='')}/units"))

    def working(self) -> pl.DataFrame:
        """Who is working now."""
        return _frame(self._get("/working"))

    def assessors(self) -> pl.DataFrame:
        """All assessors, in the order in which they came."""
        rows: list[dict[str, Any]] = []
        while True:
            more = self._get("/assessors", {"offset": len(rows), "limit": 1000})
            rows += more
            if len(more) < 1000:
                return _frame(rows)

    def trail(self, pseudonym: str) -> dict[str, Any]:
        """All that an assessor did."""
        from urllib.parse import quote

        return dict(self._get(f"/assessors/{quote(pseudonym, safe='')}"))

    def insight(self, wait: float = 60.0) -> dict[str, Any] | None:
        """Agreement, stability of the gains, documents and assessors to look at; waits while it is computed."""
        until = time.monotonic() + wait
        while True:
            answer = self._get("/insight")
            if not answer["busy"] or time.monotonic() >= until:
                return None if answer["insight"] is None else dict(answer["insight"])
            time.sleep(0.5)

    def reviews(self) -> dict[str, Any] | None:
        """How far the review of comments is; None where the study asks for none."""
        answer = self._get("/reviews")
        return None if answer is None else dict(answer)

    def audit(self, limit: int = 100) -> pl.DataFrame:
        """What owners did, newest first."""
        return _frame(self._get("/audit", {"limit": limit}))

    def invite(self, labels: Sequence[str]) -> list[dict[str, Any]]:
        """An invite link for each label: the one it has, or a new one."""
        return list(self._send("/invitations", {"labels": list(labels)}))

    def actions(self) -> list[dict[str, Any]]:
        """What can be done, and what each action takes."""
        return list(self._get("/actions"))

    def act(self, action: str, **fields: Any) -> dict[str, Any]:
        """Do something to the study, e.g. act("exclude", assessor="a-…", reason="…"); what came of it."""
        return dict(self._send(f"/actions/{action}", fields)["result"])

    def _table(self, path: str, everything: bool) -> pl.DataFrame:
        import polars as pl

        response = self._ask("GET", path, {"format": "parquet", "all": everything})
        return pl.read_parquet(io.BytesIO(response.content))

    def _get(self, path: str, values: dict[str, Any] | None = None) -> Any:
        return self._ask("GET", path, values).json()

    def _send(self, path: str, fields: dict[str, Any]) -> Any:
        return self._ask("POST", path, None, fields).json()

    def _ask(self, method: str, path: str, values: dict[str, Any] | None, body: dict[str, Any] | None = None) -> Any:
        """One request; where the server asks to wait, and where a question got no answer, it is made again."""
        import httpx

        for left in reversed(range(TRIES)):
            try:
                response = self._http.request(method, path, params=values, json=body)
            except httpx.TransportError as error:
                if method == "GET" and left:
                    time.sleep(0.5)
                    continue
                raise ClientError(f"{self._http.base_url.host} does not answer: {error}", 0) from error
            if response.status_code in (429, 503) and left:
                time.sleep(_pause(response.headers.get("retry-after")))
                continue
            if response.is_success:
                return response
            raise ClientError(_problem(response), response.status_code)
        raise AssertionError("the last try returns or raises")


class ClientError(JudgewellError):
    """The server refused a request; `status` is the answer's number, 0 where there was none."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def _pause(seconds: str | None) -> float:
    return min(float(seconds), LONGEST_WAIT) if seconds and seconds.isdecimal() else 1.0


def _problem(response: Any) -> str:
    """What the server says is wrong."""
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = response.reason_phrase
    return f"{detail} ({response.status_code})"


def _frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, infer_schema_length=None)
