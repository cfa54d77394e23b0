"""Whether our means are another tool's: SCORES.parquet OTHER.tsv -> the largest difference; exit 1 above 1e-6."""

import sys

import polars as pl

ALLOWED = 1e-6

ours_path, theirs_path = sys.argv[1:]
ours = pl.read_parquet(ours_path).group_by("system", "measure").agg(ours=pl.col("value").mean())
theirs = pl.read_csv(
    theirs_path,
    separator="\t",
    has_header=False,
    schema={"system": pl.String, "topic": pl.String, "measure": pl.String, "theirs": pl.Float64},
).filter(pl.col("topic") == "all")
both = theirs.join(ours, on=["system", "measure"], how="full", coalesce=True)
if both.null_count().sum_horizontal().item():
    sys.exit(f"the tools did not measure the same systems: {both.filter(pl.any_horizontal(pl.all().is_null())).row(0)}")
largest = (both["ours"] - both["theirs"]).abs().max()
print(f"{len(both)} means, largest difference {largest:.1e}")
if largest > ALLOWED:
    sys.exit(f"a mean differs by {largest:.1e}, more than {ALLOWED:g}")
