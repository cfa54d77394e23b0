"""How a model's server is asked: faults, limits and who waits."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from judgewell.assessors.machine.chat import Chat, Unreachable
from judgewell.study.machine import Machine


@pytest.mark.parametrize("others", [0, 1])
def test_a_limited_server_that_replies_to_others_is_waited_for(others):
    """With many requests under way, one may be refused again and again though the server is well."""
    requests = []

    def limited(request):
        requests.append(request)
        chat.replies += others
        body = {"choices": [{"message": {"content": "{}"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
        return (
            httpx.Response(200, json=body) if len(requests) > 4 else httpx.Response(429, headers={"retry-after": "0"})
        )

    http = httpx.AsyncClient(base_url="http://model.test/v1", transport=httpx.MockTransport(limited))
    chat = Chat(Machine(endpoint="http://model.test/v1", retries=1), http, "", "none")

    def ask():  # in a thread of its own: a browser test before this one leaves a loop running
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, chat.ask("m", [{"role": "user", "content": "?"}], {}, None)).result()

    if others:
        ask()
        assert len(requests) == 5
    else:
        with pytest.raises(Unreachable, match="gave no reply after 2 requests: 429"):
            ask()
