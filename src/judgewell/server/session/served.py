"""What one server process knows of its study: the settings, the texts, and the parts of it that were shown lately."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar

import nh3
import sqlalchemy as sa
from markdown_it import MarkdownIt
from markupsafe import Markup

from judgewell.errors import InputError
from judgewell.server.cleaning import TEXT_TAGS
from judgewell.server.session import pages
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import documents, items, study, topics, units
from judgewell.server.store.transactions import Clock
from judgewell.study.checks import Comprehension, QuizPair
from judgewell.study.closing import ClosingQuestion, LikedQuestion
from judgewell.study.model import Study
from judgewell.study.questions import Absolute, Preference, Ratio, Scale
from judgewell.study.texts import Catalogue, english

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

SHOWN_LATELY = 40_000_000  # characters of documents kept in memory
UNITS_LATELY = 4_000
_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Item:
    """One place of a unit: a document, or the two of a pair; `known` never leaves the server."""

    position: int
    doc: int
    other: int | None
    new: str | None
    known: str | None
    name: str  # the document's id (of a pair: both), for the team


class Lately(Generic[K, V]):
    """The values used last, up to a total weight; what is not there is fetched."""

    def __init__(self, limit: int, weight: Callable[[V], int] = lambda _: 1) -> None:
        self._limit, self._weight = limit, weight
        self._held: OrderedDict[K, V] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def get(self, key: K, fetch: Callable[[], V]) -> V:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        value = fetch()
        with self._lock:
            if key not in self._held:
                self._held[key] = value
                self._total += self._weight(value)
            while self._total > self._limit and len(self._held) > 1:
                self._total -= self._weight(self._held.popitem(last=False)[1])
        return value


@dataclass(frozen=True)
class Served:
    """The study as it is served; nothing in it changes while the server runs."""

    study: Study
    texts: Catalogue
    secret: str
    clock: Clock = time.time
    _documents: Lately[int, dict[int, pages.Document]] = field(
        default_factory=lambda: Lately(SHOWN_LATELY, lambda unit: sum(map(_weight, unit.values())))
    )
    _units: Lately[int, tuple[Item, ...]] = field(default_factory=lambda: Lately(UNITS_LATELY))
    _facts: Lately[int, tuple[str | None, int]] = field(default_factory=lambda: Lately(10 * UNITS_LATELY))
    _made: dict[Hashable, Any] = field(default_factory=dict)
    _topics: Lately[str, pages.Topic] = field(default_factory=lambda: Lately(UNITS_LATELY))

    def say(self, key: str, **values: object) -> str:
        """A text of the catalogue as plain words."""
        return self.texts.text(key, **values)

    def show(self, key: str, **values: object) -> Markup:
        """A text of the catalogue as safe HTML."""
        return as_html(self.texts.text(key, **values))

    def once(self, key: Hashable, make: Callable[[], V]) -> V:
        """What is the same on many pages, made once; the keys are few: scales, and sizes of units."""
        if key not in self._made:
            self._made[key] = make()
        made: V = self._made[key]
        return made

    def is_frozen(self, connection: sa.Connection) -> bool:
        """Whether the study's first answer is on disk, once and for all; not for a job that may give it."""
        if not self._made.get("frozen"):
            self._made["frozen"] = connection.execute(sa.select(study.c.first_judgment)).scalar() is not None
        return bool(self._made["frozen"])

    @cached_property
    def title(self) -> str:
        return self.study.study.title or self.study.study.name

    @cached_property
    def marks(self) -> dict[str, Any]:
        """What all pages have: whose they are, in which language, and their fixed words."""
        marks = {"language": self.texts.code, "direction": self.texts.direction}
        return {"study": self.title, "words": self.words, **marks}

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The fixed words of every page."""
        own = {
            key.removeprefix("page."): text.strip() for key, text in self.texts.texts.items() if key.startswith("page.")
        }
        more = ("offline", "server", "elsewhere", "expired")
        return own | {name: self.say(f"trouble.{name}") for name in more}

    @cached_property
    def scales(self) -> dict[str, Scale]:
        return self.study.scales

    @cached_property
    def questions(self) -> tuple[Preference | Absolute | Ratio, ...]:
        """What is asked about each pair; nothing where documents are judged one by one."""
        return self.study.groups.asked() if self.study.groups else ()

    @property
    def silence(self) -> float:
        """Seconds without a sign of life after which a reservation expires."""
        return self.study.work.silence * 60

    @cached_property
    def closing(self) -> tuple[ClosingQuestion, ...]:
        """The closing questionnaire: the study's own, or which questions about pairs were liked and a free word."""
        own = self.study.questionnaire.questions
        if own is not None:
            return tuple(own)
        liked = {question.kind: self.say(question.question) for question in self.questions}
        words: dict[str, Any] = {"question": self.say("end.liked"), "choices": [*liked], "labels": [*liked.values()]}
        both = [LikedQuestion.model_construct(name="liked", kind="several", **words)] if len(liked) > 1 else []
        return (*both, ClosingQuestion.model_construct(name="feedback", question=self.say("end.feedback")))

    def quiz_pairs(self, topic: str) -> list[QuizPair]:
        """The pairs with a clear answer that come before a topic."""
        return self.study.checks.quiz.pairs(topic) if self.study.checks.quiz else []

    def questions_about(self, topic: str) -> list[Comprehension]:
        """The comprehension questions of a topic."""
        return [question for question in self.study.checks.question if question.topic == topic]

    def unit(self, connection: sa.Connection, number: int) -> tuple[str | None, int]:
        """A unit's scale (none for pairs) and size."""
        return self._facts.get(number, lambda: _FACTS.one(connection, unit=number))

    def items(self, connection: sa.Connection, unit: int) -> tuple[Item, ...]:
        """The places of a unit in order."""
        return self._units.get(unit, lambda: tuple(Item(*row) for row in _ITEMS.rows(connection, in_unit=unit)))

    def documents(self, connection: sa.Connection, unit: int) -> dict[int, pages.Document]:
        """The documents of a unit by number, ready to be shown.

        They are read together, for this unit: a known document, which is in many units, is not ready sooner than
        another, so response times do not reveal it.
        """
        rows = _DOCUMENTS.rows
        return self._documents.get(unit, lambda: {one.number: _document(one) for one in rows(connection, in_unit=unit)})

    def topic(self, connection: sa.Connection, name: str) -> pages.Topic:
        """A topic ready to be shown."""
        return self._topics.get(name, lambda: self._topic(connection, name))

    def _topic(self, connection: sa.Connection, name: str) -> pages.Topic:
        row = connection.execute(sa.select(topics).where(topics.c.topic == name)).one()._mapping
        shown = [(part, row[part]) for part in self.study.topics.show if row[part]]
        return pages.Topic(
            heading=self.say("page.topic"),
            title=row["title"] or name,
            parts=tuple(pages.Part(self.say(f"page.topic_{part}"), text) for part, text in shown),
            words=tuple(dict.fromkeys(_WORD.findall((row["title"] or "").casefold()))),
        )


