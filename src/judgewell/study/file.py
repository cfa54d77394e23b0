"""Reading study.toml: every mistake at once, each with its line, the value, the rule and the cure."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from judgewell.errors import InputError, note
from judgewell.study.model import Study
from judgewell.study.section import Section, many, shortened
from judgewell.study.toml_lines import Place, line_of, places

DESIGNS = ("units", "templates", "groups")
MOST_ROUNDS = 5  # of taking out faulty settings

# pydantic's kinds of mistakes in our words; {…} is filled from the mistake's own context.
RULES = {
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "is not one of {expected}",
    "int_type": "is not a whole number",
    "int_from_float": "is not a whole number",
    "int_parsing": "is not a whole number",
    "float_parsing": "is not a number",
    "bool_parsing": "is neither true nor false",
    "float_type": "is not a number",
    "string_type": "is not text in quotes",
    "bool_type": "is neither true nor false",
    "list_type": "is not a list in brackets",
    "dict_type": "is not a table",
    "model_type": "is not a table",
    "model_attributes_type": "is not a table",
    "too_short": "needs at least {min_length}",
    "string_too_short": "needs at least {min_length} characters",
    "string_pattern_mismatch": "may hold letters, digits, dots, dashes and underscores only",
    "finite_number": "is not a finite number",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong (or unwise) in a study: where, what and how to mend it."""

    problem: str
    cure: str | None = None
    file: str | None = None
    line: int | None = None
    information: bool = False  # only says what follows from the settings

    @property
    def error(self) -> InputError:
        return InputError(self.problem, cure=self.cure, file=self.file, line=self.line)

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True)
class Source:
    """A study file as written: its path, its settings, and the line of each."""

    path: Path
    settings: Mapping[str, Any]
    lines: dict[Place, int]

    def problem(self, place: Place, problem: str, cure: str | None = None) -> Problem:
        """A problem at a setting's line."""
        one_line = None if cure is None else " ".join(cure.splitlines())
        return Problem(" ".join(problem.splitlines()), one_line, str(self.path), line_of(place, self.lines))

    def resolved(self, name: str) -> Path:
        """A file named in the study, found from the study's own folder."""
        return self.path.parent / name


def read_source(path: str | Path) -> Source:
    """The study file's settings with their lines; an error names the line that is not TOML."""
    try:
        text = Path(path).read_text("utf-8")
    except IsADirectoryError:
        raise InputError(
            "this is a folder", cure=f"name the study file in it: {Path(path) / 'study.toml'}", file=path
        ) from None
    except FileNotFoundError:
        raise InputError("there is no such file", cure="make one with judgewell new FOLDER", file=path) from None
    except UnicodeDecodeError as problem:
        raise InputError(f"byte {problem.start + 1} is not UTF-8", cure="save the file as UTF-8", file=path) from None
    try:
        return Source(Path(path), tomllib.loads(text), places(text))
    except tomllib.TOMLDecodeError as problem:
        message, _, where = str(problem).partition(" (at line ")
        line = where.split(",")[0]
        raise InputError(
            f"this is not TOML: {message[:1].lower()}{message[1:]}",
            cure="write name = value, with quotation marks around texts"
            if Path(path).suffix == ".toml"
            else "name the study file, such as study.toml",
            file=path,
            line=int(line) if line.isdigit() else None,
        ) from None


def matching(source: Source, pattern: str) -> list[Path]:
    """The file that is called so, or those that match the pattern, from the study's folder."""
    path = source.resolved(pattern)
    return [path] if path.is_file() else sorted(map(Path, glob(str(path), recursive=True)))


def parse(source: Source) -> tuple[Study | None, list[Problem]]:
    """The study, or every mistake in its settings."""
    problems = _whole(source)
    _note_former_names(source)
    try:
        study = Study.model_validate(source.settings)
    except ValidationError as mistakes:
        reported = [_as_problem(dict(mistake), source) for mistake in mistakes.errors()]
        problems = sorted({*reported, *problems}, key=lambda problem: (problem.line or 0, problem.problem))
        return None, problems
    return (None, problems) if problems else (study, [])


def without_mistakes(source: Source) -> Study | None:
    """The study without its faulty settings, so that its files can be checked too; None where it needs them."""
    settings = deepcopy(dict(source.settings))
    for _ in range(MOST_ROUNDS):
        try:
            return Study.model_validate(settings)
        except ValidationError as mistakes:
            faulty = {_place(mistake["loc"], settings) for mistake in mistakes.errors()}
        if not all(_remove(settings, place) for place in sorted(faulty, key=str, reverse=True)):
            return None
    return None


def _remove(settings: dict[str, Any], place: Place) -> bool:
    """Take a setting out, unless it is not there or the study's tables of documents depend on it."""
    here: Any = settings
    try:
        for part in place[:-1]:
            here = here[part]
        if place[0] in ("topics", "documents", "pool"):
            return False
        del here[place[-1]]
    except (IndexError, KeyError, TypeError):
        return False
    return True


def _note_former_names(source: Source) -> None:
    """A note for each setting of the file that has its former name."""
    scales, templates = many(source.settings.get("scale")), source.settings.get("templates")
    tables = [("scale", scale) for scale in scales] if isinstance(scales, list) else []
    for name, table in [*tables, ("templates", templates)]:
        if isinstance(table, dict) and "levels" in table:
            note(f"{name}.levels is the former name of {name}.grades; it works in this version", source.path)


def read_study(path: str | Path) -> Study:
    """The study in a file; with several mistakes, the error shows the first and their number."""
    study, problems = parse(read_source(path))
    if study is None:
        raise first_of(problems, path)
    return study


