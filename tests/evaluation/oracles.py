"""Make oracles.json: what other tools say about one small random collection.

It needs ir_measures with cwl-eval and pyndeval, ranx, pyNTCIREVAL and perl; the tests read the file alone.

    python tests/evaluation/oracles.py > tests/evaluation/oracles.json
"""

from __future__ import annotations

import json
import random
import re
import sys
from typing import Any

IR_MEASURES = """
Accuracy Accuracy@5 Accuracy(rel=2) AP AP(rel=2) AP@5 AP(judged_only=True) MAP BPM(T=1.,max_rel=3)@5
BPM(T=2.,min_rel=0,max_rel=3)@10 Bpref Bpref(rel=2) BPref Compat Compat(p=0.8) Compat(p=0.8,normalize=False) ERR@5
ERR@20 INST(max_rel=3) INST(T=2.,max_rel=3) INSQ(max_rel=3) INSQ(T=2.,min_rel=1,max_rel=3) infAP infAP(rel=2)
IPrec@0.0 IPrec@0.1 IPrec@0.2 IPrec@0.3 IPrec@0.4 IPrec@0.5 IPrec@0.6 IPrec@0.7 IPrec@0.8 IPrec@0.9 IPrec@1.0
IPrec(judged_only=True)@0.5 Judged@3 Judged@10 Judged@50 nDCG nDCG@5 nDCG(dcg='log2')@5 nDCG(dcg='exp-log2')@5
nDCG(gains={0:0,1:1,2:5,3:2})@5 nDCG(judged_only=True)@5 NDCG@3 NERR8(max_rel=3)@5 NERR9(max_rel=3)@5
NERR10(max_rel=3) NERR10(p=0.6,max_rel=3) NERR11(max_rel=3) NERR11(T=2.,max_rel=3) NumQ NumRel NumRet NumRet(rel=1)
NumRet(rel=2) NumRelRet P@5 P(rel=2)@5 P(judged_only=True)@5 Precision@3 R@5 R(judged_only=True)@5 Recall@10
RBP(rel=1) RBP(p=0.5,rel=2) RBP(p=0.95,rel=1) Rprec Rprec(rel=2) Rprec(judged_only=True) RPrec RR RR(rel=2) RR@3
RR(judged_only=True) MRR SDCG(max_rel=3)@5 SDCG(min_rel=1,max_rel=3)@10 SetP SetP(rel=2) SetP(relative=True) SetRelP
SetP(judged_only=True) SetR SetR(rel=2) SetF SetF(beta=0.5) SetF(rel=2,judged_only=True) SetAP SetAP(rel=2) Success@1
Success@5 Success(rel=3)@5 Success(judged_only=True)@1
"""
BY_INTENT = """
alpha_DCG@5 alpha_DCG(alpha=0.2)@10 alpha_nDCG@5 alpha_nDCG(alpha=0.2)@10 alpha_nDCG(rel=2)@10 ERR_IA@5 ERR_IA@20
nERR_IA@5 nERR_IA@20 NRBP NRBP(alpha=0.2,beta=0.8) nNRBP nNRBP(alpha=0.2,beta=0.8) AP_IA MAP_IA P_IA@5
P_IA(rel=2)@10 StRecall@5 StRecall@10
"""
RANX = """
hits hits@5 hit_rate hit_rate@3 precision precision@5 recall recall@5 f1 f1@5 r-precision mrr mrr@3 map map@5 dcg dcg@5
dcg_burges dcg_burges@5 ndcg ndcg@5 ndcg_burges ndcg_burges@5 bpref map-l2 map@5-l2 precision@5-l2 mrr-l2 f1@5-l2
hits-l2
"""
RANX_BINARY = ["rbp.95", "rbp.8", "rbp.50"]  # on grades 0 and 1


