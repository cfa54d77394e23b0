"""The code blocks of the documentation, run page by page in a folder of their own.

    python scripts/docs_blocks.py docs/tutorial/demo.md          # says what differs
    python scripts/docs_blocks.py --fill docs/tutorial/demo.md   # writes what was printed in place of what differs

```console   lines that begin with "$ " are run by the shell, the lines behind them are what is printed
```python    run in one namespace for the page; lines that begin with >>> are held against what they print
```toml      must parse; with title="study.toml" its tables take the place of those in that file
other        with title="file" the block is written to that file

An ellipsis (…) stands for any text on its line, and alone on a line for any number of lines. Output that is not shown
is not compared. A comment before a block says what is special about it:

<!-- not run: why -->    the block cannot be run here
<!-- fails -->           its command ends with an error, which is what the page shows
<!-- append -->          it is added to the end of its file
<!-- apply -->           a difference (```diff), applied to the source
<!-- background -->      its command goes on until the page has ended; the lines shown must appear

and one anywhere on a page, for pages about synthetic people, whose numbers change whenever these are tuned:

<!-- numbers may differ -->   words and shape are compared, numbers are not
"""

from __future__ import annotations

import argparse
import code
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```\s*$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"<!-- (not run: [^>]+|fails|append|apply|background) -->\s*\Z")
RUN = ("console", "python", "toml", "diff")
PROSE = ("text", "mermaid")
LOOSE = "<!-- numbers may differ -->"
PLAIN = re.compile(r"judgewell [^|&;<>$`*?~{}\\\n#]*(?:> *[\w./-]+)?")  # nothing in it that only a shell understands
SECONDS = 600  # the longest that one command may take, on a busy machine


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the file it is, what is special about it, its text and its place."""

    language: str
    title: str | None
    marker: str
    body: str
    line: int
    start: int  # of the body, in characters of the page
    end: int

    @property
    def runs(self) -> bool:
        return not self.marker.startswith("not run")


@dataclass
class Page:
    """A page while it is run: its folder, its port, its Python names, and the commands that are still running."""

    folder: Path
    port: int
    loose: bool = False
    names: dict[str, Any] = field(default_factory=dict)
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def own_source(self) -> bool:
        """Whether commands run the page's own copy of the source."""
        return (self.folder / "src").is_dir()

    def alike(self, shown: str, printed: str) -> bool:
        return alike(without_numbers(shown), without_numbers(printed)) if self.loose else alike(shown, printed)

    def local(self, text: str) -> str:
        """The text with this page's own port in place of the usual one."""
        return text.replace("8000", str(self.port))


@dataclass(frozen=True)
class Difference:
    """What a block shows and what came out."""

    block: Block
    command: str
    shown: str
    printed: str

    def __str__(self) -> str:
        return f"line {self.block.line}: {self.command}\n--- shown\n{self.shown}\n--- printed\n{self.printed}\n"


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    for match in FENCE.finditer(text):
        info = match["info"].strip()
        title = re.search(r'title="([^"]+)"', info)
        marker = MARKER.search(text[: match.start()])
        body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        found.append(
            Block(
                language=re.split(r"[\s{]", info, maxsplit=1)[0],
                title=title[1] if title else None,
                marker=marker[1] if marker else "",
                body=body,
                line=text.count("\n", 0, match.start()) + 1,
                start=match.start("body"),
                end=match.end("body"),
            )
        )
    return found


def unexplained(text: str) -> list[Block]:
    """The blocks that would not be run and do not say why."""
    return [
        block for block in blocks(text) if block.runs and block.language not in (*RUN, *PROSE) and block.title is None
    ]


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown behind it."""
    command, shown = "", []
    for line in body.splitlines():
        if command.endswith("\\"):
            command += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            if command:
                yield command, "\n".join(shown)
            command, shown = line[2:], []
        elif not line.startswith("# "):
            shown.append(line)
    if command:
        yield command, "\n".join(shown)


def alike(shown: str, printed: str) -> bool:
    """Whether what was printed is what is shown, … standing for anything."""
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    pattern = "\n".join(
        r"(?:.*\n)*?.*" if line == "…" else ".*?".join(re.escape(part) for part in line.split("…")) for line in lines
    )
    got = "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, got) is not None


def without_numbers(text: str) -> str:
    """The text with every number as #, and the widths of columns gone."""
    text = re.sub(r"[-−+]?\b\d[\d.,]*(?:e-?\d+)?\b|\bnan\b|\bnull\b", "#", text)
    return re.sub(r"─+", "─", re.sub(r" +", " ", text))


