"""Numbers that Yang, Moffat and Turpin print, to compare with ours."""

from __future__ import annotations

# Table 1: topic, documents, partitions X, groups
DESIGN = (
    ("402", 278, 14, 532), ("403", 120, 6, 96), ("405", 216, 11, 297), ("407", 225, 11, 330), ("408", 192, 10, 240),
    ("415", 184, 9, 207), ("416", 176, 9, 198), ("431", 208, 10, 260), ("440", 270, 13, 468),
)  # fmt: skip
# Table 2, lower half: the share of pairs of systems in agreement (A) and disagreement (D)
SYSTEMS = {
    ("Sormunen", "Binary"): (0.938, 0.062),
    ("ME", "Binary"): (0.898, 0.102), ("ME", "Sormunen"): (0.873, 0.127),
    ("Pref", "Binary"): (0.874, 0.126), ("Pref", "Sormunen"): (0.858, 0.142), ("Pref", "ME"): (0.945, 0.055),
    ("Rele", "Binary"): (0.886, 0.114), ("Rele", "Sormunen"): (0.858, 0.142), ("Rele", "ME"): (0.951, 0.049),
    ("Rele", "Pref"): (0.955, 0.045),
    ("Ratio", "Binary"): (0.887, 0.113), ("Ratio", "Sormunen"): (0.863, 0.137), ("Ratio", "ME"): (0.942, 0.058),
    ("Ratio", "Pref"): (0.956, 0.044), ("Ratio", "Rele"): (0.970, 0.030),
}  # fmt: skip
# Table 2, upper half: agree, disagree, unknown over document pairs
DOCUMENTS = {
    ("Binary", "Sormunen"): (0.334, 0.005, 0.661), ("Binary", "ME"): (0.301, 0.030, 0.669),
    ("Binary", "Pref"): (0.300, 0.028, 0.672), ("Binary", "Rele"): (0.307, 0.022, 0.671),
    ("Binary", "Ratio"): (0.306, 0.024, 0.670), ("Sormunen", "ME"): (0.522, 0.181, 0.297),
    ("Sormunen", "Pref"): (0.579, 0.112, 0.309), ("Sormunen", "Rele"): (0.561, 0.129, 0.309),
    ("Sormunen", "Ratio"): (0.551, 0.152, 0.297), ("ME", "Pref"): (0.810, 0.177, 0.013),
    ("ME", "Rele"): (0.796, 0.152, 0.052), ("ME", "Ratio"): (0.821, 0.179, 0.000),
    ("Pref", "Rele"): (0.824, 0.109, 0.067), ("Pref", "Ratio"): (0.867, 0.119, 0.013),
    ("Rele", "Ratio"): (0.858, 0.087, 0.055),
}  # fmt: skip
# Table 3: topic, share of workers who liked Q1, Q2 and Q3, workers, mean AP, accuracy and its standard deviation
LIKES = (
    ("402", 0.397, 0.635, 0.217, 152, 0.204, 0.87, 0.20), ("403", 0.716, 0.423, 0.245, 47, 0.708, 0.89, 0.27),
    ("405", 0.493, 0.584, 0.210, 126, 0.182, 0.94, 0.11), ("407", 0.530, 0.573, 0.324, 103, 0.279, 0.83, 0.21),
    ("408", 0.569, 0.531, 0.188, 125, 0.198, 0.91, 0.20), ("415", 0.456, 0.529, 0.223, 72, 0.400, 0.89, 0.18),
    ("416", 0.482, 0.466, 0.294, 74, 0.295, 0.88, 0.22), ("431", 0.513, 0.549, 0.240, 79, 0.329, 0.81, 0.19),
    ("440", 0.408, 0.642, 0.328, 133, 0.154, 0.76, 0.28),
)  # fmt: skip
# Table 4: TP, FP, FN, TN against the binary labels over 7,503 pairs of systems
SIGNIFICANT_PAIRS = {
    "Sormunen": (2734, 490, 492, 3787),
    "Q1, Q2 and Q3": (2773, 828, 453, 3449),
    "Q1 and Q3": (2783, 851, 443, 3426),
    "Q2 and Q3": (2767, 822, 459, 3455),
    "Q1 and Q2": (2743, 843, 483, 3434),
    "Q1": (2744, 906, 482, 3371),
    "Q2": (2735, 826, 491, 3451),
    "Q3": (2763, 824, 463, 3453),
    "Random": (206, 245, 3020, 4032),
}
PAIRS = 7503
WORKER_TOPICS = 911  # the sum of the workers of all topics: the dots of Figures 4 and 6
