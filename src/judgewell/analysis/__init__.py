"""Runs × several sets of gains → aligned scores, draws of gains and worlds: the base of compare, report and papers.

scores   scores of the same systems on the same topics, from runs and gains or from tables of scores
draws    other gains that the judgments allow, and what becomes of the systems under them
compare  the public function `compare`: scores or runs in, conclusions out
text     a comparison as text
"""
