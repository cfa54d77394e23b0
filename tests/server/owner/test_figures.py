"""The figures of the owner's pages: counted, computed, and who is called suspicious."""

from __future__ import annotations

import dataclasses
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sa
from judging import Clock
from owner_studies import write_graded_study
from starlette.requests import Request
from waiting import HANG

from judgewell import agree
from judgewell.agreement.unusual import people
from judgewell.assessors.people import make_people
from judgewell.assessors.population import KINDS, Population
from judgewell.assessors.simulation import Filled, fill
from judgewell.server.owner.charts import WIDEST, bars, nice_top
from judgewell.server.owner.exclusions import exclude, include
from judgewell.server.owner.figures import settling_charts
from judgewell.server.owner.live_agreement import on_pairs, on_scale
from judgewell.server.owner.live_analysis import Insight, from_json, insight, to_json
from judgewell.server.owner.live_cache import SHARE, Computed, in_a_process
from judgewell.server.owner.pages import Column, environment, listing
from judgewell.server.queries import progress
from judgewell.server.queries.history import assessor_rows, trail
from judgewell.server.queries.money import money_details
from judgewell.server.session.served import load_served
from judgewell.server.store.schema import assessors, reservations
from judgewell.server.store.transactions import Store, open_store
from judgewell.tables import PAIRS, check

NOW = 1_700_100_000.0


@pytest.fixture(
    scope="module",
    params=["magnitude", pytest.param("s100", marks=pytest.mark.long), pytest.param("pairs", marks=pytest.mark.long)],
)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Filled]]:
    """A study filled by people of whom more than usual are careless."""
    folder = tmp_path_factory.mktemp("filled")
    shares = {"careful": 0.55, "generous": 0.08, "parsimonious": 0.07, "lazy": 0.06, "random": 0.1, "reversed": 0.07}
    kinds = tuple(dataclasses.replace(kind, share=shares.get(kind.name, 0.07)) for kind in KINDS)
    study = write_graded_study(folder, kind=request.param, topics=12, docs=12, size=6, redundancy=9, most=12)
    store = open_store(folder / "study.sqlite")
    found = fill(store, study, make_people(50, 8, Population(kinds=kinds, units=9.0)), seed=8)
    yield store, found
    store.close()


@pytest.fixture(scope="module")
def computed(filled: tuple[Store, Filled]) -> Insight:
    return computed_of(filled[0])


@pytest.mark.parametrize(("times", "told"), [(1, False), (2, True)])
def test_tau_needs_documents_with_several_judgments(times, told):
    """A document's only judgment is its gain, so τ with the current gains would always be 1."""
    rows = [
        {"assessor": f"a{n}", "topic": "t", "doc": f"d{doc}", "value": float(doc * 10 + n), "kind": "interval:0..100",
         "unit": f"u{n}", "position": doc + 1, "scale": "s100", "at": float(n * 10 + doc)}
        for n in range(times) for doc in range(8)
    ]  # fmt: skip
    scale, gains = on_scale("s100", pl.DataFrame(rows))
    assert len(gains) == 8
    assert any(step.tau is not None for step in scale.steps) == told


def computed_of(store: Store) -> Insight:
    with store.snapshot() as connection:
        return insight(connection, NOW)


@pytest.mark.long
def test_careless_people_are_those_with_evidence(filled, computed):
    _, found = filled
    kinds = {person.name: person.kind.name for person in found.people}
    seen, flagged = defaultdict(int), defaultdict(int)
    for person in computed.assessors:
        if person.judgments >= 12:  # less than two units say little about anybody
            seen[kinds[person.assessor]] += 1
            flagged[kinds[person.assessor]] += bool(person.evidence)
    good = ("careful", "generous", "parsimonious")
    assert sum(flagged[kind] for kind in good) <= 0.06 * sum(seen[kind] for kind in good), (seen, flagged)
    for kind, least in {"reversed": 0.9, "too fast": 0.9, "random": 0.6}.items():
        assert seen[kind] >= 2
        assert flagged[kind] >= least * seen[kind], (kind, seen, flagged)


def test_reversed_and_fast_people_are_called_so(filled, computed):
    _, found = filled
    kinds = {person.name: person.kind.name for person in found.people}
    by_kind = defaultdict(set)
    for person in computed.assessors:
        if person.judgments >= 12:
            for one in person.evidence:
                by_kind[one.kind].add(kinds[person.assessor])
                assert one.sentence
                assert one.of
    assert "reversed" in by_kind["reversed"] | by_kind["known documents"]
    assert by_kind["reversed"] <= {"reversed", "random"}
    assert "too fast" in by_kind["too fast"]
    assert not by_kind["too fast"] & {"generous", "parsimonious"}


