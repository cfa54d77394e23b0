"""nDCG@10, AP and P@10 by ranx, from QRELS, for each RUN: OUTPUT has the value of every topic, then the mean."""

import sys
from pathlib import Path

from ranx import Qrels, Run, evaluate

MEASURES = {"ndcg@10": "nDCG@10", "map": "AP", "precision@10": "P@10"}

qrels_path, output_path, *run_paths = sys.argv[1:]
qrels = Qrels.from_file(qrels_path, kind="trec")
with open(output_path, "w") as output:
    for path in run_paths:
        run = Run.from_file(path, kind="trec")
        means = evaluate(qrels, run, list(MEASURES), make_comparable=True)
        system = Path(path).stem
        for theirs, measure in MEASURES.items():
            for topic, value in run.scores[theirs].items():
                output.write(f"{system}\t{topic}\t{measure}\t{float(value)!r}\n")
            output.write(f"{system}\tall\t{measure}\t{float(means[theirs])!r}\n")
