"""Numbers that Demeester et al. print, to compare with ours."""

from __future__ import annotations

U1 = (2, 2, 1, 0, 1, 1, 0, 1, 2, 1, 1, 1, 2, 0, 1, 0, 1, 1, 0, 0)
U2 = (1, 2, 1, 1, 2, 0, 0, 1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 0, 0)

TABLE_2: dict[tuple[str, str], tuple[float | None, ...]] = {
    ("pages", "5"): (0.53, 0.27, 0.04, 0.01),
    ("pages", "4"): (0.52, 0.28, 0.05, None),
    ("snippets", "5"): (0.47, 0.25, 0.08, 0.01),
    ("snippets", "4"): (0.49, 0.26, 0.09, None),
}
TABLE_3 = ((0.53, 0.87, 0.93), (0.27, 0.65, 0.88), (0.04, 0.22, 0.46), (0.01, 0.02, 0.08))
TABLE_6 = {
    "Japanese navigational": (0.86, 0.86, 0.64),
    "Japanese informational": (0.84, 0.93, 1.00),
    "Chinese navigational": (0.12, 0.43, 0.47),
    "Chinese informational": (0.06, 0.27, 0.72),
}
TABLE_7 = {
    "top": {"binary": 0.75, "linear": 0.96, "exponential": 0.99},
    "marginal": {"binary": 0.94, "linear": 0.92, "exponential": 0.93},
}
# Table 5: run, top relevance by PRM and binary, marginal relevance by PRM and binary
RUNS = (
    ("oracle", 9.02, 12.98, 21.40, 25.92),
    ("RS_clueweb", 2.51, 2.66, 8.52, 9.26),
    ("UiSSP", 2.41, 2.58, 7.78, 8.76),
    ("UiSP", 2.27, 2.52, 7.22, 8.00),
    ("utTailyNormM400", 2.05, 2.20, 6.65, 7.24),
    ("utTailyM400", 1.94, 2.06, 6.32, 6.74),
    ("UiSS", 1.66, 1.64, 5.84, 5.98),
    ("udelODRA", 1.63, 1.68, 5.64, 6.00),
    ("udelFAVE", 1.63, 1.62, 5.78, 6.14),
    ("UPDFW13mu", 1.54, 1.52, 5.18, 5.36),
    ("iiitnaive01", 1.46, 1.52, 5.24, 5.76),
    ("cwi13SniTI", 1.46, 1.46, 5.17, 5.48),
    ("UPDFW13sh", 1.43, 1.12, 5.28, 5.38),
    ("RS_querypools", 1.25, 1.06, 5.33, 6.18),
    ("cwi13ODPTI", 1.17, 0.92, 4.48, 4.52),
    ("ECNUM25", 0.91, 1.16, 3.04, 2.62),
    ("cwi13ODPJac", 0.66, 0.42, 2.88, 2.94),
    ("udelRSMIN", 0.61, 0.78, 2.28, 1.94),
    ("incgqdv2", 0.55, 0.48, 2.17, 2.08),
    ("incgqd", 0.35, 0.30, 1.46, 1.38),
    ("StanfordEIG10", 0.19, 0.14, 0.85, 0.66),
)


def attainable(printed: float, pairs: int, *, ties: bool = True) -> bool:
    """Whether a τ-a of so many pairs can be printed as this number, to two decimals: is it some k / pairs?

    Without ties concordant and discordant pairs are all there are, so k is odd where their number is.
    """
    step = 1 if ties else 2
    return any(abs(round(k / pairs, 2) - printed) < 1e-9 for k in range(-pairs, pairs + 1, step))
