"""The owner's commands: on the running server's database, and all of them in the audit log."""

import re

import pytest
from click.testing import CliRunner
from judging import Study, write_study

from judgewell.cli import app
from judgewell.errors import InputError
from judgewell.server.store.transactions import open_store


@pytest.fixture
def study(tmp_path):
    path = write_study(tmp_path / "study", topics=1)
    store = open_store(tmp_path / "study" / "small.sqlite")
    Study(store, path)
    yield path
    store.close()


def said(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_accounts_are_added_listed_and_ended(study):
    link = said("account", study, "add", "Ada", "--role", "owner", "--address", "https://judge.example/")
    assert re.fullmatch(r"https://judge\.example/owner/link/[\w-]{43}\n", link)
    said("account", study, "add", "Rex", "--address", "https://judge.example")
    listed = said("account", study, "list")
    assert "Ada\towner\tno password yet" in listed
    assert "Rex\treviewer" in listed
    token = said("account", study, "token", "Ada", "--scope", "read", "--days", "3")
    assert token.startswith("jw_")
    assert token.strip() not in said("account", study, "sessions")
    number = re.search(r"^(\d+)\tAda\ttoken", said("account", study, "sessions"), re.M)[1]
    said("account", study, "revoke", "Ada", "--key", number)
    assert "token" not in said("account", study, "sessions")
    said("account", study, "disable", "Rex")
    assert "Rex\treviewer\tdisabled" in said("account", study, "list")
    lines = [line.split("\t") for line in said("audit", study).splitlines()]
    assert {line[1] for line in lines} == {"command line"}
    actions = [line[2] for line in lines]
    assert actions == ["account added", "account added", "token made", "revoke-key", "disable"]


def test_invitations_are_in_the_log_without_names(study):
    said("invite", study, "Ada", "--count", "2", "--address", "https://judge.example")
    said("invite", study, "--list", "--address", "https://judge.example")
    said("invite", study, "--revoke", "Ada")
    log = said("audit", study)
    lines = [tuple(line.split("\t")[i] for i in (1, 2, 4)) for line in log.splitlines()]
    assert lines == [
        ("command line", "invite", '{"count": 3}'),
        ("command line", "links listed", '{"count": 3}'),
        ("command line", "link revoked", '{"count": 1}'),
    ]
    assert "Ada" not in log


def test_actions_and_the_log_of_them(study, tmp_path):
    assert said("act", study, "pause", "reason==cmd") == "The study is paused: no new units are handed out.\n"
    assert "paused: the whole study" in said("status", study)
    said("act", study, "more", "topic=t0", "docs=t0d2", "docs=t0d3")
    said("audit", study, "-o", tmp_path / "audit.csv")
    assert len((tmp_path / "audit.csv").read_text().splitlines()) == 3
    with pytest.raises(InputError, match="is not an action"):
        said("act", study, "drop")
    with pytest.raises(InputError, match="no assessor is named"):
        said("forget", study)
    with pytest.raises(InputError, match="the Assessors page shows the pseudonyms"):
        said("forget", study, "Ada")
    assert said("forget", study, "--older-than", "30") == "Personal data of 0 assessors deleted\n"
