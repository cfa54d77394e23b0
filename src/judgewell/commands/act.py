"""`judgewell act`, `forget` and `audit`: what an owner does to a running study, and what was done."""

from __future__ import annotations

from typing import Any

import click

from judgewell.commands.database import database_option, existing
from judgewell.errors import InputError


def do(study: str, database: str | None, name: str, given: dict[str, Any]) -> None:
    """Do an action on a study's database and say what came of it."""
    from judgewell.server.owner.action_routes import outcome
    from judgewell.server.owner.actions import ACTIONS, perform, read_fields
    from judgewell.server.session.served import load_served

    if name not in ACTIONS:
        raise InputError(f"{name!r} is not an action", cure=f"use one of {', '.join(ACTIONS)}")
    action = ACTIONS[name]
    fields = read_fields(action, given)
    with existing(study, database) as store:
        served = store.read(load_served).result()
        result = perform(store, served, action, fields)
    print(outcome(action, result))


@click.command()
@click.argument("study")
@click.argument("action", required=False)
@click.argument("fields", nargs=-1)
@database_option
def act(study: str, action: str | None, fields: tuple[str, ...], database: str | None) -> None:
    """Apply ACTION to STUDY, also while it is served. Each action is written into the audit log.

    FIELDS are name=value; those in brackets are optional. Repeat docs= to name several documents. An assessor is a
    pseudonym, an id of the platform, or an invited name. `judgewell status` shows the topics and who is working on
    which unit; the Assessors pages and the units.csv of `judgewell export` show all assessors and their units.
    `judgewell account STUDY list` shows the accounts, and `sessions` the number of each key.

    \b
    Actions:
      pause       [topic] [reason]            hand out no new units
      resume      [topic]                     hand out units again
      release     assessor [unit] [reason]    let others take what they hold
      extend      assessor [unit] minutes     hold their unit for so long
      exclude     assessor [unit] reason      keep and mark work as excluded
      include     assessor [unit]             include excluded work again
      more        topic docs [more] [scale]   ask for more judgments
      forget      assessor [comments]         delete personal data
      revoke      account                     end its sessions, tokens, links
      revoke-key  key                         end one session, token or link
      disable     account                     lock an account
      enable      account                     unlock an account

    \b
    Examples:
      judgewell act study.toml pause topic=t17 reason="the topic is unclear"
      judgewell act study.toml release assessor=a-x7k2m9p4qz
      judgewell act study.toml exclude assessor=a-x7k2m9p4qz reason="copied comments"
      judgewell act study.toml more topic=t17 docs=d1 docs=d2 more=2
    """
    if action is None:
        from judgewell.server.owner.actions import ACTIONS

        raise InputError("no action is named", cure=f"use one of {', '.join(ACTIONS)}; --help shows their fields")
    given: dict[str, list[str]] = {}
    for field in fields:
        name, sign, value = field.partition("=")
        if not sign:
            raise InputError(f"{field!r} is not name=value", cure="write for example reason=late")
        given.setdefault(name, []).append(value)
    do(study, database, action, {name: one[0] if len(one) == 1 else one for name, one in given.items()})


@click.command()
@click.argument("study")
@click.argument("assessor", required=False)
@click.option("--comments", is_flag=True, help="Delete the comments on documents too.")
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    help="Delete the data of all whose last step was at least this many days ago.",
)
@database_option
def forget(study: str, assessor: str | None, comments: bool, older_than: float | None, database: str | None) -> None:
    """Delete the personal data of one assessor, or of all who left long ago. Judgments are kept.

    ASSESSOR is a pseudonym, an id of the platform, or an invited name.

    \b
    Examples:
      judgewell forget study.toml a-x7k2m9p4qz
      judgewell forget study.toml --older-than 90
    """
    import time

    from judgewell.server.owner.privacy import retain
    from judgewell.text import counted

    if (assessor is None) == (older_than is None):
        given = "no assessor is named" if assessor is None else f"both {assessor} and --older-than are given"
        raise InputError(given, cure="name an assessor, or give --older-than DAYS")
    if assessor is not None:
        return do(study, database, "forget", {"assessor": assessor, "comments": comments})
    count = 0
    with existing(study, database) as store:
        while some := store.write(lambda connection: retain(connection, time.time(), older_than or 0.0)).result():
            count += some
        store.empty_log()
    print(f"Personal data of {counted(count, 'assessor')} deleted")


@click.command()
@click.argument("study")
@click.option("-o", "--output", help="Write the whole log to this CSV file instead of printing the newest lines.")
@click.option("--lines", default=50, type=click.IntRange(min=1), help="Print this many lines.")
@database_option
def audit(study: str, output: str | None, lines: int, database: str | None) -> None:
    """Show the audit log of STUDY: every action of owners and reviewers.

    \b
    Examples:
      judgewell audit study.toml
      judgewell audit study.toml -o audit.csv
    """
    import json
    from dataclasses import asdict
    from datetime import UTC, datetime

    from judgewell.server.owner.access import audit_entries

    with existing(study, database) as store:
        most = lines if output is None else 2**31
        entries = store.read(lambda connection: audit_entries(connection, most)).result()
    rows = [
        {
            **asdict(entry),
            "account": entry.actor,
            "at": datetime.fromtimestamp(entry.at, UTC).isoformat(timespec="seconds"),
            "data": json.dumps(entry.data, ensure_ascii=False),
        }
        for entry in reversed(entries)
    ]
    if output is None:
        for row in rows:
            print("\t".join(str(row[name] or "") for name in ("at", "account", "action", "target", "data")))
        return
    import polars as pl

    from judgewell.server.queries.export import defused
    from judgewell.server.store.private_files import create_private

    text = dict.fromkeys(("at", "account", "action", "target", "data", "address"), pl.String)
    create_private(output)
    defused(pl.DataFrame(rows, schema={"number": pl.Int64, **text})).write_csv(output)
    print(output)
