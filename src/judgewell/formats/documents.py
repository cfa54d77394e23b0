"""Documents to be judged: JSON lines, CSV, Parquet, TREC markup, or a folder of text and HTML files."""

from __future__ import annotations

import html
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.files import open_bytes
from judgewell.formats.records import decoded, field, read_records

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
    data = open_bytes(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<":
        return _frame(_marked_up(decoded(data, path), path), path)
    quick = _at_once(data)
    return _frame(_records(data, path), path) if quick is None else quick


def _frame(documents: Iterator[Document], path: str | Path) -> pl.DataFrame:
    """The documents as a frame, each id once."""
    lines: dict[str, int | None] = {}
    rows = []
    for line, doc, *values in documents:
        if doc in lines:
            first = f" (first on line {lines[doc]})" if lines[doc] else ""
            raise InputError(f"document {doc} is there twice{first}", cure="keep one of them", file=path, line=line)
        lines[doc] = line
        rows.append((doc, *values))
    if not rows:
        raise InputError("there are no documents here", cure="give JSON lines, CSV, TREC markup or a folder", file=path)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _at_once(data: bytes) -> pl.DataFrame | None:
    """A well-formed CSV of documents read by columns; None where it must be looked at record by record."""
    if data[:4] == b"PAR1" or data.lstrip()[:1] in (b"{", b"["):
        return None
    tab = b"\t" in data[:65536].split(b"\n", 1)[0]
    try:
        frame = pl.read_csv(data, infer_schema=False, separator="\t" if tab else ",")
        frame = frame.rename({name: name.strip().lower() for name in frame.columns})
    except pl.exceptions.PolarsError:
        return None
    doc, title, text = (next((name for name in names if name in frame.columns), None) for names in (DOC, TITLE, TEXT))
    if doc is None or text is None or "kind" in frame.columns or "html" in frame.columns:
        return None
    chosen = frame.select(
        pl.col(doc).alias("doc"),
        (pl.col(title) if title else pl.lit(None, pl.String())).alias("title"),
        pl.col(text).alias("text"),
        kind=pl.lit("text"),
    )
    if chosen.is_empty() or chosen["doc"].null_count() or chosen["text"].null_count():
        return None
    strange = (chosen["doc"].str.strip_chars() != chosen["doc"]) | (chosen["doc"] == "") | chosen["doc"].is_duplicated()
    if strange.any():
        return None
    return chosen.with_columns(pl.col("title").replace("", None))


def _records(data: bytes, path: str | Path) -> Iterator[Document]:
    for line, record in read_records(data, path):
        where: dict[str, Any] = {"file": path, "line": line}
        doc = field(record, DOC, where)
        if doc is None or not doc.strip():
            raise InputError("a document without an id", cure=f"name it in one of {', '.join(DOC)}", **where)
        text, kind = field(record, TEXT, where), field(record, ("kind",), where)
        if text is None:
            text, kind = field(record, ("html",), where), "html"
        if text is None:
            raise InputError(f"document {doc} has no text", cure=f"put it in one of {', '.join(TEXT)}, html", **where)
        if kind not in (None, "", "text", "html"):
            raise InputError(f"document {doc}: kind {kind!r} is neither text nor html", **where)
        yield line, doc.strip(), field(record, TITLE, where) or None, text, kind or "text"


def _folder(folder: Path) -> Iterator[Document]:
    """Each file a document, named by its path without the ending."""
    left_out = []
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.is_dir() or any(part.startswith(".") for part in inside.parts):
            continue
        kind = ENDINGS.get(file.suffix.lower())
        if kind is None:
            left_out.append(inside.as_posix())
            continue
        text = decoded(open_bytes(file), file)
        title = re.search(r"<title\b[^>]*>(.*?)</title>", text, re.DOTALL | re.IGNORECASE) if kind == "html" else None
        yield None, inside.with_suffix("").as_posix(), _plain(title[1]) or None if title else None, text, kind
    if left_out:
        warnings.warn(
            f"{folder}: {len(left_out)} files are left out, their endings say neither text nor HTML ({left_out[0]})",
            JudgewellWarning,
            stacklevel=4,
        )


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
                    f"{part.strip()[:40]!r} stands outside of <DOC>…</DOC>",
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
    """What stands inside each <tag …>…</tag>; plain searches, since a regular expression takes ten times as long."""
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
