"""The pages of docs/reference, made from the code: commands, measures, methods, study file, tables, Python, API.

    python scripts/docs_generated.py

writes them; the tests compare them with the code. Each function gives pages as a mapping from their place in docs/ to
their text. Examples are run when a page is made.
"""

from __future__ import annotations

import inspect
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
from docs_blocks import ROOT, evaluated
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import judgewell
from judgewell import tables
from judgewell.cli import COMMANDS, app
from judgewell.evaluation.measures import Measure, all_measures
from judgewell.scaling.method import Method, form, spelled
from judgewell.scaling.methods import FAMILIES, meaning, methods
from judgewell.study.model import Study

PARTS = ("Formula", "Use", "Traps")  # of a docstring, each behind its name

RANKING = (
    "import numpy as np",
    "from judgewell import parse_measure",
    "gains = np.array([0.5, np.nan, 1.0, 0.0, 0.25])  # as ranked; the second document is unjudged",
    "ideal = np.array([1.0, 1.0, 0.5, 0.25, 0.0])     # all judged gains of the topic, best first",
)
BY_INTENT = (
    "import numpy as np",
    "from judgewell import parse_measure",
    "gains = np.array([[1, 0, 0, 1, 0], [0, 0, 1, 0, 0]])  # two intents; the first document serves the first one",
    "ideal = np.array([[1, 1, 0, 0], [0, 1, 1, 0]])         # all judged documents, by id descending",
)
ON_THE_SAMPLE = (
    "import polars as pl",
    "from judgewell import evaluate, sample, summarise",
    'gains = sample.levels().with_columns(pl.col("gain") / 3)  # the sample\'s grades 0 to 3 as 0, 1/3, 2/3, 1',
    'runs = sample.runs().filter(pl.col("system").is_in(["latent", "bm25", "random"]))',
)

MAGNITUDES = """judgments = pl.DataFrame({
    "topic": ["1"] * 12,
    "doc": ["a", "b", "c", "d"] * 3,
    "assessor": ["Ada"] * 4 + ["Ben"] * 4 + ["Cleo"] * 4,
    "unit": ["u1"] * 4 + ["u2"] * 4 + ["u3"] * 4,
    "value": [100., 60., 20., 10.,  8., 5., 3., 1.,  50., 20., 25., 5.],
    "kind": ["ratio"] * 12,
    "known": ["H", None, None, "N"] * 3,
    "label": [3, 2, 1, 0] * 3,
})"""
GRADES = """judgments = pl.DataFrame({
    "topic": ["1"] * 12,
    "doc": ["a", "b", "c", "d"] * 3,
    "assessor": ["Ada"] * 4 + ["Ben"] * 4 + ["Cleo"] * 4,
    "value": [3., 2., 1., 0.,  3., 1., 1., 0.,  2., 2., 0., 0.],
    "kind": ["ordinal"] * 12,
})"""
PAIRS = """pairs = pl.DataFrame({
    "topic": ["1"] * 6,
    "left":  ["a", "b", "a", "b", "c", "a"],
    "right": ["b", "c", "c", "a", "b", "c"],
    "assessor": ["Ada"] * 3 + ["Ben"] * 3,
    "preferred": ["left", "left", "left", "left", "right", "left"],
    "left_relevant":  [True, True, True, True, False, True],
    "right_relevant": [True, False, False, True, True, False],
    "left_score":  [60., 40., 50., 30.,  0., 80.],
    "right_score": [30., 10.,  0., 25., 20., 10.],
})"""
SHOWN_AS = {"predicted": "predicted(threshold=2)"}
EXAMPLES = {"Magnitudes": MAGNITUDES, "Pairs": PAIRS}  # the other families take grades


def all_pages() -> dict[str, str]:
    """Every generated page by its place in docs/."""
    return quick_pages() | measure_pages() | method_pages() | server_page()


