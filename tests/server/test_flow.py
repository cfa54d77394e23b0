"""From consent to code: what an assessor goes through, on both databases."""

import polars as pl
import pytest
import sqlalchemy as sa
from judging import check_whole, good_answer

from judgewell.server.session.stages.judge import beginning
from judgewell.server.session.stages.stopped import Stopped
from judgewell.server.store.schema import answers, closing, events, reservations, verdicts

CODES = (
    '[platform]\nkind = "panel"\n[platform.codes]\ncompleted = "DONE1"\nno_consent = "NO1"\n'
    'failed_comprehension = "FC1"\nfailed_quality = "FQ1"\n'
)
QUESTION = (
    '[[checks.question]]\ntopic = "t{topic}"\nquestion = "About what?"\nanswers = ["this", "that", "both"]\nright = 1\n'
)
PRACTICE = "[checks.practice]\nlengths = [40.0, 120.0, 260.0]\n"
QUIZ = "[checks.quiz]\npass_mark = 0.84\n" + 3 * '[[checks.quiz.pair]]\nleft = "good"\nright = "bad"\nbetter = "left"\n'


@pytest.mark.parametrize("kind", ["binary", "ordinal", "magnitude", "bounded", "s100", "pairs"])
def test_every_scale_from_consent_to_code(begin, kind):
    study = begin(kind=kind, more=CODES, docs=4)
    person = study.person()
    seen = []
    page = person.page
    while page.kind != "done":
        seen.append(page.kind)
        assert "DONE1" not in repr(page)
        study.clock.move(25)
        page = person.send(**good_answer(page))
        assert not page.problem
    judged = "pair" if kind == "pairs" else "document"
    assert seen == ["consent", "instructions", "topic", *[judged] * 4, "questionnaire"]
    assert page.ending.code == "DONE1"
    assert page.ending.link == "https://app.prolific.com/submissions/complete?cc=DONE1"
    given = study.rows(sa.select(answers).order_by(answers.c.position))
    assert [row.position for row in given] == [1, 2, 3, 4]
    assert all(row.seconds == 25 and row.current for row in given)
    if kind == "pairs":
        assert {row.preferred for row in given} <= {"left", "right"}
        assert all(
            row.left_relevant and row.right_relevant and {row.left_score, row.right_score} == {1, 2} for row in given
        )
    else:
        low, high = {"binary": (0, 1), "ordinal": (0, 3)}.get(kind, (3, 90))
        assert {low, high} <= {row.value for row in given}
    check_whole(study.store)


def test_the_next_topic_comes_with_the_last_answer_where_the_study_says_so(begin):
    study = begin(topics=3, more="[work]\nstraight_on = true\n[pay]\namount = 1.5\n")
    person = study.person()
    seen = [person.until("topic").topic]
    kinds = []
    for earned in ("1.50", "3.00"):  # the questions come after the first unit
        person.send()
        page = person.until("topic", "questionnaire")
        kinds.append(page.kind)
        page = person.until("topic")
        assert page.notice.startswith("Your last task is saved. Thank you!")
        assert f"{earned} USD" in page.notice
        seen.append(page.topic)
    assert kinds == ["questionnaire", "topic"]
    assert len(set(seen)) == 3
    assert not person.send().notice
    page = person.until("done")
    assert (page.more, page.title) == ("", "Thank you")
    assert [row.state for row in study.rows(sa.select(reservations))] == ["done"] * 3
    check_whole(study.store)


def test_the_next_unit_is_on_another_topic_up_to_the_limit(begin):
    study = begin(topics=4, more="[work]\nmost_units = 3\n")
    person = study.person()
    for _ in range(3):
        page = person.until("done")
        again = person.send(action="more")
    assert page.more == ""
    assert again.kind == "no_work"
    assert person.page.kind == "no_work"
    topics = [row.topic for row in study.rows(sa.select(reservations))]
    assert len(topics) == len(set(topics)) == 3
    check_whole(study.store)


