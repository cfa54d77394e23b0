"""What every table of the study file is: frozen, strict, and each setting with its own sentence."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from judgewell.errors import InputError


def setting(about: str, default: Any = ..., **rules: Any) -> Any:
    """A setting: what it is for, its default and its limits; the text is the cure when a value breaks a rule."""
    return Field(default, description=about, **rules)


def many(value: Any) -> Any:
    """A list in the study file: a single table or text is a list of one."""
    return [value] if isinstance(value, dict | str) else value


def valid(make: Any, *values: Any) -> None:
    """Make a value whose own rules are the section's rules; an error uses their words."""
    try:
        make(*values)
    except InputError as error:
        raise ValueError(str(error)) from None


def renamed(given: Any, former: str, name: str) -> Any:
    """A table's settings with a setting's former name, which still works in this version, replaced by its name."""
    if not isinstance(given, dict) or former not in given or name in given:
        return given
    return {name if key == former else key: value for key, value in given.items()}


def shortened(value: Any) -> str:
    """A value as the study file writes it, cut to a few letters."""
    text = "true" if value is True else "false" if value is False else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def address_parts(address: str) -> SplitResult | None:
    """The parts of an address that names a host; None where the text is no such address."""
    try:
        parts = urlsplit(address)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if named and address.isprintable() and " " not in address else None


class Section(BaseModel):
    """A table of the study file; unknown settings are mistakes, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
