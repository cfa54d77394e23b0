"""Files <-> tables: TREC qrels and runs, CSV, Parquet, JSON lines, crowd exports; plain or compressed."""
