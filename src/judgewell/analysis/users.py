"""For how many users is one system better? The measure under each assessor's own gain profile.

log(v + 1) = a_u + b_u · log gain of the document: an assessor with b above the mean sees larger differences between
good and middling documents than others do. The slopes are shrunken by their reliability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError, note
from judgewell.evaluation.measures import Measure
from judgewell.evaluation.resampled import cutoff_of, ranked_items
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import Run
from judgewell.scales import kind_of
from judgewell.scaling.uncertainty import wilson
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.footing import on_common_footing

DOCUMENT = ["topic", "doc"]
FEWEST_USERS, FEWEST_DOCUMENTS = 10, 4
DISSENT = 0.05  # the share of users from which they disagree about a pair of systems
DRAWN, POINTS = 200, 25  # profiles in a picture, and points of each
UNDERSTATED = (
    "Users may disagree more than this: it shows only that some value highly relevant documents more than others do, "
    "not that they find different documents relevant, which only repeated judgments could show."
)


@dataclass(frozen=True)
class Profiles:
    """Documents with their gain on a log scale, and each user's slope."""

    documents: pl.DataFrame  # topic, doc, log_gain
    users: pl.DataFrame  # assessor, judgments, slope, shrunken
    reliability: float
    ratio: bool  # log_gain is the log of a gain, not of a gain + 1

    def gains(self, slopes: Floats, log_gain: Floats | None = None) -> Floats:
        """Gains under profiles: users × documents. The mean slope gives the gains that all share."""
        x = self.documents["log_gain"].to_numpy() if log_gain is None else log_gain
        mean = float(self.users["shrunken"].mean())  # type: ignore[arg-type]
        return np.asarray(np.exp(np.outer(slopes / mean, x)) - (0.0 if self.ratio else 1.0))


def user_profiles(judgments: pl.DataFrame) -> Profiles:
    """Each assessor's slope against the other assessors' mean of the same documents."""
    kind = kind_of(judgments)
    rows = judgments.filter(pl.col("assessor").is_not_null() & pl.col("value").is_not_null())
    if kind.in_logs:
        rows = on_common_footing(rows)
        value = pl.col("value")
    else:
        offset = kind.offset or 1.0
        least = float(rows["value"].min() or 0.0)  # type: ignore[arg-type]
        value = ((pl.col("value") - min(least, 0.0)) / offset + 1).log()
    rows = rows.with_columns(x=value)
    documents = rows.group_by(DOCUMENT).agg(log_gain=pl.col("x").mean()).sort(DOCUMENT)
    count, total = pl.len().over(DOCUMENT), pl.col("x").sum().over(DOCUMENT)
    rows = rows.filter(count > 1).with_columns(others=(total - pl.col("x")) / (count - 1))
    rows = rows.filter(pl.len().over("assessor") >= FEWEST_DOCUMENTS)
    names = rows["assessor"].unique().sort()
    if len(names) < FEWEST_USERS:
        raise DataError(
            f"{len(names)} assessors judged {FEWEST_DOCUMENTS} or more documents that others judged too; profiles of "
            f"users need {FEWEST_USERS}"
        )
    unit = rows.select(pl.struct("topic", "unit", "assessor").rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    user = rows["assessor"].rank("dense").to_numpy().astype(np.int64) - 1
    slope, error = _slopes(user, _centred(rows["x"].to_numpy(), unit), _centred(rows["others"].to_numpy(), unit))
    shrunken, reliability = _shrunken(slope, error)
    counts = np.bincount(user)
    columns = {"assessor": names, "judgments": counts, "slope": slope, "shrunken": shrunken}
    return Profiles(documents, pl.DataFrame(columns).filter(pl.col("slope").is_finite()), reliability, kind.in_logs)


def _centred(values: Floats, unit: Ints) -> Floats:
    return np.asarray(values - (np.bincount(unit, values) / np.bincount(unit))[unit])


def _slopes(user: Ints, x: Floats, log_gain: Floats) -> tuple[Floats, Floats]:
    """The slope of each user within units, and its variance by the spread around all users' lines."""
    square = np.bincount(user, log_gain**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.bincount(user, log_gain * x) / square
    rest = x - np.nan_to_num(slope)[user] * log_gain
    noise = float((rest**2).sum() / max(len(x) - 2 * len(square), 1))
    return np.asarray(slope), np.asarray(noise / np.maximum(square, 1e-12))


def _shrunken(slope: Floats, error: Floats) -> tuple[Floats, float]:
    """Slopes pulled to their mean by τ² / (τ² + error), τ² by DerSimonian and Laird; and their mean reliability."""
    known = np.isfinite(slope)
    weight = np.where(known, 1 / np.maximum(error, 1e-12), 0.0)
    y = np.nan_to_num(slope)
    mean = (weight * y).sum() / weight.sum()
    excess = (weight * (y - mean) ** 2).sum() - (known.sum() - 1)
    spread = max(0.0, excess / (weight.sum() - (weight**2).sum() / weight.sum()))
    share = spread / (spread + error)
    middle = (share * y)[known].sum() / share[known].sum() if spread else mean
    return np.asarray(middle + share * (slope - middle)), float(share[known].mean())


def user_pairs(
    profiles: Profiles, runs: Sequence[Run], measure: Measure, settings: Settings, level: float
) -> pl.DataFrame:
    """Every pair of systems, the better under the shared gains first: for which share of users it is better too.

    Columns first, second, difference (under the shared gains), share with its Wilson interval low and high, disagree.
    """
    depth = cutoff_of(measure)
    slopes = profiles.users["shrunken"].to_numpy()
    mean = np.array([slopes.mean()])
    tables = np.concatenate([profiles.gains(mean), profiles.gains(slopes)])
    tables /= tables[0].max()  # one unit for all, within the range of measures for gains up to 1 only for the mean user
    tables /= np.maximum(tables.max(axis=1, keepdims=True), 1.0)
    documents = profiles.documents.select(*DOCUMENT, gain=pl.Series(tables[0]))
    rankings = ranked_items(runs, documents, depth, settings)
    scores = rankings.scores(measure.settled(tables[0]), tables).mean(axis=2)
    order = np.argsort(-scores[0], kind="stable")
    pairs = np.array(list(combinations(order, 2)), dtype=np.int64).reshape(-1, 2)
    gap = scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]]
    wins = (gap[1:] > 1e-12).mean(axis=0) + 0.5 * (np.abs(gap[1:]) <= 1e-12).mean(axis=0)
    low, high = wilson(wins, np.full(len(wins), float(len(slopes))), level)
    return pl.DataFrame(
        {
            "first": [rankings.systems[at] for at in pairs[:, 0]],
            "second": [rankings.systems[at] for at in pairs[:, 1]],
            "difference": gap[0],
            "share": wins,
            "low": np.maximum(low, 0.0),
            "high": np.minimum(high, 1.0),
            "disagree": np.minimum(wins, 1 - wins) >= DISSENT,
        }
    )


