"""Malformed and odd files through the real commands.

Each ends in one line that names the file (and the line, where there is one), or in the right result with a note on
everything that was assumed. The last word of a case is what is expected: the beginning of the error, or the result and
the beginnings of the notes, between bars.
"""

# ruff: noqa: E501 (a case is a line)

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest


def parquet(**columns: list[Any]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


def zipped(*names: str, text: str = "q 0 a 1\nq 0 b 0\n") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, text)
    return out.getvalue()


Q = "q 0 a 1\nq 0 b 0\n"
R = "q Q0 a 1 2.5 r\nq Q0 b 2 1.5 r\n"
J = "topic,doc,assessor,value\nq,a,x,1\nq,b,x,2\nq,a,y,3\nq,b,y,4\n"
JS = (
    '{"topic": "q", "doc": "a", "assessor": "x", "value": 1}\n{"topic": "q", "doc": "b", "assessor": "x", "value": 2}\n'
)
P = "topic,left,right,assessor,preferred\nq,a,b,x,left\nq,b,c,x,right\nq,a,c,y,same\n"
S = "system,topic,measure,value\ns,1,AP,0.5\ns,2,AP,0.25\nt,1,AP,1\nt,2,AP,0\n"

# fmt: off
GAINS = [
    ("a.json", '{"q": {"a": 1, "a": 0}}', (), "error a.json: 'a' appears twice in one JSON object; keep one of them"),
    ("a.qrels", "", (), 'error a.qrels: there is no judgment in it; a line is: topic 0 document grade'),
    ("a.qrels", "\n\n  \n", (), 'error a.qrels: there is no judgment in it; a line is: topic 0 document grade'),
    ("a.qrels", "# only a comment\n", (), 'error a.qrels: there is no judgment in it; a line is: topic 0 document grade'),
    ("a.qrels", "q 0 a\n", (), "error a.qrels:1: 3 fields in 'q 0 a'; a qrels line is: topic 0 document grad"),
    ("a.qrels", "q 0 a 1 extra\n", (), "error a.qrels:1: 5 fields in 'q 0 a 1 extra'; a qrels line is: topic 0 docum"),
    ("a.qrels", "q 0 a 1\nq 0 b\n", (), "error a.qrels:2: 3 fields in 'q 0 b'; a qrels line is: topic 0 document grad"),
    ("a.qrels", "q 0 a 1\nq 0 b one\n", (), "error a.qrels:2: gain 'one' is not a number; write a number, or say what eac"),
    ("a.qrels", "q 0 a nan\nq 0 b 1\n", (), "error a.qrels:1: gain 'nan' is not a number; write a number, or say what eac"),
    ("a.qrels", "q 0 a inf\nq 0 b 1\n", (), 'error a.qrels:1: gain inf is not a finite number (topic q, doc a); gain is h'),
    ("a.qrels", "q 0 a 1e400\nq 0 b 1\n", (), 'error a.qrels:1: gain inf is not a finite number (topic q, doc a); gain is h'),
    ("a.qrels", "q 0 a 1_000\nq 0 b 1\n", (), "error a.qrels:1: gain '1_000' is not a number; write a number, or say what e"),
    ("a.qrels", "q 0 a 1,5\nq 0 b 0\n", (), 'error RR counts relevant documents, and there is a gain of 1.5; name the low'),
    ("a.qrels", "q 0 a 1\nq 0 a 1\nq 0 b 0\n", (), 'r,q,RR,1.0 | 1 of 3 rows repeat another row exactly; each '),
    ("a.qrels", "q 0 a 1\nq 0 a 2\nq 0 b 0\n", (), 'error a.qrels:2: topic q, doc a appears twice (first in line 1); keep one r'),
    ("a.qrels", "q 1 a 1\nq 2 a 0\nq 1 b 0\n", (), 'error a.qrels:2: topic q, doc a appears twice (first in line 1); keep one r'),
    ("a.qrels", "q 0 a -1\nq 0 b 1\n", (), 'r,q,RR,0.5 | 1 of 2 gains are below 0 (the first: topic q, do'),
    ("a.qrels", "q 0 a -1\nq 0 b -1\n", (), 'error the gains table is empty; there is nothing to measure against'),
    ("a.qrels", b"q 0 a\x00 1\nq 0 b 0\n", (), 'error a.qrels:1: a NUL byte is not text; write the file as plain text'),
    ("a.qrels", b"q 0 \xe9 1\nq 0 a 1\n", (), 'r,q,RR,1.0 | line 1 is not UTF-8; the file is read as Latin-1'),
    ("a.qrels", Q.encode("utf-16"), (), 'r,q,RR,1.0'),
    ("a.qrels", Q.encode("utf-16")[:-1], (), 'error a.qrels:2: the UTF-16 text breaks off (truncated data at byte 32); wri'),
    ("a.qrels", b"\xef\xbb\xbf"+Q.encode(), (), 'r,q,RR,1.0'),
    ("a.qrels", Q.replace("\n","\r\n"), (), 'r,q,RR,1.0'),
    ("a.qrels", Q.replace("\n","\r"), (), 'r,q,RR,1.0'),
    ("a.qrels", "q\t0\ta\t1\nq  0 b   0\n", (), 'r,q,RR,1.0'),
    ("a.qrels", "q a 1\nq b 0\n", (), 'r,q,RR,1.0 | lines of three fields are read as topic, documen'),
    ("a.qrels", "q a 1\nq b x\n", (), "error a.qrels:2: gain 'x' is not a number; write a number, or say what each "),
    ("a.qrels", R, (), "error a.qrels:1: 6 fields in 'q Q0 a 1 2.5 r'; a qrels line is: topic 0 docu"),
    ("a.qrels", "q Q0 a 1 2.5\n", (), "error a.qrels:1: 5 fields in 'q Q0 a 1 2.5'; a qrels line is: topic 0 docume"),
    ("a.qrels.gz", gzip.compress(Q.encode()), (), 'r,q,RR,1.0'),
    ("a.qrels.gz", gzip.compress(Q.encode())[:-4], (), 'error a.qrels.gz: the compressed file is broken or cut short (it ends before'),
    ("a.qrels", gzip.compress(Q.encode()), (), 'r,q,RR,1.0'),
    ("a.zip", b"PK\x03\x04rest", (), 'error a.zip: the compressed file is broken or cut short (File is not a zip'),
    ("a.zip", zipped("__MACOSX/._a", "data/a.qrels"), (), 'r,q,RR,1.0'),
    ("a.zip", zipped("a.qrels", "b.qrels"), (), 'error a.zip: this zip archive holds 2 files (a.qrels, b.qrels); unpack it'),
    ("a.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), (), 'error a.xlsx: this is an Excel workbook; save it as CSV'),
    ("a.qrels.bz2", bz2.compress(Q.encode()), (), 'r,q,RR,1.0'),
    ("a.qrels.bz2", bz2.compress(Q.encode())[:-4], (), 'error a.qrels.bz2: the compressed file is broken or cut short (it ends before'),
    ("a.qrels.bz2", bz2.compress(Q.encode())[:20] + b"junk", (), 'error a.qrels.bz2: the compressed file is broken or cut short'),
    ("a.qrels", b"BZh91AY 0 a 1\n", (), 'error good.run: none of the 1 topics of run r has judgments'),
    ("a.qrels", lzma.compress(Q.encode()), (), 'r,q,RR,1.0'),
    ("a.qrels.xz", lzma.compress(Q.encode())[:-4], (), 'error a.qrels.xz: the compressed file is broken or cut short (it ends before'),
    ("prels", "q d1 1 1 0.5\nq d2 0 1 0.9\n", (), "error prels:1: 5 fields in 'q d1 1 1 0.5'; a qrels line is: topic 0 document grade; or write a first line that names the columns, such as topic,doc,gain; grade, method and probability look like those of a sample: name columns by number: --no-header --columns topic=1,doc=2,gain=3,inclusion=5"),
    ("prels", "q a 1 1 0.5\nq b 0 1 0.9\n", ("--no-header", "--columns", "topic=1,doc=2,gain=3"), 'r,q,RR,1.0'),
    ("prels", "q 0 d1 1 1 1.0\nq 0 d2 0 1 .9\n", (), "error prels:1: 6 fields in 'q 0 d1 1 1 1.0'; a qrels line is: topic 0 document grade; or write a first line that names the columns, such as topic,doc,gain; grade, method and probability look like those of a sample: name columns by number: --no-header --columns topic=1,doc=3,gain=4,inclusion=6"),
    ("sampled", "q 0 d1 2 1\nq 0 d2 1 -1\n", (), "error sampled:1: 5 fields in 'q 0 d1 2 1'; a qrels line is: topic 0 document grade; or write a first line that names the columns, such as topic,doc,gain; or name columns by number: --no-header --columns topic=1,doc=3,gain=4"),
    ("a.qrels", "101 d1 1 0.5\n101 d2 0 0.5\n102 d3 1 0.5\n", (), "error a.qrels:1: the second field holds 3 ids and the third 2 small numbers, as in topic, document, grade"),
    ("a.qrels", "q 0 c 1\nq 0 d 0\n", (), 'r,q,RR,0.0 | the run ranks no judged document (the first: r)'),
    ("a.qrels", "q 4.5 a 1\nq 0.5 b 0\n", (), 'r,q,RR,1.0'),
    ("a.qrels", "q 1 a 1\nq 2 a 0\n", (), 'error a.qrels:2: topic q, doc a appears twice (first in line 1); keep one row for each topic and doc; where the second field (1, 2, …) counts subtopics, use measures by intent such as alpha_nDCG@10'),
    ("ntcir", "q a L2\nq b L0\n", (), "error ntcir:1: gain 'L2' is not a number; write a number, or say what each answer means: --words 'L0=…,L2=…'"),
    ("ntcir", "q a L2\nq b L0\n", ("--words", "L0=0,L2=2"), 'r,q,RR,1.0 | lines of three fields are read as topic, documen'),
    ("test.tsv", "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t0\n", (), 'r,q,RR,1.0'),
    ("label.csv", "id\tquery_id\tproduct_id\tlabel\n0\tq\ta\tExact\n", ("--columns", "doc=product_id", "--words", "Exact=1"), 'r,q,RR,1.0'),
    ("esci.csv", ",example_id,query,query_id,product_id,esci_label\n0,0,shoes,q,a,E\n1,1,shoes,q,b,I\n", ("--columns", "doc=product_id,gain=esci_label", "--words", "E=1,I=0"), 'r,q,RR,1.0'),
    ("letor", "2 qid:101 1:0.3 #docid = D1\n", (), "error letor:1: 6 fields in '2 qid:101 1:0.3 #docid = D1'"),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n", (), 'r,q,RR,1.0'),
    ("a.csv", "topic,doc,gain\n", (), 'error a.csv: there is no judgment in it; a line is: topic 0 document grade'),
    ("a.csv", "topic,doc\nq,a\n", (), 'error a.csv: the gains table needs the column gain; this one has topic, doc;'),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b\n", (), 'error a.csv:3: this line has 2 fields, the first line has 3; mend the line'),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0,9\n", (), 'error a.csv:3: this line has 4 fields, the first line has 3; mend the line, '),
    ("a.csv", 'topic,doc,gain\nq,"a,1\nq,b,0\n', (), 'error a.csv:2: the quotes of this line do not close (unexpected end of data)'),
    ("a.csv", 'topic,doc,gain\nq,a"b,1\nq,b,0\n', (), 'error a.csv:2: a " stands alone in this line; a " within a field is written '),
    ("a.csv", "topic,doc,gain,gain\nq,a,1,2\n", (), "error a.csv:1: two columns are called 'gain'; rename or drop one of them"),
    ("a.csv", "topic;doc;gain\nq;a;0,5\nq;b;0\n", (), 'error RR counts relevant documents, and there is a gain of 0.5; name the low'),
    ("a.csv", "topic,doc,gain\nq,a,50%\nq,b,0%\n", (), 'r,q,RR,1.0 | gain is in per cent, read as numbers from 0 to 1'),
    ("a.csv", "topic,doc,gain\nq,a,high\nq,b,low\n", (), "error a.csv:2: gain 'high' is not a number; write a number, or say what each"),
    ("a.csv", "topic,doc,gain\nq,a,high\nq,b,low\n", ("--words", "high=1,low=0",), 'r,q,RR,1.0'),
    ("a.csv", "topic,doc,gain\nq,a,high\nq,b,low\n", ("--words", "high=1,low=",), 'r,q,RR,1.0 | 1 of 2 rows have no gain and are excluded (the f'),
    ("a.csv", "topic,doc,gain\nq,a,high\nq,b,low\n", ("--words", "high=left",), "error 'high' cannot mean 'left'; a word means a number or nothing (--words)"),
    ("a.csv", "topic,doc,gain\nq,a,\nq,b,1\n", (), 'r,q,RR,0.5 | 1 of 2 rows have no gain and are excluded (the f'),
    ("a.csv", "topic,doc,gain\n,a,1\nq,b,1\n", (), "error a.csv:2: topic is missing (doc a); topic is the topic's id"),
    ("a.csv", "topic,doc,gain\nq,,1\nq,b,1\n", (), "error a.csv:2: doc is missing (topic q); doc is the document's id"),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,a,0\n", (), 'error a.csv:3: topic q, doc a appears twice (first in line 2); keep one row'),
    ("a.csv", "q,a,1\nq,b,0\n", (), 'error a.csv: the gains table needs the columns topic, doc, gain; this one ha'),
    ("a.csv", "q,a,1\nq,b,0\n", ("--no-header", "--columns", "topic=1,doc=2,gain=3",), 'r,q,RR,1.0'),
    ("a.csv", "q,a,1\nq,b,0\n", ("--no-header",), 'error a.csv: the gains table needs the columns topic, doc, gain; this one ha'),
    ("a.csv", "q,a,1\nq,b,0\n", ("--no-header", "--columns", "topic=1,doc=2,gain=4",), "error a.csv: there is no column '4' to read gain from; the columns are 1, 2,"),
    ("a.csv", "q~a~1\nq~b~0\n", ("--no-header", "--separator", "~", "--columns", "topic=1,doc=2,gain=3",), 'r,q,RR,1.0'),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n", ("--separator", "tab",), 'error a.csv: the gains table needs the columns topic, doc, gain; this one ha'),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n", ("--separator", "ab",), "error the separator 'ab' is not one character; say comma, tab, \\t, semicolon"),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n", ("--columns", "gains=gain",), 'error there is no column gains in the gains or runs; did you mean gain=gain?'),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n", ("--columns", "gain=grade",), "error a.csv: there is no column 'grade' to read gain from; the columns are t"),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n", ("--columns", "gain",), "error 'gain' does not name columns; write ours=theirs, e.g. topic=qid,doc=do"),
    ("a.qrels", Q, ("--columns", "gain=grade",), 'r,q,RR,1.0 | this is a qrels file, whose columns have no name'),
    ("a.csv", "\n\ntopic,doc,gain\nq,a,1\nq,b,x\n", (), "error a.csv:5: gain 'x' is not a number; write a number, or say what each an"),
    ("a.csv", "topic,doc,gain\n\nq,a,1\n\nq,b,x\n", (), "error a.csv:5: gain 'x' is not a number; write a number, or say what each an"),
    ("a.csv", "topic,doc,gain\nq,a,1\n   \nq,b,0\n", (), 'error a.csv:3: this line has 1 fields, the first line has 3; mend the line'),
    ("a.csv", "Qrels of today\ntopic,doc,gain\nq,a,1\n", (), 'error a.csv:2: this line has 1 fields, the first line has 3; mend the line, '),
    ("a.csv", "TOPIC,DocNo,Relevance\nq,a,1\nq,b,0\n", (), 'r,q,RR,1.0'),
    ("a.tsv", "qid\tdocno\tlabel\nq\ta\t1\nq\tb\t0\n", (), 'r,q,RR,1.0'),
    ("a.tsv", "q\t0\ta\t1\nq\t0\tb\t0\n", (), 'r,q,RR,1.0'),
    ("a.tsv", "frage\tdok\tnote\nq\ta\t1\n", (), 'error a.tsv: the gains table needs the columns topic, doc, gain; this one ha'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n{"topic": "q", "doc": "b", "gain": 0}\n', (), 'r,q,RR,1.0'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n{"topic": "q", "doc": "b", "gain": 0\n', (), "error a.jsonl:2: this is not JSON: Expecting ',' delimiter at character 37; "),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n{"topic": "q", "doc": "b", "gain": NaN}\n', (), 'error a.jsonl:2: NaN is not JSON; leave the value out where there is none'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n{"topic": "q", "doc": "b", "gain": true}\n', (), 'error a.jsonl:2: gain is true or false here and text or a number before; wri'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n{"topic": "q", "doc": ["b"], "gain": 1}\n', (), 'error a.jsonl:2: doc is a list here and text or a number before; write it th'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n{"topic": "q", "doc": "b"}\n', (), 'r,q,RR,1.0 | 1 of 2 rows have no gain and are excluded (the f'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "gain": 1}\n"text"\n', (), 'error a.jsonl:2: this line is not an object; write {"topic": …}'),
    ("a.jsonl", "{topic: 1}\n", (), 'error a.jsonl:1: this is not JSON: Expecting property name enclosed in doubl'),
    ("a.json", '[{"topic": "q", "doc": "a", "gain": 1}, 3]', (), 'error a.json: entry 2 is not an object; write {"topic": …}'),
    ("a.json", '[]', (), 'error a.json: the gains table needs the columns topic, doc, gain; this one h'),
    ("a.json", '{"q": {"a": 1, "b": 0}}', (), 'r,q,RR,1.0'),
    ("a.json", '{"q": {"a": "much", "b": 0}}', (), "error a.json: row 1: gain 'much' is not a number; write a number, or say wha"),
    ("a.json", '{"q": {"a": null, "b": 0}}', (), 'r,q,RR,0.0 | 1 of 2 rows have no gain and are excluded (the f | 1 of 1 topics have no document with a gain above'),
    ("a.json", '{"q": ["a", "b"]}', (), 'error a.json: the gains table needs the columns topic, doc, gain; this one h'),
    ("a.json", "["*100000, (), "error a.json:1: 1 fields in '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
    ("a.json", '{"a":'*2000, (), 'error a.json:1: this JSON is nested too deeply'),
    ("a.parquet", parquet(topic=["q","q"],doc=["a","b"],gain=[1.5,0.0]), (), 'error RR counts relevant documents, and there is a gain of 1.5; name the low'),
    ("a.parquet", parquet(topic=["q","q"],doc=["a","b"],gain=[1.5,0.0])[:40], (), 'error a.parquet: this is not a readable parquet file (parquet: File out of s'),
    ("a.parquet", b"PAR1nonsense", (), 'error a.parquet: this is not a readable parquet file (parquet: File out of s'),
    ("a.parquet", parquet(topic=["q","q"],doc=["a","b"],gain=[[1.5],[0.0]]), (), 'error a.parquet: the column gain holds List(Float64); write a row for each o'),
    ("a.parquet", parquet(topic=["q","q"],doc=["a","b"],gain=[float("nan"),0.0]), (), 'error a.parquet: row 1: gain nan is not a finite number (topic q, doc a); ga'),
    ("a.parquet", parquet(topic=["q",None],doc=["a","b"],gain=[1.0,0.0]), (), "error a.parquet: row 2: topic is missing (doc b); topic is the topic's id"),
    ("missing.qrels", None, (), 'error missing.qrels: there is no such file'),
    ("folder", {}, (), 'error folder: this is a folder; name the files in it, e.g. runs/*.run'),
    ("a.qrels", b"\x89PNG\r\n\x1a\n\x00\x00", (), 'error a.qrels:3: a NUL byte is not text; write the file as plain text'),
    ("a.qrels", "<html><body>404</body></html>\n", (), 'error a.qrels: this is a web page, not data; download the file itself (on GitHub: Raw)'),
    ("a.qrels", "q 0 "+"a"*70000+" 1\nq 0 a 1\n", (), 'r,q,RR,1.0'),
    ("a.qrels", "﻿q 0 a 1\nq 0 b 0", (), 'r,q,RR,1.0'),
    ("a.qrels", "q 0 a 1\n\n# note\nq 0 b x\n", (), "error a.qrels:4: gain 'x' is not a number; write a number, or say what each "),
    ("a.qrels", "q\u00a00 a 1\n", (), 'error good.run: none of the 1 topics of run r has judgments; check that gain'),
    ("a.qrels", "q 0 a +1\nq 0 b -0\n", (), 'r,q,RR,1.0'),
    ("a.qrels", "q 0 a 0x1\n", (), "error a.qrels:1: gain '0x1' is not a number; write a number, or say what eac"),
    ("a.qrels", "q 0 a ١\n", (), "error a.qrels:1: gain '١' is not a number; write numbers as 1234.5, with not"),
    ("a.qrels", "q,0,a,1\nq,0,b,0\n", (), "error a.qrels:1: 1 fields in 'q,0,a,1'; a qrels line is: topic 0 document gr"),
    ("a.csv", '"topic","doc","gain"\n"q","a","1"\n"q","b","0"\n', (), 'r,q,RR,1.0'),
    ("a.csv", "topic,doc,gain,\nq,a,1,\nq,b,0,\n", (), 'r,q,RR,1.0'),
    ("a.csv", "topic,doc,gain\n q , a , 1 \nq,b,0\n", (), "r,q,RR,1.0 | spaces around ids are dropped (topic ' q ')"),
    ("a.csv", "topic,doc,gain,low\nq,a,1,much\nq,b,0,0\n", (), "error a.csv:2: low 'much' is not a number; low is lower end of the gain's in"),
    ("a.csv", "topic,doc,gain,judgments\nq,a,1,-1\nq,b,0,0\n", (), 'error a.csv:2: judgments -1 is below 0 (topic q, doc a); judgments is how ma'),
    ("a.csv", "topic,doc,gain,judgments\nq,a,1,1.5\nq,b,0,0\n", (), "error a.csv:2: judgments '1.5' is not a whole number; judgments is how many "),
    ("a.csv", "topic,doc,relevance,score\nq,a,1,0\nq,b,0,1\n", (), 'r,q,RR,1.0 | gain is read from the column relevance, not from'),
    ("a.csv", "topic,doc,gain\nq,a,'1'\nq,b,0\n", (), 'error a.csv:2: gain "\'1\'" is not a number; write numbers as 1234.5, with not'),
    ("a.csv", "sep=,\ntopic,doc,gain\nq,a,1\n", (), 'r,q,RR,1.0'),
    ("a.csv", "topic,doc,gain\nq,a,#N/A\nq,b,0\n", (), "error a.csv:2: gain '#N/A' is not a number; write a number, or say what each"),
    ("a.csv", "topic,doc,gain\nq,a,1\nq,b,0\n\x1a", (), 'error a.csv:4: this line has 1 fields, the first line has 3; mend the line'),
    ("a.jsonl", '{"topic": 1.5, "doc": "a", "gain": 1}\n', (), 'error good.run: none of the 1 topics of run r has judgments; check that gain'),
    ("a.jsonl", '{"topic": null, "doc": "a", "gain": 1}\n{"topic": "q", "doc": "a", "gain": 1}\n', (), "error a.jsonl:1: topic is missing (doc a); topic is the topic's id"),
    ("a.json", '[{"topic": "q", "doc": "a", "gain": 1}', (), "error a.json:1: this is not JSON: Expecting ',' delimiter at character 39; m"),
    ("a.json", '{"q": {"a": {"x": 1}}}', (), "error a.json: the column gain holds Struct({'x': Int64}); say which part of "),
    ("a.parquet", parquet(q=[1]), (), 'error a.parquet: the gains table needs the columns topic, doc, gain; this on'),
    ("a.csv.gz", gzip.compress(b"topic,doc,gain\nq,a,1\nq,b\n"), (), 'error a.csv.gz:3: this line has 2 fields, the first line has 3; mend the lin'),
]
RUN = [
    ("a.run", "", (), 'error a.run: the run is empty; a run needs at least one line'),
    ("a.run", "\n", (), 'error a.run: the run is empty; a run needs at least one line'),
    ("a.run", Q, (), "error a.run:1: 4 fields in 'q 0 a 1'; a run's line is: topic Q0 document ran"),
    ("a.run", "q Q0 a 1 2.5 r\nq Q0 b 2\n", (), "error a.run:2: 4 fields in 'q Q0 b 2'; a run's line is: topic Q0 document ra"),
    ("a.run", "q Q0 a 1 high r\n", (), "error a.run:1: score 'high' is not a number; write a decimal number such as "),
    ("a.run", "q Q0 a 1 nan r\nq Q0 b 2 1 r\n", (), "error a.run:1: score 'nan' is not a number; write a decimal number such as 1"),
    ("a.run", "q Q0 a 1 inf r\nq Q0 b 2 1 r\n", (), 'r,q,RR,1.0'),
    ("a.run", "q Q0 a 1 2.5 r\nq Q0 a 2 1.5 r\n", (), 'error a.run:2: topic q: document a is ranked twice; keep one line for each d'),
    ("a.run", "q Q0 a 1 2.5\nq Q0 b 2 1.5\n", (), 'a,q,RR,1.0'),
    ("a.run", "q Q0 a 1 2.5 r and more\nq Q0 b 2 1.5 r\n", (), 'r,q,RR,1.0 | 1 lines have text after the tag, which is ignored'),
    ("a.run", "q Q0 a 9.5 1 r\nq Q0 b 8.5 2 r\nq Q0 c 7.5 3 r\n", (), 'error a.run: rank and score are swapped: ranks fall from 9.5, scores count 1'),
    ("a.run", "q Q0 a 1 1 r\nq Q0 b 2 2 r\nq Q0 c 3 3 r\nq Q0 d 4 4 r\nq Q0 e 5 5 r\n", (), 'r,q,RR,0.2 | the run has scores that rise with the ran'),
    ("a.run", "q a 1\nq b 2\n", (), 'a,q,RR,1.0 | lines of three fields are read as topic, documen'),
    ("a.run", "q a 3.5\nq b 2.5\n", (), 'error a.run:1: lines of three fields, and the third does not count 1, 2, 3, '),
    ("a.run", "q a 0\nq b 1\n", (), 'a,q,RR,1.0 | lines of three fields are read as topic, documen'),
    ("a.run", "q a 2\nq b 3\n", (), 'error a.run:1: lines of three fields, and the third does not count 1, 2, 3, '),
    ("a.tsv", "q\tb\t1\t9.5\nq\ta\t2\t9.1\n", (), 'a,q,RR,0.5 | lines of four fields are read as topic, document, rank and score'),
    ("a.tsv", "q\tb\t1\t9.5\nq\ta\t1\t9.1\n", (), 'error a.tsv:1: lines of four fields, and the third does not count 1, 2, 3, … in each topic; write a first line that names them: topic doc rank score'),
    ("a.run.bz2", bz2.compress(R.encode()), (), 'r,q,RR,1.0'),
    ("a.run.xz", lzma.compress(R.encode()), (), 'r,q,RR,1.0'),
    ("a.run.zip", zipped("a.run", text=R), (), 'r,q,RR,1.0'),
    ("a.csv.bz2", bz2.compress(b"qid,docid,score\nq,b,2\nq,a,1\n"), (), 'a,q,RR,0.5'),
    ("a.run", R.encode("utf-16"), (), 'r,q,RR,1.0'),
    ("a.run", b"\xef\xbb\xbf"+R.encode(), (), 'r,q,RR,1.0'),
    ("a.run", R.replace("\n","\r\n"), (), 'r,q,RR,1.0'),
    ("a.run", R.replace(" ","\t"), (), 'r,q,RR,1.0'),
    ("a.run", R.replace(" ","  "), (), 'r,q,RR,1.0'),
    ("a.run", b"q Q0 \xe9 1 2.5 r\n", (), 'error a.run:1: this line is not UTF-8; convert the file, e.g. iconv -f latin'),
    ("a.run", b"q Q0 a\x00b 1 2.5 r\nq Q0 b 2 1.5 r\n", (), 'error a.run:1: a NUL byte is not text; write the file as plain text'),
    ("a.run", "q Q0 "+"a"*70000+" 1 2.5 r\nq Q0 b 2 1.5 r\n", (), 'r,q,RR,0.0'),
    ("a.run", "other Q0 a 1 2.5 r\n", (), 'error a.run: none of the 1 topics of run r has judgments; check that gains a'),
    ("a.run", "q Q0 a 1 1_0 r\n", (), "error a.run:1: score '1_0' is not a number; write a decimal number such as 1"),
    ("a.csv", "qid,docno,score\nq,a,2\nq,b,1\n", (), 'a,q,RR,1.0'),
    ("a.csv", "qid,docno,rank\nq,a,1\nq,b,2\n", (), 'a,q,RR,1.0 | there are no scores; documents are ranked by the column rank'),
    ("a.csv", "qid,docno,score\nq,a,1\nq,b,2\nq,c,3\n", (), 'a,q,RR,0.3333333333333333 | the scores count 1, 2, 3, … as ranks do; the hig'),
    ("a.csv", "qid,docno,score\nq,a,x\nq,b,1\n", (), "error a.csv:2: score 'x' is not a number; score is the retrieval score; high"),
    ("a.csv", "qid,docno,score\nq,a,2\nq,a,1\n", (), 'error a.csv:3: system a, topic q, doc a appears twice (first in line 2); ke'),
    ("a.csv", "qid,docno\nq,a\n", (), 'error a.csv: the runs table needs the column score; this one has qid, docno;'),
    ("a.csv", "qid,docno,score\n", (), 'error a.csv: the run is empty; a run needs at least one line'),
    ("a.jsonl", '{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": "x"}\n', (), "error a.jsonl:2: score 'x' is not a number; score is the retrieval score; hi"),
    ("a.json", '{"q": {"a": 2, "b": 1}}', (), 'a,q,RR,1.0'),
    ("a.json", '{"q": {"a": 2, "b": "x"}}', (), "error a.json: row 2: score 'x' is not a number; score is the retrieval score"),
    ("a.parquet", parquet(qid=["q","q"],docno=["a","b"],score=[2,1]), (), 'a,q,RR,1.0'),
    ("a.parquet", b"PAR1nonsense", (), 'error a.parquet: this is not a readable parquet file (parquet: File out of s'),
    ("missing.run", None, (), 'error missing.run: there is no such file'),
    ("*.none", None, (), 'error no file matches *.none'),
    ("a.run.gz", gzip.compress(R.encode())[:-4], (), 'error a.run.gz: the compressed file is broken or cut short (it ends before i'),
    ("a.run", "q Q0 a 1 2.5 r\nq Q0 b 2 1.5 s\n", (), "r,q,RR,1.0 | tags 'r' and 's' in one file; taken as one syste"),
    ("a.run", "q Q0 a 1 2,5 r\n", (), "error a.run:1: score '2,5' is not a number; write a decimal number such as 1"),
    ("a.run", "q Q0 a one 2.5 r\n", ("--order", "rank",), "error a.run:1: topic q: rank 'one' of document a is not a number; rank by sc"),
    ("a.run", "q Q0 a 1 2.5 r\nq Q0 b 1 1.5 r\n", ("--order", "rank",), 'r,q,RR,0.5'),
    ("a.run", "# comment\n\nq Q0 a 1 2.5 r\n", (), 'r,q,RR,1.0'),
    ("a.run", "q Q0 a 1 2.5 r", (), 'r,q,RR,1.0'),
    ("a.run", "q,Q0,a,1,2.5,r\n", (), "error a.run:1: 1 fields in 'q,Q0,a,1,2.5,r'; a run's line is: topic Q0 docum"),
    ("a.run", b"\x00\x01\x02", (), 'error a.run:1: a NUL byte is not text; write the file as plain text'),
    ("a.csv", "qid,docno,score,rank\nq,a,2,1\nq,b,1,x\n", ("--order", "rank",), "error a.csv: topic q: rank 'x' of document b is not a number; rank by score "),
    ("a.csv", "name,qid,docno,score\ns,q,a,2\nt,q,b,1\n", (), 's,q,RR,1.0 t,q,RR,0.0'),
    ("a.csv", "qid,docno,score\nq,a,nan\nq,b,1\n", (), 'error a.csv:2: score nan is not a number (topic q, doc a); score is the retr'),
    ("a.csv", "qid,docno,score\n,a,2\n", (), "error a.csv:2: topic is missing (doc a); topic is the topic's id"),
    ("a.jsonl", '{"qid": "q", "docno": "a"}\n', (), 'error a.jsonl: the runs table needs the column score; this one has qid, do'),
    ("a.json", '[1, 2]', (), "error a.json:1: 2 fields in '[1, 2]'; a run's line is: topic Q0 document ran"),
    ("a.json", '{"r": {"q": {"a": 2, "b": 1}}, "s": {"q": {"b": 2}}}', (), 'r,q,RR,1.0 s,q,RR,0.0'),
    ("a.run", "q Q0 b 1 1e309 r\nq Q0 a 2 1e308 r\n", (), 'r,q,RR,0.5'),
    ("a.run", "q Q0 b 1 -inf r\nq Q0 a 2 -9e99 r\n", (), 'r,q,RR,1.0'),
    ("a.run", "q Q0 b 1 +3 r\nq Q0 a 2 5. r\n", (), 'r,q,RR,1.0'),
    ("a.run", "q Q0 a 1 0x10 r\n", (), "error a.run:1: score '0x10' is not a number; write a decimal number such as 1"),
    ("a.run", "q Q0 a 1 1e5e5 r\n", (), "error a.run:1: score '1e5e5' is not a number; write a decimal number such as 1"),
    ("a.run", "q Q0 a 1 3 r\nq Q0 A 2 2 r\n", (), 'r,q,RR,1.0'),
    ("a.run", "q Q0 a\u200b 1 3 r\nq Q0 a 2 2 r\n", (), 'r,q,RR,0.5'),
    ("a.run", b"q\xa0Q0 a 1 3 r\n", (), 'error a.run:1: this line is not UTF-8; convert the file, e.g. iconv -f latin1'),
    ("a.run", "q\u00a0Q0 a 1 3 r\n", (), 'error a.run: none of the 1 topics of run r has judgments; check that gains and run use the same topic ids'),
    ("a.run", '"q" "Q0" "a" 1 3 "r"\n', (), 'error a.run: none of the 1 topics of run "r" has judgments; check that gains '),
    ("a.run", "q Q0 a 1 3 r\n\x1a", (), "error a.run:2: 1 fields in '"),
    ("a.run", "<html><body>404 Not Found</body></html>", (), 'error a.run: this is a web page, not data'),
    ("a.run", "q|Q0|a|1|3|r\n", (), "error a.run:1: 1 fields in 'q|Q0|a|1|3|r'; a run's line is: topic Q0 document"),
    ("a.run", gzip.compress(R.encode()) + gzip.compress(b"p Q0 a 1 3 r\n"), (), 'r,q,RR,1.0 | the run ranks topics without judgments'),
    ("a.run", gzip.compress(R.encode()) + b"junk", (), 'error a.run: the compressed file is broken'),
    ("a.csv", "topic;doc;score\nq;a;3,5\nq;b;2,5\n", (), "error a.csv:2: score '3,5' is not a number"),
    ("a.csv", "topic,doc,score\nq,b,1e400\nq,a,1\n", (), "a,q,RR,0.5"),
    ("a.json", '{"q": {"a": 3, "b": "x"}}', (), "error a.json: row 2: score 'x' is not a number"),
    ("a.json", '{"q": {"a": 3, "b": null}}', (), "error a.json: row 2: score is missing (topic q, doc b)"),
    ("a.json", '{"q": {"a": 3, "b": 1, "a": 2}}', (), "error a.json: 'a' appears twice in one JSON object; keep one of them"),
    ("a.json", '{"q": {"a": 3}, "q": {"b": 2}}', (), "error a.json: 'q' appears twice in one JSON object; keep one of them"),
    ("a.parquet", b"PAR1garbage", (), 'error a.parquet: this is not a readable parquet file'),
]
JUDGMENTS = [
    ("a.csv", "", (), 'error a.csv: the file is empty; its first line names the columns'),
    ("a.csv", "topic,doc,value\n", (), 'error a.csv: there are no judgments in it; write a row for each'),
    ("a.csv", "a,b,c\n1,2,3\n", (), 'error a.csv: the judgments table needs the columns topic, doc, value; this o'),
    ("a.csv", "1,2,3\n4,5,6\n", (), 'error a.csv: the judgments table needs the columns topic, doc, value; this o'),
    ("a.csv", "1,1,3\n4,5,6\n", (), "error a.csv:1: two columns are called '1'; if the first line holds data, say"),
    ("a.csv", J, (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("4","four"), (), "error a.csv:5: value 'four' is not a number; write a number, or say what eac"),
    ("a.csv", J.replace("4",""), (), 'q,a,2.0 q,b,2.0 | 1 of 4 rows have no value and are excluded (the '),
    ("a.csv", J.replace("4","N/A"), (), "error a.csv:5: value 'N/A' is not a number; write a number, or say what each"),
    ("a.csv", J.replace("4","N/A"), ("--words", "N/A=",), 'q,a,2.0 q,b,2.0 | 1 of 4 rows have no value and are excluded (the '),
    ("a.csv", J.replace("4","N/A"), ("--words", "n/a=4",), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J, ("--words", "five=5",), "q,a,2.0 q,b,3.0 | --words names answers that do not occur: 'five'"),
    ("a.csv", J, ("--words", "five",), "error 'five' does not say what words mean; write word=meaning, e.g. --words "),
    ("a.csv", J, ("--words", "five=…",), "error 'five' cannot mean '…'; a word means a number, left, right, same, a si"),
    ("a.csv", J.replace("4","1.000,5"), (), 'error a.csv:5: this line has 5 fields, the first line has 4; mend the line, '),
    ("a.csv", J.replace("4","1e999"), (), 'error a.csv:5: value inf is not a finite number (topic q, doc b, assessor y)'),
    ("a.csv", J.replace("4","nan"), (), "error a.csv:5: value 'nan' is not a number; write a number, or say what each"),
    ("a.csv", J.replace("q,b,y,4","q,b,y"), (), 'error a.csv:5: this line has 3 fields, the first line has 4; mend the line'),
    ("a.csv", J.replace("q,b,y,4","q,b,y,4,5"), (), 'error a.csv:5: this line has 5 fields, the first line has 4; mend the line, '),
    ("a.csv", J.replace("q,b,y,4",'q,b,"y,4'), (), 'error a.csv:5: the quotes of this line do not close (unexpected end of data)'),
    ("a.csv", J.replace("q,b,y,4","q,,y,4"), (), "error a.csv:5: doc is missing (topic q, assessor y); doc is the document's i"),
    ("a.csv", J.replace("q,b,y,4",",b,y,4"), (), "error a.csv:5: topic is missing (doc b, assessor y); topic is the topic's id"),
    ("a.csv", J.replace("value","worth"), (), 'error a.csv: the judgments table needs the column value; this one has topic,'),
    ("a.csv", J.replace("value","score"), (), 'q,a,2.0 q,b,3.0 | value is read from the column score'),
    ("a.csv", J.replace("value","score"), ("--columns", "valeu=score",), 'error there is no column valeu in the judgments; did you mean value=score?'),
    ("a.csv", J.replace("value","score"), ("--columns", "value=scores",), "error a.csv: there is no column 'scores' to read value from; the columns are"),
    ("a.csv", J, ("--columns", "topic=value=x",), "error a.csv: there is no column 'value=x' to read topic from; the columns ar"),
    ("a.csv", J.replace("assessor,value","relevance,score"), (), 'error a.csv: value may be any of the columns score, relevance; say which: --'),
    ("a.csv", J.replace(",",";"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace(",","\t"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace(",","|"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace(","," "), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace(",","   "), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace(",","~"), (), 'error a.csv: the judgments table needs the columns topic, doc, value; this o'),
    ("a.csv", J.replace(",","~"), ("--separator", "~",), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("\n","\r"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.encode("utf-16"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.encode("utf-16-le"), (), 'error a.csv:1: a NUL byte is not text; write the file as plain text'),
    ("a.csv", J.encode("utf-32"), (), 'error a.csv:1: a NUL byte is not text; write the file as plain text'),
    ("a.csv", J.replace("x","é").encode("latin-1"), (), 'q,a,2.0 q,b,3.0 | line 2 is not UTF-8; the file is read as Latin-1'),
    ("a.csv", J.replace("x","“x”").encode("cp1252"), (), 'q,a,2.0 q,b,3.0 | line 2 is not UTF-8; the file is read as Windows'),
    ("a.tsv", J.replace(",","\t"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("assessor","position").replace("x","0").replace("y","1"), (), 'q,a,2.0 q,b,3.0 | positions count from 0; 1 is added to each'),
    ("a.csv", J.replace("assessor","position").replace("x","first").replace("y","1"), (), "error a.csv:2: position 'first' is not a whole number; position is place in "),
    ("a.csv", J.replace("assessor","position").replace("x","1.5").replace("y","1"), (), "error a.csv:2: position '1.5' is not a whole number; position is place in th"),
    ("a.csv", P, (), 'error a.csv: this table holds pairs; use a method for pairs, such as prefere'),
    ("a.txt", "q a b a\nq b c c\n", (), 'error a.txt: this is the list of winners (topic, document, document, preferr'),
    ("a.qrels", "q 0 a 1\nq 0 b 0\nq 0 a 1\n", (), 'q,a,1.0 q,b,0.0 | 1 of 3 rows repeat another row exactly; each counts once | the qrels are read as judgments, one a line; qrels'),
    ("a.qrels", "q 0 a 1\nq 0 b 0\nq 0 a 1\nq 0 a 4\n", (), 'q,a,2.0 q,b,0.0 | the qrels are read as judgments, one a line, and lines with the same topic and document as judgments by different people; qrels'),
    ("a.qrels", "q 0 a 0\nq 0 b 0\nq 0 c 1\n", (), 'q,a,0.0 q,b,0.0 q,c,1.0 | the qrels are read as judgments, one a line; qrels'),
    ("a.qrels", "q 0 a L1\n", (), "error a.qrels:1: gain 'L1' is not a number; write a number, or say what each"),
    ("a.qrels", "q 0 a 1\nq 0 b\n", (), "error a.qrels:2: 3 fields in 'q 0 b'; a qrels line is: topic 0 document grad"),
    ("a.qrels", Q, ("--columns", "value=grade",), 'error a.qrels: the columns of this file have no names; leave --columns out, '),
    ("a.csv", "topic,doc,r1,r2\nq,a,1,2\nq,b,3,\n", ("--columns", "value=r*",), 'q,a,1.5 q,b,3.0 | value is read from r1, r2: 2 rows for each row o | 1 of 4 rows have no value and are excluded (the '),
    ("a.csv", "topic,doc,r1,r2\nq,a,1,2\nq,b,3,4\n", ("--columns", "value=r*,assessor=*",), 'q,a,1.5 q,b,3.5 | value is read from r1, r2: 2 rows for each row o'),
    ("a.csv", "topic,doc,r1,r2\nq,a,1,2\nq,b,3,4\n", ("--columns", "value=s*",), 'error a.csv: no column is called s*; the columns are topic, doc, r1, r2'),
    ("a.csv", J, ("--columns", "assessor=*",), 'error a.csv: assessor=* needs a column that is named with a star'),
    ("a.csv", J, ("--columns", "assessor=@file",), 'q,a,2.0 q,b,3.0 | 2 judgments repeat one of the same document by th'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "votes": [1, 2], "who": ["x", "y"]}\n', ("--columns", "value=votes,assessor=who",), 'q,a,1.5'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "votes": [1, 2], "who": ["x"]}\n', ("--columns", "value=votes,assessor=who",), 'q,a,1.5 | 1 judgment repeats one of the same document by the'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "votes": [1, 2], "who": ["x", "y", "z"]}\n', ("--columns", "value=votes,assessor=who",), 'error a.jsonl:1: votes holds 2 members and who 3; lists that are read together'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "value": [1, 2]}\n', (), 'error a.jsonl: the column value holds List(Int64); to read each member as a row, say so: --columns value=value'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "value": {"v": 1}}\n', (), "error a.jsonl: the column value holds Struct({'v': Int64}); say which part o"),
    ("a.jsonl", '{"topic": "q", "doc": "a", "value": {"v": 1}}\n', ("--columns", "value=value.v",), 'q,a,1.0'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "value": {"v": 1}}\n', ("--columns", "value=value.w",), 'error a.jsonl: there is no value.w; value has value.v; name one of them'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "value": true}\n', (), 'q,a,1.0 | value is true or false, read as 1 and 0'),
    ("a.jsonl", '{"topic": "q", "doc": "a", "value": "1"}\n{"topic": "q", "doc": "b", "value": 2}\n', (), 'q,a,1.0 q,b,2.0'),
    ("a.csv", J, ("--where", "assessor=z",), 'error no row has assessor=z; there are x, y'),
    ("a.csv", "topic,doc,value,known\nq,a,1,\nq,b,0,N\n", ("--where", "known=null",), 'error no row has known=null; there are N, and 1 row without a value (known=)'),
    ("a.csv", "topic,doc,value,known\nq,a,1,\nq,b,0,N\n", ("--where", "known=",), 'q,a,1.0'),
    ("a.csv", J, ("--where", "who=x",), "error there is no column 'who' to choose rows by; there are topic, doc, asse"),
    ("a.csv", J, ("--where", "assessor",), "error 'assessor' does not choose rows; write column=value or column!=value, e.g"),
    ("a.csv", J, ("--where", "assessor=x,y",), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J, ("--where", "value=1,2.0",), 'q,a,1.0 q,b,2.0'),
    ("a.csv", "topic_id,unit_id,document_id,gold,doc_pos,worker_id,relevance_score,cumulative_time,comment\nq,0,a,null,0,w,much,9,x\n", (), "error a.csv:2: relevance_score 'much' is not a number; write a number, or no"),
    ("a.csv", "topic_id,unit_id,document_id,gold,doc_pos,worker_id,relevance_score,cumulative_time,comment\nq,0,a,X,0,w,1,9,x\n", (), "error a.csv:2: gold 'X' is neither H nor N"),
    ("a.csv", "topic_id,unit_id,document_id,gold,doc_pos,worker_id,relevance_score,comment\nq,0,a,null,0,w,1,x\n", (), 'q,a,1.0'),
    ("a.csv", "topic_id,unit_id,document_id,gold,doc_pos,worker_id,relevance_score,cumulative_time,comment\nq,0,a,null,zero,w,1,9,x\n", (), "error a.csv:2: doc_pos 'zero' is not a number; write a number, or nothing"),
    ("a.csv", J+"q,c,x,9", (), 'q,a,2.0 q,b,3.0 q,c,9.0'),
    ("a.csv", "\ufeff"+J, (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("topic","Topic ").replace("value"," Value"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("assessor","WorkerId"), (), 'q,a,2.0 q,b,3.0 | assessor is read from the column WorkerId'),
    ("a.csv", J.replace("\n","\n\n"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("q,b,y,4",'q,"b\nb",y,four'), (), "error a.csv:5: value 'four' is not a number; write a number, or say what eac"),
    ("a.csv", J.replace("assessor","seconds").replace("x","-5").replace("y","3"), (), 'q,a,2.0 q,b,3.0 | 2 times are below 0 (topic q)'),
    ("a.csv", J.replace("assessor","seconds").replace("x","5s").replace("y","3"), (), "error a.csv:2: seconds '5s' is not a number; seconds is active time spent on"),
    ("a.csv", J.replace("assessor","unit"), (), 'q,a,2.0 q,b,3.0'),
    ("a.csv", J.replace("4","40%"), (), "error a.csv:5: value '40%' is not a number; write numbers as 1234.5, with no"),
    ("a.csv", "topic,doc,value\nq,a,\nq,b,\n", (), 'error a.csv: no row has a value; is value in another column? (--columns valu'),
    ("a.csv", J, ("--kind", "cardinal",), "error 'cardinal' is not a kind of number; write ratio, interval, ordinal, no"),
    ("a.jsonl", JS, (), 'q,a,1.0 q,b,2.0'),
    ("a.jsonl", JS+"{", (), 'error a.jsonl:3: this is not JSON: Expecting property name enclosed in doubl'),
    ("a.jsonl", JS.replace("2}",'"two"}'), (), "error a.jsonl:2: value 'two' is not a number; write a number, or say what ea"),
    ("a.jsonl", JS.replace('"b"',"null"), (), "error a.jsonl:2: doc is missing (topic q, assessor x); doc is the document's"),
    ("a.json", "["+JS.strip().replace("\n",",")+"]", (), 'q,a,1.0 q,b,2.0'),
    ("a.json", '{"q": {"a": 1}}', (), 'error a.json: the judgments table needs the columns topic, doc, value; this '),
    ("a.json", '{"annotations": [{"topic": "q"}]}', (), 'error a.json: the judgments table needs the columns topic, doc, value; this '),
    ("a.parquet", parquet(topic=[1,2],doc=["a","b"],value=["1","x"]), (), "error a.parquet: row 2: value 'x' is not a number; write a number, or say wh"),
    ("a.parquet", parquet(topic=[1,2],doc=["a","b"],value=[1,None]), (), '1,a,1.0 | 1 of 2 rows have no value and are excluded (the '),
    ("missing.csv", None, (), 'error missing.csv: there is no such file'),
    ("*.nothing", None, (), 'error no file matches *.nothing'),
    ("folder", {}, (), 'error folder: this is a folder; name the files in it, e.g. runs/*.run'),
    ("a.csv", "topic,doc,value\nq,a,1\n", ("--where", "value=1", "--where", "doc=b",), 'error no row has doc=b; there are a'),
    ("a.csv", "relevance,rel,topic,document_id,_unit_id,_worker_id\nsplendid,1,q,a,1,w\n", (), "error a.csv:2: relevance 'splendid' is none of not_relevant, relevant, highl"),
    ("a.csv", "_worker_id,mr,team,quality,naturalness\nw,q,a,1,2\n", (), 'error a.csv: this RankME export has several ratings; it has naturalness, qua'),
    ("a.csv", "_worker_id,mr,team,quality\nw,q,a,1\nw,q,b,2\n", (), 'q,a,1.0 q,b,2.0'),
    ("Batch_1.csv", "HITId,WorkerId,AssignmentStatus,Input.query,Input.doc_id,Answer.relevance\n1,w,Approved,q,a,2\n1,v,Rejected,q,a,0\n2,w,Submitted,q,b,1\n", (), 'q,a,1.0 q,b,1.0 | topic is read from the column Input.query | doc is read from the column Input.doc_id | assessor is read from the column WorkerId | HITId holds one judgment of each assessor | value is read from the column Answer.relevance | 1 rows with AssignmentStatus rejected count too; to exclude them: --where AssignmentStatus=Approved,Submitted'),
    ("toloka.tsv", "INPUT:query\tINPUT:doc_id\tOUTPUT:relevance\tASSIGNMENT:worker_id\tASSIGNMENT:status\nq\ta\trel\tw\tAPPROVED\nq\tb\tnot\tw\tAPPROVED\n", ("--words", "rel=1,not=0"), 'q,a,1.0 q,b,0.0 | topic is read from the column INPUT:query | doc is read from the column INPUT:doc_id | assessor is read from the column ASSIGNMENT:worker_id | value is read from the column OUTPUT:relevance'),
    ("appen.csv", "_unit_id,_tainted,_trust,_worker_id,relevance,relevance_gold,query,docid\n1,true,0.2,w,2,,q,a\n2,false,0.9,w,1,1,q,b\n", (), 'q,a,2.0 q,b,1.0 | assessor is read from the column _worker_id | _unit_id holds one judgment of each assessor | value is read from the column relevance | 1 rows with _tainted true count too; to exclude them: --where _tainted=false'),
    ("qualtrics.csv", """pid,Q1_1,Q1_2\nProlific ID,How relevant is d1?,How relevant is d2?\n"{""ImportId"":""QID5""}","{""ImportId"":""QID1_1""}","{""ImportId"":""QID1_2""}"\np,5,20\np2,7,30\n""", ("--columns", "topic=@file,assessor=pid,value=Q1_*,doc=*"), 'qualtrics,1,6.0 qualtrics,2,25.0 | the two rows below the names are Qualtrics | value is read from Q1_1, Q1_2: 2 rows for each'),
    ("qualtrics.csv", """pid,Q1_1\nProlific ID,How relevant is d1?\n"{""ImportId"":""QID5""}","{""ImportId"":""QID1_1""}"\np,much\n""", ("--columns", "topic=@file,assessor=pid,value=Q1_*,doc=*"), "error qualtrics.csv:4: value 'much' is not a number"),
    ("book.csv", "query,docid,Anna,Bob\nq,a,3,2\nq,b,0,\n", (), "error book.csv: the judgments table needs the column value; this one has query, docid, Anna, Bob; rename them, or say which is which (--columns value=NAME, or columns= in Python); where each other column holds an assessor's values: --columns topic=…,doc=…,value=*,assessor=*"),
    ("book.csv", "query,docid,Anna,Bob\nq,a,3,2\nq,b,0,\n", ("--columns", "topic=query,doc=docid,value=*,assessor=*"), 'q,a,2.5 q,b,0.0 | value is read from Anna, Bob: 2 rows for each row | 1 of 4 rows have no value and are excluded'),
    ("me.csv", "participant,d1,d2\np,10,40\np2,20,60\n", ("--columns", "topic=@file,value=d*,doc=*"), 'me,1,15.0 me,2,50.0 | value is read from d1, d2: 2 rows for each row | assessor is read from the column participant'),
    ("me.csv", "participant,d1,d2\np,10,40\n", ("--columns", "value=d*,doc=*"), 'error me.csv: the judgments table needs the column topic; this one has participant, d1, d2; rename them, or say which is which (--columns topic=NAME, or columns= in Python); where a file is one topic: --columns topic=@file'),
    ("doccano.jsonl", '{"query": "q", "doc": "a", "label": ["relevant"]}\n', ("--columns", "value=label", "--words", "relevant=1"), 'q,a,1.0'),
    ("studio.json", json.dumps([{"data": {"query": "q", "doc": "a"}, "annotations": [{"completed_by": 1, "result": [{"value": {"rating": 4}}]}, {"completed_by": 2, "result": []}]}]), ("--columns", "topic=data.query,doc=data.doc,assessor=annotations.completed_by,value=annotations.result.value.rating"), 'q,a,4.0 | 1 of 2 rows have no value and are excluded'),
    ("a.csv", J.replace("value", "value,seconds").replace(",1\n", ",1,NA\n").replace(",2\n", ",2,1.5\n").replace(",3\n", ",3,2\n").replace(",4\n", ",4,n/a\n"), (), "q,a,2.0 q,b,3.0 | 2 times seconds is 'NA', read as missing"),
    ("a.csv", J.replace(",1\n", ",NA\n"), (), "error a.csv:2: value 'NA' is not a number; write a number, or say what each answer means: --words 'NA=…'"),
    ("a.csv", J+"".join(f"q,d{i},x,{i % 3}\n" for i in range(9))+"q,e,x,99\n", (), 'error a.csv:15: value 99 is off the scale of the others: 13 of 14 are 0 to 4; correct it, or say what all values mean (--kind ratio, interval, ordinal or nominal'),
    ("a.csv", J+"".join(f"q,d{i},x,{i * 11}\n" for i in range(9))+"q,e,x,1000\n", (), 'error a.csv:15: value 1000 is off the scale of the others: 13 of 14 are 0 to 88'),
    ("a.csv", J+"".join(f"q,a,x{i},2\n" for i in range(9))+"q,a,z,1.5\n", (), 'error a.csv:15: value 1.5 is off the scale of the others: 13 of 14 are 1 to 4'),
    ("a.csv", J+"".join(f"q,a,x{i},2\n" for i in range(9))+"q,a,z,24\n", ("--kind", "ratio"), 'q,a,3.8333333333333335 q,b,3.0'),
    ("a.csv", J+"".join(f"q,a,x{i},2\n" for i in range(9))+"q,a,z,-1\n", (), 'q,a,1.75 q,b,3.0'),
    ("a.csv.xz", lzma.compress(J.encode("utf-16")), (), 'q,a,2.0 q,b,3.0'),
]
PAIRS = [
    ("a.csv", P, (), 'q,a,0.75 q,b,0.0 q,c,0.75'),
    ("a.csv", P.replace("same","tie"), (), "error a.csv:4: preferred 'tie' is not one of left, right, same; write left, "),
    ("a.csv", P.replace("same","tie"), ("--words", "tie=same",), 'q,a,0.75 q,b,0.0 q,c,0.75'),
    ("a.csv", P.replace("same","tie"), ("--words", "tie=0",), "error 'tie' cannot mean '0'; a word means left, right, same, a side with its"),
    ("a.csv", P.replace("same","tie"), ("--words", "tie=both",), "error 'tie' cannot mean 'both'; a word means a number, left, right, same, a "),
    ("a.csv", P.replace("same","0").replace("x,left","x,-2").replace("x,right","x,1"), (), "error a.csv:2: preferred '-2' is not one of left, right, same; write left, r"),
    ("a.csv", P.replace("same","0").replace("x,left","x,-2").replace("x,right","x,1"), ("--words", "0=same,-2=left:2,1=right:1",), 'q,a,0.75 q,b,0.0 q,c,0.75 | the preferences are graded; their strengths are '),
    ("a.csv", P.replace("same",""), (), 'q,a,1.0 q,b,0.0 q,c,1.0 | 1 of 3 pairs have no answer and are excluded (to'),
    ("a.csv", P.replace("preferred","choice").replace("same","a"), (), 'q,a,1.0 q,b,0.0 q,c,0.5 | preferred is read from the column choice | preferred names documents, read as left or right'),
    ("a.csv", P.replace("b,c","b,b"), (), 'error a document is compared with itself (topic q, left b, right b, assessor'),
    ("a.csv", P.replace("preferred","nothing"), (), 'error a.csv: no column says which document is preferred; the columns are topic,'),
    ("a.csv", J, (), 'error a.csv: this table holds judgments; use a method for judgments, such as'),
    ("a.txt", "q a b a\nq b c d\n", (), "error a.txt:2: preferred 'd' is not one of left, right, same; write left, ri"),
    ("a.txt", "q a b a\nq b c\n", (), "error a.txt:2: 'q b c' is not a topic, two documents and the preferred one o"),
    ("a.qrels", "q 0 a 0\nq 0 b 0\n", (), 'error a.qrels: this is the qrels (topic, 0, document, grade) export, which h'),
    ("a.csv", "topic,winner,loser\nq,a,b\nq,c,a\n", (), 'q,a,0.5 q,b,0.0 q,c,1.0 | the winner is read as the left document; on whic | preferred names documents, read as left or right'),
    ("a.csv", P.replace("left,right,a","left,left,a"), (), "error a.csv:1: two columns are called 'left'; rename or drop one of them"),
    ("a.csv", "topic,left,right,preferred\nq,a,b,LEFT\nq,b,c, right \n", (), 'q,a,1.0 q,b,0.0 q,c,1.0'),
    ("a.csv", "topic,left,right,left_score,right_score\nq,a,b,1,x\n", (), "error a.csv:2: right_score 'x' is not a number; right_score is the right doc"),
    ("a.csv", "topic,left,right,preferred,left_relevant\nq,a,b,left,maybe\n", (), "error a.csv:2: left_relevant 'maybe' is not true or false; left_relevant is "),
    ("a.csv", "topic,left,preferred\nq,a,left\n", (), 'error a.csv: the pairs table needs the column right; this one has topic, lef'),
    ("a.csv", "topic,left,right,preferred\nq,a,,left\n", (), 'error a.csv:2: right is missing (topic q); right is the document shown on th'),
    ("a.csv", "", (), 'error a.csv: the file is empty; its first line names the columns'),
    ("a.jsonl", '{"topic": "q", "left": "a", "right": "b", "preferred": 1}\n', (), "error a.jsonl:1: preferred '1' is not one of left, right, same; write left, "),
    ("a.csv", "topic,winner,loser\nq,a,\n", (), 'error a.csv:2: right is missing (topic q); right is the document shown on th'),
    ("a.csv", P.replace("same","0.0").replace("x,left","x,-2.0").replace("x,right","x,1.0"), ("--words", "0=same,-2=left:2,1=right:1",), 'q,a,0.75 q,b,0.0 q,c,0.75 | the preferences are graded; their strengths are '),
    ("lmsys.json", json.dumps([{"question_id": 8, "model_a": "a", "model_b": "b", "winner": "model_a", "judge": "x"}]), (), "error lmsys.json: row 1: preferred 'model_a' is not one of left, right, same"),
    ("lmsys.json", json.dumps([{"question_id": 8, "model_a": "a", "model_b": "b", "winner": "model_a", "judge": "x"}, {"question_id": 8, "model_a": "a", "model_b": "b", "winner": "tie (bothbad)", "judge": "y"}]), ("--words", "model_a=left,tie (bothbad)=same"), '8,a,0.75 8,b,0.25 | topic is read from the column question_id | left is read from the column model_a | right is read from the column model_b | assessor is read from the column judge | preferred is read from the column winner'),
]
LABELS = [
    ("a.qrels", "", (), 'error a.qrels: there is no judgment in it; a line is: topic 0 document grade'),
    ("a.qrels", "q 0 a one\n", (), "error a.qrels:1: gain 'one' is not a number; write a number, or say what eac"),
    ("a.qrels", "q 0 a 1\nq 0 a 0\n", (), 'error a.qrels:2: topic q, doc a appears twice (first in line 1); keep one r'),
    ("a.qrels", "other 0 z 1\n", (), ' | no label of a belongs to a document of the judgments'),
    ("a.csv", "topic,doc,label\nq,a,1\nq,b,x\n", (), "error a.csv:3: gain 'x' is not a number; write a number, or say what each an"),
    ("missing.qrels", None, (), 'error missing.qrels: there is no such file'),
    ("a.qrels", "q 0 a 1\nq 0 b 0\n", (), ''),
    ("a.csv", "topic;doc;label\nq;a;1\nq;b;0\n", (), ''),
]
SCORES = [
    ("a.csv", S, (), 't,s,0.5,0.375'),
    ("a.csv", S.replace("0.25",""), (), "error a.csv:3: value is missing (topic 2); value is the measure's value"),
    ("a.csv", S.replace("0.25","x"), (), "error a.csv:3: value 'x' is not a number; value is the measure's value"),
    ("a.csv", S.replace("0.25","nan"), (), 'error a.csv:3: value nan is not a finite number (topic 2); value is the meas'),
    ("a.csv", S.replace("s,2,AP,0.25\n",""), (), 'error 1 of 2 systems miss scores on 1 of 2 topics (1 scores; the first: syst'),
    ("a.csv", S.replace("s,2","s,1"), (), 'error a.csv:3: system s, topic 1, measure AP appears twice (first in line 2'),
    ("a.csv", S.replace("value","points"), (), 'error a.csv: the scores need the columns system, topic, measure and value; t'),
    ("a.csv", S.replace("value","points"), ("--columns", "value=points",), 't,s,0.5,0.375'),
    ("a.csv", "", (), 'error a.csv: the file is empty; its first line names the columns'),
    ("a.csv", "system,topic,measure,value\n", (), 'error the scores table is empty; there is nothing to compare'),
    ("a.csv", "system,1,2\ns,0.5,0.25\nt,1,0\n", (), 't,s,0.5,0.375 | each of the 2 columns 1, 2 is one topic | the measure is not named; it is called score (-m'),
    ("a.csv", "topic,s,t\n1,0.5,1\n2,0.25,0\n", (), 't,s,0.5,0.375 | each of the 2 columns s, t is one system | the measure is not named; it is called score (-m'),
    ("a.csv", "topic,s,t\n1,0.5,1\n2,0.25,x\n", (), "error a.csv:3: value 'x' is not a number; value is the measure's value"),
    ("a.csv", "topic,s,t\n1,0.5,1\n2,0.25,0\nall,0.4,0.5\n", (), "t,s,0.5,0.375 | each of the 2 columns s, t is one system | the measure is not named; it is called score (-m | 2 scores of the topic 'all' are means over topic"),
    ("a.csv", "who,s,t\n1,0.5,1\n2,0.25,0\n", (), 'error a.csv: the scores need the columns system, topic, measure and value; t'),
    ("a.csv", "system,topic,AP,P@5\ns,1,0.5,1\ns,2,0.25,1\nt,1,1,1\nt,2,0,1\n", (), 'error the scores are of 2 measures; name one or several with -m: AP, P@5'),
    ("a.csv", "system,topic,AP,P@5\ns,1,0.5,1\ns,2,0.25,1\nt,1,1,1\nt,2,0,1\n", ("-m", "AP",), 't,s,0.5,0.375 | each of the 2 columns AP, P@5 is one measure'),
    ("a.csv", "system,topic,AP,P@5\ns,1,0.5,1\ns,2,0.25,1\nt,1,1,1\nt,2,0,1\n", ("-m", "RR",), 'error there are no scores of RR; the measures are AP, P@5'),
    ("a.csv", "system;1;2\ns;0,5;0,25\nt;1;0\n", (), 't,s,0.5,0.375 | each of the 2 columns 1, 2 is one topic | the measure is not named; it is called score (-m | value has decimal commas, read as points (0,5)'),
    ("a.csv", "system,1,2\ns,0.5\nt,1,0\n", (), 'error a.csv:2: this line has 2 fields, the first line has 3; mend the line, '),
    ("a.txt", "map all 0.5\nmap 1 0.2\n", (), 'error a.txt: the scores need the columns system, topic, measure and value; t'),
    ("a.csv", S.replace(",",";").replace("0.","0,"), (), 't,s,0.5,0.375 | value has decimal commas, read as points (0,5)'),
    ("a.csv", "qid,a,a\n1,2,3\n", (), "error a.csv:1: two columns are called 'a'; rename or drop one of them"),
    ("a.jsonl", '{"system": "s", "topic": "1", "measure": "AP", "value": 0.5}\n{"system": "t", "topic": "1", "measure": "AP", "value": "x"}\n', (), "error a.jsonl:2: value 'x' is not a number; value is the measure's value"),
    ("a.csv", "system,topic,value\ns,1,0.5\nt,1,1\ns,2,0.5\nt,2,1\n", (), 't,s,1.0,0.5 | the measure is not named; it is called score (-m'),
    ("a.csv", "system,group,1,2\ns,x,0.5,1\nt,y,1,0\n", (), 's,t,0.75,0.5 | the columns group hold no numbers and are exclud | each of the 2 columns 1, 2 is one topic | the measure is not named; it is called score (-m'),
    ("a.csv", "system,1,2\ns,0.5,\nt,1,0\n", (), 'error 1 of 2 systems miss scores on 1 of 2 topics (1 scores; the first: syst'),
    ("a.csv", "system,1,2\ns,0.5,1\ns,1,0\n", (), 'error a.csv:3: system s, topic 1, measure score appears twice (first in lin'),
    ("missing.csv", None, (), 'error missing.csv: there is no such file'),
    ("a.csv", b"\x00\x01", (), 'error a.csv:1: a NUL byte is not text; write the file as plain text'),
]
# fmt: on

COMMANDS = {
    "gains": ("evaluate", "FILE", "good.run", "-m", "RR", "-o", "-"),
    "run": ("evaluate", "good.qrels", "FILE", "-m", "RR", "-o", "-"),
    "judgments": ("scale", "FILE", "--method", "mean", "--interval", "none", "-o", "-"),
    "pairs": ("scale", "FILE", "--method", "preference", "--interval", "none", "-o", "-"),
    "labels": ("agree", "good.csv", "FILE", "--replicates", "10"),
    "scores": ("compare", "FILE", "-o", "-", "--worlds", "10"),
}
TABLES = {"gains": GAINS, "run": RUN, "judgments": JUDGMENTS, "pairs": PAIRS, "labels": LABELS, "scores": SCORES}
CASES = [
    pytest.param(read_as, *case, id=f"{read_as}{at}")
    for read_as, cases in TABLES.items()
    for at, case in enumerate(cases)
]


def result(read_as: str, out: str) -> str:
    """What a command wrote, in short."""
    if read_as == "labels":
        return ""
    if read_as == "scores":
        pair = next(csv.DictReader(io.StringIO(out)))
        return ",".join(pair[name] for name in ("first", "second", "mean_first", "mean_second"))
    rows = [line.split(",") for line in out.splitlines()[1:]]
    if read_as in ("gains", "run"):
        return " ".join(",".join(row) for row in rows if row[2] == "RR")
    return " ".join(",".join(row[:3]) for row in rows)


@pytest.mark.parametrize(("read_as", "name", "content", "options", "expected"), CASES)
def test_a_malformed_file_is_one_line_or_read_with_a_note(
    judgewell: Any, read_as: str, name: str, content: Any, options: tuple[str, ...], expected: str
) -> None:
    for good, text in (("good.qrels", Q), ("good.run", R), ("good.csv", J)):
        Path(good).write_text(text)
    if isinstance(content, dict):
        Path(name).mkdir()
    elif content is not None:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = judgewell(*(name if word == "FILE" else word for word in COMMANDS[read_as]), *options)
    *before, last = err.splitlines() or [""]
    if expected.startswith("error "):
        assert (code, out) == (2, "")
        assert last.startswith("judgewell: " + expected.removeprefix("error "))
        assert all(line.startswith(("note: ", "info: ")) for line in before)
        return
    said = [line for line in err.splitlines() if not line.startswith("info: ")]
    of_file = [line for line in said if read_as != "scores" or line.startswith(f"note: {name}")]
    notes = [re.sub(r"^note: (\S+: )?", "", line) for line in of_file]
    notes = [text for text in notes if not text.startswith("values are read as")]
    wanted, *beginnings = expected.split(" | ")
    assert (code, result(read_as, out)) == (0, wanted), err
    assert len(notes) == len(beginnings), notes
    assert all(text.startswith(one) for text, one in zip(notes, beginnings, strict=True)), notes


def test_there_are_hundreds_of_them() -> None:
    assert len(CASES) > 300
