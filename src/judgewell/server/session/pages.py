"""What all pages of an assessor are made of, and the contract of the addresses; each stage adds its own page.

A page holds exactly what its template may show. `str` is plain text (the template escapes it), `Markup` is safe HTML
made from the study's Markdown. Nothing here tells a known document from another: no document ids, no grades.

Addresses
---------
GET  /i/{token}       an invite link; sets the session cookie, 303 to /work; 404 page `Trouble` for a wrong one
GET  /join?…          arrival from a platform, its parameters named in the study; sets the cookie, 303 to /work
GET  /work            the page the assessor is on, whatever was open before; 403 page `Trouble` without a session
POST /work            one step; see below
POST /work/alive      the open page reports itself; JSON back
GET  /static/…        the files in static/, with long caching by their version (`static_version` in templates)

GET and POST /work give a whole HTML page (`templates/page.html`). With the header `X-Fragment: 1` they give the page's
inside alone (`templates/body.html`): the content of <main>. Both templates get `page` (a page of one of the stages) and
`static_version`; `page.kind` says which one it is and `page.template` how it is drawn. Scripts and styles come from
/static only: the policy header allows nothing inline. The header `X-Page` of the answer is the page's kind.

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
    instructions   (none)                     topic: (none)
    revise         place: the place to begin at, the first one if left out
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

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

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
class PreviousAnswer:
    """The document before: its title, or its first words, and what was answered."""

    label: str
    title: str
    answer: str


@dataclass(frozen=True)
class GivenAnswer:
    """A place of the unit: the titles of its documents, or their first words, and what was answered."""

    position: int
    title: str
    answer: str


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

    `problem` says why an answer was not taken, `problem_field` is the form's field it is about. Pages of the same
    `shape` have the same fixed part, which is rendered once (`server.frames`).
    """

    kind: ClassVar[str]
    template: ClassVar[str] = ""  # the name of its template; the kind's where empty
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
    shape: Hashable = None

    def with_gaps(self, gap: Callable[[Callable[[Any], object]], str]) -> Self:
        """The page with a gap in place of every text that changes within its shape; a gap is given how to read it."""
        raise NotImplementedError(f"{type(self).__name__} has no shape")


@dataclass(frozen=True, kw_only=True)
class Question(Page):
    """A question with choices, of which one is sent as `choice`; a stage that asks one needs no template of its own."""

    template: ClassVar[str] = "question"
    text: Markup
    question: str
    choices: tuple[Choice, ...]
    topic: Topic | None = None


@dataclass(frozen=True, kw_only=True)
class Ended(Page):
    """An end, with what the assessor takes away; `more` is the button's text where there is more work."""

    template: ClassVar[str] = "ending"
    text: Markup
    ending: Ending
    more: str = ""


@dataclass(frozen=True, kw_only=True)
class Trouble(Page):
    """Something else: a wrong link, no session, a request too large, a database that is away."""

    kind: ClassVar[str] = "trouble"
    text: Markup
    again: bool  # whether trying once more can help
