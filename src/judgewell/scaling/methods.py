"""The methods by name: what the command line offers, `--list` explains and a result records."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from judgewell.errors import InputError
from judgewell.scaling import (
    bradley_terry,
    combine,
    grades,
    known,
    level_ratios,
    magnitude,
    predicted,
    preference,
    ratio,
    two_way,
)
from judgewell.scaling.method import Method, build, spelled

FAMILIES = {  # importing a module makes its methods known
    "Magnitudes": (magnitude, known, two_way, level_ratios),
    "Grades and bounded scores": (grades,),
    "Predicted relevance": (predicted,),
    "Pairs": (preference, bradley_terry, ratio, combine),
}


def methods() -> dict[str, type[Method]]:
    """Every method by its name, family by family; those of other modules come last."""
    order = {module.__name__: place for place, module in enumerate(chain.from_iterable(FAMILIES.values()))}
    concrete = [method for method in _below(Method) if "name" in vars(method)]
    return {
        method.name: method for method in sorted(concrete, key=lambda method: order.get(method.__module__, len(order)))
    }


def family_of(method: type[Method]) -> str:
    """The family a method belongs to, by its module."""
    return next(title for title, family in FAMILIES.items() if sys.modules[method.__module__] in family)


def _below(method: type[Method]) -> Iterator[type[Method]]:
    for child in method.__subclasses__():
        yield child
        yield from _below(child)


def named(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """The method of that name with its options."""
    known = methods()
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(f"there is no method {name!r}{meant}", cure=f"the methods are {', '.join(known)}")
    return build(known[name.lower()], options or {})


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
