"""From a study to the exact work: tables whose every promise holds, the same on every machine."""

import hashlib
import io

import numpy as np
import polars as pl
import pytest
from pair_sequences import breaks_in

from judgewell.errors import DataError
from judgewell.study.check import check_study, load_study
from judgewell.study.design.plan import make_design, write_design
from judgewell.study.new import KINDS, new_study

# The designs of the studies to begin with, as SHA-256 of their tables. A change here means that a study designed with
# an earlier version cannot be designed again.
GOLDEN = {
    "magnitude": "16028cacd8240f47",
    "ordinal": "5e4e0f83fc5f8ec6",
    "binary": "72e2a33806ae6da4",
    "s100": "e025c28e4023caa4",
    "pairs": "d4a3966af6fcdf60",
    "templates": "26b0d3c6e37e611f",
}


def designed(tmp_path, kind, *changed):
    path = new_study(tmp_path / kind, kind)[0]
    text = path.read_text()
    for old, new in changed:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)
    study, inputs = load_study(path)
    return study, inputs, make_design(study, inputs)


def written(tmp_path, topics, docs, design, grade=lambda topic, doc: 0 if doc % 4 else 3):
    """A study of some size, with every fourth document known to be relevant."""
    pairs = [(topic, doc) for topic in range(topics) for doc in range(docs)]
    (tmp_path / "topics.txt").write_text("".join(f"{topic}\ttopic {topic}\n" for topic in range(topics)))
    (tmp_path / "docs.csv").write_text("doc,text\n" + "".join(f"{t}x{d},words\n" for t, d in pairs))
    (tmp_path / "pool.csv").write_text("topic,doc\n" + "".join(f"{t},{t}x{d}\n" for t, d in pairs))
    (tmp_path / "grades.qrels").write_text("".join(f"{t} 0 {t}x{d} {grade(t, d)}\n" for t, d in pairs))
    path = tmp_path / "study.toml"
    path.write_text(
        '[study]\nname = "big"\n[topics]\nfile = "topics.txt"\n[documents]\nfile = "docs.csv"\n'
        f'[pool]\nfile = "pool.csv"\n[grades]\nfile = "grades.qrels"\n[known]\n{design}'
    )
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_design_on_every_machine(tmp_path, kind):
    _, _, design = designed(tmp_path, kind)
    told = io.BytesIO()
    for frame in (design.units, design.documents, design.pairs):
        frame.write_csv(told)
    assert hashlib.sha256(told.getvalue()).hexdigest()[:16] == GOLDEN[kind]


def test_another_seed_gives_another_design(tmp_path):
    _, _, one = designed(tmp_path / "a", "magnitude")
    _, _, two = designed(tmp_path / "b", "magnitude", ("seed = 1", "seed = 2"))
    assert not one.documents.equals(two.documents)


def test_leaving_a_topic_out_changes_nothing_for_the_others(tmp_path):
    for kind in ("magnitude", "pairs"):
        _, _, whole = designed(tmp_path / "a", kind)
        questions = '[[checks.question]]\ntopic = "1"'
        _, _, part = designed(
            tmp_path / "b", kind, ('# only = ["1"]', 'only = ["2"]'), (questions, '[[checks.question]]\ntopic = "2"')
        )
        for name in ("units", "documents", "pairs"):
            assert getattr(whole, name).filter(topic="2").equals(getattr(part, name))


def test_units_hold_the_known_documents_and_every_document_often_enough(tmp_path):
    study, inputs, design = designed(tmp_path, "magnitude")
    assert design.units["assessors"].to_list() == [1] * len(design.units)
    for unit, rows in design.documents.group_by("unit"):
        assert sorted(rows["position"]) == list(range(1, 7)), unit
        assert rows["doc"].n_unique() == 6
        assert sorted(rows["known"].drop_nulls()) == ["H", "N"]
    known = design.documents.filter(pl.col("known").is_not_null()).select("topic", "doc", "known").unique()
    assert len(known) == 4
    grades = known.join(inputs.grades, on=["topic", "doc"])
    assert set(grades.select("known", "gain").iter_rows()) == {("H", 3.0), ("N", 0.0)}
    counts = design.documents.group_by("topic", "doc").len()
    assert counts["len"].min() >= study.units.redundancy
    assert (
        counts.select("topic", "doc")
        .sort("topic", "doc")
        .equals(inputs.pool.select("topic", "doc").sort("topic", "doc"))
    )


