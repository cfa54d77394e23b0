"""Every kind of page, made by hand: for pictures, for axe, and for looking at a template without a study."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from markupsafe import Markup

from judgewell.server.session import pages
from judgewell.server.session.questions import grade_keys
from judgewell.server.session.served import as_html
from judgewell.server.session.stages.comprehension import Comprehension
from judgewell.server.session.stages.consent import Consent
from judgewell.server.session.stages.done import Done
from judgewell.server.session.stages.instructions import Instructions
from judgewell.server.session.stages.judge import DocumentPage, PairPage
from judgewell.server.session.stages.practice import Practice
from judgewell.server.session.stages.questionnaire import Questionnaire
from judgewell.server.session.stages.quiz import QuizPair
from judgewell.server.session.stages.revise import Revise
from judgewell.server.session.stages.stopped import Stopped
from judgewell.server.session.stages.topic import TopicPage
from judgewell.server.session.stages.waiting import ComeBack, NoWork
from judgewell.study.questions import FOUR_GRADES
from judgewell.study.texts import english

SAY = english().text
WORDS = {key.removeprefix("page."): text for key, text in english().texts.items() if key.startswith("page.")}
WORDS |= {name: SAY(f"trouble.{name}") for name in ("offline", "server", "elsewhere", "expired")}

TOPIC = pages.Topic(
    heading=SAY("page.topic"),
    title="Descaling a kettle without strong chemicals",
    parts=(
        pages.Part("Title", "Descaling a kettle without strong chemicals"),
        pages.Part("Description", "How can limescale be taken out of an electric kettle with what is in a kitchen?"),
        pages.Part(
            "What counts as relevant",
            "A relevant document names a household substance and says how it is used in a kettle. Advice on washing "
            "machines or on bought descalers alone is not relevant. What keeps limescale from forming helps a little.",
        ),
    ),
    words=("descaling", "kettle", "without", "strong", "chemicals"),
)

VINEGAR = pages.Document(
    "Document",
    "Vinegar, lemon and patience",
    """Limescale is what hard water leaves behind when it boils. In a kettle it settles on the element and on the walls,
and after a few months the water takes longer to boil and tastes of chalk.

Fill the kettle half with water and half with white vinegar. Bring it to the boil once, switch it off and leave it for
half an hour. The scale comes off in flakes. Rinse three times, boil a full kettle of fresh water and pour it away; then
the smell is gone as well.

Without vinegar:

- the juice of two lemons
- two spoons of citric acid
- a spoon of cream of tartar

Substance        Amount        Minutes
vinegar          half a litre       30
citric acid      two spoons         15

Whoever lives with hard water should do this every six weeks. A kettle that is emptied in the evening and left open to
dry stays clean about twice as long.""",
)
SHOP = pages.Document(
    "Document",
    "Three kettles compared",
    """The cheapest of the three boils a litre in three minutes and ten seconds. It is loud, its lid sticks, and its
handle grows warm.

The second one has a lamp that shows the water level and a filter before the spout that holds back flakes of limescale.
The filter can be taken out and brushed under the tap.

