"""A new study to begin with: a commented study file with two small topics and twenty short documents, ready to run."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from judgewell.errors import InputError

# The parts of the study file for each kind, in order; every part is a file of the package's folder `starter`.
_DOOR = ("checks", "question")
KINDS: dict[str, tuple[str, ...]] = {
    "magnitude": ("head", "known", "magnitude", "units", *_DOOR, "practice", "questionnaire", "tail"),
    "ordinal": ("head", "known", "ordinal", "units", *_DOOR, "questionnaire", "tail"),
    "binary": ("head", "known", "binary", "units", *_DOOR, "questionnaire", "tail"),
    "s100": ("head", "known", "s100", "units", *_DOOR, "questionnaire", "tail"),
    "pairs": ("head", "known", "pairs", "quiz", "question", "liked", "tail"),
    "templates": ("head", "templates", *_DOOR, "practice", "questionnaire", "tail"),
}
FILES = ("topics.txt", "documents.jsonl", "grades.qrels", "pool.csv")


def new_study(folder: str | Path, kind: str = "magnitude") -> list[Path]:
    """A runnable study of a kind in a folder; files that are there are never overwritten."""
    if kind not in KINDS:
        raise InputError(f"there is no study to begin with called {kind!r}", cure=f"choose one of {', '.join(KINDS)}")
    folder = Path(folder)
    taken = [name for name in ("study.toml", *FILES) if (folder / name).exists()]
    if taken:
        raise InputError(f"{taken[0]} exists already", cure="choose another folder", file=folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / name for name in ("study.toml", *FILES)]
    written[0].write_text(study_text(kind, folder.resolve().name), "utf-8")
    for path in written[1:]:
        path.write_bytes(resources.files("judgewell.study").joinpath("starter", path.name).read_bytes())
    return written


def study_text(kind: str, name: str) -> str:
    """The commented study file of a kind, for a study of this name."""
    starter = resources.files("judgewell.study").joinpath("starter")
    text = "".join(starter.joinpath(f"{part}.toml").read_text("utf-8") for part in KINDS[kind])
    pairs = kind == "pairs"
    values = {
        "{name}": re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "study",
        "{units_per_topic}": "6" if pairs else "1",
        "{seconds}": "40" if pairs else "60",
    }
    for hole, value in values.items():
        text = text.replace(hole, value)
    return text


@cache
def example() -> dict[str, Any]:
    """The settings of the example study of magnitudes."""
    return tomllib.loads(study_text("magnitude", "example"))


def has_example_topics(path: Path) -> bool:
    """Whether a file holds the example's topics."""
    return path.read_bytes() == resources.files("judgewell.study").joinpath("starter", "topics.txt").read_bytes()
