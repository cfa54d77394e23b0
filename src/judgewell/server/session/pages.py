"""What an assessor can be looking at: one frozen value for each kind of page, and the contract of the addresses.

A page holds exactly what its template may show. `str` is plain text (the template escapes it), `Markup` is safe HTML
made from the study's Markdown. Nothing here tells a known document from another: no document ids, no levels.

Addresses
---------
GET  /i/{token}       an invite link; sets the session cookie, 303 to /work; 404 page `Trouble` for a wrong one
GET  /join?…          arrival from a platform, its parameters named in the study; sets the cookie, 303 to /work
GET  /work            the page the assessor is on, whatever was open before; 403 page `Trouble` without a session
POST /work            one step; see below
POST /work/alive      the open page reports itself; JSON back
GET  /static/…        the files in static/, with long caching by their version (`static_version` in templates)

GET and POST /work give a whole HTML page (`templates/page.html`). With the header `X-Fragment: 1` they give the page's
inside alone (`templates/body.html`): what stands in <main>. Both templates get `page` (one of the values below) and
`static_version`; `page.kind` says which one it is. Scripts and styles come from /static only: the policy header allows
nothing inline. The header `X-Page` of the answer is the page's kind.

POST /work takes a form (application/x-www-form-urlencoded, at most 64 kB; multipart is not taken)
  step       page.step, as it came: it belongs to this assessor and this step, so it is also the guard against forged
             requests and against storing twice
  action     next (default), back, agree, disagree, more
  active     seconds the page was visible and in use; idle: the other seconds. Plain decimals, counted from the first
             showing of this step (a refused answer or a reload does not begin anew). Left out: the server's own clock
             counts, and all of it is active
  highlight  1 where words were marked in the text
  and the fields of the page's kind
    consent        action=agree or disagree
    instructions   (none)                     topic, revise: (none)
    practice       value
    comprehension  choice: the `value` of one of page.choices
    quiz           preferred: left or right
    document       value (what was typed, or the `value` of a choice), comment
    pair           preferred, absolute, left_score, right_score: the `fields` of page.questions; comment
    questionnaire  one field for each of page.questions, by its `name`; several values for `several`
    done, stopped  action=more for the next unit
    come_back      action=next looks again
  action=back on document and pair goes to the one before; what was typed is not stored, the visit and its time are.

Answers to POST /work
  accepted       303 to /work; with X-Fragment 200 and the next page's inside
  already done   the same step sent twice, from another tab, or late: nothing is stored again; as accepted, and the page
                 is the one the assessor is on
  refused        422 and the same page with `problem` (a sentence for the assessor), its field and what was typed
  no session or a forged step   403 with page `Trouble`
  too large      413 with page `Trouble`;  too many requests 429;  the database away or full: 503, nothing was stored
                 and the same request may be sent again (Retry-After says when)

POST /work/alive takes `step` and gives {"alive": true, "current": true, "seconds": 600}: `current` is false where
another tab has gone on (reload to follow), `alive` is false where the unit has gone to somebody else (what is done is
kept all the same), `seconds` is how long the place is held without another sign. Sent every page.alive_every seconds
while the page is visible; 0 means that this page does not report itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from markupsafe import Markup


@dataclass(frozen=True)
class Progress:
    """Where in something: `text` is the sentence."""

    position: int
    total: int
    text: str


@dataclass(frozen=True)
class Part:
    """A labelled piece of the topic."""

    label: str
    text: str


@dataclass(frozen=True)
class Topic:
    """What the person is looking for; `words` are those of the title, for marking them in the text."""

    heading: str
    title: str
    parts: tuple[Part, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A document: plain `text`, or sanitised `html` to be put into a sandboxed frame (srcdoc), never into the page."""

    label: str
    title: str
    text: str
    html: str = ""
    empty: bool = False
    new: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Choice:
    """A button: `value` is sent, `key` is the key on the keyboard that presses it."""

    value: str
    label: str
    about: str = ""
    key: str = ""


@dataclass(frozen=True)
class ScaleInput:
    """How a document's value is asked for: buttons, a number field, or a slider without a start and a number field."""

    widget: Literal["choice", "number", "slider"]
    question: str
    instructions: Markup
    choices: tuple[Choice, ...] = ()
    low: str = ""
    high: str = ""
    untouched: str = ""


@dataclass(frozen=True)
class CommentBox:
    """The reason in words; `least` letters are needed."""

    label: str
    placeholder: str
    least: int


@dataclass(frozen=True)
class PairQuestion:
    """A question about a pair; `fields` are the form's names: one for buttons, two for a pair of numbers."""

    kind: Literal["preference", "absolute", "ratio"]
    question: str
    instructions: Markup
    fields: tuple[str, ...]
    labels: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class ClosingQuestion:
    """A question of the closing questionnaire: choose one, choose several, write, or type a number.

    The choices of a `scale` are its points in order. `key` is that of a field; choices have their own.
    """

    name: str
    question: str
    kind: Literal["choice", "several", "text", "number", "scale"]
    choices: tuple[Choice, ...] = ()
    needed: bool = False
    longest: int = 5_000
    key: str = ""