def test_who_does_not_agree_leaves_with_their_own_code_and_no_unit(begin):
    study = begin(more=CODES)
    person = study.person()
    page = person.send(action="disagree")
    assert isinstance(page, Stopped)
    assert page.ending.code == "NO1"
    assert not page.more
    assert not study.rows(sa.select(reservations))
    assert person.send(action="agree").kind == "stopped"


def test_practice_asks_again_and_then_ends_for_good(begin):
    study = begin(more=CODES + PRACTICE)
    person = study.person()
    person.until("practice")
    widths = []
    for _ in range(2):
        for position in range(3):
            page = person.page
            assert (page.progress.position, page.progress.total) == (position + 1, 3)
            widths.append(page.length)
            assert person.send(value="-1").problem
            page = person.send(value=str(300 - page.length))
        assert page.notice
        assert ("This is your last try." in page.notice) == (page.kind == "practice")
    assert sorted(widths[:3]) == sorted(widths[3:]) == [40, 120, 260]
    assert isinstance(page, Stopped)
    assert page.ending.code == "FC1"
    assert not page.more
    page = person.send(action="more")
    assert page.kind == "stopped"
    assert page.title == "Your part in this study has ended"
    assert [row.passed for row in study.rows(sa.select(verdicts))] == [False, False]
    assert study.rows(sa.select(reservations.c.state, reservations.c.ending)) == [("failed", "failed_practice")]
    assert study.person().until("done").kind == "done"
    check_whole(study.store)


def test_a_failed_question_gives_two_tries_then_another_unit_and_never_a_rejection(begin):
    study = begin(more=CODES + "".join(QUESTION.format(topic=t) for t in range(2)))
    person = study.person()
    person.until("comprehension")
    assert person.send(choice="7").problem
    assert person.send(choice="").problem
    page = person.send(choice="2")
    assert page.kind == "comprehension"
    assert "once more" in page.problem
    assert (page.problem_field, page.notice, person.outcome) == ("choice", "", "taken")
    assert person.page.problem == page.problem  # after a reload too
    page = person.send(choice="3")
    assert isinstance(page, Stopped)
    assert page.ending.code == "FC1"
    assert page.more == "Continue with another topic"
    assert "continue with this task" in page.text
    assert "this study" not in page.text
    page = person.send(action="more")
    assert page.kind == "topic"
    assert person.until("done").ending.code == "DONE1"
    states = study.rows(sa.select(reservations.c.state, reservations.c.ending).order_by("number"))
    assert states == [("failed", "failed_comprehension"), ("done", "completed")]
    check_whole(study.store)


def test_a_failed_question_of_the_only_topic_ends_the_study(begin):
    person = begin(topics=1, more=QUESTION.format(topic=0)).person()
    person.until("comprehension")
    person.send(choice="2")
    page = person.send(choice="3")
    assert "cannot continue with this study" in page.text
    assert not page.more


def test_the_quiz_is_passed_once_and_failed_for_good(begin):
    study = begin(kind="pairs", more=CODES + QUIZ)
    good, bad = study.person(), study.person()
    good.until("quiz")
    for _ in range(3):
        page = good.send(preferred="left")
    assert page.kind == "pair"
    assert "3 of 3" in page.notice
    good.until("done")
    good.send(action="more")
    assert good.send().kind == "pair"
    bad.until("quiz")
    assert bad.send(preferred="top").problem
    for side in ("left", "left", "right"):
        page = bad.send(preferred=side)
    assert isinstance(page, Stopped)
    assert not page.more


def test_a_failed_check_at_the_end_asks_to_revise_and_does_not_say_which(begin):
    study = begin(known=True, more=CODES)
    person = study.person()
    page = person.until("document")
    while page.kind == "document":
        page = person.send(value="5")
    assert page.kind == "revise"
    told = repr(page)
    assert "t0d" not in told
    assert "t1d" not in told
    page = person.send()
    assert (page.kind, page.revising, page.typed["value"]) == ("document", True, ("5",))
    assert person.until("done").ending.code == "DONE1"
    rows = study.rows(sa.select(verdicts).where(verdicts.c.name == "known").order_by("number"))
    assert [(row.attempt, row.passed) for row in rows] == [(1, False), (2, True)]
    assert study.rows(sa.select(reservations.c.revisions)) == [(1,)]
    given = study.rows(sa.select(answers))
    assert sorted(row.revision for row in given) == [1, 1, 1, 1, 2, 2, 2, 2]
    assert [row.revision for row in given if row.current] == [2, 2, 2, 2]


