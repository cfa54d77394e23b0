"""Which rows `--where` keeps."""

import polars as pl
import pytest

from judgewell.errors import DataError, InputError, collect_notes
from judgewell.formats.options import kept_where, where_files

TABLE = pl.DataFrame({"assessor": ["a", "b", "c", None], "grade": [0.0, 1.0, 2.0, 1.0]})


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("assessor=a,c", [0, 2]),
        ("assessor=", [3]),
        ("assessor!=a,c", [1, 3]),
        ("assessor!=", [0, 1, 2]),
        ("grade!=1", [0, 2]),
        ("grade=1,assessor!=b", [3]),
        (["grade=1", "assessor!="], [1]),
    ],
)
def test_rows_with_values_or_without_them(where, kept):
    rows = kept_where(TABLE.with_row_index("row"), where)
    assert rows["row"].to_list() == kept


def test_values_come_from_a_file_too(tmp_path):
    (tmp_path / "blocked.txt").write_text("a\n\nc\r\n")
    assert kept_where(TABLE, f"assessor!=@{tmp_path}/blocked.txt")["assessor"].to_list() == ["b", None]
    with pytest.raises(InputError, match=r"nobody.txt"):
        kept_where(TABLE, "assessor!=@nobody.txt")


def test_notes_do_not_name_assessors_and_files_are_known():
    with collect_notes() as notes:
        kept_where(TABLE, ["assessor!=a,c", "grade=1"])
    assert notes == ["2 of 4 rows are used: those without 2 assessors"]
    assert where_files(["assessor!=@blocked.txt,grade=1", "doc=@some/docs.txt"]) == ["blocked.txt", "some/docs.txt"]


def test_a_condition_that_changes_nothing_or_leaves_nothing_is_refused():
    with pytest.raises(DataError, match=r"no row has assessor=x; there are a, b, c, and 1 row without a value"):
        kept_where(TABLE, "assessor=x")
    with pytest.raises(DataError, match=r"every row has assessor!=x; there are a, b, c"):
        kept_where(TABLE, "assessor!=x")
    with pytest.raises(InputError, match=r"write column=value or column!=value"):
        kept_where(TABLE, "assessor")
