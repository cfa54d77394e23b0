"""One run at a time: a machine is held by the run of `judgewell judge` that lets it judge.

Two runs of one machine would pay for the same replies twice. A run writes into the database that it holds the machine,
and renews that while it lives. Another run is refused until the first has ended, was killed on this host, or has given
no sign of life for `HELD` seconds.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.store.schema import assessors, machines

HELD = 60.0  # seconds


def new_holder() -> str:
    """What this run is called in the database: host, process, and a mark of its own."""
    return f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"


def hold(connection: sa.Connection, numbers: Sequence[int], holder: str, now: float) -> None:
    """Hold the machines for a run; an error where another run has one of them."""
    query = sa.select(machines, assessors.c.pseudonym).join_from(machines, assessors)
    for row in connection.execute(query.where(machines.c.assessor.in_(numbers))):
        if row.held_by is not None and row.held_until > now and not _is_dead(row.held_by):
            host, process, _ = row.held_by.rsplit(" ", 2)
            raise InputError(
                f"{row.pseudonym} has been judging since {_time(row.held_since)}, in process {process} on {host}",
                cure=f"stop that process, or wait: the machine is free at {_time(row.held_until)} if it no longer runs",
            )
    held = {"held_by": holder, "held_since": now, "held_until": now + HELD}
    connection.execute(sa.update(machines).where(machines.c.assessor.in_(numbers)).values(held))


def renew(connection: sa.Connection, numbers: Sequence[int], holder: str, now: float) -> None:
    """Hold the machines on; an error where another run took them over after a long silence of this one."""
    mine = sa.and_(machines.c.assessor.in_(numbers), machines.c.held_by == holder)
    renewed = connection.execute(sa.update(machines).where(mine).values(held_until=now + HELD)).rowcount
    if renewed != len(set(numbers)):
        raise InputError("another run of judgewell judge has taken over this machine", cure="let that one go on")


def let_go(connection: sa.Connection, number: int, holder: str) -> bool:
    """Hold a machine no longer; false where another run has it."""
    mine = sa.and_(machines.c.assessor == number, machines.c.held_by == holder)
    nobody = {"held_by": None, "held_since": None, "held_until": None}
    return connection.execute(sa.update(machines).where(mine).values(nobody)).rowcount == 1


def _is_dead(holder: str) -> bool:
    """Whether the run was on this host and its process is gone; of other hosts nothing is known."""
    host, process, _ = holder.rsplit(" ", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's
        return False
    return False


def _time(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%H:%M:%S}"
