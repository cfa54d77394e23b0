"""`judgewell agree` as a user types it."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from judgewell.analysis.agree import agree as judgewell_agree

ROWS = [
    (f"t{t}", f"d{d}", f"w{w}", f"w{w}/t{t}", d + 1, (d * 20 + 7 * ((t + w + d) % 3)))
    for t in range(3)
    for d in range(5)
    for w in range(6)
]


@pytest.fixture(autouse=True)
def files(tmp_path):
    frame = pl.DataFrame(ROWS, schema=["topic", "doc", "assessor", "unit", "position", "value"], orient="row")
    frame.with_columns(expert=pl.col("doc").str.slice(1).cast(pl.Int64) // 2).write_csv(tmp_path / "j.csv")
    labels = frame.select("topic", "doc").unique().sort("topic", "doc")
    lines = [f"{t} 0 {d} {int(d[1:]) // 2}" for t, d in labels.rows()]
    (tmp_path / "expert.qrels").write_text("\n".join(lines))


def test_a_summary_comes_first_and_tables_when_asked_for(judgewell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50")
    assert code == 0, err
    assert out.startswith("\nFINDINGS\n- Krippendorff’s α between assessors is")
    assert len(out.splitlines()) <= 24  # one screen
    assert max(map(len, out.splitlines())) <= 80
    first = out.split("\n- ")[1]
    assert re.search(r"-v prints \d+ tables and why \d+ analyses need other data", out)
    _, out, _ = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-v")
    assert "Agreement on the order of documents (order_agreement)" in out
    assert first in out  # -v has all findings, those of the summary among them
    assert "NOT ANALYSED" in out
    assert "needs pairs with a preference" in out
    assert "nan" not in out.lower()


def test_findings_beyond_one_screen_are_counted_and_shown_when_asked_for(judgewell, monkeypatch):
    monkeypatch.setattr("judgewell.commands.agree.MOST_LINES", 7)
    _, few, _ = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50")
    _, every, _ = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-v")
    shown, all_of_them = few.count("\n- "), every.count("\n- ")
    assert 1 < shown < all_of_them
    assert f"-v prints {all_of_them - shown} more findings" in few


def test_without_agreement_the_reason_is_said(judgewell):
    Path("same.csv").write_text("topic,doc,assessor,value\nt,a,v,1\nt,a,w,1\nt,b,v,1\nt,b,w,1\n")
    _, out, _ = judgewell("agree", "same.csv")
    assert "No agreement was measured: alpha is undefined where all values are equal" in out.replace("\n", " ")


def test_a_column_of_the_judgments_is_a_label_set_too(judgewell):
    judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "files")
    judgewell("agree", "j.csv", "--against", "expert", "--replicates", "50", "-o", "column")
    for name in ("order_agreement.csv", "grade_distributions.csv"):
        assert pl.read_csv(f"files/{name}").equals(pl.read_csv(f"column/{name}"))


def test_the_names_of_the_last_version_still_work(judgewell):
    code, out, err = judgewell("agree", "j.csv", "expert.qrels", "--section", "levels", "--replicates", "50")
    assert code == 0
    assert "note: the section levels is now called grades" in err
    assert "Gains by grade (grade_distributions)" in out


def test_log_gains_keep_all_their_documents(judgewell):
    frame = pl.read_csv("j.csv").group_by("topic", "doc").agg(gain=(pl.col("value") + 1).log().mean() - 4)
    frame.write_csv("logs.csv")
    assert (frame["gain"] < 0).sum() >= 3
    for options in (("j.csv", "expert.qrels", "--gains", "logs.csv"), ("j.csv", "expert.qrels", "logs.csv")):
        code, _, err = judgewell("agree", *options, "--section", "grades", "--section", "label sets", "-o", "out")
        assert code == 0
        assert "below 0" not in err
        boxes = pl.read_csv("out/grade_distributions.csv").filter(pl.col("labels") == "expert")
        assert boxes["documents"].sum() == frame.height
    cover = pl.read_csv("out/label_coverage.csv").filter(pl.col("labels") == "logs")
    assert cover["documents"].item() == frame.height
    (Path("unjudged.qrels")).write_text("t0 0 d0 1\nt0 0 d1 -1\nt0 0 d2 0\n")
    _, _, err = judgewell("agree", "j.csv", "unjudged.qrels", "--section", "label sets")
    assert "1 of 3 gains are below 0" in err  # whole grades: unjudged, as everywhere


def test_label_files_alone_are_compared(judgewell):
    lines = Path("expert.qrels").read_text().splitlines()
    for name, step in (("two.qrels", 3), ("three.qrels", 5)):
        other = [line if number % step else line[:-1] + "1" for number, line in enumerate(lines)]
        Path(name).write_text("\n".join(other))
    code, out, err = judgewell("agree", "expert.qrels", "two.qrels", "three.qrels", "-o", "out")
    assert code == 0, err
    assert "Krippendorff’s α of 3 label sets is" in " ".join(out.split())
    confusion = pl.read_csv("out/label_confusion.csv")
    assert confusion.filter(first="expert", second="two")["documents"].sum() == len(lines)
    kappas = pl.read_csv("out/label_kappa.csv")
    assert kappas.select("first", "second").rows() == [("expert", "two"), ("expert", "three"), ("two", "three")]
    assert (kappas["weighted_kappa"] >= kappas["kappa"]).all()


def test_label_files_of_one_name_are_all_compared(judgewell):
    lines = Path("expert.qrels").read_text()
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "expert.qrels").write_text(lines)
    code, _, err = judgewell("agree", "expert.qrels", "a/expert.qrels", "c=b/expert.qrels", "-o", "out")
    assert code == 0, err
    sets = pl.read_csv("out/label_kappa.csv").select("first", "second").rows()
    assert sets == [("expert.qrels", "a/expert.qrels"), ("expert.qrels", "c"), ("a/expert.qrels", "c")]
    code, _, err = judgewell("agree", "expert.qrels", "c=a/expert.qrels", "c=b/expert.qrels")
    assert code
    assert "two files are called c; give each a name of its own" in err


def test_the_command_is_the_function(judgewell):
    judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "--kind", "interval:0..100", "-o", "out")
    found = judgewell_agree("j.csv", "expert.qrels", replicates=50, kind="interval:0..100")
    for name, table in found.tables.items():
        assert table.write_csv() == Path(f"out/{name}.csv").read_text()
    assert "grade_distributions" in found._repr_html_() or "Gains by grade" in found._repr_html_()


def test_a_folder_holds_every_table_and_how_they_were_made(judgewell):
    judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "out")
    record = json.loads(Path("out/agreement.meta.json").read_text())
    assert record["options"]["replicates"] == 50
    assert list(record["inputs"]) == ["j.csv", "expert.qrels"]
    judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "again")
    assert Path("again/agreement.meta.json").read_bytes() == Path("out/agreement.meta.json").read_bytes()
    judgewell("agree", "j.csv", "other=expert.qrels", "--against", "expert", "--section", "grades", "-o", "named")
    assert json.loads(Path("named/agreement.meta.json").read_text())["inputs"] == record["inputs"]
    assert record["not analysed"]["transitivity"] == {"all": "needs pairs with a preference"}
    alpha = pl.read_csv("out/alpha.csv")
    assert alpha["alpha"].item() > 0.8


def test_findings_say_what_the_tables_hold(judgewell):
    _, out, _ = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "out")
    findings = " ".join(out.split("FINDINGS")[1].split())
    value = pl.read_csv("out/alpha.csv")["alpha"].item()
    order = pl.read_csv("out/order_agreement.csv").filter(pl.col("figure") == "pooled")
    assert f"Krippendorff’s α between assessors is {value:.3f} over 15 documents" in findings
    assert f"The gains order {100 * order['half'].item():.1f} % of" in findings.replace("100 %", "100.0 %")


def test_one_section_alone_and_the_list_of_them(judgewell):
    _, out, _ = judgewell("agree", "--list")
    names = [line.split(":")[0] for line in out.splitlines() if not line.startswith(" ")]
    _, out, _ = judgewell("agree", "j.csv", "--section", names[0], "--replicates", "50")
    assert "TIME" not in out
    code, _, err = judgewell("agree", "j.csv", "--section", "astrology")
    assert (code, err.count("\n")) == (2, 1)
    assert "there is no section 'astrology'" in err


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("file", "more", "table"),
    [
        ("music-preferences/judgments.csv", (), "transitivity_overall"),
        ("nyt-crowd/judgments.csv.gz", ("--where", "pilot=Pilot_2P-Doc-High"), "fleiss_kappa"),
        pytest.param(
            "trec8-s100/judgments.csv.gz",
            ("--against", "sormunen", "--against", "trec"),
            "order_agreement",
            marks=pytest.mark.long,
        ),
    ],
)
def test_real_data_end_to_end(data, judgewell, file, more, table):
    code, _, err = judgewell("agree", data / file, *more, "--replicates", "20", "-o", "out")
    assert code == 0, err
    assert len(pl.read_csv(f"out/{table}.csv"))


def test_words_hold_for_judgments_and_labels(judgewell):
    rows = [
        ("a", "x", "Yes"),
        ("a", "y", "yes"),
        ("b", "x", "No"),
        ("b", "y", "No"),
        ("c", "x", "Yes"),
        ("c", "y", "No"),
    ]
    Path("w.csv").write_text("topic,doc,assessor,value\n" + "".join(f"t,{d},{a},{v}\n" for d, a, v in rows))
    Path("l.qrels").write_text("t 0 a L1\nt 0 b L0\nt 0 c L1\n")
    code, _, err = judgewell("agree", "w.csv", "l.qrels", "--words", "yes=1,no=0")
    assert code == 2
    assert "l.qrels:1: gain 'L1' is not a number" in err
    code, out, _ = judgewell("agree", "w.csv", "l.qrels", "--words", "yes=1,no=0,L0=0,L1=1", "--section", "reliability")
    assert code == 0
    assert "0.4444" in out  # alpha of yes yes, no no, yes no: 1 - 5 * 2 / 18