def crowd(*, pace: float, failed: int, sense: float) -> dict[str, list[str]]:
    """Evidence of 14 careful people and of one more, whose answers follow the documents' worth with this weight."""
    rng = np.random.default_rng(6)
    worth = rng.normal(size=16)
    names = [*(f"a{n:02d}" for n in range(14)), "odd"]
    rows = [
        ("t", f"d{d}", name, "s", round(float(weight * worth[d] + 0.7 * rng.normal()), 2), 30.0 * time)
        for n, name in enumerate(names)
        for weight, time in [(sense, pace) if name == "odd" else (1.0, float(np.exp(0.7 * np.sin(n))))]
        for d in range(16)
    ]
    columns = ["topic", "doc", "assessor", "scale", "value", "first"]
    judgments = pl.DataFrame(rows, schema=columns, orient="row").with_columns(comparable="value")
    checks = [
        (name, "known", place >= (failed if name == "odd" else name == "a03"), 1)
        for name in names
        for place in range(2)
    ]
    verdicts = pl.DataFrame(checks, schema=VERDICTS, orient="row")
    found, _ = people(judgments, NO_PAIRS, verdicts)
    return {person.assessor: [one.kind for one in person.evidence] for person in found}


def test_who_is_a_little_worse_in_everything_is_seen():
    """None of the three would do alone: the order, the pace, the known documents."""
    found = crowd(pace=0.35, failed=1, sense=0.5)
    assert found.pop("odd") == ["careless overall"]
    assert not any(found.values())
    for better in ({"pace": 1.0}, {"failed": 0, "pace": 0.8}, {"sense": 1.0}):
        assert crowd(**{"pace": 0.35, "failed": 1, "sense": 0.5, **better})["odd"] == []


def test_a_few_upside_down_do_not_make_failures_usual():
    rows = [(f"a{n}", "known", n > 4, 1) for n in range(30) for _ in range(3)]
    verdicts = pl.DataFrame(rows, schema=VERDICTS, orient="row")
    answers = pl.DataFrame(schema=dict.fromkeys(["topic", "doc", "assessor", "scale"], pl.String) | NUMBERS)
    found, usual = people(answers, NO_PAIRS, verdicts)
    assert usual.known == 0
    assert sum(bool(person.evidence) for person in found) == 5
    again = verdicts.with_columns(attempt=pl.int_range(pl.len()).over("assessor") + 1)  # three tries at one unit
    found, _ = people(answers, NO_PAIRS, again)
    assert not any(person.evidence for person in found)


VERDICTS = {"assessor": pl.String, "check": pl.String, "passed": pl.Boolean, "attempt": pl.Int64}
NUMBERS = {"value": pl.Float64, "comparable": pl.Float64, "first": pl.Float64}
NO_PAIRS = pl.DataFrame(
    schema=dict.fromkeys(["topic", "left", "right", "assessor", "preferred"], pl.String) | {"first": pl.Float64}
)


def test_somebody_constant_or_on_one_side_is_seen():
    rows = [("t", f"d{d}", f"a{a}", "s", float((d * 7 + a) % 5), 20.0) for d in range(12) for a in range(5)]
    rows += [("t", f"d{d}", "same", "s", 3.0, 20.0) for d in range(12)]
    names = ["topic", "doc", "assessor", "scale", "value", "first"]
    judgments = pl.DataFrame(rows, schema=names, orient="row").with_columns(comparable="value")
    pairs = NO_PAIRS
    verdicts = pl.DataFrame(schema=VERDICTS)
    found, usual = people(judgments, pairs, verdicts)
    assert [one.kind for person in found if person.assessor == "same" for one in person.evidence] == ["constant"]
    assert usual.same is not None
    assert usual.same < 0.5
    alike = judgments.with_columns(value=pl.lit(3.0), comparable=pl.lit(3.0))
    assert not any(person.evidence for person in people(alike, pairs, verdicts)[0])


def test_gains_settle_and_agreement_is_that_of_the_stages(computed):
    found = computed
    (scale,) = found.scales
    taus = [step.tau for step in scale.steps if step.tau is not None]
    assert scale.alpha is not None
    assert 0.1 < scale.alpha < 1
    assert taus[-1] == pytest.approx(1.0)
    assert taus[0] < taus[-1]
    assert scale.steps[-1].judgments == scale.judgments == found.judgments
    assert scale.steps[-1].alpha == pytest.approx(scale.alpha)
    assert found.documents_of == 12 * 12
    assert all(one.judgments <= one.planned or one.scale == "pairs" for one in found.documents)
    assert sum(bar.answers for bar in found.times.bars) == found.times.answers == found.judgments
    assert from_json(to_json(found)) == found


