"""From a reply to an answer: JSON where there is some, a plain answer where it can mean one thing only, else nothing.

Nothing is guessed. A reply that cannot be read is `unreadable`, one that declines is `refused`, one that the longest
reply cut is `cut`; none of them is a 0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgewell.assessors.machine.asks import Ask, Form, NotRead
from judgewell.assessors.machine.chat import Reply

LEAST_MASS = 0.5  # of probability on answers that the scale has, for an expected value
READ, REFUSED, UNREADABLE, CUT_OFF, REJECTED = "read", "refused", "unreadable", "cut", "rejected"

_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_PLAIN = re.compile(
    r"(?:(?:the )?(?:answer|grade|score|number|preferred)\s*(?:is|:|=)\s*)?[\"'*]*([\w.,½/+-]+?)[\"'*]*\.?", re.I
)


@dataclass(frozen=True)
class Reading:
    """A parsed reply; `expected` and `spread` if the server returned token probabilities."""

    outcome: str
    form: Form
    expected: float | None = None
    spread: float | None = None


def read_reply(ask: Ask, reply: Reply) -> Reading:
    """The answer in a reply, or why there is none."""
    if reply.refusal or reply.finish == "content_filter":
        return Reading(REFUSED, {})
    text = _THOUGHT.sub("", reply.text).strip()
    given = _fields(text, ask)
    if given is None:
        return Reading(CUT_OFF if reply.finish == "length" else UNREADABLE, {})
    if ask.answer in given and given[ask.answer] is None:
        return Reading(REFUSED, {})
    try:
        form = ask.read(given)
    except NotRead:
        return Reading(UNREADABLE, {})
    return Reading(READ, form, *expectation(ask, reply, given))


def _fields(text: str, ask: Ask) -> dict[str, Any] | None:
    """The reply's fields: one JSON object, with or without a frame of words, or a lone answer."""
    inside = _FENCE.search(text)
    objects = list(_objects(inside[1] if inside else text))
    wanted = [one for one in objects if ask.answer in one]
    if len(wanted) == 1 or (wanted and all(one == wanted[0] for one in wanted)):
        return wanted[0]
    if objects:
        return None
    plain = _PLAIN.fullmatch(text)
    if plain is None or [*ask.fields] != [ask.answer]:
        return None
    return {ask.answer: plain[1]}


def _objects(text: str) -> Sequence[dict[str, Any]]:
    """Every JSON object in a text, outermost ones only."""
    decoder, objects, at = json.JSONDecoder(), [], text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            objects += [value] if isinstance(value, dict) else []
        at = text.find("{", end)
    return objects


def expectation(ask: Ask, reply: Reply, given: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Mean and standard deviation of the answer over the candidates of its token; none where it has several tokens."""
    token = _answer_token(ask.answer, str(given[ask.answer]), reply.tokens)
    if token is None or not ask.values:
        return None, None
    weights: dict[float, float] = {}
    for candidate in token.get("top_logprobs") or []:
        value = ask.values.get(_bare(candidate.get("token")))
        if value is not None:
            weights[value] = weights.get(value, 0.0) + math.exp(min(0.0, float(candidate.get("logprob", -math.inf))))
    mass = sum(weights.values())
    if mass < LEAST_MASS:
        return None, None
    mean = sum(value * weight for value, weight in weights.items()) / mass
    variance = sum(weight * (value - mean) ** 2 for value, weight in weights.items()) / mass
    return mean, math.sqrt(variance)


def _answer_token(name: str, answer: str, tokens: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The token that holds the whole answer."""
    text = "".join(str(token.get("token", "")) for token in tokens)
    places = list(re.finditer(rf'"{re.escape(name)}"\s*:\s*"?', text))
    start = places[-1].end() if places else 0
    end = 0
    for token in tokens:
        end += len(str(token.get("token", "")))
        if end > start:
            return token if _bare(token.get("token")) == answer.strip() else None
    return None


def _bare(token: Any) -> str:
    return str(token).strip(" \t\n\"',:{}")
