"""The methods by name: what the command line offers, `--list` explains and a result records."""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from judgewell.errors import InputError, note
from judgewell.scales import kind_of
from judgewell.scaling import (
    bradley_terry,
    combine,
    grade_ratios,
    grades,
    known,
    magnitude,
    predicted,
    preference,
    ratio,
    two_way,
)
from judgewell.scaling.method import Method, build, form, spelled
from judgewell.stats.footing import offset_of

if TYPE_CHECKING:
    import polars as pl

FAMILIES = {  # importing a module makes its methods known
    "Magnitudes": (magnitude, known, two_way, grade_ratios),
    "Grades and 0–100 judgments": (grades,),
    "Predicted relevance": (predicted,),
    "Pairs": (preference, bradley_terry, ratio, combine),
}

FORMER = {"level-ratios": "grade-ratios", "levels": "grades"}  # names of methods and of their options before 0.2

# What the options of methods mean, wherever their name occurs; MEANINGS has the exceptions.
OPTIONS = {
    "offset": "added to every value before its logarithm is taken; by default 1 if the scale includes 0, else 0",
    "bound": "the upper limit of a bounded magnitude scale; values must be below it",
    "repeated": "which judgments count when an assessor judged a document more than once in a unit",
    "average": "how a document's normalised values are averaged",
    "topic_mean": "whether a topic's mean is taken over judgments or over the means of units",
    "group": "which mean is removed: the mean of the unit, or of the assessor over all topics",
    "seed": "seed of the random choice",
    "missing": "what to do with units without the known document",
    "side": "which units to use: those with a narrow or a wide ratio of the known documents",
    "cut": "the ratio of known H to known N from which a unit is wide; none uses the median ratio",
    "components": "what to do with documents that no chain of comparisons connects: refuse, or scale each part alone",
    "label": "the column that holds the expert grades",
    "anchor": "the grade whose gain is 1",
    "profile": "the gain of each grade: linear, exp2, or a table such as 0:0,1:0.3,2:1",
    "threshold": "the lowest value that counts as relevant",
    "ties": "what to do with ties",
    "smoothing": "added to the counts, so that rare grades get moderate probabilities",
    "gain": "which of the fitted numbers becomes the gain",
    "tolerance": "relative change of the likelihood at which the fit stops",
    "steps": "the maximum number of iterations of the fit",
    "estimate": "whether both judgments of a pair of assessors serve as truth, or the first only",
    "weight": "whether pairs of judgments or documents count equally",
    "graded": "graded preferences: each is one win (once), or a weak one part of a win (share)",
    "prior": "what smoothing moves probabilities towards: each grade's frequency (marginal), or equal ones (uniform)",
    "grades": "all values of the scale, if some do not occur in the data",
    "split": "a column with the kind of topic; probabilities are then estimated for each kind",
    "use": "what predicts relevance: all votes, their mean, or the first",
    "wanted": "how many of the users must find the document relevant",
    "users": "how many users are considered",
    "presentations": "divide by this number instead of how often each document was shown",
    "epsilon": "added to both numbers of a pair before their ratio is taken",
    "weighted": "weight each pair of documents by its number of answers",
    "of": "which gains to combine",
    "scaled": "divide each of them by its topic's maximum first",
}
MEANINGS = {
    ("bradley-terry", "prior"): "how strongly strengths are pulled together: a number, 0 (maximum likelihood), or auto",
}


def methods() -> dict[str, type[Method]]:
    """Every method by its name, family by family; those of other modules come last."""
    order = {module.__name__: place for place, module in enumerate(chain.from_iterable(FAMILIES.values()))}
    concrete = [method for method in _below(Method) if "name" in vars(method)]
    return {
        method.name: method for method in sorted(concrete, key=lambda method: order.get(method.__module__, len(order)))
    }


def _below(method: type[Method]) -> Iterator[type[Method]]:
    for child in method.__subclasses__():
        yield child
        yield from _below(child)


