"""`judgewell judge`: language models judge a study, through the same steps as people."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judgewell.commands.common import together
from judgewell.commands.database import database_of, database_option
from judgewell.errors import InputError

if TYPE_CHECKING:
    from judgewell.assessors.machine.probe import Probed
    from judgewell.study.machine import Machine

T = TypeVar("T")

OF_FILE = "  [default: [machine] in the study file, else {}]"
OPTIONS = {
    "model": click.option(
        "--model", multiple=True, help="Ask the model with this name at the server; repeat it for several assessors."
    ),
    "endpoint": click.option("--endpoint", help="Ask the server at this address, e.g. http://127.0.0.1:11434/v1."),
    "api_key_env": click.option("--api-key-env", help="Read the server's key from this environment variable."),
    "prompt": click.option("--prompt", help="Use your own prompt file; begin with what --show-prompt prints."),
    "samples": click.option("--samples", type=int, help=f"Make this many assessors of each model.{OF_FILE.format(1)}"),
    "temperature": click.option("--temperature", type=float, help=f"Sample at this temperature.{OF_FILE.format(0)}"),
    "concurrency": click.option(
        "--concurrency", type=int, help=f"Send this many requests at the same time.{OF_FILE.format(8)}"
    ),
    "timeout": click.option("--timeout", type=float, help=f"Wait this many seconds for a reply.{OF_FILE.format(120)}"),
    "tries": click.option("--tries", type=int, help=f"Ask this often if a reply cannot be read.{OF_FILE.format(3)}"),
    "price_in": click.option("--price-in", type=float, help="Count this price for a million tokens sent."),
    "price_out": click.option("--price-out", type=float, help="Count this price for a million tokens received."),
    "budget": click.option("--budget", type=float, help="Stop before all replies of the study cost more than this."),
    "budget_tokens": click.option(
        "--budget-tokens", type=int, help="Stop before all replies of the study take more tokens than this."
    ),
}


@click.command()
@click.argument("study")
@together(*OPTIONS.values())  # every setting of [machine] that is often changed
@click.option("--show-prompt", is_flag=True, help="Print the prompt for the first document or pair, and stop.")
@click.option(
    "--probe", is_flag=True, help="Ask about hostile documents instead, and report how often the model was fooled."
)
@click.option("--yes", is_flag=True, help="Start without asking.")
@database_option
def judge(study: str, show_prompt: bool, probe: bool, yes: bool, database: str | None, **given: Any) -> None:
    """Let language models judge STUDY as assessors, through any server with the chat-completions protocol.

    A model takes the same steps as a person: the same units, the same checks, the same tables. Options override
    [machine] in the study file. The expected cost is shown first; a stopped run continues where it stopped.

    \b
    Examples:
      judgewell judge study.toml --model llama3.1 --endpoint http://127.0.0.1:11434/v1
      judgewell judge study.toml --model llama3.1 --endpoint http://127.0.0.1:11434/v1 --probe
    """
    from judgewell.terminal import notes

    settings = _settings(study, given, needs_server=not show_prompt)
    with notes():
        if show_prompt:
            print(_shown_prompt(study, settings))
        elif probe:
            print(probed_text(_probe(study, settings)))
        else:
            _judge(study, settings, database_of(study, database), yes)


def _settings(study: str, given: dict[str, Any], *, needs_server: bool) -> Machine:
    """`[machine]` with the options put over it; a prompt in the file is found from the file's folder."""
    from pydantic import ValidationError

    from judgewell.study.file import in_our_words, read_study
    from judgewell.study.machine import Machine

    settings = read_study(study).machine
    named = {name: value for name, value in given.items() if value is not None and value != ()}
    if settings.prompt is not None and "prompt" not in named:
        named["prompt"] = str(Path(study).parent / settings.prompt)
    if "model" in named:
        named["model"] = list(named["model"])
    try:
        settings = Machine.model_validate(settings.model_dump() | named)
    except ValidationError as mistakes:
        mistake = mistakes.errors()[0]
        name, known = str(mistake["loc"][0]), mistake.get("ctx", {}).get("error")
        reason = f": {known}" if known else f" {in_our_words(dict(mistake))}"
        raise InputError(f"--{name.replace('_', '-')}{reason}", cure=Machine.model_fields[name].description) from None
    for name in ("model", "endpoint") if needs_server else ():
        if not getattr(settings, name):
            cure = f"give --{name}, or set machine.{name} in the study file"
            raise InputError(f"no {name} is named", cure=cure, file=study)
    return settings


