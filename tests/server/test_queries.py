"""A step takes as many queries in a large study as in a small one."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from judging import Clock, Study, write_study

from judgewell.server.session import pages
from judgewell.server.session.served import load_served
from judgewell.server.store.transactions import open_store

pytestmark = pytest.mark.slow

MOST = 30  # statements of any one step with nothing at hand; the longest closes a unit


@contextmanager
def counted(study: Study) -> Iterator[list[str]]:
    """What is sent to the database meanwhile."""
    sent: list[str] = []

    def note(_connection, _cursor, statement, *_more):
        sent.append(statement)

    engines = (study.store.engine, study.store._reading)
    for engine in engines:
        sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        for engine in engines:
            sa.event.remove(engine, "before_cursor_execute", note)


def counts(study: Study) -> list[tuple[str, int, int]]:
    """Of every page of an assessor's first unit and the way to the second: its kind, queries to show and to send.

    Each is counted as by a server that has just been started and has nothing in its memory.
    """
    found = []
    person = study.person()
    page: pages.Page = person.page
    while True:
        study.clock.move(30)
        form = person.good(page)
        _forget(study)
        with counted(study) as shown:
            step = person.page.step
        _forget(study)
        with counted(study) as sent:
            after = person.send(step=step, **form)
        found.append((page.kind, len(shown), len(sent)))
        if page.kind == "done":
            return found
        page = after


def _forget(study: Study) -> None:
    study.served = study.store.read(lambda connection: load_served(connection, study.clock)).result()


@pytest.fixture(scope="module", params=["magnitude", "pairs"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def studies(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Study]]:
    """A small study and one of 50 topics with 300 documents each, judged ten times."""
    folder = tmp_path_factory.mktemp("sizes")
    stores, made = [], []
    sizes = [(2, 8, 2), (50, 300, 10)] if kind == "magnitude" else [(2, 4, 2), (20, 40, 10)]
    for number, (topics, docs, redundancy) in enumerate(sizes):
        path = write_study(folder / str(number), kind=kind, topics=topics, docs=docs, size=8, redundancy=redundancy)
        stores.append(open_store(folder / f"{number}.sqlite"))
        made.append(Study(stores[-1], path, Clock()))
    yield made
    for store in stores:
        store.close()


def test_queries_do_not_grow_with_the_study(studies: list[Study]) -> None:
    small, large = (counts(study) for study in studies)
    assert small == large
    assert max(max(shown, sent) for _, shown, sent in large) <= MOST, large


def test_an_answer_takes_few_statements(begin) -> None:
    """With the page's parts at hand: the person and their reservation, the answer and the move; and the document."""
    study = begin(docs=8, size=8)
    person = study.person()
    page = person.until("document")
    page = person.send(**person.good(page))
    study.clock.move(30)
    step, form = page.step, person.good(page)
    with counted(study) as sent:
        person.send(step=step, **form)
    asked = [statement for statement in sent if not statement.startswith("BEGIN")]
    assert len(asked) <= (5 if study.store.is_sqlite else 3), asked