def test_work_left_out_counts_no_more(filled, computed):
    store, _ = filled
    before = computed
    person = max(before.assessors, key=lambda one: one.judgments)

    def leave_out(connection: sa.Connection) -> int:
        number = connection.execute(
            sa.select(assessors.c.number).where(assessors.c.pseudonym == person.assessor)
        ).scalar_one()
        exclude(connection, NOW, int(number), None, "to see what happens", "owner")
        return int(number)

    stamp = store.read(progress.answers_stamp).result()
    number = store.write(leave_out).result()
    try:
        after = computed_of(store)
        assert after.judgments < before.judgments
        assert after.excluded == before.judgments - after.judgments
        assert store.read(progress.answers_stamp).result() != stamp
        (row,) = store.read(lambda connection: assessor_rows(connection, NOW, number)).result()
        assert row.excluded_for == "to see what happens"
    finally:
        store.write(lambda c: include(c, NOW, number, None)).result()


def test_overview_adds_up(filled):
    store, simulated = filled
    with store.snapshot() as connection:
        served = load_served(connection, lambda: NOW)
        found = progress.overview(connection, served, NOW)
        units = [row for topic in found.topics for row in progress.unit_rows(connection, topic.topic, NOW)]
        bars = progress.check_bars(connection)
        money = money_details(connection, served.study.pay, found.money, NOW)
    assert found.done == simulated.done == sum(row.done for row in units) == sum(bar.done for bar in found.bars)
    assert found.needed == simulated.needed == sum(row.need for row in units)
    assert found.remaining == sum(max(row.need - row.done, 0) for row in units)
    assert found.money.paid == pytest.approx(1.2 * found.done)
    assert found.money.so_far == pytest.approx(1.5 * found.done)
    assert money.planned_documents == 12 * 12
    assert money.documents <= 12 * 12
    assert money.per_document == pytest.approx(found.money.so_far / money.documents)
    assert money.spending[-1].amount == pytest.approx(found.money.so_far)
    assert sum(bar.assessors for bar in money.hourly.bars) == money.hourly.assessors
    assert {(one.name, one.passed, one.failed) for one in found.checks} == {
        (name, sum(b.passed for b in bars if b.name == name), sum(b.failed for b in bars if b.name == name))
        for name in {bar.name for bar in bars}
    }


def test_a_trail_holds_every_revision(filled):
    store, _ = filled
    query = sa.select(reservations.c.assessor).where(reservations.c.revisions > 0).limit(1)
    number = store.read(lambda connection: connection.execute(query).scalar()).result()
    if number is None:
        pytest.skip("nobody revised anything here")
    found = store.read(lambda connection: trail(connection, number, NOW)).result()
    assert found is not None
    assert {one.revision for one in found.answers} >= {1, 2}
    places = {(one.unit, one.position) for one in found.answers}
    assert sum(one.current for one in found.answers) == len(places)
    assert any(not one.passed for one in found.verdicts)
    assert store.read(lambda connection: trail(connection, 10**9, NOW)).result() is None


def test_an_empty_study_has_figures(tmp_path: Path):
    from judgewell.server.store.setup import prepare

    store = open_store(tmp_path / "empty.sqlite")
    prepare(store, write_graded_study(tmp_path / "study", topics=2), lambda: NOW)
    with store.snapshot() as connection:
        found = progress.overview(connection, load_served(connection, lambda: NOW), NOW)
        computed = insight(connection, NOW)
    store.close()
    assert (found.done, found.pace, found.expected_end, found.bars) == (0, None, None, ())
    assert (computed.judgments, computed.scales, computed.assessors) == (0, (), ())


def test_the_end_is_expected_at_the_present_pace(filled):
    store, _ = filled
    with store.snapshot() as connection:
        times = sorted(
            connection.execute(sa.select(reservations.c.finished).where(reservations.c.state == "done")).scalars()
        )
        found = progress.overview(connection, load_served(connection, lambda: NOW), times[-1])
    assert found.pace == pytest.approx(49 / (times[-1] - times[-50]) * 3600)
    assert found.expected_end is None  # nobody holds a unit at that moment


def test_an_end_is_expected_while_somebody_works_and_not_in_the_far_future(begin):
    study = begin(topics=6, redundancy=2)
    for _ in range(3):
        study.person().until("done")
    busy = study.person()
    busy.until("document")

    def now() -> progress.Overview:
        with study.store.snapshot() as connection:
            return progress.overview(connection, study.served, study.clock())

    found = now()
    assert found.remaining == 9
    assert found.expected_end == pytest.approx(study.clock() + 9 / found.pace * 3600)
    assert found.last_seen == study.clock()
    seen = study.clock()
    study.clock.move(study.served.silence + 1)
    assert (now().expected_end, now().last_seen) == (None, seen)  # silent: nobody works
    study.clock.move(200 * 86400)
    busy.send(**busy.good())
    assert now().expected_end is None  # at three units in 200 days


