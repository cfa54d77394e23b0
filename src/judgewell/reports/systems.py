"""The part on systems: who is better and how sure that is, under the gains and under every set of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from judgewell.analysis.conclusions import Choices, top_columns, without_noise_columns
from judgewell.analysis.conclusions import pairs_table as compared_pairs
from judgewell.analysis.conclusions import systems_table as compared_systems
from judgewell.analysis.text import changed_verdicts, skipped_text
from judgewell.charts.axes import squared
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.significance import DEFAULT_CORRECTION
from judgewell.comparison.worlds import Worlds
from judgewell.errors import JudgewellError, collect_notes, note
from judgewell.evaluation.settings import Settings
from judgewell.reports import system_findings
from judgewell.reports.parts import Figure, Finding, Grid, Part
from judgewell.reports.scoring import Scored
from judgewell.reports.sources import Sources
from judgewell.reports.system_figures import (
    counts_figure,
    differences_figure,
    matrix_figure,
    means_figure,
    ranks_figure,
    resamples_of,
    scatter_figures,
    taus_figure,
)
from judgewell.reports.system_findings import PAIR_TEST, UNCORRECTED
from judgewell.stats.means import no_spread_note
from judgewell.text import counted, plain

MOSTLY_JUDGED = 0.8  # of the first documents; below it the best system may be another once the rest is judged
NAMED_PAIRS = 3  # pairs that a sentence about changed verdicts names
GOAL_NOTE = (
    "The study asked about the documents on which its goal depends. Scores are estimates in which a document that it "
    "did not ask about counts with its predicted gain. The conclusion that counts is that of the goal."
)


def systems_part(sources: Sources, scored: Scored) -> Part:
    """Means, ranks, pairs, sets and measures."""
    main, several = scored.main, len(scored.main.systems) > 1 and len(scored.main.topics) > 1
    goal = sources.study.goal if sources.study else None
    every = goal is None or goal.decide == "order"  # a study that looked for the best says nothing about other pairs
    table = systems_table(scored, sources)
    under = next(iter(scored.sets))
    answer: list[Finding | None] = [system_findings.best(table, main.measure, under, len(main.topics))]
    if "top" in table.columns and (skipped := skipped_text(table)):
        answer.append(Finding(skipped, "systems"))
    if goal is not None and not every:
        table = table.drop("rank_low", "rank_high", "best", "p_top", "top", "ruled_out_by", strict=False)
        answer = [Finding(text) for text in goal.sentences]
    sentences: list[Finding | None] = []
    if len(scored.sets) > 1 and every:
        answer.append(system_findings.best_elsewhere(scored.sets, table))
    answer += [Finding(f"Systems could not be scored under {name}: {why}.") for name, why in scored.unscored.items()]
    notes = [*scored.notes]
    items: list[Figure | Grid] = [means_figure(table, scored)] if several and not main.biased else []
    if goal is not None and sources.judgments is not None:
        notes.append(GOAL_NOTE)
    if several and every:
        worlds = scored.widest
        pairs = pairs_table(main, sources)
        answer.append(system_findings.significant(pairs, table, under, sources.baseline))
        if "top" in table.columns:  # fewer topics show no ranks
            answer.append(system_findings.ranks(worlds.table(sources.level), under))
        items.append(ranks_figure(worlds, sources.level, table))
        if sources.baseline:
            items.append(differences_figure(pairs, sources.baseline, main.measure))
        else:
            items += [counts_figure(pairs, table), matrix_figure(worlds, pairs, table)]
        if len(scored.worlds) > 1:
            answer.append(system_findings.limits(scored.worlds))
            sentences.append(system_findings.noise(table))
            items += taus_figure(scored.worlds)
    if goal is None:  # which estimates the gains of the documents it did not ask about
        gaps = system_findings.unjudged(scored.own_judged, scored.depth)
        few = float(scored.own_judged["judged"].to_numpy().mean()) < MOSTLY_JUDGED
        if few:
            answer.insert(1, gaps)
        else:
            sentences.append(gaps)
    items.append(_systems_grid(table, scored))
    if several and every:
        items += [_worlds_grid(scored.worlds, sources.level, table), _pairs_grid(pairs, scored, sources.baseline)]
    users, shown = _users(sources, scored) if several and every else ([], [])
    sentences += users
    items += shown
    if len(scored.sets) > 1 and every:
        more, figures = _side_by_side(scored, sources)
        sentences += more
        items += figures
    if len(scored.measures) > 1 and several and every:
        others, grids = _other_measures(scored, sources, under)
        sentences += others
        items += [*grids, _measures(scored)]
    items += [_difficulty(scored), *_judged_grid(scored)]
    lead, rest = ([one for one in some if one is not None] for some in (answer, sentences))
    return Part("systems", "Systems", (*lead, *rest), tuple(items), tuple(notes), lead=len(lead))


def _users(sources: Sources, scored: Scored) -> tuple[list[Finding], list[Figure | Grid]]:
    """For how many users one system is better than another, where enough assessors judged the same documents."""
    from judgewell.analysis.users import DISSENT, UNDERSTATED, profile_chart, profile_points, user_pairs, user_profiles

    measure, table = sources.measures[0], sources.judgments
    known = table is not None and {"assessor", "unit", "kind"} <= set(table.columns)
    if table is None or not known or measure.cutoff is None or table["assessor"].null_count():
        return [], []
    try:
        with collect_notes():
            profiles = user_profiles(table)
            pairs = user_pairs(profiles, sources.runs, measure, Settings(), sources.level)
            points = profile_points(profiles)
    except JudgewellError:  # too few assessors, or a measure that these gains do not allow
        return [], []
    split = int(pairs["disagree"].sum())
    text = (
        f"In {split or 'none'} of the {pairs.height:,} pairs of systems at least {100 * DISSENT:.0f} % of the "
        f"{len(profiles.users):,} users disagree with the others about which is better. {UNDERSTATED}"
    )
    caption = (
        f"Share of users for whom the first system has the higher {measure} under their own gain profile, with a "
        "Wilson interval; the difference is that under the gains that all share."
    )
    about = (
        "Each line is an assessor: the gain of a document for them (up) by the gain that all share (across). Above the "
        "dashed line a document is more useful for them than for all."
    )
    grid = Grid(
        "user_pairs", "For how many users", caption, pairs.sort((pl.col("share") - 0.5).abs(), "first", "second")
    )
    figure = Figure("user_profiles", "Gain profiles of users", about, squared(profile_chart(points)), points)
    return [Finding(text, "user_pairs")], [figure, grid]


def systems_table(scored: Scored, sources: Sources) -> pl.DataFrame:
    """Each system's mean with its interval and ranks, whether it may be the best, its other measures."""
    from judgewell.comparison.top_sets import FEWEST_TOPICS, top_set

    main = scored.main
    table = pl.DataFrame({"system": main.systems, "mean": main.means})
    if len(main.topics) > 1 and not main.biased:
        over_topics = main.intervals(sources.level, sources.seed)
        ends = {"low": over_topics.low, "high": over_topics.high}
        table = table.with_columns(**ends).with_columns(pl.col(*ends).fill_nan(None))
        if text := no_spread_note(over_topics, main.systems):
            note(text)
    if scored.without_noise is not None:
        clean = scored.without_noise.intervals(sources.level, sources.seed)
        table = table.with_columns(**without_noise_columns(clean, main.limits))
    if scored.worlds:
        ranks = scored.widest.table(sources.level).select("system", "rank_low", "rank_high", "best")
        table = table.join(ranks, on="system", maintain_order="left")
    if scored.worlds and len(main.topics) >= FEWEST_TOPICS:
        top = top_set(main, alpha=sources.alpha, seed=sources.seed, executor=sources.executor)
        table = table.with_columns(**top_columns(top, main.systems))
    for name, scores in list(scored.measures.items())[1:]:
        means = pl.DataFrame({"system": scores.systems, name: scores.means})
        table = table.join(means, on="system", how="left", maintain_order="left")
    for name, scores in list(scored.sets.items())[1:]:
        means = pl.DataFrame({"system": scores.systems, f"mean under {name}": scores.means})
        table = table.join(means, on="system", how="left", maintain_order="left")
    table = table.join(scored.own_judged.select("system", "judged"), on="system", how="left", maintain_order="left")
    return table.sort("mean", "system", descending=[True, False])


