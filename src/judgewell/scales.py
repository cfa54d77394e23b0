"""What a number on a scale means, and everything that follows from it.

A judgments table carries the kind of its values in the column `kind`: ``ratio``, ``interval``, ``ordinal`` or
``nominal``, with the scale's ends where it has any (``interval:0..100``). The study file sets it, the database and the
export carry it, and a file from elsewhere gets it once, when it is read (:func:`infer`). No other module guesses.

>>> Kind.parse("interval:0..100").metric
'interval'
>>> str(Kind("ratio", 0, 100))
'ratio:0..100'
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

from judgewell.errors import DataError, InputError, note

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

KindName = Literal["ratio", "interval", "ordinal", "nominal"]
Metric = Literal["nominal", "ordinal", "interval"]

FEWEST = 10  # values among which one can be odd
FEW_VALUES = 20  # whole numbers with more distinct values than this are not grades
HIGHEST_RATING = 10  # of ratings with fractions: halves, or means of a few grades
_TEXT = re.compile(r"(?P<name>[a-z]+)(?::(?P<low>[-+.\de]+)\.\.(?P<high>[-+.\de]+))?")


@dataclass(frozen=True)
class Meaning:
    """What one kind of number allows."""

    metric: Metric  # of Krippendorff's alpha, on the common footing
    method: str  # the scaling method that is used unless another is named
    footing: str  # how values are made comparable between assessors, in words


MEANINGS: dict[KindName, Meaning] = {
    "ratio": Meaning("interval", "magnitude", "ln value minus the unit's offset"),
    "interval": Meaning("interval", "mean", "as given"),
    "ordinal": Meaning("ordinal", "mean", "as given"),
    "nominal": Meaning("nominal", "mean", "as given"),
}


@dataclass(frozen=True)
class Kind:
    """The kind of a number: its name and, where the scale has ends, both of them.

    The ends of an interval, ordinal or nominal scale belong to it; those of a ratio scale do not.
    """

    name: KindName
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.name not in MEANINGS:
            raise InputError(f"there is no kind of number {self.name!r}", cure=_CURE)
        if (self.low is None) != (self.high is None) or (self.bounded and not self.span > 0):
            raise InputError(f"{self.low}..{self.high} are not the ends of a scale", cure=_CURE)
        if self.name == "ratio" and self.low is not None and self.low < 0:
            raise InputError(f"a ratio scale cannot begin at {self.low:g}", cure="give a low end of at least 0")

    def __str__(self) -> str:
        return f"{self.name}:{self.low:g}..{self.high:g}" if self.bounded else self.name

    @classmethod
    def parse(cls, text: str) -> Kind:
        """The kind that a text names, or an :class:`InputError` that says what can be written."""
        match = _TEXT.fullmatch(text.strip().lower())
        if match is None or match["name"] not in MEANINGS:
            raise InputError(f"{text!r} is not a kind of number", cure=_CURE)
        try:
            ends = [None if match[end] is None else float(match[end]) for end in ("low", "high")]
        except ValueError:
            raise InputError(f"{text!r} is not a kind of number", cure=_CURE) from None
        return cls(cast(KindName, match["name"]), *ends)

    @property
    def bounded(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def span(self) -> float:
        """The length of the scale; infinite without ends."""
        return math.inf if self.low is None or self.high is None else self.high - self.low

    @property
    def metric(self) -> Metric:
        """The metric of Krippendorff's alpha for values on the common footing."""
        return MEANINGS[self.name].metric

    @property
    def method(self) -> str:
        """The name of the scaling method that is used unless another is named."""
        return MEANINGS[self.name].method

    @property
    def footing(self) -> str:
        """How values are made comparable between assessors, in words."""
        return MEANINGS[self.name].footing

    @property
    def in_logs(self) -> bool:
        """Whether only proportions count, so that values are compared by their logarithms within a unit."""
        return self.name == "ratio"

    @property
    def offset(self) -> float:
        """What is added before logarithms are taken, where a method for magnitudes is used on this scale.

        On a scale that holds its low end of 0 a zero is a legal answer, so a hundredth of the scale is added: 1 from 0
        to 100.
        """
        return self.span / 100 if self.name != "ratio" and self.low == 0 else 0.0

    def holds(self, value: float) -> bool:
        """Whether the value lies on the scale."""
        if not math.isfinite(value):
            return False
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        if self.name == "ratio":
            return max(low, 0.0) < value < high
        return low <= value <= high


