"""A study in which everything that somebody can write is an attack, judged once and looked at by its owner."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from attacking import Place
from judging import Clock, Person, Study
from payloads import ALL, HANDLERS, MARKUP, MUTATIONS, ONE, PLACES, SCRIPTS
from waiting import HANG, wait_until

from judgewell.server.judging import invitations as people
from judgewell.server.owner.actions import ACTIONS, read_fields, run
from judgewell.server.store.transactions import open_store

ID = "d<img/src/onerror=hit()>"
BETWEEN = "<p>between</p>"


def hostile_documents() -> dict[str, tuple[str, str]]:
    """Documents by id: kind and text. Those whose end is missing come last in theirs."""
    whole = {name: ("html", BETWEEN.join(texts)) for name, texts in _parts(MARKUP).items()}
    deep = "<div>" * 10_000 + "the bottom" + "</div>" * 10_000
    bomb = "".join(f"<b id={n}>" for n in range(2_000)) + "<p>x" * 20_000
    return {
        f"{ID}text": ("text", "\n\n".join(ALL)),
        f"{ID}lines": ("text", "\n".join(ALL)),
        **whole,
        f"{ID}giant": ("text", "A word and another. " * 100_000),
        f"{ID}line": ("text", "x" * 2_000_000),
        f"{ID}deep": ("html", deep),
        f"{ID}bomb": ("html", bomb),
        f"{ID}large": ("html", ("<p>a <b>bold</b> word" + " and another" * 20) * 7_500),
        f"{ID}broken": ("html", "\ufffd\ufffe\uffff <p>\x01\x02\x1b[31m caf\u00c3\u00a9 \u202eltr\u202c</p>"),
    }


def _parts(texts: list[str]) -> dict[str, list[str]]:
    closed = [text for text in texts if ">" in text and not text.startswith(("<script>hit()//", "<!--", "--"))]
    found = {f"{ID}html{place}": closed[place : place + 16] for place in range(0, len(closed), 16)}
    return found | {f"{ID}open{place}": [text] for place, text in enumerate(texts) if text not in closed}


def write_hostile(folder: Path) -> Path:
    """The study's files."""
    folder.mkdir()
    docs = hostile_documents()
    topic = "t<svg/onload=hit()>"
    lines = [{"doc": doc, "title": ONE, "text": text, "kind": kind} for doc, (kind, text) in docs.items()]
    (folder / "docs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    told = {"topic": topic, "title": ONE, "description": " ".join(SCRIPTS + HANDLERS), "narrative": " ".join(PLACES)}
    (folder / "topics.jsonl").write_text(json.dumps(told) + "\n", "utf-8")
    (folder / "pool.jsonl").write_text("".join(json.dumps({"topic": topic, "doc": doc}) + "\n" for doc in docs))
    one = json.dumps(ONE)
    grades = "".join(
        f'[[scale.grades]]\nkey = "{key}"\nvalue = {value}\nname = {json.dumps(key + ONE)}\nabout = {one}\n'
        for value, key in enumerate("NMRH")
    )
    path = folder / "study.toml"
    path.write_text(
        f'[study]\nname = "hostile"\ntitle = {one}\nconsent = {json.dumps(" ".join(MARKUP + MUTATIONS))}\n'
        '[topics]\nfile = "topics.jsonl"\nshow = ["description", "narrative"]\n[documents]\nfile = "docs.jsonl"\n'
        f'[pool]\nfile = "pool.jsonl"\n[scale]\nkind = "ordinal"\n{grades}'
        f"[units]\ndocuments = {len(docs)}\nredundancy = 3\n[checks]\ncomment = 1\n[checks.review]\n"
        f'[work]\nhighlight = true\n[[questionnaire.questions]]\nname = "free"\nquestion = {one}\nkind = "text"\n',
        "utf-8",
    )
    return path


@dataclass(frozen=True)
class Hostile:
    """The server's address, the study, and somebody who is still at work."""

    address: str
    place: Place
    person: Person

    @property
    def study(self) -> Study:
        return self.place.study


@contextmanager
def hostile_server(folder: Path) -> Iterator[Hostile]:
    """The hostile study on a server: one assessor has finished with hostile words, one comes to it."""
    store = open_store(folder / "hostile.sqlite")
    place = Place(Study(store, write_hostile(folder / "study"), Clock()))
    finished, present = (_labelled(place.study) for _ in range(2))
    _finish(finished)
    for action, fields in _acts(place, finished):
        given = read_fields(ACTIONS[action], fields)
        store.write(
            lambda c, a=ACTIONS[action], f=given: run(c, place.study.served, place.study.clock(), a, f)
        ).result()
    running = uvicorn.Server(uvicorn.Config(place.app, port=0, log_level="warning"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    wait_until(lambda: running.started)
    try:
        yield Hostile(f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}", place, present)
    finally:
        running.should_exit = True
        thread.join(HANG)


def _labelled(study: Study) -> Person:
    number = study.store.write(lambda c: people.new_assessor(c, "invite", study.clock(), ONE)).result()
    return Person(study, number)


def _finish(person: Person) -> None:
    """Judge everything with hostile comments and a hostile last word."""
    page = person.send(action="agree")
    while page.kind != "done":
        person.study.clock.move(30)
        values = {"value": "N", "comment": ONE} if page.kind == "document" else {"free": " ".join(MARKUP)[:4000]}
        page = person.send(**(values if page.kind in ("document", "questionnaire") else {}))
        assert not page.problem, page.problem


def _acts(place: Place, person: Person) -> list[tuple[str, dict[str, object]]]:
    import sqlalchemy as sa

    from judgewell.server.store.schema import assessors, topics

    name = place.study.rows(sa.select(assessors.c.pseudonym).where(assessors.c.number == person.number))[0][0]
    topic = place.study.rows(sa.select(topics.c.topic))[0][0]
    return [
        ("pause", {"topic": topic, "reason": ONE}),
        ("resume", {"topic": topic}),
        ("exclude", {"assessor": name, "reason": ONE}),
        ("include", {"assessor": name}),
    ]