def quick_pages() -> dict[str, str]:
    """The pages that show no computed example."""
    return command_pages() | study_page() | tables_page() | python_page()


def parts_of(thing: type) -> dict[str, str]:
    """A docstring by its parts: `about`, the first paragraph, `more`, and what follows Formula:, Use: and Traps:."""
    text = inspect.cleandoc(thing.__doc__ or "")
    parts = {"about": "", "more": ""}
    for number, paragraph in enumerate(re.split(rf"\n\n|\n(?=(?:{'|'.join(PARTS)}): )", text)):
        named = re.match(rf"({'|'.join(PARTS)}): ", paragraph)
        joined = " ".join(paragraph.split())
        if named:
            parts[named[1]] = joined[named.end() :]
        else:
            parts["about" if number == 0 else "more"] += ("\n\n" if number > 1 else "") + joined
    return parts


def session(lines: Iterable[str], shown: Sequence[str], names: dict[str, Any]) -> str:
    """A Python session as a page shows it: the lines run in silence, then the shown ones with what they print."""
    out = ["```python"]
    for source in [*lines, *shown]:
        first, *rest = source.split("\n")
        out += [f">>> {first}", *(f"... {line}" for line in rest)]
        printed = evaluated(source + ("\n" if rest else ""), names).rstrip("\n")
        if "Error" in printed.split("\n")[0]:
            raise RuntimeError(f"{source}: {printed}")
        out += [printed] if printed else []
    return "\n".join([*out, "```"])


def page(parts: Iterable[str]) -> str:
    """A page of its parts, a blank line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return re.sub(r"<(\w+)>", r"&lt;\1&gt;", "\n".join(f"| {' | '.join(line)} |" for line in lines))


# Commands


def command_pages() -> dict[str, str]:
    """A page for each command, from its own help, and one that lists them."""
    group = click.Context(app, info_name="judgewell", **app.context_settings)
    pages, rows = {}, []
    for name in COMMANDS:
        command = app.get_command(group, name)
        assert command is not None
        context = click.Context(command, group, info_name=name)
        text = [f"# judgewell {name}", *command_text(command, context, 2)]
        for inner_name, inner in getattr(command, "commands", {}).items():
            text += [f"## {inner_name}", *command_text(inner, click.Context(inner, context, info_name=inner_name), 3)]
        pages[f"reference/commands/{name}.md"] = page(text)
        rows.append((f"[`judgewell {name}`]({name}.md)", help_parts(command)[0][0]))
    pages["reference/commands/index.md"] = (
        "# Commands\n\nIn the order in which a study uses them. `judgewell COMMAND --help` prints the same.\n\n"
        + table(("command", "what it does"), rows)
        + "\n\nThe exit code is 0 after success, 2 if the input is wrong, 1 if the work could not be done for another "
        "reason, and 130 if you stopped it. `python -m judgewell` is the same as `judgewell`.\n"
    )
    return pages


def command_text(command: click.Command, context: click.Context, level: int) -> list[str]:
    """What a command does, how it is called, examples and options, under headings of this level."""
    prose, examples = help_parts(command)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    mark = "#" * level
    text = [*prose, f"{mark} Usage", f"```text\n{usage}\n```"]
    if examples:
        text += [f"{mark} Examples", "<!-- not run: the tests read them by the command's own rules -->"]
        text.append("```console\n" + "\n".join(f"$ {line}" for line in examples) + "\n```")
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    if options:
        rows = [option_row(option, context) for option in options]
        text += [f"{mark} Options", table(("option", "what it does"), rows)]
    return text


def help_parts(command: click.Command) -> tuple[list[str], list[str]]:
    """The paragraphs of a command's help, and the examples in it."""
    prose, examples = [], []
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        lines = [line.strip() for line in paragraph.replace("\b", "").strip().splitlines()]
        if len(lines) > 1 and lines[1].startswith("judgewell "):
            examples += lines[1:]
        elif "\b" in paragraph:
            prose += [lines[0], "```text\n" + "\n".join(lines[1:]) + "\n```"]
        else:
            prose.append(with_code(" ".join(lines)))
    return prose, examples


