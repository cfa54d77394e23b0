"""The page in a real browser: charts are drawn, tables sort and unfold, nothing is asked of the network."""

from pathlib import Path

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe

from judgewell.charts import marks as charts
from judgewell.reports.latex import latex
from judgewell.reports.page import render
from judgewell.reports.parts import Figure, Finding, Grid, Part, Report

P = [0.5, 0.00001, None, *[0.1 + number / 100 for number in range(17)]]
NAMES = [f"s{n}" for n in range(19)] + ["z_19 ≥ ± & <b>"]
GRID = Grid("g", "Grid", "Twenty rows.", pl.DataFrame({"system": NAMES, "p": P}), place="body")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    data = pl.DataFrame({"name": ["a", "b"], "value": [0.5, 0.25], "low": [0.4, 0.2], "high": [0.6, 0.3]})
    wide = Grid("w", "Wide", "Many columns.", pl.DataFrame({f"column number {n}": ["word"] for n in range(30)}))
    figure = Figure("f", "Figure", "Two dots.", charts.dots(data, "system", "mean", reference=0.3), data)
    parts = (Part("one", "One", (Finding("A finding.", "w"),), (figure, GRID, wide)),)
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render(Report("Title", "subtitle", parts)), encoding="utf-8")
    return file


@pytest.fixture(params=[(1200, "light"), (1200, "dark"), (390, "light")], ids=["light", "dark", "phone"])
def page(chromium, path, request):
    width, scheme = request.param
    opened = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.wrong = []
    opened.on("pageerror", lambda error: opened.wrong.append(str(error)))
    opened.on("console", lambda said: said.type in ("warning", "error") and opened.wrong.append(said.text))
    opened.on("request", lambda asked: asked.url.startswith("http") and opened.wrong.append(asked.url))
    opened.goto(path.as_uri())
    opened.wait_for_selector(".chart svg.marks")
    yield opened
    assert opened.wrong == []
    opened.close()


def first_cells(page):
    return page.eval_on_selector_all("#g tbody tr", "rows => rows.slice(0, 3).map(row => row.cells[0].textContent)")


def test_tables_sort_by_number_with_missing_ones_last(page):
    head = page.locator("#g th").nth(1).locator("button")
    head.click()
    assert first_cells(page)[0] == "s0"
    head.click()
    assert first_cells(page)[0] == "s1"
    last = page.eval_on_selector_all("#g tbody tr", "rows => rows.at(-1).cells[0].textContent")
    assert last == "s2"
    page.locator("#g th").nth(0).locator("button").click()
    assert first_cells(page) == ["s0", "s1", "s2"]


def test_axe_finds_nothing(page):
    found = Axe().run(page)
    assert not found.response["violations"], found.generate_report()


def test_long_tables_unfold(page):
    assert page.locator("#g tbody tr:visible").count() == 10
    page.locator("#g .unfold").click()
    assert page.locator("#g tbody tr:visible").count() == 20


def test_a_printed_page_and_one_without_scripts_show_the_whole_main_table(chromium, path, tmp_path):
    rows = pl.DataFrame({"system": [f"s{n}" for n in range(129)], "mean": 0.5})
    parts = (Part("one", "One", (), (Grid("g", "Grid", "Many rows.", rows, place="body"),)),)
    file = tmp_path / "long.html"
    file.write_text(render(Report("Title", "subtitle", parts)), encoding="utf-8")
    opened = chromium.new_page()
    opened.goto(file.as_uri())
    assert opened.locator("#g tbody tr:visible").count() == 10
    opened.emulate_media(media="print")
    assert opened.locator("#g tbody tr:visible").count() == 129
    opened.close()
    plain = chromium.new_context(java_script_enabled=False)
    opened = plain.new_page()
    opened.goto(file.as_uri())
    assert opened.locator("#g tbody tr:visible").count() == 129
    assert not opened.locator("#g .unfold").is_visible()
    plain.close()


def test_nothing_reaches_over_the_side(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".findings a").click()
    page.locator("#w table").wait_for(state="visible")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_button_changes_page_and_charts(page):
    def ink():
        return page.eval_on_selector(".chart svg.marks .role-axis-title text", "text => text.getAttribute('fill')")

    before = ink()
    page.locator("#theme").click()
    page.wait_for_function(
        "before => document.querySelector('.chart svg.marks .role-axis-title text')?.getAttribute('fill') !== before",
        arg=before,
    )
    assert ink() != before


def saved(page, button):
    with page.expect_download() as download:
        page.locator(button).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_figures_and_tables_are_saved_from_the_page(page):
    name, drawing = saved(page, "#f .draw:text-is('SVG')")
    assert name == "f.svg"
    assert drawing.startswith(b"<svg")
    assert b"mean" in drawing
    name, picture = saved(page, "#f .draw:text-is('PNG')")
    assert name == "f.png"
    assert picture.startswith(b"\x89PNG")
    name, table = saved(page, "#g .take:text-is('CSV')")
    assert name == "g.csv"
    assert table.decode().splitlines()[:2] == ['"system","p"', '"s0","0.500"']
    name, table = saved(page, "#g .take:text-is('LaTeX')")
    assert name == "g.tex"
    assert table.decode() == latex(GRID)
    assert "\\begin{tabular}{lr}" in table.decode()


def test_a_figure_is_printed_alone_for_pdf(page):
    page.evaluate(
        "void (window.print = () => { window.printed = document.querySelector('#sheet svg').getAttribute('width'); })"
    )
    page.locator("#f .draw:text-is('PDF')").click()
    page.wait_for_function("window.printed")
    page.emulate_media(media="print")
    assert page.locator("#sheet svg").is_visible()
    assert not page.locator("main").is_visible()
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1  # the figure alone
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#sheet").count() == 0
