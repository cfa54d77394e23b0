"""`judgewell new`, `check` and `design`: a study before it begins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from judgewell.commands.common import TakesSeveral, cluster_options, executing, refuse_unwritable
from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from judgewell.analysis.goals.cost import Graded
    from judgewell.analysis.goals.plan import Plan
    from judgewell.assessors.value import Alternative
    from judgewell.executors import Executor
    from judgewell.stats.arrays import Floats
    from judgewell.study.check import Checked
    from judgewell.study.cost import Cost
    from judgewell.study.design.plan import Design
    from judgewell.study.inputs import Inputs
    from judgewell.study.model import Pay, Study

KINDS = ("magnitude", "ordinal", "binary", "s100", "pairs", "templates")


@click.command()
@click.argument("folder")
@click.option("--from", "kind", type=click.Choice(KINDS), default=KINDS[0], help="The kind of study to start from.")
def new(folder: str, kind: str) -> None:
    """Start a study in FOLDER: a commented study file with topics, documents and grades to replace by yours.

    \b
    Kinds of studies:
      magnitude  any number above 0, in proportion to relevance
      ordinal    named grades, from not relevant to highly relevant
      binary     relevant or not
      s100       a number from 0 to 100, with a slider
      pairs      two documents side by side: which one helps more
      templates  units of documents of fixed grades, to compare scales

    \b
    Example:
      judgewell new my-study --from pairs && judgewell check my-study/study.toml
    """
    from judgewell.study.new import new_study

    for path in new_study(folder, kind):
        print(path)
    print(f"\nEdit {Path(folder) / 'study.toml'}, then: judgewell check {Path(folder) / 'study.toml'}")


@click.command()
@click.argument("study")
@click.option("--strict", is_flag=True, help="Exit with code 2 for warnings too.")
def check(study: str, strict: bool) -> None:
    """List every error and warning in STUDY with its line, and show what the study will cost.

    \b
    Examples:
      judgewell check study.toml
      judgewell check study.toml --strict
    """
    from judgewell.study.check import check_study
    from judgewell.study.cost import cost_text

    checked, goal = _with_goal(check_study(study), study)
    print_problems(checked)
    if checked.mistakes or (strict and not all(one.information for one in checked.warnings)):
        sys.exit(2)
    print(f"{study}: no mistakes")
    if checked.cost:
        print(("whole design: " if goal else "") + cost_text(checked.cost))
    if goal:
        print(goal)


@click.command(cls=TakesSeveral)
@click.argument("study", required=False)
@click.option("-o", "--output", help="Write the design's tables into this folder; with --for-machine, to this file.")
@click.option("--compare", is_flag=True, help="Compare sizes of this design and other scales by cost and accuracy.")
@click.option("--for-machine", help="Draw documents for people to judge beside these labels by a machine.")
@click.option("--runs", multiple=True, help="Compare these runs (with --for-machine): --runs runs/*.run.")
@click.option("--budget", type=int, help="Draw this many documents (with --for-machine).")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Seed the draw with this number (with --for-machine)."
)
@cluster_options
def design(
    study: str | None,
    output: str | None,
    compare: bool,
    for_machine: str | None,
    runs: tuple[str, ...],
    budget: int | None,
    seed: int,
    cluster: str | None,
    processes: int | None,
) -> None:
    """Make the units assessors will judge, with their documents or pairs in order; -o writes them.

    `judgewell serve` makes the same units by itself. A study with a goal makes its units while it runs, and may stop
    before it has made as many.

    With --for-machine it draws the documents that people should judge beside a machine's labels, each with the
    probability of being drawn (column inclusion). The file is a study's pool ([pool] file), and the probabilities go
    through the study and its export into `judgewell compare --machine`.

    \b
    Examples:
      judgewell design study.toml -o design/
      judgewell design study.toml --compare
      judgewell design --for-machine llm.qrels --runs runs/*.run --budget 2000 -o pool.csv
    """
    if for_machine:
        _draw(for_machine, runs, budget, seed, output, study)
        return
    if study is None or runs or budget:
        raise InputError("name the study, or --for-machine with --runs and --budget", cure="judgewell design --help")
    from judgewell.formats.provenance import provenance, write_record
    from judgewell.study.check import alternatives, check_study
    from judgewell.study.cost import cost_text
    from judgewell.study.design.plan import write_design

    checked, goal = _with_goal(check_study(study), study)
    print_problems(checked)
    if (
        checked.mistakes
        or checked.design is None
        or checked.study is None
        or checked.inputs is None
        or checked.cost is None
    ):
        sys.exit(2)
    print(("whole design: " if goal else "") + cost_text(checked.cost))
    if goal:
        print(goal)
    if output:
        for path in write_design(checked.design, output):
            print(path)
        options = {"study": study, "seed": checked.study.study.seed}
        write_record(
            Path(output) / "design", provenance("design", options, [study], [str(w) for w in checked.warnings])
        )
    if compare:
        print("\n" + _sizes(alternatives(checked.study, checked.inputs), checked.study.pay))
        with executing(cluster, processes) as executor:
            print("\n" + _bought(checked.study, checked.inputs, checked.cost, executor))


def _with_goal(checked: Checked, path: str) -> tuple[Checked, str]:
    """The check with what is wrong with the goal, and what the goal is expected to cost, in words; "" without one."""
    from dataclasses import replace

    from judgewell.study.file import read_source, without_mistakes

    source = read_source(path)
    study = checked.study or without_mistakes(source)
    if study is None or study.goal is None:
        return checked, ""
    from judgewell.analysis.goals.plan import measure_mistakes, plan_of

    if checked.study is None or checked.inputs is None:
        return replace(checked, mistakes=(*checked.mistakes, *measure_mistakes(study.goal, source))), ""
    plan, mistakes, noted = plan_of(study, checked.inputs, source)
    checked = replace(checked, mistakes=(*checked.mistakes, *mistakes), warnings=(*checked.warnings, *noted))
    if plan is None or checked.inputs is None or checked.design is None:
        return checked, ""
    text, cost = _goal_text(plan, study, checked.inputs, checked.design)
    budget = study.pay.budget
    if cost is not None and budget is not None and cost.total > budget:
        units = f"{study.pay.affordable():,.0f} of the {cost.units:,} units that the goal is expected to take"
        problem = f"the budget of {budget:,.2f} {cost.currency} pays for {units}; then the study ends"
        few = source.problem(("pay", "budget"), problem, f"they cost {cost.total:,.2f}")
        checked = replace(checked, warnings=(*checked.warnings, few))
    return checked, text


def _goal_text(plan: Plan, study: Study, inputs: Inputs, design: Design) -> tuple[str, Cost | None]:
    """What the goal is expected to cost and how sure the end will be, by simulation; pairs are not simulated."""
    from judgewell.analysis.goals.cost import expected_cost, goal_words
    from judgewell.study.cost import cost_of
    from judgewell.text import counted, work_time

    if plan.low is None:
        text = f"goal: {goal_words(plan)}; its cost is not simulated for pairs: at most that of the whole design"
        return text, None
    graded, gains = _graded(plan, inputs, design)
    expected = expected_cost(plan, study, design, graded=graded)
    cost = cost_of(expected.units, expected.judgments, len(plan.pool), 0, study.pay, study.work)
    money = f", {cost.total:,.2f} {cost.currency}" if cost.total else ""
    decided, wrong = expected.decided, expected.wrong
    ends = f"{decided or 'none'} of {expected.studies} simulated studies decided, {wrong or 'none'} of them wrongly"
    ends = ends if decided else f"none of {expected.studies} simulated studies decided"
    ends += "; the others ended as not separable" if 0 < decided < expected.studies else ""
    ends += ". A larger within or redundancy lets more decide" if decided < expected.studies / 2 else ""
    text = (
        f"goal: {goal_words(plan)}\n"
        f"expected: {expected.judgments_10:,} to {expected.judgments_90:,} judgments in 8 of 10 simulated studies, "
        f"known documents counted; median {expected.judgments:,} in {counted(cost.units, 'unit')}, "
        f"{work_time(cost.hours)} of work{money}; if every document were asked about equally often, "
        f"{expected.even:,} judgments\n"
        "Every assessor at work at the same time adds one or two units, because they go on while a test waits for the "
        "slowest unit of its batch. The goal never takes more units than the whole design.\n"
        f"{ends}. {gains}, and no unit fails a check."
    )
    return text, cost


def _graded(plan: Plan, inputs: Inputs, design: Design) -> tuple[Graded | None, str]:
    """The gains that synthetic assessors would find by the study's grades, and a sentence about that."""
    import numpy as np

    from judgewell.assessors.truth import Truth
    from judgewell.study.design.batches import known_documents

    pairs = plan.pool.select("topic", "doc").rows()
    grades = {(row["topic"], row["doc"]): float(row["gain"]) for row in inputs.grades.iter_rows(named=True)}
    known = {(topic, doc): grade for topic, docs in known_documents(design).items() for doc, grade in docs.items()}
    given = np.array([pair in grades for pair in pairs])
    if not given.any() or not Truth.takes(grades[pair] for pair in pairs if pair in grades):
        return None, "Their gains are made up, because the study has no grades from 0 to 3 for its documents"

    def gains(seed: int) -> Floats:
        drawn = 100 * Truth(seed, grades, known).table(pairs)["gain"].to_numpy()
        return np.where(given, drawn, np.nan)

    if given.all():
        return gains, "Their gains follow the grades, as in judgewell simulate"
    few = f"{int(given.sum()):,} of {len(pairs):,} documents"
    return gains, f"Their gains follow the grades of {few}, as in judgewell simulate; those of the others are made up"


def _draw(
    labels: str, runs: tuple[str, ...], budget: int | None, seed: int, output: str | None, study: str | None
) -> None:
    """The documents that people should judge beside a machine's labels, into a file."""
    from judgewell.formats.gains import read_gains
    from judgewell.formats.provenance import provenance, write_result
    from judgewell.formats.runs import open_runs
    from judgewell.study.design.importance import draw, population
    from judgewell.terminal import notes
    from judgewell.text import counted

    if not runs or budget is None or output is None or study is not None:
        cure = "judgewell design --for-machine llm.qrels --runs runs/*.run --budget 2000 -o pool.csv"
        raise InputError("--for-machine needs --runs, --budget and -o, and no study", cure=cure)
    refuse_unwritable(output)
    with notes(False) as collected:
        documents = population(open_runs(runs), read_gains(labels))
        pool = draw(documents, budget, seed)
        options = {"for_machine": labels, "runs": runs, "budget": budget, "seed": seed}
        write_result(pool, output, provenance("design", options, [labels, *runs], collected))
    topics = pool["topic"].n_unique()
    print(
        f"{len(pool):,} of {len(documents):,} documents in {counted(topics, 'topic')}, drawn by importance; "
        f"{int((pool['inclusion'] == 1).sum()):,} are certain to be drawn\n{output}"
    )


def _sizes(table: pl.DataFrame, pay: Pay) -> str:
    """Other sizes of the design, with as many decimals as they deserve."""
    from judgewell.terminal import text_table

    title = "Other sizes of this design"
    if table.is_empty():
        return f"{title}: there are none for templates"
    decimals = {"minutes_per_unit": 1, "pay_per_unit": 2, "hours": 1, "total": 2, "reliability": 2, "share": 2}
    names = [name for name in table.columns if pay.amount or name not in ("pay_per_unit", "total")]
    rows = [[f"{row[name]:,.{decimals.get(name, 0)}f}" for name in names] for row in table.iter_rows(named=True)]
    return (
        f"{title}\n{text_table([name.replace('_', ' ') for name in names], rows, 0)}\n"
        f"Time: {pay.seconds:g} seconds a judgment and {pay.overhead:g} a unit, as [pay] says"
        + (
            f"; pay: at the hourly rate of this study's units, in {pay.currency}; total: with the fee.\n"
            if pay.amount
            else ".\n"
        )
        + "Reliability: the squared correlation of gains with the documents' true relevance, expected by simulation."
    )


ROUNDS = 200  # simulated studies of each design


def _bought(study: Study, inputs: Inputs, cost: Cost, executor: Executor | None) -> str:
    """What the same hours would buy with this design and with others, by simulation with synthetic people."""
    from judgewell.assessors.value import DEFAULTS, DEPTH, expected_value
    from judgewell.terminal import progress, text_table

    topics, seed = inputs.topics["topic"].to_list(), study.study.seed
    documents = sum(len(inputs.pool_of(topic)) for topic in topics) // len(topics)
    title = f"What {cost.hours:,.1f} hours would buy"
    if documents < DEPTH:
        return (
            f"{title}: skipped, because its systems are measured to depth {DEPTH} and topics have {documents} documents"
        )
    own = _own_design(study)
    designs = [*([own] if own else []), *(one for one in DEFAULTS if own is None or str(one) != str(own))]
    with progress("studies simulated") as show:
        expected = expected_value(
            designs, documents=documents, topics=len(topics), hours=cost.hours, seed=seed, rounds=ROUNDS,
            overhead=study.pay.overhead, progress=show, executor=executor,
        )  # fmt: skip
    head = [
        "design",
        "units",
        "failed",
        "seconds per judgment",
        "judgments per document",
        "hours",
        "correlation with the truth",
        "better system found",
    ]
    mine = str(own) if own else ""
    rows = [
        [
            f"{row['design']} (this study)" if row["design"] == mine else row["design"],
            f"{row['units']:,}",
            f"{100 * row['failed']:.0f} %",
            f"{row['seconds per judgment']:g}",
            f"{row['judgments per document']:.1f}",
            f"{row['hours']:,.1f}",
            *(
                f"{row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"
                for name in ("correlation", "better")
            ),
        ]
        for row in expected.iter_rows(named=True)
    ]
    return (
        f"{title}: {ROUNDS} simulated studies of each design, {documents} documents a topic, synthetic people, "
        f"seed {seed}\n{text_table(head, rows)}\n"
        "Failed: units in which the known documents are not in order; they are done again, and their time is spent.\n"
        "Seconds per judgment: of this study as [pay] says, of the others as measured or assumed for their scale; each "
        f"unit takes {study.pay.overhead:g} seconds more.\n"
        "The same people, careless ones among them, do all designs.\n"
        "Correlation: Spearman's, of gains with the documents' true relevance; in brackets the range of 95 % of "
        "simulated studies.\n"
        "Better system found: how often the better of two similar systems has the higher nDCG@10; with a 95 % interval."
    )


def _own_design(study: Study) -> Alternative | None:
    """This study as a design that can be simulated, where it is one: units with known documents, or groups of pairs."""
    from judgewell.assessors.value import KNOWN, Alternative, ScaleName

    if study.groups:
        pairs = study.groups.pairs
        return Alternative("pairs", pairs, study.pay.seconds) if study.groups.partners == 3 and pairs % 6 == 0 else None
    if study.units is None or not study.known or study.units.documents <= KNOWN or len(study.scale) != 1:
        return None
    kind = "s100" if study.scale[0].kind == "bounded" else study.scale[0].kind
    scale = next((scale for scale in get_args(ScaleName) if scale == kind), None)
    return Alternative(scale, study.units.documents, study.pay.seconds) if scale else None


def print_problems(checked: Checked) -> None:
    for problem in checked.mistakes:
        print(f"judgewell: {problem}", file=sys.stderr)
    for problem in checked.warnings:
        print(f"{'info' if problem.information else 'note'}: {problem}", file=sys.stderr)
