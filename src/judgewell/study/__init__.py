"""What is asked of whom: study file, scales, pools, units, groups and pair sequences, checks, texts, cost."""