def run_page(text: str, folder: Path) -> list[Difference]:
    """Run the blocks of a page in a folder; what differs from what is shown. A command that fails is an error."""
    page = Page(folder, free_port(), LOOSE in text)
    differences: list[Difference] = []
    try:
        for block in blocks(text):
            if block.runs:
                differences += run_block(block, page)
    finally:
        for process in page.running:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
    return differences


def run_block(block: Block, page: Page) -> list[Difference]:
    if block.language == "console":
        return [found for command, shown in commands(block.body) if (found := run_command(block, command, shown, page))]
    if block.language == "python" and block.title is None:
        return run_python(block, page)
    if block.marker == "apply":
        applied(block, page)
    if block.language == "toml":
        tomllib.loads(block.body)
    if block.title is not None:
        write_file(page.folder / block.title, block)
    return []


def run_command(block: Block, command: str, shown: str, page: Page) -> Difference | None:
    """Run one command of the shell; None where it prints what is shown."""
    said = page.local(command)
    if re.match(r"judgewell serve ", said) and "--port" not in said:
        said += f" --port {page.port}"
    if block.marker == "background":
        printed = started(said, page.local(shown), page)
    else:
        run = in_this_process if PLAIN.fullmatch(said) and not page.own_source else in_a_shell
        code, printed = run(said, page)
        if (code != 0) != (block.marker == "fails"):
            raise AssertionError(f"line {block.line}: {command}\nended with {code}:\n{printed}")
    printed = printed.replace(str(page.port), "8000")
    return None if not shown.strip() or page.alike(shown, printed) else Difference(block, command, shown, printed)


def in_a_shell(command: str, page: Page) -> tuple[int, str]:
    """The exit code of a shell command, and what it printed; behind a pipe, where order is chance, errors come last."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=page.folder,
        env=environment(page.folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if " | " in command else subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + (done.stderr or "")


def in_this_process(command: str, page: Page) -> tuple[int, str]:
    """The same of a plain judgewell command, without starting Python and importing everything again."""
    from judgewell.cli import main

    words, rest = shlex.split(command), ""
    if words[-2:-1] == [">"]:
        *words, _, rest = words
    out, err, outside = io.BytesIO(), io.BytesIO(), dict(os.environ)
    printed = io.TextIOWrapper(out, "utf-8", write_through=True)
    errors = printed if not rest else io.TextIOWrapper(err, "utf-8", write_through=True)
    arguments, sys.argv = sys.argv, words
    os.environ.clear()
    os.environ.update(environment(page.folder))
    try:
        with contextlib.chdir(page.folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(outside)
    if rest and rest != "/dev/null":
        (page.folder / rest).write_bytes(out.getvalue())
    return code, (err if rest else out).getvalue().decode()


def started(command: str, shown: str, page: Page) -> str:
    """Start a command that goes on; what it printed once the lines shown were all there."""
    output = page.folder / f".background-{len(page.running)}"
    with output.open("w") as sink:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=page.folder,
            env=environment(page.folder),
            stdout=sink,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    page.running.append(process)
    until = time.monotonic() + SECONDS
    wanted = len(shown.strip().splitlines()) or 1
    while time.monotonic() < until and process.poll() is None:
        if len(output.read_text().splitlines()) >= wanted:
            break
        time.sleep(0.1)
    if process.poll() is not None:
        raise AssertionError(f"{command} ended with {process.returncode}:\n{output.read_text()}")
    return output.read_text()


def run_python(block: Block, page: Page) -> list[Difference]:
    """Run a Python block in the page's names; sessions (>>>) are held against what they show."""
    with contextlib.chdir(page.folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not block.body.lstrip().startswith(">>>"):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(page.local(block.body), f"line {block.line}", "exec"), page.names)
            return []
        found = []
        for example in doctest.DocTestParser().get_examples(page.local(block.body)):
            printed = evaluated(example.source, page.names)
            if example.want.strip() and not page.alike(example.want, printed):
                shown = example.want.replace(str(page.port), "8000")
                found.append(Difference(block, example.source.strip(), shown, printed))
        return found


