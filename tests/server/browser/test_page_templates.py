"""Templates without a browser: every kind of page has one, and every word in it is there."""

import re

import pytest
from jinja2 import StrictUndefined
from sample_pages import all_pages

from judgewell.server.frames import Frames
from judgewell.server.session import pages
from judgewell.server.session.questions import grade_keys
from judgewell.server.session.stage import stages
from judgewell.server.web import environment, paragraphs
from judgewell.study.questions import Grade

STRICT = environment(undefined=StrictUndefined)


def kinds(base=pages.Page):
    """The kinds of pages that all stages have, each with its template."""
    assert stages()
    for one in base.__subclasses__():
        yield from [(one.kind, one.template or one.kind)] if "kind" in vars(one) else []
        yield from kinds(one)


def test_every_kind_of_page_has_a_sample_and_a_template():
    assert {page.kind for page in all_pages().values()} == {kind for kind, _ in kinds()}
    shared = {"page.html", "body.html", "parts.html"}
    templates = {name for name in STRICT.list_templates() if name.endswith(".html")}
    assert {f"{template}.html" for _, template in kinds()} == templates - shared


@pytest.mark.parametrize("name", sorted(all_pages()))
def test_nothing_a_template_names_is_missing(name):
    text = Frames(STRICT.get_template("page.html"), static_version="1").text(all_pages()[name])
    assert "built-in method" not in text  # a word called like something of a dict
    assert not re.search(r"<style| style=|<script(?! type=\"module\" src=)| on[a-z]+=", text.split("srcdoc=")[0])
    assert not re.search(r"\{[a-z_]+\}", re.sub(r'data-words="[^"]*"', "", text))  # names that were never filled in


def test_two_keys_are_never_the_same():
    """But for the points of several scales, whose keys are for the scale in focus."""
    for name, page in all_pages().items():
        if name == "questionnaire_scales":
            continue
        text = Frames(STRICT.get_template("body.html"), static_version="1").text(page)
        keys = [key.lower() for key in re.findall(r'data-key="([^"]+)"', text)]
        assert len(keys) == len(set(keys)), name


def test_plain_text_flows_keeps_short_lines_and_keeps_columns_of_tables():
    flowing = "A line that was broken at a fixed width of many letters\nand goes on here."
    text = f"{flowing}\n\none\ntwo <b>\n\nname    amount\n\n   \n"
    assert paragraphs(text) == (
        f'<p dir="auto">{flowing}</p>\n<p dir="auto" class="lines">one\ntwo &lt;b&gt;</p>\n'
        '<pre tabindex="0" dir="auto">name    amount</pre>\n'
    )


@pytest.mark.parametrize(
    ("values", "own", "keys"),
    [
        ((0, 1, 2), "NRH", "012"),
        ((1, 2, 3), "abc", "123"),
        ((0, 0.5, 1), "nrh", "NRH"),
        ((-1, 0, 1), "NRH", "NRH"),
        ((0, 10, 20), ("no", "some", "all"), "123"),
    ],
)
def test_the_key_of_a_grade(values, own, keys):
    grades = [Grade(key=key, value=value, name=f"grade {key}") for key, value in zip(own, values, strict=True)]
    assert "".join(key for _, key in zip(grades, grade_keys(grades), strict=False)) == keys
