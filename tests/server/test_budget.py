"""The budget and failed units: when nobody gets new units any more, and what assessors and owners read then."""

import dataclasses
import threading

import pytest
import sqlalchemy as sa
from judging import check_whole, good_answer

from judgewell.reports.cost import cost_part
from judgewell.reports.sources import Sources
from judgewell.server.owner.exclusions import exclude
from judgewell.server.owner.pages import place_words
from judgewell.server.queries.collected import collected_study
from judgewell.server.queries.history import assessor_rows
from judgewell.server.queries.money import money, money_details, shares
from judgewell.server.queries.status import status, status_text
from judgewell.server.session.budget import budget
from judgewell.server.store.schema import reservations
from judgewell.server.store.setup import prepare
from judgewell.study.model import Pay

PAY = "[pay]\namount = 1.0\ncurrency = 'EUR'\nfee = 0.25\n"


def held(study):
    return study.rows(sa.select(sa.func.count()).where(reservations.c.state.in_(("live", "done"))))[0][0]


def test_no_unit_is_handed_out_beyond_the_budget(begin):
    study = begin(topics=8, more=PAY + "budget = 5.0\n")
    people = [study.person() for _ in range(8)]
    for person in people:
        person.send(action="agree")
    assert held(study) == 4  # of 1.25 each
    waiting = [person for person in people if person.page.kind == "come_back"]
    assert len(waiting) == 4  # units in progress may still be given up
    assert "No task is free right now. Please come back in 1 minute." in waiting[0].page.text
    for person in people:
        if person not in waiting:
            person.until("done")
    assert {person.send().kind for person in waiting} == {"no_work"}
    assert study.person().page.kind == "no_work"
    state = study.store.read(lambda c: status(c, study.clock())).result()
    assert (state.paid + state.fee, state.budget_share, state.budget_state) == (5.0, 1.0, "reached")
    assert "budget: 100 % of 5.00 EUR is spent" in status_text(state)
    check_whole(study.store)


def test_what_is_to_come_ends_at_the_budget(begin):
    """Eight units of 1.25 are needed and 5.00 pays for four; one is done."""
    study = begin(topics=8, more=PAY + "budget = 5.5\n")
    study.person().until("done")
    spent = study.store.read(lambda c: money(c, study.served.study.pay, 7)).result()
    assert (spent.to_come + spent.to_come_fee, spent.total) == (3.75, 5.0)
    assert (spent.units_to_come, spent.units_beyond) == (3, 4)
    sentence = "The budget pays for 3 of the 7 units still needed; then the study ends"
    assert spent.within_budget == sentence
    assert sentence in status_text(study.store.read(lambda c: status(c, study.clock())).result())
    none = dataclasses.replace(spent, units_to_come=0, units_beyond=7)
    assert none.within_budget == "The budget does not pay for the 7 units still needed: the study ends here"
    enough = study.store.read(lambda c: money(c, study.served.study.pay, 3)).result()
    assert (enough.within_budget, enough.units_beyond) == ("", 0)


def test_a_failed_unit_leaves_room_in_the_budget_again(begin):
    study = begin(topics=3, known=True, more=PAY + "budget = 1.25\n[checks]\nrevisions = 0\n")
    first, second = study.person(), study.person()
    page = first.until("document")
    second.send(action="agree")
    assert second.page.kind == "come_back"
    while page.kind == "document":
        page = first.send(value="5")
    assert page.kind == "stopped"
    assert second.send().kind == "instructions"


