"""The page about the papers names every item with the function that makes it, and its code runs."""

import re
from pathlib import Path

import pytest

from judgewell.errors import InputError
from judgewell.papers import PAPERS, paper

PAGE = (Path(__file__).parents[2] / "docs" / "papers" / "index.md").read_text(encoding="utf-8")


def sections():
    return dict(zip(PAPERS, re.split(r"(?m)^## (?=sigir15|evia14|prm15|adcs18)", PAGE)[1:], strict=True))


@pytest.mark.parametrize("name", PAPERS)
def test_every_item_stands_in_its_table(name):
    rows = re.findall(r"(?m)^\| (\S[^|]*?) \| ([^|]*?) \|", sections()[name])
    said = dict(rows[1:]) if rows[0][0] == "item" else dict(rows)
    for item in paper(name).items:
        if item.number.startswith("Poster figure"):
            continue
        made_by = f"`{item.make.__module__.rpartition('.')[2]}.{item.make.__name__}`"
        assert said[item.number] == made_by or said[item.number].startswith("not made"), item.number


def test_functions_are_named_by_their_numbers():
    for name in PAPERS:
        for item in paper(name).items:
            if item.make.__name__ != "refuse":
                assert item.make.__name__ == item.name.replace("-", "_")
                assert item.make.__doc__


def test_the_python_example_runs(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(block, "docs/papers/index.md", "exec"), {})
    assert "sigma" in capsys.readouterr().out


def test_an_unknown_paper_is_told():
    with pytest.raises(InputError, match="there is no paper 'sigir16'"):
        paper("sigir16")
