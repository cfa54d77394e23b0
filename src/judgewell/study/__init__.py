"""A study before anybody judges: study file, scales, pools, units, groups and pair sequences, checks, texts, cost."""