_CURE = f"write {', '.join(get_args(KindName))}, with the ends of the scale if it has any, such as interval:0..100"

# The scales of study files by the names that judgewell gives them, for tables that carry no kind.
BY_SCALE = {
    "magnitude": Kind("ratio"),
    "bounded": Kind("ratio", 0, 100),
    "s100": Kind("interval", 0, 100),
    "0-100": Kind("interval", 0, 100),
    "ordinal": Kind("ordinal"),
    "binary": Kind("nominal"),
}


def infer(values: pl.Series, scale: str | None = None) -> tuple[Kind, str, bool]:
    """The kind of values that come without one, the reason in words, and whether that is certain.

    A scale's name decides where judgewell gives that name. Otherwise 0 and 1 alone are nominal, few whole numbers
    ordinal, numbers from 0 to 1 or from 0 to 100 (above 20) interval with these ends, few numbers up to 10 that recur
    interval, other numbers above 0 ratio, and the rest interval.
    """
    if scale is not None and scale.lower() in BY_SCALE:
        return BY_SCALE[scale.lower()], f"the scale is called {scale}", True
    numbers = values.drop_nulls()
    if numbers.is_empty():
        return Kind("interval"), "there are no values", True
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    whole = bool((numbers == numbers.round()).all())
    if whole and low >= 0 and high <= 1:
        return Kind("nominal"), "they are 0 or 1", False
    if whole and low >= -FEW_VALUES and high <= FEW_VALUES:
        return Kind("ordinal"), f"they are few whole numbers ({low:g} to {high:g}){_codes(numbers)}", False
    if low >= 0 and high <= 1:
        return Kind("interval", 0, 1), "they lie from 0 to 1", False
    if low == 0 and FEW_VALUES < high <= 100:
        return Kind("interval", 0, 100), "they lie from 0 to 100", False
    if whole and low > 0 and high == 100:
        reason = "they are whole numbers up to 100 (magnitudes can be so too: say --kind ratio if they are)"
        return Kind("interval", 0, 100), reason, False
    different = numbers.n_unique()
    if low > 0 and high <= HIGHEST_RATING and different <= FEW_VALUES and len(numbers) >= 2 * different:
        reason = f"they are {different} different numbers from {low:g} to {high:g}, as ratings are"
        return Kind("interval"), f"{reason} (magnitudes can be so too: say --kind ratio if they are)", False
    if low > 0:
        return Kind("ratio"), "all are above 0", False
    return Kind("interval"), f"not all are above 0{_codes(numbers)}", False


def _codes(numbers: pl.Series) -> str:
    """A hint at values below 0 that are probably codes: one or two whole numbers that are not half of a -2 … 2."""
    different = numbers.unique().sort()
    below = different.filter(different < 0)
    half = different[0] == -different[-1] and len(different) == different[-1] - different[0] + 1
    if half or not 1 <= len(below) <= 2 or not (below == below.round()).all():
        return ""
    rule = ",".join(f"{value:g}=" for value in below)
    return f"; where values below 0 mean that no judgment was given, leave them out by --words '{rule}'"


