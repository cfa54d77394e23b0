"""Paths lead to our own files only, lists sort by their own columns only, and imported addresses are never visited."""

from __future__ import annotations

import socket

import pytest
from attacking import Place
from judging import Clock, Study

from judgewell.server.owner.dashboard import ASSESSORS, DOCUMENTS, TOPICS, UNITS
from judgewell.server.queries.export import export
from judgewell.server.store.transactions import open_store

UP = [
    *("../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%252fsecret.txt"),
    *(
        "....//secret.txt",
        "..\\secret.txt",
        "..%5csecret.txt",
        "%c0%ae%c0%ae/secret.txt",
        "/etc/passwd",
        "//etc/passwd",
    ),
    *("%00app.js", "app.js%00.html", "app.js/../../web.py", "./../web.py", "..;/web.py", "__init__.py"),
    *("../web.py", "%2e%2e/web.py", "../templates/page.html", "..%2f..%2ftables.py", "C:%5cwindows%5cwin.ini", "~root"),
    *("file:///etc/passwd", "%E0%80%AE%E0%80%AE/web.py", "a" * 5000, "%ff%fe", "con", "."),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = Place.on_sqlite(tmp_path_factory.mktemp("files"))
    yield made
    made.study.store.close()


@pytest.mark.parametrize("path", UP)
@pytest.mark.parametrize("root", ["/static/", "/owner/static/", "/i/", "/owner/link/", "/api/v1/topics/", "/"])
def test_no_path_leads_out(place, root, path):
    answer = place.stranger().get(root + path)
    assert answer.status_code in (303, 401, 403, 404, 405), (answer.status_code, answer.text[:100])
    assert "root:" not in answer.text
    assert "import " not in answer.text


def test_own_files_have_their_type_and_are_not_guessed_at(place):
    import judgewell.server.judging
    from judgewell.server.bundles import files

    folder = judgewell.server.judging.__path__[0]
    from pathlib import Path

    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    names = [f"/static/{file.name}" for file in (Path(folder) / "static").iterdir() if file.is_file()]
    names += [f"/owner/static/{name}" for name in files("owner")]
    assert len(names) > 10
    for name in names:
        answer = place.stranger().get(name)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kinds[name.rpartition(".")[2]]), name
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in answer.headers


def test_tables_of_the_api_have_their_type(place):
    headers = {"authorization": f"Bearer {place.key('owner', 'token', ('read',))}"}
    kinds = {"json": "application/json", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
    for form, kind in kinds.items():
        answer = place.stranger().get("/api/v1/judgments", params={"format": form}, headers=headers)
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert place.stranger().get("/api/v1/judgments?format=html", headers=headers).status_code == 422


STRANGE = [
    "password",
    "secret",
    "__class__",
    "number; DROP TABLE accounts",
    "1",
    "-number",
    "label'--",
    "account__password",
    "",
]


@pytest.mark.parametrize("name", ["sort", "down", "text", "page", "all", "only", "before", "filter", "order_by"])
def test_lists_follow_their_own_columns_only(place, name):
    owner = place.signed_in()
    own = {column.name for table in (TOPICS, UNITS, ASSESSORS, DOCUMENTS) for column in table}
    assert not own & set(STRANGE)
    for path in ("/topics", "/assessors", "/documents", "/log", "/topic?topic=t0", "/checks"):
        plain = owner.get(f"/owner{path}").text
        for value in STRANGE:
            joined = "&" if "?" in path else "?"
            answer = owner.get(f"/owner{path}{joined}{name}=" + value.replace(" ", "%20").replace(";", "%3B"))
            assert answer.status_code == 200
            if name in ("sort", "order_by", "filter") and answer.text != plain:
                plain = owner.get(f"/owner{path}").text  # figures may be computed between two pages
                assert answer.text == plain, (path, value)


class Calls(Exception):
    pass


def test_addresses_in_imported_data_are_never_visited(tmp_path, monkeypatch):
    """From the files to the export with every way out of the machine watched."""
    inside = "http://169.254.169.254/latest/meta-data and file:///etc/passwd and https://outside.example/x.png"
    asked: list[object] = []

    def refuse(*given, **_):
        asked.append(given[:2])
        raise Calls(given[:2])

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    store = open_store(tmp_path / "ssrf.sqlite")
    from judging import write_study

    path = write_study(tmp_path / "study", topics=1, text=inside)
    docs = (tmp_path / "study" / "docs.csv").read_text().splitlines()
    rows = [docs[0] + ",title,kind,url"] + [
        f"{line},https://outside.example/title,{'html' if n % 2 else 'text'},http://169.254.169.254/"
        for n, line in enumerate(docs[1:])
    ]
    (tmp_path / "study" / "docs.csv").write_text(
        "\n".join(
            row.replace(inside, f"<img src=https://outside.example/p.png><iframe src=file:///etc/passwd> {inside}")
            for row in rows
        )
    )
    (tmp_path / "study" / "topics.csv").write_text(f"topic,title,description\nt0,{inside},{inside}\n")
    study = Study(store, path, Clock())
    made = Place(study)
    _, person = made.assessor()
    page = person.page
    while page.kind != "done":
        study.clock.move(30)
        values = {"consent": {"action": "agree"}, "document": {"value": "5", "comment": inside}}
        page = person.send(**values.get(page.kind, {"feedback": inside}))
    owner = made.signed_in()
    for where in ("", "/topics", "/assessors", "/assessors/1", "/log"):
        assert owner.get(f"/owner{where}").status_code == 200
    export(store, tmp_path / "out")
    store.close()
    assert asked == []