We would buy the third one again: it keeps water warm for an hour without boiling it a second time.""",
)
HTML = pages.Document(
    "Document",
    "A page with its own markup",
    "",
    "<h1>Tea notes</h1><p>Soft water makes <b>clear</b> tea. <script>document.title='broken'</script></p>"
    "<table><tr><th>Town<th>Hardness<tr><td>Hill<td>3<tr><td>Valley<td>19</table>",
)


def common(**more: Any) -> dict[str, Any]:
    return {"study": "How useful are these documents?", "language": "en", "step": "0:0.x", "words": WORDS, **more}


def judging(**more: Any) -> dict[str, Any]:
    shared = {
        "title": TOPIC.title,
        "topic": TOPIC,
        "progress": pages.Progress(3, 8, "3 of 8"),
        "unit_progress": pages.Progress(1, 4, "Task 1 of 4"),
        "can_go_back": True,
        "first": False,
        "last": False,
        "revising": False,
        "can_highlight": True,
        "comment": pages.CommentBox(SAY("comment.label"), SAY("comment.placeholder"), 3),
        "help": as_html(SAY("instructions.judging")),
        "alive_every": 60,
    }
    return common(**{**shared, **more})


def scale_input(kind: str, widget: str, choices: tuple[pages.Choice, ...] = (), **wording: str) -> pages.ScaleInput:
    explained = "instructions_relative" if kind in ("magnitude", "bounded") else "instructions"
    return pages.ScaleInput(
        widget=widget,  # type: ignore[arg-type]
        question=SAY(f"scale.{kind}.question", **wording),
        instructions=as_html(SAY(f"scale.{kind}.{explained}", **wording)),
        choices=choices,
        low=wording.get("low", ""),
        high=wording.get("high", ""),
        untouched=SAY("scale.s100.untouched") if widget == "slider" else "",
    )


GRADES = tuple(
    pages.Choice(grade.key, grade.name, grade.about, key)
    for grade, key in zip(FOUR_GRADES, grade_keys(FOUR_GRADES), strict=True)
)
ORDINAL = scale_input("ordinal", "choice", GRADES, grades="- **relevant**")
TWO = pages.Choice("0", "not relevant", key="0"), pages.Choice("1", "relevant", key="1")
BINARY = scale_input("binary", "choice", TWO, low="not relevant", high="relevant")
MAGNITUDE = scale_input("magnitude", "number")
BOUNDED = scale_input("bounded", "number", low="0", high="100")
S100 = scale_input("s100", "slider", low="0", high="100")

POINTS = ("1 very easy", "2", "3", "4", "5 very hard")
SIDES = tuple(
    pages.Choice(side, SAY(f"pair.preference.{side}"), key=str(number))
    for number, side in enumerate(("left", "right"), 1)
)


def pair_questions() -> tuple[pages.PairQuestion, ...]:
    def asked(kind: str, fields: tuple[str, ...], **more: Any) -> pages.PairQuestion:
        told = as_html(SAY(f"pair.{kind}.instructions"))
        return pages.PairQuestion(kind, SAY(f"pair.{kind}.question"), told, fields, **more)  # type: ignore[arg-type]

    relevant = tuple(
        pages.Choice(name, SAY(f"pair.absolute.{name}"), key=key)
        for name, key in zip(("none", "one", "both"), "345", strict=True)
    )
    return (
        asked("preference", ("preferred",), choices=SIDES),
        asked("absolute", ("absolute",), choices=relevant),
        asked("ratio", ("left_score", "right_score"), labels=(SAY("pair.ratio.left"), SAY("pair.ratio.right"))),
    )


def document_page(scale: pages.ScaleInput, document: pages.Document = VINEGAR, **more: Any) -> DocumentPage:
    return DocumentPage(**judging(**more), document=document, scale=scale)


def pair_page(first: bool = False, **more: Any) -> PairPage:
    """The first one of a unit has no new document and asks for a reason here."""
    mark = "" if first else WORDS["document_new"]
    left = pages.Document(WORDS["document_left"], VINEGAR.title, VINEGAR.text)
    right = pages.Document(WORDS["document_right"], SHOP.title, SHOP.text, new=not first, mark=mark)
    more |= (
        {"progress": pages.Progress(1, 8, "1 of 8"), "can_go_back": False, "first": True}
        if first
        else {"comment": None}
    )
    return PairPage(**judging(**more), left=left, right=right, questions=pair_questions())


def before_work() -> dict[str, pages.Page]:
    words = {"question": SAY("scale.magnitude.question"), "comment": SAY("instructions.comment")}
    instructions = SAY("instructions.documents", total=8, trust=SAY("instructions.trust_documents"), **words)
    answers = (
        "A price list of kettles",
        "How citric acid frees a kettle of scale",
        "Why tap water is hard",
        "A tea shop",
    )
    return {
        "consent": Consent(
            **common(title=SAY("consent.title")),
            text=as_html(
                SAY("consent.text", details="The study is led by the reading room. Write to reading@example.org.")
            ),
            agree=SAY("consent.agree"),
            disagree=SAY("consent.disagree"),
        ),
        "instructions": Instructions(
            **common(title=SAY("instructions.title")),
            text=as_html(instructions + "\n\n" + SAY("instructions.judging")),
            scale=MAGNITUDE.instructions,
            ready=SAY("ready.text", total=8, minutes=9),
        ),
        "practice": Practice(
            **common(title=SAY("practice.title")),
            text=as_html(SAY("practice.text", total=3)),
            question=SAY("practice.question"),
            progress=pages.Progress(2, 3, SAY("practice.line", position=2, total=3)),
            length=120,
            widest=260,
        ),
        "topic": TopicPage(
            **common(title=SAY("page.topic"), notice=SAY("practice.passed")),
            topic=TOPIC,
            ready=SAY("ready.text", total=8, minutes=9),
            unit_progress=pages.Progress(2, 4, "Task 2 of 4"),
        ),
        "comprehension": Comprehension(
            **common(title=SAY("comprehension.title"), problem=SAY("comprehension.failed"), problem_field="choice"),
            topic=TOPIC,
            text=as_html(SAY("comprehension.text")),
            question="Which document would this person like to find?",
            choices=tuple(pages.Choice(str(n), answer, key=str(n)) for n, answer in enumerate(answers, 1)),
        ),
        "quiz": QuizPair(
            **common(title=SAY("quiz.title")),
            topic=TOPIC,
            text=as_html(SAY("quiz.text", total=4, needed=3)),
            left=pages.Document(WORDS["document_left"], "", "Boil water with two spoons of citric acid, then rinse."),
            right=pages.Document(
                WORDS["document_right"], "", "The tea shop has moved to the other side of the street."
            ),
            question=SAY("pair.preference.question"),
            choices=SIDES,
            progress=pages.Progress(1, 4, "1 of 4"),
        ),
    }


def at_work() -> dict[str, pages.Page]:
    wrong = SAY("refused.not_a_number", typed="quite a lot")
    before = pages.PreviousAnswer(WORDS["previous"], "Three kettles compared", "12.5")
    return {
        "ordinal": document_page(ORDINAL, typed={"value": ("R",), "comment": ("names vinegar",)}),
        "binary": document_page(BINARY, SHOP, comment=None),
        "magnitude": document_page(
            MAGNITUDE, last=True, notice=SAY("quiz.passed", right=12, total=12), previous=before
        ),
        "bounded": document_page(BOUNDED, SHOP, revising=True, typed={"value": ("41.5",)}),
        "s100": document_page(S100),
        "s100_touched": document_page(S100, typed={"value": ("62",)}),
        "refused": document_page(MAGNITUDE, problem=wrong, problem_field="value", typed={"value": ("quite a lot",)}),
        "html": document_page(ORDINAL, HTML),
        "empty": document_page(ORDINAL, pages.Document("Document", "", "", empty=True)),
        "pair": pair_page(),
        "pair_first": pair_page(first=True),
        "pair_after_quiz": pair_page(first=True, notice=SAY("quiz.passed", right=11, total=12)),
        "pair_refused": pair_page(
            problem=SAY("check.ratio_against_preference", preferred="left"), problem_field="left_score", revising=True
        ),
    }


def after_work() -> dict[str, pages.Page]:
    asked = zip(pair_questions(), "ABC", strict=True)
    liked = tuple(pages.Choice(question.kind, question.question, key=key) for question, key in asked)
    points = tuple(pages.Choice(key, label, key=key) for key, label in zip("12345", POINTS, strict=True))
    read = pages.Choice("all", "From beginning to end", key="D"), pages.Choice("some", "Here and there", key="E")
    earned = SAY("end.earned", amount="3.20", currency="EUR")
    link = "https://app.prolific.com/submissions/complete?cc=C1X2K9"
    code = pages.Ending("C1X2K9", as_html(SAY("end.code", code="C1X2K9")), link, SAY("end.return_link"))
    return {
        "revise": Revise(
            **common(),
            text=as_html("\n\n".join(map(SAY, ("check.revise", "check.revise_counts", "check.last_try")))),
            answers=(pages.GivenAnswer(1, VINEGAR.title, "20"), pages.GivenAnswer(2, SHOP.title, "1/2")),
        ),
        "questionnaire": Questionnaire(
            **common(title=SAY("end.questionnaire")),
            questions=(
                pages.ClosingQuestion("liked", SAY("end.liked"), "several", liked),
                pages.ClosingQuestion("hard", "How hard was it?", "scale", points),
                pages.ClosingQuestion("reading", "How did you read?", "choice", read, needed=True),
                pages.ClosingQuestion("years", "For how many years have you searched the web?", "number", key="F"),
                pages.ClosingQuestion("feedback", SAY("end.feedback"), "text", key="G"),
            ),
        ),
        "questionnaire_scales": Questionnaire(
            **common(title=SAY("end.questionnaire")),
            questions=tuple(
                pages.ClosingQuestion(name, f"How {name} was it?", "scale", points) for name in ("hard", "clear")
            ),
        ),
        "questionnaire_refused": Questionnaire(
            **common(problem=SAY("refused.answer_missing", question="What did you like?"), problem_field="liked"),
            questions=(pages.ClosingQuestion("liked", "What did you like?", "several", liked, needed=True),),
        ),
        "done": Done(
            **common(title=SAY("end.thanks")),
            text=as_html(f"{SAY('end.completed_more')}\n\n{earned}"),
            ending=code,
            more=SAY("end.more_paid", amount="1.20", currency="EUR"),
        ),
        "done_invited": Done(
            **common(title=SAY("end.thanks")),
            text=as_html("\n\n".join((SAY("end.completed"), earned, SAY("end.close")))),
            ending=pages.Ending(),
        ),
        "stopped": Stopped(
            **common(title=SAY("end.task_ended")),
            text=as_html(SAY("end.failed_topic")),
            ending=pages.Ending(),
            more=SAY("end.another_topic"),
        ),
        "come_back": ComeBack(
            **common(title=SAY("end.later")),
            text=as_html(SAY("end.come_back", minutes=5)),
            minutes=5,
            ending=pages.Ending(),
        ),
        "no_work": NoWork(**common(title=SAY("end.thanks")), text=as_html(SAY("end.no_work")), ending=pages.Ending()),
        "trouble": pages.Trouble(
            **common(step="", title=SAY("trouble.try_later")), text=as_html(SAY("trouble.server")), again=True
        ),
    }


def from_the_right() -> dict[str, pages.Page]:
    """As a translation that is read from right to left shows them; the documents are as they are."""
    marks = {"language": "ar", "direction": "rtl"}
    ours = {"pair": pair_page(), "s100": document_page(S100), **after_work()}
    return {f"{name}_rtl": replace(ours[name], **marks) for name in ("pair", "s100", "questionnaire")}


def all_pages() -> dict[str, pages.Page]:
    """By a name; several for the kinds that have several looks."""
    return {**before_work(), **at_work(), **after_work(), **from_the_right()}


def unsafe_text() -> pages.Page:
    """A page where every text that comes from outside tries to be markup."""
    bad = "<script>document.title='broken'</script><img src=x onerror=document.title='broken'>\"'"
    topic = pages.Topic(bad, bad, (pages.Part(bad, bad),), (bad, "a.b*c"))
    document = pages.Document(bad, bad, bad + "\n\n" + bad)
    choice = pages.Choice(bad, bad, bad, "1")
    scale = pages.ScaleInput("choice", bad, Markup("<p>fine</p>"), (choice,))
    typed = {"value": (bad,), "comment": (bad,)}
    return DocumentPage(
        **judging(topic=topic, problem=bad, notice=bad, title=bad, typed=typed, study=bad),
        document=document,
        scale=scale,
    )
