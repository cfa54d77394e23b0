"""A study is read once, frozen by its first judgment, and refused with what changed; its size costs nothing later."""

import time
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from judging import Clock, Study, good_answer, write_study

from judgewell.errors import InputError
from judgewell.server.session.served import load_served
from judgewell.server.store import filling
from judgewell.server.store.schema import documents, items, metadata, study, units
from judgewell.server.store.setup import default_database, prepare
from judgewell.server.store.transactions import HEAD, open_store


def test_the_migrations_make_the_tables_that_the_code_knows(store):
    with store.engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
        version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    assert found == []
    assert version == HEAD


def test_a_database_of_a_newer_version_is_refused(database):
    store = open_store(database)
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(InputError, match="update judgewell"):
        open_store(database)


def test_a_database_of_the_first_version_is_brought_up_to_date(database):
    store = open_store(database)
    with store.engine.begin() as connection:
        for table in ("replies", "machines", "goals", "batches"):
            connection.execute(sa.text(f"DROP TABLE {table}"))
        for column in ("unrateable", "expected", "spread", "swapped"):
            connection.execute(sa.text(f"ALTER TABLE answers DROP COLUMN {column}"))
        for change in ("items DROP COLUMN inclusion", "units DROP COLUMN batch", "study DROP COLUMN address"):
            connection.execute(sa.text(f"ALTER TABLE {change}"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0003'"))
    store.close()
    store = open_store(database)
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    store.close()


@pytest.mark.parametrize("version", ["0002", "0005"])
def test_a_database_of_a_version_that_was_never_released_is_refused(database, version):
    store = open_store(database)
    with store.engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE alembic_version SET version_num = '{version}'"))
    store.close()
    with pytest.raises(InputError, match=f"version {version}, which was never released"):
        open_store(database)


@pytest.mark.parametrize("address", ["mysql://x/y", "no/such/folder/x.sqlite", "postgresql://127.0.0.1:1/none"])
def test_what_is_no_database_is_told(address):
    with pytest.raises(InputError):
        open_store(address)


def test_a_study_may_change_until_somebody_begins_and_is_refused_after_that(store, tmp_path):
    path = write_study(tmp_path / "study", docs=4)
    clock = Clock()
    assert prepare(store, path, clock) is True
    assert prepare(store, path, clock) is False
    write_study(tmp_path / "study", docs=6, size=6)
    assert prepare(store, path, clock) is False
    begun = Study(store, path, clock)
    assert {row.size for row in begun.rows(sa.select(units.c.size))} == {6}
    assert begun.rows(sa.select(study.c.first_judgment)) == [(None,)]
    person = begun.person()
    person.until("document")
    person.send(value="5")
    assert begun.rows(sa.select(study.c.first_judgment)) == [(clock(),)]
    path.write_text(path.read_text().replace("redundancy = 1", "redundancy = 2"))
    with pytest.raises(InputError, match=r"units\.redundancy: 1 → 2"):
        prepare(store, path, clock)
    path.write_text("# a comment\n" + path.read_text().replace("redundancy = 2", "redundancy = 1"))
    assert prepare(store, path, clock) is False
    (tmp_path / "study/docs.csv").write_text((tmp_path / "study/docs.csv").read_text() + "more,text\n")
    with pytest.raises(InputError, match=r"docs\.csv has changed"):
        prepare(store, path, clock)


def test_the_secret_and_the_invitations_survive_a_changed_study(store, tmp_path):
    path = write_study(tmp_path / "study")
    before = Study(store, path)
    person = before.person()
    write_study(tmp_path / "study", docs=6)
    after = Study(store, path)
    assert after.served.secret == before.served.secret
    person.study = after
    assert person.page.kind == "consent"


def test_only_documents_that_are_asked_about_are_kept(store, tmp_path):
    path = write_study(tmp_path / "study", docs=4)
    with (tmp_path / "study/docs.csv").open("a") as file:
        file.writelines(f"extra{number},unused\n" for number in range(100))
    begun = Study(store, path)
    assert begun.rows(sa.select(sa.func.count()).select_from(documents)) == [(8,)]
    assert begun.rows(sa.select(sa.func.count()).select_from(items)) == [(8,)]


def test_the_database_beside_the_study_has_its_name(tmp_path):
    assert default_database(write_study(tmp_path / "study")) == tmp_path / "study/small.sqlite"


def test_a_key_file_that_is_missing_or_empty_is_told(store, tmp_path):
    more = (
        '[platform]\nkind = "prolific"\ntoken = "jwt"\nkeys = "k.json"\naudience = "us"\n'
        '[platform.codes]\ncompleted = "C"\n'
    )
    path = write_study(tmp_path / "study", more=more)
    with pytest.raises(InputError, match=r"k\.json: the keys cannot be read"):
        prepare(store, path, Clock())
    for text, said in (("{", "not a key set"), ('{"keys": []}', "no RSA key")):
        (tmp_path / "study/k.json").write_text(text)
        with pytest.raises(InputError, match=said):
            prepare(store, path, Clock())


def statements_of(begun, person):
    """The statements of each step of one unit, by the page it was sent from."""
    counted = {}
    count = [0]

    @sa.event.listens_for(begun.store.engine, "before_cursor_execute")
    def one(*_):
        count[0] += 1

    page = person.page
    while page.kind != "done":
        count[0] = 0
        kind, page = page.kind, person.send(**good_answer(page))
        counted[kind] = max(counted.get(kind, 0), count[0])
    sa.event.remove(begun.store.engine, "before_cursor_execute", one)
    return counted


def test_a_step_takes_the_same_few_queries_whatever_the_size(tmp_path):
    counts = []
    for number, (topics, docs) in enumerate([(2, 8), (50, 300)]):
        store = open_store(tmp_path / f"{number}.sqlite")
        begun = Study(store, write_study(tmp_path / f"study{number}", topics=topics, docs=docs, size=8, redundancy=10))
        counts.append(statements_of(begun, begun.person()))
        store.close()
    assert counts[0] == counts[1]
    assert counts[0]["document"] <= 20  # the last one of a unit, with its checks
    assert max(counts[0].values()) <= 25


@pytest.mark.long
def test_fifty_thousand_documents_are_set_up_once(tmp_path):
    path = write_study(tmp_path / "study", topics=50, docs=1000, size=8, text="words " * 300)
    store = open_store(tmp_path / "x.sqlite")
    prepare(store, path, time.time)
    store.close()
    store = open_store(tmp_path / "x.sqlite")
    assert prepare(store, path, time.time) is False
    store.close()


def test_two_servers_that_start_together_share_one_secret(database, tmp_path, clock, monkeypatch):
    """While one makes the design, another brings the same study in: whoever comes second takes what is there."""
    path = write_study(tmp_path / "study")
    first, second = open_store(database), open_store(database)
    design = filling.make_design

    def overtaken(*arguments):
        monkeypatch.setattr(filling, "make_design", design)
        assert prepare(second, path, clock)
        return design(*arguments)

    monkeypatch.setattr(filling, "make_design", overtaken)
    assert not prepare(first, path, clock)
    held = [store.read(load_served).result().secret for store in (second, first)]
    assert held[0] == held[1]
    for store in (first, second):
        store.close()


def test_processes_that_start_at_once_on_an_empty_database(database, tmp_path, clock):
    path = write_study(tmp_path / "study")
    stores = [open_store(database) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda store: prepare(store, path, clock), stores))
    assert sorted(made) == [False, False, False, True]
    assert len({store.read(load_served).result().secret for store in stores}) == 1
    for store in stores:
        store.close()


def test_rows_that_are_filled_in_come_back_as_they_were(store):
    """More than one part, and all that means something else to COPY."""
    hostile = [
        "\\N",
        "\\.",
        "tab\there",
        "line\nline\r\nline",
        "back\\slash\\",
        '"quoted", it\'s',
        "",
        "ä 字 🙂",
        "NULL",
    ]
    texts = [*hostile, *("x" * 200 for _ in range(filling.AT_ONCE))]
    titles = [None if place % 2 else text for place, text in enumerate(texts)]
    frame = pl.DataFrame(
        {"number": range(1, len(texts) + 1), "doc": [f"d{place}" for place in range(len(texts))], "title": titles}
    ).with_columns(text=pl.Series(texts), kind=pl.lit("text"))
    store.write(lambda connection: filling._insert(connection, documents, frame)).result()
    query = sa.select(*(documents.c[name] for name in frame.columns)).order_by(documents.c.number)
    assert [tuple(row) for row in store.read(lambda c: c.execute(query).all()).result()] == frame.rows()
