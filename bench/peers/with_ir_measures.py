"""nDCG@10, AP and P@10 by ir_measures, from QRELS, for each RUN: OUTPUT has the value of every topic, then the mean."""

import sys
from pathlib import Path

import ir_measures
from ir_measures import AP, P, nDCG

qrels_path, output_path, *run_paths = sys.argv[1:]
evaluator = ir_measures.evaluator([nDCG @ 10, AP, P @ 10], ir_measures.read_trec_qrels(qrels_path))
with open(output_path, "w") as output:
    for path in run_paths:
        results = evaluator.calc(ir_measures.read_trec_run(path))
        system = Path(path).stem
        for metric in results.per_query:
            output.write(f"{system}\t{metric.query_id}\t{metric.measure}\t{metric.value!r}\n")
        for measure, mean in results.aggregated.items():
            output.write(f"{system}\tall\t{measure}\t{mean!r}\n")
