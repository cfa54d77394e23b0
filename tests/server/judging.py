"""What the server's tests share: a small study, assessors who judge it, and what must always hold in a database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from judgewell.server.judging import invitations as people
from judgewell.server.judging.routes import current_page
from judgewell.server.session import pages
from judgewell.server.session.assignment import expire
from judgewell.server.session.goal_evidence import collected
from judgewell.server.session.served import Served, load_served
from judgewell.server.session.stages.judge import DocumentPage
from judgewell.server.session.steps import Taken, take
from judgewell.server.store.schema import answers, batches, machines, reservations, units
from judgewell.server.store.setup import prepare
from judgewell.server.store.transactions import Store
from judgewell.server.tokens import read_step

UNITS = '[scale]\nkind = "{kind}"\n[units]\ndocuments = {size}\nredundancy = {redundancy}\n'
GROUPS = "[groups]\ndocuments = 4\npartners = 2\npartitions = 1\nassessors = {redundancy}\npadding = false\n"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


def write_study(
    folder: Path,
    *,
    kind: str = "magnitude",
    topics: int = 2,
    docs: int = 4,
    size: int = 4,
    redundancy: int = 1,
    known: bool = False,
    more: str = "",
    name: str = "small",
    text: str = "A text about",
) -> Path:
    """A study of some topics with documents of their own; document 0 of each is known H and document 1 known N."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(topic, doc) for topic in range(topics) for doc in range(docs)]
    (folder / "topics.csv").write_text(
        "topic,title,description\n" + "".join(f"t{t},Title {t},Description of {t}\n" for t in range(topics))
    )
    (folder / "docs.csv").write_text("doc,text\n" + "".join(f"t{t}d{d},{text} {d} for {t}\n" for t, d in pairs))
    (folder / "pool.csv").write_text("topic,doc\n" + "".join(f"t{t},t{t}d{d}\n" for t, d in pairs))
    (folder / "known.csv").write_text(
        "topic,doc,known\n" + "".join(f"t{t},t{t}d0,H\nt{t},t{t}d1,N\n" for t in range(topics))
    )
    design = GROUPS if kind == "pairs" else UNITS
    path = folder / "study.toml"
    path.write_text(
        f'[study]\nname = "{name}"\nconsent = "Write to **us**."\n[topics]\nfile = "topics.csv"\n'
        '[documents]\nfile = "docs.csv"\n[pool]\nfile = "pool.csv"\n'
        + ('[known]\nfile = "known.csv"\n' if known else "")
        + design.format(kind=kind, size=size, redundancy=redundancy)
        + more
    )
    return path


class Study:
    """A study in a database, with assessors who are made on demand."""

    def __init__(self, store: Store, path: Path, clock: Clock | None = None) -> None:
        self.store, self.path = store, path
        self.clock = clock or Clock()
        prepare(store, path, self.clock)
        self.served: Served = store.read(lambda connection: load_served(connection, self.clock)).result()

    def person(self, origin: str | None = None) -> Person:
        """Somebody new: from the study's platform, or of another origin."""
        origin = origin or self.served.study.platform.kind
        number = self.store.write(lambda c: people.new_assessor(c, origin, self.clock())).result()
        return Person(self, number)

    def rows(self, query: sa.Select) -> list[sa.Row]:
        return self.store.read(lambda connection: list(connection.execute(query))).result()

    def expire(self) -> int:
        return self.store.write(lambda c: expire(c, self.clock(), self.served.silence)).result()


class Person:
    """An assessor at the server's own door, one page at a time; every answer is good unless said otherwise."""

    def __init__(self, study: Study, number: int) -> None:
        self.study, self.number = study, number
        self.outcome = ""

    @property
    def page(self) -> pages.Page:
        """The page after a reload."""
        page = self.study.store.read(lambda c: current_page(c, self.study.served, self.number)).result()
        assert page is not None
        return page

    def send(self, step: str | None = None, **form: str | list[str]) -> pages.Page:
        """Send a form for the current step, or for an earlier one."""
        served = self.study.served
        turn = read_step(served.secret, self.number, self.page.step if step is None else step)
        assert turn is not None
        fields = {name: tuple(value) if isinstance(value, list) else (value,) for name, value in form.items()}
        taken = self.study.store.write(lambda c: take(c, served, self.number, turn, fields), self.number).result()
        assert isinstance(taken, Taken)
        self.outcome = taken.outcome
        return taken.page

    def good(self, page: pages.Page | None = None) -> dict[str, str]:
        """Answers that pass on any page."""
        return good_answer(page or self.page)

    def until(self, *kinds: str, most: int = 200, seconds: float = 30.0) -> pages.Page:
        """Answer well until a page of one of these kinds shows."""
        page = self.page
        for _ in range(most):
            if page.kind in kinds:
                return page
            self.study.clock.move(seconds)
            page = self.send(**self.good(page))
            assert not page.problem, page.problem
        raise AssertionError(f"still at {page.kind}")


