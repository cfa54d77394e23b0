"""judgewell's judging server beside Potato and Label Studio: what each stores, how fast, and what a kill costs.

Each peer is installed from its own release into a virtual environment of its own under bench/data. The same client
sends the same numbers to all: one connection for each of several assessors at once, no think time. Quepid is not
measured: it needs Ruby, MySQL and Redis.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode

from measure import ROOT, Outcome, Row
from server import Size, told, write_study

ENVIRONMENTS = ROOT / "bench" / "data" / "peers"
LOWEST, HIGHEST = 1, 1000
BAD = ("abc", "-5", "NaN", "1e9")  # no numbers from 1 to 1000
PATIENCE = 120.0  # seconds for a server to start
Send = Callable[[str], bool]  # sends one answer; whether it was acknowledged


@dataclass(frozen=True)
class Running:
    """A judging server: its process, a signed-in assessor, and the answers it has stored."""

    process: int
    assessor: Callable[[int], Send]
    stored: Callable[[], list[str]]


@dataclass(frozen=True)
class Collected(Row):
    """What one server did."""

    bad_stored: tuple[str, ...] = ()
    per_second: float = 0.0
    acknowledged: int = 0
    lost: int = 0


def rows(quick: bool) -> Iterator[Row]:
    """Every server, one after the other."""
    assessors, answers = (4, 10) if quick else (20, 50)
    for tool, started in SERVERS.items():
        try:
            yield measured(tool, started, assessors, answers)
        except (OSError, subprocess.CalledProcessError) as error:
            yield Collected("collecting", "20 assessors at once", tool, (Outcome(0, 0, f"did not run: {error}"),))


def measured(tool: str, started: Callable[[Path], Running], assessors: int, answers: int) -> Collected:
    """Bad values first, then the load, then a kill in the middle of a load; a new server for each."""
    with running(started) as server:
        send = server.assessor(0)
        for value in BAD:
            send(value)
        bad = tuple(value for value in BAD if value in server.stored())
    with running(started) as server:
        sends = [server.assessor(number) for number in range(assessors)]
        begun = time.perf_counter()
        taken = sum(at_once(sends, answers))
        seconds = time.perf_counter() - begun
    with running(started) as server:
        sends = [server.assessor(number) for number in range(assessors)]
        threading.Timer(seconds / 2, kill, [server.process]).start()
        acknowledged = sum(at_once(sends, answers))
        lost = max(0, acknowledged - len(server.stored()))
    outcome = Outcome(seconds, 0.0, "" if taken == assessors * answers else f"{taken} answers were acknowledged")
    case = f"{assessors} assessors at once"
    return Collected("collecting", case, version_of(tool), (outcome,), bad, taken / seconds, acknowledged, lost)


def at_once(sends: Sequence[Send], answers: int) -> list[int]:
    """How many answers of each assessor were acknowledged, all sending at the same time."""
    counts = [0] * len(sends)

    def work(number: int) -> None:
        for answer in range(answers):
            try:
                counts[number] += sends[number](str(LOWEST + answer))
            except (OSError, HTTPException):  # the server was killed
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(sends))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


@contextmanager
def running(started: Callable[[Path], Running]) -> Iterator[Running]:
    """A new server in a new folder; it is killed at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = started(Path(folder))
        try:
            yield server
        finally:
            kill(server.process)