def test_several_scales_are_each_given_all_units(tmp_path):
    _, _, design = designed(
        tmp_path, "magnitude", ("[scale]", '[[scale]]\nkind = "binary"\n[[scale]]\nkind = "s100"\n[[scale]]')
    )
    assert design.units.group_by("scale").len()["len"].to_list() == [20, 20, 20]
    joined = design.documents.join(design.units.select("unit", "scale"), on="unit")
    rows = {
        scale[0]: frame.select("topic", "position", "doc").rows()
        for scale, frame in joined.group_by("scale", maintain_order=True)
    }
    assert rows["binary"] == rows["s100"] == rows["magnitude"]


def test_templates_are_filled_with_documents_of_their_levels(tmp_path):
    _, inputs, design = designed(tmp_path, "templates")
    assert design.units.select("topic", "scale", "template").is_unique().all()
    assert len(design.units) == 2 * 2 * 4
    assert set(design.units["assessors"]) == {3}
    assert design.judgments == 2 * 2 * 4 * 4 * 3
    levels = design.documents.join(inputs.grades, on=["topic", "doc"])
    assert set(levels.select("known", "gain").iter_rows()) == {("N", 0.0), ("M", 1.0), ("R", 2.0), ("H", 3.0)}
    orders = (
        design.documents.sort("unit", "position")
        .group_by("unit", maintain_order=True)
        .agg(pl.col("known").str.join(""))
    )
    assert orders.join(design.units, on="unit").select(pl.col("known") == pl.col("template"))["known"].all()


def test_the_published_template_design_has_its_numbers(tmp_path):
    design = '[[scale]]\nkind = "magnitude"\n[[scale]]\nkind = "bounded"\n'
    design += "[templates]\ndocuments = { H = 1, R = 3, M = 3, N = 4 }\n"
    path = written(tmp_path, 3, 20, design, grade=lambda topic, doc: doc % 4)
    checked = check_study(path)
    assert checked.design.completions == 240
    assert checked.design.judgments == 960
    assert checked.design.documents.select("topic", "doc").n_unique() == 33


def test_pairs_change_one_document_at_a_time_and_mark_it(tmp_path):
    study, inputs, design = designed(tmp_path, "pairs")
    known = 0
    for _, rows in design.pairs.group_by("unit", maintain_order=True):
        pairs = rows.select("left", "right").rows()
        assert breaks_in(pairs) == 0
        assert rows["new"][0] == "both"
        for (left, right), (next_left, next_right), new in zip(pairs, pairs[1:], rows["new"][1:], strict=False):
            assert new == ("left" if left != next_left else "right")
            assert (left == next_left) != (right == next_right)
        known += rows["known"].drop_nulls().len()
    assert known == len(design.units)
    gain = {(topic, doc): gain for topic, doc, gain in inputs.grades.select("topic", "doc", "gain").iter_rows()}
    for topic, left, right, side in (
        design.pairs.filter(pl.col("known").is_not_null()).select("topic", "left", "right", "known").iter_rows()
    ):
        better, worse = (left, right) if side == "left" else (right, left)
        assert gain[topic, better] >= 2
        assert gain[topic, worse] == 0
    assert set(design.units["assessors"]) == {study.groups.assessors}


def test_the_adcs_groups_come_out_of_a_study(tmp_path):
    """Topic 403: 120 documents, 8 of them known to be relevant, resampled in 16 groups, 6 partitions."""
    path = written(tmp_path, 1, 120, "[groups]\n", grade=lambda topic, doc: 3 if doc < 8 else 0)
    design = check_study(path).design
    assert len(design.units) == 96
    assert [note.kind for note in design.notes] == ["resampled"]
    assert design.completions == 288


def test_reserve_documents_become_known_only_where_needed(tmp_path):
    path = written(
        tmp_path, 1, 40, "reserve = [1]\n[groups]\n", grade=lambda topic, doc: 3 if doc < 2 else 1 if doc < 9 else 0
    )
    _, inputs = load_study(path)
    design = check_study(path).design
    pairs = design.pairs.filter(pl.col("known").is_not_null())
    used = set(pairs.select(pl.when(known="left").then("left").otherwise("right"))["left"])
    assert {"0x0", "0x1"} < used
    assert len(used) == 5
    assert used <= set(inputs.known_of("0", "H")) | set(inputs.known_of("0", "reserve"))


def test_groups_are_padded_with_graded_documents_from_outside(tmp_path):
    path = written(tmp_path, 1, 40, "[groups]\n")
    (tmp_path / "pool.csv").write_text("topic,doc\n" + "".join(f"0,0x{doc}\n" for doc in range(37)))
    design = check_study(path).design
    assert "padding" in [note.kind for note in design.notes]
    assert "resampled" not in [note.kind for note in design.notes]
    shown = set(design.pairs["left"]) | set(design.pairs["right"])
    assert len(shown) == 40


