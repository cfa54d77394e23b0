"""A comparison as text: the tables with the sentences that say what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from judgewell.analysis.users import users_text
from judgewell.comparison.discrimination import DISCRIMINATION
from judgewell.comparison.scores import listed
from judgewell.terminal import frame_text, number, prose, text_table
from judgewell.text import agrees, count, listing

if TYPE_CHECKING:
    from judgewell.analysis.conclusions import Choices, Comparison
    from judgewell.analysis.scores import Sets
    from judgewell.comparison.scores import ScoreArray
    from judgewell.comparison.worlds import Worlds

SHOWN = 25  # rows of a table that are printed
BEST_ONLY = "; those with the best system (--pairs prints all):"
BEST = 6  # systems whose order is spelled out
SYSTEMS = ("system", "mean", "low", "high", "without_noise", "rank_low", "rank_high", "top", "ruled_out_by")
INTERVALS = {
    "bootstrap": "symmetric studentised bootstrap",
    "t": "Student's t",
    "normal": "normal",
    "exact": "Clopper and Pearson",
}
PAIRS = ("first", "second", "difference", "low", "high", "effect", "wins", "losses", "p")


def comparison_text(comparison: Comparison, every_pair: bool = False) -> str:
    """All that is printed, measure by measure."""
    if "calibration" in comparison.tables:
        return "\n\n".join(_with_machine(comparison, measure, every_pair) for measure in comparison.scores)
    return "\n\n".join(_of_measure(comparison, measure, every_pair) for measure in comparison.scores)


def _of_measure(comparison: Comparison, measure: str, every_pair: bool) -> str:
    choices, sets, worlds = comparison.choices, comparison.scores[measure], comparison.worlds[measure]
    first = next(iter(sets.values()))
    tables = {
        name: table.filter(pl.col("measure") == measure)
        for name, table in comparison.tables.items()
        if "measure" in table.columns
    }
    head = f"{measure} of {len(first.systems)} systems on {len(first.topics)} topics"
    if len(sets) == 1 and "top" in tables["systems"].columns:
        sentences = [best_text(tables["systems"], choices), skipped_text(tables["systems"])]
        head += "".join(f"\n{prose(sentence)}" for sentence in filter(None, sentences))
    if choices.separate:  # the question asked; -o writes the other tables
        parts = _separation(tables, choices, len(first.topics))
    else:
        parts = [head, _systems(tables["systems"], sets, worlds, choices)]
        if "sets" in tables:
            parts.append(_sets(tables["sets"]))
        if "discrimination" in tables:
            parts.append(_discrimination(tables["discrimination"], choices))
    if "pairs" in tables and (every_pair or not choices.separate):
        parts.append(_pairs(tables["pairs"], list(sets), choices, every_pair))
    if len(worlds) > 1 and not choices.separate:
        parts.append(_worlds(tables, worlds, choices.level))
    if "user pairs" in tables:
        users = comparison.tables["users"]
        most = None if every_pair else SHOWN
        parts.append(users_text(users, tables["user pairs"].drop("measure"), users["reliability"][0], most))
    return "\n\n".join(parts)


def _with_machine(comparison: Comparison, measure: str, every_pair: bool) -> str:
    """What people's gains of some documents and a machine's labels of all say of one measure."""
    tables = {name: table.filter(pl.col("measure") == measure) for name, table in comparison.tables.items()}
    systems, pairs, made = tables["systems"].drop("measure"), tables["pairs"].drop("measure"), tables["calibration"]
    of, level = made.row(0, named=True), f"{100 * comparison.choices.level:g} %"
    head = (
        f"{measure} of {len(systems)} systems on {of['topics']} topics, from the machine's labels and the "
        f"{of['judged']:,} of {of['documents']:,} documents that people judged"
    )
    if len(pairs) and not comparison.choices.baseline and of["standard_error"] is not None:
        best = systems["system"][0]
        others = pairs.filter((pl.col("first") == best) | (pl.col("second") == best))
        here, beyond = (int(others[name].sum()) for name in ("significant", "significant_topics"))
        head += "\n" + prose(
            f"{best} has the highest mean. It differs significantly from {here} of the {len(others)} other systems on "
            f"these topics, and from {beyond} on topics like these ({level} intervals, not corrected for the number "
            "of pairs)."
        )
    whole = systems.select(name for name in systems.columns if not systems[name].is_null().all())
    parts = [f"{head}\n\n{frame_text(whole, SHOWN)}"]
    if of["standard_error"] is None:
        return f"{parts[0]}\nNo interval: see the note."
    parts[0] += "\n" + prose(
        f"low, high: {level} interval for these topics; topics_low, topics_high: for topics like these. machine: the "
        "labels alone. order: the system's place by both together, closest to the true order, without an interval."
    )
    narrower = of["standard_error"] / of["people_alone"] if of["people_alone"] else 1.0
    off = (
        f"The labels alone are off by {of['machine_bias']:+.4f} on average over systems. "
        if of["machine_bias"] is not None
        else ""
    )
    parts.append(prose(f"{off}With the labels, intervals are {narrower:.2f} times as wide as from people alone."))
    if tables["needed"].height:
        parts.append(
            "Documents that people judge until the typical interval of a mean, and of a difference of two systems, is "
            f"± width (an estimate):\n{frame_text(tables['needed'].drop('measure'))}"
        )
    if len(pairs):
        here, beyond = int(pairs["significant"].sum()), int(pairs["significant_topics"].sum())
        shown = (
            pairs if every_pair or comparison.choices.baseline else pairs.filter(pl.col("first") == pairs["first"][0])
        )
        rest = "" if len(shown) == len(pairs) else BEST_ONLY
        parts.append(
            f"{here:,} of {len(pairs):,} pairs of systems differ on these topics, {beyond:,} on topics like these "
            f"({level} intervals, no correction){rest}\n{frame_text(shown, SHOWN)}"
        )
    return "\n\n".join(parts)


def _systems(table: pl.DataFrame, sets: Sets, worlds: Mapping[str, Worlds], choices: Choices) -> str:
    """Means side by side, best first by the first set; with one set also intervals and ranks."""
    names = list(sets)
    if len(names) > 1:
        sizes = _set_sizes(table, names, choices) if "top" in table.columns else ""
        return _under_each(table, sets, choices.level) + sizes
    biased = sets[names[0]].biased
    hidden = [*(["low", "high"] if biased else []), *[name for name in table.columns if table[name].is_null().all()]]
    text = frame_text(table.select([name for name in SYSTEMS if name in table.columns and name not in hidden]), SHOWN)
    if "low" not in table.columns:
        return f"{text}\nOne topic allows no interval and no test."
    over = "judgments and topics" if "both" in worlds else "topics"
    level = f"{100 * choices.level:g} %"
    kinds = sets[names[0]].intervals(choices.level, choices.seed).kind
    how = " or ".join(words for kind, words in INTERVALS.items() if kind in kinds)
    meaning = f"low, high: {level} interval of the mean over topics{f' ({how})' if how else ''}; "
    if biased:
        meaning = "Means have no interval: drawn documents bias the score of one system. "
    meaning += f"rank_low, rank_high: interval of the rank over resampled {over}"
    if "top" in table.columns:
        others = "all other systems" if choices.top_test == "joint" else "the best one"
        meaning += (
            f"; top: in the set that contains the best system, by a test against {others}; ruled_out_by: the system "
            "that is most clearly better in this test. Ranks and top can disagree: cite top for which system is best"
        )
    return f"{text}\n{prose(meaning + '.')}"


def _under_each(table: pl.DataFrame, sets: Sets, level: float) -> str:
    """Each system's mean, interval and rank under each set, best first by the first set; * in its top set."""
    header, columns = ["system"], []
    for name, scores in sets.items():
        part = table.filter(pl.col("set") == name).with_columns(rank=pl.col("mean").rank("min", descending=True))
        rows = {row["system"]: row for row in part.iter_rows(named=True)}
        columns.append(rows)
        header += [name, *([f"{100 * level:g} %"] if _has_intervals(part, scores) else []), "rank"]
    lines = []
    for system in columns[0]:
        cells = [system]
        for rows, scores in zip(columns, sets.values(), strict=True):
            row = rows[system]
            cells.append(number(row["mean"]))
            if _has_intervals(table, scores):
                ends = (row["low"], row["high"])
                cells.append("—" if None in ends else f"[{number(ends[0])}, {number(ends[1])}]")
            cells.append(f"{row['rank']}{'*' if row.get('top') else ' '}")
        lines.append(cells)
    more = f"\n… {len(lines) - SHOWN} more rows" if len(lines) > SHOWN else ""
    return text_table(header, lines[:SHOWN]) + more


