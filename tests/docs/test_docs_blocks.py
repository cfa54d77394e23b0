"""Every code block of the documentation and the README runs, and prints what the page shows."""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import click
import docs_blocks
import pytest
from docs_generated import help_parts, models_in

from judgewell import sample
from judgewell.cli import COMMANDS, app
from judgewell.study.model import Study

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE_BY_SCRIPTS = {"papers", "evidence", "reference"}  # the scripts that write them run what they show
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in MADE_BY_SCRIPTS)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# ranx compiles itself, and the others run whole studies.
LONG = {
    "docs/extend/check.md",
    "docs/from/ranx.md",
    "docs/gallery.md",
    "docs/guide/comparing.md",
    "docs/tutorial/demo.md",
    "docs/tutorial/results.md",
    "docs/tutorial/your-study.md",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=pytest.mark.long if named(path) in LONG else ()) for path in PAGES], ids=named
)
def test_a_page_runs_as_it_says(path: Path, tmp_path: Path) -> None:
    differences = docs_blocks.run_page(path.read_text("utf-8"), docs_blocks.prepared(tmp_path, path))
    assert not differences, "\n".join(map(str, differences))


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md"], ids=named)
def test_a_block_that_is_not_run_says_why(path: Path) -> None:
    """Or holds nothing but command lines, which are read by the commands' own rules."""
    for block in docs_blocks.unexplained(path.read_text("utf-8")):
        assert block.language == "", f"line {block.line} is {block.language}, which nobody runs"
        for line in block.body.strip().splitlines():
            command = re.search(r"\bjudgewell .*", line)
            assert command or line.startswith("https://"), f"line {block.line}: {line}"
            if command:
                parsed(command[0])


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_settings_that_a_page_shows_are_there(path: Path) -> None:
    """The tables of a TOML block that belong to a study file hold known settings."""
    for block in docs_blocks.blocks(path.read_text("utf-8")):
        if block.language == "toml" and block.runs and not (block.title or "").endswith("en.toml"):
            shown = tomllib.loads(block.body)
            assert set(shown) <= set(Study.model_fields), f"line {block.line}"
            for name, table in shown.items():
                known = {key for model in models_in(Study.model_fields[name].annotation) for key in model.model_fields}
                assert set(table) <= known, f"line {block.line}: [{name}]"


def readme_lines() -> list[str]:
    """The lines of the README's indented blocks."""
    text = (ROOT / "README.md").read_text("utf-8")
    return [line[4:] for line in text.splitlines() if line.startswith("    ")]


def test_the_readme_shows_what_is_printed(tmp_path: Path) -> None:
    body = "\n".join(line for line in readme_lines() if not re.match(r"judgewell |make |>>> ", line))
    start = body.index("$ judgewell")
    shown = re.match(r"\$ judgewell.*?(?=\n\n|\Z)", body[start:], re.DOTALL)
    assert shown is not None
    (tmp_path / "magnitude").mkdir()  # as the demo leaves it
    shutil.copy(sample.folder() / "levels.qrels", tmp_path / "magnitude")
    shutil.copytree(sample.folder() / "runs", tmp_path / "runs")
    assert docs_blocks.run_page(f"```console\n{shown[0]}\n```\n", tmp_path) == []


def parsed(line: str) -> None:
    """Read a command line by the command's own rules, without doing what it says."""
    for part in re.split(r"\s&&\s|\s\|\s", re.split(r"\s(?:# |>)", line)[0]):
        words = shlex.split(part)
        if words[0] != "judgewell":
            continue
        if words[1].startswith("-") or words[2:3] == ["--list"]:
            continue
        context = click.Context(app, info_name="judgewell", **app.context_settings)
        command = app.get_command(context, words[1])
        assert command is not None, f"there is no command {words[1]}"
        read = command.make_context(words[1], words[2:], parent=context)
        if isinstance(command, click.Group):
            name, inner, rest = command.resolve_command(read, [*read._protected_args, *read.args])
            assert inner is not None
            inner.make_context(name, rest, parent=read)


