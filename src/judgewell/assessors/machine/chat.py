"""One server that speaks the chat-completions protocol: a request, and all that may go wrong with it.

A request is sent again when the server is busy, fails or is silent; it waits as long as Retry-After says, and while the
server is busy nothing else is sent. What a server does not know (JSON by schema, token probabilities, a seed) is
omitted from then on. The key comes from the environment; it is in no message of ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from judgewell.errors import InputError, JudgewellError, note
from judgewell.study.machine import Machine

LIMITED = 429
BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
REJECTED = (400, 413, 415, 422)
LONGEST_WAIT = 600.0
LONGEST_BACKOFF = 60.0
PATIENT = 3  # failures of one request in a row without a word
TOP = 20  # candidates for each token
LETTERS = 4  # of a token, where the server does not count
STRUCTURES = ("schema", "object", "off")


class Unreachable(JudgewellError):
    """The server gave no reply, however often it was asked."""


class Rejected(Exception):
    """The server does not take this very request: a document that is too long, or one that its filter stops."""


@dataclass(frozen=True)
class Reply:
    """What came back: the text, why it ended, the tokens with their candidates, and what it took."""

    text: str
    refusal: str
    finish: str
    model: str
    tokens: Sequence[Mapping[str, Any]]
    tokens_in: int
    tokens_out: int
    estimated: bool
    seconds: float


@dataclass
class Chat:
    """A connection to one server. `unknown` are parameters that it turned out not to know."""

    settings: Machine
    http: Any
    key: str
    structure: str
    unknown: set[str] = field(default_factory=set)
    settled: bool = False  # a reply came with these parameters, so they are not at fault
    quiet_until: float = 0.0
    stopping: bool = False  # nothing is sent again
    sent: int = 0
    replies: int = 0
    noted: bool = False  # that the server does not reply

    async def ask(self, model: str, messages: list[dict[str, str]], schema: dict[str, Any], seed: int | None) -> Reply:
        """One reply; :class:`Rejected` or :class:`Unreachable` where there is none."""
        loop, failures, replies = asyncio.get_running_loop(), 0, self.replies
        while True:
            await self._quiet(loop)
            began, before = loop.time(), (self.structure, frozenset(self.unknown))
            try:
                self.sent += 1
                response = await self.http.post("/chat/completions", json=self._body(model, messages, schema, seed))
                problem = self._problem(response)
                if not problem:
                    self.settled = True
                    self.replies += 1
                    return _reply(response, messages, loop.time() - began, model)
                if response.status_code in REJECTED:
                    if before != (self.structure, frozenset(self.unknown)) or self._simpler(problem):
                        continue
                    raise Rejected(problem)
                wait = _retry_after(response.headers.get("retry-after", ""))
                if response.status_code == LIMITED and self.replies > replies:
                    failures, replies = 0, self.replies  # it replies to others: this one only waits for its turn
            except self._failures() as error:
                problem, wait = self._scrubbed(f"{type(error).__name__} {error}".strip()), None
            failures += 1
            if failures > self.settings.retries or self.stopping:
                raise Unreachable(
                    f"{self.settings.endpoint} gave no reply after {failures} requests: {problem}; "
                    "run the command again to go on where it stopped"
                )
            if failures == PATIENT and not self.noted:
                self.noted = True
                note(f"{self.settings.endpoint} gave no reply to {failures} requests ({problem}); asking again")
            if wait is None:
                wait = min(0.5 * 2 ** (failures - 1), LONGEST_BACKOFF) * random.uniform(0.5, 1)
            self.quiet_until = max(self.quiet_until, loop.time() + wait)

    async def _quiet(self, loop: asyncio.AbstractEventLoop) -> None:
        while (wait := self.quiet_until - loop.time()) > 0:
            await asyncio.sleep(wait)

    @staticmethod
    def _failures() -> tuple[type[Exception], ...]:
        import httpx

        return (httpx.TransportError, httpx.DecodingError, BadBody)

    def _body(
        self, model: str, messages: list[dict[str, str]], schema: dict[str, Any], seed: int | None
    ) -> dict[str, Any]:
        chosen = self.settings
        body: dict[str, Any] = {"model": model, "messages": messages, "max_tokens": chosen.max_tokens}
        more: dict[str, Any] = {"temperature": chosen.temperature, "seed": seed}
        if chosen.logprobs:
            more |= {"logprobs": True, "top_logprobs": TOP}
        if self.structure == "schema":
            named = {"name": "judgment", "strict": True, "schema": schema}
            more["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.structure == "object":
            more["response_format"] = {"type": "json_object"}
        if "max_tokens" in self.unknown:
            body["max_completion_tokens"] = body.pop("max_tokens")
        return body | {name: value for name, value in more.items() if value is not None and name not in self.unknown}

    def _problem(self, response: Any) -> str:
        """Why there is no reply in a response; "" where there is one. What no repetition mends is an error."""
        status = response.status_code
        if status == 200:
            return ""
        reason = self._scrubbed(_server_words(response))
        if status in (401, 403):
            name = self.settings.api_key_env or "MODEL_KEY"
            cure = f"set {name} to a key that it takes, and name it in machine.api_key_env or --api-key-env"
            raise InputError(f"{self.settings.endpoint} refuses the key ({status}): {reason}", cure=cure)
        if status not in BUSY and status not in REJECTED:
            cure = "look at --endpoint (it mostly ends in /v1) and --model"
            raise InputError(f"{self.settings.endpoint} answers {status}: {reason}", cure=cure)
        return f"{status} {reason}"

    def _simpler(self, problem: str) -> bool:
        """Leave out what the server may not know; false where there is nothing left to leave out."""
        if self.settled:
            return False
        named = [name for name in ("max_tokens", "temperature", "seed") if name in problem and name not in self.unknown]
        if named:
            self.unknown.update(named)
        elif "logprobs" in problem and "logprobs" not in self.unknown:
            self.unknown.update(("logprobs", "top_logprobs"))
        elif self.settings.structured == "auto" and self.structure != STRUCTURES[-1]:
            self.structure = STRUCTURES[STRUCTURES.index(self.structure) + 1]
            instead = "any text" if self.structure == "off" else self.structure
            note(f"the server rejects response_format; replies are requested as {instead}")
        elif self.settings.logprobs and "logprobs" not in self.unknown:
            self.unknown.update(("logprobs", "top_logprobs"))
        else:
            return False
        return True

    def _scrubbed(self, text: str) -> str:
        """A server's words on one line, never with the key in them."""
        plain = " ".join(text.split())[:300]
        return plain.replace(self.key, "…") if self.key else plain


