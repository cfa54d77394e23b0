"""Nobody comes in where they do not belong: passwords, sessions, tokens, roles, guards and guessing."""

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from judgewell.errors import InputError
from judgewell.server.app import make_app
from judgewell.server.owner import accounts as passwords
from judgewell.server.owner import sign_in as signing
from judgewell.server.owner.access import IDLE, LINK, SESSION, bearer, local
from judgewell.server.owner.accounts import add_account, disable, first_link, list_keys, new_link, new_token, revoke_all
from judgewell.server.store.schema import accounts, audit, keys

PASSWORD = "four words and more"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Hashing that costs little; what is tested does not depend on how long it takes."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    passwords._nobody.cache_clear()


@pytest.fixture
def door(begin):
    """A study's server, and visitors to it."""

    class Door:
        def __init__(self, rate=1000.0, **settings):
            self.study = begin(topics=1, **settings)
            self.app = make_app(self.study.store, self.study.clock, rate)

        def visitor(self, scheme="http", address="testclient"):
            here = f"{scheme}://testserver"
            options = {"base_url": here, "headers": {"origin": here}, "client": (address, 50000)}
            return TestClient(self.app, follow_redirects=False, **options)

        def write(self, job):
            return self.study.store.write(lambda c: job(c, self.study.clock())).result()

        def owner(self, name="Ada", role="owner", scheme="http"):
            """Somebody who has set a password by their link and is in."""
            self.write(lambda c, now: add_account(c, now, name, role))
            link = self.write(lambda c, now: new_link(c, now, name))
            client = self.visitor(scheme)
            answer = client.post(link, data={"name": name, "password": PASSWORD, "again": PASSWORD})
            assert (answer.status_code, answer.headers["location"]) == (303, "/owner")
            return client

    return Door


def sign_in(client, name="Ada", password=PASSWORD, **more):
    return client.post("/owner/sign-in", data={"name": name, "password": password, **more})


def inside(client):
    return client.get("/owner/review").status_code == 200


def guard_of(client):
    return re.search(r'name="guard" value="([^"]+)"', client.get("/owner/review").text)[1]


def test_the_first_owner_comes_in_by_a_link_that_works_once(door):
    served = door()
    link = served.write(first_link)
    client, other = served.visitor(), served.visitor()
    assert client.get(link).status_code == 200
    assert client.post(link, data={"name": "Ada", "password": "short", "again": "short"}).status_code == 422
    assert client.post(link, data={"name": "Ada", "password": PASSWORD, "again": PASSWORD + "x"}).status_code == 422
    answer = client.post(link, data={"name": "Ada", "password": PASSWORD, "again": PASSWORD})
    assert answer.status_code == 303
    assert inside(client)
    assert other.get(link).status_code == 404
    assert other.post(link, data={"name": "Eve", "password": PASSWORD, "again": PASSWORD}).status_code == 404
    assert served.write(first_link) is None
    assert sign_in(other).status_code == 303


def test_a_reviewer_called_owner_does_not_keep_the_first_owner_out(door):
    served = door()
    for name in ("Owner", "owner 2"):
        served.write(lambda c, now, name=name: add_account(c, now, name, "reviewer"))
    link = served.write(first_link)
    client = served.visitor()
    assert "owner 3" in client.get(link).text
    assert client.post(link, data={"name": "Ada", "password": PASSWORD, "again": PASSWORD}).status_code == 303
    assert client.get("/owner").status_code == 200


def test_a_link_ends_by_time_and_by_a_newer_one(door):
    served = door()
    old = served.write(first_link)
    client = served.visitor()
    assert served.write(first_link) is None  # a second start neither ends the link nor prints another
    assert client.get(old).status_code == 200
    new = served.write(lambda c, now: new_link(c, now, "owner"))
    assert client.get(old).status_code == 404
    assert client.get(new).status_code == 200
    served.study.clock.move(LINK + 1)
    assert client.get(new).status_code == 404


