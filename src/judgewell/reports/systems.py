"""The part on systems: who is better and how sure that is, under the gains and under every set of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray, aligned, score_array, tell_of_identical
from judgewell.comparison.worlds import Worlds, all_worlds, topic_worlds
from judgewell.errors import DataError, MeasureError
from judgewell.reports import charts, findings
from judgewell.reports.numbers import count, counted, plain
from judgewell.reports.parts import Figure, Finding, Grid, LeftOut, Part
from judgewell.reports.sources import Sources, hearing
from judgewell.reports.worth import Worth

if TYPE_CHECKING:
    from judgewell.evaluation.measures import Measure

MOST = 40  # systems in a figure; tables hold all
BLOCK = 32  # gain tables measured at once
SCATTERS = 3


@dataclass(frozen=True)
class Scored:
    """The runs measured: the first measure under each set of gains, all measures under the first set."""

    sets: Mapping[str, ScoreArray]
    measures: Mapping[str, ScoreArray]
    judged: pl.DataFrame  # set, system, judged
    depth: int
    worlds: Mapping[str, Worlds] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> ScoreArray:
        return next(iter(self.sets.values()))


def scored(sources: Sources, worth: Worth | None, progress: Callable[[int, int], None] | None = None) -> Scored:
    """Measure the runs, and resample topics, and judgments where there are draws of other gains."""
    notes: list[str] = []
    left_out: list[LeftOut] = []
    with hearing(notes):
        tables = _tables(sources, worth)
        found: dict[str, pl.DataFrame] = {}
        depth = max((one.cutoff or 0 for one in sources.measures), default=0) or 10
        for name, table in tables.items():
            try:
                found[name] = _scores(sources, table, depth, progress)
            except (DataError, MeasureError) as problem:
                if not found:
                    raise
                left_out.append(LeftOut("systems", f"systems under {name}", str(problem)))
        first = str(sources.measures[0])
        sets = aligned({name: score_array(table, first) for name, table in found.items()}, common=True)
        tell_of_identical(next(iter(sets.values())))
        main = next(iter(found))
        measures = {str(one): score_array(found[main], str(one)) for one in sources.measures}
        judged = pl.concat(_judged(name, table, depth) for name, table in found.items())
        worlds = _worlds(sources, worth, next(iter(sets.values())), left_out)
    return Scored(sets, measures, judged, depth, worlds, tuple(left_out), tuple(notes))


def _tables(sources: Sources, worth: Worth | None) -> dict[str, pl.DataFrame]:
    """The sets of gains that the runs are measured under, the report's own first."""
    own = {worth.name: worth.gains} if worth else {}
    found = own | {name: table for name, table in sources.gains.items() if name not in own}
    for name, table in sources.labels.items():
        found[name if name not in found else f"{name} (labels)"] = table
    if not found:
        raise DataError("runs cannot be measured without gains or labels; give --gains, --labels or --judgments")
    return found


def _scores(
    sources: Sources, table: pl.DataFrame, depth: int, progress: Callable[[int, int], None] | None
) -> pl.DataFrame:
    from judgewell.evaluation.evaluate import scores_table, system_scores, topic_names
    from judgewell.evaluation.measures import Judged

    wanted: list[Measure] = [*sources.measures]
    if Judged(cutoff=depth) not in wanted:
        wanted.append(Judged(cutoff=depth))
    results = list(system_scores(sources.runs, table, wanted, progress=progress))
    return scores_table(results, topic_names(table), wanted)


def _judged(name: str, table: pl.DataFrame, depth: int) -> pl.DataFrame:
    rows = table.filter(pl.col("measure") == f"Judged@{depth}").group_by("system").agg(judged=pl.col("value").mean())
    return rows.sort("system").select(pl.lit(name).alias("set"), "system", "judged")


def _worlds(sources: Sources, worth: Worth | None, scores: ScoreArray, left_out: list[LeftOut]) -> dict[str, Worlds]:
    """Other topics; with draws also other judgments, and both."""
    if len(scores.systems) < 2 or len(scores.topics) < 2:
        few = "one system" if len(scores.systems) < 2 else "one topic"
        left_out.append(LeftOut("systems", "intervals, ranks and pairs of systems", f"there is {few}"))
        return {}
    measure = sources.measures[0]
    if worth is not None and worth.draws is not None and measure.cutoff is not None:
        return _with_judgments(sources, worth, measure, scores)
    if worth is None or worth.draws is None:
        left_out.append(LeftOut("systems", "other judgments", "needs judgments or pairs that the gains are made from"))
    else:
        left_out.append(LeftOut("systems", "other judgments", f"{measure} looks at whole rankings; give it a cutoff"))
    return {"topics": topic_worlds(scores.systems, scores.values, sources.worlds, seed=sources.seed)}


