"""The webhook: told once, signed, sent again until it is taken, and never in the way of judging."""

import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import sqlalchemy as sa
from judging import Study
from pydantic import ValidationError

from judgewell.errors import InputError
from judgewell.server.owner import webhook
from judgewell.server.owner.actions import ACTIONS, Pausing, perform
from judgewell.server.owner.webhook import GIVEN_UP, SENT, WAITING, WAITS, signing_secret, tell
from judgewell.server.store.schema import audit
from judgewell.study.model import Owner

HOOK = '[owner]\nwebhook = "https://example.org/hook"\n'


class Receiver:
    """Takes what is sent and answers as it is told to."""

    def __init__(self, *answers):
        self.answers, self.taken = list(answers), []

    def __call__(self, address, body, headers):
        self.taken.append((address, json.loads(body), headers, body))
        return self.answers.pop(0) if self.answers else "204"

    @property
    def events(self):
        return [content["event"] for _, content, _, _ in self.taken]


def entries(study: Study):
    return study.rows(sa.select(audit.c.action, audit.c.data).where(audit.c.action.like("webhook%")))


def test_the_end_is_told_once(begin):
    study, receiver = begin(topics=1, more=HOOK), Receiver()
    known: set[str] = set()
    assert tell(study.store, study.served, "", known, receiver) == 0
    study.person().until("done")
    assert tell(study.store, study.served, "", known, receiver) == 1
    assert tell(study.store, study.served, "", known, receiver) == 0
    assert tell(study.store, study.served, "", set(), receiver) == 0  # another process, or a new start
    address, content, headers, _ = receiver.taken[0]
    assert address == "https://example.org/hook"
    assert (content["event"], content["study"]) == ("ended", "small")
    assert content["text"] == "small – all work is done (1 unit)."
    assert webhook.SIGNATURE not in headers
    assert [action for action, _ in entries(study)] == [SENT]


def test_a_pause_is_told_with_its_reason_and_again_the_next_time(begin):
    study, receiver, known = begin(more=HOOK), Receiver(), set()
    for reason in ("lunch", "supper"):
        perform(study.store, study.served, ACTIONS["pause"], Pausing(reason=reason))
        tell(study.store, study.served, "", known, receiver)
        study.clock.move(60)
    assert [content["text"] for _, content, _, _ in receiver.taken] == [
        "small – the study is paused: lunch.",
        "small – the study is paused: supper.",
    ]


def test_the_budget_is_told_when_it_is_near_and_when_it_is_reached(begin):
    study = begin(topics=5, more="[pay]\namount = 1.0\nbudget = 5.0\n" + HOOK)
    receiver, known, person = Receiver(), set(), study.person()
    for _ in range(5):
        person.until("done")
        tell(study.store, study.served, "", known, receiver)
        person.send(action="more")
    assert receiver.events == ["budget_near", "ended", "budget_reached"]


def test_what_is_not_taken_is_sent_again_and_at_last_given_up(begin):
    study, receiver, known = begin(topics=1, more=HOOK), Receiver(*["500"] * 9), set()
    study.person().until("done")
    tell(study.store, study.served, "", known, receiver)
    tell(study.store, study.served, "", known, receiver)
    assert len(receiver.taken) == 1  # not at once
    for wait in WAITS:
        study.clock.move(wait)
        tell(study.store, study.served, "", known, receiver)
    assert len(receiver.taken) == len(WAITS)
    assert {headers[webhook.DELIVERY] for _, _, headers, _ in receiver.taken} == {"1"}
    ((action, data),) = entries(study)
    assert (action, data["attempts"], data["answer"]) == (GIVEN_UP, len(WAITS), "500")


def test_a_receiver_that_comes_back_gets_it(begin):
    study, receiver, known = begin(topics=1, more=HOOK), Receiver("no answer: ConnectError", "302", "200"), set()
    study.person().until("done")
    for _ in range(3):
        tell(study.store, study.served, "", known, receiver)
        study.clock.move(3600)
    ((action, data),) = entries(study)
    assert (action, data["attempts"], "next" in data) == (SENT, 3, False)


def test_two_processes_send_one_message(begin):
    study, receiver = begin(topics=1, more=HOOK), Receiver()
    study.person().until("done")
    threads = [threading.Thread(target=tell, args=(study.store, study.served, "", set(), receiver)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(receiver.taken) == 1


def test_it_is_signed_over_its_time_and_its_body(begin):
    study, receiver = begin(topics=1, more=HOOK), Receiver()
    study.person().until("done")
    tell(study.store, study.served, "a secret", set(), receiver)
    _, _, headers, body = receiver.taken[0]
    made = hmac.new(b"a secret", headers[webhook.SENT_AT].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert headers[webhook.SIGNATURE] == f"sha256={made}"


def test_a_secret_that_is_not_there_is_an_error_at_the_start(begin, monkeypatch):
    study = begin(more=HOOK + 'webhook_secret = "HOOK_SECRET"\n').served.study
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    with pytest.raises(InputError, match="HOOK_SECRET"):
        signing_secret(study)
    monkeypatch.setenv("HOOK_SECRET", "s")
    assert signing_secret(study) == "s"


def test_a_redirect_is_not_followed_and_no_answer_is_read():
    asked = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(307)
            self.send_header("location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/hook"
        assert webhook.post(address, b"{}", {"content-type": "application/json"}) == "307"
        server.shutdown()
    assert asked == [("/hook", b"{}")]
    assert webhook.post(address, b"{}", {}).startswith("no answer")


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/hook",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "https://",
        "https://user:word@example.org/",
        "https://example.org/#part",
        "https://example.org/a b",
        "https://[::1/",
        "https://example.org:0/",
        "example.org",
    ],
)
def test_an_address_that_is_not_safe_is_refused(address):
    with pytest.raises(ValidationError, match="address"):
        Owner(webhook=address)


@pytest.mark.parametrize(
    "address", ["", "https://hooks.example.org:8443/T0/B1?x=1", "http://127.0.0.1:9/", "http://[::1]/"]
)
def test_https_and_this_computer_are_allowed(address):
    assert Owner(webhook=address).webhook == address


def test_messages_wait_in_the_log(begin):
    study = begin(topics=1, more=HOOK)
    study.person().until("done")
    study.store.write(lambda c: webhook.queue(c, study.clock(), webhook.happened(c, study.served))).result()
    assert [action for action, _ in entries(study)] == [WAITING]
