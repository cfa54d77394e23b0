"""The charts of the owner's pages, from their figures."""

from __future__ import annotations

from collections.abc import Sequence

from judgewell.server.owner.charts import Chart, Line, bars, lines
from judgewell.server.owner.live_agreement import Scale
from judgewell.server.owner.live_analysis import Insight, Times
from judgewell.server.owner.pages import day, spell
from judgewell.server.queries.money import MoneyDetails
from judgewell.server.queries.progress import Bar, CheckBar
from judgewell.study.checks import check_words
from judgewell.text import counted


def done_chart(spans: Sequence[Bar]) -> Chart | None:
    """Units completed over time."""
    if not spans:
        return None
    labels = [day(bar.start, bar.seconds) for bar in spans]
    counts = [float(bar.done) for bar in spans]
    each = spell(spans[0].seconds)
    caption = f"Units completed per {each}: {sum(counts):,.0f} in total, at most {max(counts):,.0f} in one."
    return bars(
        "done", f"Units completed per {each}", caption, labels, [("good", "units completed", counts)], "from (UTC)"
    )


def money_charts(details: MoneyDetails) -> list[Chart]:
    """What the study had cost over time, against the budget; and pay for an hour, over assessors."""
    charts, money = [], details.money
    if details.spending:
        labels = [day(point.start, point.seconds) for point in details.spending]
        caption = f"Spending grew to {money.so_far:,.2f} {money.currency}"
        limit = f"; the line is the budget of {money.budget:,.2f}" if money.budget else ""
        values = [("good", f"spent, {money.currency}", [point.amount for point in details.spending])]
        title = f"Spent so far, in {money.currency}{limit}"
        charts.append(bars("spending", title, f"{caption}{limit}.", labels, values, "from (UTC)", money.budget))
    if details.hourly.median is not None:
        hourly = details.hourly
        labels = [f"{bar.low:g}–{bar.high:.4g}" for bar in hourly.bars]
        caption = f"Pay for an hour of {counted(hourly.assessors, 'assessor')}: {hourly.median:,.2f} {money.currency} "
        caption += f"in the median, from {hourly.lowest:,.2f} to {hourly.highest:,.2f}."
        counts = [("good", "assessors", [float(bar.assessors) for bar in hourly.bars])]
        title = f"Assessors by pay per hour, in {money.currency}"
        charts.append(bars("hourly", title, caption, labels, counts, f"{money.currency} an hour"))
    return charts


def check_charts(spans: Sequence[CheckBar]) -> list[Chart]:
    """Every check over time: passed below, failed above."""
    charts = []
    for name in dict.fromkeys(bar.name for bar in spans):
        mine = {bar.start: bar for bar in spans if bar.name == name}
        width = spans[0].seconds
        places = range(int(min(mine) / width), int(max(mine) / width) + 1)
        row = [mine.get(place * width) for place in places]
        passed = [float(bar.passed) if bar else 0.0 for bar in row]
        failed = [float(bar.failed) if bar else 0.0 for bar in row]
        counts = f"{sum(passed):,.0f} passed and {sum(failed):,.0f} failed in all"
        caption = f"Check “{check_words(name)}” per {spell(width)}: {counts}."
        labels = [day(place * width, width) for place in places]
        stacks = [("good", "passed", passed), ("bad", "failed", failed)]
        title = f"{check_words(name).capitalize()} per {spell(width)}"
        charts.append(bars(f"check-{name}", title, caption, labels, stacks, "from (UTC)"))
    return charts


def settling_charts(insight: Insight) -> list[Chart]:
    """Agreement and stability as judgments came, for each scale."""
    return [
        _settling(place, scale)
        for place, scale in enumerate(insight.scales)
        if len(scale.steps) > 1 and any(step.tau is not None or step.alpha is not None for step in scale.steps)
    ]


def _settling(place: int, scale: Scale) -> Chart:
    tau = [(float(step.judgments), step.tau) for step in scale.steps if step.tau is not None]
    alpha = [(float(step.judgments), step.alpha) for step in scale.steps if step.alpha is not None]
    named = (
        ("first", "τ with the current order of gains", tau),
        ("second", f"agreement α ({scale.metric} metric)", alpha),
    )
    drawn = [Line(style, label, tuple(points)) for style, label, points in named if points]
    caption = f"As judgments on {scale.scale} came: " + "; ".join(
        f"{line.label} went from {line.points[0][1]:.2f} to {line.points[-1][1]:.2f}" for line in drawn
    )
    low = min([0.0, *(y for line in drawn for _, y in line.points)])
    return lines(
        f"settling-{place}",
        f"{scale.scale}: agreement and stability by number of judgments",
        f"{caption}.",
        drawn,
        "judgments",
        low=low,
    )


def time_charts(times: Times) -> list[Chart]:
    """Active time: how long answers took, and at which place of the unit."""
    if not times.answers:
        return []
    labels = [f"{bar.low:g}–{bar.high:g}" if bar.high is not None else f"over {bar.low:g}" for bar in times.bars]
    counts = [float(bar.answers) for bar in times.bars]
    caption = f"Active seconds of {counted(times.answers, 'answer')}, with the time for revisions."
    first = bars("times", "Answers by active seconds", caption, labels, [("good", "answers", counts)], "seconds")
    places = times.positions
    places_caption = f"Median active seconds by position in the unit, from {places[0].median:.0f} at the first to "
    places_caption += f"{places[-1].median:.0f} at the last."
    medians = [place.median for place in places]
    names = [str(place.position) for place in places]
    title = "Median active seconds by position in the unit"
    return [first, bars("places", title, places_caption, names, [("good", "median", medians)], "position")]