def with_code(text: str) -> str:
    """Options named in prose as code, so that no line breaks inside them; what is code already stays."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", part) for part in parts[::2]]
    return "`".join(parts)


def option_row(option: click.Option, context: click.Context) -> tuple[str, str]:
    record = option.get_help_record(context)
    if record is None:
        return ", ".join(f"`{name}`" for name in option.opts), option.help or ""
    names, about = record
    choices = ""
    if isinstance(option.type, click.Choice):
        names = names.rsplit(" [", 1)[0]
        choices = f" One of {', '.join(f'`{choice}`' for choice in option.type.choices)}."
    about, _, default = about.removesuffix("]").partition("  [")
    said = with_code(about) + choices + (f" *{default}*" if default else "")
    return ", ".join(f"`{name}`" for name in names.split(", ")), said


# Measures


def measure_pages() -> dict[str, str]:
    """A page for each measure, from its class, and one that lists them."""
    pages, rows = {}, []
    for name, measure in all_measures().items():
        file = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        pages[f"reference/measures/{file}.md"] = measure_page(measure)
        behind = "@k" if measure.needs_cutoff else "@recall" if measure.at == "recall" else ""
        rows.append((f"[{name}{behind}]({file}.md)", parts_of(measure)["about"]))
    intro = (
        "# Measures\n\nA measure is written as `name(parameters)@cutoff`: `nDCG@10`, `RBP(p=0.8)@50`, `AP(rel=0.5)`. "
        "Capitals matter only where two measures differ by nothing else, and trec_eval's names "
        "(`ndcg_cut_10`, `map`) are read too. g_i is the gain at rank i; an unjudged document is unknown, not 0, and "
        "each page says what that means for its measure. [How to add one](../../extend/measure.md).\n\n"
    )
    pages["reference/measures/index.md"] = intro + table(("measure", "what it is"), rows) + "\n"
    return pages


def example_of(measure: type[Measure], cutoff: int) -> str:
    """The measure as the examples ask for it."""
    inside = f"({measure.in_example})" if measure.in_example else ""
    behind = f"@{cutoff}" if measure.takes_cutoff else "@0.5" if measure.at == "recall" else ""
    return f"{measure.name}{inside}{behind}"


def measure_page(measure: type[Measure]) -> str:
    text: list[str] = []
    if parameters := measure.parameters():
        rows = [(f"`{field.name}`", f"`{field.default}`", field.metadata["about"]) for field in parameters]
        text += ["## Parameters", table(("parameter", "default", "what it says"), rows)]
    text += ["## Source", measure.source + ".", "## Other names", other_names(measure)]
    residual = f"ask for `{example_of(measure, 10)}.residual`." if measure.has_residual else ""
    linked = residual and f"It has a [residual](../../guide/uncertainty.md#unjudged-documents): {residual}"
    return described(measure, [*text, "## Example", measure_example(measure)], linked)


def described(thing: type[Measure] | type[Method], sections: Sequence[str], behind: str = "") -> str:
    """The page of a measure or method: what its docstring says around the sections of its own."""
    parts = parts_of(thing)
    before = [f"# {thing.name}", parts["about"], parts["more"], "## What it is for", parts["Use"]]
    return page([*before, "## Formula", parts["Formula"], *sections, "## Traps", parts["Traps"], behind])


def other_names(measure: type[Measure]) -> str:
    trec = [name + ("_10" if name.endswith("_cut") or measure.needs_cutoff else "") for name in measure.trec_names]
    trec = [name.replace("recall_10", "recall_0.10") if measure.at == "recall" else name for name in trec]
    named = {"in judgewell": [*measure.other_names, *measure.shorthands], "in trec_eval": trec}
    text = "; ".join(f"{who}: {', '.join(f'`{name}`' for name in names)}" for who, names in named.items() if names)
    return f"{text[:1].upper()}{text[1:]}." if text else "None."


def measure_example(measure: type[Measure]) -> str:
    names: dict[str, Any] = {}
    small, large = example_of(measure, 5), example_of(measure, 10)
    if measure.by_intent:
        shown = f'print(parse_measure("{small}")(gains, ideal).round(4))'
        return f"One ranking:\n\n{session(BY_INTENT, [shown], names)}"
    lengths = ", lengths=5" if measure.needs_lengths else ""
    one = session(RANKING, [f'print(parse_measure("{small}")(gains, ideal{lengths}).round(4))'], names)
    asked = f'print(summarise(evaluate(runs, gains, "{large}")).select("system", "mean", "low", "high"))'
    return f"One ranking:\n\n{one}\n\nThree systems on the sample:\n\n{session(ON_THE_SAMPLE, [asked], {})}"


# Methods


def method_pages() -> dict[str, str]:
    """A page for each scaling method, from its class, and one that lists them by what they take."""
    pages, index = {}, ["# Scaling methods", SCALING_INTRO]
    for title, family in FAMILIES.items():
        rows = []
        modules = {module.__name__ for module in family}
        for name, method in methods().items():
            if method.__module__ in modules:
                pages[f"reference/methods/{name}.md"] = method_page(method, EXAMPLES.get(title, GRADES))
                rows.append((f"[`{name}`]({name}.md)", method.purpose))
        index += [f"## {title}", table(("method", "what it does"), rows)]
    pages["reference/methods/index.md"] = page(index)
    return pages


SCALING_INTRO = (
    "A method turns judgments, or pairs, into gains. It is written as `name` or `name(option=value,…)`, on the command "
    "line with `--method name --option value`. [How to choose](../../guide/scaling.md), "
    "[how to add one](../../extend/method.md)."
)


def method_page(method: type[Method], example: str) -> str:
    asked = SHOWN_AS.get(method.name, method.name)
    data = example.split(" ", 1)[0]
    shown = session(
        ["import polars as pl", "from judgewell.scaling.methods import parse", example],
        [f'print(parse("{asked}").interval({data}))'],
        {},
    )
    kind = "by formula" if method.by_formula is not Method.by_formula else f"by resampling {method.draws_over}s"
    interval = f"Its interval is made {kind}."
    if method.no_interval:
        interval = f"By default it has no interval; `--interval bootstrap` makes one {kind}."
    text = ["## Options", f"It takes {method.takes}. {interval}", options_table(method)]
    text += ["## Evidence", f"Measured: {method.evidence}."] if method.evidence else []
    return described(method, [*text, "## Source", method.source + ".", "## Example", shown])


def options_table(method: type[Method]) -> str:
    rows = []
    for option in fields(method):
        kind = ", ".join(f"`{word}`" for word in form(method, option.name).split("|"))
        default = "" if option.default is MISSING else f"`{spelled(option.default)}`"
        rows.append((f"`{option.name}`", meaning(method.name, option.name), default, kind))
    return table(("option", "meaning", "default", "takes"), rows) if rows else ""


# The study file, the tables, the server


def study_page() -> dict[str, str]:
    """Every setting of study.toml, from the model that reads it."""
    text = [
        "# The study file",
        "Every setting of `study.toml`, with its default. A table that you leave out takes its defaults, or is "
        'not used where a setting is required. Unknown settings are mistakes, and nothing is converted: `"5"` is not '
        "5. `judgewell check` names every mistake with its line.",
    ]
    for name, section in Study.model_fields.items():
        models = list(models_in(section.annotation))
        if not models:
            continue
        required = section.default is PydanticUndefined and section.default_factory is None
        text.append(f"## [{name}]" + (" (required)" if required else ""))
        for model in models:
            text += section_text(name, model)
    return {"reference/study-file.md": page(text)}


def section_text(name: str, model: type[BaseModel]) -> Iterator[str]:
    """A section's description and settings; the sections inside it behind."""
    about = inspect.cleandoc(model.__doc__ or "") if "__doc__" in vars(model) and model.__doc__ else ""
    kind = model.model_fields.get("kind")
    if kind is not None and len(get_args(kind.annotation)) == 1:
        yield f'### kind = "{get_args(kind.annotation)[0]}"'
    if about:
        yield " ".join(about.split())
    inner, rows = [], []
    for key, setting in model.model_fields.items():
        nested = list(models_in(setting.annotation))
        inner += [(f"{name}.{key}", one) for one in nested]
        about = "; ".join(filter(None, (setting.description, allowed_in(setting.annotation))))
        rows.append((f"`{key}`", "see below" if nested else default_of(setting), about))
    if rows:
        yield table(("setting", "default", "what it is for"), rows)
    for path, one in inner:
        yield f"### [{path}]"
        yield from section_text(path, one)