def settled(held: Computed) -> Insight | None:
    """What was computed last, once the computation under way is done."""
    held.worker.join(HANG)
    return held.latest


class TestComputed:
    """What is computed is computed elsewhere, seldom, and once at a time."""

    def test_one_at_a_time_and_not_again_without_news(self):
        calls = []
        empty = Insight(1.0, 0, 0, (), (), 0, (), None, None, 0.0)  # type: ignore[arg-type]

        timer, go_on = Clock(100.0), threading.Event()

        def slow(url: str, now: float) -> Insight:
            calls.append(url)
            go_on.wait(HANG)
            timer.move(5.0)
            return empty

        held = Computed("there", lambda: 1.0, slow, timer)
        assert held.look("a") is None
        assert held.busy
        held.look("b")
        go_on.set()
        assert settled(held) is empty
        assert len(calls) == 1
        assert held.look("a") is empty
        timer.move(SHARE * 5.0 - 1)
        held.look("b")
        assert not held.busy
        timer.move(1)
        held.look("b")
        settled(held)
        assert len(calls) == 2

    def test_in_a_process_of_its_own(self, filled, computed):
        store, _ = filled
        held = Computed(store.url, lambda: NOW, in_a_process)
        held.look("a")
        found = settled(held)
        assert not held.trouble
        assert found is not None
        assert dataclasses.replace(found, took=0) == dataclasses.replace(computed, took=0)

    def test_trouble_is_told(self, tmp_path: Path):
        held = Computed(str(tmp_path / "no" / "such.sqlite"), lambda: NOW, in_a_process)
        held.look("a")
        assert settled(held) is None
        assert "could not be computed" in held.trouble


def test_counts_have_whole_ticks_and_one_bar_is_not_as_wide_as_the_chart():
    assert [nice_top(largest) for largest in (1, 2, 3, 5, 7, 9, 30)] == [1, 2, 4, 6, 8, 10, 40]
    svg = bars("units", "Units", "Units.", ["today"], [("good", "units", [5.0])], "day").svg
    assert ">3<" in svg
    assert f'width="{WIDEST:.1f}"' in svg


def test_a_chart_names_agreement_only_where_there_is_some(computed: Insight) -> None:
    (scale,) = computed.scales
    (chart,) = settling_charts(computed)
    assert f"agreement α ({scale.metric} metric)" in dict(chart.legend).values()
    steps = tuple(dataclasses.replace(step, alpha=None) for step in scale.steps)
    early = dataclasses.replace(scale, metric="", alpha=None, steps=steps)
    (chart,) = settling_charts(dataclasses.replace(computed, scales=(early,)))
    assert "α" not in f"{chart.legend} {chart.heads} {chart.caption}"


@pytest.mark.parametrize(("judgments", "words"), [(1, "It is too early to say"), (2, "do not disagree unusually")])
def test_disagreement_is_denied_only_where_documents_have_two_judgments(judgments: int, words: str) -> None:
    found = SimpleNamespace(
        documents=(SimpleNamespace(judgments=judgments),), documents_of=1, at=NOW, judgments=1, excluded=0
    )
    request = Request({"type": "http", "path": "/owner/documents", "query_string": b"", "headers": []})
    table = listing(request, [], [Column("doc", "document", str)], str, sort="doc")
    template = environment().get_template("dashboard/documents.html")
    known = {"layout": "dashboard/fragment.html", "here": "documents", "computing": False, "trouble": ""}
    page = template.render(**known, insight=found, everything=False, table=table, guard="", texts={}, titles={})
    assert words in page


def test_known_pairs_do_not_raise_the_agreement_that_the_dashboard_shows() -> None:
    rng = np.random.default_rng(2)
    rows = [("t", f"d{doc}", f"d{doc + 1}", f"a{who}", str(rng.choice(["left", "right"])), None, None)
            for doc in range(24) for who in range(5)]  # fmt: skip
    rows += [("t", "H", "N", f"a{who}", "left", "H", "N") for who in range(5)]
    names = ["topic", "left", "right", "assessor", "preferred", "left_known", "right_known"]
    pairs = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None).with_row_index("at")
    shown = on_pairs(check(pairs, PAIRS))[0].alpha
    same = agree(pairs.drop("at"), section=["pairs"])["same_pair_agreement"]["alpha"].item()
    assert shown == pytest.approx(same)
