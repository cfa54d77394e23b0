"""Documents from every kind of file and from folders, and bad ones told with their line."""

import gzip
import json

import polars as pl
import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.documents import read_documents

TREC = """<DOC>
<DOCNO> FT-1 </DOCNO>
<HEADLINE>Tea &amp; <b>milk</b></HEADLINE>
<TEXT>
<P>First.</P><P>Second: 3 < 4.</P>
</TEXT>
<TEXT>More</TEXT>
</DOC>

<DOC>
<DOCNO>W-2</DOCNO>
<DOCHDR>http://example.org</DOCHDR>
<html><body>Page</body></html>
</DOC>
<DOC><DOCNO>P-3</DOCNO>Plain words</DOC>
"""


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        '{"doc": "a", "title": "A", "text": "one"}\n\n{"doc": "007", "text": "two, and\\nthree"}\n',
        '[{"id": "a", "title": "A", "contents": "one"}, {"id": "007", "contents": "two, and\\nthree"}]',
        'docno,title,body\na,A,one\n007,,"two, and\nthree"\n',
        'doc_id\ttitle\tpassage\na\tA\tone\n007\t\t"two, and\nthree"\n',
        '{"_id": "a", "title": "A", "text": "one", "kind": "text"}\n{"_id": "007", "text": "two, and\\nthree"}\n',
    ],
)
def test_every_kind_of_file_gives_the_same_documents(tmp_path, content):
    for name, data in (("docs", content.encode()), ("docs.gz", gzip.compress(content.encode()))):
        documents = read_documents(written(tmp_path, name, data))
        assert documents.columns == ["doc", "title", "text", "kind"]
        assert documents.rows() == [("a", "A", "one", "text"), ("007", None, "two, and\nthree", "text")]


def test_ids_keep_their_zeros_and_whole_numbers_become_text(tmp_path):
    documents = read_documents(written(tmp_path, "d.jsonl", '{"doc": 7, "text": "x"}\n{"doc": "007", "text": "y"}\n'))
    assert documents["doc"].to_list() == ["7", "007"]


def test_html_says_so(tmp_path):
    documents = read_documents(written(tmp_path, "d.jsonl", '{"doc": "a", "html": "<p>x"}\n{"doc": "b", "text": ""}\n'))
    assert documents.select("text", "kind").rows() == [("<p>x", "html"), ("", "text")]


def test_trec_markup_in_its_three_shapes(tmp_path):
    expected = [
        ("FT-1", "Tea & milk", "First.\n\nSecond: 3 < 4.\n\nMore", "text"),
        ("W-2", None, "<html><body>Page</body></html>", "html"),
        ("P-3", None, "Plain words", "text"),
    ]
    read = read_documents(written(tmp_path, "d.sgml", TREC)).with_columns(
        pl.col("text").str.replace_all("\n\n\n*", "\n\n")
    )
    assert read.rows() == expected


def test_a_folder_of_texts_and_pages(tmp_path):
    (tmp_path / "sub").mkdir()
    written(tmp_path, "a.txt", "one")
    written(tmp_path / "sub", "b.html", "<title>B &amp; C</title><p>two")
    written(tmp_path, ".hidden.txt", "no")
    written(tmp_path, "picture.png", b"\x89PNG")
    with pytest.warns(JudgewellWarning, match=r"1 files are excluded.*picture\.png"):
        documents = read_documents(tmp_path)
    assert documents.rows() == [
        ("a", None, "one", "text"),
        ("sub/b", "B & C", "<title>B &amp; C</title><p>two", "html"),
    ]
    written(tmp_path, "a.htm", "again")
    with pytest.raises(InputError, match="document a appears twice"):
        read_documents(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            '{"doc": "a", "text": "x"}\n{"doc": "a", "text": "y"}\n',
            r":2: document a appears twice \(first in line 1\)",
        ),
        ('{"doc": "a", "text": "x"}\n{"text": "y"}\n', ":2: a document without an id"),
        ('{"doc": "a", "text": "x"}\n{"doc": " ", "text": "y"}\n', ":2: a document without an id"),
        ('{"doc": "a", "text": "x"}\n{"doc": "b"}\n', ":2: document b has no text"),
        (
            '{"doc": "a", "text": "x"}\n{"doc": "b", "text": ["y"]}\n',
            ":2: text is a list here and text or a number before",
        ),
        ('{"doc": "a", "text": "x"}\n{"doc": "b", \n', ":2: this is not JSON"),
        ('{"doc": "a", "text": "x", "kind": "pdf"}\n', ":1: document a: kind 'pdf' is neither text nor html"),
        ("doc,text\na,x\nb,y,z\n", ":3: this line has 3 fields, the first line has 2"),
        ("doc,text\na,x\nb\n", ":3: this line has 1 fields, the first line has 2"),
        ('doc,text\na,x\n"b,y\n', ":3: the quotes of this line do not close"),
        ("title,text\na,x\n", ":2: a document without an id"),
        ("<DOC>\n<TEXT>x</TEXT></DOC>", ":1: a document without a DOCNO"),
        ("<DOC>\n<DOCNO>a</DOCNO></DOC>\n\nwords\n", "'words' lies outside <DOC>"),
        ("<p>", "lies outside <DOC>"),
        ("", "there are no documents here"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path, content, said):
    with pytest.raises(InputError, match=said) as problem:
        read_documents(written(tmp_path, "docs", content))
    assert "\n" not in str(problem.value)


def test_many_documents_are_read(tmp_path):
    text = "a relevant document helps the person who asked for it " * 20
    rows = (json.dumps({"doc": f"d{i}", "text": text}) for i in range(50_000))
    path = written(tmp_path, "d.jsonl", "\n".join(rows))
    assert len(read_documents(path)) == 50_000


def test_documents_in_latin_1_are_read_with_a_note(tmp_path):
    (tmp_path / "folder").mkdir()
    written(tmp_path / "folder", "a.txt", b"caf\xe9")
    lines = written(tmp_path, "d.jsonl", b'{"doc": "a", "text": "caf\xe9"}\n')
    for path in (tmp_path / "folder", lines):
        with pytest.warns(JudgewellWarning, match="line 1 is not UTF-8; the file is read as Latin-1"):
            assert read_documents(path)["text"].to_list() == ["café"]
