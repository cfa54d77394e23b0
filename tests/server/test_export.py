"""What was gathered, as files: nothing is missing, nothing runs in a spreadsheet; backups bring all of it back."""

import json
import re
import sqlite3
import threading

import polars as pl
import pytest
import sqlalchemy as sa
from judging import Clock, Study, check_whole, good_answer, write_study
from waiting import HANG

from judgewell.errors import InputError
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.scaling.scale import scale
from judgewell.server.owner.extra_judgments import ask_more
from judgewell.server.queries.export import defused, export
from judgewell.server.queries.status import status, status_text
from judgewell.server.store.backup import backup, restore
from judgewell.server.store.schema import answers, metadata
from judgewell.server.store.transactions import open_store
from judgewell.tables import JUDGMENTS


@pytest.fixture
def gathered(begin):
    """One finished unit with a revision, one failed, one abandoned and one in hand."""
    study = begin(topics=4, known=True, more="[checks]\ncomment = 3\nrevisions = 0\n[pay]\namount = 2.0\nfee = 0.25\n")
    done, failed, left, busy = (study.person() for _ in range(4))
    done.until("document")
    done.send(value="7", comment="first thought")
    done.send(action="back")
    done.until("done")
    failed.until("document")
    while failed.page.kind == "document":
        failed.send(value="5", comment="=cmd()")
    left.until("document")
    left.send(value="5", comment="gone soon")
    study.clock.move(study.served.silence + 1)
    study.expire()
    busy.until("document")
    busy.send(value="6", comment="still here")
    return study


def test_the_export_holds_everything_and_marks_what_is_not_finished(gathered, tmp_path):
    paths = {path.name for path in export(gathered.store, tmp_path / "out")}
    assert paths == {
        *("judgments.csv", "judgments.parquet", "excluded.csv", "units.csv", "verdicts.csv", "questionnaire.csv"),
        "log.jsonl",
    }
    judged = read_judgments(tmp_path / "out/judgments.csv")
    assert judged.columns == [*JUDGMENTS.names, "assessor_kind", "known"]
    assert judged["position"].to_list() == [1, 2, 3, 4]
    assert judged["assessor"].n_unique() == judged["unit"].n_unique() == 1
    assert "first thought" not in judged["comment"].to_list()
    assert pl.read_parquet(tmp_path / "out/judgments.parquet").equals(judged)
    others = pl.read_csv(tmp_path / "out/excluded.csv")
    assert dict(others.group_by("ending").len().iter_rows()) == {"failed": 4, "abandoned": 1, "in progress": 1}
    endings = pl.read_csv(tmp_path / "out/units.csv")["ending"].to_list()
    assert endings == ["completed", "failed", "abandoned", "in progress"]
    assert pl.read_csv(tmp_path / "out/verdicts.csv")["passed"].to_list() == [True, False]
    moment = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")
    units, checks = pl.read_csv(tmp_path / "out/units.csv"), pl.read_csv(tmp_path / "out/verdicts.csv")
    assert all(map(moment.fullmatch, [*units["begun"], *units["seen"], *units["finished"].drop_nulls(), *checks["at"]]))
    log = [json.loads(line) for line in (tmp_path / "out/log.jsonl").read_text().splitlines()]
    assert checks["at"].to_list() == [line["at"] for line in log if line["kind"] == "verdict"]
    record = json.loads((tmp_path / "out/judgments.csv.meta.json").read_text())
    assert any("'failed'" in note for note in record["notes"])
    assert units["failed_check"].to_list() == [None, "known", None, None]


