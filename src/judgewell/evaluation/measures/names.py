"""Measures from their names: `nDCG@10`, `AP(rel=2)`, `RBP(p=0.8)@50`, `DCG@10.residual`, trec_eval's `ndcg_cut_10`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from judgewell.errors import MeasureError
from judgewell.evaluation import measures
from judgewell.evaluation.measures.base import Measure, Residual

WRITTEN = re.compile(r"(?P<name>[^\W\d]\w*)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()]+?))?")
TREC = re.compile(r"(?P<name>[^\W\d]\w*?)[_.](?P<at>\d[\d.,]*)")
SETTING = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|[^,'\"]+?)\s*(?:,|$)")
RESIDUAL = ".residual"

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "judged_only": "leave unjudged documents out of all rankings with the condense treatment of unjudged documents",
        "min_rel": "rescale the gains to [0, 1] first, e.g. divide by the largest gain",
        "max_rel": "rescale the gains to [0, 1] first, e.g. divide by the largest gain",
        "gains": "give the documents the gains themselves in the gains table",
    }
)


@functools.cache
def all_measures() -> Mapping[str, type[Measure]]:
    """Every measure there is by its printed name, found among the classes of this package's modules."""
    for module in pkgutil.iter_modules(measures.__path__, measures.__name__ + "."):
        importlib.import_module(module.name)
    found = {cls.name: cls for cls in _below(Measure) if cls.listed and "name" in vars(cls)}
    return MappingProxyType(dict(sorted(found.items(), key=lambda item: item[0].lower())))


def parse(text: str) -> Measure:
    """The measure that a text names; `parse(str(measure)) == measure` for every measure."""
    found = list(_read(text))
    if len(found) > 1:
        raise MeasureError(f"{text!r} names {len(found)} measures; give one, e.g. {found[0]}")
    return found[0]


def parse_all(texts: Iterable[str]) -> list[Measure]:
    """The measures that the texts name, each once, in order; trec_eval's lists (`P.5,10`) become several."""
    return list(dict.fromkeys(measure for text in texts for measure in _read(text)))


def _read(text: str) -> Iterator[Measure]:
    asked = text.strip()
    if asked.endswith(RESIDUAL):
        for measure in _read(asked.removesuffix(RESIDUAL)):
            yield Residual(of=measure)
        return
    written = WRITTEN.fullmatch(asked)
    if written and written["name"] in _by_name():
        yield _measure(asked, written["name"], written["inside"] or "", written["at"])
    elif (trec := TREC.fullmatch(asked)) and trec["name"] in _by_name():
        for at in trec["at"].split(","):
            yield _measure(asked, trec["name"], "", at)
    elif written and (name := _in_other_case(written["name"])):
        yield _measure(asked, name, written["inside"] or "", written["at"])
    else:
        raise MeasureError(_unknown(asked, written["name"] if written else asked))


@functools.cache
def _by_name() -> Mapping[str, tuple[type[Measure], Mapping[str, Any]]]:
    """The class and the parameters that every accepted name stands for."""
    names: dict[str, tuple[type[Measure], Mapping[str, Any]]] = {}
    for cls in all_measures().values():
        names |= {name: (cls, {}) for name in (cls.name, *cls.other_names, *cls.trec_names)}
        names |= {name: (cls, given) for name, given in cls.shorthands.items()}
    return names


def _in_other_case(name: str) -> str | None:
    """The only accepted name that differs from this one in upper and lower case alone."""
    same = {_by_name()[other][0]: other for other in _by_name() if other.lower() == name.lower()}
    return next(iter(same.values())) if len(same) == 1 else None


def _measure(asked: str, name: str, inside: str, at: str | None) -> Measure:
    cls, given = _by_name()[name]
    if at is None and name.endswith("_cut"):
        raise MeasureError(f"{asked} needs a cutoff; write {name}_10, or {cls.name}@10")
    settings = dict(given)
    for parameter, value in _settings(asked, inside):
        if parameter in settings and parameter not in given:
            raise MeasureError(f"{asked} gives {parameter} twice; give it once")
        settings |= cls.other_settings.get((parameter, str(value))) or {parameter: _typed(cls, parameter, value)}
    if at is not None:
        settings[cls.at] = _number(asked, cls, at)
    return cls(**settings)


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
        yield pair["name"], _value(pair["value"])


def _value(text: str) -> Any:
    if text[0] in "'\"":
        return text[1:-1]
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        return text


def _typed(cls: type[Measure], name: str, value: Any) -> Any:
    """The value in the type that the parameter is declared with, or an error that names what there is."""
    declared = {field.name: str(field.type) for field in cls.parameters()}
    if name in ELSEWHERE and name not in declared:
        raise MeasureError(f"{cls.name} has no parameter {name}; {ELSEWHERE[name]}")
    if name not in declared:
        there = f"it has {', '.join(declared)}" if declared else "it has none"
        raise MeasureError(f"{cls.name} has no parameter {name!r}; {there}{_hint(name, declared)}")
    kinds = declared[name].replace(" ", "").split("|")
    if isinstance(value, int) and not isinstance(value, bool) and "float" in kinds:
        value = float(value)
    if type(value).__name__.replace("NoneType", "None") not in kinds:
        about = next(field.metadata["about"] for field in cls.parameters() if field.name == name)
        raise MeasureError(f"{cls.name}: {name}={value!r} is not of the kind {' or '.join(kinds)}; {name} is {about}")
    return value


def _number(asked: str, cls: type[Measure], at: str) -> float | int:
    """What stands behind the @: a rank, or a share for measures at a recall level."""
    kind = int if cls.at == "cutoff" else float
    try:
        return kind(at)
    except ValueError:
        example = f"{cls.name}@{'10' if kind is int else '0.1'}"
        raise MeasureError(
            f"{asked}: {at!r} is not a {'whole ' if kind is int else ''}number; write e.g. {example}"
        ) from None


def _unknown(asked: str, name: str) -> str:
    close = _hint(name, [*_by_name(), *all_measures()])
    return f"there is no measure {asked!r}{close}; `judgewell evaluate --list` shows all: {', '.join(all_measures())}"


def _hint(name: str, there: Iterable[str]) -> str:
    """The spellings closest to the name, upper and lower case counting little."""
    import difflib  # here, since only mistakes need it

    folded = {other.lower(): other for other in there}
    close = difflib.get_close_matches(name.lower(), folded, n=3)
    return f" (did you mean {' or '.join(folded[other] for other in close)}?)" if close else ""


def _below(cls: type[Measure]) -> Iterator[type[Measure]]:
    for child in cls.__subclasses__():
        yield child
        yield from _below(child)


def describe_all() -> str:
    """The list of all measures: how each is written, what it is, its parameters and where it comes from."""
    lines = []
    for cls in all_measures().values():
        about = " ".join((cls.__doc__ or "").split("\n\n")[0].split())
        lines.append(f"{cls.name + ('@k' if cls.needs_cutoff else '@recall' if cls.at == 'recall' else ''):<13}{about}")
        lines += [f"{'':13}{field.name}={field.default}: {field.metadata['about']}" for field in cls.parameters()]
        lines.append(f"{'':13}{cls.source}")
    return "\n".join(lines)