def _with_judgments(sources: Sources, worth: Worth, measure: Measure, scores: ScoreArray) -> dict[str, Worlds]:
    from judgewell.evaluation.resampled import ranked_items

    rankings = ranked_items(sources.runs, worth.gains, measure.cutoff or 0)
    rows = [rankings.systems.index(name) for name in scores.systems]
    columns = [rankings.topics.index(name) for name in scores.topics]

    def score(gains: Any) -> Any:
        return rankings.scores(measure, gains)[:, rows][..., columns]

    def blocks() -> Iterator[Any]:
        for start in range(0, len(worth.draws), BLOCK):
            yield worth.draws[start : start + BLOCK]

    return all_worlds(scores.systems, scores.values, score, blocks(), sources.worlds, seed=sources.seed)


def systems_part(sources: Sources, found: Scored) -> Part:
    """Means, ranks, pairs, sets and measures."""
    main, several = found.main, len(found.main.systems) > 1 and len(found.main.topics) > 1
    table = systems_table(found, sources)
    said: list[Finding | None] = [*findings.best(table, main.measure, len(main.topics))]
    items: list[Figure | Grid] = [_means(table, found)] if several else []
    if several:
        worlds = _widest(found.worlds)
        pairs = pairs_table(main, sources)
        said += [findings.told_apart(pairs), findings.ranks(worlds.table(sources.level))]
        items += [_ranks(worlds, sources.level), _counts(pairs, table), _matrix(worlds, pairs, table)]
        if len(found.worlds) > 1:
            said.append(findings.limits(found.worlds))
            items.append(_taus(found.worlds))
    said.append(findings.unjudged(_own(found), found.depth))
    items.append(_systems_grid(table, found))
    if several:
        items += [_worlds_grid(found.worlds, sources.level), *_more_pairs(pairs, found)]
    if len(found.sets) > 1:
        more, figures = _side_by_side(found, sources)
        said += more
        items += figures
    if len(found.measures) > 1 and several:
        items.append(_measures(found))
    items += [_difficulty(found), *_judged_grid(found)]
    kept = tuple(one for one in said if one is not None)
    return Part("systems", "Systems", kept, tuple(items), found.notes)


def _widest(worlds: Mapping[str, Worlds]) -> Worlds:
    """The worlds that hold all the uncertainty there is."""
    return worlds.get("both") or worlds["topics"]


def _own(found: Scored) -> pl.DataFrame:
    first = next(iter(found.sets))
    return found.judged.filter(pl.col("set") == first)


def systems_table(found: Scored, sources: Sources) -> pl.DataFrame:
    """Each system's mean with its interval and ranks, whether it can be told from the best, its other measures."""
    from judgewell.comparison.top_sets import top_set

    main = found.main
    table = pl.DataFrame({"system": main.systems, "mean": main.means})
    if found.worlds:
        top = top_set(main, alpha=sources.alpha, seed=sources.seed)
        ends = (
            _widest(found.worlds).table(sources.level).select("system", "low", "high", "rank_low", "rank_high", "best")
        )
        table = table.join(ends, on="system", maintain_order="left").with_columns(
            p_best=pl.Series([top.p[name] for name in main.systems]), top=pl.col("system").is_in(top.members)
        )
    table = table.join(_own(found).select("system", "judged"), on="system", how="left", maintain_order="left")
    for name, scores in list(found.measures.items())[1:]:
        means = pl.DataFrame({"system": scores.systems, name: scores.means})
        table = table.join(means, on="system", how="left", maintain_order="left")
    return table.sort("mean", "system", descending=[True, False])


def pairs_table(main: ScoreArray, sources: Sources) -> pl.DataFrame:
    """Every pair of systems, the better first: difference, interval, p corrected by Holm."""
    from judgewell.comparison.significance import compare_systems

    found = compare_systems(main, "t", correction="holm", alpha=sources.alpha, level=sources.level, seed=sources.seed)
    return found.sort("mean_first", "mean_second", "first", "second", descending=[True, True, False, False])