def test_the_log_holds_every_revision_verdict_and_event_in_order_of_time(gathered, tmp_path):
    export(gathered.store, tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out/log.jsonl").read_text().splitlines()]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    given = [line for line in lines if line["kind"] == "answer"]
    assert len(given) == len(gathered.rows(sa.select(answers))) == 11
    first = [line for line in given if line.get("comment") == "first thought"]
    assert [(line["current"], line["revision"], line["value"]) for line in first] == [(False, 1, 7.0)]
    kinds = {line["kind"] for line in lines}
    assert {"created", "reserved", "answer", "back", "verdict", "closed", "expired", "closing"} <= kinds
    assert sum(line["comment"] == "=cmd()" for line in given) == 4


def test_the_same_export_twice_gives_the_same_bytes(gathered, tmp_path):
    for folder in ("a", "b"):
        export(gathered.store, tmp_path / folder)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_formulas_are_defused_in_csv_only(gathered, tmp_path):
    export(gathered.store, tmp_path / "out")
    assert "'=cmd()" in (tmp_path / "out/excluded.csv").read_text()
    assert '"=cmd()"' in (tmp_path / "out/log.jsonl").read_text()
    frame = pl.DataFrame({"comment": ["=1", "+1", "-1", "@x", "\tx", "\rx", "fine", "", None], "doc": ["-d"] * 9})
    assert defused(frame)["comment"].to_list() == ["'=1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "fine", "", None]
    assert defused(frame)["doc"].to_list() == ["-d"] * 9


def test_inclusion_probabilities_go_from_the_pool_through_the_export_into_the_gains(store, tmp_path):
    path = write_study(tmp_path / "study", kind="ordinal", topics=1, known=True)
    drawn = {"t0d1": 1.0, "t0d2": 0.25, "t0d3": 0.5}  # t0d0 is a known document: it was not drawn and is in every unit
    rows = "".join(f"t0,{doc},{inclusion}\n" for doc, inclusion in drawn.items())
    (path.parent / "pool.csv").write_text("topic,doc,inclusion\n" + rows)
    study = Study(store, path)
    study.person().until("done")
    ask_again = store.write(lambda c: ask_more(c, study.served, "t0", ["t0d2"], 1)).result()
    assert ask_again["extra"]
    study.person().until("done")
    export(store, tmp_path / "out")
    judged = read_judgments(tmp_path / "out/judgments.csv")
    assert dict(judged.select("doc", "inclusion").iter_rows()) == {"t0d0": 1.0, **drawn}
    assert judged.filter(pl.col("doc") == "t0d2").height == 2
    gains = scale(tmp_path / "out/judgments.csv", method="mean", interval="none")
    assert dict(gains.select("doc", "inclusion").iter_rows()) == {"t0d0": 1.0, **drawn}


def test_pairs_are_exported_as_pairs(begin, tmp_path):
    study = begin(kind="pairs", topics=1)
    study.person().until("done")
    paths = {path.name for path in export(study.store, tmp_path / "out")}
    assert {"pairs.csv", "pairs.parquet"} <= paths
    assert "judgments.csv" not in paths
    pairs = read_pairs(tmp_path / "out/pairs.csv")
    assert len(pairs) == 4
    assert set(pairs["preferred"]) <= {"left", "right"}
    assert pairs["left_relevant"].all()
    assert pairs["partition"].null_count() == 0


def test_the_status_counts_topics_checks_and_money(gathered):
    found = gathered.store.read(lambda c: status(c, gathered.clock())).result()
    assert (found.needed, found.completed, found.answers, found.revised) == (4, 1, 11, 1)
    assert [(one.in_progress, one.failed, one.abandoned) for one in found.topics] != []
    assert sum(one.failed for one in found.topics) == sum(one.abandoned for one in found.topics) == 1
    assert sum(one.in_progress for one in found.topics) == 1
    assert (found.paid, found.fee) == (2.0, 0.5)
    assert {(one.name, one.passed, one.failed) for one in found.checks} == {("known", 1, 1)}
    text = status_text(found)
    assert "check known documents in order: 1 passed, 1 failed" in text
    assert "cost so far: 2.00 USD and 0.50 in fees" in text
    assert "completed: 1 unit by 1 assessor, 4 standing answers" in text
    assert text.splitlines()[-1] == f"pay for an hour of work: {found.hourly.median:,.2f} USD"


def rows_of(store):
    def read(connection):
        return {
            table.name: [tuple(row) for row in connection.execute(sa.select(table))] for table in metadata.sorted_tables
        }

    return store.read(read).result()


def sorted_rows(store):
    return {name: sorted(map(repr, rows)) for name, rows in rows_of(store).items()}


def test_a_backup_restores_every_row_in_either_kind_of_database(gathered, tmp_path, postgres):
    from databases import new_database

    path = backup(gathered.store, tmp_path / "one.backup")
    before = sorted_rows(gathered.store)
    for target in (str(tmp_path / "other.sqlite"), new_database(postgres)):
        store = open_store(target)
        restore(store, path)
        assert sorted_rows(store) == before
        study = Study(store, tmp_path / "study/study.toml", Clock(gathered.clock()))
        assert study.person().until("done").kind == "done"
        check_whole(store)
        with pytest.raises(InputError, match="--replace"):
            restore(store, path)
        restore(store, path, replace=True)
        assert sorted_rows(store) == before
        store.close()


def test_a_backup_of_a_running_study_is_whole_and_old_pages_go_on_after_a_restore(begin, tmp_path):
    study = begin(topics=8, docs=8, size=8, redundancy=2)
    people = [study.person() for _ in range(2)]
    stop = threading.Event()

    def judge(person):
        page = person.page
        while not stop.is_set() and page.kind != "no_work":
            page = person.send(**good_answer(page))
            if page.kind == "done" and not page.more:
                return

    threads = [threading.Thread(target=judge, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    paths = [backup(study.store, tmp_path / f"{number}.backup") for number in range(3)]
    stop.set()
    for thread in threads:
        thread.join(HANG)
    for number, path in enumerate(paths):
        copy = open_store(tmp_path / f"copy{number}.sqlite")
        restore(copy, path)
        check_whole(copy)
        copy.close()
    step = people[0].page.step
    restore(study.store, paths[0], replace=True)
    page = people[0].send(step=step, value="5")
    assert people[0].outcome in ("repeated", "taken", "not taken")
    assert page.kind == people[0].page.kind
    for person in people:
        person.until("done")
    check_whole(study.store)


def test_what_is_no_backup_is_refused(tmp_path, begin):
    study = begin()
    (tmp_path / "text").write_text("not a database")
    sqlite3.connect(tmp_path / "empty.sqlite").execute("CREATE TABLE t (x)").connection.close()
    for name in ("text", "empty.sqlite", "missing"):
        with pytest.raises(InputError):
            restore(study.store, tmp_path / name, replace=True)
    path = backup(study.store, tmp_path / "b")
    with pytest.raises(InputError, match="already"):
        backup(study.store, path)
    assert sorted(file.name for file in tmp_path.iterdir() if "part" in file.name) == []


def test_judgments_say_which_documents_are_known(gathered, tmp_path):
    """So that methods which need known documents read our own export."""
    from judgewell.scaling.known import KnownRatio

    export(gathered.store, tmp_path)
    judged = read_judgments(tmp_path / "judgments.csv")
    assert sorted(judged["known"].drop_nulls()) == ["H", "N"]
    gains = KnownRatio()(judged)
    known = judged.filter(pl.col("known") == "N")["doc"][0]
    assert gains.filter(pl.col("doc") == known)["gain"].to_list() == [1.0]