def first_of(problems: Sequence[Problem], path: str | Path) -> InputError:
    """The first mistake as an error, with the number of the others."""
    first = problems[0]
    more = f" ({len(problems) - 1} more: judgewell check {path})" if len(problems) > 1 else ""
    return InputError(first.problem + more, cure=first.cure, file=first.file, line=first.line)


def _whole(source: Source) -> list[Problem]:
    """Mistakes that concern several sections, found even when single settings are wrong too."""
    given = source.settings
    problems = []
    designs = [name for name in DESIGNS if name in given]
    if not designs:
        problems.append(source.problem((), "the study has no design", "add [units], [templates] or [groups]"))
    if len(designs) > 1:
        problems.append(source.problem((designs[1],), f"[{designs[1]}] beside [{designs[0]}]", "keep one design"))
    if "groups" in given and "scale" in given:
        problems.append(source.problem(("scale",), "pairs have no scale", "leave [scale] out; see groups.questions"))
    if designs and "groups" not in given and not given.get("scale"):
        problems.append(source.problem((designs[0],), "the study has no scale", 'add [scale] with kind = "magnitude"'))
    if "double" in given and "units" not in given:
        problems.append(source.problem(("double",), "[double] without [units]", "judge twice in a design of units"))
    if "goal" in given:
        problems += _goal(source)
    for section in ("known", "templates"):
        own_file = isinstance(given.get(section), dict) and "file" in given[section]
        if section in given and "grades" not in given and not own_file:
            problems.append(source.problem((section,), f"[{section}] needs expert grades", "add [grades] with a file"))
    return problems + _scale_names(source)


def _goal(source: Source) -> list[Problem]:
    """What a study with a goal must not have."""
    given, problems = source.settings, []
    for section in ("templates", "double"):
        if section in given:
            cure = "take [units] or [groups]: a study with a goal chooses its documents while it runs"
            problems.append(source.problem(("goal",), f"[goal] beside [{section}]", cure))
    if isinstance(given.get("scale"), list) and len(given["scale"]) > 1:
        problems.append(source.problem(("scale", 1), f"[goal] with {len(given['scale'])} scales", "keep one scale"))
    return problems


def _scale_names(source: Source) -> list[Problem]:
    scales = source.settings.get("scale")
    tables = [one for one in scales if isinstance(one, dict)] if isinstance(scales, list) else []
    names = [one.get("name") or one.get("kind") for one in tables]
    return [
        source.problem(("scale", number), f"two scales are called {name!r}", "give each a name of its own")
        for number, name in enumerate(names)
        if name in names[:number]
    ]


def _as_problem(mistake: dict[str, Any], source: Source) -> Problem:
    """One of pydantic's mistakes in our words, at its line."""
    place = _place(mistake["loc"], source.settings)
    key = ".".join(str(part + 1) if isinstance(part, int) else part for part in place) or "the study"
    kind, context = mistake["type"], mistake.get("ctx", {})
    model, about = _described(place)
    if kind in ("missing", "union_tag_not_found"):
        missing = f"{key}.kind" if kind == "union_tag_not_found" else key
        return source.problem(place, f"{missing} is missing", about)
    if kind == "union_tag_invalid":
        problem_text = f"{key}.kind {shortened(context['tag'])} is not one of {context['expected_tags']}"
        return source.problem((*place, "kind"), problem_text, None)
    if kind == "extra_forbidden":
        return source.problem(place, f"there is no setting {key}", _instead(str(place[-1]), model))
    if kind == "value_error":
        message = str(context["error"])
        problem, _, cure = message.partition("; ")
        return source.problem(place, f"{key}: {problem}", cure or None)
    quoted = kind in ("float_type", "int_type") and _is_number(mistake["input"])
    instead = f"write {mistake['input']} without quotation marks" if quoted else about and f"what it sets: {about}"
    return source.problem(place, f"{key} {in_our_words(mistake)}", instead)


def _is_number(value: Any) -> bool:
    """Whether a value is a text that holds a number."""
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def in_our_words(mistake: Mapping[str, Any]) -> str:
    """A value that pydantic refused, and the rule it breaks."""
    rule = RULES.get(mistake["type"])
    return f"{shortened(mistake['input'])} {rule.format(**mistake.get('ctx', {})) if rule else mistake['msg']}"


def _place(loc: tuple[str | int, ...], settings: Mapping[str, Any]) -> Place:
    """The mistake's path as the file has it, without names of scale kinds and without a number for a lone table."""
    place: list[str | int] = []
    here: Any = settings
    for part in loc:
        if isinstance(here, Mapping) and (isinstance(part, int) or (part not in here and here.get("kind") == part)):
            continue
        place.append(part)
        if isinstance(here, Mapping):
            here = here.get(str(part))
        else:
            here = here[part] if isinstance(here, list) and isinstance(part, int) and part < len(here) else None
    return tuple(place)


def _described(place: Place) -> tuple[type[BaseModel], str | None]:
    """The section a setting belongs to, and what the setting is for."""
    model: type[BaseModel] = Study
    about = None
    for part in place:
        if isinstance(part, int):
            continue
        field = model.model_fields.get(str(part))
        if field is None:
            return model, None
        about = field.description
        inner = _section_in(field.annotation)
        model = inner or model
    return model, about


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """The section inside an annotation such as `list[Section]` or `Section | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((section for part in get_args(annotation) if (section := _section_in(part))), None)


def _instead(name: str, model: type[BaseModel]) -> str:
    near = difflib.get_close_matches(name, model.model_fields, n=1)
    return f"did you mean {near[0]}?" if near else f"the settings here are {', '.join(model.model_fields)}"
