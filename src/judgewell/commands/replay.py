"""`judgewell replay`: recorded answers asked again by other designs."""

from __future__ import annotations

from typing import Any

import click

from judgewell.commands.common import choice, kind_option, reading_options, refuse_unwritable


@click.command()
@click.argument("study")
@click.option("--from", "answers", required=True, help="Replay these recorded judgments or pairs.")
@click.option(
    "--design",
    "designs",
    multiple=True,
    help="Replay this design: even, floor, sampled; for pairs even, pairs.  [default: all]",
)
@click.option("--simulated", "systems", type=click.IntRange(min=2), help="Use this many simulated systems, not runs.")
@click.option(
    "--repeats", type=click.IntRange(min=1), default=20, help="Replay this many random orders of the answers."
)
@choice(
    "--rule",
    "full",
    "goal",
    help="Stop when the conclusion is that of all answers (full), or by the study's rule (goal).",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed the orders with this number.")
@click.option("-o", "--output", help="Write a row for each design and order to a file.")
@click.option("--chart", help="Draw the costs to .svg, .pdf, .png or .html.")
@reading_options
@kind_option
@click.option("--strict", is_flag=True, help="Treat notes as errors.")
def replay(study: str, answers: str, output: str | None, chart: str | None, strict: bool, **given: Any) -> None:
    """Replay recorded answers under other designs, and show what each would have cost.

    STUDY names the goal ([goal] with systems, measure and decide); the pool is the documents of the answers. Every
    design asks batch by batch and stops by the same rule. It is right if all answers together lead to the same
    conclusion.

    \b
    Designs:
      even     every document equally often
      floor    every document once, then again those on which the conclusion depends
      sampled  only documents on which the conclusion depends
      pairs    the pairs on which the conclusion depends

    \b
    Examples:
      judgewell replay study.toml --from judgments.csv
      judgewell replay study.toml --from judgments.csv --simulated 20 --rule goal --chart costs.svg
      judgewell replay pairs.toml --from pairs.csv --repeats 5
    """
    from judgewell.analysis.goals.study_replay import replay_study
    from judgewell.formats.provenance import provenance, write_result
    from judgewell.terminal import notes, progress

    refuse_unwritable(output)
    with notes(strict) as collected:
        with progress("studies replayed") as show:
            result = replay_study(study, answers, **given, progress=show)
        if chart:
            from judgewell.comparison.charts import save

            save(result.chart(), chart)
        if output:
            options = {"study": study, "from": answers, **dict(sorted(given.items()))}
            options["simulated"] = options.pop("systems")
            write_result(result.table, output, provenance("replay", options, [study, answers], collected))
        print(result)