class BadBody(Exception):
    """A response that breaks off or is not the protocol's."""


def open_chat(settings: Machine) -> Chat:
    """A connection with the key that the environment holds; its caller closes `http`."""
    import httpx

    name = settings.api_key_env
    key = os.environ.get(name, "").strip() if name else ""
    if name and not key:
        raise InputError(f"the environment variable {name} with the key is not set", cure=f"set {name}")
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"the environment variable {name} holds no key", cure="keys are printable ASCII")
    limits = httpx.Limits(max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    http = httpx.AsyncClient(base_url=settings.endpoint, headers=headers, timeout=settings.timeout, limits=limits)
    return Chat(settings, http, key, "schema" if settings.structured == "auto" else settings.structured)


def _server_words(response: Any) -> str:
    """What the server says is wrong."""
    try:
        error = response.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        return str(response.text[:300])


def _retry_after(text: str) -> float | None:
    """Seconds to wait, written as a number or as a date."""
    try:
        return min(max(float(text), 0.0), LONGEST_WAIT)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max((until - datetime.now(UTC)).total_seconds(), 0.0), LONGEST_WAIT)


def _reply(response: Any, messages: list[dict[str, str]], seconds: float, model: str) -> Reply:
    try:
        body = response.json()
        choice = body["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal") or ""
        usage = body.get("usage") or {}
        tokens = (choice.get("logprobs") or {}).get("content") or []
        counts: list[Any] = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        named, finish = str(body.get("model") or model), str(choice.get("finish_reason") or "")
        if not isinstance(text, str) or not isinstance(tokens, list):
            raise TypeError("content is not text")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadBody(f"the response is not a chat completion ({error})") from None
    estimated = not all(isinstance(count, int) and count >= 0 for count in counts)
    if estimated:
        sent = sum(len(message["content"]) for message in messages)
        counts = [sent // LETTERS + 1, len(text) // LETTERS + 1]
    return Reply(text, str(refusal), finish, named, tokens, counts[0], counts[1], estimated, seconds)


def json_text(value: Any) -> str:
    """A value as it is hashed: the same text for the same value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
