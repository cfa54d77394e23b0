"""Names say what they hold: none is called found, said, told or worth."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "judgewell"
REFUSED = {"found", "said", "told", "worth"}


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
    ]
    assert refused == []


def test_a_refused_name_is_seen_wherever_it_is_bound() -> None:
    source = (
        "found = 1\ndef told(said): ...\nfor found in x: ...\nself.told = worth = 2\nsaid = former('sentence', str)\n"
    )
    assert [name for name, _ in bound_names(ast.parse(source))].count("found") == 2
    assert {name for name, _ in bound_names(ast.parse(source))} >= REFUSED
    assert ("said", 5) not in set(bound_names(ast.parse(source)))


def test_every_module_says_what_it_holds() -> None:
    modules = [path for path in sorted(PACKAGE.rglob("*.py")) if path.read_text(encoding="utf-8").strip()]
    assert [str(path) for path in modules if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []
