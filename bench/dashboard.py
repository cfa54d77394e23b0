"""The owner's pages of a large study: how fast they open, and what judging costs while somebody looks at them."""

from __future__ import annotations

import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from measure import Outcome, Row
from server import DATABASES, HERE, LIMIT, Size, cpu_of, database_of, kept_in, peak_of, served, told, write_study

PAGES = ("", "/topics", "/assessors", "/assessors/1", "/documents", "/checks", "/money", "/log")
OPEN, JUDGE = "open", "judge"
UNITS = 20  # of each assessor who judges meanwhile: several looks long
LOOKS = 7
EVERY = 1.0  # seconds between two looks while others judge; an open page looks every 5


@dataclass(frozen=True)
class Judged(Row):
    """What assessors saw: milliseconds at the median and the 95th percentile, and the server's own per answer."""

    answers: int = 0
    p50: float = 0.0
    p95: float = 0.0
    cpu: float = 0.0


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    size = Size(20, 40, 8, 5) if quick else Size(100, 100, 8, 6)
    filled = 2_000 if quick else 50_000
    for database in DATABASES:
        with tempfile.TemporaryDirectory() as folder, kept_in(database, Path(folder)) as where:
            study = write_study(Path(folder) / "study", size, UNITS)
            with served(study, where):
                pass
            key = filled_by(study, where, filled)
            with served(study, where) as (address, process, _):
                yield from opened(address, key, database, filled, process.pid)
                for looks in (False, True) if quick else (False, True, False, True):
                    yield judged(study, where, address, key if looks else "", database, process.pid)


