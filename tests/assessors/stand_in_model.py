"""A stand-in for a server of chat completions: it judges by the words that topic and document share, and misbehaves.

Run it as a script to try `judgewell judge` without a model: python tests/assessors/stand_in_model.py --port 8099
"""

from __future__ import annotations

import argparse
import json
import math
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FENCE = re.compile(r"<<< ([A-Z][A-Z 0-9]*?) ([0-9a-f]{20})\n(.*?)\n\1 \2 >>>", re.DOTALL)
NUMBER_GIVEN = re.compile(r"You gave it ([0-9.]+)\.")
PATIENCE = 600.0  # seconds for requests that never come, so that a broken test ends


@dataclass
class Model:
    """What the server does. `faults` are taken one for each request, in order; then it behaves."""

    faults: list[str] = field(default_factory=list)
    structured: bool = True
    logprobs: bool = True
    usage: bool = True
    key: str = ""
    refuses: str = ""  # a word in a document that it does not judge
    obeys: bool = False  # documents that tell it what to answer
    first: float = 0.0  # how much it favours the first of two documents
    holds_after: int | None = None  # so many replies, then it holds the next requests for good
    together: int = 0  # the first replies wait until so many requests are under way at once
    answered: Counter[str] = field(default_factory=Counter)  # replies that were paid for, by what was asked
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0
    address: str = ""
    held: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    met: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _now: int = 0


def relevance(topic: str, text: str) -> float:
    """The share of the topic's longer words that the text holds."""
    words = set(re.findall(r"\w{4,}", topic.lower()))
    return len(words & set(re.findall(r"\w{4,}", text.lower()))) / max(1, len(words))


