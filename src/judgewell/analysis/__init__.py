"""Runs × several sets of gains → aligned scores, draws of gains and worlds: the base of compare, report and papers."""