def filled_by(study: Path, where: str, judgments: int) -> str:
    """Put so many judgments into the database; the cookie of an owner."""
    command = [sys.executable, str(Path(__file__)), where, str(judgments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def opened(address: str, key: str, database: str, judgments: int, pid: int) -> Iterator[Row]:
    """Each page some times, after one look that starts what is computed."""
    ask(address, "/owner", key)
    wait_for_insight(address, key)
    for page in PAGES:
        times = [ask(address, f"/owner{page}", key)[0] for _ in range(LOOKS)]
        outcomes = tuple(Outcome(seconds, peak_of(pid)) for seconds in times)
        yield Row(OPEN, f"{judgments:,} judgments, /owner{page}", f"judgewell on {database}", outcomes)


def wait_for_insight(address: str, key: str) -> None:
    until = time.monotonic() + LIMIT
    while "being computed" in ask(address, "/owner", key)[1] and time.monotonic() < until:
        time.sleep(1)


def ask(address: str, path: str, key: str, **headers: str) -> tuple[float, str]:
    """Seconds until the whole page is there, and the page."""
    parts = urlsplit(address)
    begun = time.perf_counter()
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=LIMIT)
    connection.request("GET", path, headers={"cookie": key, **headers})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    if response.status not in (200, 304):
        sys.exit(f"{path}: {response.status} {text[:300]}")
    return time.perf_counter() - begun, text


def judged(study: Path, where: str, address: str, key: str, database: str, pid: int) -> Judged:
    """Ten assessors at once, alone or with the overview open."""
    made = told("invite", study, where, "--count", "10")
    links = "\n".join(line.split("\t")[1] for line in made.splitlines()[-10:])
    before = cpu_of(pid)
    with looking(address, key) if key else nobody():
        command = [sys.executable, str(HERE / "assessors.py"), address]
        done = subprocess.run(command, input=links, capture_output=True, text=True, timeout=LIMIT)
    case = "10 judge at once" + (", the overview open" if key else "")
    if done.returncode:
        return Judged(JUDGE, case, f"judgewell on {database}", (Outcome(0, 0, done.stderr.strip()[-200:]),))
    found = json.loads(done.stdout)
    times = found["answered"]
    cuts = statistics.quantiles(times, n=100)
    used = (cpu_of(pid) - before) / len(times)
    outcomes = (Outcome(found["seconds"], peak_of(pid)),)
    return Judged(JUDGE, case, f"judgewell on {database}", outcomes, len(times), cuts[49], cuts[94], used)


@contextmanager
def nobody() -> Iterator[None]:
    yield


@contextmanager
def looking(address: str, key: str) -> Iterator[None]:
    """Somebody has the overview open."""
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(EVERY):
            ask(address, "/owner", key, **{"x-fragment": "1"})

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    return "\n".join(
        (
            "## Owner's pages",
            "",
            "From the request to the whole page, the median of seven, in a study of that many judgments:",
            "",
            "| page | database | ms | MB |",
            "|---|---|---:|---:|",
            *(
                f"| {row.case} | {database_of(row)} | {1000 * row.median:.0f} | {row.megabytes:.0f} |"
                for row in found
                if row.table == OPEN
            ),
            "",
            "Judging in the same study, alone and while the overview is asked for every second:",
            "",
            "| | database | answers | p50 ms | p95 ms | CPU ms each |",
            "|---|---|---:|---:|---:|---:|",
            *(
                f"| {row.case} | {database_of(row)} | {row.answers:,} | {1000 * row.p50:.0f} | {1000 * row.p95:.0f} "
                f"| {1000 * row.cpu:.2f} |"
                for row in found
                if isinstance(row, Judged)
            ),
            "",
        )
    )


def fill(where: str, judgments: int) -> str:
    """Completed units of made-up people, straight into the tables, and an owner's session: its cookie."""
    import hashlib

    import sqlalchemy as sa

    from judgewell.server.owner.access import make_key
    from judgewell.server.owner.accounts import add_account
    from judgewell.server.store.schema import answers, assessors, reservations, units, verdicts
    from judgewell.server.store.schema import study as study_table
    from judgewell.server.store.transactions import open_store

    rng, now = random.Random(1), time.time()
    store = open_store(where)

    def put(connection: sa.Connection) -> str:
        people, held, given, checks = [], [], [], []
        free: dict[int, int] = {}
        asked = [row for row in connection.execute(sa.select(units).order_by(units.c.place)) for _ in range(row.need)]
        for number, unit in enumerate(asked, 1):
            if len(given) >= judgments:
                break
            at = now - 86400 + number * 86000 / (judgments / unit.size)
            name = {"number": number, "pseudonym": f"a-{number}", "origin": "invite", "created": at, "stage": "done"}
            people.append({**name, "position": 0, "turn": 9, "scratch": {}, "moved": at, "reservation": number})
            row = {"number": number, "assessor": number, "unit": unit.number, "topic": unit.topic, "round": 1}
            row |= {"state": "done", "ending": "completed", "created": at - 600, "seen": at, "expires": at}
            held.append({**row, "finished": at, "late": False, "revisions": 0, "backs": 0})
            free[unit.number] = free.get(unit.number, unit.free) - 1
            for position in range(1, unit.size + 1):
                value = float(rng.choice((1, 2, 5, 10, 20, 50, 100)))
                row = {"reservation": number, "assessor": number, "unit": unit.number, "position": position}
                row |= {"revision": 1, "current": True, "value": value, "typed": {"value": [f"{value:g}"]}}
                spent = rng.lognormvariate(3.5, 0.6)
                given.append({**row, "comment": "It says so.", "seconds": spent, "idle": 1.0, "visit": spent})
                given[-1] |= {"highlight": False, "at": at - (unit.size - position) * 40}
            row = {"assessor": number, "reservation": number, "name": "known", "attempt": 1, "at": at}
            checks.append({**row, "passed": rng.random() < 0.9, "reason": None})
        for table, rows_of in ((assessors, people), (reservations, held), (answers, given), (verdicts, checks)):
            for start in range(0, len(rows_of), 2000):
                connection.execute(sa.insert(table), rows_of[start : start + 2000])
        for unit_number, left in free.items():
            connection.execute(sa.update(units).where(units.c.number == unit_number).values(free=left))
        connection.execute(sa.update(study_table).values(first_judgment=now - 86400))
        if connection.dialect.name == "postgresql":  # numbers were given, so that the counters must follow
            for table in ("assessors", "reservations"):
                move = f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), (SELECT max(number) FROM {table}))"
                connection.execute(sa.text(move))
        account = add_account(connection, now, "bench", "owner")
        secret = connection.execute(sa.select(study_table.c.secret)).scalar_one()
        name = f"judgewell-{hashlib.sha256(secret.encode()).hexdigest()[:8]}-owner"
        return f"{name}={make_key(connection, account, 'session', now, 86400.0)}"

    cookie = store.write(put).result()
    store.close()
    return cookie


if __name__ == "__main__":
    print(fill(sys.argv[1], int(sys.argv[2])))
