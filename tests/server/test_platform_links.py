"""Signed links from a platform: who is let in, and every way in which somebody must not be."""

import base64
import json
import threading

import jwt
import pytest
import sqlalchemy as sa
from judging import Person
from stand_in import AUDIENCE, new_key, pem, public, standing_in
from starlette.testclient import TestClient

from judgewell.errors import DataError, InputError
from judgewell.server.app import make_app
from judgewell.server.platforms.keys import PAUSE, RENEWED, Keys, fetch_keys, keys_of
from judgewell.server.platforms.links import LEEWAY, BadLink, read_link
from judgewell.server.store.schema import arrivals, assessors, identities
from judgewell.server.store.transactions import open_store
from judgewell.study.platform import Codes, Platform

SETTINGS = (
    '[platform]\nkind = "prolific"\ntoken = "prolific_token"\nkeys = "{keys}"\naudience = "' + AUDIENCE + '"\n'
    'issuer = "platform"\nreturn_link = "{back}/complete?cc={{code}}&s={{session}}"\n[platform.codes]\n'
    'completed = "DONE1"\nno_consent = "NO1"\nfailed_comprehension = "WRONG1"\nfailed_quality = "BAD1"\n'
    'no_work = "NONE1"\n'
)


@pytest.fixture
def platform(tmp_path, clock, monkeypatch):
    with standing_in(tmp_path, clock) as found:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "platform.pem"))
        yield found


class Door:
    def __init__(self, study):
        self.study = study
        self.app = make_app(study.store, study.clock, 1000.0)

    def visitor(self):
        return TestClient(self.app, follow_redirects=False)

    def refused(self, link):
        response = self.visitor().get(link)
        assert "set-cookie" not in response.headers
        return (response.status_code, "open the study from there once more" in response.text) == (403, True)


@pytest.fixture
def door(begin, platform):
    def make(keys=None, more="", **settings):
        where = f"{platform.address}/jwks.json" if keys is None else keys
        return Door(begin(more=SETTINGS.format(keys=where, back=platform.address) + more, **settings))

    return make


def test_whom_the_platform_vouches_for_is_let_in_once_and_may_reload(door, platform):
    server = door()
    client, link = server.visitor(), platform.link(1)
    response = client.get(link)
    assert (response.status_code, response.headers["location"]) == (303, "/work")
    assert client.get("/work").headers["x-page"] == "consent"
    assert client.get(link).status_code == 303  # a reload in the same browser
    row = server.study.rows(sa.select(identities))[0]
    assert (row.outside, row.session, row.study) == ("person1", "submission1", "study1")
    assert len(server.study.rows(sa.select(assessors))) == 1
    assert platform.fetched == 1


def test_a_link_opens_the_door_for_nobody_else(door, platform):
    server = door()
    link = platform.link(1)
    assert server.visitor().get(link).status_code == 303
    assert server.refused(link)
    other = server.visitor()
    assert other.get(platform.link(2)).status_code == 303
    assert other.get(link).status_code == 403  # another's session is no excuse
    assert len(server.study.rows(sa.select(assessors))) == 2


def test_a_token_with_a_name_is_used_once_however_it_is_signed(door, platform):
    server = door()
    first, second = (platform.sign(platform.claims(1, jti="one", exp=int(platform.clock()) + n)) for n in (60, 61))
    assert first != second
    assert server.visitor().get(platform.link(1, first)).status_code == 303
    assert server.refused(platform.link(1, second))


def test_used_tokens_are_kept_until_they_have_run_out_and_no_longer(door, platform):
    server = door()
    link = platform.link(1)
    server.visitor().get(link)
    server.study.clock.move(600 + LEEWAY - 1)
    assert server.refused(link)
    assert len(server.study.rows(sa.select(arrivals))) == 1
    server.study.clock.move(1)
    assert server.refused(link)
    server.visitor().get(platform.link(2))
    assert len(server.study.rows(sa.select(arrivals))) == 1


