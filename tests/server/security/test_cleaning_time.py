"""Hostile HTML is made harmless, each payload alone, and by work that grows with its length only."""

from __future__ import annotations

import sys
from html.parser import HTMLParser

import nh3
import pytest
from attacking import FRAGMENT, Place
from hypothesis import given
from hypothesis import strategies as st
from judging import Clock, Study, write_study
from payloads import ALL

from judgewell.server import cleaning
from judgewell.server.cleaning import DEEPEST, DOCUMENT_TAGS, SPANS, balanced, clean_document
from judgewell.server.store.transactions import open_store

PIECES = [
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "<b",
    "<p>",
    "</p>",
    "<table>",
    "<td colspan=2>",
    "<script>",
    "</script>",
]
PIECES += [
    "<svg>",
    "<math>",
    "<style>",
    "<li>",
    "</ul>",
    "'",
    '"',
    "=",
    "onload=hit()",
    "&lt;",
    "&#60;",
    "\0",
    "x",
    " ",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, attrs))


def check(html: str) -> None:
    """Only tags that a document may show, and no attribute but the spans of cells."""
    tags = Tags()
    tags.feed(html)
    for tag, attributes in tags.found:
        assert tag in DOCUMENT_TAGS, html
        assert all(name in ("colspan", "rowspan") and (value or "").isdigit() for name, value in attributes), html


@pytest.mark.parametrize("number", range(len(ALL)))
def test_every_payload_alone_and_among_many_tags(number):
    check(clean_document(ALL[number]))
    check(clean_document(ALL[number] + "<i>x</i>" * 600))
    check(clean_document("<div>" * 600 + ALL[number]))
    once = clean_document(ALL[number])
    assert clean_document(once) == once  # what is stored may be cleaned again


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_mixture_is_balanced_and_cleaned(html):
    made = "".join(balanced(html))
    check(made)
    check(clean_document(html + "<u>" * 600))
    stack: list[str] = []
    for piece in made.split("<")[1:]:
        name = piece.partition(">")[0].partition(" ")[0]
        if name.startswith("/"):
            assert stack.pop() == name[1:]
        elif name not in ("br", "hr"):
            stack.append(name)
        assert len(stack) <= DEEPEST
    assert stack == []


BOMBS = {
    "nested": "<div>",
    "open paragraphs in bold": "<p><b id={}>",
    "tables": "<table><tr><td>",
    "lists": "<ul><li>",
    "ends alone": "</div>",
    "no ends": "<b ",
    "comments": "<!--",
    "scripts": "<script>",
    "signs": "<",
    "unknown": "<x-y{}>",
}


@pytest.mark.parametrize("kind", BOMBS)
def test_work_grows_no_faster_than_the_text(kind):
    """Eight times the text takes eight times the calls, and what the HTML parser gets is as long and never deep."""
    calls, lengths = [], []
    for count in (500, 4_000):
        html = "".join(BOMBS[kind].format(n) for n in range(count)) + "<p>x" * count
        made = [0]
        sys.setprofile(lambda *_, made=made: made.__setitem__(0, made[0] + 1))
        try:
            text = "".join(balanced(html))
        finally:
            sys.setprofile(None)
        calls.append(made[0])
        lengths.append(len(text) / len(html))
        assert clean_document(html) == nh3.clean(text, tags=DOCUMENT_TAGS, attributes=SPANS)
    assert calls[1] < 9 * calls[0]
    assert lengths[1] < 1.1 * lengths[0] + 0.1


def test_ordinary_pages_keep_their_shape():
    page = (
        "<h1>A</h1><p>one<p>two <b>bold</b><ul><li>a<li>b</ul>"
        "<table><tr><td colspan=2>x<td>y<tr><td>z</table>1 < 2 <i>it</b>al</i><br>"
    )
    many = clean_document(page * 40)
    assert many == clean_document(page) * 40
    assert '<td colspan="2">x</td><td>y</td></tr>' in many
    assert "<p>one</p><p>two <b>bold</b></p><ul><li>a</li><li>b</li></ul>" in many


def test_nobody_who_judges_waits_for_cleaning(tmp_path, monkeypatch):
    """Most of a megabyte of tags is cleaned before anybody comes, and shown as they are stored."""
    hostile = "<p>a <b onclick=hit()>bold</b> word" * 20_000
    path = write_study(tmp_path / "study", topics=1, docs=2, size=2)
    (path.parent / "docs.csv").write_text("doc,kind,text\n" + "".join(f"t0d{d},html,{hostile}\n" for d in range(2)))
    place = Place(Study(open_store(tmp_path / "test.sqlite"), path, Clock()))
    client, person = place.assessor()
    person.until("document")
    cleaned = []
    monkeypatch.setattr(nh3, "clean", lambda html, **_: cleaned.append(len(html)) or html)
    monkeypatch.setattr(cleaning, "balanced", lambda html: cleaned.append(len(html)) or html)
    for _ in range(2):
        shown = client.get("/work", headers=FRAGMENT)
        assert shown.text.count("bold") == 20_000
        assert "onclick" not in shown.text
        person.send(value="5")
    assert max(cleaned, default=0) < 10_000  # the study's own words at most
    place.study.store.close()