def test_the_readmes_commands_can_be_read() -> None:
    lines = [line for line in readme_lines() if line.startswith("judgewell ")]
    assert len(lines) > 10
    for line in lines:
        parsed(line)


def test_commands_and_options_in_the_list_of_changes_exist() -> None:
    text = (docs_blocks.ROOT / "CHANGELOG.md").read_text("utf-8")
    for name, rest in re.findall(rf"`(?:judgewell )?({'|'.join(COMMANDS)})( [^`]*)?`", text):
        known = {
            option for _, one in commands_of(name) for it in one.params for option in (*it.opts, *it.secondary_opts)
        }
        assert set(re.findall(r"(?<!\S)--[\w-]+", rest)) <= known, f"{name}{rest}"


MOST_FILES = {
    ("measure", ""): 1,
    ("method", ""): 1,
    ("section", ""): 1,
    ("scale", ""): 3,
    ("check", "At the end of a unit"): 2,
    ("check", "Before the work"): 4,
}


@pytest.mark.parametrize(("page", "title"), MOST_FILES)
def test_extending_judgewell_takes_few_files(page: str, title: str) -> None:
    """The pages name every file of the source that they add or change; running them shows that no other is needed."""
    text = (docs_blocks.ROOT / "docs" / "extend" / f"{page}.md").read_text("utf-8")
    part = text if not title else next(one for one in text.split("\n## ") if one.startswith(title))
    files = set(re.findall(r'^(?:```\w+ title="|\+\+\+ b/)(src/[^"\s]+)', part, re.MULTILINE))
    assert 1 <= len(files) <= MOST_FILES[page, title], files


def commands_of(name: str) -> list[tuple[str, click.Command]]:
    """A command, or the commands of a group."""
    command = app.get_command(click.Context(app), name)
    assert command is not None
    if isinstance(command, click.Group):
        return [(name, command), *((f"{name} {inner}", one) for inner, one in command.commands.items())]
    return [(name, command)]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_that_can_be_read(name: str) -> None:
    for full, command in commands_of(name):
        _, examples = help_parts(command)
        assert examples, f"{full} has no example in its help"
        for example in examples:
            assert example.startswith(f"judgewell {name} "), example
            assert full.split()[-1] in example.split(), example
            parsed(example)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc", False),
        ("a … d", "a b c d", True),
        ("a\n…\nz", "a\nb\nc\nz", True),
        ("a\n…\nz", "a\nb\nc", False),
        ("…", "whatever\nthere is", True),
    ],
)
def test_an_ellipsis_stands_for_anything(shown: str, printed: str, same: bool) -> None:
    assert docs_blocks.alike(shown, printed) is same


def test_a_page_that_shows_something_else_is_caught(tmp_path: Path) -> None:
    page = "```console\n$ echo one\ntwo\n```\n\n```python\n>>> 1 + 1\n3\n```\n"
    assert [found.printed.strip() for found in docs_blocks.run_page(page, tmp_path)] == ["one", "2"]
    with pytest.raises(AssertionError, match="ended with 1"):
        docs_blocks.run_page("```console\n$ false\n```\n", tmp_path)
    with pytest.raises(ZeroDivisionError):
        docs_blocks.run_page("```python\n1 / 0\n```\n", tmp_path)
    assert docs_blocks.unexplained("```nginx\nserver {}\n```\n")
    assert not docs_blocks.unexplained("<!-- not run: needs nginx -->\n```nginx\nserver {}\n```\n")


def test_numbers_may_differ_where_a_page_says_so(tmp_path: Path) -> None:
    page = "```console\n$ printf 'a   12.5  b\\n'\na 3 b\n```\n"
    assert docs_blocks.run_page(page, tmp_path)
    assert docs_blocks.run_page(f"{docs_blocks.LOOSE}\n{page}", tmp_path) == []
    assert docs_blocks.run_page(f"{docs_blocks.LOOSE}\n{page.replace('a 3 b', 'a 3 c')}", tmp_path)
