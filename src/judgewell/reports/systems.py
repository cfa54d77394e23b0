"""The part on systems: who is better and how sure that is, under the gains and under every set of labels."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgewell.analysis.conclusions import without_noise_columns
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.worlds import Worlds
from judgewell.reports import findings
from judgewell.reports.parts import Figure, Finding, Grid, Part
from judgewell.reports.scoring import Scored
from judgewell.reports.sources import Sources
from judgewell.reports.system_figures import (
    counts_figure,
    matrix_figure,
    means_figure,
    ranks_figure,
    resamples_of,
    scatter_figures,
    taus_figure,
)
from judgewell.text import counted, plain


def systems_part(sources: Sources, found: Scored) -> Part:
    """Means, ranks, pairs, sets and measures."""
    main, several = found.main, len(found.main.systems) > 1 and len(found.main.topics) > 1
    table = systems_table(found, sources)
    said: list[Finding | None] = [*findings.best(table, main.measure, len(main.topics))]
    notes = [*found.notes]
    items: list[Figure | Grid] = [means_figure(table, found)] if several else []
    if several:
        worlds = found.widest
        pairs = pairs_table(main, sources)
        said += [findings.told_apart(pairs), findings.ranks(worlds.table(sources.level))]
        items += [ranks_figure(worlds, sources.level), counts_figure(pairs, table), matrix_figure(worlds, pairs, table)]
        if len(found.worlds) > 1:
            said.append(findings.limits(found.worlds))
            items += taus_figure(found.worlds)
    said.append(findings.unjudged(found.own_judged, found.depth))
    items.append(_systems_grid(table, found))
    if several:
        items += [_worlds_grid(found.worlds, sources.level, table), *_more_pairs(pairs, found)]
    if len(found.sets) > 1:
        more, figures = _side_by_side(found, sources)
        said += more
        items += figures
    if len(found.measures) > 1 and several:
        items.append(_measures(found))
    items += [_difficulty(found), *_judged_grid(found)]
    kept = tuple(one for one in said if one is not None)
    return Part("systems", "Systems", kept, tuple(items), tuple(notes))


def systems_table(found: Scored, sources: Sources) -> pl.DataFrame:
    """Each system's mean with its interval and ranks, whether it can be told from the best, its other measures."""
    from judgewell.comparison.top_sets import FEWEST_TOPICS, top_set

    main = found.main
    table = pl.DataFrame({"system": main.systems, "mean": main.means})
    if len(main.topics) > 1:
        over_topics = main.intervals(sources.level, sources.seed)
        table = table.with_columns(low=over_topics.low, high=over_topics.high)
    if found.without_noise is not None:
        clean = found.without_noise.intervals(sources.level, sources.seed)
        table = table.with_columns(**without_noise_columns(clean, main.limits))
    if found.worlds:
        table = table.join(intervals(found, sources.level), on="system", maintain_order="left")
    if found.worlds and len(main.topics) >= FEWEST_TOPICS:
        top = top_set(main, alpha=sources.alpha, seed=sources.seed)
        table = table.with_columns(
            p_best=pl.Series([top.p[name] for name in main.systems]), top=pl.col("system").is_in(top.members)
        )
    for name, scores in list(found.measures.items())[1:]:
        means = pl.DataFrame({"system": scores.systems, name: scores.means})
        table = table.join(means, on="system", how="left", maintain_order="left")
    table = table.join(found.own_judged.select("system", "judged"), on="system", how="left", maintain_order="left")
    return table.sort("mean", "system", descending=[True, False])


def intervals(found: Scored, level: float) -> pl.DataFrame:
    """Each system's ranks over all that can be resampled, and the shift of its mean there."""
    return found.widest.table(level).select("system", "rank_low", "rank_high", "best")


def pairs_table(main: ScoreArray, sources: Sources) -> pl.DataFrame:
    """Every pair of systems, the better first: difference, interval, p corrected by Holm."""
    from judgewell.comparison.significance import compare_systems

    found = compare_systems(main, "t", correction="holm", alpha=sources.alpha, level=sources.level, seed=sources.seed)
    return found.sort("mean_first", "mean_second", "first", "second", descending=[True, True, False, False])


def _systems_grid(table: pl.DataFrame, found: Scored) -> Grid:
    main = found.main
    caption = f"{counted(table.height, 'system')} on {counted(len(main.topics), 'topic')}"
    if found.worlds:
        caption += (
            f"; 95 % intervals of means over other topics, of ranks from {resamples_of(found.widest)}. Top: "
            "the set that contains the best system with 95 % confidence; best in: share of resamples in which the "
            "system ranks first, alone or tied"
        )
    elif "low" in table.columns:
        caption += "; 95 % interval of the mean over other topics"
    if "without_noise" in table.columns:
        caption += "; without noise: the estimate of what judgments without noise would give, with its interval"
    heads = {
        "mean": main.measure,
        "without_noise": f"{main.measure} without noise",
        "without_noise_low": "95 % from",
        "without_noise_high": "95 % to",
        "judged": f"judged of first {found.depth}",
    }
    return Grid("systems", "Systems", caption + ".", table, tuple(table.columns), heads)


def _worlds_grid(worlds: Mapping[str, Worlds], level: float, systems: pl.DataFrame) -> Grid:
    rows = []
    for over, one in worlds.items():
        middle, low, high = one.tau_interval(level)
        spread = float(one.spread.mean())
        row = {"other": over, "resamples": one.count, "sd of a mean": spread, "tau_b": middle, "low": low, "high": high}
        rows.append(row)
    title = "What limits the conclusion" if len(worlds) > 1 else "How firm the order is"
    caption = (
        "How much a system’s mean varies (s.d., mean over systems) over other judgments, other topics and "
        "both, and τ-b of the order with that of the data."
    )
    if "without_noise" in systems.columns:
        noise = float((systems["mean"] - systems["without_noise"]).mean())  # type: ignore[arg-type]
        caption += f" Noise in judgments moves the means of systems by {plain(noise, 4)} on average."
    return Grid("worlds", title, caption, pl.DataFrame(rows))


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
    caption = (
        f"{counted(pairs.height, 'pair')} of systems, the better first: difference of mean "
        f"{found.main.measure}, paired t-test over topics."
    )
    return [Grid("pairs", "Every pair of systems", caption, pairs, columns, folded=True)]


def _side_by_side(found: Scored, sources: Sources) -> tuple[list[Finding | None], list[Figure | Grid]]:
    """The same systems under several gains or labels."""
    from judgewell.comparison.profiles import side_by_side

    main = found.main
    if len(main.systems) < 2:
        return [], []
    table = side_by_side(found.sets, alpha=sources.alpha, seed=sources.seed)
    items: list[Figure | Grid] = [*scatter_figures(found, sources)]
    caption = (
        f"{main.measure} of {counted(len(main.systems), 'system')} on the "
        f"{counted(len(main.topics), 'topic')} that all sets share; "
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
        caption = (
            "Pairs of systems that a paired t-test tells apart (α = 0.05, no correction) under each set, "
            f"against {next(iter(found.sets))}."
        )
        shown = ("set", "distinguished", "tp", "opposite", "fp", "fn", "tn", "agreement", "kappa", "mcnemar_p")
        items.append(Grid("discrimination", "Pairs told apart under several gains", caption, told, shown, folded=True))
    return [findings.alike(table)], items


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
    frame = found.judged.with_columns(unjudged=1 - pl.col("judged")).sort("judged", "set", "system")
    caption = f"Of the first {found.depth} documents of each topic; what is not judged counts 0. Least judged first."
    return [Grid("judged", "How much is judged", caption, frame, folded=True)]
