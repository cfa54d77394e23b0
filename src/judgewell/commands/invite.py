"""`judgewell invite`: links for assessors, one each."""

from __future__ import annotations

import click

from judgewell.commands.collecting import database_option, existing


@click.command()
@click.argument("study")
@click.argument("names", nargs=-1)
@click.option("--count", default=0, type=click.IntRange(0, 100_000), help="So many links, beside those with names.")
@click.option("--list", "listed", is_flag=True, help="Show the links that were made before.")
@click.option("--address", default="http://127.0.0.1:8000", help="Where assessors reach the server.")
@database_option
def invite(study: str, names: tuple[str, ...], count: int, listed: bool, address: str, database: str | None) -> None:
    """Make unguessable links for assessors, one for each of NAMES; the study must have been served once.

    \b
    Examples:
      judgewell invite study.toml Ada Grace --address https://judge.example.org
      judgewell invite study.toml --count 20
    """
    from judgewell.collect import people
    from judgewell.collect.served import load_served
    from judgewell.errors import InputError

    if not (names or count or listed):
        raise InputError("nobody to invite", cure="give names, --count or --list")
    with existing(study, database) as store:
        served = store.read(load_served).result()
        links = people.invited(store, served) if listed else []
        links += people.invite(store, served, len(names) + count, names) if names or count else []
    for name, path in links:
        print(f"{name}\t{address.rstrip('/')}{path}")
