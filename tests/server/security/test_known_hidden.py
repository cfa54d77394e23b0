"""Documents whose level is known cannot be told from others: not by the page, its size, its headers or its work."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
import sqlalchemy as sa
from attacking import FRAGMENT, Place
from judging import Clock, Study

from judgewell.server.store.schema import items
from judgewell.server.store.transactions import open_store

LEVELS = "[checks]\nrevisions = 0\n"
SECRETS = ("known", "gold", "t0d", "data-doc", "data-id", "reserve")


def write_even_study(folder, *, docs=40, size=8, topics=1, kind="text", redundancy=2):
    """A study whose documents all have texts of one length, two known of each kind in every topic."""
    folder.mkdir(parents=True)
    cells = [(t, d) for t in range(topics) for d in range(docs)]
    mark = "<p>Words <b>number</b> {:04d} here.</p>" if kind == "html" else "Words number {:04d} here."
    lines = [
        {"doc": f"t{t}d{d}", "title": f"Title {d:04d}", "text": mark.format(100 * t + d), "kind": kind}
        for t, d in cells
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "topics.csv").write_text("topic,title\n" + "".join(f"t{t},Topic {t}\n" for t in range(topics)))
    (folder / "pool.csv").write_text("topic,doc\n" + "".join(f"t{t},t{t}d{d}\n" for t, d in cells))
    known = [(t, d, "H" if d % 2 else "N") for t in range(topics) for d in range(4)]
    (folder / "known.csv").write_text("topic,doc,known\n" + "".join(f"t{t},t{t}d{d},{k}\n" for t, d, k in known))
    path = folder / "study.toml"
    path.write_text(
        '[study]\nname = "even"\nconsent = "Yes."\n[topics]\nfile = "topics.csv"\n[documents]\nfile = "docs.jsonl"\n'
        '[pool]\nfile = "pool.csv"\n[known]\nfile = "known.csv"\n[scale]\nkind = "magnitude"\n'
        f"[units]\ndocuments = {size}\nredundancy = {redundancy}\n[work]\nmost_units = 1\n{LEVELS}"
    )
    return path


@pytest.fixture(scope="module", params=["text", "html"])
def place(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    store = open_store(folder / "even.sqlite")
    yield Place(Study(store, write_even_study(folder / "study", kind=request.param), Clock()))
    store.close()


def known_of(place):
    """Which positions of which units are known."""
    return {(row.unit, row.position): row.known for row in place.study.rows(sa.select(items))}


def seen(response):
    """A page without what differs from page to page anyway: the step, the number in the text, the place in the unit."""
    text = re.sub(r'(name="step" value|data-step)="[^"]+"', "STEP", response.text)
    text = re.sub(r"(Words (?:<b>)?number(?:</b>)?|&lt;b&gt;number&lt;/b&gt;|Title) \d{4}", "N", text)
    text = re.sub(r"\d of 8|value=\"\d\" max=\"8\"", "PLACE", text)
    headers = {name: value for name, value in response.headers.items() if name not in ("date", "content-length")}
    return text, headers, response.status_code


def test_pages_of_known_and_other_documents_are_the_same_but_for_their_words(place):
    known = known_of(place)
    shapes, sizes, kinds = {"known": [], "other": []}, {"known": set(), "other": set()}, Counter()
    for _ in range(6):
        client, person = place.assessor()
        page = person.until("document")
        unit = _unit(place, person)
        for position in range(1, 9):
            kind = "known" if known[unit, position] else "other"
            kinds[kind] += 1
            whole, inside = client.get("/work"), client.get("/work", headers=FRAGMENT)
            if position not in (1, 8):  # the first has no way back, the last says Finish
                shapes[kind] += [seen(whole), seen(inside)]
                sizes[kind].add((len(whole.content), len(inside.content)))
            for secret in SECRETS:
                assert secret not in whole.text.replace("unknown", ""), secret
            sent = client.post("/work", data={"step": page.step, "value": "5"}, headers=FRAGMENT)
            assert set(sent.headers) == set(whole.headers)
            page = person.page
    assert min(kinds.values()) >= 10
    distinct = {kind: {(text, tuple(sorted(headers.items()))) for text, headers, _ in shapes[kind]} for kind in shapes}
    assert distinct["known"] == distinct["other"]
    assert {size for pair in sizes["known"] for size in pair} <= {size for pair in sizes["other"] for size in pair}


def _unit(place, person):
    from judgewell.server.store.schema import assessors, reservations

    query = sa.select(reservations.c.unit).join(assessors, assessors.c.reservation == reservations.c.number)
    return place.study.rows(query.where(assessors.c.number == person.number))[0][0]


@pytest.mark.parametrize("kind", ["text", "html"])
def test_known_documents_take_the_same_work(tmp_path, kind):
    """The statements behind a page are those of its neighbours, though other units have shown the known ones before."""
    store = open_store(tmp_path / "work.sqlite")
    place = Place(Study(store, write_even_study(tmp_path / "study", kind=kind, redundancy=1), Clock()))
    known, statements = known_of(place), []
    sa.event.listen(store.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    for _ in range(5):
        _, person = place.assessor()
        person.until("document")
        unit = _unit(place, person)
        asked: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
        for position in range(3, 9):  # the first step also freezes the study
            person.send(value="5") if position == 3 else None
            statements.clear()
            assert person.send(value="5").kind == "document"
            asked[known[unit, position] is not None].add(tuple(statements))
        assert len(asked[False]) == 1
        assert asked[True] <= asked[False]
    store.close()


def test_known_documents_stand_anywhere(tmp_path):
    store = open_store(tmp_path / "many.sqlite")
    study = Study(store, write_even_study(tmp_path / "study", docs=54, topics=30), Clock())
    places = Counter(row.position for row in study.rows(sa.select(items).where(items.c.known.is_not(None))))
    store.close()
    total = sum(places.values())
    assert total > 400
    expected = total / 8
    assert set(places) == set(range(1, 9))
    spread = sum((count - expected) ** 2 / expected for count in places.values())
    assert spread < 24.3  # chi-square with 7 degrees of freedom: one in a thousand
