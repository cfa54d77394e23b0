"""The report from the browser: made by a process of its own at a low priority, opened or downloaded when it is ready.

The page is kept in a private folder of this computer, so that all server processes on it show the same one. It holds
scripts for its charts; browsers get it in a sandbox, where they reach nothing of the server.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from judgewell.server.limits import read_form
from judgewell.server.owner.access import check_guard, require
from judgewell.server.owner.action_routes import show, telling
from judgewell.server.process import Server, done
from judgewell.server.queries.progress import answers_stamp
from judgewell.server.web import Refusal

PAGE = "/owner/report"
LONGEST = 1800.0  # seconds after which the making is given up
SANDBOX = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

Make = Callable[[str, str, Path, str], None]  # a study (its file, or the database), the database, the page, the title


class ReportFailed(Exception):
    """The report could not be made; the sentence says why."""


def run_report(study: str, database: str, page: Path, title: str) -> None:
    """`judgewell report` in a process of its own; the database's address stays out of the list of processes."""
    nice = ["nice", "-n", "10"] if shutil.which("nice") else []
    command = [*nice, sys.executable, "-m", "judgewell", "report", study, "-o", str(page), "--quiet", "--title", title]
    environment = {**os.environ, "JUDGEWELL_DATABASE": database}
    try:
        subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST, check=True)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or [f"it ended with {error.returncode}"]
        raise ReportFailed(lines[-1].removeprefix("judgewell: ")) from None
    except subprocess.TimeoutExpired:
        raise ReportFailed(f"it took longer than {LONGEST:.0f} seconds") from None


class Reporter:
    """The newest report of a study, and one in the making at most, for all server processes of this computer."""

    def __init__(self, server: Server, study: str | None, make: Make = run_report) -> None:
        self._server, self._study, self._make = server, study, make
        self.worker: threading.Thread | None = None

    @property
    def folder(self) -> Path:
        """A folder that this account alone can read; its name cannot be guessed."""
        mark = hashlib.sha256(f"report {self._server.served.secret}".encode()).hexdigest()[:24]
        folder = Path(tempfile.gettempdir()) / f"judgewell-{mark}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.stat().st_uid != os.getuid() or folder.is_symlink():
            raise ReportFailed(f"{folder} belongs to somebody else")
        return folder

    @property
    def page(self) -> Path | None:
        """The newest report, where there is one."""
        path = self.folder / "report.html"
        return path if path.is_file() else None

    def trouble(self, stamp: str) -> tuple[str, float] | None:
        """Why the last one could not be made from these answers, and when; None where it could, or was not tried."""
        path = self.folder / "trouble"
        tried, _, why = path.read_text("utf-8").partition("\n") if path.is_file() else ("", "", "")
        return (why, path.stat().st_mtime) if why and tried == stamp else None

    @property
    def busy(self) -> bool:
        """Whether one is being made, by whichever process."""
        with self._alone() as mine:
            return not mine

    def start(self, stamp: str) -> None:
        """Begin to make a new one, unless one is being made."""
        if not self.busy:
            self.worker = threading.Thread(target=self._run, args=(stamp,), name="report", daemon=True)
            self.worker.start()

    def is_old(self, stamp: str) -> bool:
        """Whether there are newer answers than those of the report."""
        path = self.folder / "stamp"
        return not path.is_file() or path.read_text("utf-8") != stamp

    def _run(self, stamp: str) -> None:
        with self._alone() as mine:
            if not mine:
                return
            folder, url = self.folder, self._server.store.url
            new, trouble = folder / "new.html", folder / "trouble"
            try:
                self._make(self._study or url, url, new, self._server.served.title)
                new.replace(folder / "report.html")
                (folder / "stamp").write_text(stamp, "utf-8")
                trouble.unlink(missing_ok=True)
            except (ReportFailed, OSError) as error:
                trouble.write_text(f"{stamp}\n{error}", "utf-8")

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Hold the lock of the making, where nobody else does; a process that dies lets it go."""
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True


def router(server: Server, study: str | None, make: Make = run_report) -> APIRouter:
    """Where the owner finds the report."""
    routes = APIRouter(include_in_schema=False)
    reporter = Reporter(server, study, make)

    @routes.get(PAGE)
    async def look(request: Request) -> Response:
        """The newest report; one is made when somebody asks."""
        account = await require(server, request)
        stamp = await done(server.store.read(answers_stamp))
        page = reporter.page
        values = {
            "made": page.stat().st_mtime if page else None,
            "busy": reporter.busy,
            "old": reporter.is_old(stamp),
            "trouble": reporter.trouble(stamp),
        }
        return show(server, request, account, "report", values)

    @routes.post(PAGE)
    async def again(request: Request) -> Response:
        """Make a new one."""
        account = await require(server, request)
        check_guard(server, account, await read_form(request))
        reporter.start(await done(server.store.read(answers_stamp)))
        return telling(server, request, PAGE, "The report is being made.")

    @routes.get(f"{PAGE}.html")
    async def shown(request: Request) -> Response:
        """The report itself: to be looked at, or with `?download=1` to be kept."""
        await require(server, request)
        page = reporter.page
        if page is None:
            raise Refusal(404, "link")
        name = f"{server.served.study.study.name}-report.html"
        kind = "attachment" if request.query_params.get("download") else "inline"
        headers = {"content-security-policy": SANDBOX}
        return FileResponse(page, media_type="text/html", filename=name, content_disposition_type=kind, headers=headers)

    return routes
