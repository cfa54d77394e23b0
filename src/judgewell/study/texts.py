"""Every text an assessor sees: one catalogue, English first, translatable.

A text is Markdown with names in braces, filled in by :meth:`Catalogue.text`. A study may bring a translation or
change single texts in its own file; what that file leaves out stays English and is listed by
:meth:`Catalogue.untranslated`.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path

from judgewell.errors import InputError
from judgewell.study.toml_lines import flat, places

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
# A language, and where needed its script, region and variants: de, pt-BR, zh-Hant, sr-Latn-RS (BCP 47).
TAG = re.compile(r"[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-[A-Za-z0-9]{5,8})*")
FROM_THE_RIGHT = {"ar", "arc", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"}
RIGHT_SCRIPTS = {"Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"}


@dataclass(frozen=True)
class Catalogue:
    """The texts of one language, by dotted key (`scale.magnitude.question`)."""

    texts: Mapping[str, str]
    own: frozenset[str] = field(default_factory=frozenset)

    def text(self, key: str, /, **values: object) -> str:
        """The text with its names filled in; a name that is not given is an error, never an empty hole."""
        if key not in self.texts:
            raise InputError(f"there is no text {key!r}", cure=_nearest(key, self.texts))

        def value(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise InputError(f"the text {key} needs a value for {{{match[1]}}}")
            return str(values[match[1]])

        return PLACEHOLDER.sub(value, self.texts[key]).strip()

    @property
    def code(self) -> str:
        """The language's tag for browsers and screen readers; `und` where a translation does not say it."""
        if "language_code" in self.own:
            return self.texts["language_code"]
        return "en" if self.texts.get("language") == "English" else "und"

    @property
    def direction(self) -> str:
        """ltr or rtl: as the translation says, or as its language is written."""
        if "direction" in self.own:
            return self.texts["direction"]
        language, *more = self.code.split("-")
        script = next((part.title() for part in more if len(part) == 4 and part.isalpha()), None)
        return "rtl" if (script in RIGHT_SCRIPTS if script else language in FROM_THE_RIGHT) else "ltr"

    def names(self, key: str) -> frozenset[str]:
        """The names in braces that a text needs."""
        return frozenset(PLACEHOLDER.findall(self.texts[key]))

    def untranslated(self) -> list[str]:
        """The keys that still show the English text."""
        return [key for key in self.texts if key not in self.own]


@cache
def english() -> Catalogue:
    """The built-in English texts."""
    source = resources.files("judgewell.study").joinpath("texts/en.toml").read_text("utf-8")
    texts = _texts(source)
    return Catalogue(texts, frozenset(texts))


def catalogue(source: str, file: str | Path | None = None) -> Catalogue:
    """The English texts with those of a TOML source laid over them.

    A key that English does not have, or a name in braces that the English text does not have, is refused with its
    line.
    """
    base = english()
    try:
        ours = _texts(source)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML: {error}", file=file) from None
    lines = places(source)
    for key, text in ours.items():
        line = lines.get(tuple(key.split(".")))
        if key not in base.texts:
            raise InputError(f"there is no text {key!r}", cure=_nearest(key, base.texts), file=file, line=line)
        strange = sorted(set(PLACEHOLDER.findall(text)) - base.names(key))
        if strange:
            known = ", ".join(f"{{{name}}}" for name in sorted(base.names(key))) or "no names"
            raise InputError(
                f"the text {key} cannot use {{{strange[0]}}}", cure=f"it has {known}", file=file, line=line
            )
        _refuse_marks(key, text, file, line)
    return Catalogue({**base.texts, **ours}, frozenset(ours))


def _refuse_marks(key: str, text: str, file: str | Path | None, line: int | None) -> None:
    """Language code and direction must be ones that browsers know."""
    if key == "language_code" and not TAG.fullmatch(text):
        raise InputError(f"{text!r} is not a language's tag", cure="such as de, pt-BR or ar", file=file, line=line)
    if key == "direction" and text not in ("ltr", "rtl"):
        raise InputError(f"the direction {text!r} is not known", cure="it is ltr or rtl", file=file, line=line)


def _texts(source: str) -> dict[str, str]:
    return {key: str(value) for key, value in flat(tomllib.loads(source)).items()}


def _nearest(key: str, known: Mapping[str, str]) -> str | None:
    near = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {near[0]}?" if near else None