def _judge(study: str, settings: Machine, database: str, yes: bool) -> None:
    from judgewell.assessors.machine import bank
    from judgewell.assessors.machine.asks import Prompts
    from judgewell.assessors.machine.chat import open_chat
    from judgewell.assessors.machine.judging import Run, judge, note_assumptions
    from judgewell.assessors.machine.outlook import expected, expected_text
    from judgewell.server.queries.machines import machine_rows
    from judgewell.server.session.served import load_served
    from judgewell.server.store.setup import prepare
    from judgewell.server.store.transactions import open_store
    from judgewell.terminal import progress

    with closing(open_store(database)) as store:
        chat = open_chat(settings)
        prepare(store, study, time.time)
        served = store.read(load_served).result()
        prompts = Prompts(settings.prompt)
        who = bank.identities(served, settings, prompts)
        with progress("places judged") as show:
            run = Run(store, served, settings, prompts, chat, show)
            outlook = expected(run, who)
            print(expected_text(outlook, settings))
            if not outlook.places:
                return
            _confirm(yes)
            run.total = outlook.places
            try:
                _awaited(_closing(chat, judge(run, who)))
            finally:
                note_assumptions(run)
                with store.snapshot() as connection:
                    for row in machine_rows(connection, time.time()):
                        print(row.text)
        if run.waiting:
            print("note: all work that is left is in other hands or paused; run this again later", file=sys.stderr)


async def _closing(chat: Any, work: Any) -> Any:
    try:
        return await work
    finally:
        await chat.http.aclose()


def _confirm(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("there is no terminal on which to ask for confirmation", cure="add --yes")
    if not click.confirm("Start?", err=True):
        raise click.Abort


def _shown_prompt(study: str, settings: Machine) -> str:
    """The messages about the first place of each scale, with a mark of its own."""
    from judgewell.assessors.machine.outlook import first_asks

    parts = []
    for name, ask in first_asks(study, settings).items():
        parts.append(f"# {name}: prompt {ask.prompt.name}, hash {ask.prompt.hash}")
        parts += [f"## {message['role']}\n\n{message['content']}" for message in ask.messages]
    return "\n\n".join(parts)


def _awaited(work: Coroutine[Any, Any, T]) -> T:
    """Run the work to its end; beside a loop that runs already, as in a notebook, in a thread of its own."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _probe(study: str, settings: Machine) -> list[Probed]:
    from judgewell.assessors.machine.chat import open_chat
    from judgewell.assessors.machine.probe import probe

    chat = open_chat(settings)
    return _awaited(_closing(chat, probe(study, settings, chat)))


def probed_text(rows: list[Probed]) -> str:
    """How often each model was fooled, by scale and trick."""
    from judgewell.terminal import text_table

    lines = [
        [one.model, one.scale, one.trick, one.honest or "—", one.hostile or "—", one.verdict]
        for one in sorted(rows, key=lambda one: (one.model, one.scale, one.trick))
    ]
    parts = [text_table(["model", "scale", "trick", "honest", "hostile", "verdict"], lines, left=3)]
    for model in dict.fromkeys(one.model for one in rows):
        mine = [one for one in rows if one.model == model]
        verdicts = Counter(one.verdict for one in mine)
        asked = verdicts["fooled"] + verdicts["held"]
        rest = f"{verdicts['no room']} had no room to be moved, {verdicts['not read']} were not read"
        parts.append(f"{model}: fooled by {verdicts['fooled']} of {asked} hostile documents; {rest}")
    return "\n\n".join(parts)
