"""One database, one set of figures: dashboard, API, status, export, agree, scale, compare and report agree."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from judging import Person, Study, write_study
from owner_server import let_in
from polars.testing import assert_frame_equal
from starlette.testclient import TestClient

import judgewell
from judgewell.commands.status import status as status_command
from judgewell.scaling.methods import method_for
from judgewell.server.app import make_app
from judgewell.server.limits import Rate
from judgewell.server.owner import live_cache
from judgewell.server.owner.accounts import new_token
from judgewell.server.owner.exclusions import exclude
from judgewell.server.owner.live_analysis import Insight, insight
from judgewell.server.process import Server
from judgewell.server.queries.collected import collected_study
from judgewell.server.queries.export import export
from judgewell.server.session.stages.judge import DocumentPage
from judgewell.server.store.schema import reservations
from judgewell.server.store.transactions import Store, open_store
from judgewell.server.web import Pages
from judgewell.text import counted

ENDINGS = ("completed", "excluded", "failed", "abandoned", "in progress")
KINDS = ("magnitude", "bounded", "s100", "ordinal", "binary")
SCALES = {
    **{kind: f'kind = "{kind}"' for kind in KINDS},
    **{f"named {kind}": f'kind = "{kind}"\nname = "usefulness"' for kind in KINDS},
    "pairs": "",
}
QUICK = ("magnitude", "named bounded", "named s100", "ordinal", "binary", "pairs")
REPORTED = ("magnitude", "named s100", "ordinal", "pairs")


def quick(chosen: tuple[str, ...]) -> list[Any]:
    """All scales; those that are not chosen are long."""
    return [pytest.param(scale, marks=() if scale in chosen else pytest.mark.long) for scale in SCALES]


def judged_study(folder: Path, store: Store, scale: str) -> Study:
    """Of ten units taken: four completed, two excluded, one failed, two abandoned, one in progress."""
    path = write_study(
        folder,
        kind="pairs" if scale == "pairs" else "magnitude",
        topics=2,
        docs=4 if scale == "pairs" else 12,  # an interval of α needs 20 documents
        size=12,
        redundancy=8,
        known=True,
        more="[checks]\nrevisions = 0\n[pay]\namount = 2.0\n",
    )
    path.write_text(path.read_text().replace('kind = "magnitude"', SCALES[scale] or 'kind = "magnitude"'))
    study = Study(store, path)
    done = [study.person() for _ in range(6)]
    for person in done:
        judge_unit(person)
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


def judge_unit(person: Person) -> None:
    """Judge until done; the known documents well, the others as no two people do."""
    page = person.page
    while page.kind != "done":
        form = person.good(page)
        if isinstance(page, DocumentPage) and (number := int(page.document.text.split()[-3])) > 1:
            choices = [choice.value for choice in page.scale.choices]
            value = 6 * number + 5 * person.number * number % 17
            form["value"] = choices[value % len(choices)] if choices else str(value)
        person.study.clock.move(30.0)
        page = person.send(**form)
        assert not page.problem, page.problem


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


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("counted")
    store = open_store(folder / "study.sqlite")
    judged = judged_study(folder / "study", store, request.param)
    judged.session = let_in(store, judged.clock())
    yield judged
    store.close()


@pytest.mark.parametrize("study", quick(QUICK), indirect=True)
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
    assert of_status(study) == counts
    client = TestClient(make_app(study.store, study.clock, 1000.0))
    assert of_api(study, client) == counts
    check_pages(study, client, {how: units for how, (units, _) in counts.items()})
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


def of_status(study: Study) -> dict[str, tuple[int, int]]:
    arguments = [str(study.path), "--database", str(study.store.url)]
    text = CliRunner().invoke(status_command, arguments).output
    state = json.loads(CliRunner().invoke(status_command, [*arguments, "--format", "json"]).output)
    for one in state["endings"]:
        assert sum(topic[one["ending"].replace(" ", "_")] for topic in state["topics"]) == one["units"]
        assert f"{one['ending']}: {counted(one['units'], 'unit')} by" in text
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


def check_pages(study: Study, client: TestClient, units: dict[str, int]) -> None:
    cookie = Server(study.store, study.served, Rate(1, 1), Pages()).cookie
    client.cookies.set(f"{cookie}-owner", study.session)
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


@pytest.mark.parametrize("study", quick(QUICK), indirect=True)
def test_agreement_and_gains_are_those_of_the_stages(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with study.store.snapshot() as connection:
        computed = insight(connection, study.clock())
    (scale,) = computed.scales
    file = exported(study, tmp_path)
    agreement = alpha_of(judgewell.agree(file, section=["reliability", "pairs"]).tables)
    assert (scale.alpha, scale.low, scale.high) == pytest.approx(
        (agreement["alpha"], agreement["low"], agreement["high"]), nan_ok=True
    )
    assert scale.low is None if file.stem == "pairs" else scale.low < scale.alpha < scale.high
    assert scale.metric == agreement.get("metric", "nominal")
    gains = judgewell.scale(file, method=scale.method, interval="none")
    of_stage = {(row["topic"], row["doc"]): row["gain"] for row in gains.iter_rows(named=True)}
    shown = {(one.topic, one.doc): one.gain for one in computed.documents if one.gain is not None}
    assert shown == pytest.approx(of_stage)
    check_insight_of_api_and_page(study, computed, monkeypatch)


def exported(study: Study, folder: Path) -> Path:
    """The judgments or pairs of completed units, as a file."""
    export(study.store, folder / "export", now=study.clock())
    name = "pairs" if (folder / "export/pairs.csv").exists() else "judgments"
    return folder / "export" / f"{name}.csv"


def alpha_of(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """The row of agreement that is shown first."""
    return tables["alpha" if "alpha" in tables else "same_pair_agreement"].row(0, named=True)


def check_insight_of_api_and_page(study: Study, computed: Insight, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed is what the API sends and the overview shows."""
    monkeypatch.setattr(live_cache, "in_a_process", lambda url, now: computed)
    client = TestClient(make_app(study.store, study.clock, 1000.0))
    token = study.store.write(lambda c: new_token(c, study.clock(), "owner one", ["read"], 1, "")).result()
    while (got := client.get("/api/v1/insight", headers={"authorization": f"Bearer {token}"}).json())[
        "insight"
    ] is None:
        pass
    (sent,), (scale,) = got["insight"]["scales"], computed.scales
    assert [sent[name] for name in ("alpha", "low", "high")] == [scale.alpha, scale.low, scale.high]
    client.cookies.set(f"{Server(study.store, study.served, Rate(1, 1), Pages()).cookie}-owner", study.session)
    page = client.get("/owner").text
    ends = f"{scale.metric} metric.*?{scale.low:.2f} to {scale.high:.2f}" if scale.low is not None else ""
    assert re.search(
        rf"agreement on {re.escape(scale.scale)}.*?{scale.alpha:.2f}.*?{ends}".replace("-", "[-−]"), page, re.DOTALL
    )