def kill(process: int) -> None:
    """Stop a server at once, with all the processes it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


class Browser:
    """One connection with its cookies."""

    def __init__(self, port: int) -> None:
        self.port, self.cookies = port, dict[str, str]()
        self.connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: str = "", kind: str = "application/x-www-form-urlencoded") -> str:
        """The page; a refusal (4xx) is a page too."""
        sent = {"content-type": kind, "cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        sent |= {"x-fragment": "1"}  # as judgewell's page asks for the next one
        sent |= {"referer": f"http://127.0.0.1:{self.port}/", "x-csrftoken": self.cookies.get("csrftoken", "")}
        self.connection.request(method, path, body.encode(), sent)
        answer = self.connection.getresponse()
        for header in answer.headers.get_all("set-cookie") or ():
            name, _, value = header.partition(";")[0].partition("=")
            self.cookies[name] = value
        self.status = answer.status
        return answer.read().decode()

    def ask_json(self, method: str, path: str, body: object = None) -> str:
        return self.ask(method, path, "" if body is None else json.dumps(body), "application/json")


def judgewell(folder: Path) -> Running:
    """A study of magnitudes on SQLite."""
    study = write_study(folder / "study", Size(25, 80, 8, 3))
    bounded = f'kind = "bounded"\nlow = {LOWEST - 1}\nhigh = {HIGHEST + 1}'
    study.write_text(study.read_text().replace('kind = "magnitude"', bounded))
    database = str(folder / "study.sqlite")
    command = [Path(sys.executable).parent / "judgewell", "serve", study, "--database", database]
    port, process = start([*command, "--requests-per-second", "100000", "--port"], folder, "/healthz")

    def assessor(number: int) -> Send:
        link = told("invite", study, database, f"a{number}").split("\t")[1].strip()
        browser = Browser(port)
        browser.ask("GET", link)
        page = browser.ask("GET", "/work")

        def step(values: dict[str, str]) -> None:
            nonlocal page
            form = {"step": re.findall(r'name="step" value="([^"]*)"', page)[0], **values}
            page = browser.ask("POST", "/work", urlencode(form))

        def send(value: str) -> bool:
            while 'name="value"' not in page:
                step({"action": "agree"} if 'value="agree"' in page else {"action": "more"})
            step({"value": value, "active": "9", "idle": "1"})
            return browser.status == 200

        return send

    def stored() -> list[str]:
        with sqlite3.connect(database) as connection:
            return [f"{value:g}" for (value,) in connection.execute("SELECT value FROM answers")]

    return Running(process, assessor, stored)


def potato(folder: Path) -> Running:
    """One number for each item; every assessor is assigned every item."""
    items = [{"id": f"1/{number}", "text": "A document."} for number in range(60)]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    scheme = {"annotation_type": "number", "name": "relevance", "description": "How relevant is it?"}
    settings = {
        "annotation_task_name": "relevance",
        "task_dir": ".",
        "output_annotation_dir": "out",
        "data_files": ["items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "user_config": {"allow_all_users": True, "users": []},
        "require_password": False,
        "annotation_schemes": [scheme | {"min_value": LOWEST, "max_value": HIGHEST}],
    }
    (folder / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML
    port, process = start([installed(PACKAGES["Potato"], "potato"), "start", "config.yaml", "-p"], folder, "/")

    def assessor(number: int) -> Send:
        browser = Browser(port)
        browser.ask("POST", "/auth", urlencode({"action": "login", "email": f"a{number}"}))
        browser.ask("GET", "/annotate")
        left = iter(items)

        def send(value: str) -> bool:
            body = {"instance_id": next(left)["id"], "annotations": {"relevance:number": value}}
            browser.ask_json("POST", "/updateinstance", body)
            return browser.status == 200

        return send

    def stored() -> list[str]:
        states = [json.loads(path.read_text()) for path in (folder / "out").glob("*/user_state.json")]
        return [
            label[1]
            for state in states
            for labels in state["instance_id_to_label_to_value"].values()
            for label in labels
        ]

    return Running(process, assessor, stored)


def label_studio(folder: Path) -> Running:
    """One number for each task; the assessors share an account."""
    command: list[str | Path] = [installed(PACKAGES["Label Studio"], "label-studio"), "start", "--no-browser"]
    command += ["--username", "a@example.org", "--password", "a long password", "--port"]
    port, process = start(command, folder, "/health")
    first = Browser(port)
    page = first.ask("GET", "/user/login/")
    token = re.findall(r'csrfmiddlewaretoken" value="([^"]+)', page)[0]
    signed = {"csrfmiddlewaretoken": token, "email": "a@example.org", "password": "a long password"}
    first.ask("POST", "/user/login/", urlencode(signed))
    field = f'<Number name="relevance" toName="text" min="{LOWEST}" max="{HIGHEST}"/>'
    layout = f'<View><Text name="text" value="$text"/>{field}</View>'
    project = json.loads(first.ask_json("POST", "/api/projects", {"title": "relevance", "label_config": layout}))["id"]
    first.ask_json("POST", f"/api/projects/{project}/import", [{"text": "A document."} for _ in range(1100)])
    tasks = json.loads(first.ask_json("GET", f"/api/tasks?project={project}&page_size=1100"))["tasks"]
    left = iter([task["id"] for task in tasks])

    def assessor(number: int) -> Send:
        browser = Browser(port)
        browser.cookies = dict(first.cookies)

        def send(value: str) -> bool:
            result = {"from_name": "relevance", "to_name": "text", "type": "number", "value": {"number": value}}
            browser.ask_json("POST", f"/api/tasks/{next(left)}/annotations", {"result": [result]})
            return browser.status == 201

        return send

    def stored() -> list[str]:
        with sqlite3.connect(folder / "label_studio.sqlite3") as connection:
            results = [json.loads(row) for (row,) in connection.execute("SELECT result FROM task_completion")]
        return [str(result[0]["value"]["number"]) for result in results]

    return Running(process, assessor, stored)


PACKAGES = {"Potato": "potato-annotation", "Label Studio": "label-studio"}
SERVERS: dict[str, Callable[[Path], Running]] = {
    "judgewell": judgewell,
    "Potato": potato,
    "Label Studio": label_studio,
}


def installed(package: str, command: str) -> Path:
    """A peer's command, installed at the first call."""
    folder = ENVIRONMENTS / package
    if not (folder / "bin" / command).exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", package], check=True, capture_output=True)
    return folder / "bin" / command


