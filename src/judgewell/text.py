"""How numbers are written: the same on the page, in sentences and in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Any

import polars as pl

MISSING = "—"
DECIMALS = 3  # of a plain number in a sentence or a table

# Columns whose numbers are shares of 1 and read better as per cent.
SHARES = frozenset(
    {
        "share", "micro_agree", "micro_disagree", "micro_unknown",
        "macro_agree", "macro_disagree", "macro_unknown", "zeros", "tens", "fives", "accuracy", "pooled", "strict",
        "half", "lenient", "perfect", "chance_perfect", "chance_share", "touched_share", "best", "judged", "power",
        "most_used_share", "changed_share", "agreement", "top_jaccard", "top_share", "observed", "above",
        "unjudged", "alike",
    }
)  # fmt: skip
# Columns of one table whose numbers are on one scale: they have equally many decimals.
ALIKE = frozenset(
    {
        "lowest", "least", "q1", "median", "q3", "highest", "greatest", "mean", "sd", "low", "high", "width", "gain",
        "value", "without_noise", "without_noise_low", "without_noise_high", "mean_first", "mean_second", "difference",
    }
)  # fmt: skip
P_VALUES = frozenset({"p", "p_any", "p_holm", "p_corrected", "p_top", "mcnemar_p"})

HEADS = {
    "tau_a": "τ-a",
    "tau_b": "τ-b",
    "tau_ap": "τ-AP",
    "micro_agree": "alike",
    "micro_disagree": "differently",
    "micro_unknown": "unknown",
    "in_order": "pairs in order",
    "tied": "pairs tied",
    "micro_tau_a": "τ-a (pooled)",
    "macro_tau_a": "τ-a (mean)",
    "macro_tau_b": "τ-b (mean over topics)",
    "alpha": "α",
    "kappa": "κ",
    "rbo": "RBO",
    "rbo_residual": "RBO residual",
    "spearman": "Spearman’s ρ",
    "sd": "s.d.",
    "chi2": "χ²",
    "p_any": "p (any difference)",
    "p_holm": "p (Holm)",
    "p_corrected": "p (Holm)",
    "p_top": "p (top set)",
    "top": "in the top set",
    "ruled_out_by": "ruled out by",
    "top_first": "top set of the first",
    "top_second": "top set of the second",
    "top_jaccard": "overlap of top sets",
    "top_share": "share of the first",
    "top_shared": "in both top sets",
    "effect": "effect size",
    "p_rank_sum": "p (rank sum)",
    "p_signed_rank": "p (signed rank)",
    "p_student": "p (Student)",
    "p_welch": "p (Welch)",
    "p_welch_log": "p (Welch, logarithms)",
    "sigma_pairs": "σ (pairs)",
    "sigma_printed": "σ (printed)",
    "sigma_topics": "σ (topics)",
    "tau_mean": "mean τ-b",
    "tau_median": "median τ-b",
    "tau_q1": "τ-b, 25 %",
    "tau_q3": "τ-b, 75 %",
    "mcnemar_p": "p (McNemar)",
    "q1": "25 %",
    "q3": "75 %",
    "least": "lowest",
    "greatest": "highest",
    "low": "95 % from",
    "high": "95 % to",
    "rank_low": "best plausible rank",
    "rank_high": "worst plausible rank",
    "best": "first in resamples",
    "tens": "multiples of 10",
    "fives": "multiples of 5",
    "strict": "in order",
    "half": "ties half",
    "lenient": "ties in order",
    "significant_both": "significant under both",
    "only_this_set": "only under this set",
    "only_reference": "only under the reference",
}


def price(amount: float) -> str:
    """An amount of money: 12.50, and 0.0005 below 1."""
    return f"{amount:,.2f}" if amount >= 1 else f"{amount:.4f}"


def head(column: str) -> str:
    """A column's heading in words."""
    return HEADS.get(column, column.replace("_", " "))


def count(number: float) -> str:
    """A whole number with its thousands apart."""
    return f"{number:,.0f}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 topic`, `18 topics`, `no topics`."""
    return f"{count(number) if number else 'no'} {one if number == 1 else many or one + 's'}"


def work_time(hours: float) -> str:
    """`2.3 hours`, and below one hour `12 minutes`."""
    return f"{hours:,.1f} hours" if hours >= 1 else counted(max(1, round(60 * hours)), "minute")


