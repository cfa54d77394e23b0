"""From scores to conclusions: which system is better, and how sure are we.

scores          the scores table as an array, with nothing left out silently
correlation     do two sets of scores order the systems alike
rbo             how much the tops of two rankings share
significance    is a difference between two systems more than the choice of topics
top_sets        the set of systems that contains the best one
discrimination  which pairs of systems differ significantly under one set of labels and not under another
noise           scores that judgments without noise would have given
worlds          ranks and tau over all the worlds that judgments and topics allow
profiles        the same runs under several gains, side by side
simulated       systems made of complete sub-runs, random labels, robustness to the choice of assessor
design          how many topics, how many judgments, to distinguish two systems
charts          pictures of all this
"""
