"""The commands around the server, as a user types them."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from judging import write_study
from serving import command, running
from waiting import HANG, wait_until

from judgewell import simulate as simulated
from judgewell.commands.account import account
from judgewell.commands.backup import backup, restore
from judgewell.commands.export import export
from judgewell.commands.invite import invite
from judgewell.commands.serve import serve
from judgewell.commands.status import status
from judgewell.errors import InputError
from judgewell.server.owner.accounts import link_holder
from judgewell.server.serve import FORKS
from judgewell.server.store.setup import prepare, record_address
from judgewell.server.store.transactions import open_store
from judgewell.study.new import new_study


def run(command, *arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_links_are_made_once_and_shown_again(tmp_path):
    path = write_study(tmp_path / "study")
    database = str(tmp_path / "study/small.sqlite")
    with running(path, database) as server:
        line = server.process.stdout.readline()
        assert line == f"For a link with which the owner sets a password: judgewell account {path} link owner\n"
        said = run(invite, path, "Ada", "--count", 1)
        links = dict(line.split("\t") for line in said.splitlines())
        assert list(links) == ["Ada", "assessor 2"]
        assert run(invite, path, "--list") == said
        with pytest.raises(urllib.error.HTTPError, match="403"):  # it leads to /work, which wants the cookie
            urllib.request.urlopen(links["Ada"], timeout=HANG)
    assert (tmp_path / "study/small.sqlite").is_file()


def test_commands_to_copy_name_the_database(tmp_path):
    path, database = write_study(tmp_path / "my study"), str(tmp_path / "another place.sqlite")
    with running(path, database) as server:
        lines = [server.process.stdout.readline() for _ in range(2)]
        printed = [shlex.split(line.partition(": judgewell ")[2]) for line in lines]
        assert printed == [
            ["account", str(path), "link", "owner", "--database", database],
            ["invite", str(path), "NAME", "--database", database],
        ]
        assert "/owner/" in run(account, *printed[0][1:])
        assert run(invite, *printed[1][1:]).startswith("NAME\thttp")
    said = run(export, path, "--database", database, "-o", tmp_path / "out")
    assert shlex.split(said.partition("judgewell status ")[2]) == [str(path), "--database", database]
    with pytest.raises(InputError, match=r"judgewell serve '.*study.toml' --database gone\.sqlite"):
        run(status, path, "--database", "gone.sqlite")


def test_only_a_terminal_gets_the_owners_link(tmp_path):
    path = write_study(tmp_path / "study")
    database = str(tmp_path / "study/small.sqlite")
    with running(path, database):  # into a pipe, as into a journal
        pass
    screen, end = pty.openpty()
    process = subprocess.Popen(command("serve", path, database, "--port", "0"), stdout=end)
    os.close(end)
    try:
        with open(screen, encoding="utf-8") as lines:
            lines.readline()
            printed = lines.readline()
            process.send_signal(signal.SIGTERM)
            process.wait(HANG)
    finally:
        process.kill()
    link = re.match(r"The owner's link, which works once and for three days, to set a password: (http\S+)", printed)
    assert link, printed
    opened = open_store(database)
    secret = link[1].rpartition("/")[2]
    assert opened.read(lambda c: link_holder(c, time.time(), secret)).result() is not None
    opened.close()


def test_the_consent_of_the_example_is_warned_of(tmp_path):
    path = new_study(tmp_path / "study")[0]
    with running(path, str(tmp_path / "study/study.sqlite")) as server:
        lines = [server.process.stdout.readline() for _ in range(3)]
    assert any("Warning: assessors will read the consent text of the example" in line for line in lines), lines


def test_links_begin_with_the_address_that_is_served_unless_another_is_given(tmp_path):
    path = write_study(tmp_path / "study")
    database = str(tmp_path / "study/small.sqlite")
    with running(path, database) as server:
        assert run(invite, path, "Ada").startswith(f"Ada\thttp://127.0.0.1:{server.port}/i/")
        assert run(account, path, "link", "owner").startswith(f"http://127.0.0.1:{server.port}/owner/")
        assert run(invite, path, "Bob", "--address", "https://judge.example/").startswith(
            "Bob\thttps://judge.example/i/"
        )


def test_where_the_servers_address_is_not_known_links_are_refused(tmp_path):
    path = write_study(tmp_path / "study")
    store = open_store(str(tmp_path / "study/small.sqlite"))
    prepare(store, path, time.time)
    for arguments in ((invite, path, "Ada"), (account, path, "add", "Ada")):
        with pytest.raises(InputError, match=r"the server's address is not known.*give the address that people use"):
            run(*arguments)
    record_address(store, "http://127.0.0.1:1234")
    assert run(invite, path, "--list") == ""
    assert run(account, path, "list") == ""
    record_address(store, None)  # a server that listens on all addresses takes back what an earlier one recorded
    with pytest.raises(InputError, match="the server's address is not known"):
        run(invite, path, "--list")
    store.close()


def test_a_link_leads_to_the_work(tmp_path):
    path = write_study(tmp_path / "study")
    with running(path, str(tmp_path / "study/small.sqlite")):
        link = run(invite, path, "Ada").split()[1]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(link, timeout=HANG) as response:
            assert response.url.endswith("/work")
            assert response.headers["x-page"] == "consent"
    found = json.loads(run(status, path, "--format", "json"))
    assert (found["assessors"], found["answers"]) == (1, 0)
    assert "topic" in run(status, path)
    printed = run(export, path, "-o", tmp_path / "out")
    assert re.search(r"out/log\.jsonl: \d+ row", printed)
    assert f"no judgments yet. Progress: judgewell status {path}" in printed
    assert (tmp_path / "out/log.jsonl").is_file()
    run(backup, path, tmp_path / "saved")
    run(restore, path, tmp_path / "saved", "--database", tmp_path / "moved.sqlite")
    assert json.loads(run(status, path, "--format", "json", "--database", tmp_path / "moved.sqlite")) == found


@pytest.mark.parametrize("command", [status, export, invite])
def test_a_study_that_was_never_served_is_told(tmp_path, command):
    path = write_study(tmp_path / "study")
    options = ("--count", "1") if command is invite else ()
    with pytest.raises(InputError, match="judgewell serve"):
        run(command, path, *options)


def test_nobody_to_invite_is_told(tmp_path):
    with pytest.raises(InputError, match="nobody to invite is named"):
        run(invite, write_study(tmp_path / "study"))


@pytest.mark.parametrize("command", [serve, invite, status, export, backup, restore])
def test_every_command_shows_an_example(command):
    assert re.search(r"Examples?:\n +judgewell ", run(command, "--help"))


def test_a_port_in_use_is_told(tmp_path):
    path = write_study(tmp_path / "study")
    with (
        running(path, str(tmp_path / "study/small.sqlite")) as server,
        pytest.raises(InputError, match="change --host or --port"),
    ):
        run(serve, path, "--port", server.port, "--database", tmp_path / "other.sqlite")


def test_two_workers_serve_one_database(database, tmp_path):
    path = write_study(tmp_path / "study")
    with running(path, database, "--workers", "2") as server:
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/healthz", timeout=HANG) as response:
                    assert json.load(response) == {"ok": True}
                break
            except urllib.error.URLError:
                continue


@pytest.mark.skipif(not FORKS, reason="workers are copies of the first process on Linux only")
def test_a_worker_that_dies_is_replaced(tmp_path):
    path = write_study(tmp_path / "study")
    with running(path, str(tmp_path / "study.sqlite"), "--workers", "2") as server:
        parent = server.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children")
        first = wait_until(lambda: (pids := children.read_text().split()) and len(pids) == 2 and pids)
        assert all(b"multiprocessing" not in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in first)  # copies
        os.kill(int(first[0]), signal.SIGKILL)
        wait_until(lambda: len(pids := children.read_text().split()) == 2 and first[0] not in pids)
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/healthz", timeout=HANG) as response:
            assert json.load(response) == {"ok": True}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_study_that_cannot_be_read_is_reported_once(tmp_path, workers):
    path = write_study(tmp_path / "study")
    (path.parent / "topics.csv").unlink()
    program = [sys.executable, "-m", "judgewell", "serve", str(path), "--port", "0", "--workers", workers]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=HANG)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.count("topics.csv") == 1
    assert "Traceback" not in ended.stderr


def test_the_database_of_another_study_is_refused(tmp_path):
    mine, other = new_study(tmp_path / "mine")[0], new_study(tmp_path / "other", "pairs")[0]
    database = tmp_path / "other" / "other-simulated.sqlite"
    assert simulated(other, assessors=5).database == str(database)
    match = r"^the database holds the study 'other', not 'mine'; name the database of mine with --database$"
    for one, *options in ((status,), (export, "-o", tmp_path / "out"), (serve, "--port", 0)):
        with pytest.raises(InputError, match=match):
            run(one, mine, "--database", database, *options)


def test_an_unusable_database_and_address_are_named(tmp_path):
    path = new_study(tmp_path / "mine")[0]
    with pytest.raises(InputError, match=r"pool\.csv: the database cannot be used: .*; name the study's own database"):
        run(status, path, "--database", path.with_name("pool.csv"))
    with closing(open_store(tmp_path / "mine" / "mine.sqlite")) as store:
        prepare(store, path, time.time)
    with pytest.raises(
        InputError, match=r"^the address 'foo' is not that of a page; begin it with http:// or https://"
    ):
        run(invite, path, "Ada", "--address", "foo")
