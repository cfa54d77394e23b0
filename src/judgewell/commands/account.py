"""`judgewell account`: who may see and run a study."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import click

from judgewell.commands.act import do
from judgewell.commands.database import address_of, address_option, database_option, existing
from judgewell.errors import InputError

if TYPE_CHECKING:
    import sqlalchemy as sa

T = TypeVar("T")


class _StudyFirst(click.Group):
    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb, or how the words should be ordered."""
        if context.params["study"] in self.commands:
            context.fail(f"write judgewell account STUDY {context.params['study']} …: the study comes first")
        return super().resolve_command(context, args)


@click.group(cls=_StudyFirst)
@click.argument("study")
@click.pass_context
def account(context: click.Context, study: str) -> None:
    """Manage the accounts of STUDY's owners and reviewers, also while it is served. STUDY comes before the verb.

    \b
    Examples:
      judgewell account study.toml add Ada --role reviewer
      judgewell account study.toml token Grace --scope read --days 90
      judgewell account study.toml sessions
    """
    context.obj = study


def _write(study: str, database: str | None, job: Callable[[sa.Connection, float], T]) -> T:
    """Run a job on the study's database."""
    import time

    with existing(study, database) as store:
        return store.write(lambda connection: job(connection, time.time())).result()


def _print_link(
    study: str, database: str | None, address: str | None, job: Callable[[sa.Connection, float], str]
) -> None:
    """Run a job that makes a link, and print the link."""
    import time

    with existing(study, database) as store:
        base = address_of(store, address)
        print(f"{base}{store.write(lambda connection: job(connection, time.time())).result()}")


@account.command()
@click.argument("name")
@click.option(
    "--role",
    default="reviewer",
    type=click.Choice(["owner", "reviewer"]),
    help="An owner may do everything; a reviewer reads comments.",
)
@address_option
@database_option
@click.pass_obj
def add(study: str, database: str | None, name: str, role: str, address: str | None) -> None:
    """Add NAME and print a link to set a password.

    The link works once.

    \b
    Example:
      judgewell account study.toml add Ada --role reviewer --address https://judge.example.org
    """
    from judgewell.server.owner.access import record
    from judgewell.server.owner.accounts import add_account, new_link

    def job(connection: sa.Connection, now: float) -> str:
        add_account(connection, now, name, role)
        record(connection, now, None, "account added", f"account {name}", {"role": role})
        return new_link(connection, now, name)

    _print_link(study, database, address, job)


@account.command()
@click.argument("name")
@address_option
@database_option
@click.pass_obj
def link(study: str, database: str | None, name: str, address: str | None) -> None:
    """Print a new link to set NAME's password.

    It works once; older links end.

    \b
    Example:
      judgewell account study.toml link Ada
    """
    from judgewell.server.owner.access import record
    from judgewell.server.owner.accounts import new_link

    def job(connection: sa.Connection, now: float) -> str:
        record(connection, now, None, "link made", f"account {name}")
        return new_link(connection, now, name)

    _print_link(study, database, address, job)


@account.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=("read",),
    type=click.Choice(["read", "write"]),
    help="Allow the token to read or write; may be repeated.",
)
@click.option(
    "--days",
    default=90.0,
    type=click.FloatRange(0, 3660, min_open=True),
    help="Let the token expire after this many days.",
)
@click.option("--label", default="", help="Note what the token is for.")
@database_option
@click.pass_obj
def token(study: str, database: str | None, name: str, scopes: tuple[str, ...], days: float, label: str) -> None:
    """Print a new API token for NAME.

    It is shown once, and only its hash is kept.

    \b
    Example:
      judgewell account study.toml token Grace --scope read --scope write --days 30 --label notebook
    """
    from judgewell.server.owner.access import record
    from judgewell.server.owner.accounts import new_token

    def job(connection: sa.Connection, now: float) -> str:
        settings = {"scopes": list(scopes), "days": days, "label": label}
        record(connection, now, None, "token made", f"account {name}", settings)
        return new_token(connection, now, name, scopes, days, label)

    print(_write(study, database, job))


@account.command(name="list")
@database_option
@click.pass_obj
def list_(study: str, database: str | None) -> None:
    """Print all accounts.

    \b
    Example:
      judgewell account study.toml list
    """
    from judgewell.server.owner.accounts import list_accounts

    for row in _write(study, database, lambda connection, _: list_accounts(connection)):
        state = "disabled" if row.disabled else "open" if row.open else "no password yet"
        print(f"{row.name}\t{row.role}\t{state}\tlast seen {_when(row.seen)}")


@account.command()
@database_option
@click.pass_obj
def sessions(study: str, database: str | None) -> None:
    """Print all open sessions, tokens and links.

    Each line begins with the number of the key, which revoke --key takes.

    \b
    Example:
      judgewell account study.toml sessions
    """
    from judgewell.server.owner.accounts import list_keys

    rows = _write(study, database, lambda connection, now: list_keys(connection, now))
    if not rows:
        print("No session, token or link is open.")
    for row in rows:
        columns = [f"until {_when(row.expires)}", f"last seen {_when(row.seen)}", *row.scopes, row.label or ""]
        print(f"{row.number}\t{row.account}\t{row.kind}\t" + "\t".join(columns).rstrip())


@account.command()
@click.argument("name")
@click.option("--key", type=int, help="End only the session, token or link with this number.  [default: all of NAME's]")
@database_option
@click.pass_obj
def revoke(study: str, database: str | None, name: str, key: int | None) -> None:
    """End NAME's sessions, tokens and links.

    With --key, only one of them ends.

    \b
    Example:
      judgewell account study.toml revoke Ada --key 12
    """
    if key is None:
        do(study, database, "revoke", {"account": name})
        return
    from judgewell.server.owner.accounts import list_keys

    rows = _write(study, database, lambda connection, now: list_keys(connection, now))
    whose = next((row.account for row in rows if row.number == key), name)
    if whose != name:
        raise InputError(f"key {key} is of {whose}, not of {name}", cure="see judgewell account STUDY sessions")
    do(study, database, "revoke-key", {"key": key})


@account.command()
@click.argument("name")
@database_option
@click.pass_obj
def disable(study: str, database: str | None, name: str) -> None:
    """Lock NAME's account and end their sessions.

    \b
    Example:
      judgewell account study.toml disable Ada
    """
    do(study, database, "disable", {"account": name})


@account.command()
@click.argument("name")
@database_option
@click.pass_obj
def enable(study: str, database: str | None, name: str) -> None:
    """Unlock NAME's account.

    \b
    Example:
      judgewell account study.toml enable Ada
    """
    do(study, database, "enable", {"account": name})


def _when(at: float | None) -> str:
    return "never" if at is None else datetime.fromtimestamp(at, UTC).isoformat(" ", "minutes").removesuffix("+00:00")
