"""What makes judgewell a project: the import rules cover it, commands load little, and what is built installs."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from waiting import HANG

import judgewell

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "judgewell"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEAVY = ("scipy", "pandas", "matplotlib", "sklearn", "fastapi", "sqlalchemy", "altair")


def run(command: Sequence[str | Path], **environment: str) -> str:
    """What the command prints; its complaint becomes the test's when it fails."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def parts() -> set[str]:
    """The modules and packages directly under judgewell."""
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    return modules | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}


def named_in(contract: dict[str, list[str]]) -> set[str]:
    return {name for layer in contract["layers"] for name in re.findall(r"\w+", layer)}


def test_every_part_is_named_by_the_import_rules() -> None:
    climbing = SETTINGS["tool"]["importlinter"]["contracts"][0]
    assert climbing["exhaustive"]
    assert parts() - named_in(climbing) == set()


def test_import_rules_hold() -> None:
    run([Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"])


def test_a_stage_that_imports_another_is_refused(tmp_path: Path) -> None:
    """The rules can fail: a copy of the layout with one wrong import is caught."""
    package = tmp_path / "judgewell"
    for path in PACKAGE.rglob("*.py"):
        copy = package / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
    config = tmp_path / "pyproject.toml"
    alerts = 'unmatched_ignore_imports_alerting = "none"\nignore_imports ='  # the copies import nothing
    config.write_text((ROOT / "pyproject.toml").read_text().replace("ignore_imports =", alerts))
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache", "--config", config]
    run(command, PYTHONPATH=str(tmp_path))
    (package / "evaluation" / "__init__.py").write_text("import judgewell.study\n")
    with pytest.raises(AssertionError, match=r"judgewell\.evaluation -> judgewell\.study"):
        run(command, PYTHONPATH=str(tmp_path))
    (package / "evaluation" / "__init__.py").write_text("")
    (package / "server" / "owner" / "pages.py").write_text("import judgewell.server.store.schema\n")
    with pytest.raises(AssertionError, match=r"judgewell\.server\.owner\.pages -> judgewell\.server\.store\.schema"):
        run(command, PYTHONPATH=str(tmp_path))


MAY_KNOW_TABLES = ("queries", "session", "platforms", "store")  # packages of server


def test_the_rule_on_the_database_tables_covers_every_part() -> None:
    """All of the server but what may know them, and every layer above it; those below cannot import the server."""
    layers, rule = SETTINGS["tool"]["importlinter"]["contracts"]
    above = named_in({"layers": layers["layers"][: layers["layers"].index("(server)")]}) - {"__main__"}
    packages = {path.parent.name for path in (PACKAGE / "server").glob("*/__init__.py")}
    server = {path.stem for path in (PACKAGE / "server").glob("*.py")} | packages
    expected = {f"judgewell.server.{name}" for name in server - {"__init__", *MAY_KNOW_TABLES}}
    expected |= {f"judgewell.{name}" for name in above}
    assert expected - set(rule["source_modules"]) == set()


def modules_with(pattern: str) -> set[str]:
    """The modules whose source matches, by their path in the package."""
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    return {name for name, text in sources.items() if re.search(pattern, text, re.MULTILINE)}


def test_only_the_store_opens_a_database_and_ends_a_transaction() -> None:
    found = modules_with(
        r"\bcreate_engine\(|\bconnection\.(begin|commit|rollback)\(|import_module\(.alembic|from alembic"
    )
    assert found
    assert {name for name in found if not name.startswith("server/store/")} == set()


def test_only_executors_start_processes_for_work_that_is_split() -> None:
    """The server forks copies of itself, which is no such work."""
    found = modules_with(r"\bProcessPoolExecutor\b|^ *(import|from) (multiprocessing|distributed|dask)\b|get_context\(")
    assert "executors/local.py" in found
    assert {name for name in found if not name.startswith("executors/")} <= {"server/serve.py"}


def test_tests_mirror_the_source() -> None:
    """A folder of tests for each package, and names of test files that are unique, as CONTRIBUTING.md says."""
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py"))}
    assert folders == packages | {"docs"}
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert {name for name in names if names.count(name) > 1} == set()


def test_the_architecture_has_a_line_for_each_part() -> None:
    rows = re.findall(r"^\| (`.+?) \|", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE)
    named = {name.removesuffix(".py") for row in rows for name in re.findall(r"`([\w/.]+?)/?`", row)}
    packages = {f"server/{path.parent.name}" for path in (PACKAGE / "server").glob("*/__init__.py")}
    assert (parts() - {"__main__", "_version", "server"} | packages) - named == set()
    assert {name for name in named if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").is_file()} == set()


def test_notes_are_emitted_in_one_place() -> None:
    emitting = [path.name for path in PACKAGE.rglob("*.py") if "warnings.warn(" in path.read_text("utf-8")]
    assert emitting == ["errors.py"]


def test_the_command_line_loads_nothing_heavy() -> None:
    loaded = run([sys.executable, "-c", "import sys, judgewell.cli; print(*sys.modules)"]).split()
    assert {name for name in HEAVY if name in loaded} == set()


def test_every_requirement_is_pinned_and_no_pin_has_an_address() -> None:
    pins = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []
    project = SETTINGS["project"]
    wanted = [
        *project["dependencies"],
        *(need for extra in project["optional-dependencies"].values() for need in extra),
    ]
    names = {re.split(r"[^\w.-]", need)[0] for need in wanted} - {"judgewell"}  # its own extras
    assert {plain(name) for name in names} - {plain(pin.split("==")[0]) for pin in pins} == set()


def plain(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_make_alone_lists_the_targets() -> None:
    listed = run(["make", "-C", ROOT, "--no-print-directory"])
    targets = ["demo", "test", "test-long", "check", "bench", "fuzz", "docs", "clean"]
    assert re.findall(r"^make ([\w-]+) ", listed, re.MULTILINE) == targets


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT])
    return folder


def wheel_of(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    names = zipfile.ZipFile(wheel_of(built)).namelist()
    info = f"judgewell-{judgewell.__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"judgewell", info}
    assert "judgewell/py.typed" in names
    assert f"{info}/licenses/LICENSE" in names
    expected = {str(path.relative_to(PACKAGE.parent)) for path in PACKAGE.rglob("*") if path.is_file()}
    assert {name for name in expected if "__pycache__" not in name} - set(names) == set()


@pytest.mark.long
def test_without_a_compiler_the_wheel_is_pure_unless_the_kernel_is_required(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, ROOT]
    run(command, CC="/nowhere/cc")
    assert "py3-none-any" in next(tmp_path.glob("*.whl")).name
    with pytest.raises(AssertionError, match="/nowhere/cc"):
        run(command, CC="/nowhere/cc", JUDGEWELL_KERNEL="required")


@pytest.mark.slow
def test_source_archive_holds_tests_and_no_data(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "src/judgewell/py.typed", "tests/test_project.py"} <= names
    assert {"mkdocs.yml", "docs/index.md", "scripts/docs_hooks.py"} <= names
    assert [name for name in names if name.startswith((".venv", "bench"))] == []


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel; the dependencies are lent by the one the tests run in, judgewell is not."""
    new = tmp_path_factory.mktemp("installed") / "new"
    run([sys.executable, "-m", "venv", new])
    python = new / "bin" / "python"
    run([python, "-m", "pip", "--disable-pip-version-check", "-qq", "install", "--no-deps", wheel_of(built)])
    lend_dependencies(python)
    return new


@pytest.mark.long
def test_wheel_installs_and_runs(installed: Path) -> None:
    python = installed / "bin" / "python"
    where = run([python, "-c", "import judgewell; print(judgewell.__file__)"])
    assert Path(where.strip()).is_relative_to(installed)
    assert judgewell.__version__ in run([python, "-m", "judgewell", "--version"])
    assert "evaluate" in run([installed / "bin" / "judgewell", "--help"])


@pytest.mark.long
def test_an_assessor_is_served_by_the_installed_wheel(installed: Path, tmp_path: Path) -> None:
    """From a new study to the closing page, with the installed templates and static files and nothing of the source."""
    command = installed / "bin" / "judgewell"
    run([command, "new", tmp_path / "study", "--from", "ordinal"])
    study = tmp_path / "study" / "study.toml"
    study.write_text(study.read_text().replace("least_seconds = 5", "least_seconds = 0"))
    server = subprocess.Popen(
        [str(part) for part in (command, "serve", study, "--port", "0")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://[\d.:]+", server.stdout.readline())
        assert found
        invited = run([command, "invite", study, "--count", "1", "--address", found[0]])
        link = re.search(r"http://\S+", invited)
        assert link, invited
        kinds = walk_to_the_end(link[0], found[0])
    finally:
        server.terminate()
        server.wait(HANG)
    assert kinds[:4] == ["consent", "instructions", "topic", "comprehension"]
    assert kinds[-2:] == ["questionnaire", "done"]
    assert kinds.count("document") == 6


def walk_to_the_end(link: str, address: str) -> list[str]:
    """The kinds of page of an assessor who answers as the marked answers of the example study are."""
    import httpx

    with httpx.Client(base_url=address, follow_redirects=True, timeout=HANG) as visitor:
        response = visitor.get(link)
        for file in re.findall(r'(?:href|src)="(/static/[^"]+)"', response.text):
            assert visitor.get(file).status_code == 200, file
        kinds = [response.headers["x-page"]]
        while kinds[-1] != "done" and len(kinds) < 40:
            step = re.search(r'name="step" value="([^"]+)"', response.text)
            assert step, response.text
            form = {"step": step[1], "difficulty": "2", "action": "agree" if kinds[-1] == "consent" else "next"}
            form |= example_answer(kinds[-1], response.text)
            response = visitor.post("/work", data=form)
            assert response.status_code == 200, response.text
            kinds.append(response.headers["x-page"])
    return kinds


def example_answer(kind: str, text: str) -> dict[str, str]:
    """The right choice of a question; for a document the grade that the study's files give it."""
    folder = PACKAGE / "study" / "starter"
    if kind == "comprehension":
        asked = tomllib.loads((folder / "question.toml").read_text())["checks"]["question"]
        right = next(one for one in asked if all(answer in text for answer in one["answers"]))
        return {"choice": str(right["right"])}
    if kind != "document":
        return {}
    grades = [line.split() for line in (folder / "grades.qrels").read_text().splitlines()]
    documents = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    here = next(one for one in documents if html.escape(one["text"].split("\n")[0][:60]) in text)
    grade = next(int(grade) for _, _, doc, grade in grades if doc == here["doc"])
    return {"value": "NMRH"[grade], "comment": "as it says there"}


def lend_dependencies(python: Path) -> None:
    """Let the new environment see our site-packages behind its own; its .pth files are not read there."""
    ours = run([sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    theirs = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    (Path(theirs) / "lent.pth").write_text(ours + "\n")


def test_a_mistyped_command_is_told_with_what_was_meant():
    done = subprocess.run([sys.executable, "-m", "judgewell", "evalute"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no command 'evalute'; did you mean evaluate?" in done.stderr


CLOCKS = re.compile(r"\b(sleep|monotonic|perf_counter|wait_for_timeout)\(|(timeout=|\.(wait|join|result)\()\d")


def test_no_test_waits_for_a_clock() -> None:
    """Tests wait for states; only tests/waiting.py has a clock, which ends what would hang."""
    waits = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path.name != "waiting.py"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if CLOCKS.search(line)
    ]
    assert waits == []
