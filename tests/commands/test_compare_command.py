"""`judgewell compare` as a user types it."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from judgewell.cli import app
from judgewell.commands.compare import compare

TOPICS = [f"t{number:02}" for number in range(12)]
DOCS = [f"d{number:02}" for number in range(30)]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Three systems of rising quality, graded and crowd gains, their draws, and scores tables."""
    monkeypatch.setitem(app.commands, "compare", compare)
    rng = np.random.default_rng(0)
    gains = {(topic, doc): float(rng.integers(0, 4)) for topic in TOPICS for doc in DOCS}
    lines = [f"{topic} 0 {doc} {gain:g}" for (topic, doc), gain in gains.items()]
    (tmp_path / "nist.qrels").write_text("\n".join(lines) + "\n")
    crowd = pl.DataFrame(
        {
            "topic": [topic for topic, _ in gains],
            "doc": [doc for _, doc in gains],
            "gain": [max(0.0, gain + 0.3 * rng.normal()) for gain in gains.values()],
        }
    )
    crowd.write_csv(tmp_path / "crowd.csv")
    noise = np.maximum(crowd["gain"].to_numpy() + rng.normal(0, 0.5, (70, len(crowd))), 0)
    drawn = pl.DataFrame({f"draw{at + 1}": one for at, one in enumerate(noise)})
    pl.concat([crowd.select("topic", "doc"), drawn], how="horizontal").write_parquet(tmp_path / "draws.parquet")
    for system, skill in (("weak", 0.2), ("middle", 0.7), ("strong", 2.0)):
        rows = []
        for topic in TOPICS:
            scores = {doc: skill * gains[topic, doc] + rng.normal() for doc in DOCS}
            ranked = sorted(scores.items(), key=lambda item: -item[1])[:20]
            rows += [f"{topic} Q0 {doc} {at + 1} {score:.6f} {system}" for at, (doc, score) in enumerate(ranked)]
        (tmp_path / f"{system}.run").write_text("\n".join(rows) + "\n")


def scores_table(values, name="s.csv", measure="nDCG@10", topics=TOPICS):
    rows = [(s, t, measure, v) for s, row in values.items() for t, v in zip(topics, row, strict=True)]
    pl.DataFrame(rows, schema=["system", "topic", "measure", "value"], orient="row").write_csv(name)


RUNS = ("--runs", "weak.run", "middle.run", "strong.run")


def test_one_set_of_gains(judgewell):
    code, out, err = judgewell("compare", *RUNS, "--gains", "nist.qrels", "-o", "found.json")
    assert (code, err) == (0, "")
    assert "nDCG@10 of 3 systems on 12 topics" in out
    assert out.splitlines()[1] == "With 95 % confidence the best system is strong."  # the answer comes first
    assert "3 of 3 pairs" in out or "2 of 3 pairs" in out
    found = json.loads(Path("found.json").read_text())
    assert [row["system"] for row in found["systems"]] == ["strong", "middle", "weak"]
    assert {"systems", "pairs", "worlds", "above"} == set(found)
    record = json.loads(Path("found.json.meta.json").read_text())
    assert record["options"]["test"] == "t"
    assert record["options"]["seed"] == 0
    assert set(record["inputs"]) == {"nist.qrels", "weak.run", "middle.run", "strong.run"}


def test_every_row_of_the_systems_table_is_of_its_own_system(judgewell):
    base = np.random.default_rng(0).random(12)
    scores_table({"a": base, "c": base + 0.3 + 0.01 * np.arange(12), "b": base - 0.2 - 0.01 * np.arange(12)})
    judgewell("compare", "s.csv", "-o", "found")
    table = pl.read_csv("found/systems.csv")
    assert table["system"].to_list() == ["c", "a", "b"]
    assert table["top"].to_list() == [True, False, False]
    assert table["p_top"].to_list() == [1.0, 2**-12, 2**-12]
    assert table["rank_low"].to_list() == [1, 2, 3]
    assert table["ruled_out_by"].to_list() == [None, "c", "c"]


