"""trec_eval's names and output: what `-m official` and `-m all_trec` print, to the last digit.

Each name is a measure of ours (or of `trec_only`), how its topics are put together, and how it is
printed. The values come from the evaluation like those of any measure.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation import trec_only as only
from judgewell.evaluation.measures import parse_all, with_rel
from judgewell.evaluation.measures.base import Measure
from judgewell.evaluation.measures.binary import AP, GEOMETRIC_FLOOR, RR, Bpref, InfAP, P, Recall, Rprec, Success
from judgewell.evaluation.measures.cumulative import nDCG
from judgewell.evaluation.measures.ranks import Array
from judgewell.evaluation.measures.sets import NumRel, NumRelRet, NumRet, SetAP, SetF, SetP, SetR
from judgewell.stats.arrays import Ints

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(level / 10 for level in range(11))
MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))
SMALLEST = 5e-324  # with -c, trec_eval counts every grade above 0 as relevant in the sum of num_rel, whatever -l says
NUMBER = re.compile(r"-?\d*\.?\d+")


@dataclass(frozen=True)
class TrecMeasure:
    """One line of trec_eval's output: the printed name, what computes it, how topics are put together and printed."""

    name: str
    measure: Measure | None  # None for runid and num_q, which no ranking is needed for
    over_topics: str = "mean"  # mean, sum or geometric; none where it is printed for topics only
    kind: str = "real"  # real (%6.4f), whole (%ld) or text
    by_topic: bool = True  # printed for each topic too
    overall_measure: Measure | None = None  # what is put together over topics, where it is not `measure`

    def overall(self, values: Array) -> float:
        """Its value over all topics; sums are taken topic by topic, as trec_eval takes them."""
        if self.over_topics == "geometric":
            values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        total = float(np.cumsum(values)[-1]) if len(values) else 0.0
        if self.over_topics == "sum":
            return total
        mean = total / max(len(values), 1)
        return float(np.exp(mean)) if self.over_topics == "geometric" else mean

    def line(self, topic: str, value: float | str) -> str:
        """The line that trec_eval prints for a topic, or for `all`."""
        if not isinstance(value, str):
            forms = {"real": "{:6.4f}".format, "whole": "{:.0f}".format, "text": only.quoted_string}
            value = forms[self.kind](value)
        return f"{self.name:<22}\t{topic}\t{value}"