def _shown(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The best systems that a figure has room for, and words for which they are."""
    if table.height <= MOST:
        return table, counted(table.height, "system")
    return table.head(MOST), f"the best {MOST} of {count(table.height)} systems"


def _over(worlds: Worlds) -> str:
    return f"{count(worlds.count)} resamples {findings.OVER[worlds.over]}"


def _means(table: pl.DataFrame, found: Scored) -> Figure:
    shown, which = _shown(table)
    data = shown.select(name="system", value="mean", low="low", high="high")
    first, main = next(iter(found.sets)), found.main
    caption = (
        f"Mean {main.measure} under {first} over {counted(len(main.topics), 'topic')} with 95 % intervals from "
        f"{_over(_widest(found.worlds))}; {which}, best first."
    )
    return Figure("system_means", f"Mean {main.measure}", caption, charts.dots(data, "", f"mean {main.measure}"), data)


def _ranks(worlds: Worlds, level: float) -> Figure:
    shown, which = _shown(worlds.table(level))
    data = shown.select(name="system", value="rank", low="rank_low", high="rank_high", best="best")
    caption = f"Median rank with its 95 % interval over {_over(worlds)}; {which}, best mean first."
    chart = charts.dots(data, "", f"rank among {len(worlds.systems)}")
    return Figure("rank_intervals", "Ranks that the data allow", caption, chart, data)


KINDS = ("better than", "not told apart from", "worse than")


def pair_counts(pairs: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """For each system how many others it is better than, worse than, or not told apart from: name, kind, count."""
    told = pairs.filter("significant")
    better = dict(told.group_by("first").len().iter_rows())
    worse = dict(told.group_by("second").len().iter_rows())
    others = len({*pairs["first"], *pairs["second"]}) - 1
    rows = []
    for name in systems:
        above, below = better.get(name, 0), worse.get(name, 0)
        for kind, number in zip(KINDS, (above, others - above - below, below), strict=True):
            rows.append({"name": name, "kind": kind, "count": number})
    return pl.DataFrame(rows)


def _counts(pairs: pl.DataFrame, table: pl.DataFrame) -> Figure:
    shown, which = _shown(table)
    data = pair_counts(pairs, shown["system"].to_list())
    caption = (
        f"For {which}, best first: how many of the others it is better than, not told apart from, and worse than "
        "(paired t-test over topics, Holm’s correction, α = 0.05)."
    )
    return Figure("pair_counts", "Who can be told from whom", caption, charts.shares(data, "", "systems", KINDS), data)


def above_matrix(worlds: Worlds, pairs: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """For each two systems the share of resamples in which the first is above: first, second, value, sign."""
    told = {(first, second) for first, second in pairs.filter("significant").select("first", "second").iter_rows()}
    places = [worlds.systems.index(name) for name in systems]
    share = (worlds.higher + worlds.tied / 2)[np.ix_(places, places)] / worlds.count
    rows = [
        {"first": one, "second": other, "value": float(share[i, j]),
         "sign": "+" if (one, other) in told else "−" if (other, one) in told else ""}
        for i, one in enumerate(systems) for j, other in enumerate(systems) if i != j
    ]  # fmt: skip
    return pl.DataFrame(rows)


def _matrix(worlds: Worlds, pairs: pl.DataFrame, table: pl.DataFrame) -> Figure:
    shown, which = _shown(table)
    data = above_matrix(worlds, pairs, shown["system"].to_list())
    caption = (
        f"How often the system of the row is above that of the column over {_over(worlds)}; {which}. + and −: told apart by the "
        "paired t-test with Holm’s correction, better or worse."
    )
    chart = charts.matrix(data, "system", "than", "above in")
    return Figure("above_matrix", "Who is above whom", caption, chart, data)


def _taus(worlds: Mapping[str, Worlds]) -> Figure:
    from judgewell.comparison.charts import tau_points

    points = tau_points(worlds, bins=30)
    data = points.select(x=(pl.col("low") + pl.col("high")) / 2, y="share", kind="name")
    kinds = list(worlds)
    said = "; ".join(f"{over}: {plain(one.tau_interval()[0])}" for over, one in worlds.items())
    caption = f"τ-b of the order of the systems in a resample with that of the data (medians {said}); {_over(_widest(worlds))}."
    chart = charts.curves(data, "τ-b with the order of the data", "share of resamples", kinds)
    return Figure("tau_over_worlds", "How firm the order is", caption, chart, data)


def _systems_grid(table: pl.DataFrame, found: Scored) -> Grid:
    main = found.main
    caption = f"{counted(table.height, 'system')} on {counted(len(main.topics), 'topic')}"
    if found.worlds:
        caption += (
            f"; 95 % intervals from {_over(_widest(found.worlds))}. Top: not told from the best (Wilcoxon, p ≥ 0.05); best in: "
            "share of resamples in which the system comes first"
        )
    heads = {"mean": main.measure, "judged": f"judged of first {found.depth}"}
    return Grid("systems", "Systems", caption + ".", table, heads=heads)


def _worlds_grid(worlds: Mapping[str, Worlds], level: float) -> Grid:
    rows = []
    for over, one in worlds.items():
        middle, low, high = one.tau_interval(level)
        rows.append({"other": over, "resamples": one.count, "sd of a mean": float(one.spread.mean()), "tau_b": middle, "low": low, "high": high})  # fmt: skip
    caption = "How much a system’s mean varies (s.d., mean over systems) over other judgments, other topics and both, and τ-b of the order with that of the data."
    return Grid("worlds", "What limits the conclusion", caption, pl.DataFrame(rows))


def _more_pairs(pairs: pl.DataFrame, found: Scored) -> list[Grid]:
    columns = (
        "first",
        "second",
        "difference",
        "low",
        "high",
        "effect",
        "wins",
        "losses",
        "p",
        "p_corrected",
        "significant",
    )
    caption = f"{counted(pairs.height, 'pair')} of systems, the better first: difference of mean {found.main.measure}, paired t-test over topics."
    return [Grid("pairs", "Every pair of systems", caption, pairs, columns, folded=True)]


def _side_by_side(found: Scored, sources: Sources) -> tuple[list[Finding | None], list[Figure | Grid]]:
    """The same systems under several gains or labels."""
    from judgewell.comparison.profiles import side_by_side

    main = found.main
    if len(main.systems) < 2:
        return [], []
    table = side_by_side(found.sets, alpha=sources.alpha, seed=sources.seed)
    items: list[Figure | Grid] = [*_scatters(found, sources)]
    caption = (
        f"{main.measure} of {counted(len(main.systems), 'system')} on the {counted(len(main.topics), 'topic')} that all sets share; "
        "top sets: systems not told from the best (Wilcoxon)."
    )
    columns = (
        "first",
        "second",
        "tau_b",
        "tau_ap",
        "spearman",
        "rbo",
        "concordant",
        "discordant",
        "tied",
        "top_first",
        "top_second",
        "top_shared",
    )
    items.append(Grid("sets", "Systems under several gains", caption, table, columns))
    if len(main.topics) > 1:
        from judgewell.comparison.discrimination import discrimination_table

        told = discrimination_table(found.sets, None, "t", alpha=sources.alpha, seed=sources.seed)
        caption = f"Pairs of systems that a paired t-test tells apart (α = 0.05, no correction) under each set, against {next(iter(found.sets))}."
        columns = ("set", "distinguished", "tp", "opposite", "fp", "fn", "tn", "agreement", "kappa", "mcnemar_p")
        items.append(
            Grid("discrimination", "Pairs told apart under several gains", caption, told, columns, folded=True)
        )
    return [findings.alike(table)], items


def _scatters(found: Scored, sources: Sources) -> list[Figure]:
    from judgewell.comparison.charts import score_points

    if len(found.main.topics) < 2:
        return []
    first, *others = found.sets
    figures = []
    for number, other in enumerate(others[:SCATTERS], 1):
        both = {first: found.sets[first], other: found.sets[other]}
        data = score_points(both, worlds=sources.worlds, level=sources.level, seed=sources.seed).rename(
            {"system": "name"}
        )
        caption = f"Mean {found.main.measure} of {counted(data.height, 'system')} on {counted(len(found.main.topics), 'topic')} with 95 % intervals over topics."
        chart = charts.scatter(data, first, other, "system")
        figures.append(Figure(f"scatter_{number}", f"{first} and {other}", caption, chart, data))
    return figures


def _measures(found: Scored) -> Grid:
    from judgewell.comparison.profiles import side_by_side

    table = side_by_side(found.measures, common=True)
    caption = f"How alike the measures order the {counted(len(found.main.systems), 'system')}."
    columns = ("first", "second", "tau_b", "tau_ap", "spearman", "rbo", "concordant", "discordant", "tied")
    return Grid("measures", "Measures against each other", caption, table, columns, folded=True)


def _difficulty(found: Scored) -> Grid:
    main = found.main
    table = pl.DataFrame(
        {
            "topic": main.topics,
            "mean": main.values.mean(axis=0),
            "lowest": main.values.min(axis=0),
            "highest": main.values.max(axis=0),
        }
    ).sort("mean", "topic")
    caption = f"{main.measure} of each topic over {counted(len(main.systems), 'system')}, hardest first."
    return Grid("difficulty", "Difficulty of topics", caption, table, folded=True)


def _judged_grid(found: Scored) -> list[Grid]:
    table = found.judged.pivot("set", index="system", values="judged")
    shares = table.with_columns((1 - pl.col(name)).alias(name) for name in table.columns[1:])
    long = found.judged.with_columns(unjudged=1 - pl.col("judged"))
    if shares.width == 2:
        frame = long.select("system", "judged", "unjudged").sort("judged", "system")
    else:
        frame = long.select("set", "system", "judged", "unjudged").sort("judged", "set", "system")
    caption = f"Of the first {found.depth} documents of each topic; what is not judged counts 0. Least judged first."
    return [Grid("judged", "How much is judged", caption, frame, folded=True)]