def agrees(number: int, one: str, many: str) -> str:
    """The verb that fits a number: 1 unit *is*, 2 units *are*, no units *are*."""
    return one if number == 1 else many


def plain(value: Any, decimals: int = DECIMALS) -> str:
    """A number with enough decimals to distinguish it from others, a true minus sign, — where there is none."""
    if value is None or not isfinite(value):
        return MISSING
    if value == round(value) and abs(value) < 1e6:
        return _signed(f"{value:,.0f}")
    if abs(value) >= 1e6 or abs(value) < 10.0**-decimals:
        power = floor(log10(abs(value)))
        return f"{_signed(f'{value / 10.0**power:.1f}')}·10{_raised(power)}"
    if abs(value) >= 1000:
        return _signed(f"{value:,.0f}")
    text = f"{value:.{max(0, decimals - max(0, floor(log10(abs(value)))))}f}"
    return _signed(text.rstrip("0").rstrip(".") if abs(value) >= 1 and "." in text else text)


def percent(share: Any, decimals: int = 1) -> str:
    """A share of 1 as per cent; what rounds to all or nothing without being it says so."""
    if share is None or not isfinite(share):
        return MISSING
    text = f"{100 * share:.{decimals}f}"
    if share < 1 and float(text) == 100:
        return f"> {100 - 10.0**-decimals:.{decimals}f} %"
    if share > 0 and float(text) == 0:
        return f"< {10.0**-decimals:.{decimals}f} %"
    return f"{_signed(text.removesuffix('.' + '0' * decimals) if share in (0, 1) else text)} %"


def p_value(p: float | None) -> str:
    """p to three decimals; smaller ones as below 0.001."""
    if p is None or not isfinite(p):
        return MISSING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_said(p: float) -> str:
    """`p < 0.001`, `p = 0.042`."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def interval(low: float | None, high: float | None) -> str:
    """`[0.31, 0.45]`, or that there is none."""
    return "(no interval)" if low is None or high is None else f"[{plain(low)}, {plain(high)}]"


def listing(names: Sequence[str], most: int = 4) -> str:
    """`a, b and c`; of many the first few and how many more."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def table_cells(table: pl.DataFrame) -> list[list[str]]:
    """A table's columns as text; those whose numbers are on one scale with equally many decimals."""
    alike = [number for name in table.columns if name in ALIKE for number in _numbers(table[name])]
    return [cells(column, alike if column.name in ALIKE else None) for column in table.get_columns()]


def _numbers(column: pl.Series) -> list[float]:
    """What is a number and no whole one by its type."""
    return column.to_list() if column.dtype.is_float() else []


def cells(column: pl.Series, alike: Sequence[float | None] | None = None) -> list[str]:
    """A column's values as text, all in one manner: with the decimals that they need, or that numbers `alike` do."""
    name, values = column.name, column.to_list()
    if column.dtype == pl.Boolean:
        return [MISSING if value is None else "yes" if value else "no" for value in values]
    if not column.dtype.is_numeric():
        return [MISSING if value is None else str(value) for value in values]
    if name in P_VALUES or name.startswith("p_"):
        return [p_value(value) for value in values]
    if name in SHARES and all(value is None or not abs(value) > 1 for value in values):  # else counts of that name
        return [percent(value) for value in values]
    if column.dtype.is_integer():
        return [MISSING if value is None else _signed(count(value)) for value in values]
    return fractions(values, alike)


def fractions(values: Sequence[float | None], alike: Sequence[float | None] | None = None) -> list[str]:
    """Numbers with as many decimals as the largest of them (or of those `alike`) needs; all whole ones without."""
    finite = [value for value in alike or values if value is not None and isfinite(value)]
    if all(value == round(value) for value in finite) and max(map(abs, finite), default=0) < 1e15:
        return [_signed(count(value)) if value is not None and isfinite(value) else MISSING for value in values]
    largest = max(map(abs, finite), default=0)
    decimals = max(0, min(DECIMALS, DECIMALS - floor(log10(largest)))) if largest else DECIMALS

    def written(value: float | None) -> str:
        if value is None or not isfinite(value):
            return MISSING
        small = value != 0 and abs(value) < 0.5 * 10.0**-decimals
        return plain(value, decimals) if small or largest >= 1e6 else _signed(f"{value:,.{decimals}f}")

    return [written(value) for value in values]


def _signed(text: str) -> str:
    if text.startswith("-") and not text.strip("-0.,"):
        return text[1:]
    return text.replace("-", "−")


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
