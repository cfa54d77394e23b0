"""Measures from their names: `nDCG@10`, `AP(rel=2)`, `RBP(p=0.8)@50`, `DCG@10.residual`; trec_eval's `ndcg_cut_10`,
ranx's `rbp.95` and `map@100-l2`, and all of ir_measures'."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from judgewell.errors import MeasureError, note
from judgewell.evaluation import measures
from judgewell.evaluation.measures.base import JudgedOnly, Measure, Residual, Variant

WRITTEN = re.compile(r"(?P<name>[^\W\d][\w+-]*?)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()]+?))?")
DOTTED = re.compile(r"(?P<name>[^\W\d]\w*?)(?:[_.](?P<at>\d[\d.,]*)|[_.](?P<key>[a-z]+)=(?P<value>[\d.]+))")
SETTING = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\{[^{}]*\}|[^,'\"{}]+?)\s*(?:,|$)")
LEVEL = re.compile(r"(?P<rest>.+)-l(?P<rel>\d+)")  # ranx: the least relevant grade
RESIDUAL = ".residual"
USUAL_MODULES = ("binary", "cumulative", "sets")
LISTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "official": (
            *("NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "Bpref", "RR"),
            *(f"IPrec@{tenth / 10:g}" for tenth in range(11)),
            *(f"P@{rank}" for rank in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
        ),
        "set": ("NumQ", "NumRet", "NumRel", "NumRelRet", "SetP", "SetR", "SetRelP", "SetAP", "SetF"),
    }
)

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "min_rel": "rescale the gains to [0, 1] first, e.g. divide by the largest gain",
        "max_rel": "rescale the gains to [0, 1] first, e.g. divide by the largest gain",
        "gains": "give the documents the gains themselves in the gains table",
    }
)


@functools.cache
def all_measures() -> Mapping[str, type[Measure]]:
    """Every measure there is by its printed name, found among the classes of this package's modules."""
    classes = {cls.name: cls for module in module_names() for cls in measures_in(module)}
    return MappingProxyType(dict(sorted(classes.items(), key=lambda item: item[0].lower())))


@functools.cache
def module_names() -> tuple[str, ...]:
    """The modules of this package; the most usual measures come first, so that the others are rarely loaded."""
    names = [module.name for module in pkgutil.iter_modules(measures.__path__)]
    return tuple(sorted(names, key=lambda name: (name not in USUAL_MODULES, name)))


@functools.cache
def measures_in(module: str) -> tuple[type[Measure], ...]:
    """The measures that are defined in a module of this package."""
    loaded = importlib.import_module(f"{measures.__name__}.{module}")
    classes = [cls for cls in vars(loaded).values() if isinstance(cls, type) and issubclass(cls, Measure)]
    return tuple(cls for cls in classes if cls.__module__ == loaded.__name__ and cls.listed and "name" in vars(cls))


def parse(text: str) -> Measure:
    """The measure that a text names; `parse(str(measure)) == measure` for every measure."""
    named = list(_read(text))
    if len(named) > 1:
        raise MeasureError(f"{text!r} names {len(named)} measures; give one, e.g. {named[0]}")
    return named[0]


def parse_all(texts: Iterable[str]) -> list[Measure]:
    """The measures that the texts name, each once, in order; `P.5,10` and `official` become several."""
    return list(dict.fromkeys(measure for text in texts for measure in _read(text)))


def with_rel(measure: Measure, rel: float | None) -> Measure:
    """The measure with this least relevant gain, where it has one and does not say it itself."""
    if isinstance(measure, Variant):
        return dataclasses.replace(measure, of=with_rel(measure.of, rel))
    open_ = measure.takes_level and getattr(measure, "rel", "no such parameter") is None
    changed: dict[str, Any] = {"rel": rel} if open_ else {}
    return dataclasses.replace(measure, **changed)


