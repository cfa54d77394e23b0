"""`judgewell invite`: links for assessors, one each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from judgewell.commands.database import address_of, address_option, database_option, existing
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.server.judging.invitations import Invitation
    from judgewell.server.session.served import Served
    from judgewell.server.store.transactions import Store

LABELS = ("label", "email", "name")


@click.command()
@click.argument("study")
@click.argument("names", nargs=-1)
@click.option("--count", default=0, type=click.IntRange(0, 100_000), help="Make this many links without names.")
@click.option("--csv", "people", help="A list of people with a column label, email or name.")
@click.option("-o", "--output", help="A CSV file for the links; with --csv the list with a column link added.")
@click.option("--list", "listed", is_flag=True, help="List the open links.")
@click.option("--again", is_flag=True, help="Make new links even for names that have one; old links stay open.")
@click.option("--revoke", help="Close the link of this name and its session; judgments are kept.")
@address_option
@database_option
def invite(
    study: str,
    names: tuple[str, ...],
    count: int,
    people: str | None,
    output: str | None,
    listed: bool,
    again: bool,
    revoke: str | None,
    address: str | None,
    database: str | None,
) -> None:
    """Make a link for each of NAMES. The study must have been served once.

    A name that has a link keeps it: the same link is shown again.

    \b
    Examples:
      judgewell invite study.toml Ada Grace --address https://judge.example.org
      judgewell invite study.toml --count 20
      judgewell invite study.toml --csv people.csv -o links.csv --address https://judge.example.org
      judgewell invite study.toml --revoke Ada
    """
    from judgewell.server.judging import invitations as assessors
    from judgewell.server.session.served import load_served

    if not (names or count or listed or people or revoke):
        raise InputError("nobody to invite is named", cure="give names, --count, --csv, --list or --revoke")
    table = _read_people(people) if people else None
    wanted = [*names, *(table[_label(table, people or "")].to_list() if table is not None else ())]
    with existing(study, database) as store:
        served = store.read(load_served).result()
        if wanted or count:
            assessors.refuse_rehearsal(store)
        base = address_of(store, address) if wanted or count or listed else ""
        if revoke is not None and not assessors.revoke(store, served, revoke):
            raise InputError(f"there is no open link of {revoke!r}", cure="--list shows them")
        links = assessors.invited(store, served) if listed else []
        links += assessors.invite(store, served, wanted, again=again) if wanted else []
        links += assessors.invite_more(store, served, count) if count else []
        for action, number in (
            ("link revoked", int(revoke is not None)),
            ("links listed", len(links) if listed else 0),
            ("invite", sum(link.new for link in links)),
        ):
            if number:
                _record(store, served, action, number)
    if output is None:
        for link in links:
            print(f"{link.label}\t{base}{link.path}")
    else:
        _write(output, table, links, base)
    old = sum(not link.new for link in links) if not listed else 0
    if old:
        click.echo(f"note: {old} of {len(links)} had a link before and keep it; --again makes new ones", err=True)
    if revoke is not None:
        click.echo(f"The link of {revoke} is closed.", err=True)


def _record(store: Store, served: Served, action: str, count: int) -> None:
    """One line of the audit log; names are personal data and stay out of it."""
    from judgewell.server.owner.access import record

    store.write(lambda connection: record(connection, served.clock(), None, action, data={"count": count})).result()


def _read_people(path: str) -> pl.DataFrame:
    """A list of people; every cell is text."""
    from judgewell.formats.frames import read_frame

    table = read_frame(path)
    label = _label(table, path)
    cells = table[label].cast(str).str.strip_chars()
    for line, cell in enumerate(cells, start=2):
        if not cell:
            raise InputError(f"{label} is empty", cure="name everybody", file=path, line=line)
    doubled = cells.filter(cells.is_duplicated())
    if len(doubled):
        raise InputError(f"{doubled[0]!r} appears twice", cure="give each person a name of their own", file=path)
    return table.with_columns(cells.alias(label))


def _label(table: pl.DataFrame, path: str) -> str:
    known = {name.strip().casefold(): name for name in table.columns}
    column = next((known[name] for name in LABELS if name in known), None)
    if column is None:
        raise InputError("no column names the people", cure=f"name one {', '.join(LABELS)}", file=path)
    return column


def _write(output: str, table: pl.DataFrame | None, links: list[Invitation], base: str) -> None:
    """The links as CSV; a cell that a spreadsheet would run as a formula begins with an apostrophe."""
    import polars as pl

    from judgewell.server.queries.export import defused
    from judgewell.server.store.private_files import create_private

    made = pl.DataFrame({"label": [link.label for link in links], "link": [base + link.path for link in links]})
    if table is not None and len(table) == len(links):
        made = table.with_columns(made["link"])
    create_private(output)
    defused(made, made.columns).write_csv(output)
