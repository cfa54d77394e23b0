"""Blind review: k different readers for every unit, the rule decides once, and nobody sees what they must not."""

import re
import threading

import pytest
import sqlalchemy as sa
from judging import check_whole
from starlette.testclient import TestClient

from judgewell.errors import InputError
from judgewell.server.app import make_app
from judgewell.server.owner.access import SESSION, Account, make_key
from judgewell.server.owner.accounts import add_account
from judgewell.server.owner.actions import ACTIONS, read_fields, run
from judgewell.server.owner.review import READING, give_review, next_reading, review_progress, reviewer_agreement
from judgewell.server.store.schema import assessors, exclusions, items, reservations, reviews, units, verdicts

REVIEW = "[checks]\ncomment = 3\n[checks.review]\nreviewers = 3\nagainst = 2\n"


@pytest.fixture
def reviewed(begin):
    """A study with finished units, and reviewers."""

    class Reviewed:
        def __init__(self, people=1, more=REVIEW, **settings):
            self.study = begin(topics=1, redundancy=people, more=more, **settings)
            self.people = [self.study.person() for _ in range(people)]
            for person in self.people:
                person.until("done")
            self.reviewers = [self.account(f"reviewer {number}") for number in range(5)]

        def account(self, name):
            number = self.study.store.write(lambda c: add_account(c, self.study.clock(), name, "reviewer")).result()
            return Account(number, name, "reviewer", 0)

        def read(self, who):
            return self.study.store.write(
                lambda c: next_reading(c, self.study.served, who, self.study.clock())
            ).result()

        def vote(self, who, review, objects, reason="copied"):
            return self.study.store.write(
                lambda c: give_review(c, self.study.served, who, self.study.clock(), review, objects, reason)
            ).result()

        def client(self, who):
            now = self.study.clock()
            secret = self.study.store.write(lambda c: make_key(c, who.number, "session", now, SESSION)).result()
            client = TestClient(make_app(self.study.store, self.study.clock, 1000.0), follow_redirects=False)
            client.get("/owner/sign-in")
            from judgewell.server.limits import Rate
            from judgewell.server.process import Server
            from judgewell.server.web import Pages

            name = Server(self.study.store, self.study.served, Rate(1, 1), Pages()).cookie
            client.cookies.set(f"{name}-owner", secret)
            return client

    return Reviewed


def free(study):
    return [row.free for row in study.rows(sa.select(units.c.free).order_by(units.c.number))]


def test_two_of_three_objections_leave_a_unit_out_and_the_owner_takes_it_in_again(reviewed):
    found = reviewed()
    study = found.study
    for who, objects in zip(found.reviewers, (True, False, True), strict=False):
        assert free(study) == [0]
        assert found.vote(who, found.read(who).review, objects) is not None
    assert free(study) == [1]
    assert [(row.source, row.undone) for row in study.rows(sa.select(exclusions))] == [("review", None)]
    (verdict,) = study.rows(sa.select(verdicts).where(verdicts.c.name == "review"))
    assert (verdict.passed, verdict.reason) == (False, "2 of 3 reviewers found the comments not reasonable")
    assert found.read(found.reviewers[3]) is None  # three are enough
    name = study.rows(sa.select(assessors.c.pseudonym))[0][0]
    unit = study.rows(sa.select(units.c.unit))[0][0]
    action = ACTIONS["include"]
    fields = read_fields(action, {"assessor": name, "unit": unit})
    study.store.write(lambda c: run(c, study.served, study.clock(), action, fields)).result()
    assert free(study) == [0]
    check_whole(study.store)


def test_a_decided_unit_still_goes_to_all_and_is_decided_once(reviewed):
    found = reviewed()
    for who in found.reviewers[:3]:
        found.vote(who, found.read(who).review, True)
    assert len(found.study.rows(sa.select(exclusions))) == 1
    assert free(found.study) == [1]
    assert len(found.study.rows(sa.select(reviews))) == 3


