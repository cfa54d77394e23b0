"""Documents to be judged: JSON lines, CSV, Parquet, TREC markup, or a folder of text and HTML files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from judgewell.errors import InputError, note
from judgewell.formats.delimited import text_of
from judgewell.formats.files import open_bytes
from judgewell.formats.frames import Contents, columns_called, load, text_called

Document = tuple[int | None, str, str | None, str, str]  # line, doc, title, text, kind

DOC = ("doc", "docno", "doc_id", "docid", "document_id", "pid", "id", "_id")
TITLE = ("title", "headline")
TEXT = ("text", "body", "contents", "content", "passage", "segment")
HEADINGS = ("HEADLINE", "TITLE", "HL", "HEAD", "TI")
ENDINGS = {".txt": "text", ".text": "text", ".md": "text", ".html": "html", ".htm": "html"}
SCHEMA = {"doc": pl.String(), "title": pl.String(), "text": pl.String(), "kind": pl.String()}

_BREAK = re.compile(r"</?(?:[Pp]|[Bb][Rr]|[Dd][Ii][Vv]|[Hh]\d)\b[^>]*>")
_TAG = re.compile(r"</?[A-Za-z!][^>]*>")


def read_documents(path: str | Path) -> pl.DataFrame:
    """The documents of a file or folder: doc, title (null where there is none), text, kind (text or html)."""
    if Path(path).is_dir():
        return _frame(_folder(Path(path)), path)
    contents = load(path)
    if contents.kind != "parquet" and contents.data.lstrip()[:1] == b"<":
        return _frame(_marked_up(contents.data.decode(), path), path)
    if not contents.data.strip():
        return _frame(iter(()), path)
    return _table(contents.named())


def _frame(documents: Iterator[Document], path: str | Path) -> pl.DataFrame:
    """The documents as a frame, each id once."""
    lines: dict[str, int | None] = {}
    rows = []
    for line, doc, *values in documents:
        if doc in lines:
            first = f" (first in line {lines[doc]})" if lines[doc] else ""
            raise InputError(f"document {doc} appears twice{first}", cure="keep one of them", file=path, line=line)
        lines[doc] = line
        rows.append((doc, *values))
    if not rows:
        raise InputError("there are no documents here", cure="give JSON lines, CSV, TREC markup or a folder", file=path)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _table(contents: Contents) -> pl.DataFrame:
    """The documents of a file with named columns."""
    frame, place = contents.frame(), contents.place
    doc = text_called(frame, DOC, place).str.strip_chars()
    text, page = text_called(frame, TEXT, place), text_called(frame, ("html",), place)
    if contents.kind == "csv":
        text = text.fill_null("") if page.null_count() == len(frame) and columns_called(frame, TEXT) else text
    kind = text_called(frame, ("kind",), place).replace("", None)
    documents = pl.DataFrame(
        {
            "doc": doc,
            "title": text_called(frame, TITLE, place).replace("", None),
            "text": text.fill_null(page),
            "kind": kind.set(text.is_null(), "html").fill_null("text"),
        }
    )
    for row in (doc.is_null() | (doc == "")).arg_true().head(1):
        raise place.error("a document without an id", f"name it in one of {', '.join(DOC)}", row)
    for row in documents["text"].is_null().arg_true().head(1):
        raise place.error(f"document {doc[row]} has no text", f"put it in one of {', '.join(TEXT)}, html", row)
    for row in (~documents["kind"].is_in(["text", "html"])).arg_true().head(1):
        raise place.error(f"document {doc[row]}: kind {kind[row]!r} is neither text nor html", row=row)
    for row in (~doc.is_first_distinct()).arg_true().head(1):
        first = place.row(doc.index_of(doc[row]) or 0)
        raise place.error(f"document {doc[row]} appears twice (first in {first})", "keep one of them", row)
    return documents


def _folder(folder: Path) -> Iterator[Document]:
    """Each file a document, named by its path without the ending."""
    unread = []
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.is_dir() or any(part.startswith(".") for part in inside.parts):
            continue
        kind = ENDINGS.get(file.suffix.lower())
        if kind is None:
            unread.append(inside.as_posix())
            continue
        text = text_of(open_bytes(file), file).decode()
        title = re.search(r"<title\b[^>]*>(.*?)</title>", text, re.DOTALL | re.IGNORECASE) if kind == "html" else None
        yield None, inside.with_suffix("").as_posix(), _plain(title[1]) or None if title else None, text, kind
    if unread:
        which = f"their endings say neither text nor HTML ({unread[0]})"
        note(f"{len(unread)} files are excluded, {which}", folder)


def _marked_up(text: str, path: str | Path) -> Iterator[Document]:
    """TREC collections: <DOC> with <DOCNO> and <TEXT>, or a web page behind <DOCHDR>."""
    upper = "<DOC>" in text
    headings = [tag for tag in HEADINGS if (f"<{tag}" if upper else f"<{tag.lower()}") in text]
    pages = ("</DOCHDR>" if upper else "</dochdr>") in text
    line = 1
    for part in text.split("</DOC>" if upper else "</doc>"):
        here, line = line, line + part.count("\n")
        start = part.find("<DOC" if upper else "<doc")
        if start < 0:
            if part.strip():
                raise InputError(
                    f"{part.strip()[:40]!r} lies outside <DOC>…</DOC>",
                    cure="is it a TREC collection?",
                    file=path,
                    line=here,
                )
            continue
        here += part.count("\n", 0, start)
        body = part[part.find(">", start) + 1 :]
        name = next(_elements(body, "DOCNO", upper), "").strip()
        if not name:
            raise InputError("a document without a DOCNO", cure="give it <DOCNO>…</DOCNO>", file=path, line=here)
        heads = (head for tag in headings for head in _elements(body, tag, upper))
        title = _plain(next(heads, "")) or None
        header = body.find("</DOCHDR>" if upper else "</dochdr>") if pages else -1
        if header >= 0:
            yield here, name, title, body[header + len("</DOCHDR>") :].strip(), "html"
            continue
        texts = [_plain(content) for content in _elements(body, "TEXT", upper)]
        rest = body[body.find(name) + len(name) :]
        yield here, name, title, "\n\n".join(texts) if texts else _plain(rest), "text"


def _elements(body: str, tag: str, upper: bool) -> Iterator[str]:
    """The text inside each <tag …>…</tag>, by plain searches: a regular expression takes ten times as long."""
    tag = tag if upper else tag.lower()
    opening, closing, at = f"<{tag}", f"</{tag}>", 0
    while (start := body.find(opening, at)) >= 0:
        begin = body.find(">", start) + 1
        end = body.find(closing, begin)
        if begin == 0 or end < 0:
            return
        if body[start + len(opening)] in "> \t\r\n":
            yield body[begin:end]
        at = end


def _plain(marked: str) -> str:
    """Text without markup; paragraphs stay apart."""
    if "<" in marked:
        marked = _BREAK.sub("\n", marked)
        marked = _TAG.sub("", marked) if "<" in marked else marked
    return html.unescape(marked).strip() if "&" in marked else marked.strip()