def pairs_table(main: ScoreArray, sources: Sources) -> pl.DataFrame:
    """Every pair of systems, the better first, or every system against the baseline, as `judgewell compare` does."""
    pairs = compared_pairs(main, _choices(sources))
    return pairs.sort("mean_first", "mean_second", "first", "second", descending=[True, True, False, False])


def _choices(sources: Sources) -> Choices:
    return Choices(
        alpha=sources.alpha,
        level=sources.level,
        seed=sources.seed,
        baseline=sources.baseline,
        worlds=sources.worlds,
        executor=sources.executor,
    )


def _systems_grid(table: pl.DataFrame, scored: Scored) -> Grid:
    main = scored.main
    under = next(iter(scored.sets))
    caption = (
        f"{counted(table.height, 'system')} on {counted(len(main.topics), 'topic')} under {under}, best mean first"
    )
    if main.biased:
        caption += "; means have no interval, because drawn documents bias the score of one system"
    elif "low" in table.columns:
        caption += "; the 95 % interval is that of the mean over other topics"
    if "rank_low" in table.columns:
        caption += f". Plausible ranks come from {resamples_of(scored.widest)}"
    if "top" in table.columns:
        caption += "; the top set contains the best system with 95 % confidence, and each other system is ruled out "
        caption += "by the one named, which is most clearly better in the joint test"
    if "without_noise" in table.columns:
        caption += "; without noise: the estimate of what judgments without noise would give, with its interval"
    heads = {
        "mean": f"mean {main.measure}",
        "without_noise": f"{main.measure} without noise",
        "without_noise_low": "95 % from",
        "without_noise_high": "95 % to",
        "judged": f"judged of first {scored.depth}",
    }
    shown = tuple(name for name in table.columns if name not in ("best", "p_top"))  # files have them
    return Grid("systems", "Systems", caption + ".", table, shown, heads, "body")