def evaluated(source: str, names: dict[str, Any]) -> str:
    """What a Python session prints after a piece of code, without notes; an exception is its last line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code.InteractiveInterpreter(names).runsource(source, "<page>", "single")
    printed = out.getvalue()
    return printed.splitlines()[-1] if printed.startswith("Traceback") else printed


def write_file(path: Path, block: Block) -> None:
    """The block as a file; the tables of a TOML block take the place of those of an existing file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if block.marker == "append":
        path.write_text(path.read_text("utf-8") + "\n\n" + block.body, "utf-8")
        return
    if block.language != "toml" or not path.is_file():
        path.write_text(block.body, "utf-8")
        return
    new = {name.split(".")[0] for name in re.findall(r"^\[+([\w.]+)\]+", block.body, re.MULTILINE)}
    kept, keeping = [], True
    for line in path.read_text("utf-8").splitlines():
        if table := re.match(r"\[+([\w.]+)\]+", line):
            keeping = table[1].split(".")[0] not in new
        if keeping:
            kept.append(line)
    path.write_text("\n".join([*kept, "", block.body]), "utf-8")


def applied(block: Block, page: Page) -> None:
    """Apply a difference to the page's copy of the source; its lines must be there exactly once, wherever that is."""
    head, *hunks = re.split(r"^@@.*\n", block.body, flags=re.MULTILINE)
    path = page.folder / re.findall(r"^\+\+\+ b/(\S+)", head, re.MULTILINE)[0]
    text = path.read_text("utf-8")
    for hunk in hunks:
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[:1] in " -")
        new = "".join(line[1:] for line in lines if line[:1] in " +")
        if text.count(old) != 1:
            raise AssertionError(f"line {block.line}: the difference fits {text.count(old)} times:\n{old}")
        text = text.replace(old, new)
    path.write_text(text, "utf-8")


def environment(folder: Path) -> dict[str, str]:
    """The environment of commands: this Python's programs first, the folder's own source, nothing of a terminal."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUDGEWELL_")}
    if (folder / "src").is_dir():
        kept["PYTHONPATH"] = str(folder / "src")
    return {**kept, "PATH": path, "COLUMNS": "120", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def prepared(folder: Path, page: Path) -> Path:
    """A folder with what a page may use: the repository's examples, and for pages about extending it the source."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    if page.parent.name == "extend":
        shutil.copytree(ROOT / "src" / "judgewell", folder / "src" / "judgewell")
    return folder


def filled(text: str, differences: list[Difference]) -> str:
    """The page with what was printed in place of what was shown."""
    for found in reversed(differences):
        body = text[found.block.start : found.block.end]
        old = f"{found.command}\n{found.shown}" if found.block.language == "console" else found.shown
        new = f"{found.command}\n{found.printed.rstrip()}" if found.block.language == "console" else found.printed
        body = body.replace(old.rstrip("\n"), new.rstrip("\n"), 1)
        text = text[: found.block.start] + body + text[found.block.end :]
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the code blocks of pages.")
    parser.add_argument("--fill", action="store_true", help="write what was printed in place of what differs")
    parser.add_argument("pages", nargs="+", type=Path)
    asked = parser.parse_args()
    wrong = 0
    for path in asked.pages:
        text = path.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            differences = run_page(text, prepared(Path(folder), path))
        wrong += len(differences)
        if asked.fill:
            path.write_text(filled(text, differences), "utf-8")
        else:
            print(*(f"{path}: {found}" for found in differences), sep="\n")
    return 0 if asked.fill or not wrong else 1


if __name__ == "__main__":
    raise SystemExit(main())