def test_nothing_secret_is_stored(door):
    served = door()
    client = served.owner()
    token = served.write(lambda c, now: new_token(c, now, "Ada", ["read"], 1, ""))
    cookie = next(iter(client.cookies.values()))
    dump = repr([served.study.rows(sa.select(table)) for table in (accounts, keys, audit)])
    assert all(secret not in dump for secret in (PASSWORD, cookie, token))
    assert "$argon2id$" in dump


def test_who_is_not_in_goes_to_the_sign_in_page_and_back(door):
    served = door()
    served.owner()
    client = served.visitor()
    answer = client.get("/owner/review?page=2")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/owner/sign-in?next=%2Fowner%2Freview%3Fpage%3D2"
    assert client.get("/owner/review", headers={"sec-fetch-mode": "cors"}).status_code == 401
    assert sign_in(client, next="/owner/review?page=2").headers["location"] == "/owner/review?page=2"


@pytest.mark.parametrize(
    "where",
    ["https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil", "javascript:alert(1)", "/a\nb", ""],
)
def test_only_our_own_paths_are_gone_to_next(where):
    assert local(where) == "/owner"


def test_wrong_passwords_and_unknown_names_get_the_same_answer(door, monkeypatch):
    served = door()
    served.owner()
    checked = []
    real = passwords.HASHER.verify
    monkeypatch.setattr(
        passwords, "HASHER", type("Counting", (), {"verify": lambda _, *given: checked.append(given) or real(*given)})()
    )
    monkeypatch.setattr(passwords, "_nobody", lambda: PasswordHasher(1, 64, 1).hash("nobody has this"))
    wrong, unknown = sign_in(served.visitor(), password="another password"), sign_in(served.visitor(), name="Eve")
    assert (wrong.status_code, unknown.status_code) == (403, 403)
    assert wrong.text.replace("Ada", "") == unknown.text.replace("Eve", "")
    assert len(checked) == 2  # a name that nobody has costs a hash too


def test_old_parameters_are_renewed_at_sign_in(door, monkeypatch):
    served = door()
    served.owner()
    before = served.study.rows(sa.select(accounts.c.password))
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=2, memory_cost=64, parallelism=1))
    assert sign_in(served.visitor()).status_code == 303
    after = served.study.rows(sa.select(accounts.c.password))
    assert "t=1" in before[0][0]
    assert "t=2" in after[0][0]
    assert sign_in(served.visitor()).status_code == 303


def test_guessing_is_slowed_for_an_account_and_an_address(door):
    served = door()
    served.owner()
    client = served.visitor()
    answers = [sign_in(client, password=f"wrong password {n}").status_code for n in range(signing.MOST_FOR_ACCOUNT + 1)]
    assert answers == [403] * signing.MOST_FOR_ACCOUNT + [429]
    refused = sign_in(client)  # the right one does not help now
    assert refused.status_code == 429
    assert 0 < int(refused.headers["retry-after"]) <= signing.WINDOW
    assert sign_in(served.visitor(address="10.0.0.9")).status_code == 303  # the owner elsewhere is not locked out
    other = served.visitor(address="10.0.0.7")
    names = [sign_in(other, name=f"name {n}").status_code for n in range(signing.MOST_FROM_ADDRESS + 1)]
    assert names == [403] * signing.MOST_FROM_ADDRESS + [429]
    served.study.clock.move(signing.WINDOW + 1)
    assert sign_in(client).status_code == 303


def test_guesses_from_everywhere_do_not_lock_the_owner_out(door):
    served = door()
    client = served.owner()
    guesses = (f"wrong password {number}" for number in range(signing.MOST_FOR_ACCOUNT_ANYWHERE + 1))
    codes = [
        sign_in(served.visitor(address=f"10.0.{number // 9}.1"), password=guess).status_code
        for number, guess in enumerate(guesses)
    ]
    assert codes == [403] * signing.MOST_FOR_ACCOUNT_ANYWHERE + [429]
    assert sign_in(served.visitor(address="10.1.0.1")).status_code == 429
    assert inside(client)  # signed in already
    client.post("/owner/sign-out", data={"guard": guard_of(client)})
    assert not inside(client)
    assert sign_in(client).status_code == 303  # a browser that signed in before
    assert inside(client)
    link = served.write(lambda c, now: new_link(c, now, "Ada"))  # as the command line prints it
    other = served.visitor(address="10.1.0.2")
    assert other.post(link, data={"name": "Ada", "password": PASSWORD, "again": PASSWORD}).status_code == 303
    assert inside(other)


