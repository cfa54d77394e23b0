"""The methods by name: what the command line offers, `--list` explains and a result records."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from judgewell.errors import InputError
from judgewell.scaling import grade_methods, magnitude_methods, pair_methods, predicted_methods
from judgewell.scaling.method import Method, build, spelled

FAMILIES = (magnitude_methods, grade_methods, pair_methods, predicted_methods)  # importing them makes them known


def methods() -> dict[str, type[Method]]:
    """Every method by its name, family by family."""
    found = [method for method in _below(Method) if "name" in vars(method)]
    order = {family.__name__: place for place, family in enumerate(FAMILIES)}
    return {
        method.name: method for method in sorted(found, key=lambda method: order.get(method.__module__, len(order)))
    }


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
    """Each method in two lines: its name, options and purpose; what it takes and where it comes from."""
    lines = []
    for name, method in methods().items():
        said = ", ".join(f"{key}={spelled(value)}" for key, value in method().options().items())
        lines.append(f"{name}: {method.purpose}")
        lines.append(f"  takes {method.takes}; options {said or 'none'}; {method.source}")
    return "\n".join(lines)