@pytest.mark.parametrize("study", quick(REPORTED), indirect=True)
def test_the_report_gives_the_figures_of_agree_scale_and_compare(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", study.clock)
    file = exported(study, tmp_path)
    table = pl.read_csv(file, infer_schema_length=None)
    method = method_for(None, table) if file.stem == "pairs" else method_for(table, None)
    gains = judgewell.scale(file, method=method, draws=20)
    documents = gains.select("topic", "doc").with_columns(score=pl.col("doc").rank("ordinal").over("topic").cast(float))
    runs = pl.concat(
        documents.with_columns(system=pl.lit(name), score=pl.col("score") * sign)
        for name, sign in (("up", 1), ("down", -1))
    )
    report = judgewell.report(
        str(study.path), database=study.store.url, runs=runs, measure="nDCG@3", draws=20, worlds=20, replicates=20
    )
    report.save(str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text("utf-8")
    grids = {grid.name: grid.frame for grid in report.grids}
    endings = {row["ended"]: (row["units"], row["answers"]) for row in grids["endings"].iter_rows(named=True)}
    assert endings == of_export(study, tmp_path / "again")
    assert int(dict(grids["asked"].iter_rows())[file.stem]) == table.height
    agreement = alpha_of(judgewell.agree(file, section=["reliability", "pairs"]).tables)
    shown = first_row(page, "alpha" if file.stem == "judgments" else "same_pair_agreement")
    for name in ("alpha", "low", "high"):
        expected = agreement[name]
        assert alpha_of(grids)[name] == (expected if expected is None else pytest.approx(expected))
        if expected is not None:
            assert number(shown[HEADS[name]]) == pytest.approx(expected, abs=0.0006)
    keys = ["topic", "doc"]
    own = grids["gains"].select([*keys, "gain", "low", "high"]).sort(keys)
    assert_frame_equal(own, gains.select(own.columns).sort(keys))
    compared = judgewell.compare(runs=runs, gains={"gains": gains}, measure="nDCG@3")["systems"]
    lacking = {"low", "high"} - set(grids["systems"].columns)  # of one topic there is no interval
    assert lacking == {"low", "high"} - set(compared.columns)
    figures = [name for name in ("system", "mean", "low", "high") if name not in lacking]
    assert_frame_equal(grids["systems"].select(figures), compared.select(figures))
    best = first_row(page, "systems")
    for name in figures[1:]:
        assert number(best[HEADS[name]]) == pytest.approx(compared[name][0], abs=0.0006)


HEADS = {"alpha": "α", "low": "95 % from", "high": "95 % to", "mean": "mean nDCG@3"}


def first_row(page: str, name: str) -> dict[str, str]:
    """The first row of a table of the rendered report, by the heads of its columns; of two alike the first."""
    table = page[page.index(f'id="{name}"') :].partition("</table>")[0]
    heads = [re.sub("<[^>]+>", "", one).strip() for one in re.findall(r"<th scope=\"col\".*?</th>", table, re.DOTALL)]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", table.partition("<tbody>")[2].partition("</tr>")[0], re.DOTALL)
    return dict(reversed([*zip(heads, cells, strict=True)]))


def number(text: str) -> float:
    return float(text.replace("−", "-"))
