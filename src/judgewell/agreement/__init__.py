"""How far the judgments agree: with other labels, with each other and with themselves, and what changed the answer.

Every analysis is a function over the checked tables that returns a plain polars table; `by` splits it (by topic, scale,
template). A row whose statistic cannot be had says why in its `note`; when nothing at all can be had, a
:class:`~judgewell.errors.DataError` says what is missing.

levels         against expert levels: distributions, tests, exceptions, order agreement, the failure list
label_sets     agree / disagree / unknown between any number of label sets
alpha, kappa   Krippendorff's alpha; Cohen's, weighted and Fleiss' kappa
assessors      pairwise tau, each against the rest, known documents, volume
transitivity   preferences against their best order, repeated labels
scale_use      how the numbers are used: descriptives, width, gain profile, ratios
order_effects  did the order of documents, or the time of judging, change the answer
times, workers time per judgment; who did how much, what they liked, how hard the topics are
mixed_model    a logistic model with crossed random effects
power          how likely a real difference would have been seen
stability      how many judges, how many partitions are enough
sections       all of it as a list, for the command and for reports
"""