def test_a_system_skipped_by_the_top_set_is_explained(judgewell):
    base = np.random.default_rng(0).random(12)
    swings = np.where(np.arange(12) % 2, 0.5, -0.45)
    scores_table({"best": base + 0.3, "steady": base + 0.2, "varied": base + 0.15 + swings})
    _, out, _ = judgewell("compare", "s.csv")
    assert " ".join(out.split()).count(
        "steady is not in the top set although its mean is above that of varied: best is significantly better than it, "
        "but no system is significantly better than varied"
    )
    (line,) = [line for line in out.splitlines() if line.startswith("steady ") and line.endswith("best")]
    assert "False" in line


def test_several_gains_side_by_side(judgewell):
    code, out, _ = judgewell("compare", *RUNS, "--gains", "nist.qrels", "people=crowd.csv", "--random", "-o", "all")
    assert code == 0
    assert "How similarly the sets rank the systems" in out
    head = next(line for line in out.splitlines() if line.startswith("system"))
    assert " ".join(head.split()) == "system nist 95 % rank people 95 % rank random 95 % rank"
    best = next(line for line in out.splitlines() if line.startswith("strong"))
    assert best.count("[") == 3
    assert re.search(r"\] +1\b", best)
    sets = pl.read_csv("all/sets.csv")
    assert sets.select("first", "second").rows() == [("nist", "people"), ("nist", "random"), ("people", "random")]
    assert sets["tau_b"][0] == 1
    told = pl.read_csv("all/discrimination.csv")
    assert told["set"].to_list() == ["nist", "people", "random"]
    assert told["reference"].unique().to_list() == ["nist"]
    assert json.loads(Path("all/comparison.meta.json").read_text())["command"] == "compare"


def test_gain_profiles(judgewell):
    profiles = ("--gains-as", "linear", "--gains-as", "exp2", "--gains-as", "binary(2)")
    code, out, _ = judgewell("compare", *RUNS, "--gains", "nist.qrels", *profiles, "-o", "p.csv")
    assert code == 0
    assert "nist binary(2)" in out
    assert len(pl.read_csv("p.csv")) == 3
    assert Path("p.pairs.csv").exists()
    assert Path("p.csv.meta.json").exists()


def test_worlds_of_judgments_and_topics(judgewell):
    code, out, _ = judgewell(
        *("compare", *RUNS, "--gains", "crowd.csv", "--draws", "draws.parquet", "--worlds", "300", "-o", "w.json")
    )
    assert code == 0
    assert "strong is above middle in" in out
    assert "The topics limit the conclusion more" in out
    found = json.loads(Path("w.json").read_text())
    counts = {row["over"]: row["worlds"] for row in found["worlds"]}
    assert counts == {"judgments": 70, "topics": 300, "both": 70}


def test_one_random_judgment_for_each_document(judgewell):
    gains = pl.read_csv("crowd.csv")
    rows = [gains.select("topic", "doc", value=pl.col("gain") * factor) for factor in (0.5, 1.0, 1.5)]
    pl.concat(rows).write_csv("judgments.csv")
    asked = ("compare", *RUNS, "--gains", "crowd.csv", "--judgments", "judgments.csv", "--worlds", 100)
    assert "sd of a mean" in judgewell(*asked)[1]
    code, out, _ = judgewell(*asked, "--separate", "strong", "middle", "-o", "found")
    assert code == 0
    assert "How often strong is above middle on these topics, by the number of judgments of each document" in out
    assert "above: the share of simulated studies in which strong is above middle" in " ".join(out.split())
    needed = pl.read_csv("found/judgments-needed.csv")
    assert needed["judgments"].to_list() == [1, 2, 3, 5, 8, 13]
    assert needed["sd"][0] > needed["sd"][-1]
    assert Path("found/worlds.csv").exists()


