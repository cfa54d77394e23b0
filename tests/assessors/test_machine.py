"""`judgewell judge` over real HTTP against a stand-in: scales, faults, money, secrets and hostile documents."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from stand_in_model import Model, relevance, stand_in
from waiting import HANG

from judgewell.assessors.machine.probe import tricks
from judgewell.assessors.machine.prompts import Prompt, own_prompt
from judgewell.commands.judge import judge
from judgewell.errors import InputError
from judgewell.server.queries.export import export
from judgewell.server.queries.status import status, status_text
from judgewell.server.session import machine_runs
from judgewell.server.store.backup import backup
from judgewell.server.store.schema import answers, machines, replies
from judgewell.server.store.transactions import open_store
from judgewell.study.new import new_study

KEY = "sk-a-key-that-nobody-may-see-0123456789"


def run(study, model, *options, ok=True):
    given = [str(study), "--model", "demo", "--endpoint", model.address, "--yes", *map(str, options)]
    result = CliRunner().invoke(judge, given)
    if ok:
        assert result.exit_code == 0, (result.output, result.exception)
    return result


def frames(study, name="judgments"):
    """What an export holds."""
    store = open_store(study.parent / f"{study.parent.name}.sqlite")
    try:
        export(store, study.parent / "out")
    finally:
        store.close()
    path = study.parent / "out" / f"{name}.csv"
    return pl.read_csv(path, infer_schema_length=None) if path.exists() else pl.DataFrame()


def state(study):
    store = open_store(study.parent / f"{study.parent.name}.sqlite")
    try:
        return store.read(lambda connection: status(connection, 2e9)).result()
    finally:
        store.close()


def made(folder, kind="ordinal", *changes):
    """A new study; every change is a text of its file and what stands in its place."""
    study = new_study(folder / "study", kind)[0]
    text = study.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    study.write_text(text)
    return study


def texts(study):
    rows = [json.loads(line) for line in (study.parent / "documents.jsonl").read_text().splitlines()]
    return {row["doc"]: f"{row.get('title', '')}\n\n{row['text']}" for row in rows}


TITLES = {"1": "keeping bread fresh"}
EXPECTED = {
    "ordinal": lambda share: float(round(3 * share)),
    "binary": lambda share: float(round(share)),
    "s100": lambda share: float(round(100 * share)),
    "magnitude": None,
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_a_machine_judges_every_document_through_the_steps_of_people(tmp_path, kind):
    study = made(tmp_path, kind)
    with stand_in() as model:
        result = run(study, model)
    judged = frames(study)
    assert set(judged["assessor_kind"]) == {"machine"}
    assert set(judged["assessor"]) == {"m-demo-1"}
    verdicts = frames(study, "verdicts")
    assert {"known", "comprehension"} <= set(verdicts["check"])
    assert "time" not in set(verdicts["check"])  # a machine's clock says nothing about reading
    assert frames(study, "questionnaire").is_empty()
    replied = frames(study, "replies")
    assert replied.height == sum(model.answered.values())
    assert {"topic", "doc", "model", "prompt", "settings", "tokens_in", "cost", "outcome"} <= set(replied.columns)
    everything = replied.filter(purpose="document")
    pool = pl.read_csv(study.parent / "pool.csv", schema_overrides={"topic": pl.String})
    assert set(everything["doc"]) == set(pool["doc"])
    assert "machine m-demo-1 (demo)" in result.output
    if EXPECTED[kind]:
        mine = judged.filter(pl.col("topic").cast(pl.String) == "1")
        expected = [EXPECTED[kind](relevance(TITLES["1"], texts(study)[doc])) for doc in mine["doc"]]
        assert mine["value"].to_list() == expected


def test_magnitudes_are_asked_with_the_earlier_documents_and_their_numbers_in_view(tmp_path):
    study = made(tmp_path, "magnitude")
    with stand_in() as model:
        run(study, model)
    asked = [body["messages"][-1]["content"] for body in model.requests]
    documents = [text for text in asked if "<<< DOCUMENT" in text]
    assert sorted(text.count("You gave it") for text in documents) == sorted([*range(6)] * 4)
    judged = frames(study).sort("unit", "position")
    unit = judged.filter(unit=judged["unit"][0])
    last = next(text for text in documents if text.count("You gave it") == 5 and unit["doc"][0] and all(
        f"You gave it {value:g}." in text for value in unit["value"][:5]))  # fmt: skip
    assert "EARLIER DOCUMENT 5" in last


def test_pairs_are_asked_in_both_orders_so_that_a_favoured_side_shows(tmp_path):
    study = made(tmp_path, "pairs")
    with stand_in(Model(first=10.0)) as model:  # always the first document
        result = run(study, model, ok=False)
    assert "0 of " in result.output
    assert "same preference in both orders" in result.output
    replied = frames(study, "replies").filter(purpose="pair")
    assert replied["swapped"].sum() * 2 == replied.height
    store = open_store(study.parent / "study.sqlite")
    with store.snapshot() as connection:
        rows = connection.execute(sa.select(answers.c.preferred, answers.c.swapped).where(answers.c.current)).all()
    store.close()
    assert set(rows) == {("left", "right")}


def test_faults_of_the_server_are_waited_out_and_nothing_is_paid_twice(tmp_path):
    study = made(tmp_path)
    faults = ["429", "500", "", "cut", "no json", "", "429 date", "slow", "", "503"]
    with stand_in(Model(faults=faults)) as model:
        run(study, model, "--concurrency", 1, "--timeout", 1)
    judged = frames(study)
    assert judged.height == 24
    assert state(study).machines[0].unrateable == 0
    assert set(model.answered.values()) <= {1, 2}  # a known document stands in two units of its topic
    assert sum(model.answered.values()) == frames(study, "replies").height


def test_a_server_that_stays_away_stops_the_run_which_goes_on_later(tmp_path):
    study = made(tmp_path, "ordinal", ("[study]", "[machine]\nretries = 1\n[study]"))
    with stand_in(Model(faults=[""] * 8 + ["500"] * 40)) as model:
        stopped = run(study, model, "--concurrency", 1, ok=False)
        assert "gave no reply after 2 requests: 500 busy" in str(stopped.exception)
        before = sum(model.answered.values())
        model.faults.clear()
        run(study, model)
    assert before == 8
    assert frames(study).height == 24
    assert sum(model.answered.values()) == frames(study, "replies").height


def test_replies_that_cannot_be_read_are_asked_again_and_counted(tmp_path):
    study = made(tmp_path)
    with stand_in(Model(faults=["", "", "words", "length", ""])) as model:
        run(study, model, "--concurrency", 1)
    replied = frames(study, "replies")
    assert replied.filter(pl.col("outcome") != "read")["outcome"].to_list() == ["unreadable", "cut"]
    assert frames(study).height == 24
    assert state(study).machines[0].failed_replies == 2


def test_a_refusal_is_unrateable_and_never_a_zero(tmp_path):
    study = made(tmp_path)
    with stand_in(Model(refuses="toaster")) as model:
        run(study, model, "--tries", 2)
    judged, machine = frames(study), state(study).machines[0]
    assert machine.unrateable > 0
    assert judged.height == 24 - machine.unrateable
    refused = frames(study, "replies").filter(outcome="refused")
    assert refused.height == 2 * machine.unrateable
    assert not set(refused["doc"]) & set(judged["doc"])
    store = open_store(study.parent / "study.sqlite")
    with store.snapshot() as connection:
        rows = connection.execute(sa.select(answers).where(answers.c.unrateable.is_not(None))).all()
    store.close()
    assert {(row.value, row.unrateable) for row in rows} == {(None, "refused")}
    assert f"{machine.unrateable} unrateable" in status_text(state(study))


def test_a_document_that_the_server_rejects_is_unrateable_and_a_first_rejection_stops(tmp_path):
    study = made(tmp_path)
    with stand_in(Model(faults=["400"] * 9)) as model:
        stopped = run(study, model, "--concurrency", 1, ok=False)
        assert isinstance(stopped.exception, InputError)
        assert "too long" in str(stopped.exception)
        model.faults[:] = [""] * 6 + ["400"]
        run(study, model, "--concurrency", 1)
    assert frames(study, "replies").filter(outcome="rejected").height == 1
    assert state(study).machines[0].unrateable == 1


@pytest.mark.parametrize("kind", ["ordinal", "pairs"])
def test_a_server_without_structure_probabilities_or_counts_is_read_all_the_same(tmp_path, kind):
    study = made(tmp_path, kind)
    with stand_in(Model(structured=False, logprobs=False, usage=False)) as model:
        result = run(study, model)
    frame = frames(study, "pairs" if kind == "pairs" else "judgments")
    assert frame.height
    assert "expected" not in frame.columns
    assert "response_format" not in model.requests[-1]
    assert "logprobs" not in model.requests[-1]
    assert "replies are requested as any text" in result.output
    assert "estimated at four characters" in result.output
    assert frames(study, "replies")["estimated"].all()


def test_token_probabilities_become_an_expected_value_and_its_spread(tmp_path):
    study = made(tmp_path)
    with stand_in() as model:
        run(study, model)
    judged = frames(study).filter(pl.col("value") > 0)
    share = 0.8 / 0.95  # the stand-in gives the grade below 0.15
    assert (judged["expected"] - (judged["value"] - 1 + share)).abs().max() < 1e-9
    assert (judged["spread"] - math.sqrt(share * (1 - share))).abs().max() < 1e-9


def test_a_run_that_is_killed_goes_on_without_paying_twice(tmp_path):
    study = made(tmp_path)
    with stand_in(Model(holds_after=9)) as model:
        command = [sys.executable, "-m", "judgewell", "judge", str(study), "--model", "demo", "--yes"]
        command += ["--endpoint", model.address, "--concurrency", "1"]
        killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert model.held.wait(HANG)
        killed.kill()
        killed.wait()
        assert sum(model.answered.values()) == 9
        store = open_store(study.parent / "study.sqlite")
        kept = store.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(replies)).scalar_one()).result()
        store.close()
        assert kept == 9
        model.holds_after = None
        run(study, model, "--concurrency", 1)
    assert sum(model.answered.values()) == frames(study, "replies").height
    assert frames(study).height == 24
    assert state(study).machines[0].completed == 4


def test_a_machine_judges_in_one_run_at_a_time(tmp_path):
    study = made(tmp_path)
    with stand_in(Model(holds_after=9)) as model:
        command = [sys.executable, "-m", "judgewell", "judge", str(study), "--model", "demo", "--yes"]
        command += ["--endpoint", model.address, "--concurrency", "1"]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert model.held.wait(HANG)
            refused = str(run(study, model, ok=False).exception)
            assert re.search(
                rf"^m-demo-\d+ has been judging since [\d:]+, in process {first.pid} on .*stop that", refused
            )
            assert sum(model.answered.values()) == 9
        finally:
            first.kill()
            first.wait()
        model.holds_after = None
        held_elsewhere(study, until=time.time() + 1000)  # of another host it is not known whether it runs
        assert "in process 7 on far away" in str(run(study, model, ok=False).exception)
        held_elsewhere(study, until=time.time() - 1)
        run(study, model)
        assert sum(model.answered.values()) == frames(study, "replies").height


def held_elsewhere(study, until):
    store = open_store(study.parent / "study.sqlite")
    held = sa.update(machines).values(held_by="far away 7 x", held_since=until - 90, held_until=until)
    store.write(lambda connection: connection.execute(held)).result()
    store.close()


def test_a_run_that_was_silent_too_long_stops_when_another_took_over(tmp_path):
    study = made(tmp_path)
    with stand_in() as model:
        run(study, model)
    store = open_store(study.parent / "study.sqlite")
    number = store.read(lambda c: c.execute(sa.select(machines.c.assessor)).scalar_one()).result()
    hold = partial(machine_runs.hold, numbers=[number])
    renew = partial(machine_runs.renew, numbers=[number])
    store.write(partial(hold, holder="far away 7 x", now=0.0)).result()
    store.write(partial(renew, holder="far away 7 x", now=machine_runs.HELD - 1)).result()
    with pytest.raises(InputError, match="has been judging since"):
        store.write(partial(hold, holder="here 8 y", now=machine_runs.HELD + 1)).result()
    store.write(partial(hold, holder="here 8 y", now=2 * machine_runs.HELD)).result()
    with pytest.raises(InputError, match="another run of judgewell judge has taken over"):
        store.write(partial(renew, holder="far away 7 x", now=2 * machine_runs.HELD)).result()
    assert not store.write(partial(machine_runs.let_go, number=number, holder="far away 7 x")).result()
    assert store.write(partial(machine_runs.let_go, number=number, holder="here 8 y")).result()
    store.close()


def test_the_budget_stops_before_it_is_passed_and_a_larger_one_goes_on(tmp_path):
    study = made(tmp_path)
    with stand_in() as model:
        prices = ("--price-in", 10, "--price-out", 30)
        stopped = run(study, model, *prices, "--budget", 0.08, ok=False)
        assert "of the budget of 0.0800 USD is used, and the next requests could cost up to" in str(stopped.exception)
        cost = state(study).machines[0].cost
        assert 0 < cost <= 0.08
        few = run(study, model, "--budget-tokens", 500, ok=False)
        assert "of the budget of 500 tokens are used, and the next requests could take up to" in str(few.exception)
        assert "Used before" in few.output
        run(study, model, *prices, "--budget", 5)
        again = run(study, model, *prices)
    assert "nothing left to judge" in again.output
    assert frames(study).height == 24
    assert sum(model.answered.values()) == frames(study, "replies").height


def test_machines_that_stopped_take_up_the_units_they_paid_for(tmp_path):
    study = made(tmp_path)
    with stand_in() as model:
        stopped = run(study, model, "--samples", 3, "--budget-tokens", 9000, "--concurrency", 3, ok=False)
        assert "tokens are used" in str(stopped.exception)
        run(study, model, "--samples", 3)
    ended = set(frames(study, "units").filter(pl.col("ending") != "abandoned").select("assessor", "unit").iter_rows())
    paid = frames(study, "replies").filter(purpose="document").select("assessor", "unit").unique()
    assert set(paid.iter_rows()) <= ended


def test_the_expected_cost_is_shown_and_nobody_is_charged_unasked(tmp_path):
    study = made(tmp_path)
    with stand_in() as model:
        given = [str(study), "--model", "demo", "--endpoint", model.address, "--price-in", "1000"]
        result = CliRunner().invoke(judge, given)
        assert isinstance(result.exception, InputError)
        assert "--yes" in str(result.exception)
        assert "Expected: 24 requests with about" in result.output
        assert "USD" in result.output
        assert not model.requests


def test_the_key_is_sent_and_is_nowhere_else(tmp_path, monkeypatch):
    monkeypatch.setenv("MODEL_KEY", KEY)
    study = made(tmp_path, "ordinal", ("[study]", '[machine]\napi_key_env = "MODEL_KEY"\n[study]'))
    with stand_in(Model(key=KEY, faults=["words", "429"])) as model:
        output = run(study, model).output
        monkeypatch.setenv("MODEL_KEY", KEY + "wrong")  # the server repeats what it was sent
        refused = run(study, model, "--samples", 2, ok=False)
        assert "refuses the key (401): wrong key Bearer …" in str(refused.exception)
        output += refused.output + str(refused.exception)
    assert all(headers["authorization"].startswith(f"Bearer {KEY}") for headers in model.headers)
    frames(study)
    store = open_store(study.parent / "study.sqlite")
    backup(store, tmp_path / "backup.sqlite")
    store.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert KEY not in output
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    monkeypatch.delenv("MODEL_KEY")
    with pytest.raises(InputError, match="MODEL_KEY with the key is not set"):
        raise run(study, model, ok=False).exception


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--endpoint", "http://u:secret@127.0.0.1/v1"], "no user name"),
        (["--endpoint", "localhost:80"], "this is not an address"),
        (["--api-key-env", KEY], "not the name of a variable"),
        (["--samples", "0"], "--samples"),
        (["--endpoint", ""], "no endpoint is named"),
        (["--prompt", "nowhere.txt"], "nowhere.txt: the prompt cannot be read: No such file or directory"),
        (["--budget", "3"], "a budget in money needs price_in or price_out"),
    ],
)
def test_settings_that_cannot_be_are_told_in_one_line_without_secrets(tmp_path, options, words):
    study = made(tmp_path)
    result = CliRunner().invoke(judge, [str(study), "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", *options])
    assert isinstance(result.exception, InputError)
    message = str(result.exception)
    assert words in message
    assert "\n" not in message
    assert KEY not in message
    assert "secret" not in message


def test_a_prompt_is_shown_and_can_be_replaced(tmp_path):
    study = made(tmp_path)
    shown = CliRunner().invoke(judge, [str(study), "--show-prompt"]).output
    assert "it is about the question and answers much of it" in shown  # the study's own grades
    assert own_prompt("ordinal").hash in shown
    assert "<<< DOCUMENT" in shown
    mine = tmp_path / "mine.txt"
    mine.write_text("Say it.\n=====\n{{topic}}\n{{document}}\n{{format}}")
    with pytest.raises(InputError, match=r"no \{\{mark\}\}"):
        raise CliRunner().invoke(judge, [str(study), "--show-prompt", "--prompt", str(mine)]).exception
    mine.write_text("Say it {{mark}}.\n=====\n{{topic}}\n{{document}}\n{{format}}")
    with stand_in() as model:
        run(study, model)
        run(study, model, "--prompt", mine)
    prompts = frames(study, "replies").filter(purpose="document").group_by("assessor").agg(pl.col("prompt").unique())
    assert dict(prompts.iter_rows()) == {
        "m-demo-1": [own_prompt("ordinal").hash],
        "m-demo-2": [Prompt("mine.txt", mine.read_text()).hash],
    }


def test_samples_and_models_are_assessors_of_their_own_asked_side_by_side(tmp_path):
    study = made(tmp_path)
    with stand_in(Model(together=2)) as model:
        result = run(study, model, "--samples", 2, "--model", "other", "--concurrency", 4)
    rows = state(study).machines
    assert [(row.model, row.sample) for row in rows] == [("demo", 1), ("demo", 2), ("other", 1), ("other", 2)]
    assert all(row.answers for row in rows)
    assert 1 < model.most_at_once <= 4
    assert "samples at temperature 0" in result.output
    expected = int(re.search(r"will judge (\d+) places", result.output)[1])
    assert frames(study).height <= expected  # units go to each machine in turn
    assert frames(study)["assessor"].n_unique() == 4


def test_machines_are_not_paid(tmp_path):
    study = made(tmp_path, "ordinal", ("\n[pay]", "\n[pay]\nbudget = 0.01"))  # not even one unit of a person
    with stand_in() as model:
        run(study, model)
    shown = state(study)
    assert shown.completed == 4
    assert shown.paid == 0
    assert shown.budget_share == 0
    assert shown.hourly.median is None


@pytest.mark.parametrize(("obeys", "fooled"), [(True, 9), (False, 3)])
def test_hostile_documents_are_reported_against_their_honest_twins(tmp_path, obeys, fooled):
    study = made(tmp_path)
    with stand_in(Model(obeys=obeys)) as model:
        result = run(study, model, "--probe")
    assert f"demo: fooled by {fooled} of " in result.output
    assert not (study.parent / "study.sqlite").exists()
    assert len(tricks()) == 15
    assert len({trick.name for trick in tricks()}) == 15


def test_a_document_cannot_close_its_fence(tmp_path):
    study = made(tmp_path)
    with stand_in() as model:
        run(study, model)
    marks = [body["messages"][-1]["content"].split("<<< TOPIC ")[1][:20] for body in model.requests]
    assert len(set(marks)) == len(marks)  # nobody who writes a document can know the next one


def test_the_stand_in_runs_as_a_script(tmp_path):
    script = Path(__file__).parent / "stand_in_model.py"
    process = subprocess.Popen([sys.executable, str(script), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        study = made(tmp_path)
        shown = CliRunner().invoke(judge, [str(study), "--model", "x", "--endpoint", address, "--yes"])
        assert shown.exit_code == 0, shown.output
    finally:
        process.kill()
        process.wait()
    assert os.environ.get("MODEL_KEY") is None
