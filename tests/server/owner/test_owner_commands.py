"""The owner's commands: on the running server's database, and all of them in the audit log."""

import json
import re

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from judging import Study, write_study

from judgewell.cli import app
from judgewell.errors import InputError
from judgewell.server.judging import invitations as people
from judgewell.server.owner.actions import ACTIONS
from judgewell.server.store.schema import assessors, identities
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
    with pytest.raises(
        InputError, match=rf"^key {number} is of Ada, not of Rex; see judgewell account STUDY sessions$"
    ):
        said("account", study, "revoke", "Rex", "--key", number)
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
    with pytest.raises(InputError, match=r"no action is named; use one of pause, resume, release, .*enable; --help"):
        said("act", study)
    with pytest.raises(InputError, match="no assessor is named"):
        said("forget", study)
    with pytest.raises(InputError, match="both Ada and --older-than are given"):
        said("forget", study, "Ada", "--older-than", "30")
    with pytest.raises(InputError, match=r"^minutes 'x' is not a number; extend takes assessor, unit, minutes$"):
        said("act", study, "extend", "assessor=Ada", "minutes=x")
    with pytest.raises(InputError, match=r"^there is no field who; resume takes topic$"):
        said("act", study, "resume", "who=Ada")
    with pytest.raises(InputError, match=r"none\.csv: there is no such file"):
        said("invite", study, "--csv", "none.csv", "--address", "https://judge.example")
    with pytest.raises(InputError, match=r"there is no folder .*; make it first"):
        said("backup", study, tmp_path / "none" / "x.backup")
    assert said("account", study, "sessions") == "No session, token or link is open.\n"
    swapped = CliRunner().invoke(app, ["account", "add", str(study)])
    assert "write judgewell account STUDY add …: the study comes first" in swapped.output
    with pytest.raises(InputError, match=r"the Assessors page and the units\.csv of an export show the pseudonyms"):
        said("forget", study, "Ada")
    assert said("forget", study, "--older-than", "30") == "Personal data of no assessors deleted\n"


def test_a_unit_is_released_by_the_name_an_owner_knows(tmp_path):
    path = write_study(tmp_path / "study", topics=1)
    store = open_store(tmp_path / "study" / "small.sqlite")
    at_work = Study(store, path)
    person = at_work.person()
    person.until("document")
    mine = assessors.c.number == person.number
    store.write(lambda c: c.execute(sa.update(assessors).where(mine).values(label="Ada"))).result()
    seen = {"arrived": 0.0, "assessor": person.number}
    store.write(lambda c: c.execute(sa.insert(identities).values(platform="prolific", outside="5f", **seen))).result()
    (name,) = at_work.rows(sa.select(assessors.c.pseudonym))[0]
    assert f"working: {name} on t0-" in said("status", path)
    assert json.loads(said("status", path, "--format", "json"))["working"][0]["pseudonym"] == name
    assert "1 unit is held until" in said("act", path, "extend", "assessor=5f", "minutes=30")
    assert said("act", path, "release", "assessor=Ada") == "1 unit is released; someone else can take over.\n"
    assert "working:" not in said("status", path)
    assert [line.split("\t")[3] for line in said("audit", path).splitlines()] == [name, name]
    store.write(lambda c: people.new_assessor(c, "invite", 0.0, "Ada")).result()
    with pytest.raises(InputError, match="several assessors"):
        said("forget", path, "Ada")
    assert said("forget", path, "5f") == (
        "The personal data of one assessor is deleted. Kept under a new pseudonym: no answers. Exports and backups "
        "made before still hold the old pseudonym. If you invite this person again, they join as a new assessor and "
        "may get documents that they have judged before.\n"
    )
    store.close()


def test_the_help_names_every_action_with_its_fields():
    lines = {line.split()[0]: line.split() for line in said("act", "--help").splitlines() if line.strip()}
    for name, action in ACTIONS.items():
        fields = [n if f.is_required() else f"[{n}]" for n, f in action.fields.model_fields.items()]
        assert lines[name][1 : 1 + len(fields)] == fields
