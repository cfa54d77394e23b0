"""Names say what they hold: none is called found, said, told or worth, or by a word that the glossary replaced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "judgewell"
REFUSED = {"found", "said", "told", "worth", "left_out", "resamples", "levels"}
# Where the word is the field's own: recall levels, significance levels, levels of a factor; and former names kept.
LEVELS = {"evaluation/trec_names.py", "evaluation/trec_only.py", "comparison/calibration.py", "sample/__init__.py"}
FORMER = {"analysis/agree.py: left_out"}


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module binds, with its line, but for the former names of API fields."""
    former = {
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "former"
        for target in node.targets
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in former:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name.strip("_").lower(), node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def test_names_say_what_they_hold() -> None:
    refused = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, line in bound_names(ast.parse(path.read_text(encoding="utf-8")))
        if name in REFUSED
        and not (name == "levels" and path.relative_to(PACKAGE).as_posix() in LEVELS)
        and f"{path.relative_to(PACKAGE).as_posix()}: {name}" not in FORMER
    ]
    assert refused == []


def test_a_level_is_the_level_of_an_interval() -> None:
    """A step of a scale is a grade: whatever takes a `level` takes a number between 0 and 1."""
    others = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.arg) and node.arg == "level"
        if node.annotation is None or ast.unparse(node.annotation) != "float"
    ]
    assert others == []


def test_a_refused_name_is_seen_wherever_it_is_bound() -> None:
    source = (
        "found = 1\ndef told(said): ...\nfor found in x: ...\nself.told = worth = 2\nsaid = former('sentence', str)\n"
        "def f(levels, resamples): left_out = 1\n"
    )
    assert [name for name, _ in bound_names(ast.parse(source))].count("found") == 2
    assert {name for name, _ in bound_names(ast.parse(source))} >= REFUSED
    assert ("said", 5) not in set(bound_names(ast.parse(source)))


def test_every_module_says_what_it_holds() -> None:
    modules = [path for path in sorted(PACKAGE.rglob("*.py")) if path.read_text(encoding="utf-8").strip()]
    assert [str(path) for path in modules if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


# Phrases that readers had to decode, each with what is written instead.
PHRASES = {
    r"(?:is|are|was|were|be) told\b": "is reported",
    r"told from\b": "differs significantly from",
    r"asked of whom\b": "study and participants",
    r"in vain\b": "failed, abandoned or expired",
    r"(?:is|are|was|were) worth\b": "has a gain of",
    r"(?:is|are|was|were|be) left out\b": "is excluded",
    r"left out of\b": "excluded from",
    r"what (?:is|was) found\b": "results",
}
ROOT = PACKAGE.parents[1]


def prose() -> Iterator[tuple[Path, str]]:
    """What people read outside the report: documentation without its blocks, source with its help, messages and
    docstrings, and the server's pages."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        yield path, re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    pages = [path for kind in ("html", "js") for path in (PACKAGE / "server").rglob(f"*.{kind}")]
    for path in sorted([*PACKAGE.rglob("*.py"), *pages]):
        if path.relative_to(PACKAGE).parts[0] != "reports":
            yield path, path.read_text("utf-8")


def test_phrases_that_readers_had_to_decode_do_not_come_back() -> None:
    refused = [
        f"{path.relative_to(ROOT)}: {match[0]!r}; write: {instead}"
        for path, text in prose()
        for phrase, instead in PHRASES.items()
        for match in re.finditer(r"\b" + phrase.replace(" ", r"\s+"), text, re.IGNORECASE)
    ]
    assert refused == []


def test_a_refused_phrase_is_seen() -> None:
    sentence = "Whatever is left out is told as a note; it was worth 0."
    assert sum(bool(re.search(rf"\b{phrase}", sentence)) for phrase in PHRASES) == 3
