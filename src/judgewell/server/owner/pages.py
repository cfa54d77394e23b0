"""The owner's pages as HTML: templates, and how numbers and times are written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from judgewell.server.bundles import static_version
from judgewell.server.process import Server
from judgewell.server.queries.goal import chance
from judgewell.server.queries.history import AssessorRow
from judgewell.study.checks import check_words
from judgewell.text import counted, percent

T = TypeVar("T")

PAGE = 100  # rows of a table at once
ALL = 10_000  # and at most, where all are asked for
LONGEST_FILTER = 100


@dataclass(frozen=True)
class Column:
    """A column of a table that can be sorted: the name in addresses, the head, and the key rows are sorted by."""

    name: str
    head: str
    key: Callable[[Any], Any]
    number: bool = False


@dataclass(frozen=True)
class Listing:
    """The rows of a table that are shown, and how they were chosen."""

    rows: tuple[Any, ...]
    matching: int
    of: int
    columns: tuple[Column, ...]
    sort: str
    down: bool
    text: str
    page: int
    pages: int
    all: bool
    path: str

    @property
    def whole(self) -> bool:
        """Whether every row found is on the page, so that the browser can sort them itself."""
        return self.matching <= len(self.rows)

    def link(self, **changes: object) -> str:
        """The address of this table with some choices changed; a new order begins at the first page."""
        kept: dict[str, object] = {"sort": self.sort, "down": int(self.down), "text": self.text, "page": self.page}
        kept |= {"all": int(self.all)} | ({"page": 1} if "sort" in changes else {}) | changes
        return f"{self.path}?{urlencode({name: value for name, value in kept.items() if value not in ('', 0)})}"

    def turned(self, column: Column) -> str:
        """The address that sorts by a column, the other way round where it is sorted by it already."""
        down = not self.down if column.name == self.sort else column.number
        return self.link(sort=column.name, down=int(down))


def listing(
    request: Request,
    rows: Sequence[T],
    columns: Sequence[Column],
    words: Callable[[T], str],
    *,
    sort: str,
    down: bool = False,
) -> Listing:
    """The rows that a request asks for: `sort` (one of the columns), `down`, `text`, `page`, `all`.

    What the request says in another way is not followed.
    """
    asked = request.query_params
    by = next((column for column in columns if column.name == asked.get("sort")), None)
    turned = asked.get("down") == "1" if by is not None else down
    by = by or next(column for column in columns if column.name == sort)
    text = asked.get("text", "")[:LONGEST_FILTER].strip()
    matching = [row for row in rows if text.casefold() in words(row).casefold()] if text else list(rows)
    known = [row for row in matching if by.key(row) is not None]
    unknown = [row for row in matching if by.key(row) is None]
    ordered = [*sorted(known, key=by.key, reverse=turned), *unknown]
    everything = asked.get("all") == "1"
    size = ALL if everything else PAGE
    pages = max(1, -(-len(ordered) // size))
    page = min(max(1, whole_number(asked.get("page", "")) or 1), pages)
    shown = tuple(ordered[(page - 1) * size : page * size])
    return Listing(
        shown, len(ordered), len(rows), tuple(columns), by.name, turned, text, page, pages, everything, request.url.path
    )


def whole_number(text: str) -> int | None:
    """The number of a row or page in an address or form, or None where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def when(at: float | None, form: str = "%Y-%m-%d %H:%M", look: str = "moment") -> Markup:
    """A moment; the browser shows it in its own time zone."""
    if at is None:
        return Markup("—")
    moment = datetime.fromtimestamp(at, UTC)
    whole = moment.isoformat(timespec="seconds")
    return Markup('<time class="{}" datetime="{}">{} UTC</time>').format(look, whole, moment.strftime(form))


def clock(at: float | None) -> Markup:
    """The time of day."""
    return when(at, "%H:%M:%S", "clock")


def day(at: float, seconds: float) -> str:
    """The label of a stretch of time that begins here."""
    moment = datetime.fromtimestamp(at, UTC)
    return moment.strftime("%Y-%m-%d" if seconds >= 86400 else "%Y-%m-%d %H:%M")