def _has_intervals(table: pl.DataFrame, scores: ScoreArray) -> bool:
    return "low" in table.columns and not scores.biased


def best_text(table: pl.DataFrame, choices: Choices) -> str:
    """Which systems may be the best, in words."""
    top = table.filter("top")["system"].to_list()
    which = listed(top, "systems", 8)
    if choices.top_test != "joint":
        return f"Not significantly different from the best ({choices.top_test} test): {which}."
    sure = f"With {100 * (1 - choices.alpha):g} % confidence the best system is"
    return f"{sure} {which}." if len(top) == 1 else f"{sure} one of these {len(top)}: {which}."


def skipped_text(table: pl.DataFrame) -> str:
    """Why systems are outside the top set although their mean is above that of one inside it, where there are any."""
    last = table.filter("top").sort("mean", "system", descending=[True, False]).row(-1, named=True)
    skipped = table.filter(~pl.col("top"), pl.col("mean") > last["mean"]).sort(
        "mean", "system", descending=[True, False]
    )
    if skipped.is_empty():
        return ""
    several, rivals = skipped.height > 1, skipped["ruled_out_by"].unique(maintain_order=True).to_list()
    are, means, them = ("are", "their means are", "them") if several else ("is", "its mean is", "it")
    better = f"{rivals[0]} is significantly better than {them}"
    if len(rivals) > 1:
        better = f"for each of them another system is significantly better ({listing(rivals)})"
    return (
        f"{listing(skipped['system'].to_list())} {are} not in the top set although {means} above that of "
        f"{last['system']}: {better}, but no system is significantly better than {last['system']}, because its "
        "differences from other systems vary more over topics."
    )