def test_the_mark_of_a_browser_is_for_its_own_account(door):
    served = door()
    client = served.owner("Eve", "reviewer")
    served.owner()
    for number in range(signing.MOST_FOR_ACCOUNT_ANYWHERE):
        sign_in(served.visitor(address=f"10.0.{number // 9}.1"), password=f"wrong password {number}")
    assert sign_in(client).status_code == 429


def test_guesses_at_the_same_moment_count_each_other(door):
    served = door()
    served.owner()
    codes = []

    def guess(number):
        codes.append(sign_in(served.visitor(), password=f"wrong password {number}").status_code)

    threads = [threading.Thread(target=guess, args=(number,)) for number in range(signing.MOST_FOR_ACCOUNT + 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [403] * signing.MOST_FOR_ACCOUNT + [429] * 6


def test_sessions_end_when_idle_when_old_and_when_revoked(door):
    served = door()
    client = served.owner()
    served.study.clock.move(IDLE - 10)
    assert inside(client)
    served.study.clock.move(IDLE - 10)
    assert inside(client)
    served.study.clock.move(IDLE + 70)
    assert not inside(client)
    sign_in(client)
    for _ in range(int(SESSION / (IDLE - 100))):
        served.study.clock.move(IDLE - 100)
        inside(client)
    served.study.clock.move(IDLE - 100)
    assert not inside(client)
    sign_in(client)
    assert inside(client)
    served.write(lambda c, now: revoke_all(c, now, "Ada"))
    assert not inside(client)


def test_signing_out_ends_the_session_itself_and_a_new_sign_in_makes_a_new_one(door):
    served = door()
    client = served.owner()
    (name, first), *_ = client.cookies.items()
    assert client.post("/owner/sign-out", data={}).status_code == 403
    sign_in(client)
    second = client.cookies[name]
    assert second != first
    stolen = served.visitor()
    stolen.cookies.set(name, first)
    assert not inside(stolen)
    client.post("/owner/sign-out", data={"guard": guard_of(client)})
    stolen.cookies.clear()
    stolen.cookies.set(name, second)
    assert not inside(stolen)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_cookie_is_kept_from_scripts_and_other_sites(door, scheme):
    served = door()
    served.owner(scheme=scheme)
    said = sign_in(served.visitor(scheme)).headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=lax" in said
    assert "path=/" in said
    assert ("secure" in said) == said.startswith("__host-") == (scheme == "https")


def test_another_site_cannot_sign_in_act_or_sign_out(door):
    served = door()
    client = served.owner()
    assert client.post("/owner/act", data={"action": "pause"}).status_code == 403
    assert client.post("/owner/act", data={"action": "pause", "guard": "made-up"}).status_code == 403
    other = served.owner("Eve")
    assert client.post("/owner/act", data={"action": "pause", "guard": guard_of(other)}).status_code == 403
    data = {"name": "Ada", "password": PASSWORD}
    cross = {"sec-fetch-site": "cross-site"}
    assert served.visitor().post("/owner/sign-in", data=data, headers=cross).status_code == 403
    assert client.post("/owner/act", data={"action": "pause", "guard": guard_of(client)}).status_code == 303
    assert [row.action for row in served.study.rows(sa.select(audit.c.action))].count("pause") == 1


def test_actions_need_an_owner_and_are_written_with_who_and_where(door):
    served = door()
    reviewer, owner = served.owner("Rex", "reviewer"), served.owner()
    assert reviewer.get("/owner").headers["location"] == "/owner/review"
    assert reviewer.get("/owner/log").status_code == 403
    assert reviewer.post("/owner/act", data={"action": "pause", "guard": guard_of(reviewer)}).status_code == 403
    assert served.visitor().post("/owner/act", data={"action": "pause"}).status_code == 303
    answer = owner.post("/owner/act", data={"action": "pause", "guard": guard_of(owner), "next": "//evil.example"})
    assert answer.headers["location"] == "/owner"
    (entry,) = served.study.rows(sa.select(audit).where(audit.c.action == "pause"))
    assert (entry.account, entry.address, entry.target) == (2, "testclient", "the study")
    bad = owner.post("/owner/act", data={"action": "release", "guard": guard_of(owner), "assessor": "9"})
    assert bad.status_code == 303
    assert owner.post("/owner/act", data={"action": "drop", "guard": guard_of(owner)}).status_code == 404


def test_a_disabled_account_is_out_at_once_and_the_last_owner_stays(door):
    served = door()
    client = served.owner("Rex", "reviewer")
    with pytest.raises(InputError, match="only owner"):
        served.owner() and served.write(lambda c, now: disable(c, now, "Ada"))
    assert inside(client)
    served.write(lambda c, now: disable(c, now, "Rex"))
    assert not inside(client)
    assert sign_in(client, name="Rex").status_code == 403


def test_tokens_have_scopes_and_an_end(door):
    from fastapi import Request

    from judgewell.server.limits import Rate
    from judgewell.server.process import Server
    from judgewell.server.web import Pages, Refusal

    served = door()
    served.owner()
    server = Server(served.study.store, served.study.served, Rate(3, 3, served.study.clock), Pages())
    token = served.write(lambda c, now: new_token(c, now, "Ada", ["read"], 1, "notebook"))

    async def ask(scope, secret=token):
        scope_of = {"type": "http", "headers": [(b"authorization", f"Bearer {secret}".encode())], "client": ("x", 1)}
        return await bearer(server, Request(scope_of), scope)

    def run(asking):  # in a thread of its own: the browser's tests leave an event loop in this one
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, asking).result()

    assert run(ask("read")).name == "Ada"
    for wanted, secret, code in (("write", token, 403), ("read", token + "x", 401), ("read", "", 401)):
        with pytest.raises(Refusal) as refused:
            run(ask(wanted, secret))
        assert refused.value.status == code
    run(ask("read"))
    with pytest.raises(Refusal) as refused:
        run(ask("read"))
    assert (refused.value.status, "retry-after" in refused.value.headers) == (429, True)
    assert [row.kind for row in served.write(list_keys)] == ["session", "token"]
    served.study.clock.move(86401)
    server = Server(served.study.store, served.study.served, Rate(3, 3, served.study.clock), Pages())
    with pytest.raises(Refusal) as refused:
        run(ask("read"))
    assert refused.value.status == 401


def test_a_reviewer_gets_no_token_and_names_are_taken_once(door):
    served = door()
    served.owner("Rex", "reviewer")
    with pytest.raises(InputError, match="tokens are for owners"):
        served.write(lambda c, now: new_token(c, now, "Rex", ["read"], 1, ""))
    with pytest.raises(InputError, match="already"):
        served.write(lambda c, now: add_account(c, now, "rex", "owner"))


def test_too_many_requests_are_told_when_to_ask_again(door):
    served = door(rate=1.0)
    client = served.visitor()
    answers = [client.get("/owner/review") for _ in range(8)]
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_no_body_is_read_beyond_the_largest(door):
    served = door()
    client = served.visitor()
    large = b"x" * (1024 * 1024 + 1)
    assert client.post("/owner/sign-in", content=large).status_code == 413
    assert client.post("/api/anything", content=large, headers={"content-type": "application/json"}).status_code == 413
    parts = (b"x" * 65536 for _ in range(40))
    assert client.post("/owner/sign-in", content=parts).status_code == 413