@dataclass(frozen=True)
class Ending:
    """What an assessor takes away: a code, and a link back to the platform that carries it."""

    code: str = ""
    code_text: Markup = Markup()  # noqa: RUF009
    link: str = ""
    link_text: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What all pages have. `words` are the fixed words of every page, by their key without `page.`.

    `problem` says why an answer was not taken, `problem_field` is the form's field it is about.
    """

    kind: ClassVar[str]
    study: str
    language: str
    direction: str = "ltr"
    step: str
    words: Mapping[str, str]
    title: str = ""
    notice: str = ""
    problem: str = ""
    problem_field: str = ""
    typed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    alive_every: int = 0


@dataclass(frozen=True, kw_only=True)
class Consent(Page):
    """Who asks and what for; to agree or not."""

    kind: ClassVar[str] = "consent"
    text: Markup
    agree: str
    disagree: str


@dataclass(frozen=True, kw_only=True)
class Instructions(Page):
    """How it works, with the scale's own explanation."""

    kind: ClassVar[str] = "instructions"
    text: Markup
    scale: Markup
    ready: str
    start: str


@dataclass(frozen=True, kw_only=True)
class Practice(Page):
    """One line whose length is estimated; `length` is in pixels, `widest` is that of the longest line."""

    kind: ClassVar[str] = "practice"
    text: Markup
    question: str
    progress: Progress
    length: float
    widest: float


@dataclass(frozen=True, kw_only=True)
class TopicPage(Page):
    """The topic alone, before its documents."""

    kind: ClassVar[str] = "topic"
    topic: Topic
    ready: str
    unit_progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Comprehension(Page):
    """A question about the topic."""

    kind: ClassVar[str] = "comprehension"
    topic: Topic
    text: Markup
    question: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, kw_only=True)
class QuizPair(Page):
    """Two short texts with a clear answer."""

    kind: ClassVar[str] = "quiz"
    topic: Topic
    text: Markup
    left: Document
    right: Document
    question: str
    choices: tuple[Choice, ...]
    progress: Progress


@dataclass(frozen=True, kw_only=True)
class Judging(Page):
    """What judging a document and judging a pair share; `typed` holds the earlier answer where there is one.

    `revising` is true after the checks at the end asked to look again; `last` where the button says Finish.
    """

    topic: Topic
    progress: Progress
    unit_progress: Progress | None
    can_go_back: bool
    last: bool
    revising: bool
    can_highlight: bool
    comment: CommentBox | None
    help: Markup


@dataclass(frozen=True, kw_only=True)
class DocumentPage(Judging):
    """One document to judge."""

    kind: ClassVar[str] = "document"
    document: Document
    scale: ScaleInput


@dataclass(frozen=True, kw_only=True)
class PairPage(Judging):
    """Two documents side by side and the questions about them."""

    kind: ClassVar[str] = "pair"
    left: Document
    right: Document
    questions: tuple[PairQuestion, ...]


@dataclass(frozen=True, kw_only=True)
class Revise(Page):
    """The checks at the end ask to look through the answers again, without saying which."""

    kind: ClassVar[str] = "revise"
    text: Markup


@dataclass(frozen=True, kw_only=True)
class Questionnaire(Page):
    """A few questions at the end."""

    kind: ClassVar[str] = "questionnaire"
    questions: tuple[ClosingQuestion, ...]


@dataclass(frozen=True, kw_only=True)
class Done(Page):
    """Thanks, with the code or the link; `more` is the button's text where there is more work."""

    kind: ClassVar[str] = "done"
    text: Markup
    ending: Ending
    more: str = ""


@dataclass(frozen=True, kw_only=True)
class Stopped(Page):
    """An end before the work was done: no consent, or a check; `more` where another unit may be tried."""

    kind: ClassVar[str] = "stopped"
    text: Markup
    ending: Ending
    more: str = ""


@dataclass(frozen=True, kw_only=True)
class ComeBack(Page):
    """All work is in other hands just now; `minutes` says when to look again, `ending` is what was earned before."""

    kind: ClassVar[str] = "come_back"
    text: Markup
    minutes: int
    again: str
    ending: Ending = Ending()


@dataclass(frozen=True, kw_only=True)
class NoWork(Page):
    """There is truly nothing left for this assessor."""

    kind: ClassVar[str] = "no_work"
    text: Markup
    ending: Ending


@dataclass(frozen=True, kw_only=True)
class Trouble(Page):
    """Something else: a wrong link, no session, a request too large, a database that is away."""

    kind: ClassVar[str] = "trouble"
    text: Markup