def _set_sizes(table: pl.DataFrame, names: Sequence[str], choices: Choices) -> str:
    sizes = ", ".join(f"{name} {table.filter((pl.col('set') == name) & pl.col('top')).height}" for name in names)
    what = "may be the best" if choices.top_test == "joint" else "do not differ significantly from the best"
    return f"\nSystems that {what} (*): {sizes}"


def _sets(table: pl.DataFrame) -> str:
    columns = ["first", "second", "tau_b", "tau_a", "tau_ap", "spearman", "rbo", "concordant", "discordant", "tied"]
    shown = table.select(*columns, pl.col("top_jaccard").alias("top overlap"))
    head = "How similarly the sets rank the systems (RBO: p = 0.9; top overlap: Jaccard)"
    return f"{head}\n{frame_text(shown, SHOWN)}"


def _discrimination(table: pl.DataFrame, choices: Choices) -> str:
    pairs, reference = table["pairs"][0], table["reference"][0]
    shown = table.select("set", *DISCRIMINATION, "agreement", "kappa", "mcnemar_p").rename(
        {"significant_both": "both", "only_this_set": "only this set", "only_reference": f"only {reference}"}
    )
    head = f"Significant differences among {pairs} pairs of systems ({_test(choices)}), against {reference}"
    meaning = (
        f"significant: pairs that differ under the set; both: under the set and under {reference}; opposite: under "
        f"both, but with the other system better; only this set, only {reference}: under one of them; neither: under "
        "neither."
    )
    return f"{prose(head)}\n{frame_text(shown)}\n{prose(meaning)}"