def collection(rng: random.Random, topics: int = 8) -> tuple[dict[str, Any], dict[str, Any], list[list[Any]]]:
    """Grades 0–3, rankings of different lengths without ties, and grades by intent for the same documents."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    intents: list[list[Any]] = []
    for number in range(topics):
        topic, docs = str(number + 1), [f"d{place:02}" for place in range(30)]
        judged = rng.sample(docs, rng.randint(6, 22))
        qrels[topic] = {doc: rng.choice([0, 0, 0, 1, 1, 2, 3]) for doc in judged} | {judged[0]: 2, judged[1]: 0}
        shown = rng.sample(docs, rng.choice([3, 8, 20, 30]))
        scores = rng.sample(range(1, 1000), len(shown))
        run[topic] = {doc: score / 8 for doc, score in zip(shown, scores, strict=True)}
        for intent in range(1, rng.randint(2, 4) + 1):
            intents += [[topic, str(intent), doc, rng.choice([0, 0, 1, 2])] for doc in rng.sample(docs, 9)]
    return qrels, run, intents


def of_ir_measures(names: list[str], qrels: Any, run: Any) -> dict[str, dict[str, float]]:
    import ir_measures

    values = {}
    for name in names:
        asked = [ir_measures.parse_measure(name)]
        values[name] = {one.query_id: float(one.value) for one in ir_measures.iter_calc(asked, qrels, run)}
    return values


def of_ranx(names: list[str], qrels: Any, run: Any) -> dict[str, dict[str, float]]:
    import ranx

    values = {}
    for name in names:
        each = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), name, return_mean=False)
        values[name] = dict(zip(sorted(qrels), map(float, each), strict=True))
    return values


def of_ntcir(qrels: Any, run: Any) -> dict[str, dict[str, float]]:
    from pyNTCIREVAL import metrics

    values: dict[str, dict[str, float]] = {}
    for topic, grades in qrels.items():
        ranked = sorted(run[topic], key=lambda doc: -run[topic][doc])
        labelled = [(doc, grades.get(doc)) for doc in ranked]
        counts = [sum(grade == level for grade in grades.values()) for level in range(4)]
        gains = [1, 2, 3]
        asked = {
            "O": metrics.OMeasure(counts, gains, 1.0),
            "PMeasure": metrics.PMeasure(counts, gains, 1.0),
            "PPlus": metrics.PPlusMeasure(counts, gains, 1.0),
            "Q": metrics.QMeasure(counts, gains, 1.0),
            "Q(beta=10,norm='min')@5": metrics.QMeasure(counts, gains, 10.0, 5),
            "AP(norm='min')@5": metrics.AP(counts, gains, 5),
            "NCU(beta=0)": metrics.NCUguP(counts, gains, gains),
            "NCU": metrics.NCUguBR(counts, gains, gains, 1.0),
            "NCU(stop='rank',beta=0)": metrics.NCUrbP(counts, gains, 0.95),
            "NCU(stop='rank',gamma=0.8)": metrics.NCUrbBR(counts, gains, 0.8, 1.0),
            "nDCG(discount='jk')@5": metrics.nDCG(counts, gains, 2.0, 5),
            "nDCG(discount='jk',base=4)@10": metrics.nDCG(counts, gains, 4.0, 10),
            "nDCG@5": metrics.MSnDCG(counts, gains, 5),
            "ERR(gmax=4,stop='linear')": metrics.ERR(counts, gains),
            "nERR(gmax=4,stop='linear')@5": metrics.nERR(counts, gains, 5),
            "Success@3": metrics.Hit(3),
        }
        for name, metric in asked.items():
            values.setdefault(name, {})[topic] = float(metric.compute(labelled))
    return values


def main() -> None:
    import ir_measures

    qrels, run, intents = collection(random.Random(7))
    binary = {topic: {doc: min(grade, 1) for doc, grade in grades.items()} for topic, grades in qrels.items()}
    by_intent = [ir_measures.Qrel(topic, doc, grade, intent) for topic, intent, doc, grade in intents]
    made = {
        "qrels": qrels,
        "run": run,
        "intents": intents,
        "ir_measures": of_ir_measures(IR_MEASURES.split(), qrels, run),
        "by_intent": of_ir_measures(BY_INTENT.split(), by_intent, run),
        "ranx": of_ranx(RANX.split(), qrels, run),
        "ranx_binary": of_ranx(RANX_BINARY, binary, run),
        "ntcir": of_ntcir(qrels, run),
    }
    text = json.dumps(made, indent=1)
    sys.stdout.write(re.sub(r"\n {3,}|(?<=\d)\n +(?=[]}])", " ", text) + "\n")


if __name__ == "__main__":
    main()
