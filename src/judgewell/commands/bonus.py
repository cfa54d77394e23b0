"""`judgewell bonus`: what to pay beside the platform's own reward, as a file that Prolific takes."""

from __future__ import annotations

import click

from judgewell.commands.common import refuse_unwritable
from judgewell.commands.database import database_option, existing


@click.command()
@click.argument("study")
@click.option("-o", "--output", required=True, help="The file to write: participant id and amount on each line.")
@click.option("--again", is_flag=True, help="Write earlier bonuses again, for example after a file was lost.")
@database_option
def bonus(study: str, output: str, again: bool, database: str | None) -> None:
    """Write the bonuses that are due for units beyond an assessor's first, each once.

    \b
    Examples:
      judgewell bonus study.toml -o bonus-1.csv
      judgewell bonus study.toml -o bonus-1.csv --again
    """
    from pathlib import Path

    from judgewell.errors import InputError
    from judgewell.server.platforms.bonus import take_bonuses
    from judgewell.server.session.served import load_served
    from judgewell.server.store.private_files import create_private
    from judgewell.text import counted

    path = Path(output)
    if path.exists() and not again:
        raise InputError(
            "this file exists already", cure="give another name, and check whether this one was paid", file=path
        )
    refuse_unwritable(output)
    with existing(study, database) as store:
        served = store.read(load_served).result()
        bonuses = take_bonuses(store, served, again=again)
    for note in bonuses.notes:
        click.echo(f"note: {note}", err=True)
    if not bonuses.lines:
        print("No bonus is due.")
        return
    try:
        create_private(path)
        path.write_text("".join(f"{person},{amount}\n" for person, amount in bonuses.lines), encoding="utf-8")
    except OSError as error:
        problem = f"the bonuses are recorded, but the file was not written: {error.strerror}"
        raise InputError(problem, cure="run it with --again and another name", file=path) from None
    currency = served.study.pay.currency
    who = counted(len(bonuses.lines), "assessor")
    print(f"{bonuses.total} {currency} for {who} in {output}; they are not written again.")
