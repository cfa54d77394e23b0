"""A grid as a LaTeX table (booktabs; longtable where it does not fit a page)."""

from __future__ import annotations

import re

from judgewell.reports.parts import Grid
from judgewell.text import head, table_cells

LONG = 45  # rows that a page holds
SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "−": r"\ensuremath{-}", "·": r"\ensuremath{\cdot}", "×": r"\ensuremath{\times}", "—": "---", "–": "--",
    "≥": r"\ensuremath{\ge}", "≤": r"\ensuremath{\le}", "±": r"\ensuremath{\pm}", "…": r"\dots{}", "’": "'",
    "τ": r"\ensuremath{\tau}", "α": r"\ensuremath{\alpha}", "κ": r"\ensuremath{\kappa}", "ρ": r"\ensuremath{\rho}",
    "χ": r"\ensuremath{\chi}", "²": r"\ensuremath{^2}", "→": r"\ensuremath{\to}", "\u202f": r"\,", "\xa0": "~",
}  # fmt: skip
RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))


def escape(text: str) -> str:
    """Text that LaTeX prints as it is; what is no letter at all (controls) becomes a space."""
    pieces = re.split(f"([{''.join(RAISED)}]+)", text)
    return "".join(_raised(piece) if piece[:1] in RAISED and piece else _plain(piece) for piece in pieces)


def _raised(digits: str) -> str:
    return rf"\ensuremath{{^{{{''.join(RAISED[digit] for digit in digits)}}}}}"


def _plain(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter if letter.isprintable() else " ") for letter in text)


def _guarded(row: str) -> str:
    """A row that the line end before it does not take for its own option: `[` and `*` after it would be."""
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def latex(grid: Grid) -> str:
    """The grid's columns as on the page, all of its rows, with caption and label."""
    frame = grid.shown
    kinds = "".join("r" if dtype.is_numeric() else "l" for dtype in frame.dtypes)
    header = " & ".join(escape(grid.heads.get(name, head(name))) for name in frame.columns)
    columns = table_cells(frame)
    rows = [_guarded(" & ".join(map(escape, row))) + r" \\" for row in zip(*columns, strict=True)]
    caption = rf"\caption{{{escape(grid.title)}. {escape(grid.caption)}}}\label{{tab:{grid.name.replace('_', '-')}}}"
    if frame.height > LONG:
        return "\n".join([*_preamble("booktabs, longtable"), *_long(kinds, header, rows, caption), ""])
    table = [r"\begin{table}", r"\centering", caption, rf"\begin{{tabular}}{{{kinds}}}", r"\toprule"]
    table += [rf"{_guarded(header)} \\", r"\midrule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*_preamble("booktabs"), *table, ""])


def _preamble(packages: str) -> list[str]:
    return [rf"% needs \usepackage{{{packages}}}"]


def _long(kinds: str, header: str, rows: list[str], caption: str) -> list[str]:
    return [
        rf"\begin{{longtable}}{{{kinds}}}",
        rf"{caption} \\",
        r"\toprule",
        rf"{_guarded(header)} \\",
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        rf"{_guarded(header)} \\",
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *rows,
        r"\end{longtable}",
    ]
