"""`judgewell scale` as a user types it."""

import json
from pathlib import Path

import polars as pl
import pytest

MAGNITUDES = """topic,doc,assessor,unit,position,scale,value
t,a,x,x/t,1,magnitude,10
t,b,x,x/t,2,magnitude,5
t,a,y,y/t,1,magnitude,300
t,b,y,y/t,2,magnitude,100
"""
PREFERENCES = "topic,left,right,assessor,preferred\n" + "".join(
    f"t,{left},{right},w{n},{who}\n"
    for n, (left, right, who) in enumerate(
        [("a", "b", "left"), ("b", "a", "left"), ("a", "b", "left"), ("b", "c", "left"), ("c", "a", "right")]
    )
)


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "m.csv").write_text(MAGNITUDES)
    (tmp_path / "p.csv").write_text(PREFERENCES)


def test_magnitudes_become_qrels_whose_ratios_are_the_judges(judgewell):
    code, out, _ = judgewell("scale", "m.csv", "--method", "magnitude", "--average", "log-mean", "-o", "g.qrels")
    assert code == 0
    assert "gains of 2 documents in 1 topics" in out
    gains = {line.split()[2]: float(line.split()[3]) for line in Path("g.qrels").read_text().splitlines()}
    assert gains["a"] / gains["b"] == pytest.approx((2 * 3) ** 0.5)
    record = json.loads(Path("g.qrels.meta.json").read_text())
    assert record["options"]["average"] == "log-mean"
    assert record["options"]["topic_mean"] == "judgments"


def test_preferences_become_a_gains_table_with_intervals(judgewell):
    code, _, _ = judgewell("scale", "p.csv", "--method", "bradley-terry", "--prior", "0.5", "-o", "g.parquet")
    assert code == 0
    gains = pl.read_parquet("g.parquet")
    assert gains.columns[:6] == ["topic", "doc", "gain", "low", "high", "judgments"]
    assert gains.sort("gain", descending=True)["doc"].to_list()[0] == "a"
    assert (gains["low"] <= gains["gain"]).all()


def test_draws_are_written_and_the_seed_decides_them(judgewell):
    def drawn(seed):
        judgewell("scale", "m.csv", "--method", "magnitude", "--draws", "20", "--seed", seed, "--draws-to", "d.parquet")
        return pl.read_parquet("d.parquet")

    assert drawn(1).shape == (2, 22)
    assert drawn(1).equals(drawn(1))
    assert not drawn(1).equals(drawn(2))


def test_the_methods_are_listed_in_two_lines_each(judgewell):
    code, out, _ = judgewell("scale", "--list")
    assert code == 0
    assert "magnitude: " in out
    assert "Turpin" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("m.csv", "--method", "magic"), "there is no method 'magic'"),
        (("m.csv", "--method", "magnitude", "--colour", "red"), "magnitude has no option 'colour'"),
        (("m.csv", "--method", "magnitude", "--offset"), "--offset needs a value"),
        (("m.csv", "p.csv", "--method", "magnitude"), "one argument too many"),
        (("m.csv", "--method", "bradley-terry"), "needs the columns left, right"),
        (("m.csv", "--method", "magnitude", "--where", "unit=none"), "no row has unit 'none'"),
    ],
)
def test_bad_input_is_one_line(judgewell, arguments, said):
    code, _, err = judgewell("scale", *arguments)
    assert code == 2
    assert said in err
    assert err.startswith("judgewell: ")
    assert err.count("\n") == 1


def test_a_zero_magnitude_names_who_gave_it_to_what_and_the_cure(judgewell):
    Path("m.csv").write_text(MAGNITUDES.replace(",5\n", ",0\n"))
    code, _, err = judgewell("scale", "m.csv", "--method", "magnitude")
    assert code == 2
    for word in ("0", "topic t", "document b", "assessor x", "offset"):
        assert word in err


@pytest.mark.realdata
def test_trec8_s100_end_to_end(data, judgewell):
    """Every pair gets a gain, and document gains rise with Sormunen's level."""
    source = data / "trec8-s100" / "judgments.csv.gz"
    assert judgewell("scale", source, "--method", "magnitude", "-o", "g.csv")[0] == 0
    assert judgewell("scale", source, "--method", "median", "-o", "raw.csv")[0] == 0
    export = pl.read_csv(source, infer_schema=False).rename({"topic_id": "topic", "document_id": "doc"})
    labels = export.filter(pl.col("sormunen").is_in(["0.0", "1.0", "2.0", "3.0"])).select(
        "topic", "doc", "sormunen", "gold"
    )
    for name in ("g.csv", "raw.csv"):
        gains = pl.read_csv(name, schema_overrides={"topic": pl.String})
        assert len(gains) == 4269
        labelled = gains.join(labels.unique(), on=["topic", "doc"])
        medians = labelled.group_by("sormunen").agg(pl.col("gain").median()).sort("sormunen")
        assert medians["gain"].is_sorted()
        assert len(medians) == 4
    others = labelled.filter(pl.col("gold") == "null")  # the published medians leave the known documents out
    medians = others.group_by("sormunen").agg(pl.col("gain").median()).sort("sormunen")
    assert medians["gain"].to_list() == [20, 75, 88.75, 90]


def test_intents_are_scaled_as_the_top_one_or_each(judgewell):
    Path("i.csv").write_text("topic,doc,assessor,intent,value\nt,a,x,1,2\nt,a,x,2,1\nt,b,x,0,0\n")
    Path("intents.csv").write_text("topic,intent,probability\nt,1,0.4\nt,2,0.6\n")
    code, out, err = judgewell("scale", "i.csv", "--method", "mean", "--intents", "intents.csv", "-o", "-")
    assert code == 0
    assert [line.split(",")[:3] for line in out.splitlines()[1:]] == [["t", "a", "1.0"], ["t", "b", "0.0"]]
    assert "2 of 4 judgments are of other intents" in err
    _, out, _ = judgewell(
        "scale", "i.csv", "--method", "mean", "--intents", "intents.csv", "--intent", "each", "-o", "-"
    )
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["t/1", "t/1", "t/2", "t/2"]
