"""The page: valid, self-contained, the same each time; its tables as text, LaTeX and files."""

import json
import re
from html.parser import HTMLParser

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_studies import sources

from judgewell import text as numbers
from judgewell.charts import marks as charts
from judgewell.reports.assemble import assemble
from judgewell.reports.files import write_files
from judgewell.reports.latex import PROSE, escape, latex
from judgewell.reports.page import MOST_ROWS, looks, render, sentence, sheet, tight
from judgewell.reports.parts import Figure, Finding, Grid, Part, Report
from judgewell.reports.terms import Explained

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """Checks that elements close in order, and gathers ids, links and what would be loaded."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.loads, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        self.loads += [found[name] for name in ("src", "srcset", "data") if name in found]
        if tag == "link":
            self.loads.append(found["href"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def report():
    record = {
        "command": "report",
        "judgewell": "0",
        "options": {"seed": 0, "runs": list("abcdefgh")},
        "inputs": {"a.csv": "00"},
    }
    return assemble(sources(), title="A <study> & more", record=record, notes=["read with a note"])


@pytest.fixture(scope="module")
def page(report):
    return render(report)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page, report):
    reader = read(page)
    assert len(reader.ids) == len(set(reader.ids))
    assert {link[1:] for link in reader.links} <= set(reader.ids)
    for part in report.parts:
        assert f"part-{part.name}" in reader.ids
    assert "A <study> & more" in reader.text


def test_nothing_is_loaded_from_elsewhere(page):
    reader = read(page)
    assert [one for one in reader.loads if not one.startswith("data:")] == []
    assert not re.search(r"@import|url\(", page.split("</style>")[0])


def test_the_libraries_are_there_once(page):
    assert page.count("window.vegaEmbed=") == 1
    assert len(page.encode()) < 5_000_000


def test_charts_are_embedded_with_their_data(page, report):
    specs = json.loads(re.search(r'<script type="application/json" id="specs">(.*?)</script>', page, re.DOTALL)[1])
    assert set(specs) == {figure.name for figure in report.figures}
    assert specs["system_means"]["width"] == "container"
    assert len(specs["system_means"]["data"]["values"]) == 6


def test_the_same_input_gives_the_same_bytes(page):
    record = {
        "command": "report",
        "judgewell": "0",
        "options": {"seed": 0, "runs": list("abcdefgh")},
        "inputs": {"a.csv": "00"},
    }
    again = assemble(sources(), title="A <study> & more", record=record, notes=["read with a note"])
    assert render(again) == page


COLUMNS = (("systems", "mean"), ("worlds", "sd of a mean"))


def test_another_seed_gives_other_resamples(report):
    other = assemble(sources(seed=5), title="")
    tables = [{grid.name: grid.frame for grid in one.grids} for one in (report, other)]
    means, spreads = ([one[name][column].to_list() for one in tables] for name, column in COLUMNS)
    assert means[0] == means[1]
    assert spreads[0] != spreads[1]


def test_how_it_was_made_comes_before_the_appendix(page):
    assert page.index('id="made"') < page.index('id="part-appendix"')
    tail = page[page.index('id="made"') :]
    assert "a, b, c, d, e, f, … (8 in all)" in tail
    assert "a.csv" in tail


def test_terms_are_linked_at_their_first_use_and_explained_once(page):
    links = re.findall(r'<a class="term" href="#(term-[^"]+)">', page)
    assert len(links) == len(set(links)) >= 5
    assert re.findall(r'<dt id="(term-[^"]+)">', page) == sorted(links, key=str.casefold)
    explained = Explained()
    assert str(explained("a gain & gains")) == 'a <a class="term" href="#term-gain">gain</a> &amp; gains'
    assert str(explained("the gain of again")) == "the gain of again"


def test_a_page_without_charts_needs_no_libraries():
    part = Part("one", "One", (Finding("Nothing to draw."),))
    page = render(Report("Empty", "", (part,)))
    read(page)
    assert len(page) < 30_000


def test_hostile_words_stay_words():
    evil = "</script><script>alert(1)</script>"
    frame = pl.DataFrame({"system": [evil], "mean": [1.5]})
    page = render(
        Report(evil, evil, (Part("p", evil, (Finding(evil, "g"),), (Grid("g", evil, evil, frame),), (evil,)),))
    )
    assert "<script>alert(1)" not in page
    read(page)


def test_long_tables_are_cut_and_say_so():
    long = sheet(pl.DataFrame({"n": range(1000)}))
    assert len(long.rows) == MOST_ROWS
    assert long.folds
    assert long.cut_note == "First 200 of 1,000 rows."
    short = sheet(pl.DataFrame({"n": range(3)}))
    assert (short.folds, short.cut_note) == (False, "")


def test_no_figure_is_alone_beside_an_empty_half():
    dots = pl.DataFrame({"name": ["a"], "value": [0.5], "low": [0.4], "high": [0.6]})
    pairs = pl.DataFrame({"first": ["a", "b"], "second": ["b", "a"], "value": [0.9, 0.1], "sign": ["", ""]})

    def figure(name, square=False):
        chart = charts.matrix(pairs, "one", "two", "share") if square else charts.dots(dots, "", "mean")
        return Figure(name, name, "", chart, dots)

    def wide(*items):
        return [name for name, look in looks(items).items() if "wide" in look]

    grid = Grid("g", "Grid", "", dots)
    assert wide(figure("a"), figure("b")) == []
    assert wide(figure("a")) == ["a"]
    assert wide(figure("a"), grid, figure("b"), figure("c")) == ["a"]
    assert wide(figure("a", square=True), figure("b"), figure("c")) == [
        "c"
    ]  # it fills the column, the square would not
    assert looks([figure("a", square=True)]) == {"a": "wide small"}
    many = pl.DataFrame({"name": [f"s{n}" for n in range(129)], "value": 0.5, "low": 0.4, "high": 0.6})
    assert looks([Figure("l", "", "", charts.dots(many, "", "mean"), many)]) == {"l": "wide tall taller"}


def test_cells_sort_by_their_number():
    frame = pl.DataFrame({"p": [0.00001, 0.5], "word": ["a", None], "value": [1e-9, 2.0]})
    rows = sheet(frame).rows
    assert [cell.text for cell in rows[0]] == ["< 0.001", "a", "1.0·10⁻⁹"]
    assert [cell.sort for cell in rows[0]] == ["1e-05", "", "1e-09"]
    assert rows[1][1].text == "—"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (10.0, "10"), (0.5, "0.500"), (-0.25, "−0.250"), (91.5, "91.5"), (1234.5, "1,234")),
        *((1e-5, "1.0·10⁻⁵"), (2.5e7, "2.5·10⁷"), (None, "—"), (float("nan"), "—")),
    ],
)
def test_plain_numbers(value, text):
    assert numbers.plain(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1, "100 %"), (0.123, "12.3 %"), (0.99999, "> 99.9 %"), (0.00001, "< 0.1 %"), (None, "—")],
)
def test_shares(share, text):
    assert numbers.percent(share) == text


def test_words_of_lists_and_counts():
    assert numbers.listing(["a"]) == "a"
    assert numbers.listing(["a", "b", "c"]) == "a, b and c"
    assert numbers.listing(list("abcdef")) == "a, b, c and 3 more"
    assert numbers.counted(1, "topic") == "1 topic"
    assert numbers.counted(0, "analysis", "analyses") == "no analyses"
    assert numbers.p_said(0.0001) == "p < 0.001"
    assert tight("α = 0.05 and 30 %") == "α\u00a0=\u00a00.05 and 30\u00a0%"


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_every_number_can_be_written(value):
    text = numbers.plain(value)
    assert text
    assert "e" not in text
    assert numbers.cells(pl.Series("x", [value, 1.0]))[0]


def balanced(text):
    """Braces and environments close; every row has as many cells as there are columns."""
    bare = re.sub(r"\\[{}&]", "", text)
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    stack = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert stack == []
    layout = text.replace(PROSE, "l")
    columns = re.search(r"\\begin\{(?:tabular|longtable)\}\{([lr]+)\}", layout)[1]
    rows = [line for line in bare.splitlines() if line.endswith(r"\\") and not line.startswith(r"\caption")]
    assert rows
    assert {line.count("&") for line in rows} == {len(columns) - 1}


@given(st.text(max_size=60))
def test_any_text_is_balanced_latex(text):
    words = " ".join(text.split())
    grid = Grid("g", words, words, pl.DataFrame({"a": [words, "x"], "b": [1, 2]}))
    balanced(latex(grid))
    assert not re.search(r"(?<!\\)[%#$_&]", escape(words).replace(r"\_", ""))


def test_every_grid_is_balanced_latex(report):
    for grid in report.grids:
        balanced(latex(grid))


def test_wide_tables_fit_the_text_and_headings_of_several_words_are_stacked():
    wide = latex(Grid("g", "t", "c", pl.DataFrame({"worst plausible rank": [1], "note": ["a word " * 9]})))
    assert r"\resizebox" in wide
    assert rf"{{r{PROSE}}}" in wide
    assert r"\shortstack[r]{worst\\plausible\\rank} & note" in wide


def test_long_grids_become_longtables():
    assert r"\begin{longtable}" in latex(Grid("g", "t", "c", pl.DataFrame({"n": range(60)})))


def test_files_hold_every_figure_and_table(report, tmp_path):
    some = Report("t", "", tuple(part for part in report.each() if part.name in ("gains", "gains-tables", "limits")))
    written = write_files(some, tmp_path / "report_files")
    assert all(path.stat().st_size for path in written)
    assert {path.suffix for path in written} == {".svg", ".pdf", ".png", ".csv", ".tex"}
    assert len(written) == 3 * len(some.figures) + 2 * len(some.grids)
    gains = next(grid for grid in some.grids if grid.name == "gains")
    assert pl.read_csv(tmp_path / "report_files" / "tables" / "gains.csv").height == gains.frame.height
    page = render(some, "report_files")
    assert [link for link in read(page).links if not link.startswith("#")] == []  # the page can be mailed alone


def test_hostile_names_reach_latex_as_they_are():
    names = ["100%_#1 & co", "[0.5, 1]", "*starred", "a\\b{c}$d^e~f", "Größe ≥ 2 → α", "x" * 60]
    made = latex(Grid("g", "A & B_C", "50 % of #1", pl.DataFrame({"system": names, "mean": [0.5] * len(names)})))
    lines = made.splitlines()
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(names)
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == 1  # the one between the columns
        assert not row.startswith(("[", "*"))  # they would belong to the line end before
        assert not re.search(r"(?<!\\)[%#$_]", re.sub(r"\\ensuremath\{.*?\}", "", row))
    assert rows[0].startswith(r"100\%\_\#1 \& co &")
    assert rows[1].startswith("{}[0.5, 1] &")
    balanced(made)


def test_numbers_on_one_scale_have_equally_many_decimals() -> None:
    table = pl.DataFrame({"median": [96.21, 3.5], "highest": [96.2, 100.0], "lowest": [0.0, 1.0], "seconds": [8.25, 1]})
    columns = [["96.2", "3.5"], ["96.2", "100.0"], ["0.0", "1.0"], ["8.250", "1.000"]]
    assert numbers.table_cells(table) == columns
    assert [[cell.text for cell in row] for row in sheet(table).rows] == [
        list(row) for row in zip(*columns, strict=True)
    ]
    assert numbers.fractions([32.6, 83.45, 72]) == ["32.60", "83.45", "72.00"]


def test_a_share_is_a_percentage_and_a_count_of_the_same_name_is_not() -> None:
    assert numbers.cells(pl.Series("judged", [0.5, 1.0])) == ["50.0 %", "100 %"]
    assert numbers.cells(pl.Series("judged", [4.0, 10.0])) == ["4", "10"]


def test_notes_are_sentences_and_names_of_files_keep_their_letters():
    assert sentence("no method is given: gains are made by mean") == "No method is given: gains are made by mean."
    assert sentence("data/judgments.csv: 3 rows differ") == "data/judgments.csv: 3 rows differ."
    assert sentence("my answers.csv: 3 rows differ") == "my answers.csv: 3 rows differ."