def version_of(tool: str) -> str:
    """A peer with its version."""
    package = PACKAGES.get(tool)
    if package is None:
        return tool
    asked = f"import importlib.metadata as m; print(m.version({package!r}))"
    python = ENVIRONMENTS / package / "bin" / "python"
    return f"{tool} {subprocess.run([python, '-c', asked], check=True, capture_output=True, text=True).stdout.strip()}"


def start(command: Sequence[str | Path], folder: Path, healthy: str) -> tuple[int, int]:
    """Start a server, the port its last argument; the port and the process once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = os.environ | {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "COLLECT_ANALYTICS": "0",
        "LATEST_VERSION_CHECK": "0",
    }
    with (folder / "server.log").open("w") as log:
        child = subprocess.Popen(
            [*command, str(port)], cwd=folder, stdout=log, stderr=log, env=settings, start_new_session=True
        )
    begun = time.perf_counter()
    while time.perf_counter() - begun < PATIENCE:
        try:
            browser = Browser(port)
            browser.ask("GET", healthy)
            if browser.status == 200:
                return port, child.pid
        except OSError:
            time.sleep(0.2)
    kill(child.pid)
    raise OSError(f"{command[0]} did not answer within {PATIENCE:.0f} s")


def section(measured: Sequence[Row]) -> str:
    """The rows as Markdown."""
    return "\n".join(
        (
            "## Collecting numbers, beside other tools",
            "",
            f"A field for numbers from {LOWEST} to {HIGHEST}, no think time, the same client for all, each tool as its",
            "own command starts it (SQLite, one process). Stored: which of these were stored when sent as an answer.",
            "Lost: acknowledged answers that were not stored when the server was killed (SIGKILL) in the middle.",
            "",
            f"| tool | {', '.join(BAD)}: stored | answers per second | acknowledged, then killed | lost |",
            "|---|---|---:|---:|---:|",
            *(line(row) for row in measured if isinstance(row, Collected)),
            "",
        )
    )


def line(row: Collected) -> str:
    if row.failure and not row.per_second:
        return f"| {row.tool} | {row.failure} | | | |"
    stored = ", ".join(row.bad_stored) or "none"
    return f"| {row.tool} | {stored} | {row.per_second:.0f} | {row.acknowledged} | {row.lost} |"
