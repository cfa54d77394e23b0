"""`judgewell scale` as a user types it."""

import json
from pathlib import Path

import polars as pl
import pytest

from judgewell.commands.common import method_options
from judgewell.scaling.methods import OPTIONS, methods

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
    assert "gains of 2 documents in 1 topic\n" in out
    assert out.endswith(
        "Wrote g.qrels: 2 rows, one per document; method magnitude(average=log-mean), from 4 judgments of kind ratio.\n"
        "Next: judgewell evaluate g.qrels RUNS\n"
    )
    gains = {line.split()[2]: float(line.split()[3]) for line in Path("g.qrels").read_text().splitlines()}
    assert gains["a"] / gains["b"] == pytest.approx((2 * 3) ** 0.5)
    record = json.loads(Path("g.qrels.meta.json").read_text())
    assert record["options"]["average"] == "log-mean"
    assert record["options"]["topic_mean"] == "judgments"


def test_the_record_does_not_depend_on_where_results_are_written(judgewell):
    Path("elsewhere").mkdir()
    for where in ("g.csv", "elsewhere/h.csv"):
        judgewell("scale", "m.csv", "--method", "magnitude", "-o", where, "--draws-to", f"{where}.draws.parquet")
    for ending in ("", ".meta.json", ".draws.parquet"):
        assert Path(f"g.csv{ending}").read_bytes() == Path(f"elsewhere/h.csv{ending}").read_bytes()


def test_preferences_become_a_gains_table_with_intervals(judgewell):
    code, _, _ = judgewell("scale", "p.csv", "--method", "bradley-terry", "--prior", "0.5", "-o", "g.parquet")
    assert code == 0
    gains = pl.read_parquet("g.parquet")
    assert gains.columns[:6] == ["topic", "doc", "gain", "low", "high", "judgments"]
    assert gains.sort("gain", descending=True)["doc"].to_list()[0] == "a"
    assert (gains["low"] <= gains["gain"]).all()


@pytest.mark.parametrize(("file", "method"), [("m.csv", "magnitude"), ("p.csv", "bradley-terry")])
def test_the_method_for_the_kind_of_the_values_is_the_default(judgewell, file, method):
    code, out, err = judgewell("scale", file, "-o", "g.csv")
    assert code == 0
    assert out.startswith(method)
    assert f"note: no method is given: gains are made by {method}" in err
    judgewell("scale", file, "--method", method, "-o", "named.csv")
    assert pl.read_csv("g.csv").equals(pl.read_csv("named.csv"))


def test_an_option_of_the_default_method_is_taken(judgewell):
    _, out, _ = judgewell("scale", "m.csv", "--average", "log-mean")
    assert out.startswith("magnitude(average=log-mean)")


def test_draws_are_written_and_the_seed_decides_them(judgewell):
    def drawn(seed):
        judgewell("scale", "m.csv", "--method", "magnitude", "--draws", "20", "--seed", seed, "--draws-to", "d.parquet")
        return pl.read_parquet("d.parquet")

    assert drawn(1).shape == (2, 22)
    assert drawn(1).equals(drawn(1))
    assert not drawn(1).equals(drawn(2))


def test_several_files_are_taken_together(judgewell):
    head, *lines = MAGNITUDES.splitlines()
    Path("batch1.csv").write_text("\n".join([head, *lines[:2]]))
    Path("batch2.csv").write_text("\n".join(["topic,doc,assessor,unit,value", *(
        ",".join(line.split(",")[:4] + line.split(",")[6:]) for line in lines[2:]
    )]))  # fmt: skip
    for name, output in (("m.csv", "whole.csv"), ("batch*.csv", "parts.csv")):
        code, _, err = judgewell("scale", name, "--method", "magnitude", "-o", output)
        assert (code, "more than one file" in err) == (0, False), err
    assert pl.read_csv("parts.csv").equals(pl.read_csv("whole.csv"))
    assert list(json.loads(Path("parts.csv.meta.json").read_text())["inputs"]) == ["batch1.csv", "batch2.csv"]
    Path("batch3.csv").write_text("\n".join([head, *lines[:2]]))
    _, _, err = judgewell("scale", "batch*.csv", "--method", "magnitude")
    assert "1 units are in more than one file, such as x/t; each is taken as one" in err
    Path("batch3.csv").write_text("topic,doc,value\nt,a,many\n")
    code, _, err = judgewell("scale", "batch*.csv", "--method", "magnitude")
    assert (code, "batch3.csv" in err) == (2, True)


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
        (("m.csv", "p.csv", "--method", "magnitude"), "p.csv: this table holds pairs; use a method for pairs"),
        (("mean", "m.csv"), "mean is a method, not a file; write --method mean"),
        (("nothing*.csv", "--method", "magnitude"), "no file matches nothing*.csv"),
        (("m.csv", "--method", "bradley-terry"), "m.csv: this table holds judgments; use a method for judgments"),
        (("p.csv", "--method", "mean"), "p.csv: this table holds pairs; use a method for pairs"),
        (("m.csv", "--method", "mean", "--columns", "topic=theme"), "no column 'theme' to read topic from"),
        (
            ("m.csv", "--method", "bradley-terry", "--columns", "topic=topic"),
            "needs the columns left, right; this one has",
        ),
        (
            ("m.csv", "--method", "bradley-terry", "--columns", "topic=topic"),
            "(--columns left=NAME,right=NAME, or columns= in Python)",
        ),
        (("m.csv", "--method", "magnitude", "--where", "unit=none"), "no row has unit=none; there are"),
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
    """Every pair gets a gain, and document gains rise with Sormunen's grade."""
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


