"""Ways back, invite links in bulk, and bonuses."""

import csv
import io
from decimal import Decimal

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from judging import Person
from starlette.testclient import TestClient

from judgewell.commands.bonus import bonus
from judgewell.commands.invite import invite
from judgewell.errors import InputError
from judgewell.server.app import make_app
from judgewell.server.judging import invitations as people
from judgewell.server.owner.action_routes import outcome
from judgewell.server.owner.actions import ACTIONS, perform, read_fields
from judgewell.server.owner.exclusions import exclude
from judgewell.server.platforms.bonus import take_bonuses
from judgewell.server.platforms.endings import return_link
from judgewell.server.queries.money import money, money_details
from judgewell.server.session.pages import Ending
from judgewell.server.store.schema import answers, assessors, audit, identities, reservations, units
from judgewell.study.platform import Codes, Platform

PANEL = '[pay]\namount = 1.25\n[platform]\nkind = "panel"\n[platform.codes]\ncompleted = "DONE1"\n'


def run(command, *arguments):
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_values_cannot_lead_a_return_link_elsewhere():
    link = "https://panel.example/done?c={code}&s={session}"
    evil = return_link(link, {"code": "C", "session": "x&c=FREE#@evil.example/../\r\nSet-Cookie: a"})
    assert evil == ("https://panel.example/done?c=C&s=x%26c%3DFREE%23%40evil.example%2F..%2F%0D%0ASet-Cookie%3A%20a")
    assert return_link(link, {"code": "C"}) == "https://panel.example/done?c=C&s="
    assert return_link(link, {"code": "{session}", "session": "S"}).endswith("c=%7Bsession%7D&s=S")


@pytest.mark.parametrize(
    "link",
    [
        "http://panel.example/{code}", "https://{code}/x", "https://{session}.example/{code}", "javascript:{code}",
        "https://user@panel.example/{code}", "https://panel.example/", "https://panel.example/{code}?{next}",
    ],
)  # fmt: skip
def test_a_return_link_has_a_host_of_its_own(link):
    with pytest.raises(ValueError, match="code"):
        Platform(kind="panel", return_link=link, codes=Codes(completed="C"))


def test_a_list_of_people_becomes_links_once(begin, database, tmp_path):
    study = begin()
    path, out = tmp_path / "study/study.toml", tmp_path / "links.csv"
    listed = tmp_path / "people.csv"
    listed.write_bytes('email;team\nada@example.org;café\n"=HYPERLINK(""x"")";@two\n'.encode("latin-1"))
    options = (path, "--csv", listed, "-o", out, "--address", "https://judge.example.org/", "--database", database)
    run(invite, *options)
    first = out.read_text()
    rows = list(csv.DictReader(io.StringIO(first)))
    assert [(row["email"], row["team"]) for row in rows] == [
        ("ada@example.org", "café"),
        ('\'=HYPERLINK("x")', "'@two"),
    ]
    assert all(row["link"].startswith("https://judge.example.org/i/") for row in rows)
    run(invite, *options)
    assert out.read_text() == first
    assert len(study.rows(sa.select(assessors))) == 2
    run(invite, *options, "--again")
    assert len(study.rows(sa.select(assessors))) == 4
    again = {row["link"] for row in csv.DictReader(io.StringIO(out.read_text()))}
    assert not again & {row["link"] for row in rows}


@pytest.mark.parametrize(
    ("text", "said"), [("who\nx\n", "no column"), ("label\na\n\na\n", "empty|twice"), ("label\na\na\n", "twice")]
)
def test_a_list_that_names_nobody_or_somebody_twice_is_told(begin, database, tmp_path, text, said):
    begin()
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        run(invite, tmp_path / "study/study.toml", "--csv", tmp_path / "people.csv", "--database", database)


