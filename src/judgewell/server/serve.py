"""Running the server: one process on SQLite with nothing to install, or several on one database."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from logging.config import dictConfig
from pathlib import Path
from shlex import quote

import uvicorn
import uvicorn._subprocess

from judgewell.errors import InputError
from judgewell.server.app import make_app
from judgewell.server.connections import BoundedConnection
from judgewell.server.judging.app import REQUESTS_PER_SECOND, settle
from judgewell.server.logs import CONFIG, write_json
from judgewell.server.owner.access import HOME
from judgewell.server.owner.accounts import first_link, owner_without_password
from judgewell.server.owner.webhook import signing_secret
from judgewell.server.platforms.notices import webhook_secret
from judgewell.server.session.served import load_served
from judgewell.server.store.setup import database_words, prepare, record_address
from judgewell.server.store.transactions import open_store, without_password
from judgewell.study.new import example

EVERYWHERE = ("0.0.0.0", "::")  # listens on all of the machine's addresses, and is none itself
LOOPBACK = ("127.0.0.1", "localhost", "::1")
STOP_WITHIN = 10  # seconds in which requests under way are finished
KEEP_ALIVE = 75  # seconds that an idle connection stays open: longer than proxies keep theirs, so that they close first
FORKS = sys.platform == "linux"  # elsewhere a copy of a process may lack what the system keeps for it
MANY_FILES = 8192  # connections and files that may be open at once, where the system allows it


def serve(
    path: str | Path,
    database: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    requests_per_second: float = REQUESTS_PER_SECOND,
    log_format: str = "text",
    write: Callable[[str], None] = print,
    terminal: bool = False,
) -> None:
    """Serve a study until the process is stopped. The owner's link is written on a terminal only: others read logs."""
    if log_format == "json":
        dictConfig(CONFIG)
        write = write_json
    if workers > 1 and FORKS:
        _prepare_apart(path, database)
    store = open_store(database)
    if workers == 1 or not FORKS:
        prepare(store, path, time.time)
    study = store.read(load_served).result().study
    webhook_secret(study)  # if it is missing, one error here and not one per worker
    signing_secret(study)
    link = store.write(lambda connection: first_link(connection, time.time(), make=terminal)).result()
    waiting = store.read(owner_without_password).result()
    listening = _listen(host, port)
    address = f"http://{(f'[{host}]' if ':' in host else host)}:{listening.getsockname()[1]}"
    record_address(store, None if host in EVERYWHERE else address)
    kept = database_words(path, database)
    write(f"Judging at {address}, in {without_password(store.url)}")
    if link is not None:
        write(f"The owner's link, which works once and for three days, to set a password: {address}{link}")
    elif waiting is not None:
        command = f"judgewell account {quote(str(path))} link {quote(waiting)}{kept}"
        write(f"For a link with which the owner sets a password: {command}")
    else:
        write(f"Owners and reviewers sign in at {address}{HOME}")
    if study.study.consent == example()["study"]["consent"]:
        write("Warning: assessors will read the consent text of the example. Stop the server, put your own into")
        write(f"study.consent of {path}, and serve it with a new --database before you invite people.")
    ending = " --address https://…" if host in EVERYWHERE else ""
    who = "assessors" if study.platform.kind == "invite" else "unpaid assessors, beside those of the platform"
    write(f"Links for {who}: judgewell invite {quote(str(path))} NAME{kept}{ending}")
    if host not in LOOPBACK:
        write("Anyone who can reach this address can open the pages. Put a reverse proxy with HTTPS before it that")
        write("forwards Host and X-Forwarded-Proto and limits requests to 1 MB, and block every other way in.")
    options = {"log_level": "warning", "access_log": False, "timeout_graceful_shutdown": STOP_WITHIN}
    options |= {"server_header": False, "proxy_headers": True, "limit_concurrency": 2000}
    options |= {"timeout_keep_alive": KEEP_ALIVE, "http": BoundedConnection}
    options |= {"log_config": CONFIG} if log_format == "json" else {}
    _allow_many_files()
    if workers == 1:
        app = make_app(store, requests_per_second=requests_per_second, study=str(path))
        settle()
        uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listening])  # type: ignore[arg-type]
        return
    store.close()
    os.environ["JUDGEWELL_DATABASE"], os.environ["JUDGEWELL_STUDY"] = str(database), str(path)
    os.environ["JUDGEWELL_REQUESTS_PER_SECOND"] = str(requests_per_second)
    config = uvicorn.Config("judgewell.server.app:from_environment", factory=True, workers=workers, **options)  # type: ignore[arg-type]
    from uvicorn.supervisors import Multiprocess

    if FORKS:
        _fork_workers()
    Multiprocess(config, sockets=[listening]).run()


def _prepare_apart(path: str | Path, database: str | Path) -> None:
    """Bring the study into the database in a process of its own: what reads it has threads, and would not be forked."""
    child = os.fork()
    if not child:
        store = open_store(database)
        prepare(store, path, time.time)
        store.close()
        sys.exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:  # the child has said why
        sys.exit(abs(code))


def _fork_workers() -> None:
    """Let worker processes begin as copies of this one: loading the server again doubles the time of a start.

    uvicorn has no public setting for it: its supervisor names this context itself.
    """
    uvicorn._subprocess.spawn = multiprocessing.get_context("fork")  # type: ignore[assignment]
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(f"cannot listen at {host}:{port}: {error.strerror}", cure="change --host or --port") from None
    listening.listen(2048)
    listening.set_inheritable(True)
    return listening


def _allow_many_files() -> None:
    """Raise this process's soft limit of open files: each connection is one."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MANY_FILES if hard == resource.RLIM_INFINITY else min(MANY_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
