"""Whether our values are another tool's, topic by topic: SCORES.csv OTHER.tsv -> the largest difference; exit 1 above
1e-6. What only we write (residuals) is excluded."""

import sys

import polars as pl

ALLOWED = 1e-6

ours_path, theirs_path = sys.argv[1:]
key = ["system", "topic", "measure"]
ours = pl.read_csv(ours_path, schema_overrides={"topic": pl.String}).rename({"value": "ours"})
theirs = pl.read_csv(
    theirs_path,
    separator="\t",
    has_header=False,
    schema={"system": pl.String, "topic": pl.String, "measure": pl.String, "theirs": pl.Float64},
).filter(pl.col("topic") != "all")
ours = ours.filter(pl.col("measure").is_in(theirs["measure"].unique().implode()))
both = theirs.join(ours, on=key, how="full", coalesce=True)
if both.null_count().sum_horizontal().item():
    sys.exit(f"the tools did not measure the same: {both.filter(pl.any_horizontal(pl.all().is_null())).row(0)}")
largest = (both["ours"] - both["theirs"]).abs().max()
print(f"{len(both)} values, largest difference {largest:.1e}")
if largest > ALLOWED:
    sys.exit(f"a value differs by {largest:.1e}, more than {ALLOWED:g}")