def _worlds_grid(worlds: Mapping[str, Worlds], level: float, systems: pl.DataFrame) -> Grid:
    rows = []
    for over, one in worlds.items():
        middle, low, high = one.tau_interval(level)
        spread = float(one.spread.mean())
        row = {"other": over, "resamples": one.count, "sd of a mean": spread, "tau_b": middle, "low": low, "high": high}
        rows.append(row)
    title = "What limits the conclusion" if len(worlds) > 1 else "Stability of the ranking"
    caption = (
        "How much a system’s mean varies (s.d., mean over systems) over other judgments, other topics and "
        "both, and τ-b between the rankings there and the ranking of the data."
    )
    if "without_noise" in systems.columns:
        noise = float((systems["mean"] - systems["without_noise"]).mean())  # type: ignore[arg-type]
        caption += f" Noise in judgments moves the means of systems by {plain(noise, 4)} on average."
    return Grid("worlds", title, caption, pl.DataFrame(rows))


def _pairs_grid(pairs: pl.DataFrame, scored: Scored, baseline: str | None) -> Grid:
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
    order = f"each against {baseline}" if baseline else "the better first"
    caption = (
        f"{counted(pairs.height, 'pair')} of systems, {order}: difference of mean {scored.main.measure}; {PAIR_TEST}. "
        f"{UNCORRECTED}"
    )
    title = f"Every system against {baseline}" if baseline else "Every pair of systems"
    return Grid("pairs", title, caption, pairs, columns)