def _pairs(table: pl.DataFrame, names: Sequence[str], choices: Choices, every_pair: bool) -> str:
    """How many pairs differ; every pair where asked for, else those of the baseline or of the best system."""
    one = table.filter(pl.col("set") == names[0])
    columns = [*PAIRS, "p_corrected"] if choices.correction != "none" else list(PAIRS)
    of = f" under {names[0]}" if len(names) > 1 else ""
    against = f" against {choices.baseline}" if choices.baseline else ""
    count = int(one["significant"].sum())
    text = f"{count} of {len(one)} pairs of systems{of}{against} differ significantly ({_test(choices)})"
    if every_pair or choices.baseline:
        rows = one.sort("difference", "first", "second", descending=[True, False, False])
        sentences = changed_verdicts(table, names, choices.baseline) if choices.baseline else []
        changes = "".join(f"\n{prose(sentence)}" for sentence in sentences)
        return f"{prose(text)}\n{frame_text(rows.select(columns))}{_meaning_of_pairs(choices)}{changes}"
    best = one.sort("mean_first", "first", descending=[True, False])["first"][0]
    rows = one.filter((pl.col("first") == best) | (pl.col("second") == best))
    rows = rows.sort("mean_second", "second", descending=[True, False])
    rest = "" if len(rows) == len(one) else BEST_ONLY
    return f"{prose(text + rest)}\n{frame_text(rows.select(columns), SHOWN)}{_meaning_of_pairs(choices)}"


def _meaning_of_pairs(choices: Choices) -> str:
    how = "Student's t" if choices.test == "t" else "by the rules for a mean"
    text = f"low, high: {100 * choices.level:g} % interval of the difference over topics ({how})"
    if choices.correction != "none":
        text += ", not corrected for the number of pairs; p_corrected is corrected and decides what is significant"
    return f"\n{prose(text + '.')}"


def changed_verdicts(table: pl.DataFrame, names: Sequence[str], baseline: str | None, most: int = SHOWN) -> list[str]:
    """For every other set a sentence: which pairs (systems, with a baseline) differ significantly the same way under it
    and the first set, under only one of them, or the other way round; `most` of each are named, the best first."""
    first, *others = names
    one = _verdicts(table.filter(pl.col("set") == first), baseline)
    what, units = ("other systems", "systems") if baseline else ("pairs of systems", "pairs")
    sentences = []
    for other in others:
        two = _verdicts(table.filter(pl.col("set") == other), baseline)
        changed = {
            f"only under {first}": [_pair_text(pair, one, baseline) for pair in one if one[pair] and not two[pair]],
            f"only under {other}": [_pair_text(pair, two, baseline) for pair in two if two[pair] and not one[pair]],
            "in opposite directions": [_pair_text(pair, one, baseline) for pair in one if one[pair] * two[pair] < 0],
        }
        same = sum(one[pair] * two[pair] > 0 for pair in one)
        differ = f"{agrees(same, 'differs', 'differ')} significantly{f' from {baseline}' if baseline else ''}"
        counts = [f"{count(same) if same else 'none'} {differ} the same way under {first} and {other}"]
        counts += [
            f"{count(len(which))} {where} ({listed(which, units, most)})" for where, which in changed.items() if which
        ]
        sentences.append(f"Of {count(len(one))} {what}, {'; '.join(counts)}.")
    return sentences


def _verdicts(pairs: pl.DataFrame, baseline: str | None) -> dict[tuple[str, str], int]:
    """For each pair, its names in one order, which is significantly better: 1 the first, -1 the second, 0 neither."""
    verdict = pl.col("difference").sign().cast(pl.Int8) * pl.col("significant").cast(pl.Int8)
    best_first = pairs.sort("mean_first", "mean_second", "first", "second", descending=[True, True, False, False])
    rows = best_first.select("first", "second", verdict).iter_rows()
    return {(a, b) if baseline or a < b else (b, a): sign if baseline or a < b else -sign for a, b, sign in rows}


