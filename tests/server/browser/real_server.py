"""The judging server as people run it: its own process on a free port of this machine, and what it stored."""

from __future__ import annotations

import multiprocessing
import os
import socket
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import sqlalchemy as sa
from waiting import HANG, wait_until

from judgewell.server.judging import invitations as people
from judgewell.server.session.served import load_served
from judgewell.server.store.schema import answers, events
from judgewell.server.store.transactions import open_store

processes = multiprocessing.get_context("forkserver")  # imports the server once, for all that are started
processes.set_forkserver_preload(["judgewell.server.serve", "judgewell.server.owner.app", "real_server"])


def run(study: str, database: str, port: int) -> None:
    """Serve a study, in a process of its own."""
    from judgewell.server.serve import serve

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    serve(study, database, port=port)


class RealServer:
    """A server that can be stopped, killed and started again at the same address."""

    def __init__(self, study: Path, database: Path) -> None:
        self.study, self.database = study, database
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: BaseProcess | None = None

    def start(self) -> None:
        self.process = processes.Process(target=run, args=(str(self.study), str(self.database), self.port), daemon=True)
        self.process.start()
        wait_until(self._answers)

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.exitcode is None, "the server does not start"
        with socket.socket() as door:
            return door.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self, kill: bool = False) -> None:
        if self.process is None:
            return
        self.process.kill() if kill else self.process.terminate()
        self.process.join(HANG)
        self.process = None

    def invite(self) -> tuple[str, int]:
        """A link and number of a new assessor, whom the panel sent: its codes are for them alone."""
        store = open_store(self.database)
        try:
            served = store.read(load_served).result()
            number = store.write(lambda c: people.new_assessor(c, "panel", time.time())).result()
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
