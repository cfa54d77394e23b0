"""The choices that change scores."""

from __future__ import annotations

from typing import ClassVar

from judgewell.errors import InputError
from judgewell.values import dataclass


@dataclass(frozen=True)
class Settings:
    """The choices that change scores, with our defaults; every result records them."""

    order: str = "score"  # rank by score, or by the ranks written in the file
    precision: str = "double"  # of the scores; trec_eval 9 and pytrec_eval rank by single precision
    ties: str = "doc"  # document id descending; shared: the expected value over all orders; spread: as rbp_eval
    unjudged: str = "zero"  # gain 0, condense (excluded from the ranking), or error
    topics: str = "judged"  # averaged over all judged topics (a missing one scores 0), or those in the run
    most: int | None = None  # so many documents of a ranking count, the others are cut off; None: all

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "order": ("score", "rank"),
        "precision": ("double", "single"),
        "ties": ("doc", "shared", "spread"),
        "unjudged": ("zero", "condense", "error"),
        "topics": ("judged", "run"),
    }

    def __post_init__(self) -> None:
        for name, choices in self.CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{name} {getattr(self, name)!r} is not one of {', '.join(choices)}")
        if self.most is not None and self.most < 1:
            raise InputError(f"{self.most} documents of a ranking cannot be kept", cure="give 1 or more")
