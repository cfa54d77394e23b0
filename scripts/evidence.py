"""What the scripts that write docs/evidence share: Markdown tables, and the words on how a page was made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path

from judgewell._version import __version__

ROOT = Path(__file__).parents[1]
EVIDENCE = ROOT / "docs" / "evidence"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[object]], words: int = 1) -> str:
    """A table whose first columns hold words and whose others hold numbers."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * words + "---:|" * (len(heads) - words)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def made_by(script: str, settings: str) -> str:
    return f"Made by `scripts/{script}` with {settings}; judgewell {__version__}.\n"


def write(name: str, text: str) -> None:
    """The page, where it is new or different."""
    path = EVIDENCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    print(path.relative_to(ROOT))


def wilson(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share = hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total**2)) / (1 + z * z / total)
    return max(0.0, middle - half), min(1.0, middle + half)