def test_a_second_look_shows_the_answers_and_the_tries_left(begin):
    study = begin(known=True, topics=1, more=CODES)
    person = study.person()
    page = person.until("document")
    given = []
    while page.kind == "document":  # the known H, document 0, is below the known N
        given.append((page.document.text, "1/100" if "about 0" in page.document.text else "3/2"))
        page = person.send(value=given[-1][1])
    assert page.kind == "revise"
    assert [(one.title, one.answer) for one in page.answers] == given
    assert [one.position for one in page.answers] == [1, 2, 3, 4]
    assert "may not count if its answers do not pass" in page.text
    assert "You have 2 tries left." in page.text
    page = person.send(place="3")
    assert (page.kind, page.progress.position, page.typed["value"]) == ("document", 3, (given[2][1],))
    while page.kind == "document":
        page = person.send(value="5")
    assert "This is your last try." in page.text
    assert person.send(place="9").progress.position == 1


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("ordinal", {"value": "N"}, "not relevant"),
        ("pairs", {"preferred": "left", "absolute": "both", "left_score": "2", "right_score": "1"},
         "The left one; Both; 2; 1"),
    ],
)  # fmt: skip
def test_a_second_look_words_answers_as_the_page_does(begin, kind, given, words):
    study = begin(kind=kind, topics=1, more="[checks]\nleast_seconds = 1000\n")
    person = study.person()
    page = person.until("pair" if kind == "pairs" else "document")
    while page.kind != "revise":
        page = person.send(**given)
    assert {one.answer for one in page.answers} == {words}
    assert "counts only" not in page.text  # too little time alone fails no unit


def test_the_consent_text_promises_what_is_kept(begin):
    text = begin().person().page.text
    assert "delete what identifies you; your answers stay" in " ".join(text.split())
    assert "your name or participant number" in " ".join(text.split())


@pytest.mark.parametrize("kind", ["magnitude", "pairs"])
def test_known_documents_are_no_trick_only_where_there_are_none(begin, kind):
    page = begin(kind=kind, topics=1).person().until("instructions")
    assert "There is no trick" in page.text


def test_instructions_do_not_promise_that_no_document_need_be_useful(begin):
    page = begin(known=True, topics=1).person().until("instructions")
    assert "no trick" not in page.text
    assert "or none" not in page.text
    assert "{trust}" not in page.text


def test_who_never_revises_well_ends_with_the_quality_code_and_frees_the_place(begin):
    study = begin(known=True, topics=1, more=CODES + "[checks]\nrevisions = 1\n")
    person = study.person()
    page = person.until("document")
    while page.kind in ("document", "revise"):
        page = person.send(value="5")
    assert isinstance(page, Stopped)
    assert page.ending.code == "FQ1"
    assert study.rows(sa.select(reservations.c.state, reservations.c.ending)) == [("failed", "failed_quality")]
    assert study.person().until("done")
    check_whole(study.store)


def test_too_little_time_alone_asks_to_revise_and_is_never_held_against_anybody(begin):
    study = begin(more=CODES + "[checks]\nleast_seconds = 20\nrevisions = 1\n")
    person = study.person()
    page = person.until("document")
    kinds = []
    while page.kind in ("document", "revise"):
        study.clock.move(2)
        page = person.send(**good_answer(page))
        kinds.append(page.kind)
    assert kinds.count("revise") == 1
    assert page.kind == "questionnaire"
    assert [row.passed for row in study.rows(sa.select(verdicts))] == [False, False]
    assert {row.seconds for row in study.rows(sa.select(answers).where(answers.c.current))} == {4.0}