def _pair_text(pair: tuple[str, str], verdicts: Mapping[tuple[str, str], int], baseline: str | None) -> str:
    """The system that is compared with the baseline, or the better system of a pair before the other."""
    return pair[0] if baseline else " above ".join(pair if verdicts[pair] > 0 else pair[::-1])


def _worlds(tables: Mapping[str, pl.DataFrame], worlds: Mapping[str, Worlds], level: float) -> str:
    """What limits the conclusion, and how sure the order of the best systems is."""
    systems, pairs = tables["systems"], tables["pairs"]
    rows = []
    for over, one in worlds.items():
        middle, low, high = one.tau_interval(level)
        spread = float(one.spread.mean())
        rows.append(
            {"other": over, "worlds": one.count, "sd of a mean": spread, "tau_b": middle, "low": low, "high": high}
        )
    limit = max(("judgments", "topics"), key=lambda over: worlds[over].spread.mean())
    lines = [frame_text(pl.DataFrame(rows)), f"The {limit} limit the conclusion more: means vary more with them."]
    if "without_noise" in systems.columns:
        noise = float((systems["mean"] - systems["without_noise"]).mean())  # type: ignore[arg-type]
        lines.append(f"Noise in judgments moves means by {noise:+.4f}; without_noise is the estimate without it.")
    best = worlds["both"].table(level)["system"].to_list()[:BEST]
    for first, second in pairwise(best):
        shares = ", ".join(f"{100 * one.above(first, second):.1f} % ({over})" for over, one in worlds.items())
        text = f"{first} is above {second} in {shares} of the worlds{_clean_difference(pairs, first, second)}."
        lines.append(prose(text))
    return "\n".join(lines)


def _clean_difference(pairs: pl.DataFrame, first: str, second: str) -> str:
    """The difference without judgment noise of a pair that is in the table, in words."""
    here = pairs.filter((pl.col("first") == first) & (pl.col("second") == second))
    if "without_noise" not in pairs.columns or here.is_empty():
        return ""
    gap, low, high = here.select("without_noise", "without_noise_low", "without_noise_high").row(0)
    return f"; difference without judgment noise {gap:.4f} [{low:.4f}, {high:.4f}]"


def _separation(tables: Mapping[str, pl.DataFrame], choices: Choices, topics: int) -> list[str]:
    """How many topics, and with judgments how many of each document, separate the two systems."""
    first, second = choices.separate or ("", "")
    table = tables["topics needed"]
    first_set = tables["systems"].unique("system", keep="first", maintain_order=True)
    means = dict(first_set.select("system", "mean").rows())
    enough = table.filter("enough")["topics"].to_list()
    answer = f"about {min(enough)} topics" if enough else f"more than {table['topics'].to_list()[-1]} topics"
    head = prose(
        f"{table['measure'][0]} of {first} is {number(means[first])}, of {second} {number(means[second])} "
        f"({topics} topics). If this difference is the true one, a study needs {answer} like these to find it "
        f"significant with a probability of 80 % ({choices.test} test, alpha {choices.alpha:g})."
    )
    meaning = prose(
        "found: the share of simulated studies with this many topics in which the difference is significant; wrong: "
        "significant, but in the other direction; enough: found is at least 80 %."
    )
    parts = [f"{head}\n\n{frame_text(table.drop('measure'))}\n{meaning}"]
    if "judgments needed" in tables and len(tables["judgments needed"]):
        head = f"How often {first} is above {second} on these topics, by the number of judgments of each document"
        meaning = prose(
            f"above: the share of simulated studies in which {first} is above {second}; difference: the mean of their "
            "difference; sd: its standard deviation over simulated studies."
        )
        parts.append(f"{head}\n\n{frame_text(tables['judgments needed'].drop('measure'))}\n{meaning}")
    return parts


def _test(choices: Choices) -> str:
    corrections = {"none": "no correction", "holm": "Holm's correction", "bh": "Benjamini–Hochberg"}
    return f"{choices.test} test, alpha {choices.alpha:g}, {corrections[choices.correction]}"
