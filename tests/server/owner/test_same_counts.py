"""One database, one set of counts: dashboard, API, status, export and report agree on units and answers."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from judging import Person, Study, write_study
from owner_server import let_in
from starlette.testclient import TestClient

import judgewell
from judgewell.commands.status import status as status_command
from judgewell.scales import kind_of
from judgewell.scaling.methods import parse
from judgewell.server.app import make_app
from judgewell.server.limits import Rate
from judgewell.server.owner.accounts import new_token
from judgewell.server.owner.exclusions import exclude
from judgewell.server.owner.live_analysis import insight
from judgewell.server.process import Server
from judgewell.server.queries.collected import collected_study
from judgewell.server.queries.export import export
from judgewell.server.session.stages.judge import DocumentPage
from judgewell.server.store.schema import reservations
from judgewell.server.store.transactions import Store, open_store
from judgewell.server.web import Pages

ENDINGS = ("completed", "excluded", "failed", "abandoned", "in progress")
SCALES = {
    "magnitude": 'kind = "magnitude"',
    "bounded": 'kind = "bounded"',
    "s100": 'kind = "s100"',
    "ordinal": 'kind = "ordinal"',
    "binary": 'kind = "binary"',
    "named magnitude": 'kind = "magnitude"\nname = "usefulness"',
    "named s100": 'kind = "s100"\nname = "usefulness"',
    "pairs": "",
}


def judged_study(folder: Path, store: Store, scale: str) -> Study:
    """Of ten units taken: four completed, two excluded, one failed, two abandoned, one in progress."""
    path = write_study(
        folder,
        kind="pairs" if scale == "pairs" else "magnitude",
        topics=2,
        redundancy=8,
        known=True,
        more="[checks]\nrevisions = 0\n[pay]\namount = 2.0\n",
    )
    path.write_text(path.read_text().replace('kind = "magnitude"', SCALES[scale] or 'kind = "magnitude"'))
    study = Study(store, path)
    done = [study.person() for _ in range(6)]
    for person in done:
        person.until("done")
    one, two = done[0].number, done[1].number
    of_one = study.rows(sa.select(reservations.c.number).where(reservations.c.assessor == one))[0].number
    store.write(lambda c: exclude(c, study.clock(), one, of_one, "copied", "owner")).result()
    store.write(lambda c: exclude(c, study.clock(), two, None, "copied", "owner")).result()
    failed, left, silent = study.person(), study.person(), study.person()
    fail(failed)
    left.until("document", "pair")
    left.send(**left.good())
    study.clock.move(study.served.silence + 1)
    study.expire()
    silent.until("document", "pair")
    silent.send(**silent.good())
    study.clock.move(study.served.silence + 1)  # overdue, and nobody has looked for it yet
    busy = study.person()
    busy.until("document", "pair")
    busy.send(**busy.good())
    return study


def fail(person: Person) -> None:
    """Answer every known document or pair the wrong way round."""
    page = person.until("document", "pair")
    while page.kind in ("document", "pair"):
        form = person.good(page)
        if isinstance(page, DocumentPage):
            best = page.document.text.split()[-3] == "0"
            choices = [choice.value for choice in page.scale.choices] or ["1", "2"]
            form["value"] = choices[0] if best else choices[-1]
        else:
            form["preferred"] = "right" if form["preferred"] == "left" else "left"
            form["left_score"], form["right_score"] = form["right_score"], form["left_score"]
        page = person.send(**form)
        assert not page.problem, page.problem
    assert page.kind == "stopped", page.kind


@pytest.fixture(params=SCALES)
def study(request: pytest.FixtureRequest, tmp_path: Path):
    store = open_store(tmp_path / "study.sqlite")
    yield judged_study(tmp_path / "study", store, request.param)
    store.close()


def test_every_reader_gives_the_same_counts(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = study.clock()
    monkeypatch.setattr(time, "time", study.clock)
    report = collected_study(study.store, now)
    counts = {row["ended"]: (row["units"], row["answers"]) for row in report.endings.iter_rows(named=True)}
    assert {how: units for how, (units, _) in counts.items()} == dict(zip(ENDINGS, (4, 2, 1, 2, 1), strict=True))
    assert (report.completed, report.needed) == (4, 16)
    used = report.judgments if report.judgments is not None else report.pairs
    assert used is not None
    assert used.height == counts["completed"][1]
    assert of_export(study, tmp_path / "export") == counts
    assert of_status(study, tmp_path / "study/study.toml") == counts
    session = let_in(study.store, now)
    client = TestClient(make_app(study.store, study.clock, 1000.0))
    assert of_api(study, client) == counts
    check_pages(study, client, session, {how: units for how, (units, _) in counts.items()})
    with study.store.snapshot() as connection:
        computed = insight(connection, now)
    assert (computed.judgments, computed.excluded) == (counts["completed"][1], counts["excluded"][1])


def of_export(study: Study, folder: Path) -> dict[str, tuple[int, int]]:
    export(study.store, folder)
    units = dict(pl.read_csv(folder / "units.csv").group_by("ending").len().iter_rows())
    answers = dict(pl.read_csv(folder / "excluded.csv").group_by("ending").len().iter_rows())
    name = "pairs" if (folder / "pairs.csv").exists() else "judgments"
    answers["completed"] = pl.read_csv(folder / f"{name}.csv").height
    return {how: (units[how], answers[how]) for how in units}


def of_status(study: Study, path: Path) -> dict[str, tuple[int, int]]:
    arguments = [str(path), "--database", str(study.store.url)]
    text = CliRunner().invoke(status_command, arguments).output
    state = json.loads(CliRunner().invoke(status_command, [*arguments, "--format", "json"]).output)
    for one in state["endings"]:
        assert sum(topic[one["ending"].replace(" ", "_")] for topic in state["topics"]) == one["units"]
        assert f"{one['ending']}: {one['units']} units" in text
    return {one["ending"]: (one["units"], one["answers"]) for one in state["endings"]}


def of_api(study: Study, client: TestClient) -> dict[str, tuple[int, int]]:
    token = study.store.write(lambda c: new_token(c, study.clock(), "owner one", ["read"], 1, "")).result()

    def get(path: str, **values: str) -> Any:
        return client.get(f"/api/v1/{path}", params=values, headers={"authorization": f"Bearer {token}"}).json()

    endings = get("status")["endings"]
    assert get("overview")["endings"] == endings
    answers = Counter(row["ending"] for name in ("judgments", "pairs") for row in get(name, all="true"))
    assert answers == {one["ending"]: one["answers"] for one in endings}
    units = {one["ending"]: one["units"] for one in endings}
    assert len(get("judgments")) + len(get("pairs")) == answers["completed"]
    of_units = [row for topic in ("t0", "t1") for row in get(f"topics/{topic}/units")]
    for rows in (of_units, get("assessors")):
        for name, how in (("done", "completed"), ("failed", "failed"), ("abandoned", "abandoned"), ("excluded",) * 2):
            assert sum(row[name] for row in rows) == units[how]
    return {one["ending"]: (one["units"], one["answers"]) for one in endings}


def check_pages(study: Study, client: TestClient, session: str, units: dict[str, int]) -> None:
    cookie = Server(study.store, study.served, Rate(1, 1), Pages()).cookie
    client.cookies.set(f"{cookie}-owner", session)
    page = client.get("/owner").text
    assert "{failed} failed, {abandoned} abandoned, {excluded} excluded".format(**units) in page
    assert f"{units['completed']} of 16 " in page
    columns = ("completed", "in progress", "failed", "abandoned", "excluded")
    for path in ("/owner/topics", "/owner/assessors"):
        table = columns_of(client.get(path).text)
        for how in columns:
            if how in table:
                assert sum(table[how]) == units[how], (path, how)


def columns_of(page: str) -> dict[str, list[int]]:
    """The numbers in each column of the page's table."""
    heads = [re.sub("<[^>]+>", "", head).strip() for head in re.findall(r"<th scope=\"col\".*?</th>", page, re.DOTALL)]
    rows = re.findall(r"<tr[^>]*>\s*(<th scope=\"row\".*?)</tr>", page, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    numbers = [[re.sub("<[^>]+>", " ", cell).split() for cell in row] for row in cells]
    return {
        head: [int(row[place][0]) for row in numbers]
        for place, head in enumerate(heads)
        if all(row[place] and row[place][0].isdigit() for row in numbers)
    }


def test_agreement_and_gains_are_those_of_the_stages(study: Study) -> None:
    now = study.clock()
    with study.store.snapshot() as connection:
        computed = insight(connection, now)
    report = collected_study(study.store, now)
    (scale,) = computed.scales
    if report.judgments is not None:
        agreement = judgewell.agree(report.judgments, section=["reliability"])["alpha"].row(0, named=True)
        gains = parse(kind_of(report.judgments).method)(report.judgments)
    else:
        agreement = judgewell.agree(report.pairs, pairs=True, section=["pairs"])["same_pair_agreement"].row(
            0, named=True
        )
        gains = parse(scale.method)(report.pairs)
    assert (scale.alpha, scale.low, scale.high) == pytest.approx(
        (agreement["alpha"], agreement["low"], agreement["high"]), nan_ok=True
    )
    assert scale.metric == agreement.get("metric", "nominal")
    of_stage = {(row["topic"], row["doc"]): row["gain"] for row in gains.iter_rows(named=True)}
    shown = {(one.topic, one.doc): one.gain for one in computed.documents if one.gain is not None}
    assert shown == pytest.approx(of_stage)