def default_of(setting: FieldInfo) -> str:
    """A setting's default as it would be written in the file."""
    if setting.is_required():
        return "required"
    value = setting.get_default()
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def allowed_in(annotation: Any) -> str:
    """The values that a choice allows, as they are written in the file; nothing where it is no choice."""
    if get_origin(annotation) is Literal:
        values = [f"`{json.dumps(value)}`" for value in get_args(annotation)]
        return f"one of {', '.join(values)}" if len(values) > 1 else ""
    inner = next(filter(None, map(allowed_in, get_args(annotation))), "")
    return inner.replace("one of", "any of", 1) if get_origin(annotation) is list else inner


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def tables_page() -> dict[str, str]:
    """The columns of the five tables, from their schema."""
    text = ["# The five tables", "A column has the same name in a CSV header, in Parquet and as an argument."]
    for name, one in tables.TABLES.items():
        text += [f"## {name}", f"One row: {one.row}."]
        rows = []
        for column in one.columns:
            also = ", ".join(f"`{other}`" for other in tables.OTHER_NAMES.get(column.name, ()))
            needed = "required" if column.required else ""
            rows.append((f"`{column.name}`", str(column.dtype), needed, column.about, also))
        text.append(table(("column", "type", "", "what it says", "also read as"), rows))
        if one.key:
            text.append(f"A row is identified by {', '.join(one.key)}: it may occur once.")
    text.append(
        "Columns that a table does not know are kept. A row that is missing means unjudged. How files are read: "
        "[Data formats](../guide/formats.md)."
    )
    return {"reference/tables.md": page(text)}


