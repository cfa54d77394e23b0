"""`judgewell agree` as a user types it."""

import json
from pathlib import Path

import polars as pl
import pytest

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


def test_sections_are_printed_and_what_is_left_out_is_said_with_its_reason(judgewell):
    code, out, err = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50")
    assert code == 0, err
    assert "order_agreement" in out
    assert "LEFT OUT" in out
    assert "needs pairs with a preference" in out
    assert "nan" not in out.lower()


def test_a_column_of_the_judgments_is_a_label_set_too(judgewell):
    judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "files")
    judgewell("agree", "j.csv", "--against", "expert", "--replicates", "50", "-o", "column")
    for name in ("order_agreement.csv", "level_distributions.csv"):
        assert pl.read_csv(f"files/{name}").equals(pl.read_csv(f"column/{name}"))


def test_a_folder_holds_every_table_and_how_they_were_made(judgewell):
    judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "out")
    record = json.loads(Path("out/agreement.meta.json").read_text())
    assert record["options"]["replicates"] == 50
    assert list(record["inputs"]) == ["j.csv", "expert.qrels"]
    judgewell("agree", "j.csv", "other=expert.qrels", "--against", "expert", "--section", "levels", "-o", "named")
    assert json.loads(Path("named/agreement.meta.json").read_text())["inputs"] == record["inputs"]
    assert record["left out"]["transitivity"] == {"all": "needs pairs with a preference"}
    alpha = pl.read_csv("out/alpha.csv")
    assert alpha.filter(pl.col("metric") == "interval")["alpha"].item() > 0.8


def test_the_end_says_in_sentences_what_the_tables_hold(judgewell):
    _, out, _ = judgewell("agree", "j.csv", "expert.qrels", "--replicates", "50", "-o", "out")
    said = " ".join(out.split("IN SHORT")[1].split())
    alpha = pl.read_csv("out/alpha.csv").filter(pl.col("metric") == "ordinal")
    order = pl.read_csv("out/order_agreement.csv").filter(pl.col("figure") == "pooled")
    value, low, high = alpha.select("alpha", "low", "high").row(0)
    assert f"α = {value:.3f} [{low:.3f}, {high:.3f}] on an ordinal scale" in said
    assert f"the gains order {100 * order['half'].item():.1f} % alike" in said.replace("100 %", "100.0 %")
    _, out, _ = judgewell("agree", "j.csv", "--section", "reliability", "--replicates", "50")
    assert "IN SHORT" not in out


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
        ("trec8-s100/judgments.csv.gz", ("--against", "sormunen", "--against", "trec"), "order_agreement"),
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