def test_a_revoked_link_opens_nothing_and_frees_the_unit(begin, database, tmp_path):
    study = begin(topics=1)
    link = people.invite(study.store, study.served, ["Ada"])[0]
    client = TestClient(make_app(study.store, study.clock), follow_redirects=False)
    assert client.get(link.path).status_code == 303
    person = Person(study, study.rows(sa.select(assessors.c.number))[0].number)
    person.until("document")
    step = person.page.step
    person.send(value="5")
    run(invite, tmp_path / "study/study.toml", "--revoke", "Ada", "--database", database)
    assert client.get("/work").status_code == 403
    assert client.post("/work", data={"step": step, "value": "5"}).status_code == 403
    assert client.get(link.path).status_code == 404
    assert study.rows(sa.select(units.c.free)) == [(1,)]
    assert len(study.rows(sa.select(answers))) == 1
    with pytest.raises(InputError, match="no open link"):
        run(invite, tmp_path / "study/study.toml", "--revoke", "Ada", "--database", database)
    assert people.invite(study.store, study.served, ["Ada"])[0].path != link.path


def judged(study, person, count):
    """Somebody of the platform who has done so many units."""
    client = TestClient(make_app(study.store, study.clock), follow_redirects=False)
    client.get("/join", params={"PROLIFIC_PID": person, "SESSION_ID": "S"})
    number = study.rows(sa.select(identities.c.assessor).where(identities.c.outside == person))[0].assessor
    who = Person(study, number)
    for _ in range(count):
        who.until("done")
        who.send(action="more")
    return number


def test_units_beyond_the_first_are_paid_once(begin, database, tmp_path):
    study = begin(topics=3, redundancy=4, more=PANEL)
    path, out = tmp_path / "study/study.toml", tmp_path / "bonus.csv"
    judged(study, "P1", 3)
    judged(study, "P2", 1)
    judged(study, "P3,99", 2)  # an id with a sum in it
    run(bonus, path, "-o", out, "--database", database)
    assert out.read_text() == "P1,2.50\n"
    with pytest.raises(InputError, match="already"):
        run(bonus, path, "-o", out, "--database", database)
    assert "No bonus is due" in run(bonus, path, "-o", tmp_path / "second.csv", "--database", database)
    assert not (tmp_path / "second.csv").exists()
    judged(study, "P2", 1)
    run(bonus, path, "-o", tmp_path / "third.csv", "--database", database)
    assert (tmp_path / "third.csv").read_text() == "P2,1.25\n"
    run(bonus, path, "-o", out, "--again", "--database", database)
    assert out.read_text() == "P1,2.50\nP2,1.25\n"
    assert take_bonuses(study.store, study.served).lines == ()
    assert [row.action for row in study.rows(sa.select(audit))] == ["bonus"] * 3


def test_work_that_is_excluded_later_stays_paid(begin):
    study = begin(topics=3, redundancy=4, more=PANEL.replace("1.25", "1.25\nbonus = 0.333\ncovered = 0"))
    first, second = judged(study, "P1", 3), judged(study, "P2", 2)
    done = sa.select(reservations.c.number).where(reservations.c.assessor == first)
    number = study.rows(done)[0].number
    study.store.write(lambda c: exclude(c, study.clock(), first, number, "copied", "owner")).result()
    study.store.write(lambda c: exclude(c, study.clock(), second, None, "copied", "owner")).result()
    found = take_bonuses(study.store, study.served)
    assert found.lines == (("P1", Decimal("1.00")), ("P2", Decimal("0.67")))
    assert not any("excluded" in note for note in found.notes)
    spent = study.store.read(lambda c: money(c, study.served.study.pay, 0)).result()
    assert Decimal(f"{spent.paid:.2f}") == found.total


def test_invited_people_have_no_bonus_file(begin):
    study = begin()
    with pytest.raises(InputError, match="no platform"):
        take_bonuses(study.store, study.served)


def test_too_little_time_alone_never_costs_the_code(begin):
    study = begin(topics=1, more=PANEL + 'failed_quality = "BAD1"\n[checks]\nleast_seconds = 50\nrevisions = 0\n')
    client = TestClient(make_app(study.store, study.clock), follow_redirects=False)
    client.get("/join?PROLIFIC_PID=P1")
    person = Person(study, study.rows(sa.select(assessors.c.number))[0].number)
    page = person.until("done", "stopped", seconds=0.1)
    assert (page.kind, page.ending.code) == ("done", "DONE1")


