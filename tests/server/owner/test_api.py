"""The API over HTTP: what it gives, whom it lets in, what it says is wrong, and the client for notebooks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import polars as pl
import pytest
import uvicorn
from databases import new_database
from owner_studies import write_graded_study
from waiting import HANG, wait_until

import judgewell
import judgewell.errors
from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import fill
from judgewell.client import ClientError
from judgewell.server.app import make_app
from judgewell.server.owner.access import make_key
from judgewell.server.owner.accounts import add_account, disable, new_token
from judgewell.server.session.served import load_served
from judgewell.server.store.transactions import Store, open_store

NOW = 1_800_000_000.0


@dataclass(frozen=True)
class Api:
    """A server, and tokens for it."""

    address: str
    store: Store
    reading: str
    writing: str
    http: httpx.Client  # one for all requests: each new one reads all certificates

    def client(self, token: str | None = None) -> judgewell.Client:
        return judgewell.Client(self.address, self.writing if token is None else token)

    def ask(self, method: str, path: str, token: str | None = None, **more: object) -> httpx.Response:
        headers = {
            "authorization": f"Bearer {self.writing if token is None else token}",
            "content-type": "application/json",
        }
        return self.http.request(method, f"{self.address}/api/v1{path}", headers=headers, timeout=HANG, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A running server of a study that synthetic people have filled."""
    folder = tmp_path_factory.mktemp("api")
    place = str(folder / "study.sqlite")
    if request.param == "postgresql":
        place = new_database(request.getfixturevalue("postgres"))
    store = open_store(place)
    path = write_graded_study(folder, topics=3, docs=8, size=8, redundancy=2, topic="t/{0}")
    fill(store, path, make_people(8, seed=1), seed=1)

    def tokens(connection: object) -> tuple[str, str, str]:
        add_account(connection, NOW, "Olga", "owner")  # type: ignore[arg-type]
        return tuple(  # type: ignore[return-value]
            new_token(connection, NOW, "Olga", scopes, 30000, "tests")  # type: ignore[arg-type]
            for scopes in (("read",), ("read", "write"))
        )

    reading, writing = store.write(tokens).result()
    running = uvicorn.Server(
        uvicorn.Config(make_app(store, requests_per_second=10_000), port=0, log_level="warning", lifespan="off")
    )
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    wait_until(lambda: running.started)
    port = running.servers[0].sockets[0].getsockname()[1]
    with httpx.Client() as http:
        yield Api(f"http://127.0.0.1:{port}", store, reading, writing, http)
    running.should_exit = True
    thread.join(HANG)
    store.close()


def test_the_judgments_table_comes_as_the_export_writes_it(api: Api, tmp_path: Path) -> None:
    from judgewell.server.queries.export import export

    export(api.store, tmp_path)
    written = pl.read_parquet(tmp_path / "judgments.parquet")
    with api.client() as client:
        assert client.judgments().equals(written)
        assert len(client.judgments(all=True)) >= len(written)
        assert client.pairs().is_empty()
    as_json = pl.DataFrame(api.ask("GET", "/judgments").json(), schema=written.schema)
    assert as_json.equals(written)
    csv = api.ask("GET", "/judgments", params={"format": "csv"})
    assert csv.headers["content-type"] == "text/csv; charset=utf-8"
    assert csv.text.splitlines()[0].split(",")[:3] == ["topic", "doc", "assessor"]


def test_everything_the_dashboard_shows(api: Api) -> None:
    with api.client() as client:
        assert client.study()["name"] == "graded"
        state = client.status()
        assert sum(topic["done"] for topic in state["topics"]) > 0
        glance = client.overview()
        assert glance["answers"] == state["answers"] > 0
        assert (glance["in_hand"], glance["left_out"]) == (glance["in_progress"], glance["assessors_excluded"])
        assert client.topics()["topic"].to_list() == ["t/0", "t/1", "t/2"]
        assert client.units("t/1")["done"].sum() == 2
        everybody = client.assessors()
        assert len(everybody) == 8
        trail = client.trail(everybody["pseudonym"][0])
        assert trail["who"]["pseudonym"] == everybody["pseudonym"][0]
        assert trail["answers"]
        assert client.working().is_empty() or "unit" in client.working().columns
        assert client.reviews() is None
        found = client.insight(wait=HANG)
        assert found is not None
        assert found["judgments"] == len(client.judgments())
        assert {action["name"] for action in client.actions()} >= {"pause", "exclude", "more", "forget"}