def test_a_unit_goes_to_no_more_than_are_wanted_and_to_nobody_twice(reviewed):
    found = reviewed(people=2)
    opened = []

    def read(who):
        opened.append((who.number, found.read(who).review))

    threads = [threading.Thread(target=read, args=(who,)) for who in found.reviewers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = found.study.rows(sa.select(sa.func.count()).select_from(reviews).group_by(reviews.c.reservation))
    assert sorted(count for (count,) in counts) == [2, 3]
    first = found.reviewers[0]
    assert found.read(first).review == dict(opened)[first.number]  # a reload shows the same unit
    found.vote(first, dict(opened)[first.number], False)
    second = found.read(first)
    assert second is None or second.review != dict(opened)[first.number]


def test_a_reader_who_leaves_makes_room_after_an_hour(reviewed):
    found = reviewed()
    left = [found.read(who) for who in found.reviewers[:3]]
    assert found.read(found.reviewers[3]) is None
    found.study.clock.move(READING + 1)
    assert found.read(found.reviewers[3]) is not None
    assert found.vote(found.reviewers[0], left[0].review, True) is None


def test_another_reviewers_reading_cannot_be_answered_nor_an_answer_changed(reviewed):
    found = reviewed()
    first, second = found.reviewers[:2]
    review = found.read(first).review
    assert found.vote(second, review, True) is None
    assert found.vote(first, review, False) is not None
    assert found.vote(first, review, True) is None
    assert [row.objects for row in found.study.rows(sa.select(reviews))] == [False]
    with pytest.raises(InputError, match="needs a reason"):
        found.vote(second, found.read(second).review, True, " ")


def test_the_page_shows_comments_and_documents_and_nothing_else(reviewed):
    found = reviewed(known=True)
    who = found.reviewers[0]
    client = found.client(who)
    page = client.get("/owner/review")
    assert page.status_code == 200
    assert page.text.count("because it says so") == 4
    assert "A text about" in page.text
    name = found.study.rows(sa.select(assessors.c.pseudonym))[0][0]
    assert name not in page.text
    assert not re.search(r"\b(90|known|gold)\b", re.sub(r"<script.*?</script>|<link[^>]*>", "", page.text))
    shown = [re.sub(r"\d", "0", part) for part in re.findall(r'<li class="review-item">.*?</li>', page.text, re.S)]
    assert len(shown) == 4
    assert len(set(shown)) == 1  # but for their numbers, known documents look like the others
    guard = re.search(r'name="guard" value="([^"]+)"', page.text)[1]
    review = re.search(r'name="review" value="(\d+)"', page.text)[1]
    sent = {"review": review, "verdict": "object", "reason": ""}
    assert client.post("/owner/review", data=sent).status_code == 403
    assert client.post("/owner/review", data={**sent, "guard": guard}).status_code == 422
    assert client.post("/owner/review", data={**sent, "guard": guard, "reason": "copied"}).status_code == 303
    assert "There is nothing to review right now" in client.get("/owner/review").text


def test_hostile_comments_are_shown_as_text(reviewed):
    found = reviewed(people=1)
    found.study.store.write(
        lambda c: c.execute(sa.text("UPDATE answers SET comment = '<img src=x onerror=alert(1)>'"))
    ).result()
    page = found.client(found.reviewers[0]).get("/owner/review")
    assert "<img src=x" not in page.text
    assert "&lt;img src=x" in page.text


def test_progress_and_agreement_are_told(reviewed):
    found = reviewed(people=4)
    for number, who in enumerate(found.reviewers[:3]):
        while (reading := found.read(who)) is not None:
            row = found.study.rows(sa.select(reviews.c.reservation).where(reviews.c.number == reading.review))[0]
            found.vote(who, reading.review, row.reservation % 2 == 0 or (number == 2 and row.reservation == 1))
    told = found.study.store.read(lambda c: review_progress(c, found.study.served, found.reviewers[0])).result()
    assert (told.units, told.given, told.wanted, told.mine, told.fallen, told.passed) == (4, 12, 12, 4, 2, 2)
    # observed (1/3 + 1 + 1 + 1)/4 = 5/6; shares 7/12 and 5/12, expected 74/144
    assert told.kappa == pytest.approx((5 / 6 - 74 / 144) / (1 - 74 / 144))
    assert reviewer_agreement([]) == (None, "needs units that two reviewers have read")


def test_a_study_without_a_review_says_so(reviewed):
    found = reviewed(more="")
    assert found.read(found.reviewers[0]) is None
    assert "does not ask for a review of comments" in found.client(found.reviewers[0]).get("/owner/review").text
    assert len(found.study.rows(sa.select(items))) == 4
    assert found.study.rows(sa.select(reservations.c.excluded)) == [(False,)]
