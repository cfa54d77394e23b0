"""The judging server as people run it: its own process on a free port of this machine, and what it stored."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import sqlalchemy as sa
from waiting import HANG, wait_until

from judgewell.server.judging import invitations as people
from judgewell.server.session.served import load_served
from judgewell.server.store.schema import answers, events
from judgewell.server.store.transactions import open_store

RUN = "import sys; from judgewell.server.serve import serve; serve(sys.argv[1], sys.argv[2], port=int(sys.argv[3]))"


class RealServer:
    """A server that can be stopped, killed and started again at the same address."""

    def __init__(self, study: Path, database: Path) -> None:
        self.study, self.database = study, database
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = [sys.executable, "-c", RUN, str(self.study), str(self.database), str(self.port)]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        wait_until(self._answers)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "the server does not start"
        with socket.socket() as door:
            return door.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self, kill: bool = False) -> None:
        if self.process is None:
            return
        self.process.kill() if kill else self.process.terminate()
        self.process.wait(HANG)
        self.process = None

    def invite(self) -> tuple[str, int]:
        """A new assessor's link and number."""
        store = open_store(self.database)
        try:
            served = store.read(load_served).result()
            number = store.write(lambda c: people.new_assessor(c, "invite", time.time())).result()
            return self.address + people.invite_path(served, number), number
        finally:
            store.close()

    def answers(self, assessor: int) -> list[sa.Row]:
        """The answers that stand, in order."""
        standing = sa.select(answers).where(answers.c.assessor == assessor, answers.c.current)
        return self._rows(standing.order_by(answers.c.position))

    def all_answers(self, assessor: int) -> list[sa.Row]:
        """With those that were given before a change of mind."""
        return self._rows(sa.select(answers).where(answers.c.assessor == assessor).order_by(answers.c.number))

    def events(self, assessor: int) -> list[str]:
        return [row.kind for row in self._rows(sa.select(events).where(events.c.assessor == assessor))]

    def _rows(self, query: sa.Select) -> list[sa.Row]:
        engine = sa.create_engine(f"sqlite:///{self.database}")
        try:
            with engine.connect() as connection:
                return list(connection.execute(query))
        finally:
            engine.dispose()
