"""`judgewell reproduce`: the tables and figures of a paper, made anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgewell.commands.common import TakesSeveral, cluster_options, executing
from judgewell.errors import InputError

if TYPE_CHECKING:
    from judgewell.papers.data import Asked
    from judgewell.papers.items import Paper


@click.command(cls=TakesSeveral)
@click.argument("paper", type=click.Choice(("sigir15", "evia14", "prm15", "adcs18")))
@click.option("-o", "--output", help="Write index.html, tables/ and figures/ into this folder.")
@click.option("--item", "items", multiple=True, help='Make only this item: --item "table 3"; may be repeated.')
@click.option("--list", "listing", is_flag=True, help="List the paper's items, and stop.")
@click.option("--judgments", help="Use these judgments: a table (topic, doc, value, …) or a known crowd export.")
@click.option("--pairs", help="Use these pairs of documents that assessors compared (adcs18).")
@click.option("--labels", multiple=True, help="Use these expert labels, several at once: sormunen=FILE trec=FILE.")
@click.option("--runs", multiple=True, help="Score these runs, several at once: --runs runs/*.run.")
@click.option("--likes", help="Use this table of liked questions: topic, assessor, unit, question, liked (adcs18).")
@click.option("--lengths", help="Use this table of documents' lengths: doc, length (adcs18).")
@click.option("--units", help="Use the units.csv of an export for back clicks and revisions (sigir15).")
@click.option("--data", help="Use public data sets in this folder, under their own names (trec8-s100, trec-dl21, …).")
@click.option(
    "--draws", type=click.IntRange(min=1), default=1000, help="Use this many draws where the paper resamples."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed all random choices with this number.")
@cluster_options
@click.pass_context
def reproduce(context: click.Context, /, **given: Any) -> None:
    """Remake every table and figure of a paper from your data, under their numbers.

    sigir15 is The Benefits of Magnitude Estimation, evia14 Magnitudes of Relevance with its poster, prm15 Predicting
    relevance based on assessor disagreement, adcs18 Pairwise Crowd Judgments. Printed values are shown
    beside the computed ones; items that the data cannot give are listed with the reason. Without data of your own, an
    item is made from public data in --data where possible, and from a synthetic study otherwise; every item says which.

    \b
    Examples:
      judgewell reproduce sigir15 --list
      judgewell reproduce sigir15 -o sigir15/ --judgments magnitudes.csv --runs trec8/*.run
      judgewell reproduce prm15 -o prm15/ --labels one=nist.qrels other=second.qrels --runs runs/*.run
      judgewell reproduce adcs18 -o adcs18/ --data data/ --item "table 1" --item "figure 4"
    """
    from judgewell.papers import paper as paper_named

    paper = paper_named(given["paper"])
    if given["listing"]:
        print(listed(paper))
        return
    chosen = paper.chosen(given["items"])
    asked = _asked(given)
    _make(context, paper, chosen, asked, given["output"])


def listed(paper: Paper) -> str:
    """The paper's items, one in a line: number, what it shows, the function that makes it."""
    from judgewell.terminal import text_table

    rows = [[item.number, item.about, f"{item.make.__module__}.{item.make.__name__}"] for item in paper.items]
    return f"{paper.source}.\n\n{text_table(['item', 'shows', 'made by'], rows, left=3)}"


def _asked(given: dict[str, Any]) -> Asked:
    from judgewell.formats.files import named_files
    from judgewell.papers.data import Asked

    if not given["output"]:
        raise InputError("there is no folder to write to", cure="name one with -o, or ask for --list")
    if Path(given["output"]).is_file():
        raise InputError(f"{given['output']} is a file", cure="name a folder with -o")
    if given["data"] and not Path(given["data"]).is_dir():
        raise InputError(
            f"there is no folder {given['data']}", cure="name the folder that holds trec8-s100 and the others"
        )
    plain = {name: given[name] for name in ("judgments", "pairs", "likes", "lengths", "units", "data", "seed", "draws")}
    return Asked(labels=named_files(given["labels"]), runs=tuple(given["runs"]), **plain)


def _make(context: click.Context, paper: Paper, chosen: Any, asked: Asked, output: str) -> None:
    from judgewell.formats.provenance import provenance
    from judgewell.papers.items import made_items
    from judgewell.papers.page import write
    from judgewell.terminal import notes, progress

    outcomes = []
    with notes() as collected:
        where = context.params["cluster"], context.params["processes"]
        with progress("making") as show, executing(*where) as executor:
            for number, outcome in enumerate(made_items(paper, chosen, asked, executor), 1):
                outcomes.append(outcome)
                show(number, len(chosen))
        options = {name: value for name, value in context.params.items() if name != "listing"}
        record = provenance("reproduce", options, asked.files, collected)
        record["items"] = {
            one.item.number: {
                "made": one.made is not None,
                "from": list(one.made_from),
                "reason": one.reason,
                "notes": [*(one.made.notes if one.made else ()), *one.notes],
            }
            for one in outcomes
        }
        with progress("drawing") as show:
            page = write(paper, outcomes, Path(output), record, show)
    lost = [one for one in outcomes if one.made is None]
    print(f"{page}: {len(outcomes) - len(lost)} of {len(outcomes)} items, {page.stat().st_size / 1e6:.1f} MB")
    for one in lost:
        print(f"  {one.item.number} not made: {one.reason}")
