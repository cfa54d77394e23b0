"""Secrets are random, stay where they are, and nothing in the source lets somebody in or runs what it reads."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from attacking import Place, guard_of

import judgewell
from judgewell.errors import InputError
from judgewell.server.owner import accounts as passwords
from judgewell.server.queries.export import export
from judgewell.server.store.backup import backup, restore
from judgewell.server.store.schema import accounts, study
from judgewell.server.store.transactions import open_store

SOURCE = Path(judgewell.__file__).parent
# Whatever makes code or objects out of text: none of it has a place in a server that reads strangers' files.
FORBIDDEN = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib", "cloudpickle", "yaml", "xmlrpc", "telnetlib"}
# Executors hand values to processes that they started themselves; no file from elsewhere is read so.
BETWEEN_OWN_PROCESSES = {SOURCE / "executors" / name for name in ("local.py", "cluster.py")}
CALLS = {"eval", "exec", "compile", "__import__"}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Hashing that costs little."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    passwords._nobody.cache_clear()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = Place.on_sqlite(tmp_path_factory.mktemp("secrets"))
    yield made
    made.study.store.close()


def test_nothing_in_the_source_runs_what_it_reads():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name.partition(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [(node.module or "").partition(".")[0]]
            allowed = {"pickle"} if path in BETWEEN_OWN_PROCESSES else set()
            assert not (FORBIDDEN - allowed) & set(names), path
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name):
                    assert node.func.id not in CALLS, (path, node.lineno)
                for word in node.keywords:
                    risky = (word.arg, getattr(word.value, "value", None)) in {("shell", True), ("autoescape", False)}
                    assert not risky, (path, node.lineno)


def test_no_template_switches_escaping_off():
    for path in SOURCE.rglob("templates/**/*.html"):
        if "reports" not in path.parts:
            assert not re.search(r"\|\s*safe\b|autoescape\s+false|\bMarkup\b", path.read_text("utf-8")), path


def test_no_secret_is_written_down_in_the_source():
    given = re.compile(r"(secret|password|api_?key|token)\w*\s*[:=]\s*[\"'][A-Za-z0-9+/_-]{12,}[\"']", re.IGNORECASE)
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.toml"), *SOURCE.rglob("*.js")]:
        assert not given.search(path.read_text("utf-8")), path


def test_every_database_has_a_long_random_secret(tmp_path):
    found = set()
    for number in range(4):
        made = Place.on_sqlite(tmp_path / str(number))
        found.add(made.study.served.secret)
        made.study.store.close()
    assert len(found) == 4
    assert all(re.fullmatch(r"[0-9a-f]{64}", secret) for secret in found)


def test_the_secret_is_on_no_page_in_no_export_and_no_description(place, tmp_path, capsys):
    secret = place.study.served.secret
    (client, person), owner = place.assessor(), place.signed_in()
    person.until("done")
    key = place.key("owner", "token", ("read", "write"))
    headers = {"authorization": f"Bearer {key}"}
    paths = [path for path in owner.get("/openapi.json", headers=headers).json()["paths"] if "{" not in path]
    texts = [owner.get(path, headers=headers).text for path in (*paths, "/openapi.json", "/healthz")]
    texts += [
        owner.get(f"/owner{path}").text for path in ("", "/topics", "/assessors", "/assessors/1", "/log", "/money")
    ]
    texts += [client.get("/work").text, str(client.get("/work").headers), str(owner.get("/owner").headers)]
    texts += [path.read_bytes().decode("latin-1") for path in export(place.study.store, tmp_path / "out")]
    hashes = place.study.rows(sa.select(accounts.c.password))
    assert hashes
    for text in texts:
        assert secret not in text
        assert "$argon2" not in text
        assert key not in text


def test_nobody_can_register(place):
    """A study without accounts lets nobody in, and no address makes one."""
    stranger = place.stranger()
    before = len(place.study.rows(sa.select(accounts)))
    for path in (
        "/owner/register",
        "/owner/sign-up",
        "/owner/accounts",
        "/register",
        "/signup",
        "/owner/link/",
        "/owner/link/x",
    ):
        form = {"name": "eve", "password": "a long password", "again": "a long password", "role": "owner"}
        assert stranger.post(path, data=form).status_code in (404, 405), path
    for name in ("owner", "admin", "root", ""):
        for password in ("", "owner", "admin", "password", "judgewell", "changeme"):
            answer = place.stranger(client=(f"10.0.0.{len(name)}", 1)).post(
                "/owner/sign-in", data={"name": name, "password": password}
            )
            assert answer.status_code in (403, 429)
    assert len(place.study.rows(sa.select(accounts))) == before
    assert stranger.get("/owner").status_code == 303


def test_an_account_without_a_password_is_closed(place):
    """An account waits for its one-time link; no password, the empty one included, opens it."""
    place.key("owner")
    name = place.study.rows(sa.select(accounts.c.name).where(accounts.c.password.is_(None)))[0][0]
    for password in ("", "None", "null", "\0", name):
        answer = place.stranger(client=("10.9.9.9", 1)).post(
            "/owner/sign-in", data={"name": name, "password": password}
        )
        assert answer.status_code == 403


def test_the_guard_of_a_session_is_no_session(place):
    owner = place.signed_in()
    thief = place.stranger()
    thief.cookies.set(f"{place.cookie}-owner", guard_of(owner))
    assert thief.get("/owner").status_code == 303


HOSTILE_FILES = {
    "pickle": b"cposix\nsystem\n(S'id'\ntR.",
    "zip": b"PK\x03\x04../../../etc/passwd",
    "text": b"DROP TABLE study;",
    "empty": b"",
    "cut off": b"SQLite format 3\x00" + b"\x10\x00" * 40,
}


@pytest.mark.parametrize("kind", HOSTILE_FILES)
def test_a_hostile_file_is_no_backup(place, tmp_path, kind):
    path = tmp_path / "backup.sqlite"
    path.write_bytes(HOSTILE_FILES[kind])
    before = place.study.rows(sa.select(study))
    with pytest.raises(InputError):
        restore(place.study.store, path, replace=True)
    assert place.study.rows(sa.select(study)) == before


def test_triggers_and_views_in_a_backup_do_nothing(place, tmp_path):
    """A backup's own code stays in the copy it is read from."""
    import sqlite3

    path = backup(place.study.store, tmp_path / "good.sqlite")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE stolen (x)")
    connection.execute("CREATE TRIGGER evil AFTER INSERT ON accounts BEGIN UPDATE accounts SET role = 'owner'; END")
    connection.execute("CREATE VIEW looks AS SELECT secret FROM study")
    connection.execute("UPDATE study SET name = '../../etc/passwd'")
    connection.commit()
    connection.close()
    target = open_store(tmp_path / "target.sqlite")
    restore(target, path)
    names = target.read(lambda c: {row[0] for row in c.execute(sa.text("SELECT name FROM sqlite_master"))}).result()
    target.close()
    assert not {"evil", "looks", "stolen"} & names
    assert not list(tmp_path.parent.rglob("passwd"))
