"""The set-up for several hosts in deploy/: its files are complete, and processes in its environment work."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
import sqlalchemy as sa
import yaml
from databases import new_database, one_postgres
from judging import Study, check_whole, write_study
from serving import Browser
from waiting import HANG, wait_until

from judgewell.server.serve import KEEP_ALIVE
from judgewell.server.store.schema import answers, assessors
from judgewell.server.store.transactions import open_store

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
VALUES = {"POSTGRES_PASSWORD": "not used on a socket", "JUDGEWELL_METRICS_TOKEN": "secret-of-metrics"}


def environment(service: str, database: str) -> dict[str, str]:
    """A service's environment, with our values and our database in place of the set-up's."""
    given = COMPOSE["services"][service]["environment"]
    values = {
        name: re.sub(r"\$\{(\w+):\?[^}]*\}", lambda one: VALUES[one[1]], str(text)) for name, text in given.items()
    }
    return {**values, "JUDGEWELL_DATABASE": database}


def instructions() -> dict[str, list[str]]:
    """The arguments of each instruction of the Containerfile, by its name."""
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            found.setdefault(name, []).append(rest.strip())
    return found


def served_command() -> list[str]:
    """The command that a container runs."""
    given = instructions()
    return [*json.loads(given["ENTRYPOINT"][0]), *json.loads(given["CMD"][0])]


class Process:
    """A server started as a container starts it, but on the loopback and a port that is free."""

    def __init__(self, study: Path, service: str, database: str) -> None:
        command = served_command()
        assert command[:3] == ["judgewell", "serve", "/study/study.toml"]
        start = [
            sys.executable,
            "-m",
            "judgewell",
            "serve",
            str(study),
            "--port",
            "0",
            "--requests-per-second",
            "10000",
        ]
        settings = {**os.environ, **environment(service, database)}
        self.process = subprocess.Popen(start, env=settings, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.first = json.loads(self.process.stdout.readline())
        self.port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", self.first["message"])[0])

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        try:
            with urlopen(Request(f"http://127.0.0.1:{self.port}{path}", headers=headers), timeout=HANG) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def end(self, how: int) -> int:
        self.process.send_signal(how)
        return self.process.wait(HANG)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(HANG)
        if self.process.stdout:
            self.process.stdout.close()


@contextmanager
def two_servers(study: Path, database: str) -> Iterator[list[Process]]:
    """Both servers of compose.yaml, the second started when the first is healthy."""
    processes: list[Process] = []
    try:
        for service in ("server1", "server2"):
            processes.append(Process(study, service, database))
            wait_until(lambda: processes[-1].get("/healthz")[0] == 200)
        yield processes
    finally:
        for process in processes:
            process.close()


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[tuple[Study, list[Process]]]:
    database = new_database(one_postgres())
    path = write_study(tmp_path, topics=6, docs=8, size=4)
    with two_servers(path, database) as processes:
        store = open_store(database)
        yield Study(store, path), processes
        store.close()


def metrics(process: Process) -> dict[str, float]:
    status, text = process.get("/metrics", authorization=f"Bearer {VALUES['JUDGEWELL_METRICS_TOKEN']}")
    assert status == 200
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


@pytest.mark.long
def test_a_study_goes_on_when_a_server_is_stopped_and_the_other_killed(
    deployed: tuple[Study, list[Process]],
) -> None:
    study, (first, second) = deployed
    for process in (first, second):
        check_numbers_and_logs(process)
    stop_with_a_request_in_hand(study, first)
    again = Process(study.path, "server1", study.store.url)
    try:
        kill_while_people_judge(study, second, again)
        numbers = metrics(again)
    finally:
        again.close()
    assert numbers["judgewell_answers_total"] == 48
    assert numbers['judgewell_units{state="completed"}'] == numbers["judgewell_units_needed"] == 12
    assert numbers["judgewell_errors_total"] == 0


def check_numbers_and_logs(process: Process) -> None:
    """Numbers need the token, and logs are JSON."""
    assert set(process.first) == {"time", "level", "logger", "message"}
    assert process.get("/readyz")[0] == 200
    assert process.get("/metrics")[0] == 404
    assert process.get("/metrics", authorization="Bearer other")[0] == 404
    numbers = metrics(process)
    assert numbers['judgewell_requests_total{method="GET",status="404"}'] == 2
    assert numbers["judgewell_request_seconds_count"] == numbers['judgewell_request_seconds_bucket{le="+Inf"}'] >= 4
    assert numbers["judgewell_writes_waiting"] == 0


def stop_with_a_request_in_hand(study: Study, server: Process) -> None:
    """A server that is stopped in the middle of a request takes the rest of it, stores it and answers."""
    browser = Browser(server.port, study.served, study.person().number)
    browser.enter()
    while browser.kind != "document":
        browser.turn("POST", {"step": browser.step, **({"action": "agree"} if browser.kind == "consent" else {})})
    body = urlencode({"step": browser.step, "value": "20", "comment": "in hand"}).encode()
    head = f"POST /work HTTP/1.1\r\nhost: here\r\ncookie: {browser.cookie}\r\nx-fragment: 1\r\n"
    head += f"content-type: application/x-www-form-urlencoded\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), HANG) as connection:
        connection.sendall(head.encode() + body[:5])
        metrics(server)  # answered after the head was received
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not listens(server.port))
        connection.sendall(body[5:])
        with connection.makefile("rb") as answer:
            assert answer.readline().startswith(b"HTTP/1.1 200 ")
    assert server.process.wait(HANG) in (0, -signal.SIGTERM)
    assert [row.comment for row in study.rows(sa.select(answers.c.comment))] == ["in hand"]


def kill_while_people_judge(study: Study, killed: Process, other: Process) -> None:
    """People of both servers finish at the other one, and every acknowledged answer is there once."""
    numbers = [row.number for row in study.rows(sa.select(assessors.c.number))]  # who was interrupted goes on
    numbers += [study.person().number for _ in range(5)]
    browsers = [Browser((killed, other)[n % 2].port, study.served, number) for n, number in enumerate(numbers)]
    threads = [threading.Thread(target=browser.judge, daemon=True) for browser in browsers]
    for thread in threads:
        thread.start()
    wait_until(lambda: sum(len(browser.acknowledged) for browser in browsers) >= 10)
    killed.end(signal.SIGKILL)
    for browser in browsers:
        browser.port = other.port  # the proxy sends them there
    for thread in threads:
        thread.join(HANG)
    assert [trouble for browser in browsers for trouble in browser.troubles] == []
    acknowledged = [comment for browser in browsers for comment in browser.acknowledged]
    assert sorted(row.comment for row in study.rows(sa.select(answers.c.comment))) == sorted([*acknowledged, "in hand"])
    check_whole(study.store)


def listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def test_numbers_are_absent_without_a_token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from starlette.testclient import TestClient

    from judgewell.server.app import make_app

    monkeypatch.delenv("JUDGEWELL_METRICS_TOKEN", raising=False)
    study = Study(open_store(tmp_path / "study.sqlite"), write_study(tmp_path))
    with TestClient(make_app(study.store)) as visitor:
        assert visitor.get("/readyz").status_code == 200
        assert visitor.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


def test_compose_file_starts_servers_in_order_and_keeps_the_database_inside() -> None:
    services: dict[str, Any] = COMPOSE["services"]
    assert services["server2"]["depends_on"] == {"server1": {"condition": "service_healthy"}}
    assert services["server1"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    subnet = COMPOSE["networks"]["inner"]["ipam"]["config"][0]["subnet"]
    for name in ("server1", "server2"):
        assert services[name]["environment"]["FORWARDED_ALLOW_IPS"] == subnet
        assert services[name]["stop_grace_period"] == "30s"
        assert (DEPLOY / services[name]["build"]["context"] / services[name]["build"]["dockerfile"]).is_file()
    wanted = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()))
    assert {line.partition("=")[0] for line in (DEPLOY / ".env.example").read_text().splitlines()[1:]} == wanted


def test_containerfile_copies_what_the_build_needs_and_runs_as_nobody() -> None:
    given = instructions()
    root = DEPLOY.parent
    copied = [word for line in given["COPY"] if "--from" not in line for word in line.split()[:-1]]
    assert [name for name in copied if not (root / name).exists()] == []
    sent = {line.removeprefix("!") for line in (root / ".dockerignore").read_text().splitlines() if line[0] == "!"}
    assert set(copied) == sent
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = re.findall(r"whl\)\[([\w,]+)\]", " ".join(given["RUN"]))[0].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    assert {project["readme"], *project["license-files"]} <= set(copied)
    assert given["USER"] == ["judgewell"]
    assert given["STOPSIGNAL"] == ["SIGTERM"]
    assert "/healthz" in given["HEALTHCHECK"][0]


def test_the_proxy_lets_go_of_a_connection_before_the_server() -> None:
    """A form sent on a connection that the server has just closed would be lost."""
    proxy = re.search(r"keepalive (\d+)s", (DEPLOY / "Caddyfile").read_text())
    assert proxy is not None
    assert int(proxy[1]) < KEEP_ALIVE == 75
    guide = (DEPLOY.parent / "docs" / "guide" / "deployment.md").read_text()
    assert f"keeps an idle connection open for {KEEP_ALIVE} seconds" in guide


def test_caddyfile_is_balanced_and_sends_an_address_to_one_server() -> None:
    text = (DEPLOY / "Caddyfile").read_text()
    depth = 0
    for line in re.sub(r"\{\$\w+\}", "", text).splitlines():
        code = line.partition("#")[0]
        depth += code.count("{") - code.count("}")
        assert depth >= 0, line
    assert depth == 0
    upstreams = re.findall(r"reverse_proxy (.+) \{", text)[0].split()
    assert [name.removesuffix(":8000") for name in upstreams] == ["server1", "server2"]
    for setting in ("lb_policy ip_hash", "health_uri /readyz", "respond /metrics 404", "max_size 1MB"):
        assert setting in text


@pytest.mark.skipif(shutil.which("caddy") is None, reason="needs Caddy")
def test_caddy_takes_its_file(tmp_path: Path) -> None:
    environment = {**os.environ, "SITE_ADDRESS": "judge.example.org", "XDG_DATA_HOME": str(tmp_path)}
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