def method_for(judgments: pl.DataFrame | None, pairs: pl.DataFrame | None, group: str | None = None) -> str:
    """The method taken where none is asked for: by the kind of the values, as everywhere.

    Judgments of several kinds are an error that says how to choose. Magnitudes in units of mostly one judgment are
    normalised by assessor, unless a `group` is asked for.
    Of pairs the ratios, where there are any; else strengths with a prior,
    which are finite even for a document that was always preferred.
    """
    if judgments is not None:
        method = kind_of(judgments).method
        if method == "magnitude" and group is None and offset_of(judgments) == "assessor":
            by_unit = "--method 'magnitude(group=unit)': by unit"
            note(f"most units hold one judgment, so magnitudes are normalised by assessor ({by_unit})")
            return "magnitude(group=assessor)"
        return method
    if pairs is None:
        return ""
    return "ratio" if pairs["left_score"].null_count() < pairs.height else "bradley-terry"


def named(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """The method of that name with its options; former names work with a note."""
    known, own = methods(), _now(name.lower())
    if own not in known:
        near = difflib.get_close_matches(own, known, n=1)
        cure = f"did you mean {near[0]}?" if near else f"the methods are {', '.join(known)}"
        raise InputError(f"there is no method {name!r}", cure=cure)
    return build(known[own], {_now(option): value for option, value in (options or {}).items()})


def _now(name: str) -> str:
    """The name of a method or option that may be its former one."""
    if name not in FORMER:
        return name
    note(f"{name} is the former name of {FORMER[name]}; it works in this version")
    return FORMER[name]


def parse(text: str) -> Method:
    """A method as it prints: `magnitude`, `magnitude(offset=1,average=log-mean)`."""
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if not match:
        raise InputError(f"{text!r} is not a method", cure="write a name with options, like magnitude(offset=1)")
    options: dict[str, Any] = {}
    for item in re.findall(r"(?:[^,'\"]|'[^']*'|\"[^\"]*\")+", match[2] or ""):
        key, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"{item.strip()!r} is not an option", cure="write option=value, like offset=1")
        options[key.strip()] = value.strip().strip("'\"")
    return named(match[1], options)


def listing() -> str:
    """Each method in two or three lines: its name and purpose; what it takes, its options and where it comes from; what
    public data show of it, where that was measured."""
    lines = []
    for name, method in methods().items():
        options = ", ".join(f"{key}={spelled(value)}" for key, value in method().options().items())
        lines.append(f"{name}: {method.purpose}")
        lines.append(f"  takes {method.takes}; options {options or 'none'}; {method.source}")
        lines += [f"  measured: {method.evidence}"] if method.evidence else []
    return "\n".join(lines)


def meaning(method: str, option: str) -> str:
    """What an option of a method is for."""
    return MEANINGS.get((method, option)) or OPTIONS.get(option, "")


def _use(method: type[Method]) -> str:
    """When to use a method, as its docstring says; empty where it does not."""
    use = re.search(r"^Use: (.*?)(?=^\w+: |\Z)", inspect.cleandoc(method.__doc__ or ""), re.DOTALL | re.MULTILINE)
    return f"When to use it: {use[1][:1].lower()}{use[1][1:]}" if use else ""


def explained(name: str) -> str:
    """A method's own help: what it does and when to use it, its options with their meanings, and its source."""
    method = type(named(name))
    rows = []
    for option, value in method().options().items():
        flag = f"--{option.replace('_', '-')}"
        rows.append(f"  {flag} {form(method, option)}\n      {meaning(name, option)} [default: {spelled(value)}]")
    return "\n".join(
        [
            f"Usage: judgewell scale {method.takes.upper()} --method {method.name} [OPTIONS]\n",
            f"  {method.purpose[:1].upper()}{method.purpose[1:]}.\n",
            *textwrap.wrap(_use(method), 110, initial_indent="  ", subsequent_indent="  "),
            f"\n  Example:\n    judgewell scale {method.takes}.csv --method {method.name} -o gains.csv\n",
            *(["Options of this method:", *rows] if rows else ["This method has no options of its own."]),
            f"\nSource: {method.source}.",
            "judgewell scale --help shows the options that all methods share.",
        ]
    )