@dataclass(frozen=True)
class Family:
    """A name that trec_eval knows, with the lines it prints.

    With `ranks` or `levels` each value of `parameter` has a line (`P_5`, `P_10`); otherwise parameters given behind the
    name (`rbp.p=0.8`, `set_F.0.5`) belong to its one line.
    """

    name: str
    cls: type[Measure] | None
    parameter: str = ""
    ranks: tuple[int, ...] = ()
    levels: tuple[float, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    over_topics: str = "mean"
    kind: str = "real"
    by_topic: bool = True

    def lines(self, given: str | None, **common: Any) -> Iterator[TrecMeasure]:
        """The lines for the parameters given, or trec_eval's own; `common` goes to all measures that know it."""
        if self.ranks or self.levels:
            for value in self._values(given):
                shown = f"{value:d}" if self.ranks else f"{value:.2f}"
                yield self._line(f"{self.name}_{shown}", {self.parameter: value}, common)
        elif given is None:
            yield self._line(self.name, {}, common)
        else:
            yield self._line(f"{self.name}_{given}", self._settings(given), common)

    def _line(self, name: str, settings: Mapping[str, Any], common: Mapping[str, Any]) -> TrecMeasure:
        if self.cls is None:
            return TrecMeasure(name, None, self.over_topics, self.kind, self.by_topic)
        known = {field.name for field in self.cls.parameters()}
        shared = {key: value for key, value in common.items() if key in known}
        measure = self.cls(**{**shared, **self.fixed, **settings})
        overall = NumRel(rel=SMALLEST) if self.name == "num_rel" and common.get("complete") else None
        return TrecMeasure(name, measure, self.over_topics, self.kind, self.by_topic, overall)

    def _values(self, given: str | None) -> Sequence[Any]:
        if given is None:
            return self.ranks or self.levels
        values = sorted(self._numbers(given))
        if len(set(values)) < len(values) or (
            self.ranks and not all(value >= 1 and value % 1 == 0 for value in values)
        ):
            raise MeasureError(
                f"{self.name}.{given}: each cutoff is a number above 0, given once; write {self.name}.10"
            )
        return [int(value) for value in values] if self.ranks else values

    def _settings(self, given: str) -> dict[str, Any]:
        """The parameters of the one line: p=… of rbp, and the numbers of utility, set_F, relstring and 11pt_avg."""
        if not self.parameter:
            raise MeasureError(f"{self.name}.{given}: {self.name} takes no parameters; write {self.name}")
        values = self._numbers(given.removeprefix("p=") if self.parameter == "p" else given)
        if self.parameter == "utilities" and (len(values) != 4 or values[3]):
            raise MeasureError(
                f"{self.name}.{given}: write four numbers, the last 0 (the collection's size is unknown)"
            )
        if self.parameter == "rank" and not 1 <= values[0] <= only.LONGEST_STRING:
            raise MeasureError(f"{self.name}.{given}: write a number of documents from 1 to {only.LONGEST_STRING}")
        several = {"utilities": tuple(values[:3]), "levels": tuple(values), "rank": int(values[0])}
        return {self.parameter: several.get(self.parameter, values[0])}

    def _numbers(self, given: str) -> list[float]:
        texts = given.split(",")
        if not all(NUMBER.fullmatch(text) for text in texts):
            raise MeasureError(f"{self.name}.{given}: {given!r} is not a list of numbers; write e.g. {self.name}.1,2")
        return [float(text) for text in texts]


# In the order in which trec_eval prints them.
FAMILIES = {
    family.name: family
    for family in (
        Family("runid", None, kind="text", by_topic=False),
        Family("num_q", None, kind="whole", by_topic=False),
        Family("num_ret", NumRet, fixed={"rel": None}, over_topics="sum", kind="whole"),
        Family("num_rel", NumRel, over_topics="sum", kind="whole"),
        Family("num_rel_ret", NumRelRet, over_topics="sum", kind="whole"),
        Family("map", AP),
        Family("gm_map", AP, over_topics="geometric", by_topic=False),
        Family("Rprec", Rprec),
        Family("bpref", Bpref),
        Family("recip_rank", RR),
        Family("iprec_at_recall", only.TrecIPrec, "recall", levels=TENTHS),
        Family("P", P, "cutoff", ranks=RANKS),
        Family("relstring", only.RelString, "rank", over_topics="none", kind="text"),
        Family("recall", Recall, "cutoff", ranks=RANKS),
        Family("infAP", InfAP),
        Family("gm_bpref", Bpref, over_topics="geometric", by_topic=False),
        Family("Rprec_mult", only.RprecMult, "multiple", levels=MULTIPLES),
        Family("utility", only.Utility, "utilities"),
        Family("11pt_avg", only.ElevenPoint, "levels"),
        Family("binG", only.BinG),
        Family("G", only.NormalizedG),
        Family("ndcg", nDCG),
        Family("ndcg_rel", only.NdcgRel),
        Family("Rndcg", only.Rndcg),
        Family("ndcg_cut", nDCG, "cutoff", ranks=RANKS),
        Family("map_cut", AP, "cutoff", ranks=RANKS),
        Family("relative_P", only.RelativeP, "rank", ranks=RANKS),
        Family("success", Success, "cutoff", ranks=(1, 5, 10)),
        Family("set_P", SetP),
        Family("set_relative_P", SetP, fixed={"relative": True}),
        Family("set_recall", SetR),
        Family("set_map", SetAP),
        Family("set_F", SetF, "beta"),
        Family("num_nonrel_judged_ret", only.NonrelJudged, over_topics="sum", kind="whole"),
        Family("rbp", only.TrecRBP, "p"),
        Family("rbp_resid", only.TrecRBPResidual, "p"),
        Family("unj", only.Unjudged, "rank", ranks=(5, 10, 20)),
    )
}
COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
RUNID = TrecMeasure("runid", None, kind="text", by_topic=False)
SETS = {
    "official": (*COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    "set": (*COUNTS, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    "all_trec": tuple(FAMILIES),
}


def trec_measures(
    names: Iterable[str] = ("official",), *, rel: float | None = None, version: int = 10, complete: bool = False
) -> list[TrecMeasure]:
    """The lines that trec_eval prints for its `-m` arguments, in its order; those of other measures come behind.

    `rel` is its `-l`, the least gain that counts as relevant, and `complete` its `-c`. Version 9 differs from 10 in how
    interpolated precision rounds the recall to reach. A measure may be named as everywhere else: `nDCG@3` is
    `ndcg_cut_3`, and one that trec_eval does not have keeps its name.
    """
    asked: dict[str, str | None] = {}
    others: list[TrecMeasure] = []
    common = {"rel": rel, "version": version, "complete": complete}
    for text in names:
        if text in SETS:
            asked |= {name: asked.get(name) for name in SETS[text]}
        elif split := _split(text):
            name, given = split
            before = asked.get(name)
            asked[name] = f"{before},{given}" if before and given and FAMILIES[name].ranks else given
        else:
            others += _others(text, rel)
    lines = [line for name in FAMILIES if name in asked for line in FAMILIES[name].lines(asked[name], **common)]
    return [*lines, *(line for line in others if line not in lines)]


def _others(text: str, rel: float | None) -> Iterator[TrecMeasure]:
    """The lines of measures named as everywhere else, under trec_eval's name where it has the measure."""
    try:
        measures = parse_all([text])
    except MeasureError as problem:
        raise MeasureError(_unknown(text, problem)) from None
    for measure in measures:
        named = with_rel(measure, rel)
        yield next(_trec_lines(named, rel), None) or TrecMeasure(
            str(named), named, named.over_topics, "whole" if named.over_topics == "sum" else "real"
        )


def _trec_lines(measure: Measure, rel: float | None) -> Iterator[TrecMeasure]:
    """trec_eval's lines for the same measure."""
    for name in measure.trec_names:
        family = FAMILIES.get(name)
        if family is None or family.levels or bool(family.ranks) != bool(measure.cutoff):
            continue
        line = next(family.lines(str(measure.cutoff) if measure.cutoff else None, rel=rel))
        if line.measure is not None and line.measure.listed and _settings(line.measure) == _settings(measure):
            yield line


def _settings(measure: Measure) -> dict[str, Any]:
    return {field.name: getattr(measure, field.name) for field in (*measure.parameters(), *fields(Measure))}


def needed(lines: Iterable[TrecMeasure]) -> list[Measure]:
    """The measures that have to be computed for these lines, each once."""
    measures = [measure for line in lines for measure in (line.measure, line.overall_measure)]
    return list(dict.fromkeys(measure for measure in measures if measure is not None))


@dataclass(frozen=True)
class TrecOutput:
    """What is printed: every topic (`-q`), the summary (not with `-n`), with the run's id where several are printed."""

    lines: Sequence[TrecMeasure]
    per_topic: bool = False
    summary: bool = True
    with_runid: bool = False
    version: int = 10  # version 9 prints no topic that the run misses, and takes 0 for all its values

    def text(self, system: str, topics: Sequence[str], values: Array, lengths: Ints) -> str:
        """The output of trec_eval for one system, with a line feed behind each line.

        `values` holds topics × the measures of `needed(lines)`, NaN for topics that do not count. Topics come before
        `all`, in the order of their ids as bytes.
        """
        place = {measure: column for column, measure in enumerate(needed(self.lines))}
        counted = ~np.isnan(values).all(axis=-1) if place else np.ones(len(topics), dtype=bool)
        rows = sorted(np.flatnonzero(counted).tolist(), key=lambda row: topics[row].encode())
        printed = [] if not self.with_runid else [RUNID.line("all", system)]
        for row in rows if self.per_topic else ():
            if self.version == 10 or lengths[row]:
                printed += [
                    line.line(topics[row], float(values[row, place[line.measure]]))
                    for line in self.lines
                    if line.measure is not None and line.by_topic
                ]
        for line in self.lines if self.summary else ():
            if line.measure is not None and line.over_topics != "none":
                column = values[rows, place[line.overall_measure or line.measure]]
                if self.version == 9 and line.overall_measure is None:
                    column = np.where(lengths[rows] > 0, column, 0.0)
                printed.append(line.line("all", line.overall(column)))
            elif line.measure is None and not (self.with_runid and line.name == RUNID.name):
                printed.append(line.line("all", system if line.kind == "text" else str(len(rows))))
        return "".join(f"{line}\n" for line in printed)


def _split(text: str) -> tuple[str, str | None] | None:
    """trec_eval's name and its parameters: `P.5,10` as it reads it, `P_10` as it prints it."""
    name, _, given = text.partition(".")
    if name in FAMILIES:
        return name, given or None
    for family in sorted(FAMILIES.values(), key=lambda family: -len(family.name)):
        if (family.ranks or family.levels) and re.fullmatch(rf"{family.name}_[\d.]+", text):
            return family.name, text.removeprefix(f"{family.name}_")
    return None


def _unknown(text: str, problem: MeasureError) -> str:
    there = [*SETS, *FAMILIES]
    close = difflib.get_close_matches(text.partition(".")[0], there, n=3)
    if not close and "there is no measure" not in str(problem):
        return str(problem)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    return f"trec_eval's output has no {text!r}{hint}; it has {', '.join(there)}, and all measures of evaluate --list"