def test_people_who_come_at_once_stay_within_the_budget(begin):
    study = begin(topics=6, docs=2, size=2, redundancy=4, more=PAY + "budget = 12.5\n")
    people = [study.person() for _ in range(24)]
    threads = [threading.Thread(target=person.send, kwargs={"action": "agree"}) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert held(study) == 10


def test_the_budget_may_be_raised_while_the_study_runs(begin, tmp_path):
    study = begin(topics=4, more=PAY + "budget = 1.25\n")
    person = study.person()
    person.until("done")
    assert person.page.more == ""
    file = next(tmp_path.rglob("study.toml"))
    file.write_text(file.read_text().replace("budget = 1.25", "budget = 50"))
    assert prepare(study.store, file, study.clock) is False
    again = type(study)(study.store, file, study.clock)
    assert again.served.study.pay.budget == 50
    assert type(person)(again, person.number).page.more


def test_the_owner_is_warned_at_four_fifths(begin):
    study = begin(topics=5, more=PAY + "budget = 6.25\n")
    person = study.person()
    states = []
    for _ in range(5):
        person.until("done")
        spent = study.store.read(lambda c: money(c, study.served.study.pay, 0)).result()
        states.append(spent.budget_state)
        person.send(action="more")
    assert states == ["", "", "", "near", "reached"]
    assert spent.warning.startswith("6.25 of the budget of 6.25 EUR is spent (100 %); no new units")


def test_a_bonus_counts_for_units_beyond_those_the_platform_pays(begin):
    pay = Pay(amount=2.0, covered=2, bonus=0.5, fee=0.1, budget=100.0)
    assert [pay.earned(units) for units in (0, 1, 2, 3, 5)] == [0, 2, 4, 4.5, 5.5]
    study = begin(topics=4, more="[pay]\namount = 2.0\ncovered = 2\nbonus = 0.5\nfee = 0.1\n")
    person = study.person()
    for _ in range(4):
        person.until("done")
        person.send(action="more")
    state = study.store.read(lambda c: budget(c, study.served.study.pay)).result()
    assert (round(state.spent, 6), state.in_progress) == (5.5, 0)


def test_pay_for_an_hour_counts_the_time_at_work(begin):
    study = begin(topics=2, docs=4, more="[pay]\namount = 1.0\n")
    slow, quick = study.person(), study.person()
    slow.until("done", seconds=150.0)
    quick.until("done", seconds=50.0)
    pay = study.served.study.pay
    details = study.store.read(lambda c: money_details(c, pay, money(c, pay, 0), study.clock())).result()
    # from taking the unit: instructions, topic and four documents
    assert (details.hourly.lowest, details.hourly.highest) == (3600 / (6 * 150), 3600 / (6 * 50))
    assert sum(bar.assessors for bar in details.hourly.bars) == details.hourly.assessors == 2
    assert details.spending[-1].amount == 2.0
    assert details.documents == 8


def owners_words(study):
    """Where the owner reads that the first assessor is."""
    return place_words(study.store.read(lambda c: assessor_rows(c, study.clock())).result()[0])


def test_somebody_who_fails_again_and_again_is_thanked_and_stopped(begin):
    study = begin(topics=8, known=True, more="[pay]\namount = 1.0\n[checks]\nrevisions = 0\nmost_failed = 3\n")
    person = study.person()
    person.until("done")
    page = person.send(action="more")
    for failed in (1, 2, 3):
        while page.kind != "stopped":
            page = person.send(**(person.good(page) if page.kind != "document" else {"value": "5"}))
        assert bool(page.more) == (failed < 3)
        if failed < 3:
            assert "did not pass the quality checks" in page.text
            assert page.more == "Continue with another task for 1.00 USD"
            assert owners_words(study) == "failed a check in the last unit"
            page = person.send(action="more")
    assert "Several of your tasks did not pass" in page.text
    assert "Thank you for the time you gave" in page.text
    assert "You have earned 1.00 USD so far" in page.text
    assert "You can close this page now" in page.text
    assert "platform" not in page.text
    assert owners_words(study) == "locked out after a failed check"
    assert person.send(action="more").kind == "stopped"
    assert study.person().page.kind == "consent"
    check_whole(study.store)


def test_the_sums_shown_are_the_sums_of_what_is_shown(begin):
    study = begin(topics=3, more="[pay]\namount = 0.35\nfee = 0.333\n")
    person = study.person()
    for _ in range(2):
        person.until("done")
        person.send(action="more")
    pay = study.served.study.pay
    spent = study.store.read(lambda c: money(c, pay, 1)).result()
    assert (spent.paid, spent.paid_fee, spent.so_far) == (0.7, 0.23, 0.93)
    assert (spent.to_come, spent.to_come_fee, spent.still_to_come) == (0.35, 0.12, 0.47)
    assert spent.total == 1.4
    details = study.store.read(lambda c: money_details(c, pay, spent, study.clock())).result()
    assert details.spending[-1].amount == spent.so_far


@pytest.mark.parametrize(
    ("total", "parts"), [(0.93, [1, 1, 0]), (10.0, [1, 1, 1]), (0.05, [3] * 7), (0.0, [0, 0]), (1.0, [])]
)
def test_shares_of_a_sum_add_up_to_it(total, parts):
    parted = shares(total, parts)
    assert len(parted) == len(parts)
    if sum(parts):
        assert round(sum(parted), 6) == total
        assert all(abs(one - total * part / sum(parts)) <= 0.01 for one, part in zip(parted, parts, strict=True))


def test_the_reports_cost_is_of_its_own_judgments_and_names_the_rest(begin):
    """Three units of 1.25, one of them excluded: the report has eight judgments."""
    study = begin(topics=3, more=PAY)
    people = [study.person() for _ in range(3)]
    for person in people:
        page = person.page
        while page.kind != "done":
            study.clock.move(30)
            page = person.send(**good_answer(page))
    study.store.write(lambda c: exclude(c, study.clock(), people[0].number, None, "copied", "owner")).result()
    report = collected_study(study.store, study.clock())
    assert (report.judgments.height, report.spent, report.excluded_units, report.excluded_spent) == (8, 2.5, 1, 1.25)
    (finding,) = cost_part(Sources(judgments=report.judgments, study=report)).findings
    minutes = round(60 * report.excluded_hours)
    assert finding.text.startswith("The data of this report took 8 judgments, ")
    assert finding.text.endswith(
        f"and 2.50 EUR with fees. 1 excluded unit took another {minutes} minutes of work and 1.25 EUR."
    )
