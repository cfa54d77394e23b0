"""What is installed: the core analyses by itself, and a command whose part is missing says how to get it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from judgewell.cli import COMMANDS
from judgewell.extras import EXTRAS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INDIRECT = {"cryptography", "dask", "markupsafe", "starlette"}  # imported by us, and required by what an extra names
BY_THE_USER = {"ir_datasets", "pandas"}  # taken where they are, with a line of their own where they are not

# A command of each kind on files of `study_files`, and the extra it needs; "" where the core is enough.
TRIED = {
    "new other": "",
    "check s/study.toml": "server",
    "design s/study.toml -o units.csv": "server",
    "simulate s/study.toml -o data": "server",
    "serve s/study.toml": "server",
    "invite s/study.toml ada": "server",
    "judge s/study.toml --model m --endpoint http://127.0.0.1:1/v1 --yes": "machine",
    "judge s/study.toml --model m --endpoint http://127.0.0.1:9/v1": "machine",
    "status s/study.toml": "server",
    "export s/study.toml -o exported": "server",
    "bonus s/study.toml -o bonus.csv": "server",
    "account s/study.toml list": "server",
    "act s/study.toml pause": "server",
    "audit s/study.toml": "server",
    "forget s/study.toml ada": "server",
    "backup s/study.toml b": "server",
    "restore s/study.toml b": "server",
    "scale judgments.csv --method mean -o gains.csv": "",
    "agree judgments.csv": "",
    "evaluate tiny.qrels keywords.run.zst -m nDCG@5": "",
    "compare --runs expanded.run reranked.run --gains tiny.qrels -m nDCG@5": "",
    "replay s/study.toml --from judgments.csv": "server",
    "report --judgments judgments.csv -o report.html": "report",
    "reproduce sigir15 -o sigir15": "report",
    "demo -o demo": "server,report",
    "completion bash": "",
}

# Runs every command in one process, without the packages of any extra, and prints exit codes and complaints.
RUN_ALL = """
import contextlib, io, json, sys
missing, commands = sys.argv[1].split(), json.loads(sys.argv[2])
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from judgewell.cli import main
answers = {}
for command in commands:
    sys.argv = ["judgewell", *command.split()]
    with contextlib.redirect_stderr(io.StringIO()) as complaint, contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as left:
            answers[command] = (left.code or 0, complaint.getvalue())
print(json.dumps(answers))
"""


@pytest.fixture
def study_files(tmp_path: Path) -> Path:
    """A folder with a study, judgments, runs and qrels."""
    from judgewell.study.new import new_study

    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

    new_study(tmp_path / "s", "magnitude")
    for path in (ROOT / "examples").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "keywords.run.zst").write_bytes(zstd.compress((tmp_path / "keywords.run").read_bytes()))
    rows = [
        f"{topic},d{doc},a{person},{(doc * 7 + person * 3) % 50 + 1}"
        for topic in (1, 2)
        for doc in range(6)
        for person in range(4)
    ]
    (tmp_path / "judgments.csv").write_text("\n".join(["topic,doc,assessor,value", *rows, ""]))
    return tmp_path


def check_answers(answers: dict[str, list[int | str]]) -> None:
    """Commands of the core succeed; every other says in one line what to install."""
    for command, (code, complaint) in answers.items():
        extra = TRIED[command]
        assert code == (2 if extra else 0), f"{command}: {complaint}"
        if extra:
            name = command.split()[0]
            missing = rf"judgewell: {name} needs the package \w+, which is not installed"
            line = rf"{missing}; pip install 'judgewell\[{extra}\]'\n"
            assert re.fullmatch(line, str(complaint)), f"{command}: {complaint}"


def test_every_command_is_tried() -> None:
    assert {command.split()[0] for command in TRIED} == set(COMMANDS)


def test_commands_say_what_to_install(study_files: Path) -> None:
    missing = " ".join(package for packages in EXTRAS.values() for package in packages if package != "markdown_it")
    command = [sys.executable, "-c", RUN_ALL, missing, json.dumps(list(TRIED))]
    done = subprocess.run(command, cwd=study_files, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check_answers(json.loads(done.stdout))


def test_missing_postgres_driver_names_its_extra(study_files: Path) -> None:
    command = "status s/study.toml --database postgresql://judge@127.0.0.1:1/none"
    run = [sys.executable, "-c", RUN_ALL, "psycopg", json.dumps([command])]
    done = subprocess.run(run, cwd=study_files, capture_output=True, text=True, check=True)
    assert "pip install 'judgewell[postgres]'" in json.loads(done.stdout)[command][1]


def test_python_api_says_what_to_install() -> None:
    code = "import sys; sys.modules['altair'] = None; import judgewell; judgewell.report"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith("pip install 'judgewell[report]'\n"), done.stderr


def test_a_failed_download_of_ir_datasets_is_one_line(study_files: Path) -> None:
    nowhere = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "", "no_proxy": ""}
    settings = {"IR_DATASETS_HOME": str(study_files / "irds"), "IR_DATASETS_DL_TRIES": "1"}
    lower = {name.lower(): value for name, value in nowhere.items()}
    done = subprocess.run(
        [sys.executable, "-m", "judgewell", "evaluate", "irds:vaswani", "keywords.run"],
        cwd=study_files,
        env={**os.environ, **nowhere, **lower, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("judgewell: ir_datasets could not get irds:vaswani: ")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def new_environment(folder: Path, what: str, versions: Path) -> Path:
    """The interpreter of a new environment in which this is installed, in these versions."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install", "-c", versions, what]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return python