def measure_text(asked: object) -> str:
    """How a measure of another tool is written: ir_measures leaves its own defaults out, and some are not ours."""
    theirs: Any = asked
    name = str(getattr(theirs, "NAME", ""))
    entry = _named(name) if hasattr(theirs, "SUPPORTED_PARAMS") else None
    if entry is None:
        return str(asked)
    cls = entry[0]
    settings = {key: theirs[key] for key in cls.assumed if key in theirs.SUPPORTED_PARAMS} | theirs.params
    behind = settings.pop(cls.at, None)
    inside = ",".join(f"{key}={value!r}" for key, value in settings.items())
    return name + (f"({inside})" if inside else "") + ("" if behind is None else f"@{behind}")


def find_measure(asked: str | Measure, names: Iterable[str]) -> str:
    """Which of the names of a scores table means the measure asked for, however it is written.

    `ndcg_cut_10` finds nDCG@10, and ERR@10 finds ERR(gmax=4)@10, whose gmax the gains settled.
    """
    there = list(names)
    if str(asked) in there:
        return str(asked)
    try:
        wanted = parse(asked) if isinstance(asked, str) else asked
    except MeasureError as problem:
        raise MeasureError(f"there are no scores of {asked}, and {problem}") from None
    known = {name: measure for name in there if (measure := parsed_or_none(name)) is not None}
    same = [name for name, measure in known.items() if measure == wanted]
    same = same or [name for name, measure in known.items() if _as_open_as(wanted, measure) == wanted]
    if len(same) == 1:
        return same[0]
    several = f"{len(same)} scores mean it: {', '.join(same)}" if same else f"the measures are {', '.join(there)}"
    raise MeasureError(f"there are {'several' if same else 'no'} scores of {asked}; {several}")


def _as_open_as(wanted: Measure, measure: Measure) -> Measure:
    """The measure with those parameters open again that gains settle and `wanted` leaves open."""
    if isinstance(measure, Variant) and isinstance(wanted, type(measure)):
        return dataclasses.replace(measure, of=_as_open_as(wanted.of, measure.of))
    if type(measure) is not type(wanted):
        return measure
    return dataclasses.replace(
        measure, **{name: None for name in measure.settled_by_gains if getattr(wanted, name) is None}
    )


def parsed_or_none(name: str) -> Measure | None:
    """The measure of this name; None where the name is not a measure's."""
    try:
        return parse(name)
    except MeasureError:
        return None


def _read(text: str) -> Iterator[Measure]:
    asked = text.strip()
    if asked.endswith(RESIDUAL):
        for measure in _read(asked.removesuffix(RESIDUAL)):
            yield Residual(of=measure)
    elif asked in LISTS:
        for each in LISTS[asked]:
            yield from _read(each)
    elif level := LEVEL.fullmatch(asked):
        yield _measure(asked, *_parts(asked, level["rest"]), rel=float(level["rel"]))
    elif (dotted := DOTTED.fullmatch(asked)) and _named(dotted["name"]):
        yield from _dotted(asked, dotted)
    else:
        yield _measure(asked, *_parts(asked, asked))


def _parts(asked: str, text: str) -> tuple[str, str, str | None]:
    """The name, what is between the brackets and what is behind the @."""
    written = WRITTEN.fullmatch(text)
    name = written["name"] if written else text
    if written and _named(name) is None:
        name = _in_other_case(name) or name
    if not written or _named(name) is None:
        raise MeasureError(_unknown(asked, name))
    return name, written["inside"] or "", written["at"]


def _dotted(asked: str, dotted: re.Match[str]) -> Iterator[Measure]:
    """trec_eval's `P.5,10`, `set_F.0.5` and `rbp.p=0.8`, and ranx's `rbp.95`."""
    name = dotted["name"]
    cls, _ = _known(name)
    if dotted["key"]:
        yield _measure(asked, name, f"{dotted['key']}={dotted['value']}", None)
    elif cls.dotted:
        share = dotted["at"] if "." in dotted["at"] else f"0.{dotted['at']}"
        rule = next(field.metadata for field in cls.parameters() if field.name == cls.dotted)
        yield _measure(asked, name, f"{cls.dotted}={share if rule['most'] <= 1 else dotted['at']}", None)
    else:
        for at in dotted["at"].split(","):
            yield _measure(asked, name, "", at)


