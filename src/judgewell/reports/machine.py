"""The part on systems from people's gains of some documents and a machine's labels of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from judgewell.agreement.evidence import has
from judgewell.agreement.section import Outcome
from judgewell.analysis.conclusions import Choices
from judgewell.charts import marks as charts
from judgewell.errors import JudgewellError, collect_notes
from judgewell.reports.analyses import findings_for, grids_for, notes_for, tables_of
from judgewell.reports.parts import Figure, Finding, Grid, NotAnalysed, Part, Place
from judgewell.reports.sources import Sources
from judgewell.reports.system_figures import MOST
from judgewell.text import agrees, count, counted, interval, plain

if TYPE_CHECKING:
    from judgewell.reports.gains import ReportGains

DOCUMENT = ["topic", "doc"]


def trust_part(outcomes: Sequence[Outcome]) -> Part:
    """People and machines: how reliable the machine's labels are."""
    tables = tables_of(outcomes)
    items: list[Figure | Grid] = []
    if "machine_systems" in tables:
        items.append(_favours(tables["machine_systems"]))
    grids = grids_for("machines", outcomes)
    items += [replace(grid, place="details") if grid.name == "machine_agreement" else grid for grid in grids]
    sentences = tuple(findings_for("machines", outcomes))
    notes = notes_for("machines", outcomes) if sentences or items else ()
    return Part("people-and-machines", "People and machines", sentences, tuple(items), notes)


def _favours(table: pl.DataFrame) -> Figure:
    """The favours of the first machine under the first measure, the largest ones."""
    first = table.filter(pl.col("measure") == table["measure"][0], pl.col("machine") == table["machine"][0])
    drawn = first.sort(pl.col("favour").abs(), "system", descending=[True, False]).head(MOST)
    drawn = drawn.sort("favour", "system", descending=[True, False])
    data = drawn.select(name="system", value="favour", low="favour_low", high="favour_high")
    measure, machine = table["measure"][0], table["machine"][0]
    caption = (
        f"The further right a system, the more the labels of {machine} raise its {measure} above that under people’s "
        "gains of the same documents, compared with the average system. The line is the 95 % interval over topics; "
        "dashed: no favour."
    )
    if first.height > MOST:
        caption += f" The {MOST} largest favours of {count(first.height)} systems are drawn."
    chart = charts.dots(data, "", f"favour in {measure}", reference=0)
    return Figure("machine_favours", "Which systems the machine favours", caption, chart, data)


def machine_part(sources: Sources, used: ReportGains | None) -> tuple[Part | None, list[NotAnalysed]]:
    """Systems' means and differences with the labels of each machine, or why there are none."""
    if not sources.machine or not sources.runs:
        return None, []
    from judgewell.analysis.machine import compare_with_machine
    from judgewell.evaluation.settings import Settings

    human = people_gains(sources, used)
    if human is None:
        return None, [NotAnalysed("machine labels", "systems with machine labels", "needs people’s judgments or gains")]
    choices = Choices(level=sources.level, alpha=sources.alpha, seed=sources.seed, baseline=sources.baseline)
    unjudged = [
        name for name, labels in sources.machine.items() if labels.join(human[1], on=DOCUMENT, how="anti").height
    ]
    sentences: list[Finding] = []
    items: list[Grid] = []
    lacking: list[NotAnalysed] = []
    notes: list[str] = []
    for name, labels in sources.machine.items():
        if name not in unjudged:
            why = "people judged every document that it labels, so that the systems are scored without its labels"
            lacking.append(NotAnalysed("machine labels", f"systems with the labels of {name}", why))
            continue
        for measure in sources.measures:
            try:
                with collect_notes() as noted:
                    made = compare_with_machine(sources.runs, human, labels, [measure], choices, Settings()).tables
            except JudgewellError as reason:
                lacking.append(NotAnalysed("machine labels", f"{measure} with the labels of {name}", str(reason)))
                continue
            notes += [text for text in noted if text not in notes]
            sentences += _sentences(made, name, str(measure))
            items += _grids(made, name, str(measure), len(items))
    if not items:
        return None, lacking
    return Part("machine", "Systems with machine labels", tuple(sentences), tuple(items), tuple(notes)), lacking