def study_row(connection: sa.Connection) -> Any:
    """The study in the database: name, hash, frozen settings, when the first judgment came; an error without one."""
    row = connection.execute(sa.select(study)).one_or_none()
    if row is None:
        raise InputError("there is no study in this database", cure="start it with judgewell serve study.toml")
    return row


def load_served(connection: sa.Connection, clock: Clock = time.time) -> Served:
    """The study in the database as it is served."""
    row = study_row(connection)
    texts = {**english().texts, **row.texts["texts"]}  # a database made by an earlier version lacks some
    own = frozenset(row.texts["own"])
    return Served(Study.model_validate(row.frozen["settings"]), Catalogue(texts, own), row.secret, clock)


@lru_cache(1000)
def as_html(markdown: str) -> Markup:
    """Markdown as safe HTML: no raw HTML, no scripts, no pictures."""
    made = MarkdownIt("commonmark", {"html": False}).disable("image").render(markdown)
    return Markup(nh3.clean(made, tags=TEXT_TAGS, attributes={"a": {"href"}}, url_schemes={"https", "mailto"}))


_SIDES = [sa.select(side).where(items.c.unit == sa.bindparam("in_unit")) for side in (items.c.doc, items.c.other)]
_DOCUMENTS = Prepared(sa.select(documents).where(documents.c.number.in_(sa.union_all(*_SIDES))))


def _document(row: Any) -> pages.Document:
    text, html = ("", row.text) if row.kind == "html" else (row.text, "")
    return pages.Document("", row.title or "", text, html, empty=not (text.strip() or html.strip()))


def _weight(document: pages.Document) -> int:
    return len(document.text) + len(document.html) + 500


_FACTS = Prepared(sa.select(units.c.scale, units.c.size).where(units.c.number == sa.bindparam("unit")))


_LEFT, _RIGHT = documents.alias("left"), documents.alias("right")
_ITEMS = Prepared(
    sa.select(
        *(items.c[name] for name in ("position", "doc", "other", "new", "known")),
        sa.case((items.c.other.is_(None), _LEFT.c.doc), else_=_LEFT.c.doc + " | " + _RIGHT.c.doc).label("name"),
    )
    .join_from(items, _LEFT, _LEFT.c.number == items.c.doc)
    .outerjoin(_RIGHT, _RIGHT.c.number == items.c.other)
    .where(items.c.unit == sa.bindparam("in_unit"))
    .order_by(items.c.position)
)