Entry = tuple[type[Measure], Mapping[str, Any]]  # a class and the parameters that a name implies


@functools.cache
def _names_in(module: str) -> Mapping[str, Entry]:
    """The meaning of every accepted name of a module's measures."""
    names: dict[str, Entry] = {}
    for cls in measures_in(module):
        names |= {name: (cls, {}) for name in (cls.name, *cls.other_names, *cls.trec_names)}
        names |= {name: (cls, given) for name, given in cls.shorthands.items()}
    return names


def _named(name: str) -> Entry | None:
    """What a name stands for (alpha-nDCG is alpha_nDCG); modules are loaded one after the other until one knows it."""
    entries = (_names_in(module).get(name) for module in module_names())
    entry = next((entry for entry in entries if entry is not None), None)
    return _named(name.replace("-", "_")) if entry is None and "-" in name else entry


def _known(name: str) -> Entry:
    entry = _named(name)
    if entry is None:
        raise MeasureError(_unknown(name, name))
    return entry


@functools.cache
def _by_name() -> Mapping[str, Entry]:
    """The meaning of every accepted name."""
    return {name: entry for module in module_names() for name, entry in _names_in(module).items()}


def _in_other_case(name: str) -> str | None:
    """The only accepted name that differs from this one in upper and lower case alone."""
    same = {_by_name()[other][0]: other for other in _by_name() if other.lower() == name.lower()}
    return next(iter(same.values())) if len(same) == 1 else None


def _measure(asked: str, name: str, inside: str, at: str | None, rel: float | None = None) -> Measure:
    cls, given = _known(name)
    if at is None and name in cls.uncut:
        cls, given = _known(cls.uncut[name])
    if at is not None and name in cls.never_at:
        raise MeasureError(f"{asked} means one thing here and another elsewhere; write {cls.never_at[name]}")
    settings, judged_only = dict(given), False
    for parameter, value in _settings(asked, inside):
        if parameter in settings and parameter not in given:
            raise MeasureError(f"{asked} gives {parameter} twice; give it once")
        if parameter == "judged_only":
            judged_only = _truth(asked, value)
        elif parameter == "cutoff":
            settings["cutoff"] = _number(asked, Measure, str(value))
        else:
            settings |= cls.other_settings.get((parameter, str(value))) or {parameter: _typed(cls, parameter, value)}
    if at is not None and cls.at in settings:
        raise MeasureError(f"{asked} gives {cls.at} twice; give it once")
    if at is None and "cutoff" not in settings and name.endswith("_cut"):
        raise MeasureError(f"{asked} needs a cutoff; write {name}_10, or {cls.name}@10")
    if rel is not None:
        settings["rel"] = _typed(cls, "rel", rel)
    if at is not None:
        settings[cls.at] = _number(asked, cls, at)
    for parameter in cls.assumed.keys() - settings.keys():
        note(f"{asked}: {cls.assumed[parameter]}")
    measure = cls(**settings)
    return JudgedOnly(of=measure) if judged_only else measure


