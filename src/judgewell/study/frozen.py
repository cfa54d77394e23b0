"""A study is frozen once the first judgment is in: what is asked may not change under the answers.

Kept are the settings as written and the hashes of the files they name. Comments and layout may change; a setting
written out that was a default before is no change. The budget, whom the server tells what happened and `[machine]`
ask people nothing, so they may change at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgewell.formats.provenance import digest
from judgewell.study.file import Source, matching, parse, read_source
from judgewell.study.model import Study
from judgewell.study.toml_lines import flat

FREE = ("pay.budget", "owner.webhook", "owner.webhook_secret")  # settings that are never frozen
FREE_TABLE = "machine."  # every machine keeps the settings it was asked with


def freeze(path: str | Path) -> dict[str, Any]:
    """What must stay as it is: `settings`, and `files` with the SHA-256 of each; plain data, to be stored as JSON."""
    source = read_source(path)
    study, problems = parse(source)
    if study is None:
        raise problems[0].error
    return {"settings": dict(source.settings), "files": _digests(study, source)}


def study_hash(frozen: Mapping[str, Any]) -> str:
    """One number for a frozen study; equal for studies that ask the same."""
    content = {"settings": _settings(frozen), "files": frozen["files"]}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs between two frozen studies, one line for each setting and file."""
    before, after = _settings(old), _settings(new)
    listed = [
        f"{key}: {_shown(before.get(key))} → {_shown(after.get(key))}"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]
    files_before, files_after = old["files"], new["files"]
    for name in dict.fromkeys([*files_before, *files_after]):
        if files_before.get(name) == files_after.get(name):
            continue
        verb = (
            "is new" if name not in files_before else "is no longer used" if name not in files_after else "has changed"
        )
        listed.append(f"the file {name} {verb}")
    return listed


def _settings(frozen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults, by dotted key."""
    settings = flat(Study.model_validate(frozen["settings"]).model_dump(mode="json"))
    return {key: value for key, value in settings.items() if key not in FREE and not key.startswith(FREE_TABLE)}


def _digests(study: Study, source: Source) -> dict[str, str]:
    """The hash of every file that the study names, by its path in the study's folder."""
    digests = {}
    for path in files_of(study, source):
        name = path.relative_to(source.path.parent) if path.is_relative_to(source.path.parent) else path
        digests[name.as_posix()] = digest(path)
    return digests


def _shown(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def files_of(study: Study, source: Source) -> list[Path]:
    """Every file that a study names; a folder means its files."""
    names = [study.topics.file, study.documents.file, study.pool.file, study.study.texts]
    names += [study.grades.file if study.grades else None, study.known.file if study.known else None]
    files: list[Path] = []
    for name in names:
        if name is not None:
            path = source.resolved(name)
            files += sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for pattern in [*study.pool.runs, *(study.goal.systems if study.goal else [])]:
        files += matching(source, pattern)
    return list(dict.fromkeys(files))