# Python

PYTHON_INTRO = """\
Everything the commands do can be done from Python. Tables are polars frames; pandas frames, dicts, rows and paths are
read too. The names that `judgewell` itself exports stay as they are between versions:"""


def python_page() -> dict[str, str]:
    """What judgewell exports."""
    text = ["# Python", PYTHON_INTRO]
    for name in sorted(judgewell._HOMES, key=str.swapcase):  # functions before the class
        text += definition(getattr(judgewell, name), f"judgewell.{name}", 2)
    return {"reference/python.md": page(text)}


def definition(thing: Any, name: str, level: int) -> Iterator[str]:
    """A function or class under a heading: how it is called, what it is for, and a class's own functions."""
    yield f"{'#' * level} {name}"
    yield f"```python\n{signature(thing, name.rpartition('.')[2])}\n```"
    yield (inspect.getdoc(thing) or "").replace("::\n", ":\n")
    if isinstance(thing, type):
        for inner, own in vars(thing).items():
            if inspect.isfunction(own) and not inner.startswith("_"):
                yield from definition(own, f"{name}.{inner}", level + 1)


class Annotation(str):
    """An annotation as it is written in the source: without quotation marks."""

    __repr__ = str.__str__


def signature(thing: Any, name: str) -> str:
    """How a function or class is called."""
    whole = inspect.signature(thing)
    own = [one for one in whole.parameters.values() if one.name != "self"]
    given = [one.replace(annotation=Annotation(one.annotation)) for one in own]
    back = inspect.Signature.empty if isinstance(thing, type) else Annotation(whole.return_annotation)
    one_line = f"{name}{whole.replace(parameters=given, return_annotation=back)}"
    if len(one_line) <= 96:
        return one_line
    lines = [str(one) for one in given]
    named = [one.kind is one.KEYWORD_ONLY for one in given]
    lines[named.index(True) : named.index(True)] = ["*"]
    return f"{name}(\n" + "".join(f"    {line},\n" for line in lines) + f") -> {back}"