def _side_by_side(scored: Scored, sources: Sources) -> tuple[list[Finding | None], list[Figure | Grid]]:
    """The same systems under several gains or labels."""
    from judgewell.comparison.profiles import side_by_side

    main = scored.main
    if len(main.systems) < 2:
        return [], []
    table = side_by_side(scored.sets, alpha=sources.alpha, seed=sources.seed)
    items: list[Figure | Grid] = [*scatter_figures(scored, sources)]
    verdicts: list[str] = []
    caption = (
        f"{main.measure} of {counted(len(main.systems), 'system')} on the "
        f"{counted(len(main.topics), 'topic')} that all sets share; "
        "top sets: systems that may be the best (95 % confidence)."
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
        from judgewell.comparison.discrimination import DISCRIMINATION, discrimination_table

        counts = discrimination_table(
            scored.sets, None, "t", correction=DEFAULT_CORRECTION, alpha=sources.alpha, seed=sources.seed
        )
        caption = (
            f"Pairs of systems that differ significantly under each set, against {next(iter(scored.sets))} "
            f"({PAIR_TEST})."
        )
        shown = ("set", *DISCRIMINATION, "agreement", "kappa", "mcnemar_p")
        items.append(
            Grid(
                "discrimination",
                "Significant differences under several gains",
                caption,
                counts,
                shown,
            )
        )
        pairs = pl.concat(
            pairs_table(one, sources).select(pl.lit(name).alias("set"), pl.all()) for name, one in scored.sets.items()
        )
        verdicts = changed_verdicts(pairs, list(scored.sets), sources.baseline, NAMED_PAIRS)
    return [system_findings.similar(table), *(Finding(text, "discrimination") for text in verdicts)], items


def _other_measures(scored: Scored, sources: Sources, under: str) -> tuple[list[Finding], list[Grid]]:
    """Each measure after the first: its best systems, and every system's mean with its interval and the top set."""
    findings, grids = [], []
    for number, (measure, scores) in enumerate(list(scored.measures.items())[1:], 2):
        with collect_notes():  # that topics are few is in the finding
            table = compared_systems(scores, _choices(sources))
        if text := no_spread_note(scores.intervals(sources.level, sources.seed), scores.systems):
            note(text)
        table = table.drop("low", "high") if scores.biased else table
        name = f"systems_{number}"
        findings.append(replace(system_findings.best(table, measure, under, len(scores.topics)), source=name))
        caption = f"{measure} under {under}, best mean first; columns as in the table Systems."
        columns = ("system", "mean", "low", "high", "rank_low", "rank_high", "top", "ruled_out_by")
        grids.append(Grid(name, f"Systems by {measure}", caption, table, columns, {"mean": f"mean {measure}"}))
    return findings, grids


def _measures(scored: Scored) -> Grid:
    from judgewell.comparison.profiles import side_by_side

    table = side_by_side(scored.measures, common=True)
    caption = f"How similarly the measures rank the {counted(len(scored.main.systems), 'system')}."
    columns = ("first", "second", "tau_b", "tau_ap", "spearman", "rbo", "concordant", "discordant", "tied")
    return Grid("measures", "Measures against each other", caption, table, columns)


def _difficulty(scored: Scored) -> Grid:
    main = scored.main
    table = pl.DataFrame(
        {
            "topic": main.topics,
            "mean": main.values.mean(axis=0),
            "lowest": main.values.min(axis=0),
            "highest": main.values.max(axis=0),
        }
    ).sort("mean", "topic")
    caption = f"{main.measure} of each topic over {counted(len(main.systems), 'system')}, hardest first."
    return Grid("difficulty", "Difficulty of topics", caption, table)


def _judged_grid(scored: Scored) -> list[Grid]:
    frame = scored.judged.with_columns(unjudged=1 - pl.col("judged")).sort("judged", "set", "system")
    caption = (
        f"Share of the first {scored.depth} documents of each topic that are judged, lowest first; a document that is "
        "not judged counts 0."
    )
    return [Grid("judged", "How much is judged", caption, frame)]
