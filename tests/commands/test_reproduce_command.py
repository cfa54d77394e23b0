"""judgewell reproduce as a user types it."""

import json
import re

import pytest
from click.testing import CliRunner

from judgewell.commands.reproduce import reproduce as command
from judgewell.errors import InputError


def run(*arguments):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "prm15"
    result = run("prm15", "-o", str(folder), "--item", "table 1", "--item", "figure-3", "--item", "Table 3")
    assert result.exit_code == 0, result.output
    return folder, result.output


def test_the_list_names_every_item_and_its_function():
    result = run("sigir15", "--list")
    assert result.exit_code == 0
    numbers = [f"Table {number}" for number in (1, 2, 3)] + [f"Figure {number}" for number in range(1, 10)]
    assert re.findall(r"^((?:Table|Figure) \d+)", result.output, re.MULTILINE) == numbers
    assert "judgewell.papers.sigir15_figures.figure_5" in result.output


def test_items_by_number_as_page_and_files(made):
    folder, said = made
    assert "3 of 3 items" in said
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {
        "index.html", "index.html.meta.json", "figures/figure-3.svg", "figures/figure-3.pdf", "figures/figure-3.png",
        "tables/figure-3.csv",
        "tables/figure-3.tex", "tables/table-1.csv", "tables/table-1.tex", "tables/table-1-printed.csv",
        "tables/table-1-printed.tex", "tables/table-3.csv", "tables/table-3.tex", "tables/table-3-printed.csv",
        "tables/table-3-printed.tex",
    }  # fmt: skip
    page = (folder / "index.html").read_text()
    for link in re.findall(r'href="((?:tables|figures)/[^"]+)"', page):
        assert (folder / link).is_file(), link
    assert not re.search(r'<(?:link|script|img)[^>]+(?:href|src)="http', page)
    assert "Made from</b> a synthetic study" in page
    assert "Made from</b> the numbers that the paper prints" in page


def test_the_record_says_what_each_item_was_made_from(made):
    record = json.loads((made[0] / "index.html.meta.json").read_text())
    assert record["command"] == "reproduce"
    assert record["options"]["seed"] == 0
    assert record["items"]["Table 1"]["made"]
    assert record["items"]["Figure 3"]["from"][0].startswith("a synthetic study")


def test_the_same_command_writes_the_same_bytes(made, tmp_path):
    run("prm15", "-o", str(tmp_path / "prm15"), "--item", "table 1", "--item", "figure-3", "--item", "Table 3")
    for path in made[0].rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "prm15" / path.relative_to(made[0])).read_bytes(), path.name


def test_what_is_not_made_is_told(tmp_path):
    result = run("evia14", "-o", str(tmp_path / "out"), "--item", "figure 1", "--item", "appendix a")
    assert result.exit_code == 0
    assert "0 of 2 items" in result.output
    assert "Figure 1 not made: a screenshot" in result.output
    assert "Not made:</b>" in (tmp_path / "out" / "index.html").read_text()


def test_labels_and_runs_are_read_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, shift in (("one", 0), ("other", 1)):
        lines = [f"q{topic} 0 d{doc} {(doc * 7 + shift * (doc % 5 == 0)) % 3}" for topic in (1, 2) for doc in range(20)]
        (tmp_path / f"{name}.qrels").write_text("\n".join(lines) + "\n")
    for name, sign in (("up", ""), ("down", "-")):
        lines = [f"q{topic} Q0 d{doc} 1 {sign}{doc + 1} {name}" for topic in (1, 2) for doc in range(20)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    words = ["prm15", "-o", "out", "--labels", "one=one.qrels", "two=other.qrels", "--runs", "up.run", "down.run"]
    result = run(*words, "--item", "table 7")
    assert "1 of 1 items" in result.output
    record = json.loads((tmp_path / "out" / "index.html.meta.json").read_text())
    assert set(record["inputs"]) == {"one.qrels", "other.qrels", "up.run", "down.run"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["sigir15"], "no folder to write to"),
        (["sigir15", "-o", "out", "--item", "table 12"], "sigir15 has no 'table 12'"),
        (["sigir15", "-o", "out", "--data", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_mistakes_are_told_before_the_work(words, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=problem):
        run(*words)


def test_the_page_in_a_browser(made, chromium):
    page = chromium.new_page(viewport={"width": 375, "height": 800})
    faults = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto((made[0] / "index.html").as_uri())
    page.wait_for_selector("[data-chart] svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert [head.inner_text() for head in page.query_selector_all("h2 .counter")] == ["Table 1", "Figure 3", "Table 3"]
    page.close()
    assert faults == []
