"""The number in what an assessor typed, or a refusal in words that tell what to type instead.

Read where only one reading exists: 12, .5, 0,5, 1e3, ½, 1½, 3/4, 1 1/2, 1,234,567 and 1.234,5. Asked back where two
do: 1,000 and 1.000 are one or a thousand, according to where one went to school. Nothing is guessed.
"""

from __future__ import annotations

import math
import re
import unicodedata
from fractions import Fraction

from judgewell.errors import InputError
from judgewell.study.texts import Catalogue, english

LONGEST = 40

_ONE_KIND = str.maketrans("−‐–⁄∕\u00a0\u202f\u2009", "---//   ")
_PLAIN = re.compile(r"([+-]?)(\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE]([+-]?\d+))?")
_FRACTION = re.compile(r"([+-]?)(?:(\d+) +)?(\d+) ?/ ?(\d+)")
_UNCLEAR = re.compile(r"[+-]?([1-9]\d{0,2})[.,](\d{3})")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d+)?|(?:\.\d{3}){2,}(?:,\d+)?|,\d{3}\.\d+|\.\d{3},\d+)")
_ENDLESS = re.compile(r"[+-]?(?:inf|infinity|nan|∞)", re.IGNORECASE)


class Refused(InputError):
    """An answer that cannot be taken: a sentence for the assessor, translatable by its key."""

    def __init__(self, key: str, /, **values: object) -> None:
        self.key = key
        self.values = values
        super().__init__(english().text(key, **values))

    def sentence(self, texts: Catalogue) -> str:
        """The sentence in the study's own words."""
        return texts.text(self.key, **self.values)


def read_number(typed: str) -> float:
    """The one number that the text can mean."""
    if len(typed.strip()) > LONGEST:
        raise Refused("refused.too_long", limit=LONGEST)
    text = _tidy(typed)
    if not text:
        raise Refused("refused.empty")
    if _ENDLESS.fullmatch(text):
        raise Refused("refused.not_finite", typed=text)
    if unclear := _UNCLEAR.fullmatch(text):
        raise _unclear(text, unclear[1], unclear[2])
    if _GROUPED.fullmatch(text):
        return _finite(text, _ungrouped(text))
    if fraction := _FRACTION.fullmatch(text):
        return _of_fraction(text, fraction)
    if plain := _PLAIN.fullmatch(text):
        return _finite(text, plain[0].replace(",", "."))
    raise _why_not(text)


def shown(value: float) -> str:
    """A number as a person would write it: no needless decimals, no rounding."""
    if not math.isfinite(value):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _tidy(typed: str) -> str:
    """Digits of every script as 0–9, one kind of minus and space, and ½ as 1/2 apart from a number before it."""
    text = ""
    for character in typed.strip().translate(_ONE_KIND):
        decomposed = unicodedata.normalize("NFKD", character)
        if unicodedata.decimal(character, None) is not None:
            text += str(unicodedata.decimal(character))
        elif "⁄" in decomposed and unicodedata.category(character) == "No":
            text += f" {decomposed.replace('⁄', '/')}"
        else:
            text += character
    return text.strip()


def _ungrouped(text: str) -> str:
    """1,234,567.8 and 1.234.567,8 with a decimal point and nothing else."""
    last = max(text.rfind(","), text.rfind("."))
    if text.count(text[last]) > 1:
        return text.replace(text[last], "")
    return text[:last].replace(",", "").replace(".", "") + "." + text[last + 1 :]


def _of_fraction(text: str, match: re.Match[str]) -> float:
    sign, whole, above, below = match.groups()
    if int(below) == 0:
        raise Refused("refused.division_by_zero", typed=text)
    value = Fraction(int(above), int(below)) + int(whole or 0)
    return float(-value if sign == "-" else value)


def _finite(typed: str, digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise Refused("refused.too_large", typed=typed)
    if value == 0 and re.search(r"[1-9]", re.split("[eE]", digits)[0]):
        raise Refused("refused.too_small", typed=typed)
    return value + 0.0  # -0 is 0


def _unclear(text: str, whole: str, digits: str) -> Refused:
    """1,125 and 1.125: say both readings, and how to type each so that it has only one."""
    decimal = f"{whole}.{digits}".rstrip("0").rstrip(".")
    other = decimal + "0" if not digits.endswith("0") else decimal
    return Refused(
        "refused.unclear_separator", typed=text, as_decimal=decimal, as_thousands=whole + digits, longer=other
    )


def _why_not(text: str) -> Refused:
    if text.endswith("%"):
        return Refused("refused.percent")
    parts = text.split()
    if len(parts) > 1 and all(_PLAIN.fullmatch(part) or _FRACTION.fullmatch(part) for part in parts):
        return Refused("refused.several_numbers", typed=text)
    return Refused("refused.not_a_number", typed=text)