@pytest.mark.long
def test_core_alone_analyses_and_names_the_rest(wheel: Path, study_files: Path, tmp_path_factory: Any) -> None:
    python = new_environment(tmp_path_factory.mktemp("core") / "new", str(wheel), ROOT / "constraints.txt")
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-c", RUN_ALL, "", json.dumps(list(TRIED))]
    done = subprocess.run(command, cwd=study_files, env=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check_answers(json.loads(done.stdout))


# What the lowest versions have to do, in this order.
WITH_LOWEST = (
    "check s/study.toml",
    "simulate s/study.toml --assessors 30 -o data",
    "scale data/judgments.csv --method magnitude -o gains.csv",
    "agree data/judgments.csv",
    "evaluate tiny.qrels keywords.run.zst expanded.run -m nDCG@5 -o scores.parquet",
    "compare scores.parquet -m nDCG@5",
    "report --judgments data/judgments.csv -o report.html",
    "reproduce sigir15 -o sigir15 --item table_1",
)


@pytest.mark.long
def test_lowest_versions_that_are_allowed_work(wheel: Path, study_files: Path, tmp_path_factory: Any) -> None:
    needs = {*PROJECT["dependencies"], *(need for one in EXTRAS for need in PROJECT["optional-dependencies"][one])}
    pins = [re.sub(r"\[.*?\]", "", need).replace(">=", "==") for need in needs if not need.startswith("judgewell")]
    versions = study_files / "lowest.txt"
    versions.write_text("\n".join(sorted(pins)))
    python = new_environment(tmp_path_factory.mktemp("lowest") / "new", f"{wheel}[all]", versions)
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in WITH_LOWEST:
        run = [python, "-m", "judgewell", *(word.replace("_", " ") for word in command.split())]
        done = subprocess.run(run, cwd=study_files, env=here, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    serve = [python, "-m", "judgewell", "serve", "s/study.toml", "--port", "0"]
    with subprocess.Popen(serve, cwd=study_files, env=here, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            address = re.findall(r"http://[\d.:]+", server.stdout.readline())[0]
            for path in ("/healthz", "/owner/sign-in"):
                with urlopen(address + path) as answer:
                    assert answer.status == 200
        finally:
            server.terminate()


def distribution(need: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", need)[0]).lower()


def of_extra(extra: str) -> set[str]:
    """The distributions that an extra requires, those of other extras within it included."""
    needs = set()
    for need in PROJECT["optional-dependencies"][extra]:
        inner = re.fullmatch(r"judgewell\[([\w,]+)\]", need)
        needs |= set().union(*map(of_extra, inner[1].split(","))) if inner else {distribution(need)}
    return needs


def imported_as() -> dict[str, set[str]]:
    """Distributions by the name under which they are imported."""
    return {name: {distribution(one) for one in homes} for name, homes in packages_distributions().items()}


def test_table_of_extras_is_that_of_pyproject() -> None:
    homes = imported_as()
    for extra, packages in EXTRAS.items():
        for package in set(packages) - INDIRECT:
            assert homes[package] & of_extra(extra), f"{package} is not brought by {extra}"
    named = {home for packages in EXTRAS.values() for package in packages for home in homes[package]}
    assert of_extra("all") - named == set()


def test_every_package_that_is_imported_is_required() -> None:
    core = {distribution(need) for need in PROJECT["dependencies"]}
    known = {name for name, homes in imported_as().items() if homes & core} | BY_THE_USER
    known |= {package for packages in EXTRAS.values() for package in packages}
    assert third_party_imports() - known == set()


def third_party_imports() -> set[str]:
    names = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - sys.stdlib_module_names - {"judgewell", "compression", "typing_extensions"}