def odd_value(values: pl.Series) -> tuple[int, str] | None:
    """The row of the first value that lies off the scale of nearly all others, and that scale in words.

    At most one value in 50 is odd, and without the odd ones the rest would be of another kind: grades, or numbers
    from 0 to 100. A whole number above the grades is odd from twice the highest grade on.
    """
    grade = (values == values.round()) & values.is_between(-FEW_VALUES, FEW_VALUES)
    for inside in (grade, values.is_between(0, 100)):
        rest, off = values.filter(inside), values.filter(~inside)
        if not 0 < len(off) <= max(1, len(values) // 50) or len(values) < FEWEST:
            continue
        low, high = float(rest.min()), float(rest.max())  # type: ignore[arg-type]
        near = (off == off.round()) & (off > 0) & (off < 2 * high)
        kind = infer(rest)[0]
        if not near.any() and kind != infer(values)[0] and (kind.name in ("ordinal", "nominal") or kind.span == 100):
            return int((~inside).arg_true()[0]), f"{len(rest)} of {len(values)} are {low:g} to {high:g}"
    return None


def with_kinds(judgments: pl.DataFrame, file: str | Path | None = None, kind: str | None = None) -> pl.DataFrame:
    """The judgments with a kind for every value: `kind` for all, or as carried, or inferred with a note."""
    import polars as pl

    if kind is not None:
        return judgments.with_columns(kind=pl.lit(str(Kind.parse(kind))))
    try:
        if _one_kind(judgments["kind"]):
            return judgments
        spelled = {text: str(Kind.parse(text)) for text in judgments["kind"].drop_nulls().unique().sort()}
    except InputError as error:
        raise InputError(
            f"the column kind says what values mean, and {error.problem}",
            cure=f"rename the column if it holds something else, or {error.cure}",
            file=file,
        ) from None
    judgments = judgments.with_columns(pl.col("kind").replace(spelled))
    if judgments["kind"].null_count():
        judgments = _with_inferred_kinds(judgments, file)
    _refuse_two_kinds(judgments, file)
    return judgments


def _one_kind(kinds: pl.Series) -> bool:
    """Whether all values have one kind, spelled as it prints: the usual case, decided without sorting."""
    if len(kinds) == 0 or kinds.null_count() or not (kinds == kinds[0]).all():
        return False
    return str(Kind.parse(kinds[0])) == str(kinds[0])


def _with_inferred_kinds(judgments: pl.DataFrame, file: str | Path | None) -> pl.DataFrame:
    """The judgments with a kind for every scale that comes without one; a kind that only values suggest is noted."""
    import polars as pl

    inferred: dict[str | None, str] = {}
    for (scale,), part in judgments.filter(pl.col("kind").is_null()).group_by("scale", maintain_order=True):
        name = None if scale is None else str(scale)
        kind, reason, certain = infer(part["value"], name)
        inferred[name] = str(kind)
        if not certain:
            which = f"values on the scale {name}" if name else "values"
            note(f"{which} are read as {kind}, because {reason}; use --kind (kind= in Python) to say otherwise", file)
    names = pl.Series(list(inferred), dtype=pl.String)
    by_scale = pl.col("scale").replace_strict(names, list(inferred.values()), default=None, return_dtype=pl.String)
    return judgments.with_columns(pl.coalesce("kind", by_scale).alias("kind"))


def _refuse_two_kinds(judgments: pl.DataFrame, file: str | Path | None) -> None:
    """Refuse a scale whose values are of two kinds."""
    import polars as pl

    several = judgments.select("scale", "kind").unique().filter(pl.col("scale").is_duplicated()).sort(pl.all())
    if several.is_empty():
        return
    scale = several["scale"][0]
    kinds = several.filter(pl.col("scale").eq_missing(scale))["kind"]
    raise InputError(
        f"the scale {scale or '(unnamed)'} holds values of the kinds {' and '.join(kinds)}",
        cure="give each kind a scale name of its own, or name one kind for all (--kind)",
        file=file,
    )


def kind_of(judgments: pl.DataFrame) -> Kind:
    """The one kind of a checked judgments table; several are an error that says how to choose."""
    kinds = judgments["kind"].unique().sort().to_list()
    if len(kinds) == 1:
        return Kind.parse(kinds[0])
    named = judgments.select("scale", "kind").unique().sort("scale")
    listed = ", ".join(f"{scale or '(unnamed)'} ({kind})" for scale, kind in named.iter_rows())
    raise DataError(
        f"the judgments mix the scales {listed}; keep the rows of one (--where scale={named['scale'][0]})"
        if kinds
        else "the judgments table has no rows"
    )