def users_text(users: pl.DataFrame, pairs: pl.DataFrame, reliability: float, most: int | None = 25) -> str:
    """How many users the order of the systems holds for, and the pairs that they disagree about."""
    from judgewell.terminal import frame_text, prose

    split = pairs.filter("disagree").drop("disagree")
    slopes = users["shrunken"].to_numpy()
    other = int((pairs["share"] < 0.5).sum())
    text = prose(
        f"For how many users: {len(users):,} gain profiles (slope {slopes.mean():.2f}, s.d. "
        f"{slopes.std():.2f}, mean reliability {reliability:.2f}). In {len(pairs) - len(split):,} of {len(pairs):,} "
        f"pairs of systems more than {100 * (1 - DISSENT):.0f} % of the users agree; in {other:,} most users prefer "
        "the system that is worse under the gains that all share (means of log judgments, not the gains above)."
    )
    if len(split):
        text += (
            "\nPairs that users disagree about (share of users for whom the first is better, with its 95 % interval):\n"
            f"{frame_text(split.sort((pl.col('share') - 0.5).abs()), most)}"
        )
    elif len(pairs):
        first, second, share, low, high = pairs.sort("share").select("first", "second", "share", "low", "high").row(0)
        text += "\n" + prose(
            f"The smallest share: {first} is better than {second} for {100 * share:.1f} % of the users "
            f"[{100 * low:.1f}, {100 * high:.1f}]."
        )
    return f"{text}\n{prose(UNDERSTATED)}"


def profile_points(profiles: Profiles) -> pl.DataFrame:
    """Gains under up to 200 users' profiles over the gain that all share, both as shares of the largest."""
    log_gain = profiles.documents["log_gain"].to_numpy()
    grid = np.linspace(log_gain.min(), log_gain.max(), POINTS)
    slopes = np.sort(profiles.users["shrunken"].to_numpy())
    shown = slopes[np.linspace(0, len(slopes) - 1, min(DRAWN, len(slopes))).round().astype(np.int64)]
    if len(slopes) > DRAWN:
        note(f"the picture of profiles shows {DRAWN} of {len(slopes):,} users, evenly by their slope")
    shared = profiles.gains(np.array([slopes.mean()]), grid)[0]
    own = profiles.gains(shown, grid)
    own = own / own[:, -1:]
    return pl.DataFrame(
        {
            "user": np.repeat(np.arange(1, len(shown) + 1), POINTS),
            "shared": np.tile(shared / shared[-1], len(shown)),
            "gain": own.ravel(),
        }
    )


def profile_chart(points: pl.DataFrame) -> Any:
    """A line for each user's profile; the diagonal is the gain that all share."""
    from judgewell.comparison.charts import SIZE, altair

    alt = altair()
    x = alt.X("shared:Q", title="gain that all share, as a share of the largest")
    lines = alt.Chart(alt.Data(values=points.to_dicts())).mark_line(opacity=0.2, strokeWidth=1)
    lines = lines.encode(x=x, y=alt.Y("gain:Q", title="gain for one user"), detail="user:N")
    shared = alt.Data(values=points.filter(pl.col("user") == 1).to_dicts())
    middle = alt.Chart(shared).mark_line(strokeDash=[5, 3], strokeWidth=2)
    return (lines + middle.encode(x=x, y="shared:Q")).properties(width=SIZE, height=SIZE)
