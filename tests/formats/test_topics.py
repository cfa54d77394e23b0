"""Topics from every kind of file, and bad files told with their line."""

import gzip
import json

import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.topics import read_topics

CLASSIC = """<top>

<num> Number: 7
<title> tea &amp; sleep

<desc> Description:
Does tea in the evening
keep people awake?

<narr> Narrative:
Studies count.

Opinions do not.

</top>
<top>
<num> Number: 008
<title> Topic: empty streets
</top>
"""
WEB = """<topics><topic number="51" type="faceted"><query>horse  hooves</query>
<description>Find pictures.</description><subtopic number="1">One</subtopic><subtopic number="2">Two</subtopic></topic>
<topic number="52"><query>stone walls</query></topic></topics>"""


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_classic_markup_loses_its_labels_and_line_breaks(tmp_path):
    topics = read_topics(written(tmp_path, "topics.txt", CLASSIC))
    assert topics.columns == ["topic", "title", "description", "narrative"]
    assert topics.rows() == [
        ("7", "tea & sleep", "Does tea in the evening keep people awake?", "Studies count.\n\nOpinions do not."),
        ("008", "empty streets", None, None),
    ]


def test_web_topics_keep_what_else_they_have(tmp_path):
    topics = read_topics(written(tmp_path, "wt.xml", WEB))
    assert topics["topic"].to_list() == ["51", "52"]
    assert topics["title"].to_list() == ["horse hooves", "stone walls"]
    assert topics["subtopic"].to_list() == ["One\nTwo", None]


@pytest.mark.parametrize(
    "content",
    [
        "1\ttea\n2\tsleep, at night\n",
        "1\ttea\r\n\r\n2\tsleep, at night\r\n",
        '{"qid": 1, "query": "tea"}\n{"qid": "2", "query": "sleep, at night"}\n',
        '[{"id": 1, "text": "tea"}, {"id": "2", "text": "sleep, at night"}]',
        'topic,title\n1,tea\n2,"sleep, at night"\n',
        "\ufeffquery_id\tquery\n1\ttea\n2\tsleep, at night\n",
    ],
)
def test_every_kind_of_file_gives_the_same_topics(tmp_path, content):
    for name, data in (("topics", content.encode()), ("topics.gz", gzip.compress(content.encode()))):
        assert read_topics(written(tmp_path, name, data)).rows() == [
            ("1", "tea", None, None),
            ("2", "sleep, at night", None, None),
        ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1\ttea\nsleep\n", r":2: 'sleep' has no tab"),
        ("1\ttea\n1\tsleep\n", r":2: topic 1 appears twice \(first in line 1\)"),
        ("1\t \n", r":1: topic 1 has no text"),
        ('{"qid": 1, "query": "tea"}\n{"qid": 2 "query": "x"}\n', r":2: this is not JSON"),
        ('{"query": "tea"}\n', r":1: a topic without an id"),
        ("query,title\n1,tea\n", r":1: no column is the topic.s id; there are query, title; call it topic, "),
        ('{"qid": 1.5, "query": "tea"}\n', r":1: qid 1\.5 is not text"),
        ('{"qid": 1, "query": "tea"}\n[]\n', r":2: this line is not an object"),
        ("topic,title\n1,tea,milk\n", r":2: this line has 3 fields, the first line has 2"),
        (CLASSIC.replace("008", "7"), r":16: topic 7 appears twice \(first in line 1\)"),
        ("<html></html>", "this is a web page, not data"),
        ("<x></x>", r"no <top> or <topic>"),
        ("", r"there are no topics"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path, content, said):
    path = written(tmp_path, "topics", content)
    with pytest.raises(InputError, match=said) as problem:
        read_topics(path)
    assert str(path) in str(problem.value)
    assert "\n" not in str(problem.value)


def test_long_json_is_no_trouble(tmp_path):
    rows = "\n".join(json.dumps({"topic": f"q{i}", "title": "x" * 1000}) for i in range(2000))
    assert len(read_topics(written(tmp_path, "t.jsonl", rows))) == 2000


@pytest.mark.realdata
def test_real_topic_files_are_read_whole(data):
    trec8 = read_topics(data / "trec8" / "topics.adhoc.401-450.txt")
    assert trec8["topic"].to_list() == [str(topic) for topic in range(401, 451)]
    assert trec8.null_count().row(0) == (0, 0, 0, 0)
    assert trec8["title"][0] == "foreign minorities, Germany"
    assert trec8["description"].str.contains("Description:|<").sum() == 0
    dl21 = read_topics(data / "trec-dl21" / "topics.txt")
    assert dl21.shape == (53, 4)
    assert dl21.row(0)[:2] == ("2082", "At about what age do adults normally begin to lose bone mass?")


def test_a_field_that_could_be_a_description_is_kept_beside_one(tmp_path):
    path = tmp_path / "topics.jsonl"
    path.write_text('{"topic": "1", "title": "t", "description": "what", "question": "which?"}\n')
    row = read_topics(path).row(0, named=True)
    assert (row["description"], row["question"]) == ("what", "which?")


def test_topics_in_latin_1_are_read_with_a_note(tmp_path):
    for content in (
        b"1\tcaf\xe9\n",
        b"topic,title\n1,caf\xe9\n",
        b"<top><num>1<title>caf\xe9</top>",
        b'{"id": 1, "query": "caf\xe9"}',
    ):
        with pytest.warns(JudgewellWarning, match="is not UTF-8; the file is read as Latin-1"):
            assert read_topics(written(tmp_path, "topics", content))["title"].to_list() == ["café"]


def test_topics_between_semicolons_and_in_utf_16(tmp_path):
    path = written(tmp_path, "topics.csv", "id;query\n1;tea, milk\n".encode("utf-16"))
    assert read_topics(path)["title"].to_list() == ["tea, milk"]
