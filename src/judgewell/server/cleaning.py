"""Hostile HTML made harmless: what a document may show, in time that grows only with its length.

A document is cleaned once, when its study is brought into the database, and shown as it then is; where these rules
become stricter, a step in migrations/versions cleans what is stored again.

A document is cleaned by ammonia (nh3). One of many tags is rewritten first, in balanced tags of few kinds and little
depth. That is for time alone: an HTML parser looks through all open elements at every tag, so that two megabytes of
nested tags would keep it busy for minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import nh3

TEXT_TAGS = {"p", "em", "strong", "ul", "ol", "li", "h2", "h3", "h4", "blockquote", "code", "pre", "br", "hr", "a"}
# What a document may show: its structure and nothing that loads, runs, links or is sent.
DOCUMENT_TAGS = TEXT_TAGS - {"a"} | {
    *("h1", "h5", "h6", "div", "span", "section", "article", "header", "footer", "main", "figure", "figcaption"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "dl", "dt", "dd", "b", "i", "u", "s", "small"),
    *("sub", "sup", "q", "cite", "abbr", "address", "time", "mark", "ins", "del", "kbd", "samp", "var"),
}
SPANS: dict[str, set[str]] = {"td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}, "*": set()}
FEW_TAGS = 500  # however they are nested, these take no time
DEEPEST = 100  # open elements; what is deeper is shown without its tags

_VOID = {"br", "hr"}
_INLINE = {"em", "strong", "code", "span", "b", "i", "u", "s", "small", "sub", "sup", "q", "cite", "abbr", "time"}
_INLINE |= {"mark", "ins", "del", "kbd", "samp", "var"}
# Elements whose end may be omitted: those that end them by beginning, and what they do not reach beyond.
_ROWS = {"thead", "tbody", "tfoot"}
_ENDS: dict[str, tuple[set[str], set[str]]] = {
    "li": ({"li"}, {"ul", "ol"}),
    **{name: ({"dt", "dd"}, {"dl"}) for name in ("dt", "dd")},
    **{name: ({"td", "th"}, {"tr", "table"}) for name in ("td", "th")},
    "tr": ({"tr"}, {"table"}),
    **{name: (_ROWS, {"table"}) for name in _ROWS},
}
_CELLS = {"td", "th", "caption"}  # a paragraph outside is not ended by what begins inside
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\1\b[^<>]*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)([^<>]*)>")
_SPAN = re.compile(r"\b(colspan|rowspan)\s*=\s*[\"']?(\d{1,3})\b", re.IGNORECASE)


def clean_document(html: str) -> str:
    """A hostile document as HTML for a sandboxed frame; tables keep their shape, all else its text."""
    written = html if html.count("<") <= FEW_TAGS else "".join(balanced(html))
    return nh3.clean(written, tags=DOCUMENT_TAGS, attributes=SPANS)


def balanced(html: str) -> Iterator[str]:
    """The document in tags that a document may show, each closed in its turn, and no other `<`."""
    seen = _UNSEEN.sub("", html)
    stack: list[str] = []
    end = 0
    for tag in _TAG.finditer(seen):
        yield seen[end : tag.start()].replace("<", "&lt;")
        end = tag.end()
        name = tag[2].lower()
        if name not in DOCUMENT_TAGS:
            continue
        if tag[1]:
            yield from _close(stack, {name}, set())
        elif name in _VOID:
            yield f"<{name}>"
        else:
            yield from _begin(stack, name, tag[3])
    yield seen[end:].replace("<", "&lt;")
    yield from (f"</{name}>" for name in reversed(stack))


def _begin(stack: list[str], name: str, attributes: str) -> Iterator[str]:
    """Open an element, after those that its beginning ends."""
    if name not in _INLINE:
        yield from _close(stack, {"p"}, _CELLS)
    if name in _ENDS:
        yield from _close(stack, *_ENDS[name])
    if len(stack) >= DEEPEST:
        return
    stack.append(name)
    spans = _SPAN.findall(attributes) if name in SPANS else []
    yield f"<{name}{''.join(f' {key.lower()}={size}' for key, size in spans)}>"


def _close(stack: list[str], names: set[str], within: set[str]) -> Iterator[str]:
    """Close the innermost of these elements and what is open in it, unless one of `within` is between."""
    for place in range(len(stack) - 1, -1, -1):
        if stack[place] in names:
            yield from (f"</{name}>" for name in reversed(stack[place:]))
            del stack[place:]
            return
        if stack[place] in within:
            return
