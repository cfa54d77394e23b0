"""Restoring under a running server: the study's own backup at once, another study's only when it has stopped."""

import re

import pytest
from judging import Clock, Study, write_study
from serving import Browser, running

from judgewell.errors import InputError
from judgewell.server.session.served import load_served
from judgewell.server.store.backup import backup, restore
from judgewell.server.store.schema import study as study_table
from judgewell.server.store.transactions import open_store


@pytest.fixture
def elsewhere(tmp_path):
    """A backup of another study."""
    store = open_store(tmp_path / "other.sqlite")
    Study(store, write_study(tmp_path / "other", name="other", topics=3), Clock())
    path = backup(store, tmp_path / "other.backup")
    store.close()
    return path


def name_in(store):
    return store.read(lambda c: c.execute(study_table.select()).one().name).result()


@pytest.mark.slow
def test_another_study_is_restored_only_when_the_server_has_stopped(database, tmp_path, elsewhere):
    path = write_study(tmp_path / "study")
    with running(path, database) as server:
        store = open_store(database)
        number = Study(store, path).person().number
        own = backup(store, tmp_path / "own.backup")
        with pytest.raises(InputError, match=re.escape("a server runs on the database")):
            restore(store, elsewhere, replace=True)
        assert name_in(store) == "small"
        person = Browser(server.port, store.read(load_served).result(), number)
        person.enter()
        restore(store, own, replace=True)
        person.judge()
        assert not person.troubles
        assert len(person.acknowledged) == 8
    restore(store, elsewhere, replace=True)
    assert name_in(store) == "other"
    store.close()


def test_without_a_server_another_study_is_restored(store, tmp_path, elsewhere):
    Study(store, write_study(tmp_path / "study"), Clock())
    restore(store, elsewhere, replace=True)
    assert name_in(store) == "other"