def test_comprehension_gives_two_tries_and_ends_in_a_request_to_return(begin):
    asked = '[[checks.question]]\ntopic = "t0"\nquestion = "What?"\nanswers = ["a", "b"]\nright = 1\n'
    with pytest.raises(InputError, match="tries"):
        begin(topics=1, more=PANEL + asked + "tries = 1\n")
    study = begin(topics=1, more=PANEL + 'failed_comprehension = "WRONG1"\n' + asked)
    person = study.person()
    person.until("comprehension")
    assert person.send(choice="2").kind == "comprehension"
    page = person.send(choice="2")
    assert (page.kind, page.ending.code) == ("stopped", "WRONG1")
    assert "return your submission" in page.text


PROLIFIC = """[pay]
amount = 1.2
currency = "GBP"
budget = 1.2
[platform]
kind = "prolific"
[platform.codes]
completed = "DONE1"
no_work = "NONE1"
"""


def test_who_is_invited_into_a_platforms_study_is_not_paid(begin):
    """No code, no pay, no way back to a platform; and no part of the budget."""
    study = begin(topics=3, redundancy=4, more=PROLIFIC)
    invited, sent = study.person("invite"), study.person()
    invited.until("done")
    thanks = invited.page
    assert thanks.ending == Ending()
    assert "GBP" not in thanks.text
    assert thanks.more == "Continue"
    spent = study.store.read(lambda c: money(c, study.served.study.pay, 0)).result()
    assert (spent.paid, spent.budget_state) == (0, "")
    sent.until("done")
    paid = sent.page
    assert (paid.ending.code, paid.more) == ("DONE1", "")
    assert "1.20 GBP" in paid.text
    spent = study.store.read(lambda c: money_details(c, study.served.study.pay, spent, study.clock())).result()
    assert [point.amount for point in spent.spending] == [1.2]
    assert spent.hourly.assessors <= 1
    assert invited.send(action="more").kind == "topic"  # the budget is spent, but they do not use it
    assert study.person("invite").page.kind == "consent"
    assert study.person().page.kind == "no_work"


def test_who_meets_a_pause_may_return_the_submission(begin):
    study = begin(topics=2, more=PROLIFIC)
    perform(study.store, study.served, ACTIONS["pause"], read_fields(ACTIONS["pause"], {}))
    sent = study.person().page
    assert "return your submission" in sent.text
    assert "your work so far" not in sent.text
    assert sent.ending.code == "NONE1"
    assert "NONE1" in sent.ending.link
    invited = study.person("invite").page
    assert invited.ending == Ending()
    assert "submission" not in invited.text
    assert "come back later" in invited.text


def test_a_link_without_an_id_says_what_it_lacks(begin):
    study = begin(more=PROLIFIC)
    client = TestClient(make_app(study.store, study.clock), follow_redirects=False)
    response = client.get("/join")
    assert response.status_code == 404
    assert "lacks PROLIFIC_PID" in response.text


def test_one_button_of_a_paused_page_answers_to_enter(begin):
    study = begin(topics=2, more=PROLIFIC)
    perform(study.store, study.served, ACTIONS["pause"], read_fields(ACTIONS["pause"], {}))
    client = TestClient(make_app(study.store, study.clock), base_url="https://testserver")
    sent = {"PROLIFIC_PID": "p" * 24, "STUDY_ID": "s" * 24, "SESSION_ID": "t" * 24}
    page = client.get("/join", params=sent).text
    assert "cc=NONE1" in page
    assert page.count('data-key="Enter"') == 1


def test_forgetting_says_what_is_kept_and_still_due(begin):
    study = begin(topics=3, redundancy=4, more=PANEL)
    judged(study, "P1", 2)
    action = ACTIONS["forget"]
    result = perform(study.store, study.served, action, read_fields(action, {"assessor": "P1"}))
    sentence = outcome(action, result)
    assert "Kept under a new pseudonym: 8 answers." in sentence
    assert "A bonus of 1.25 USD was due. Pay it by hand" in sentence
    assert "If the platform sends this person again, they join as a new assessor" in sentence
    again = judged(study, "P1", 0)
    assert len(study.rows(sa.select(assessors.c.number))) == 2
    assert again == study.rows(sa.select(identities.c.assessor))[0].assessor
