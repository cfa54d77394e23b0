"""What a model's reply means, and what it is shown."""

from __future__ import annotations

import math

import pytest

from judgewell.assessors.machine.asks import Ask, NotRead, as_typed
from judgewell.assessors.machine.chat import Reply
from judgewell.assessors.machine.prompts import Prompt, document_text
from judgewell.assessors.machine.reading import read_reply
from judgewell.server.session.pages import Document


def reply(text, **more):
    given = {"refusal": "", "finish": "stop", "model": "m", "tokens": (), "tokens_in": 1, "tokens_out": 1}
    return Reply(text, **(given | {"estimated": False, "seconds": 0.0} | more))


def grade(given):
    if given["answer"] not in ("0", "1", "2", 0, 1, 2):
        raise NotRead(given["answer"])
    return {"value": str(given["answer"])}


ASK = Ask("document", Prompt("p", ""), [], {"answer": {}}, grade, values={"0": 0.0, "1": 1.0, "2": 2.0})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"answer": "2"}', "2"),
        ('{"answer": 2}', "2"),
        ('Here you are:\n```json\n{"answer": "1"}\n```\nAnything else?', "1"),
        ('<think>{"answer": "0"} or {"answer": "1"}?</think>{"answer": "2"}', "2"),
        ('{"answer": "1"} {"answer": "1"}', "1"),
        ("2", "2"),
        ("Grade: 2", "2"),
        ("**1**", "1"),
        ('{"answer": "1"} or maybe {"answer": "2"}', None),
        ("I would say 1 or 2.", None),
        ('{"answer": "7"}', None),
        ('{"grade": "1"}', None),
        ('{"answer": ', None),
        ("", None),
    ],
)
def test_a_reply_is_read_only_where_it_can_mean_one_thing(text, value):
    reading = read_reply(ASK, reply(text))
    assert reading.form.get("value") == value
    assert reading.outcome == ("read" if value else "unreadable")


def test_why_there_is_no_answer():
    assert read_reply(ASK, reply("", refusal="no")).outcome == "refused"
    assert read_reply(ASK, reply("x", finish="content_filter")).outcome == "refused"
    assert read_reply(ASK, reply('{"answer": null}')).outcome == "refused"
    assert read_reply(ASK, reply('{"ans', finish="length")).outcome == "cut"


def test_probabilities_count_only_where_the_answer_is_one_token_of_the_scale():
    def token(text, *top):
        return {"token": text, "top_logprobs": [{"token": one, "logprob": math.log(share)} for one, share in top]}

    head = [token('{"'), token("answer"), token('":'), token(' "')]
    split = [*head, token("1", ("1", 0.5), ("2", 0.5)), token('"}')]
    assert read_reply(ASK, reply('{"answer": "1"}', tokens=split)).expected == 1.5
    joined = [token('{"answer": '), token('"1"', ('"1"', 0.5), ('"0"', 0.25), ("nothing", 0.25)), token("}")]
    assert read_reply(ASK, reply('{"answer": "1"}', tokens=joined)).expected == pytest.approx(2 / 3)
    unsure = [*head, token("1", ("1", 0.3), ("maybe", 0.7)), token('"}')]
    assert read_reply(ASK, reply('{"answer": "1"}', tokens=unsure)).expected is None


def test_numbers_of_a_reply_are_typed_in_a_spelling_with_one_meaning():
    assert [as_typed(value) for value in (2, 2.0, 0.5, 1.125, 1e-7, None, True, " 3 ")] == [
        *("2", "2", "0.5", "1.1250", "1e-07", "", "", "3")
    ]


def test_markup_is_read_as_text_and_long_documents_are_cut():
    shown = document_text(Document("", "A & B", "", "<p>One &amp; two</p><p>three</p>"), 1000)
    assert shown == "A & B\n\nOne & two\nthree\n"
    assert document_text(Document("", "", "x" * 500), 100) == "x" * 100 + "\n[the rest of this text was cut]"