def judged(model: Model, body: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the reply; None where it refuses."""
    user = body["messages"][-1]["content"]
    parts = {label: text for label, _, text in FENCE.findall(user)}
    topic = parts.get("TOPIC", "").partition("\n")[0]
    if model.refuses and any(model.refuses in text for label, text in parts.items() if label != "TOPIC"):
        return None
    reason = {"reason": f"It shares words with: {topic}"} if '"reason"' in user else {}
    orders = r"highest value|best value|best grade"
    worth = {
        label: 1.0 if model.obeys and re.search(orders, text) else relevance(topic, text)
        for label, text in parts.items()
    }
    if "DOCUMENT A" in parts or "TEXT A" in parts:
        a, b = (worth.get(f"DOCUMENT {side}", worth.get(f"TEXT {side}", 0.0)) for side in "AB")
        return reason | _pair(user, a + model.first * ("DOCUMENT A" in parts), b)
    if line := re.search(r"The line is ([0-9.]+) pixels long", user):
        return {"answer": float(line[1])}
    share = worth.get("DOCUMENT", 1.0)
    labels = re.findall(r'^"(\w+)": ', user, re.MULTILINE)
    if "DOCUMENT" not in parts:  # a question about the topic: the choice with most of its words
        options = re.findall(r'^"(\w+)": (.*)$', user, re.MULTILINE)
        return {"answer": max(options, key=lambda one: relevance(parts["TOPIC"], one[1]))[0]}
    if labels:
        return reason | {"answer": labels[round(share * (len(labels) - 1))]}
    if "whole number" in user:
        return reason | {"answer": round(100 * share)}
    before = NUMBER_GIVEN.findall(user)
    return reason | {"answer": round(1 + 9 * share if not before else 1.5 + 9 * share, 2)}


def _pair(user: str, a: float, b: float) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if '"preferred"' in user:
        fields["preferred"] = "A" if a >= b else "B"
    if '"answer"' in user:
        fields["answer"] = "A" if a >= b else "B"
    better = (a, b) if a >= b else (b, a)
    scores = {True: round(10 + 100 * better[0], 2), False: round(1 + 10 * better[1], 2)}
    if '"relevant"' in user:
        fields["relevant"] = "both"
    if '"score_A"' in user:
        fields |= {"score_A": scores[a >= b], "score_B": scores[a < b]}
    return fields


def tokens_of(content: str) -> list[dict[str, Any]]:
    """The reply in tokens, each with candidates: a digit's neighbours have a share."""
    pieces = re.findall(r'"(?=\d"})|\d+|[A-Za-z_]+|\s+|.', content)
    rows = []
    for piece in pieces:
        top = [{"token": piece, "logprob": math.log(0.8)}]
        if piece.isdigit():
            top.append({"token": str(max(0, int(piece) - 1)), "logprob": math.log(0.15)})
        if piece in "AB":
            top.append({"token": "B" if piece == "A" else "A", "logprob": math.log(0.2)})
        rows.append({"token": piece, "logprob": math.log(0.8), "top_logprobs": top})
    return rows


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        model = self.model
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        with model.lock:
            model._now += 1
            model.most_at_once = max(model.most_at_once, model._now)
            model.requests.append(body)
            model.headers.append(dict(self.headers))
            fault = model.faults.pop(0) if model.faults else ""
            if model.holds_after is not None and sum(model.answered.values()) >= model.holds_after:
                fault = "hold"
            if model._now >= model.together:
                model.met.set()
        model.met.wait(PATIENCE)
        try:
            self._answer(model, body, fault)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with model.lock:
                model._now -= 1

    def _answer(self, model: Model, body: dict[str, Any], fault: str) -> None:
        if model.key and self.headers.get("authorization") != f"Bearer {model.key}":
            return self._send(401, {"error": {"message": f"wrong key {self.headers.get('authorization')}"}})
        if fault == "hold":
            model.held.set()
            model.over.wait()
            return None
        if fault == "slow":
            model.over.wait()  # longer than anybody waits for it
            return None
        if fault in ("429", "500", "503"):
            return self._send(int(fault), {"error": {"message": "busy"}}, {"retry-after": "0"})
        if fault == "429 date":
            return self._send(429, {"error": "busy"}, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})
        if fault == "400":
            return self._send(400, {"error": {"message": "this text is too long"}})
        if not model.structured and "response_format" in body:
            return self._send(400, {"error": {"message": "response_format is not supported"}})
        if not model.logprobs and "logprobs" in body:
            return self._send(422, {"error": {"message": "logprobs are not supported"}})
        fields = judged(model, body)
        user = re.sub(r"[0-9a-f]{20}", "", body["messages"][-1]["content"])
        message: dict[str, Any] = {"role": "assistant", "content": None if fields is None else json.dumps(fields)}
        finish = "stop"
        if fields is None:
            message["refusal"] = "I cannot help with that."
        elif not model.structured:
            message["content"] = f"Sure! Here it is:\n```json\n{message['content']}\n```"
        if fault == "words":
            message["content"] = "Between 2 and 3, I would say."
        if fault == "length":
            message["content"], finish = str(message["content"])[:8], "length"
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if model.logprobs and body.get("logprobs") and message["content"]:
            choice["logprobs"] = {"content": tokens_of(message["content"])}
        reply: dict[str, Any] = {"object": "chat.completion", "model": f"{body['model']}-2026", "choices": [choice]}
        if model.usage:
            reply["usage"] = {"prompt_tokens": len(user) // 4, "completion_tokens": 12}
        if fault == "cut":
            return self._cut(reply)
        if fault == "no json":
            return self._send(200, "<html>the proxy is tired</html>")
        with model.lock:
            model.answered[user] += 1
        return self._send(200, reply)

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(raw)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _cut(self, body: Any) -> None:
        """Break off in the middle of the body."""
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2])
        self.close_connection = True


@contextmanager
def stand_in(model: Model | None = None, port: int = 0) -> Iterator[Model]:
    """The server on a free port of this computer."""
    model = model or Model()
    handler = type("Bound", (Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    model.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--first", type=float, default=0.0)
    parser.add_argument("--obeys", action="store_true")
    given = parser.parse_args()
    with stand_in(Model(first=given.first, obeys=given.obeys), given.port) as running:
        print(running.address, flush=True)
        threading.Event().wait()