def test_a_share_is_judged_twice_by_different_people(tmp_path):
    path = written(tmp_path, 4, 30, '[units]\nredundancy = 1\n[double]\nshare = 0.2\n[scale]\nkind = "ordinal"\n')
    path.write_text(path.read_text().replace("[known]\n", ""))
    design = check_study(path).design
    counts = design.documents.group_by("topic", "doc").agg(pl.len(), pl.col("unit").n_unique().alias("units"))
    assert (counts["len"] == counts["units"]).all()
    assert len(counts) == 120
    twice = counts.filter(pl.col("len") >= 2).group_by("topic").len()
    assert twice["len"].min() >= 6
    assert len(design.units) == 4 * 5


def test_only_second_judgments_are_collected_where_the_first_are_given(tmp_path):
    text = '[units]\nredundancy = 1\n[double]\nshare = 0.5\ngiven = true\nleast_grade = 3\n[scale]\nkind = "ordinal"\n'
    path = written(tmp_path, 1, 40, text)
    path.write_text(path.read_text().replace("[known]\n", ""))
    checked = check_study(path)
    assert any("eq. 4" in str(warning) for warning in checked.warnings)
    assert len(checked.design.units) == 1  # half of the ten documents with grade 3, in one unit of eight
    design = checked.design.documents
    assert len(design) == 8


def test_a_topic_without_known_documents_is_named(tmp_path):
    path = written(tmp_path, 2, 12, "[groups]\n", grade=lambda topic, doc: 0 if topic else doc % 4)
    mistakes = check_study(path).mistakes
    assert "topic 1: no known relevant document" in str(mistakes[0])
    study, inputs = load_study(path)
    with pytest.raises(DataError, match="topic 1"):
        make_design(study, inputs)


def test_known_documents_may_come_from_a_list(tmp_path):
    path = written(tmp_path, 1, 20, 'file = "known.csv"\n[units]\n[scale]\nkind = "s100"\n')
    (tmp_path / "known.csv").write_text("topic,doc,known\n0,0x5,H\n0,0x7,N\n")
    known = check_study(path).design.documents.filter(pl.col("known").is_not_null())
    assert set(known.select("doc", "known").iter_rows()) == {("0x5", "H"), ("0x7", "N")}
    for rows, said in (("0,0x5,X\n", "neither H nor N"), ("0,0x5,H\n0,0x5,N\n", "document 0x5 appears twice")):
        (tmp_path / "known.csv").write_text("topic,doc,known\n" + rows)
        assert said in str(check_study(path).mistakes[0])


def test_runs_are_pooled(tmp_path):
    path = written(tmp_path, 2, 30, '[units]\n[scale]\nkind = "s100"\n')
    for system in ("a", "b"):
        rows = [f"{t} Q0 {t}x{d} 0 {d if system == 'a' else -d} {system}\n" for t in range(2) for d in range(30)]
        (tmp_path / f"{system}.run").write_text("".join(rows))
    path.write_text(path.read_text().replace('[pool]\nfile = "pool.csv"', '[pool]\nruns = "*.run"\ndepth = 5'))
    _, inputs = load_study(path)
    assert len(inputs.pool) == 20
    assert set(inputs.pool.filter(topic="0")["doc"]) == {f"0x{d}" for d in (0, 1, 2, 3, 4, 25, 26, 27, 28, 29)}
    assert check_study(path).mistakes == ()


def test_a_large_study_is_designed(tmp_path):
    study, inputs = load_study(written(tmp_path, 50, 300, '[units]\norder = "balanced"\n[scale]\nkind = "magnitude"\n'))
    design = make_design(study, inputs)
    assert len(design.units) == 50 * 497
    places = design.documents.filter(known="H").group_by("topic", "position").len()
    assert places["len"].max() - places["len"].min() <= 1


@pytest.mark.long
def test_a_topic_of_3000_documents_is_paired(tmp_path):
    study, inputs = load_study(written(tmp_path, 1, 3000, "[groups]\n"))
    design = make_design(study, inputs)
    assert len(design.pairs) == 675_000
    assert design.notes == ()
    ids = design.pairs.select(
        pl.min_horizontal("left", "right").alias("a"), pl.max_horizontal("left", "right").alias("b")
    )
    assert ids.is_unique().all()


def test_a_design_is_written_as_tables(tmp_path):
    _, _, design = designed(tmp_path, "pairs")
    paths = write_design(design, tmp_path / "design")
    assert [path.name for path in paths] == ["units.csv", "pairs.csv"]
    assert pl.read_csv(paths[1], infer_schema=False).height == len(design.pairs)
    assert np.all(design.units["size"].to_numpy() == 6)