def spell(seconds: float | None) -> str:
    """A length of time in few signs."""
    if seconds is None:
        return "—"
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def money(amount: float | None, currency: str) -> str:
    return "—" if amount is None else f"{amount:,.2f} {currency}"


def fraction(value: float | None, digits: int = 2) -> str:
    """A number with a real minus sign, or a dash."""
    return "—" if value is None else f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def share(part: float, whole: float) -> str:
    """A percentage that says 100 only where nothing is missing."""
    if not whole:
        return "—"
    value = 100 * part / whole
    return "99 %" if 99 < value < 100 else f"{value:.0f} %"


STAGES = {
    "consent": "reading the consent page",
    "waiting": "waiting for a unit",
    "instructions": "reading the instructions",
    "practice": "practising",
    "topic": "reading the topic",
    "comprehension": "answering a question about the topic",
    "quiz": "taking the quiz",
    "judge": "judging",
    "revise": "revising answers",
    "questionnaire": "answering the questionnaire",
    "done": "finished a unit",
    "declined": "did not consent",
    "stopped": "failed a check in the last unit",
}


ENDINGS = {
    "completed": "completed",
    "failed_quality": "failed the checks at its end",
    "failed_comprehension": "failed the question about the topic",
    "failed_practice": "failed the practice",
    "failed_quiz": "failed the quiz",
}


def details(data: Any) -> str:
    """What a line of a log holds, in words."""
    if isinstance(data, Mapping):
        parts = [(str(name).replace("_", " "), details(value)) for name, value in data.items()]
        return "; ".join(f"{name}: {value}" for name, value in parts if value)
    if isinstance(data, list | tuple):
        return ", ".join(map(details, data))
    if isinstance(data, bool):
        return "yes" if data else "no"
    if isinstance(data, float):
        return f"{data:.1f}" if data < 1e9 else f"{datetime.fromtimestamp(data, UTC):%Y-%m-%d %H:%M} UTC"
    return ENDINGS.get(data, "" if data is None else str(data))


def stage_words(stage: str) -> str:
    """Where an assessor is, in words."""
    return STAGES.get(stage, stage.replace("_", " "))


def place_words(row: AssessorRow) -> str:
    """Where an assessor is, or that an invite link was not opened yet, or that they get no more units."""
    if row.locked_out:
        return "locked out after a failed check"
    return "not opened yet" if row.unopened else stage_words(row.stage)


def known_words(known: str) -> str:
    """What is known of a document, or of a pair which side is better."""
    return {"H": "known relevant", "N": "known not relevant"}.get(known, f"known: {known} is better")


@lru_cache(1)
def environment() -> Environment:
    """The templates of the owner's pages."""
    made = Environment(
        loader=PackageLoader("judgewell.server.owner", "templates"),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    named: dict[str, Any] = {"when": when, "clock": clock, "spell": spell, "money": money, "fraction": fraction}
    named |= {"chance": chance}
    named["percent"] = percent
    made.filters |= named | {
        "stage_words": stage_words,
        "place_words": place_words,
        "check_words": check_words,
        "details": details,
        "known_words": known_words,
    }
    made.globals |= {"counted": counted, "share": share}
    made.globals |= {"static_version": static_version(), "own_version": static_version("owner")}
    return made


def respond(request: Request, name: str, values: Mapping[str, Any]) -> Response:
    """A page, or with X-Fragment its inside alone; unchanged ones are answered in a word (304)."""
    whole = "x-fragment" not in request.headers
    layout = "dashboard/page.html" if whole else "dashboard/fragment.html"
    known = {"layout": layout, "here": name}
    text = environment().get_template(f"dashboard/{name}.html").render(**known, **values)
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:24]}"'
    headers = {"etag": tag, "cache-control": "no-cache, private", "vary": "X-Fragment, Cookie"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(text, headers=headers)


def sheet(server: Server, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A plain page under the study's title: signing in, setting a password, reviewing."""
    return HTMLResponse(environment().get_template(template).render(study=server.served.title, **values), status)
