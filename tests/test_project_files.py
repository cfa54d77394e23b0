"""What a project has beside its code: workflows, issue forms, a citation, one version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import judgewell

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
YAML = sorted([*ROOT.glob(".github/**/*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"])


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_can_be_read(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text("utf-8")), dict)


def test_version_is_written_once_and_repeated_where_readers_look() -> None:
    assert PROJECT["dynamic"] == ["version"]
    assert read("CITATION.cff")["version"] == judgewell.__version__
    released = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert released[0] in ("Unreleased", judgewell.__version__)
    assert next(name for name in released if name != "Unreleased") == judgewell.__version__
    assert released[-1] == "0.1.0"


def test_addresses_name_one_repository() -> None:
    home = PROJECT["urls"]["Repository"]
    assert read("CITATION.cff")["repository-code"] == home
    texts = [path.read_text("utf-8") for path in (*YAML, ROOT / "SECURITY.md", ROOT / "pyproject.toml")]
    named = {address for text in texts for address in re.findall(r"https://github\.com/[\w-]+/[\w-]+", text)}
    assert named == {home}


def test_every_python_that_is_claimed_is_tested() -> None:
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    jobs = read(".github/workflows/test.yml")["jobs"]
    assert jobs["suite"]["strategy"]["matrix"]["python"] == claimed
    assert {name.split("-")[0] for name in jobs["systems"]["strategy"]["matrix"]["system"]} == {
        "ubuntu",
        "macos",
        "windows",
    }


def test_workflows_run_targets_and_tests_that_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for name in ("test", "docs", "wheels"):
        for job in read(f".github/workflows/{name}.yml")["jobs"].values():
            commands = " ".join(step.get("run", "") for step in job["steps"])
            assert set(re.findall(r"\bmake (?:PYTHON=\S+ )?([a-z][\w-]*)", commands)) <= targets
            assert [path for path in re.findall(r"\btests/\S+", commands) if not (ROOT / path).exists()] == []


def test_citation_has_authors_titles_and_years() -> None:
    cited = read("CITATION.cff")
    assert cited["license"] == PROJECT["license"]
    assert {2014, 2015, 2018} == {one["year"] for one in cited["references"]}
    assert all(one["authors"] and one["title"] for one in cited["references"])
