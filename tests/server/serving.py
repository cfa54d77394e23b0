"""Real server processes for the tests, and assessors who reach them over the network and never give up."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from waiting import HANG, wait_until

from judgewell.server.judging import invitations as people
from judgewell.server.session.served import Served

START = "from judgewell.commands.{0} import {0}; {0}()"


def command(name: str, study: Path, database: str, *options: str) -> list[str]:
    return [sys.executable, "-c", START.format(name), str(study), "--database", database, *options]


class Server:
    """A server in a process of its own, at a port that stays the same when it is started again."""

    def __init__(self, study: Path, database: str, *options: str) -> None:
        self.study, self.database, self.options = study, database, options
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        options = ("--port", str(self.port), "--requests-per-second", "10000", *self.options)
        self.process = subprocess.Popen(
            command("serve", self.study, self.database, *options),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", said)
        assert found, said
        self.port = int(found[1])

    def kill(self) -> None:
        """End the server and its workers at once, as a power failure would."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(HANG)
            if self.process.stdout:
                self.process.stdout.close()
            self.process = None


@contextmanager
def running(study: Path, database: str, *options: str) -> Iterator[Server]:
    server = Server(study, database, *options)
    try:
        server.start()
        yield server
    finally:
        server.kill()


class Browser:
    """An assessor over the network: sends a step again until it is answered, as the page does."""

    def __init__(self, port: int, served: Served, assessor: int) -> None:
        self.port, self.link = port, people.invite_path(served, assessor)
        self.assessor = assessor
        self.connection: http.client.HTTPConnection | None = None
        self.cookie = ""
        self.kind = self.step = ""
        self.troubles: list[str] = []
        self.acknowledged: list[str] = []

    def request(self, method: str, path: str, body: str = "") -> tuple[int, dict[str, str], str]:
        """The answer to a request, sent again while the server is away."""
        return wait_until(lambda: self._try(method, path, body))

    def _try(self, method: str, path: str, body: str) -> tuple[int, dict[str, str], str] | None:
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)
            headers = {"cookie": self.cookie, "x-fragment": "1"}
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            text = response.read().decode()
            if response.status != 503:
                return response.status, {name.lower(): value for name, value in response.getheaders()}, text
        except (OSError, http.client.HTTPException):
            pass
        if self.connection is not None:
            self.connection.close()
        self.connection = None
        return None

    def turn(self, method: str, form: dict[str, str] | None = None) -> None:
        status, headers, text = self.request(method, "/work", urlencode(form) if form else "")
        if status != 200:
            self.troubles.append(f"{status} at {self.kind}: {text[:500]}")
            return
        self.kind = headers["x-page"]
        found = re.search(r'name="step" value="([^"]+)"', text)
        self.step = found[1] if found else ""

    def enter(self) -> None:
        _, headers, _ = self.request("GET", self.link)
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.turn("GET")

    def _asked_again(self) -> bool:
        self.turn("POST", {"step": self.step})
        return self.kind != "come_back"

    def judge(self, marker: str = "", patient: bool = False) -> None:
        """From the link until there is nothing more to do; every answer carries a number of its own.

        Who is patient looks again until there is work, or none for good.
        """
        self.enter()
        number = 0
        while self.step and self.kind != "no_work" and not self.troubles:
            if self.kind == "come_back":
                if not patient:
                    break
                wait_until(self._asked_again)
                continue
            form = {"step": self.step}
            if self.kind == "document":
                number += 1
                form |= {"value": "20", "comment": f"{marker}{self.assessor}.{number}"}
            form |= {"consent": {"action": "agree"}, "done": {"action": "more"}}.get(self.kind, {})
            self.turn("POST", form)
            if "comment" in form and not self.troubles:
                self.acknowledged.append(form["comment"])
        if self.connection is not None:
            self.connection.close()