def _truth(asked: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise MeasureError(f"{asked}: judged_only={value!r} is not True or False")
    return value


def _settings(asked: str, inside: str) -> Iterator[tuple[str, Any]]:
    """The name=value pairs between the brackets."""
    end = 0
    while inside[end:].strip():
        pair = SETTING.match(inside, end)
        if not pair:
            raise MeasureError(
                f"{asked}: {inside[end:].strip()!r} is not a parameter; write name=value, e.g. RBP(p=0.9)"
            )
        end = pair.end()
        yield pair["name"], _value(asked, pair["value"])


def _value(asked: str, text: str) -> Any:
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "{":
        return _mapping(asked, text)
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        return text


def _mapping(asked: str, text: str) -> tuple[tuple[float, float], ...]:
    """`{0:0,1:3}` as pairs in order."""
    try:
        pairs = [tuple(map(float, item.split(":"))) for item in text[1:-1].split(",") if item.strip()]
        return tuple(sorted((grade, gain) for grade, gain in pairs))
    except ValueError:
        raise MeasureError(f"{asked}: {text} is not a table of gains; write e.g. {{0:0,1:1,2:3}}") from None


def _typed(cls: type[Measure], name: str, value: Any) -> Any:
    """The value in the type that the parameter is declared with, or an error that lists the possible ones."""
    declared = {field.name: str(field.type) for field in cls.parameters()}
    if name in ELSEWHERE and name not in declared:
        raise MeasureError(f"{cls.name} has no parameter {name}; {ELSEWHERE[name]}")
    if name not in declared:
        there = f"it has {', '.join(declared)}" if declared else "it has none"
        raise MeasureError(f"{cls.name} has no parameter {name!r}; {there}{_hint(name, declared)}")
    kinds = [kind.partition("[")[0] for kind in declared[name].replace(" ", "").split("|")]
    if isinstance(value, int) and not isinstance(value, bool) and "float" in kinds:
        value = float(value)
    if type(value).__name__.replace("NoneType", "None") not in kinds:
        about = next(field.metadata["about"] for field in cls.parameters() if field.name == name)
        raise MeasureError(f"{cls.name}: {name}={value!r} is not of the kind {' or '.join(kinds)}; {name} is {about}")
    return value


def _number(asked: str, cls: type[Measure], at: str) -> float | int:
    """The text after the @: a rank, or a share for measures at a recall level."""
    kind = int if cls.at == "cutoff" else float
    try:
        return kind(at)
    except ValueError:
        example = f"{getattr(cls, 'name', 'nDCG')}@{'10' if kind is int else '0.1'}"
        raise MeasureError(
            f"{asked}: {at!r} is not a {'whole ' if kind is int else ''}number; write e.g. {example}"
        ) from None


def _unknown(asked: str, name: str) -> str:
    from judgewell.evaluation.trec_names import FAMILIES, SETS  # here, since only mistakes need it

    if asked.partition(".")[0] in {*FAMILIES, *SETS}:
        return f"{asked} is in trec_eval's own output only; print it with --format trec_eval"
    if turned := re.fullmatch(r"([^@()]+)(@[^@()]+)(\(.*\))", asked):
        return f"there is no measure {asked!r}; did you mean {turned[1]}{turned[3]}{turned[2]}?"
    close = _hint(name, [*_by_name(), *all_measures()])
    names = "" if close else f": {', '.join(all_measures())}"
    return f"there is no measure {asked!r}{close}; `judgewell evaluate --list` shows all{names}"


def _hint(name: str, there: Iterable[str]) -> str:
    """The spellings closest to the name, upper and lower case counting little."""
    import difflib  # here, since only mistakes need it

    folded = {other.lower(): other for other in there}
    close = difflib.get_close_matches(name.lower(), folded, n=3)
    return f" (did you mean {' or '.join(folded[other] for other in close)}?)" if close else ""


def describe_all() -> str:
    """The list of all measures: how each is written, what it is, its parameters and where it comes from."""
    lines = []
    for cls in all_measures().values():
        about = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
        lines.append(f"{cls.name + ('@k' if cls.needs_cutoff else '@recall' if cls.at == 'recall' else ''):<13}{about}")
        lines += [f"{'':13}{field.name}={field.default}: {field.metadata['about']}" for field in cls.parameters()]
        lines.append(f"{'':13}{cls.source}")
    return "\n".join(lines)