API_INTRO = """\
A running server describes itself at `/api/v1/openapi.json`; this page is made from the same description. Every request
carries a token of an owner's account, which `judgewell account study.toml token NAME` prints once:

<!-- not run: needs a token of a running server -->
```console
$ curl -H "Authorization: Bearer $TOKEN" https://judge.example.org/api/v1/status
```

Every request may be answered with 401 (no token, or one that does not hold), 403 (its scope does not allow this), 422
(a value breaks a rule; the detail says which), 429 (too many; `Retry-After` says when to come again) or 503 (the
database is away; nothing was done)."""


def server_page() -> dict[str, str]:
    """The server's JSON API, from its own OpenAPI schema; the owner's and assessors' pages are not part of it."""
    schema = server_schema()
    text = ["# The server's API", API_INTRO]
    for path, operations in schema["paths"].items():
        for verb, operation in operations.items():
            text += [f"## {verb.upper()} {path}", operation.get("description") or operation.get("summary", "")]
            text += operation_tables(operation, schema.get("components", {}).get("schemas", {}))
    return {"reference/server-api.md": page(text)}


def operation_tables(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    """What a request takes in its address and body, and what its answer holds."""
    header = ("name", "type", "what it is")
    given = operation.get("parameters", ())
    if given:
        rows = [(f"`{one['name']}`", schema_name(one.get("schema", {})), one.get("description", "")) for one in given]
        yield "In the address:\n\n" + table(header, rows)
    answer = operation.get("responses", {}).get("200", {})
    for title, part in (("In the body", operation.get("requestBody", {})), ("The answer", answer)):
        schema = part.get("content", {}).get("application/json", {}).get("schema", {})
        name = schema.get("$ref", "").rpartition("/")[2]
        fields_of = schemas.get(name, {}).get("properties", {})
        if fields_of:
            rows = [(f"`{key}`", schema_name(one), one.get("description", "")) for key, one in fields_of.items()]
            yield f"{title}:\n\n" + table(header, rows)
        elif schema:
            yield f"{title}: {schema_name(schema)}."


def schema_name(schema: dict[str, Any]) -> str:
    """A type in words."""
    if "anyOf" in schema:
        return " or ".join(schema_name(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {schema_name(schema.get('items', {}))}"
    return str(schema.get("type") or schema.get("$ref", "").rpartition("/")[2] or "anything")


def server_schema() -> dict[str, Any]:
    """The OpenAPI description of the whole server, over an empty database."""
    from judgewell.server.judging.app import make_server
    from judgewell.server.owner.app import make_app
    from judgewell.server.store.setup import prepare
    from judgewell.server.store.transactions import open_store
    from judgewell.study.new import new_study

    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "study.sqlite")) as store:
        prepare(store, new_study(Path(folder) / "study")[0], lambda: 0.0)
        return make_app(make_server(store)).openapi()


def write() -> None:
    """Write every page, and remove those that are no longer made."""
    made = {ROOT / "docs" / place: text for place, text in all_pages().items()}
    for path in set((ROOT / "docs" / "reference").rglob("*.md")) - set(made):
        path.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