def people_gains(sources: Sources, used: ReportGains | None) -> tuple[str, pl.DataFrame] | None:
    """People's gains with the probabilities with which their documents were drawn, where the judgments have them."""
    if used is None:
        return next(iter(sources.labels.items()), None)
    gains, judged = used.gains, sources.judgments
    if "inclusion" not in gains.columns and judged is not None and has(judged, "inclusion"):
        drawn = judged.select(*DOCUMENT, "inclusion").drop_nulls().unique(DOCUMENT)
        gains = gains.join(drawn, on=DOCUMENT, how="left", maintain_order="left")
    return used.name, gains


def drawn_by_chance(sources: Sources, used: ReportGains | None) -> bool:
    """Whether people judged a sample that was drawn with known probabilities."""
    human = people_gains(sources, used)
    return human is not None and has(human[1], "inclusion")


def _sentences(made: dict[str, pl.DataFrame], name: str, measure: str) -> list[Finding]:
    systems, pairs, of = made["systems"], made["pairs"], made["calibration"].row(0, named=True)
    best, table = systems.row(0, named=True), f"machine_systems_{_word(name, measure)}"
    head = (
        f"With {count(of['judged'])} of {counted(of['documents'], 'document')} judged by people and the labels of "
        f"{name}, {best['system']} has the best {measure}: {plain(best['mean'])}"
    )
    if of["standard_error"] is None:
        return [Finding(f"{head}, without an interval.", table)]
    text = f"{head} {interval(best['low'], best['high'])} for these topics"
    if of["people_alone"]:
        narrower = of["standard_error"] / of["people_alone"]
        text += f"; intervals are {plain(narrower, 2)} times as wide as from people alone"
    here = int(pairs["significant"].sum()) if "significant" in pairs.columns else 0
    texts = [Finding(f"{text}.", table)]
    if pairs.height:
        beyond = int(pairs["significant_topics"].sum())
        differ = agrees(here, "differs", "differ")
        words = f"{here} of {counted(pairs.height, 'pair')} of systems {differ} significantly on these topics, "
        words += f"{beyond} on topics like these ({measure}, {name}; 95 % intervals, no correction)."
        texts.append(Finding(words, table.replace("systems", "pairs")))
    if of["machine_bias"] is not None:
        alone = f"The labels of {name} alone change {measure} by {of['machine_bias']:+.3f} on average over systems"
        texts.append(Finding(f"{alone}.", table))
    return texts


def _grids(made: dict[str, pl.DataFrame], name: str, measure: str, before: int) -> list[Grid]:
    word, rest = _word(name, measure), f"{measure}, labels of {name}"
    systems = made["systems"].drop("measure")
    caption = (
        "Each system’s mean from people’s gains of some documents and the machine’s labels of all, with 95 % intervals "
        "for these topics and for topics like these. Labels alone: the mean under the machine’s labels. Order: the "
        "system’s place by both together, closest to the true order; it has no interval."
        if "low" in systems.columns
        else "Each system’s mean over imputed gains. There is no interval: see the notes."
    )
    heads = {"topics_low": "topics like these: from", "topics_high": "to", "machine": "labels alone"}
    how = made["calibration"].drop("measure")
    first: Place = "body" if before == 0 else "appendix"
    return [
        Grid(f"machine_systems_{word}", f"Systems with machine labels: {rest}", caption, systems, (), heads, first),
        Grid(f"machine_pairs_{word}", f"Pairs of systems with machine labels: {rest}",
             "Differences of means with 95 % intervals for these topics and for topics like these.",
             made["pairs"].drop("measure")),
        Grid(f"machine_calibration_{word}", f"How the estimate was made: {rest}",
             "Documents judged by people and drawn for certain, folds and penalty of the calibration, the labels’ own "
             "bias, and the mean standard error with and without them.", how),
        *_needed_grid(made["needed"].drop("measure"), word, rest),
    ]  # fmt: skip


def _needed_grid(table: pl.DataFrame, word: str, rest: str) -> list[Grid]:
    caption = (
        "Documents that people judge, drawn by importance, until the typical 95 % interval of a mean, and of a "
        "difference of two systems, is ± width on these topics: an estimate from the documents judged so far."
    )
    title = f"How many documents people have to judge: {rest}"
    return [Grid(f"machine_budget_{word}", title, caption, table)] if table.height else []


def _word(name: str, measure: str) -> str:
    """A file's name for one machine and measure."""
    return "".join(letter if letter.isalnum() else "_" for letter in f"{name}_{measure}").strip("_")
