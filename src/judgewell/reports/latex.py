"""A grid as a LaTeX table (booktabs; longtable where it does not fit a page)."""

from __future__ import annotations

import re
import textwrap

from judgewell.reports.parts import Grid
from judgewell.text import head, table_cells

LONG = 45  # rows that a page holds
HEAD = 10  # letters in a line of a heading
WIDE = 7  # columns from which on the type of a long table is small
LONGEST = 40  # letters of a cell in one line
PROSE = r"p{0.35\textwidth}"
FITTED = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"
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


def _stacked(text: str, kind: str) -> str:
    """A heading of several words in short lines, one above the other, as wide as the numbers below it."""
    lines = textwrap.wrap(text, HEAD, break_long_words=False)
    stack = r"\\".join(map(escape, lines))
    return rf"\shortstack[{kind}]{{{stack}}}" if len(lines) > 1 else escape(text)


def latex(grid: Grid) -> str:
    """The grid's columns as on the page, all of its rows, with caption and label; not wider than the text."""
    frame = grid.shown
    columns = table_cells(frame)
    kinds = ["r" if dtype.is_numeric() else "l" for dtype in frame.dtypes]
    heads = [grid.heads.get(name, head(name)) for name in frame.columns]
    header = " & ".join(_stacked(text, kind) for text, kind in zip(heads, kinds, strict=True))
    widest = [max(map(len, cells), default=0) for cells in columns]
    layout = "".join(PROSE if width > LONGEST else kind for kind, width in zip(kinds, widest, strict=True))
    rows = [_guarded(" & ".join(map(escape, row))) + r" \\" for row in zip(*columns, strict=True)]
    caption = rf"\caption{{{escape(grid.title)}. {escape(grid.caption)}}}\label{{tab:{grid.name.replace('_', '-')}}}"
    if frame.height > LONG:
        small = [r"\footnotesize\setlength{\tabcolsep}{4pt}"] if len(heads) > WIDE else []
        table = [r"{", *small, *_long(layout, header, rows, caption), r"}"]
        return "\n".join([*_preamble("booktabs, longtable"), *table, ""])
    table = [r"\begin{table}", r"\centering", caption, FITTED, rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    table += [rf"{_guarded(header)} \\", r"\midrule", *rows, r"\bottomrule", r"\end{tabular}}", r"\end{table}"]
    return "\n".join([*_preamble("booktabs, graphicx"), *table, ""])


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
