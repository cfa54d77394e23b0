"""nDCG@10, AP and P@10 by pytrec_eval, from QRELS, for each RUN: OUTPUT has the value of every topic, then the mean."""

import gzip
import sys
from pathlib import Path

import pytrec_eval

MEASURES = {"ndcg_cut_10": "nDCG@10", "map": "AP", "P_10": "P@10"}

qrels_path, output_path, *run_paths = sys.argv[1:]
with open(qrels_path) as file:
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"ndcg_cut.10", "map", "P.10"})
with open(output_path, "w") as output:
    for path in run_paths:
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
            by_topic = evaluator.evaluate(pytrec_eval.parse_run(file))
        system = Path(path).name.removesuffix(".gz").removesuffix(".run")
        for theirs, measure in MEASURES.items():
            for topic, values in by_topic.items():
                output.write(f"{system}\t{topic}\t{measure}\t{values[theirs]!r}\n")
            mean = pytrec_eval.compute_aggregated_measure(theirs, [values[theirs] for values in by_topic.values()])
            output.write(f"{system}\tall\t{measure}\t{mean!r}\n")
