"""From scores to conclusions: which system is better, and how sure are we.

scores          the scores table as an array, with nothing left out silently
correlation     do two sets of scores order the systems alike
rbo             how much the tops of two rankings share
significance    is a difference between two systems more than the choice of topics
top_sets        which systems cannot be told from the best
discrimination  which pairs of systems does one set of labels tell apart that another does not
worlds          scores, ranks and tau over all the worlds that judgments and topics allow
profiles        the same runs under several gains, side by side
simulated       systems made of complete sub-runs, random labels, robustness to the choice of assessor
design          how many topics, how many judges, to tell two systems apart
charts          pictures of all this
"""