def test_no_page_tells_how_many_seconds_are_too_few(begin):
    study = begin(topics=1, more="[checks]\nleast_seconds = 37\nrevisions = 1\n")
    person = study.person()
    seen = [person.page]
    while seen[-1].kind != "done":
        study.clock.move(2)
        seen.append(person.send(**good_answer(seen[-1])))
    assert {"instructions", "document", "revise"} <= {page.kind for page in seen}
    words = [str(getattr(page, name, "")) for page in seen for name in ("text", "notice", "problem", "help")]
    assert not any("37" in one for one in words)


@pytest.mark.parametrize("shown", [True, False])
def test_the_document_before_and_its_number_are_shown_where_the_study_says_so(begin, shown):
    person = begin(more="" if shown else "[work]\nshow_previous = false\n").person()
    page = person.until("document")
    assert page.previous is None
    first = page.document
    page = person.send(value="12.5")
    assert (page.previous is not None) == shown
    if shown:
        assert (page.previous.answer, page.previous.title) == ("12.5", first.title or beginning(first.text))


def test_who_was_invited_is_thanked_told_what_they_earned_and_that_they_may_go(begin):
    page = begin(topics=1, more="[pay]\namount = 1.5\n").person().until("done")
    assert page.title == "Thank you"
    for words in ("Thank you for your careful work", "You have earned 1.50 USD so far", "You can close this page now"):
        assert words in page.text
    assert "platform" not in page.text


def test_known_pairs_are_checked(begin):
    study = begin(kind="pairs", known=True)
    person = study.person()
    page = person.until("pair")
    while page.kind == "pair":
        form = good_answer(page)
        swapped = {"preferred": "right" if form["preferred"] == "left" else "left"}
        swapped |= {"left_score": form["right_score"], "right_score": form["left_score"]}
        page = person.send(**(form | swapped))
    assert page.kind == "revise"
    assert person.until("questionnaire").questions[0].name == "liked"
    page = person.send(liked=["ratio", "preference"], feedback=" Thanks ")
    assert page.kind == "done"
    assert dict(study.rows(sa.select(closing.c.name, closing.c.answer))) == {
        "liked": ["preference", "ratio"],
        "feedback": ["Thanks"],
    }


def test_going_back_is_logged_and_its_time_counts(begin):
    study = begin()
    person = study.person()
    person.until("document")
    study.clock.move(10)
    person.send(value="4", active="7", idle="3")
    study.clock.move(10)
    page = person.send(action="back", value="ignored", active="8.5", idle="1")
    assert (page.progress.position, page.typed["value"]) == (1, ("4",))
    assert page.can_go_back is False
    study.clock.move(10)
    page = person.send(value="6", active="2")
    assert (page.progress.position, page.typed) == (2, {})
    study.clock.move(10)
    person.send(value="9", active="5", idle="5")
    rows = {(row.position, row.revision): row for row in study.rows(sa.select(answers))}
    assert (rows[1, 1].value, rows[1, 1].current, rows[1, 1].seconds, rows[1, 1].idle) == (4, False, 7, 3)
    assert (rows[1, 2].value, rows[1, 2].current, rows[1, 2].seconds, rows[1, 2].visit) == (6, True, 9, 2)
    assert (rows[2, 1].seconds, rows[2, 1].idle) == (13.5, 6)
    assert study.rows(sa.select(reservations.c.backs)) == [(1,)]
    assert [row.data["active"] for row in study.rows(sa.select(events).where(events.c.kind == "back"))] == [8.5]


def test_a_study_can_forbid_going_back(begin):
    study = begin(more="[work]\ngoing_back = false\n")
    person = study.person()
    person.until("document")
    page = person.send(value="4")
    assert page.can_go_back is False
    assert person.send(action="back", value="5").progress.position == 3


def test_a_page_cannot_claim_more_time_than_has_passed(begin):
    study = begin()
    person = study.person()
    person.until("document")
    for claimed in ("1e9", "99999", "nan", "-4", "12;3"):
        study.clock.move(10)
        person.send(value="4", active=claimed, idle="99999")
    assert {(row.seconds, row.idle) for row in study.rows(sa.select(answers))} == {(10.0, 0.0)}


