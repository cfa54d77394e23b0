"""Measures print and parse back, in our spelling and in that of other tools."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import MeasureError
from judgewell.evaluation import measures
from judgewell.evaluation.measures import (
    JudgedOnly,
    Residual,
    all_measures,
    describe_all,
    find_measure,
    parse,
    parse_all,
    residual_of,
)


def values_of(field):
    """Values that a parameter may take, read off its declaration."""
    rule, kinds = field.metadata, str(field.type).replace(" ", "").split("|")
    choices = [st.sampled_from(rule["choices"])] if rule["choices"] else []
    if "float" in kinds:
        low, high = max(rule["least"], -1e9), min(rule["most"], 1e9)
        choices.append(st.floats(low, high, exclude_min=not rule["ends"], exclude_max=not rule["ends"]))
        choices.append(st.integers(int(low) + 1, max(int(high) - (not rule["ends"]), int(low) + 1)).map(float))
    if any(kind.startswith("tuple") for kind in kinds):
        pairs = st.dictionaries(st.integers(0, 9).map(float), st.floats(0, 100), min_size=1, max_size=3)
        choices.append(pairs.map(lambda table: tuple(sorted(table.items()))))
    if "bool" in kinds:
        choices.append(st.booleans())
    if "None" in kinds and field.name != "recall":
        choices.append(st.none())
    inside = rule["ends"] or (lambda value: rule["least"] < value < rule["most"])
    return st.one_of(choices).filter(lambda value: inside is True or not isinstance(value, float) or inside(value))


@st.composite
def any_measure(draw):
    cls = draw(st.sampled_from(list(all_measures().values())))
    settings = {field.name: draw(values_of(field)) for field in cls.parameters()}
    if cls.takes_cutoff:
        cutoff = st.integers(1, 10**6)
        settings["cutoff"] = draw(cutoff if cls.needs_cutoff else st.none() | cutoff)
    if settings.get("max_rel") is not None:
        settings["min_rel"] = min(settings["min_rel"], settings["max_rel"] - 1)
    measure = cls(**settings)
    return draw(st.sampled_from([measure, residual_of(measure) or measure, JudgedOnly(of=measure)]))


@given(any_measure())
def test_every_measure_parses_back_from_what_it_prints(measure):
    assert parse(str(measure)) == measure
    assert str(parse(str(measure))) == str(measure)


def test_all_measures_are_there_and_say_where_they_come_from():
    found = all_measures()
    assert {"nDCG", "DCG", "CG", "ERR", "nERR", "RBP", "AP", "GAP", "Q", "P", "R", "INST", "Judged"} <= set(found)
    for name, cls in found.items():
        assert cls.name == name
        assert cls.source
        assert (cls.__doc__ or "").strip()
        assert dataclasses.is_dataclass(cls)
        assert all(field.metadata["about"] for field in cls.parameters())
    listed = describe_all()
    assert all(cls.source in listed and name in listed for name, cls in found.items())


def test_no_name_stands_for_two_measures():
    seen = {}
    for cls in all_measures().values():
        for name in {cls.name, *cls.other_names, *cls.trec_names, *cls.shorthands}:
            assert seen.setdefault(name, cls) is cls, name


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("nDCG@10", "nDCG@10"),
        (" nDCG ( gain = 'exp2' ) @ 10 ", "nDCG(gain='exp2')@10"),
        ("nDCG(gain=exp2)@10", "nDCG(gain='exp2')@10"),
        ('nDCG(gain="exp2",discount=zipf)', "nDCG(gain='exp2',discount='zipf')"),
        ("nDCG(gain='linear')", "nDCG"),
        ("nDCG(dcg='exp-log2')@5", "nDCG(gain='exp2')@5"),
        ("nDCG(dcg='log2')@5", "nDCG@5"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("AP(rel=0.50)", "AP(rel=0.5)"),
        ("AP(rel=None)", "AP"),
        ("MAP", "AP"),
        ("RBP", "RBP(p=0.9)"),
        ("RBP(p=0.8)@50", "RBP(p=0.8)@50"),
        ("RBP(rel=1)", "RBP(p=0.9,rel=1)"),
        ("RBP(p=0.9).residual", "RBP(p=0.9).residual"),
        ("P@5 .residual", "P@5.residual"),
        ("Recall@100", "R@100"),
        ("MRR@10", "RR@10"),
        ("SetRelP", "SetP(relative=True)"),
        ("IPrec@.1", "IPrec@0.1"),
        ("IPrec@1", "IPrec@1"),
        ("ERR(gmax=topic)@20", "ERR(gmax='topic')@20"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map", "AP"),
        ("P_10", "P@10"),
        ("recip_rank", "RR"),
        ("Rprec", "Rprec"),
        ("bpref", "Bpref"),
        ("recall_100", "R@100"),
        ("success_1", "Success@1"),
        ("map_cut_10", "AP@10"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("set_relative_P", "SetP(relative=True)"),
        ("rbp.95", "RBP(p=0.95)"),
        ("rbp.8", "RBP(p=0.8)"),
        ("rbp.p=0.8", "RBP(p=0.8)"),
        ("rbp_p=0.8", "RBP(p=0.8)"),
        ("set_F.0.5", "SetF(beta=0.5)"),
        ("map@100-l2", "AP(rel=2)@100"),
        ("r-precision", "Rprec"),
        ("r-precision-l2", "Rprec(rel=2)"),
        ("hit_rate@10", "Success@10"),
        ("hit_rate", "Success"),
        ("hits@5", "NumRelRet@5"),
        ("f1@5", "F1@5"),
        ("precision@5", "P@5"),
        ("precision", "SetP"),
        ("recall", "SetR"),
        ("recall@5", "R@5"),
        ("ndcg_burges@10", "nDCG(gain='exp2')@10"),
        ("dcg_burges", "DCG(gain='exp2')"),
        ("nDCG(cutoff=10)", "nDCG@10"),
        ("nDCG(gains={2:9,0:0})@10", "nDCG(gains={0:0,2:9})@10"),
        ("SetP@5", "SetP@5"),
        ("P(judged_only=True)@5", "P(judged_only=True)@5"),
        ("P(judged_only=True,rel=2)@5", "P(rel=2,judged_only=True)@5"),
        ("P(judged_only=False)@5", "P@5"),
        ("gm_map", "GMAP"),
        ("num_q", "NumQ"),
        ("NumQ", "NumQ"),
    ],
)
def test_spellings(text, printed):
    assert str(parse(text)) == printed


OURS_OF_IR_MEASURES = [
    "nDCG@10", "nDCG(dcg='exp-log2')@10", "AP", "AP(rel=2)@100", "P@5", "P(rel=2)@5", "R@100", "Rprec", "RR", "RR@10",
    "Success@1", "Bpref", "Judged@10", "IPrec@0.1", "NumRel", "NumRet", "SetP", "SetR", "SetF", "SetAP", "infAP",
    "ERR@20", "RBP(p=0.9)", "RBP(p=0.8,rel=1)@20", "NDCG@3", "MAP", "MRR", "Precision@5", "Recall@5", "RPrec",
    "BPref", "SetRelP", "NumRelRet", "SetF(beta=0.5)", "NumRet(rel=1)",
]  # fmt: skip


@pytest.mark.parametrize("name", OURS_OF_IR_MEASURES)
def test_names_of_ir_measures_are_read_and_printed_so_that_it_reads_them_too(name):
    ours, theirs = parse(name), ir_measures.parse_measure(name)
    if not name.startswith(("nDCG(dcg", "SetF", "NumRelRet")):  # its own way of writing gains; beta=1.0; NumRet(rel=1)
        assert ir_measures.parse_measure(str(ours)) == theirs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDCGG@10", "no measure 'nDCGG@10' \\(did you mean nDCG"),
        ("nDGC@10", "did you mean nDCG.*--list"),
        ("P@10(rel=2)", "did you mean P\\(rel=2\\)@10"),
        ("", "no measure ''"),
        ("P", "P needs a cutoff; write P@10"),
        ("R", "R needs a cutoff; write R@10"),
        ("IPrec", "write IPrec@0.1"),
        ("IPrec@2", "recall=2.0 is not from 0 to 1"),
        ("Rprec@5", "takes no cutoff, here 5; write Rprec"),
        ("nDCG@0", "whole number from 1 on"),
        ("nDCG@2.5", "'2.5' is not a whole number"),
        ("nDCG@x", "'x' is not a whole number"),
        ("nDCG(beta=1)@10", "no parameter 'beta'; it has gain, discount"),
        ("nDCG(gian='exp2')@10", "did you mean gain"),
        ("nDCG(gain='exp')@10", "gain='exp' is not 'linear' or 'exp2'"),
        ("nDCG(gain=2)@10", "gain=2 is not of the kind str"),
        ("AP(rel=high)", "rel='high' is not of the kind float"),
        ("AP(rel=inf)", "rel=inf is not a finite number"),
        ("RBP(p=1)", "p=1.0 is not between 0 and 1"),
        ("RBP(0.9)", "'0.9' is not a parameter; write name=value"),
        ("RBP(p=0.9", "no measure"),
        ("INST(T=0.2)", "T=0.2 is not 0.5 or more"),
        ("AP(judged_only=2)", "judged_only=2 is not True or False"),
        ("nDCG(cutoff=10)@10", "gives cutoff twice"),
        ("nDCG(gains={0:a})", "is not a table of gains"),
        ("rbp@95", "RBP\\(p=0.95\\) for ranx's"),
        ("all_trec", "print it with --format trec_eval"),
        ("Rndcg", "print it with --format trec_eval"),
        ("ndcg@10-l2", "nDCG has no parameter 'rel'"),
        ("RR(max_rel=3)", "rescale"),
        ("INST(max_rel=1,min_rel=2)", "min_rel=2 is not below max_rel=1"),
        ("nDCG(gains=1)", "gains=1 is not of the kind tuple or None"),
        ("AP(gains={1:1})", "in the gains table"),
        ("AP.residual", "AP has no residual"),
        ("nDCG@10.residual", "nDCG has no residual"),
        ("DCG.residual", "DCG@10.residual"),
        ("ndcg_cut", "write ndcg_cut_10"),
        ("P.5,10", "names 2 measures; give one, e.g. P@5"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_cure(text, message):
    with pytest.raises(MeasureError, match=message) as told:
        parse(text)
    assert "\n" not in str(told.value)


def test_lists_become_several_measures_each_once():
    assert [str(each) for each in parse_all(["P.5,10", "P@10", "ndcg", "ndcg_cut.3"])] == [
        "P@5",
        "P@10",
        "nDCG",
        "nDCG@3",
    ]


def test_trec_evals_lists_become_measures():
    official = [str(each) for each in parse_all(["official"])]
    assert official[:9] == ["NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "Bpref", "RR"]
    assert official[9:20] == [f"IPrec@{tenth / 10:g}" for tenth in range(11)]
    assert official[-1] == "P@1000"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("nDCG(gain=exp2)@10", "nDCG(gain='exp2')@10"),
        ("NDCG@10", "nDCG@10"),
        ("ERR@10", "ERR(gmax=4)@10"),
        ("ERR(gmax=4)@10", "ERR(gmax=4)@10"),
        ("ERR@10.residual", "ERR(gmax=4)@10.residual"),
        ("rbp.80", "RBP(p=0.8)"),
        ("mine", "mine"),
    ],
)
def test_a_measure_is_found_by_what_it_means(asked, name):
    names = ["nDCG@10", "nDCG(gain='exp2')@10", "ERR(gmax=4)@10", "ERR(gmax=4)@10.residual", "RBP(p=0.8)", "mine"]
    assert find_measure(asked, names) == name


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("ERR(gmax=3)@10", "no scores of ERR\\(gmax=3\\)@10; the measures are nDCG@10, "),
        ("ERR@20", "several scores of ERR@20; 2 scores mean it: ERR\\(gmax=2\\)@20, ERR\\(gmax=4\\)@20"),
        ("other", "no scores of other, and there is no measure 'other'"),
    ],
)
def test_a_measure_that_is_not_there_or_not_alone_is_refused(asked, message):
    with pytest.raises(MeasureError, match=message):
        find_measure(asked, ["nDCG@10", "ERR(gmax=4)@10", "ERR(gmax=2)@20", "ERR(gmax=4)@20"])


def test_a_class_is_found_by_its_name_and_by_that_of_the_measure():
    assert measures.nDCG is measures.NDCG is all_measures()["nDCG"]
    assert measures.Recall is measures.R
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = measures.nothing_of_the_kind


def test_a_residual_is_offered_where_there_is_one():
    assert residual_of(parse("RBP")) == Residual(of=parse("RBP"))
    assert residual_of(parse("DCG@10")) == parse("DCG@10.residual")
    assert residual_of(parse("DCG")) is None
    assert residual_of(parse("nDCG@10")) is None
    assert parse("RBP.residual").linear
    assert not parse("ERR@10.residual").linear


def test_measures_load_nothing_heavy():
    code = (
        "import sys; from judgewell.evaluation.measures import parse; parse('nDCG@10');"
        "unusual = ['judgewell.evaluation.measures.' + name for name in ('intents', 'users', 'compat', 'cascade')];"
        "print([name for name in ('polars', 'scipy', 'pandas', 'pydantic', *unusual) if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("written", "name"),
    [("P+", "PPlus"), ("P+@10", "PPlus@10"), ("P-plus", "PPlus"), ("Q-measure@10", "Q@10"), ("O-measure", "O")],
)
def test_ntcirs_names_are_understood(written, name):
    assert str(parse(written)) == name