def hs256_with_the_public_key(platform):
    """The classic confusion: the public key taken for an HMAC secret; the library will not make it, so by hand."""
    import hashlib
    import hmac

    from cryptography.hazmat.primitives import serialization

    secret = (
        platform.signing["first"]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    parts = [{"alg": "HS256", "typ": "JWT", "kid": "first"}, platform.claims(1)]
    head = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    made = hmac.new(secret, head.encode(), hashlib.sha256).digest()
    return f"{head}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"


def tampered(platform):
    head, _, sign = platform.sign(platform.claims(2)).split(".")
    body = base64.urlsafe_b64encode(json.dumps(platform.claims(1)).encode()).rstrip(b"=").decode()
    return f"{head}.{body}.{sign}"


FORGED = {
    "another key under a known name": lambda p: p.sign(p.claims(1), key=new_key()),
    "a key nobody published": lambda p: jwt.encode(p.claims(1), new_key(), "RS256", {"kid": "other"}),
    "no name of a key": lambda p: jwt.encode(p.claims(1), p.signing["first"], "RS256"),
    "no signature": lambda p: jwt.encode(p.claims(1), None, "none", {"kid": "first"}),
    "the public key as a secret": hs256_with_the_public_key,
    "another algorithm": lambda p: p.sign(p.claims(1), algorithm="RS512"),
    "changed after signing": tampered,
    "run out": lambda p: p.sign(p.claims(1, exp=int(p.clock() - LEEWAY - 1))),
    "without an end": lambda p: p.sign(p.claims(1, exp=None)),
    "an end that is no time": lambda p: p.sign(p.claims(1, exp=1e300)),
    "not valid yet": lambda p: p.sign(p.claims(1, nbf=int(p.clock() + LEEWAY + 10))),
    "for somebody else": lambda p: p.sign(p.claims(1, aud="https://evil.example")),
    "for nobody": lambda p: p.sign(p.claims(1, aud=None)),
    "from somebody else": lambda p: p.sign(p.claims(1, iss="evil")),
    "without ids": lambda p: p.sign(p.claims(1, prolific=None)),
    "with ids of another shape": lambda p: p.sign(p.claims(1, prolific=["person1"])),
    "another person": lambda p: p.sign(p.claims(2)),
    "not a token": lambda p: "abc",
    "too long": lambda p: "a" * 10_000,
    "empty": lambda p: " ",
}


def test_forged_expired_and_swapped_tokens_are_refused(door, platform):
    server = door()
    wrong = [name for name, make in FORGED.items() if not server.refused(platform.link(1, make(platform)))]
    assert not wrong
    good = platform.sign(platform.claims(1))
    for name, value in {"PROLIFIC_PID": "person2", "SESSION_ID": "submission2", "STUDY_ID": "study2"}.items():
        assert server.refused(platform.link(1, good, **{name: value})), name
    bare = "/join?PROLIFIC_PID=person1&SESSION_ID=submission1&STUDY_ID=study1"
    assert server.refused(bare)
    assert not server.study.rows(sa.select(assessors))
    assert server.visitor().get(platform.link(1, good)).status_code == 303  # nothing above had used it up


def test_ids_may_come_in_the_token_alone(door, platform):
    server = door()
    assert server.visitor().get("/join?prolific_token=" + platform.sign(platform.claims(1))).status_code == 303
    assert server.study.rows(sa.select(identities.c.outside, identities.c.session)) == [("person1", "submission1")]


def test_the_claims_have_other_names_where_the_study_says_so(platform):
    named = Platform(
        kind="panel", token="t", keys="k.json", audience=AUDIENCE, assessor="pid", session="sid", study="project",
        claims="", claim_assessor="sub", codes=Codes(completed="C"),
    )  # fmt: skip
    keys = Keys(lambda: keys_of(platform.jwks()))
    token = platform.sign(platform.claims(1, sub="P1", sid="S1", prolific=None))
    found = read_link(named, keys, {"t": token, "pid": "P1", "sid": "S1"}, platform.clock())
    assert (found.person, found.session, found.study) == ("P1", "S1", None)
    with pytest.raises(BadLink, match="study"):
        read_link(named, keys, {"t": token, "pid": "P1", "sid": "S1", "project": "X"}, platform.clock())


def test_new_keys_are_fetched_when_one_shows_up_but_not_at_will(door, platform):
    server = door()
    assert server.visitor().get(platform.link(1)).status_code == 303
    for _ in range(5):
        assert server.refused(platform.link(2, FORGED["a key nobody published"](platform)))
    assert platform.fetched == 1  # asked a moment ago


def test_keys_are_renewed_daily_and_serve_on_while_the_platform_is_away():
    now, asked, answers = [0.0], [], [{"a": 1}, DataError("away"), {"b": 2}]

    def fetch():
        asked.append(now[0])
        given = answers[min(len(asked), len(answers)) - 1]
        if isinstance(given, DataError):
            raise given
        return given

    keys = Keys(fetch, lambda: now[0])
    assert keys.find("a") == 1
    now[0] = PAUSE - 1
    assert keys.find("b") is None
    assert len(asked) == 1
    now[0] = PAUSE
    assert keys.find("b") is None  # away: what is in hand serves on
    assert (keys.find("a"), len(asked)) == (1, 2)
    now[0] = 2 * PAUSE
    assert keys.find("b") == 2
    assert keys.find("a") is None  # withdrawn
    now[0] += RENEWED - 1
    assert (keys.find("b"), len(asked)) == (2, 3)
    now[0] += 1
    assert (keys.find("b"), len(asked)) == (2, 4)


def test_while_there_are_no_keys_nobody_is_let_in_and_all_are_told_to_wait(door, platform):
    server = door()
    platform.answer = (500, {}, b"")
    response = server.visitor().get(platform.link(1))
    assert (response.status_code, response.headers["retry-after"]) == (503, "60")
    assert "wait a minute" in response.text
    assert not server.study.rows(sa.select(arrivals))


@pytest.mark.parametrize(
    "answer",
    [
        (302, {"location": "https://127.0.0.1:1/elsewhere"}, b""),
        (200, {}, b"x" * 300_000),
        (200, {}, b"[" * 100_000),
        (200, {}, b"not json"),
        (200, {}, b'{"keys": [{"kty": "oct", "kid": "first", "k": "c2VjcmV0"}]}'),
        (404, {}, b""),
    ],
    ids=["redirect", "large", "nested", "no json", "no RSA", "absent"],
)
def test_what_is_no_key_set_is_not_taken_for_one(platform, answer):
    assert list(fetch_keys(f"{platform.address}/jwks.json")) == ["first"]
    platform.answer = answer
    with pytest.raises(DataError):
        fetch_keys(f"{platform.address}/jwks.json")


def test_a_redirect_is_not_followed_even_to_good_keys(platform):
    platform.answer = (302, {"location": f"{platform.address}/complete"}, b"")
    with pytest.raises(DataError, match="302"):
        fetch_keys(f"{platform.address}/jwks.json")
    assert not platform.returned


def test_keys_come_over_https_or_from_a_file(platform):
    with pytest.raises(InputError, match="https"):
        fetch_keys("http://127.0.0.1/jwks.json")
    for keys in ("http://127.0.0.1/k", "file:///etc/passwd", "ftp://x/k"):
        with pytest.raises(ValueError, match="https"):
            Platform(keys=keys)


def test_an_unknown_certificate_is_not_trusted(platform, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(DataError, match="cannot be had"):
        fetch_keys(f"{platform.address}/jwks.json")


def test_only_strong_public_RSA_keys_for_signatures_are_used():
    from cryptography.hazmat.primitives.asymmetric import rsa
    from jwt.algorithms import RSAAlgorithm

    good = new_key()
    weak = rsa.generate_private_key(65537, 1024)
    private = json.loads(RSAAlgorithm.to_jwk(good))
    listed = [
        public(good, "good"),
        public(weak, "weak"),
        public(good, "for encryption", use="enc"),
        public(good, "another algorithm", alg="PS256"),
        public(good, ""),
        {**private, "kid": "private"},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
        "text",
    ]
    assert list(keys_of({"keys": listed})) == ["good"]
    assert pem(good)


def test_keys_in_a_file_are_read_at_every_start(begin, platform, tmp_path):
    (tmp_path / "study").mkdir()
    file = tmp_path / "study/keys.json"
    file.write_text(json.dumps(platform.jwks()))
    more = SETTINGS.format(keys="keys.json", back=platform.address)
    server = Door(begin(more=more))
    assert server.visitor().get(platform.link(1)).status_code == 303
    platform.signing = {"second": new_key()}
    assert server.refused(platform.link(2, platform.sign(platform.claims(2), "second")))
    file.write_text(json.dumps(platform.jwks()))
    later = Door(begin(more=more))
    assert later.visitor().get(platform.link(2, platform.sign(platform.claims(2), "second"))).status_code == 303
    assert platform.fetched == 0


def test_of_many_who_bring_one_token_at_once_to_two_servers_one_is_let_in(door, platform, database):
    server = door()
    other = open_store(database)
    apps = [server.app, make_app(other, server.study.clock, 1000.0)]
    link, codes = platform.link(1), []

    def arrive(app):
        codes.append(TestClient(app, follow_redirects=False).get(link).status_code)

    threads = [threading.Thread(target=arrive, args=(apps[number % 2],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [303] + [403] * 7
    assert len(server.study.rows(sa.select(assessors))) == 1
    other.close()


def test_who_comes_when_nothing_is_left_is_sent_back_before_any_work(door, platform):
    server = door(topics=1)
    first = server.visitor()
    first.get(platform.link(1))
    Person(server.study, server.study.rows(sa.select(assessors.c.number))[0].number).until("done")
    response = first.get("/work")
    assert f"{platform.address}/complete?cc=DONE1&amp;s=submission1" in response.text
    late = server.visitor()
    late.get(platform.link(2))
    response = late.get("/work")
    assert response.headers["x-page"] == "no_work"
    assert "cc=NONE1&amp;s=submission2" in response.text
    assert "DONE1" not in response.text
    assert not server.study.rows(sa.select(assessors).where(assessors.c.consented.is_not(None), assessors.c.number > 1))


def test_who_asks_for_more_and_finds_nothing_keeps_the_code_that_was_earned(door, platform):
    server = door(topics=1)
    client = server.visitor()
    client.get(platform.link(1))
    person = Person(server.study, server.study.rows(sa.select(assessors.c.number))[0].number)
    person.until("done")
    page = person.send(action="more")
    assert (page.kind, page.ending.code) == ("no_work", "DONE1")
