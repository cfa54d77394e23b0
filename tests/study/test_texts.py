"""One catalogue of texts, translatable, with every hole filled."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import InputError
from judgewell.study.texts import catalogue, english
from judgewell.study.toml_lines import line_of, places


def test_a_text_is_filled_and_a_missing_value_is_an_error():
    assert english().text("page.progress", position=3, total=8) == "3 of 8"
    with pytest.raises(InputError, match=r"needs a value for \{total\}"):
        english().text("page.progress", position=3)
    with pytest.raises(InputError, match=r"did you mean page\.progress"):
        english().text("page.progres")


def test_values_are_put_in_as_they_are_and_never_filled_again():
    assert english().text("page.key", key="{total} \\1 {0.__class__}") == "Key: {total} \\1 {0.__class__}"


def test_no_text_has_a_brace_that_is_not_a_name():
    for key, text in english().texts.items():
        assert not re.search(r"[{}]", re.sub(r"\{[a-z_]+\}", "", text)), key


def test_a_translation_covers_what_it_has_and_says_what_it_lacks():
    ours = catalogue('[page]\nnext = "Weiter"\n')
    assert ours.text("page.next") == "Weiter"
    assert ours.text("page.back") == "Back"
    assert "page.back" in ours.untranslated()
    assert "page.next" not in ours.untranslated()
    assert english().untranslated() == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('[page]\n\nnexxt = "x"\n', r"de\.toml:3: there is no text 'page\.nexxt'; did you mean page\.next\?"),
        ('[page]\nprogress = "{place}"\n', r"de\.toml:2: .*cannot use \{place\}; it has \{position\}, \{total\}"),
        ("[page\n", r"de\.toml: this is not TOML"),
    ],
)
def test_a_wrong_translation_is_told_with_its_line(source, said):
    with pytest.raises(InputError, match=said):
        catalogue(source, "de.toml")


SOURCE = '''# a study
name = "a = b"
"quoted key" = 1

[units]  # comment [x]
documents = 8
list = [
  1, # ]
  2,
]
long = """
[not.a.table]
x = 1 \\"""
"""
raw = \'\'\'
[neither]
\'\'\'
inline = {a = 1, b = [2, 3]}
after.dot = 3

[[scale]]
kind = "binary"
[[scale]]
kind = "ordinal"
[scale.more]
x = 1
[[scale.grades]]
key = "N"
[[scale.grades]]
key = "M"
'''


def test_every_key_has_its_line():
    found = places(SOURCE)
    lines = SOURCE.split("\n")
    expected = {
        ("name",): "name",
        ("quoted key",): '"quoted key"',
        ("units",): "[units]",
        ("units", "documents"): "documents",
        ("units", "list"): "list",
        ("units", "long"): "long",
        ("units", "raw"): "raw",
        ("units", "inline"): "inline",
        ("units", "after", "dot"): "after.dot",
        ("scale", 1, "more", "x"): "x = 1",
        ("scale", 1, "grades", 1, "key"): 'key = "M"',
    }
    for place, start in expected.items():
        assert lines[found[place] - 1].startswith(start), place
    assert not any("not" in map(str, place) or "neither" in map(str, place) for place in found)
    assert lines[found["scale", 0, "kind"] - 1] == 'kind = "binary"'
    assert lines[found["scale", 1, "kind"] - 1] == 'kind = "ordinal"'
    assert line_of(("units", "inline", "b", 1), found) == found["units", "inline"]
    assert line_of(("nowhere",), found) is None


names = st.text("abcdefgh-_", min_size=1, max_size=5)
values = st.one_of(
    st.integers(), st.booleans(), st.text("ab[]{}#=\"'\n\\", max_size=8), st.lists(st.integers(), max_size=3)
)


@given(st.dictionaries(names, st.dictionaries(names, values, min_size=1, max_size=4), max_size=4))
def test_the_lines_of_any_table_are_found(tables):
    source, expected = "", {}
    for table, entries in tables.items():
        source += f"[{table}]\n"
        for key, value in entries.items():
            expected[table, key] = source.count("\n") + 1
            said = str(value).lower() if isinstance(value, bool) else _basic(value) if isinstance(value, str) else value
            source += f"{key} = {said}\n"
    assert tomllib.loads(source) == tables
    found = places(source)
    assert {place: found[place] for place in expected} == expected


def _basic(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@pytest.mark.parametrize(
    ("written", "code", "direction"),
    [
        ("", "en", "ltr"),
        ('language = "Deutsch"', "und", "ltr"),
        ('language = "Deutsch"\nlanguage_code = "de-AT"', "de-AT", "ltr"),
        ('language_code = "ar"', "ar", "rtl"),
        ('language_code = "az-Arab"', "az-Arab", "rtl"),
        ('language_code = "ks-Deva"', "ks-Deva", "ltr"),
        ('language_code = "ar"\ndirection = "ltr"', "ar", "ltr"),
    ],
)
def test_a_translation_says_its_language_and_direction(written, code, direction):
    found = catalogue(written)
    assert (found.code, found.direction) == (code, direction)


@pytest.mark.parametrize(
    ("written", "said"),
    [('language_code = "Deutsch"', "is not a language's tag"), ('direction = "right"', "is not known")],
)
def test_marks_that_browsers_do_not_know_are_refused_with_their_line(written, said):
    with pytest.raises(InputError, match=said) as refused:
        catalogue(f"\n{written}\n", "texts.toml")
    assert "texts.toml:2" in str(refused.value)