def test_actions_are_done_and_logged(api: Api) -> None:
    with api.client() as client:
        assert client.act("pause", topic="t/2", reason="two readings") == {"paused": "t/2"}
        assert client.topics().filter(pl.col("topic") == "t/2")["paused"][0] is not None
        client.act("resume", topic="t/2")
        log = client.audit(2)
        assert log["action"].to_list() == ["resume", "pause"]
        assert log["account"].to_list() == ["Olga", "Olga"]
        with pytest.raises(ClientError, match=r"there is no topic 'x'.*\(422\)"):
            client.act("pause", topic="x")
        with pytest.raises(ClientError, match=r"\(404\)"):
            client.act("launch")
        with pytest.raises(ClientError, match=r"this database holds a rehearsal with synthetic.*\(422\)"):
            client.invite(["Ann", "Ben"])


def test_only_owners_with_the_scope_come_in(api: Api) -> None:
    for token in ("none", "jw_wrong", "jw_" + "x" * 5000):
        refused = api.ask("GET", "/judgments", token)
        assert refused.status_code == 401
        assert refused.json()["detail"].startswith("a valid token is needed")
        assert refused.headers["www-authenticate"] == "Bearer"
        # a stranger is refused before the body is looked at
        assert api.ask("POST", "/actions/pause", token, content=b"{").status_code == 401
    assert api.ask("POST", "/actions/pause", api.reading, json={}).status_code == 403

    def reviewer(connection: object) -> str:
        number = add_account(connection, NOW, "Rita", "reviewer")  # type: ignore[arg-type]
        return make_key(connection, number, "token", NOW, 9e8, scopes=("read", "write"))  # type: ignore[arg-type]

    rita = api.store.write(reviewer).result()
    assert api.ask("GET", "/judgments", rita).status_code == 403
    api.store.write(lambda connection: disable(connection, NOW, "Rita")).result()
    assert api.ask("GET", "/judgments", rita).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "more", "status", "said"),
    [
        ("GET", "/topics/nowhere/units", {}, 404, "there is no topic 'nowhere' with units"),
        ("GET", "/topics/a%00b/units", {}, 422, "a text holds a NUL"),
        ("GET", "/assessors/nobody", {}, 404, "there is no assessor 'nobody'"),
        ("GET", "/nowhere", {}, 404, "Not Found"),
        ("DELETE", "/judgments", {}, 405, "Method Not Allowed"),
        ("GET", "/judgments", {"params": {"format": "xml"}}, 422, "format: Input should be"),
        ("GET", "/audit", {"params": {"before": str(10**30)}}, 422, "before: Input should be less"),
        ("POST", "/actions/revoke-key", {"json": {"key": 10**30}}, 422, "too large a number"),
        ("POST", "/actions/release", {"json": {"assessor": "a-nobody"}}, 422, "there is no assessor"),
        ("POST", "/actions/pause", {"json": {"topic": "a\0b"}}, 422, "a text holds a NUL"),
        ("POST", "/actions/pause", {"content": b'{"topic": "\\ud800"}'}, 422, ""),
        ("POST", "/actions/pause", {"content": b'{"topic": '}, 422, "JSON decode error"),
        ("POST", "/actions/pause", {"json": {"subject": "t/1"}}, 422, "subject: Extra inputs"),
        ("POST", "/actions/pause", {"content": b" " * 3_000_000}, 413, ""),
    ],
)
def test_what_is_wrong_is_one_line(
    api: Api, method: str, path: str, more: dict[str, object], status: int, said: str
) -> None:
    answer = api.ask(method, path, **more)
    assert answer.status_code == status, answer.text
    if status != 413:
        assert said in answer.json()["detail"]
        assert "\n" not in answer.json()["detail"]


def test_the_description_covers_all_and_shows_no_secret(api: Api) -> None:
    assert api.http.get(f"{api.address}/openapi.json").status_code in (303, 401)
    headers = {"authorization": f"Bearer {api.reading}"}
    described = api.http.get(f"{api.address}/openapi.json", headers=headers).json()
    served = api.store.read(load_served).result()
    assert served.secret not in str(described)
    paths = described["paths"]
    assert {"/api/v1/judgments", "/api/v1/actions/exclude", "/api/v1/insight"} <= set(paths)
    assert not [path for path in paths if not path.startswith("/api/v1/")]
    for operations in paths.values():
        for operation in operations.values():
            assert operation["summary"]
            assert {"401", "403", "422", "429", "503"} <= set(operation["responses"])
            assert operation["security"] == [{"HTTPBearer": []}]


def test_a_client_says_what_is_wrong() -> None:
    with pytest.raises(judgewell.errors.InputError, match="begin it with https"):
        judgewell.Client("judge.example.org", "jw_x")
    unreachable = judgewell.Client("http://127.0.0.1:9", "jw_x", timeout=HANG)
    with unreachable as client, pytest.raises(ClientError, match="does not answer"):
        client.status()