@pytest.mark.parametrize(
    "typed", ["abc", "-5", "NaN", "", "1e999", "9" * 1000, "0", "<script>", "\N{REPLACEMENT CHARACTER}"]
)
def test_what_is_not_on_the_scale_is_not_stored(begin, typed):
    study = begin()
    person = study.person()
    before = person.until("document")
    page = person.send(value=typed, comment="kept")
    assert person.outcome == "not taken"
    assert page.problem
    assert (page.step, page.progress, page.typed["comment"]) == (before.step, before.progress, ("kept",))
    assert not study.rows(sa.select(answers))
    assert person.send(value="5").progress.position == 2


def test_a_needed_comment_is_needed(begin):
    study = begin(more="[checks]\ncomment = 5\n")
    person = study.person()
    person.until("document")
    assert "few words" in person.send(value="5").problem
    assert "little more" in person.send(value="5", comment="a, b!").problem
    assert person.send(value="5", comment="because").progress.position == 2
    assert [row.comment for row in study.rows(sa.select(answers))] == ["because"]


def test_pair_answers_must_fit_together(begin):
    study = begin(kind="pairs")
    person = study.person()
    person.until("pair")
    form = {"preferred": "left", "absolute": "one", "left_score": "2", "right_score": "1"}
    assert "right document not relevant" in person.send(**form).problem
    assert "must be the larger" in person.send(**(form | {"absolute": "both", "right_score": "3"})).problem
    assert person.send(**(form | {"absolute": ""})).problem
    page = person.send(**(form | {"right_score": "0"}))
    assert page.progress.position == 2
    assert page.left.new != page.right.new
    row = study.rows(sa.select(answers))[0]
    assert (row.preferred, row.left_relevant, row.right_relevant, row.left_score, row.right_score) == (
        "left",
        True,
        False,
        2,
        0,
    )


def test_pages_do_not_tell_known_documents_apart(begin):
    study = begin(known=True)
    person = study.person()
    page = person.until("document")
    while page.kind == "document":
        told = repr(page)
        assert "known" not in told.replace("unknown", "")
        assert "t0d" not in told
        assert "t1d" not in told
        page = person.send(**good_answer(page))


def test_hostile_documents_are_shown_as_text_or_cleaned(begin, tmp_path, store):
    from judgewell.server.cleaning import clean_document
    from judgewell.server.session.served import as_html

    dirty = '<p onclick="x()">Hi <a href="javascript:x()">there</a><img src=//e.x/p.png></p><script>x()</script>'
    assert clean_document(dirty) == "<p>Hi there</p>"
    assert "<script" not in as_html("<script>x()</script> **b** ![p](https://e.x/p.png) [l](javascript:x)")
    assert "<strong>b</strong>" in as_html("**b**")
    study = begin(text="<script>alert(1)</script>")
    page = study.person().until("document")
    assert page.document.text.startswith("<script>")
    assert page.document.html == ""


def test_several_scales_show_their_own_instructions(begin):
    study = begin(kind="magnitude", topics=3, more="", redundancy=1)
    person = study.person()
    assert person.until("instructions").kind == "instructions"
    person.until("done")
    assert person.send(action="more").kind == "topic"
    assert pl.DataFrame(study.rows(sa.select(reservations.c.topic)))["topic"].n_unique() == 2


@pytest.mark.parametrize("scripts", [False, True])
def test_a_year_that_the_clock_jumped_ahead_is_nobodys_work(begin, scripts):
    study = begin()
    person = study.person()
    person.until("document")
    study.clock.move(31_536_000)
    times = {"active": "12", "idle": "31535988"} if scripts else {}
    person.send(value="20", **times)
    row = study.rows(sa.select(answers))[0]
    assert row.seconds == (12 if scripts else study.served.silence)
    assert row.seconds + row.idle <= 6 * study.served.silence