def free_moduli(topics, docs, gains, noise=0.0):
    """Magnitudes by three assessors a topic, each with a modulus of their own, of documents in overlapping units."""
    rng = np.random.default_rng(2)
    rows = []
    for topic in topics:
        for unit, start in enumerate(range(0, len(docs), 5)):
            modulus = float(np.exp(rng.normal(0, 2)))
            for doc in (docs * 2)[start : start + 15]:
                value = modulus * gains[topic, doc] * np.exp(noise * rng.normal())
                rows.append((topic, doc, f"a{unit}", f"u{unit}", "magnitude", value))
    names = ["topic", "doc", "assessor", "unit", "scale", "value"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_free_moduli_without_noise_leave_no_doubt(judgewell):
    """Assessors with the same ratios and each their own modulus agree fully, whatever numbers they use."""
    gains = {(topic, doc): float(np.exp(0.2 * at)) for topic in TOPICS for at, doc in enumerate(DOCS)}
    free_moduli(TOPICS, DOCS, gains).write_csv("judgments.csv")
    table = pl.DataFrame([(*key, value) for key, value in gains.items()], schema=["topic", "doc", "gain"], orient="row")
    table.write_csv("gains.csv")
    arguments = ("compare", *RUNS, "--gains", "gains.csv", "--judgments", "judgments.csv", "--worlds", 50, "-o", "out")
    code, out, _ = judgewell(*arguments)
    assert code == 0
    above = pl.read_csv("out/above.csv").filter(pl.col("over") == "judgments")
    assert above["above"].to_list() == [1.0, 1.0, 1.0]
    assert "The topics limit the conclusion more" in out
    systems = pl.read_csv("out/systems.csv")
    np.testing.assert_allclose(systems["without_noise"], systems["mean"], atol=1e-9)


def test_several_measures_each_have_their_tables(judgewell):
    code, out, _ = judgewell(
        "compare", *RUNS, "--gains", "nist.qrels", "-m", "nDCG@10", "-m", "P(rel=2)@5", "-o", "two"
    )
    assert code == 0
    assert "nDCG@10 of 3 systems" in out
    assert "P(rel=2)@5 of 3 systems" in out
    assert pl.read_csv("two/systems.csv").group_by("measure", maintain_order=True).len().rows() == [
        ("nDCG@10", 3),
        ("P(rel=2)@5", 3),
    ]


def test_measures_are_looked_up_by_meaning(judgewell):
    judgewell(
        "evaluate",
        "nist.qrels",
        "weak.run",
        "middle.run",
        "-m",
        "nDCG(gain=exp2)@10",
        "-m",
        "P(rel=2)@5",
        "-o",
        "s.csv",
    )
    for asked in ("nDCG(gain=exp2)@10", "nDCG(gain='exp2')@10", "Precision(rel=2)@5"):
        code, out, err = judgewell("compare", "s.csv", "-m", asked)
        assert (code, "@10 of 2 systems" in out or "P(rel=2)@5 of 2 systems" in out) == (0, True), err


def test_gains_of_other_topics_are_refused_before_anything_is_scored(judgewell, monkeypatch):
    from judgewell.analysis import scores

    monkeypatch.setattr(scores, "system_scores", lambda *_, **__: pytest.fail("scored in vain"))
    pl.read_csv("crowd.csv").filter(pl.col("topic") != "t03").write_csv("fewer.csv")
    code, _, err = judgewell("compare", *RUNS, "--gains", "nist.qrels", "fewer.csv")
    assert code == 2
    assert "nist has 12, fewer has 11, 11 are in all (not in all: t03)" in err


def test_one_mean_has_one_interval_in_evaluate_compare_and_report(judgewell):
    _, out, _ = judgewell("evaluate", "nist.qrels", *RUNS[1:], "-o", "s.csv", "--format", "csv")
    evaluated = pl.read_csv(out.encode()).filter(pl.col("measure") == "nDCG@10")
    judgewell("compare", "s.csv", "-o", "from-scores")
    judgewell("compare", *RUNS, "--gains", "crowd.csv", "nist.qrels", "-o", "from-runs")
    judgewell("report", "-o", "r.html", "--files", "--labels", "nist=nist.qrels", *RUNS, "--worlds", 50)
    tables = [
        evaluated,
        pl.read_csv("from-scores/systems.csv"),
        pl.read_csv("from-runs/systems.csv").filter(pl.col("set") == "nist"),
        pl.read_csv("r_files/tables/systems.csv"),
    ]
    for table in tables:
        assert table.sort("system").select("mean", "low", "high").rows() == [
            pytest.approx(row) for row in evaluated.sort("system").select("mean", "low", "high").iter_rows()
        ]


def test_scores_against_a_baseline_with_correction(judgewell):
    rng = np.random.default_rng(1)
    base = rng.random(12)
    scores_table({"a": base, "b": base + 0.2 + 0.1 * rng.random(12), "c": base + 0.01 * rng.normal(size=12)})
    code, out, _ = judgewell("compare", "s.csv", "--baseline", "a", "--test", "wilcoxon", "--correction", "holm")
    assert code == 0
    said = " ".join(out.split())
    assert (
        "1 of 2 pairs of systems against a differ significantly (wilcoxon test, alpha 0.05, Holm's correction)" in said
    )
    assert "low, high: 95 % interval of the mean over topics (symmetric studentised bootstrap);" in said
    assert "Ranks and top can disagree: cite top for which system is best." in said
    assert "not corrected for the number of pairs; p_corrected is corrected and decides what is significant." in said
    code, _, err = judgewell("compare", "s.csv", "--baseline", "z")
    assert (code, err.strip()) == (2, "judgewell: there is no system 'z'; the systems are a, b, c")
    code, _, err = judgewell("compare", "s.csv", "--baseline", "C")
    assert err.strip() == "judgewell: there is no system 'C'; did you mean c? the systems are c, a, b"


def test_verdicts_against_the_baseline_that_change_with_the_gains_are_named(judgewell):
    rng = np.random.default_rng(1)
    base, noise = rng.random(12), rng.normal(0, 0.02, (2, 12))
    scores_table({"a": base, "b": base + 0.2 + noise[0], "c": base + noise[1], "d": base + 0.3 + noise[1]}, "one.csv")
    scores_table({"a": base, "b": base + noise[0], "c": base - 0.2 + noise[1], "d": base - 0.3 + noise[0]}, "two.csv")
    said = " ".join(judgewell("compare", "one.csv", "two.csv", "--baseline", "a")[1].split())
    assert (
        "Of 3 other systems, none differ significantly from a the same way under one and two; 1 only under one (b); "
        "1 only under two (c); 1 in opposite directions (d)."
    ) in said
    assert "only this set, only one: under one of them; neither: under neither." in said
    said = " ".join(judgewell("compare", "one.csv", "again=one.csv", "--baseline", "a")[1].split())
    assert "Of 3 other systems, 2 differ significantly from a the same way under one and again." in said


def test_an_unknown_baseline_is_answered_with_twenty_names_of_systems(judgewell):
    names = [f"s{number:02}" for number in range(22)]
    scores_table({name: np.arange(12.0) for name in names})
    _, _, err = judgewell("compare", "s.csv", "--baseline", "bm25")
    assert f"the systems are {', '.join(names[:20])} and 2 more systems" in err


def test_replicates_may_have_their_former_name(judgewell):
    rng = np.random.default_rng(2)
    scores_table({"a": rng.random(12), "b": rng.random(12)})
    code, out, err = judgewell("compare", "s.csv", "--test", "bootstrap", "--resamples", "50", "-o", "old.json")
    assert (code, "resamples is the former name of replicates" in err) == (0, True)
    now = judgewell("compare", "s.csv", "--test", "bootstrap", "--replicates", "50", "-o", "new.json")
    assert now[:2] == (0, out)
    assert Path("old.json").read_bytes() == Path("new.json").read_bytes()


def test_how_many_topics_it_takes(judgewell):
    rng = np.random.default_rng(1)
    base = rng.random(12)
    scores_table({"a": base, "b": base + rng.normal(0.1, 0.1, 12)})
    code, out, _ = judgewell("compare", "s.csv", "--separate", "b", "a", "-o", "now.json")
    assert code == 0
    said = " ".join(out.split())
    assert said.startswith("nDCG@10 of b is ")
    assert "to find it significant with a probability of 80 % (t test, alpha 0.05)." in said
    assert "found: the share of simulated studies with this many topics" in said
    assert "best system" not in said  # only what was asked is printed; -o writes every table
    assert {"systems", "pairs", "topics needed"} <= json.loads(Path("now.json").read_text()).keys()
    code, former, err = judgewell("compare", "s.csv", "--tell-apart", "b", "a")
    assert (code, former) == (0, out)
    assert "tell_apart is the former name of separate" in err


def test_the_same_command_writes_the_same_bytes(judgewell):
    arguments = ("compare", *RUNS, "--gains", "nist.qrels", "--test", "randomisation", "--seed", "4", "-o")
    judgewell(*arguments, "one.json")
    judgewell(*arguments, "two.json")
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_different_topics_are_refused_or_told(judgewell):
    values = {"a": np.arange(12) / 12, "b": np.arange(12)[::-1] / 13}
    scores_table(values, "one.csv")
    scores_table({name: row[:10] for name, row in values.items()}, "two.csv", topics=TOPICS[:10])
    code, _, err = judgewell("compare", "one.csv", "two.csv")
    assert code == 2
    assert "one has 12, two has 10, 10 are in all (not in all: t10, t11)" in err
    code, _, err = judgewell("compare", "one.csv", "two.csv", "--common")
    assert code == 0
    assert "only the 10 shared topics count" in err


def test_one_system_one_topic_identical_systems_missing_topics(judgewell):
    scores_table({"a": np.ones(12)}, "one-system.csv")
    code, _, err = judgewell("compare", "one-system.csv")
    assert (code, "one system (a) and nothing to compare" in err) == (2, True)
    scores_table({"a": [0.1], "b": [0.2]}, "one-topic.csv", topics=["t"])
    code, out, _ = judgewell("compare", "one-topic.csv")
    assert (code, "One topic allows no interval and no test." in out) == (0, True)
    scores_table({"a": np.ones(12), "b": np.ones(12)}, "same.csv")
    code, out, err = judgewell("compare", "same.csv")
    assert code == 0
    assert "2 systems score the same as another on every topic and are tied (a, b)" in err
    assert "0 of 1 pairs" in out
    pl.read_csv("same.csv").head(23).write_csv("gap.csv")
    code, _, err = judgewell("compare", "gap.csv")
    assert (code, "1 of 2 systems miss scores on 1 of 12 topics" in err) == (2, True)
    code, _, err = judgewell("compare", "gap.csv", "--missing", "drop")
    assert (code, "these topics are excluded" in err) == (0, True)
    assert judgewell("compare", "gap.csv", "--missing", "drop", "--strict")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "either scores, or --runs with --gains"),
        (("s.csv", "--runs", "weak.run", "--gains", "nist.qrels"), "either scores, or --runs with --gains"),
        (("nist.qrels", *RUNS), "give gains and qrels with --gains"),
        (("--runs", "weak.run"), "either scores, or --runs with --gains"),
        ((*RUNS, "--gains", "nist.qrels", "nist.qrels"), "two files are called nist.qrels"),
        ((*RUNS, "--gains", "nist.qrels", "--draws", "crowd.csv"), "judgewell scale --draws-to"),
        ((*RUNS, "--gains", "nist.qrels", "-m", "AP(rel=2)", "--judgments", "crowd.csv"), "give it a cutoff"),
        ((*RUNS, "--gains", "nist.qrels", "-o", "x.bmp"), "end it in .csv"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(judgewell, arguments, said):
    code, _, err = judgewell("compare", *arguments)
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_draws_of_other_documents_are_refused(judgewell):
    pl.read_parquet("draws.parquet").head(50).write_parquet("few.parquet")
    code, _, err = judgewell("compare", *RUNS, "--gains", "crowd.csv", "--draws", "few.parquet")
    assert code == 2
    assert "0 of its documents have no gain and 310 of the gains' documents are not in it" in err


def test_simulated_systems(judgewell):
    code, out, _ = judgewell("compare", *RUNS, "--gains", "nist.qrels", "crowd.csv", "--simulated", "15")
    assert code == 0
    assert "nDCG@10 of 15 systems on 12 topics" in out


def test_chart(judgewell):
    pytest.importorskip("altair", reason="altair is not installed")
    code, _, _ = judgewell("compare", *RUNS, "--gains", "nist.qrels", "crowd.csv", "--chart", "two.svg")
    assert code == 0
    assert Path("two.svg").read_text().startswith("<svg")


def test_help_has_examples(judgewell):
    code, out, _ = judgewell("compare", "--help")
    assert code == 0
    assert "judgewell compare --runs runs/*.run --gains nist=qrels.txt" in out


@pytest.mark.realdata
def test_three_label_sources_of_deep_learning_21(judgewell, data):
    """NIST, language-model grades and nugget weights of 63 runs in one command."""
    folder = data / "trec-dl21"
    labels = folder / "labels"
    code, out, err = judgewell(
        *("compare", "--runs", *sorted((folder / "runs").iterdir()), "--precision", "single", "--common", "-o", "dl21"),
        *("--gains", f"nist={folder / 'qrels.nist.txt'}"),
        f"umbrela={labels / 'gpt-4o__umbrela__umbrela_zeroshot_dl21.clean.json.gz'}",
        f"nuggets={labels / 'gpt-4o__nuggets__weighted__qrels.autonuggetizer.w.dl21.txt.gz'}",
    )
    assert code == 0
    assert "nDCG@10 of 63 systems on 53 topics" in out
    assert "only the 53 shared topics count" in err
    assert "3 systems score the same as another on every topic and are tied (pash_f1, pash_f2, pash_f3)" in err
    published = pl.read_csv(folder / "expected" / "dl21.ndcg_cut10.csv", schema_overrides={"topic": pl.String})
    means = published.group_by("runid").agg(pl.col("ndcg_cut_10").mean())
    ours = pl.read_csv("dl21/systems.csv").filter(pl.col("set") == "nist")
    joined = ours.join(means, left_on="system", right_on="runid")
    assert len(joined) == 63
    np.testing.assert_allclose(joined["mean"], joined["ndcg_cut_10"], atol=5e-5)
    sets = pl.read_csv("dl21/sets.csv")
    assert sets["tied"].to_list() == [3, 3, 3]
    assert (sets["concordant"] + sets["discordant"] + sets["tied"] == 63 * 62 // 2).all()
    assert sets["tau_b"][0] == pytest.approx(0.9395, abs=5e-5)
    tops = ours.filter("top")["system"].to_list()
    assert {"pash_f1", "pash_f2", "pash_f3"} <= set(tops)


def test_grades_in_words(judgewell):
    Path("w.qrels").write_text("1 0 a L2\n1 0 b L0\n2 0 a L1\n2 0 b L0\n")
    Path("x.run").write_text("1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n")
    Path("y.run").write_text("1 Q0 b 1 2 y\n2 Q0 a 1 2 y\n")
    code, _, err = judgewell("compare", "--runs", "x.run", "y.run", "--gains", "w.qrels")
    assert code == 2
    assert "--words 'L0=…,L1=…,L2=…'" in err
    words = "L0=0,L1=1,L2=2"
    code, out, _ = judgewell("compare", "--runs", "x.run", "y.run", "--gains", "w.qrels", "--words", words)
    assert code == 0
    assert "nDCG@10 of 2 systems on 2 topics" in out


def test_measures_by_intent_are_those_of_evaluate(judgewell):
    """Two intents a topic, in the second field of the qrels."""
    rng = np.random.default_rng(1)
    rows = [f"{topic} {intent} {doc} {rng.integers(0, 2)}" for topic in TOPICS for intent in (1, 2) for doc in DOCS]
    Path("intents.qrels").write_text("\n".join(rows) + "\n")
    asked = ("-m", "alpha-nDCG@10", "-m", "P@5")
    code, _, err = judgewell("compare", *RUNS, "--gains", "intents.qrels", *asked, "-o", "found.json")
    assert (code, err) == (0, "")
    found = json.loads(Path("found.json").read_text())["systems"]
    judgewell("evaluate", "intents.qrels", *RUNS[1:], *asked, "-o", "scores.csv")
    means = pl.read_csv("scores.csv").group_by("system", "measure").agg(pl.col("value").mean())
    expected = {(system, measure): value for system, measure, value in means.iter_rows()}
    assert {row["measure"] for row in found} == {"alpha_nDCG@10", "P@5"}
    for row in found:
        assert row["mean"] == pytest.approx(expected[row["system"], row["measure"]])
    code, _, err = judgewell("compare", *RUNS, "--gains", "intents.qrels", *asked, "--random")
    assert code == 2
    assert "--random cannot be used with alpha_nDCG@10; ask for measures that do not look at intents" in err