JUDGED = "topic,doc,assessor,unit,value\nt,a,x,u1,10\nt,b,x,u1,5\nt,a,y,u2,8\nt,b,y,u2,3\n"
KNOWN = "topic,doc,assessor,unit,value,known\nt,a,x,u1,10,N\nt,b,x,u1,5,\nt,b,y,u2,8,\nt,c,y,u2,3,\n"
COMPARED = "topic,left,right,assessor,preferred\n"
RATED = "topic,left,right,assessor,left_score,right_score\n"
S100 = "topic,doc,assessor,unit,scale,value\nt,a,x,u,s100,101\n"
GRADED = "topic,doc,assessor,value\nt,a,x,2\nt,a,y,1\nt,b,x,0\nt,b,y,0\nt,c,x,3\n"
WHO = ("topic t", "c", "assessor z")
BAD = {
    "zero": (JUDGED + "t,c,z,u3,0\n", "magnitude", ("magnitude 0 is not above 0", *WHO, "--offset 1")),
    "negative": (JUDGED + "t,c,z,u3,-3\n", "magnitude", ("magnitude -3 is not above 0", *WHO, "--words -3=")),
    "nan": (JUDGED + "t,c,z,u3,nan\n", "magnitude", ("bad.csv:6: value 'nan' is not a number", "--words 'nan=…'")),
    "too large": (JUDGED + "t,c,z,u3,1e400\n", "magnitude", ("bad.csv:6: value inf is not a finite number", *WHO)),
    "far apart": (
        JUDGED + "".join(f"t,d{n},v,w,1e300\n" for n in range(40)) + "t,c,z,u3,1e300\nt,d,z,u3,1e-300\n",
        "magnitude",
        ("too far from the others of its unit", *WHO, "correct or drop"),
    ),
    "above the bound": (
        JUDGED + "t,c,z,u3,120\n",
        "magnitude(bound=100)",
        ("value 120 is outside its scale of above 0 and below 100", *WHO),
    ),
    "above 100": (S100, "magnitude", ("value 101 is outside its scale of 0 to 100", "document a", "assessor x")),
    "above 100, mean": (S100, "mean", ("value 101 is outside its scale of 0 to 100", "document a", "assessor x")),
    "above 100, dawid-skene": (S100, "dawid-skene", ("value 101 is outside its scale of 0 to 100", "document a")),
    "above 100, predicted": (S100, "predicted", ("value 101 is outside its scale of 0 to 100", "document a")),
    "above 100, udm": (S100, "udm", ("value 101 is outside its scale of 0 to 100", "document a")),
    "no unit": ("topic,doc,value\nt,a,1\n", "magnitude", ("neither a unit nor an assessor", "fill the column unit")),
    "no known": (
        KNOWN,
        "known-ratio",
        ("1 of 2 units hold no known N", "topic t, unit u2, assessor y", "--missing skip"),
    ),
    "no known column": (JUDGED, "known-ratio", ("needs the column known", "--columns known=NAME")),
    "known what": (KNOWN.replace(",N", ",Q"), "width", ("known 'Q' is neither H nor N", "document a", "assessor x")),
    "unused grade": (GRADED, "predicted(threshold=1)", ("grade 3 was never used", "document c", "--smoothing 1")),
    "outside the grades": (GRADED, "predicted(grades=0;1;2)", ("grade 3 is not one of 0, 1, 2", "c, assessor x")),
    "no gain for a grade": (GRADED, "mean(profile='0:0,1:1')", ("no gain for the grade 2", "add 2:…")),
    "one assessor": (JUDGED[:53], "predicted", ("no document was judged by two assessors",)),
    "units apart": (JUDGED[:53] + "t,c,y,u2,3\n", "two-way", ("topic t", "2 components", "--components separate")),
    "pairs apart": (
        COMPARED + "t,a,b,x,left\nt,b,a,x,left\nt,c,d,x,left\n",
        "bradley-terry",
        ("topic t", "2 documents with a; 2 documents with c", "--components separate"),
    ),
    "never lost": (COMPARED + "t,a,b,x,left\n", "bradley-terry(prior=0)", ("document a never lost", "--prior 1")),
    "with itself": (COMPARED + "t,a,a,x,left\n", "preference", ("compared with itself", "assessor x", "drop")),
    "answer": (COMPARED + "t,a,b,x,better\n", "preference", ("bad.csv:2: preferred 'better' is not one of",)),
    "negative number": (RATED + "t,a,b,x,-1,2\n", "ratio", ("bad.csv:2: left_score -1.0 is below 0", "assessor x")),
    "no ratio": (RATED + "t,a,b,x,0,2\n", "ratio(epsilon=0)", ("0 has no ratio", "left a, right b, assessor x")),
    "empty": ("", "magnitude", ("bad.csv: the file is empty",)),
    "header only": (JUDGED[:30], "magnitude", ("bad.csv: there are no judgments in it",)),
    "ragged": (JUDGED + "t,c,z,u3,1,5\n", "magnitude", ("bad.csv:6: this line has 6 fields", "quotes")),
    "cut short": (JUDGED + "t,c,z\n", "magnitude", ("bad.csv:6: this line has 3 fields", "mend the line")),
    "columns": (
        "topic,doc,assessor\nt,a,x\n",
        "mean",
        ("needs the column value", "topic, doc, assessor", "--columns value=NAME"),
    ),
    "no id": (JUDGED + "t,,z,u3,1\n", "mean", ("bad.csv:6: doc is missing", "topic t", "assessor z")),
    "scales": (
        "topic,doc,assessor,scale,value\nt,a,x,binary,1\nt,a,y,ordinal,2\n",
        "mean",
        ("mix the scales binary, ordinal", "--where scale=binary"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_one_line_that_says_who_what_and_the_cure(judgewell, case):
    content, method, said = BAD[case]
    Path("bad.csv").write_text(content)
    code, _, err = judgewell("scale", "bad.csv", "--method", method, "--interval", "none")
    assert code == 2
    last = err.splitlines()[-1]
    assert last.startswith("judgewell: ")
    assert all(line.startswith("note: ") for line in err.splitlines()[:-1])
    for words in said:
        assert words in last


TOLD = {
    "judged twice": (
        JUDGED + "t,a,x,u1,9\n",
        "magnitude",
        "1 judgment repeats one of the same document by the same assessor in the same unit; all of them count",
    ),
    "judged twice, predicted": (
        JUDGED + "t,a,x,u1,10\n",
        "predicted",
        "1 judgment repeats one of the same document by the same a",
    ),
    "compared twice": (COMPARED + "t,a,b,x,left\nt,b,a,x,left\n", "preference", "1 answers are by an assessor who"),
    "units excluded": (
        KNOWN,
        "known-ratio(missing=skip)",
        "with them 1 documents that no other unit holds (topic t, do",
    ),
    "no answer": (COMPARED + "t,a,b,x,left\nt,a,c,x,\n", "preference", "1 of 2 pairs have no answer and are excluded"),
    "other names": ("qid,docno,worker,label\nt,a,x,1\n", "mean", "value is read from the column label"),
}


@pytest.mark.parametrize("case", TOLD)
def test_what_is_left_out_or_assumed_is_told_and_refused_when_strict(judgewell, case):
    content, method, said = TOLD[case]
    Path("odd.csv").write_text(content)
    code, _, err = judgewell("scale", "odd.csv", "--method", method, "--interval", "none")
    assert code == 0
    assert said in err
    assert judgewell("scale", "odd.csv", "--method", method, "--interval", "none", "--strict")[0] == 2


def test_ids_with_spaces_and_other_letters_come_out_as_they_went_in(judgewell):
    Path("odd.csv").write_text("topic,doc,assessor,value\nt 1,dö c 文,é x,10\nt 1,b,é x,5\n")
    _, out, _ = judgewell("scale", "odd.csv", "--method", "magnitude", "--interval", "none", "-o", "-")
    assert [line.split(",")[:2] for line in out.splitlines()[1:]] == [["t 1", "b"], ["t 1", "dö c 文"]]
    code, _, err = judgewell("scale", "odd.csv", "--method", "magnitude", "--interval", "none", "-o", "g.qrels")
    assert code == 2
    assert "has a space in it; write .csv or .parquet instead" in err


def test_where_to_write_is_checked_before_the_work(judgewell):
    for output, said in (("none/g.csv", "there is no folder none"), ("g.xyz", "has no ending that says what to write")):
        code, out, err = judgewell("scale", "m.csv", "--method", "magnitude", "-o", output)
        assert (code, out) == (2, "")
        assert said in err


def test_the_seed_decides_the_sampled_scores_too(judgewell):
    Path("many.csv").write_text(
        "topic,doc,assessor,value\n"
        + "".join(f"t,d{doc},w{who},{doc + 7 * who + 1}\n" for doc in range(9) for who in range(9))
    )

    def sampled(seed):
        return judgewell("scale", "many.csv", "--method", "sampled", "--seed", seed, "--interval", "none", "-o", "-")[1]

    assert sampled(1) == sampled(1)
    assert sampled(1) != sampled(2)
    assert judgewell("scale", "many.csv", "--method", "sampled", "--seed", "-1")[0] == 2


def test_a_judgment_without_a_value_is_left_out_and_told(judgewell):
    Path("gap.csv").write_text(MAGNITUDES + "t,a,z,z/t,1,magnitude,\n")
    code, out, err = judgewell("scale", "gap.csv", "--method", "mean", "-o", "-")
    assert code == 0
    assert "gap.csv: 1 of 5 rows have no value and are excluded (the first: topic t, doc a)" in err
    assert judgewell("scale", "m.csv", "--method", "mean", "-o", "-")[1] == out
    assert judgewell("scale", "gap.csv", "--method", "mean", "--strict")[0] == 2


def test_words_are_refused_with_a_cure_that_leaves_their_meaning_to_the_user(judgewell):
    Path("w.csv").write_text("topic,doc,assessor,value\nt,a,x,L2\nt,a,y,L0\nt,b,x,1 star\nt,b,y,N/A\n")
    code, _, err = judgewell("scale", "w.csv", "--method", "mean")
    assert code == 2
    cure = err.split("--words '")[1].split("'")[0]
    assert cure == "1 star=…,L0=…,L2=…,N/A=…"
    code, _, err = judgewell("scale", "w.csv", "--method", "mean", "--words", cure)
    assert (code, "'1 star' cannot mean '…'" in err) == (2, True)
    for meaning in ("1", "0", "2", ""):
        cure = cure.replace("…", meaning, 1)
    code, out, err = judgewell("scale", "w.csv", "--method", "mean", "--words", cure, "-o", "-")
    assert code == 0
    assert [line.split(",")[:3] for line in out.splitlines()[1:]] == [["t", "a", "1.0"], ["t", "b", "1.0"]]
    assert "1 of 4 rows have no value" in err


def test_a_batch_with_several_documents_a_page_and_words(judgewell):
    Path("batch.csv").write_text(
        "HITId,WorkerId,WorkTimeInSeconds,Input.q,Input.doc1,Input.doc2,Answer.rel1,Answer.rel2\n"
        "h,w1,9,t,a,b,Yes,No\nh,w2,9,t,a,b,yes,YES\n"
    )
    columns = "topic=Input.q,doc=Input.doc*,value=Answer.rel*"
    options = ("--method", "mean", "--columns", columns, "--words", "yes=1,no=0", "-o", "-")
    code, out, err = judgewell("scale", "batch.csv", *options)
    assert code == 0
    assert [line.split(",")[:3] for line in out.splitlines()[1:]] == [["t", "a", "1.0"], ["t", "b", "0.5"]]
    assert "value is read from Answer.rel1, Answer.rel2" in err


@pytest.mark.parametrize("name", methods())
def test_help_of_a_method_explains_every_option(judgewell, name):
    code, out, _ = judgewell("scale", name, "--help")
    assert code == 0
    assert all(f"--{option.replace('_', '-')} " in out for option in methods()[name]().options())
    assert set(methods()[name]().options()) <= set(OPTIONS)
    assert "\n  When to use it: " in out
    assert f"--method {name} -o gains.csv" in out


def test_a_flag_of_a_method_needs_no_value(judgewell):
    assert method_options(["--weighted", "more.csv"], frozenset({"weighted"})) == ({"weighted": "true"}, ["more.csv"])


def test_a_misspelt_option_of_the_command_is_named(judgewell):
    code, _, err = judgewell("scale", "file.csv", "--colums", "value=x")
    assert (code, err) == (2, "judgewell: there is no option --colums; did you mean --columns?\n")