def good_answer(page: pages.Page) -> dict[str, str]:
    """What a careful assessor sends from a page."""
    match page.kind:
        case "consent":
            return {"action": "agree"}
        case "practice":
            return {"value": str(page.length)}
        case "comprehension":
            return {"choice": "1"}
        case "quiz":
            return {"preferred": "left"}
        case "document":
            return {"value": good_value(page), "comment": "because it says so"}
        case "pair":
            left, right = page.left.text < page.right.text, page.right.text < page.left.text
            assert left or right
            return {
                "preferred": "left" if left else "right",
                "absolute": "both",
                "left_score": "2" if left else "1",
                "right_score": "2" if right else "1",
                "comment": "because it says so",
            }
        case "questionnaire":
            return {"feedback": "Fine."}
        case "done" | "stopped":
            return {"action": "more"}
    return {}


def good_value(page: DocumentPage) -> str:
    """Document 0 is the best of its topic, document 1 the worst."""
    number = page.document.text.split()[-3] if page.document.text else "2"
    if page.scale.widget == "choice":
        choices = page.scale.choices
        return choices[-1].value if number == "0" else choices[0].value
    return {"0": "90", "1": "3"}.get(number, "20")


def check_whole(store: Store) -> None:
    """What must hold in every database, whatever happened to it."""

    def look(connection: sa.Connection) -> None:
        live, done, late_done = (
            dict(
                connection.execute(
                    sa.select(reservations.c.unit, sa.func.count()).where(where).group_by(reservations.c.unit)
                ).all()
            )
            for where in (
                reservations.c.state == "live",
                sa.and_(reservations.c.state == "done", ~reservations.c.excluded),
                sa.and_(reservations.c.state == "done", ~reservations.c.excluded, reservations.c.late),
            )
        )
        for unit in connection.execute(sa.select(units)):
            has, finished = live.get(unit.number, 0), done.get(unit.number, 0)
            assert unit.free == unit.need - has - finished, unit
            assert has + finished - late_done.get(unit.number, 0) <= unit.need, unit
        answered = sa.exists().where(answers.c.reservation == reservations.c.number)
        had = sa.or_(reservations.c.state != "expired", answered)
        person = reservations.c.assessor.not_in(sa.select(machines.c.assessor))  # a machine takes all units of a topic
        twice = (
            sa.select(reservations.c.assessor, reservations.c.topic).where(had, person).group_by("assessor", "topic")
        )
        assert not connection.execute(twice.having(sa.func.count() > 1)).all()
        standing = sa.select(answers.c.assessor).where(answers.c.current)
        doubled = standing.group_by(answers.c.assessor, answers.c.unit, answers.c.position)
        assert not connection.execute(doubled.having(sa.func.count() > 1)).all()
        query = (
            sa.select(reservations.c.number, units.c.size, sa.func.count(answers.c.number))
            .select_from(reservations)
            .join(units, units.c.number == reservations.c.unit)
            .outerjoin(answers, sa.and_(answers.c.reservation == reservations.c.number, answers.c.current))
            .where(reservations.c.state == "done")
            .group_by(reservations.c.number, units.c.size)
        )
        for number, size, given in connection.execute(query):
            assert given == size, (number, given)

    store.read(look).result()


def recomputed(store: Store, served: Served) -> list[tuple]:
    """Every batch as it is stored and as it comes out again from what was there when it was made."""

    def work(connection: sa.Connection) -> list[tuple]:
        compared = []
        for row in connection.execute(sa.select(batches).order_by(batches.c.number)).all():
            then = collected(connection, served, until=row.made)
            then = replace(then, batches=[one for one in then.batches if one.number < row.number])
            compared.append((row.documents, then.next(row.after, row.size).rows))
        return compared

    return store.read(work).result()
