"""Which assessors deserve a second look, and the numbers that say so.

Evidence is for a person to weigh: what was seen, of how much, and what is usual. No one is excluded by it alone.

Usual is what assessors do who are not conspicuous at first sight, so that a few who click at random or upside down do
not make each other look usual. docs/evidence/suspicion.md says how often each kind of assessor is shown, and careful
ones wrongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError, collect_notes
from judgewell.text import count, counted, percent

LEAST = 6  # judgments before anything is said of somebody
FASTER = 4  # times faster than usual is too fast
SAME = 0.9  # one answer, or one comment, in so many of all
AGAINST = -1.28  # standard errors below no relation at all: reversed
LEAST_PAIRS = 10  # pairs of documents that tell an order; fewer may all be pairs of one document
UNLIKE = -2.33  # standard errors below the usual relation: unlike the others
CHANCE = 0.01  # of as many failures, or answers alike, by somebody like the others
TOGETHER = -2.45  # standard errors below the usual in order, known documents and time together
FEWEST = 4  # people among whom somebody can be unusual
ENOUGH = 8  # people from whom a usual spread is reckoned
LEAST_PACE, LEAST_ORDER = 0.3, 0.65  # spreads of times (logarithms) and of orders (standard errors): never less
KNOWN = ("known", "known_pairs")
KINDS = (  # of reasons, those first that say most about the judgments themselves
    "reversed",
    "known documents",
    "unlike the others",
    "careless overall",
    "failed checks",
    "too fast",
    "constant",
    "one comment",
)


@dataclass(frozen=True)
class Reason:
    """Why somebody deserves a second look: its kind, the sentence, the number, and the usual one."""

    kind: str  # one of KINDS
    sentence: str
    value: float
    usual: float
    of: int  # judgments, comments, pairs or checks it rests on


@dataclass(frozen=True)
class Person:
    """What is known of an assessor's work."""

    assessor: str
    judgments: int
    seconds: float | None  # median active time before any revision; with revisions where only that is known
    same: float | None  # share of the commonest answer
    alike: float | None  # share of the pairs of documents, ties apart, that are ordered as the others order them
    tau: float | None  # 2 alike − 1 (Goodman and Kruskal's γ)
    known_failed: int
    known_of: int
    evidence: tuple[Reason, ...]


@dataclass(frozen=True)
class Usual:
    """What is usual in this study: medians over assessors, and shares of all checks.

    `same` is the share of the commonest answers of the assessors who gave more than one answer. `pace` is the spread of
    assessors' median times, as logarithms; `order` that of their orders, in the standard errors of no relation.
    Either is None where too few people are there to tell.
    """

    seconds: float | None
    same: float | None
    alike: float | None
    tau: float | None
    known: float | None
    checks: float | None
    pace: float | None
    order: float | None


def people(
    judgments: pl.DataFrame | None = None, pairs: pl.DataFrame | None = None, verdicts: pl.DataFrame | None = None
) -> tuple[list[Person], Usual]:
    """Everybody with an answer or a verdict, with the evidence, and what is usual.

    `judgments` has topic, doc, assessor, scale, value, comparable (values that can be compared between assessors)
    and first (the active seconds before any revision) or seconds (with revisions); `pairs` has topic, left, right,
    assessor, preferred and first or seconds. Either may have comment, and compared: false where an answer says nothing
    about order and variety, such as on a known document that everybody had to order to pass. `verdicts` has assessor,
    check, passed and attempt. The time before any revision tells more: who answers too fast is asked to read again, and
    then has taken time.
    """
    checks = _NO_CHECKS if verdicts is None else verdicts
    facts = _facts(judgments, pairs).join(_checked(checks), on="assessor", how="full", coalesce=True)
    counts = pl.col("judgments", "answers", "known_failed", "known_of", "failed", "of")
    facts = facts.with_columns(counts.fill_null(0))
    usual = _usual(facts)
    plain = [not _stands_out(_numbers(row), usual) for row in facts.iter_rows(named=True)]
    if 2 * sum(plain) > len(plain):  # what few do is not usual
        usual = _usual(facts.filter(pl.Series(plain, dtype=pl.Boolean)))
    return [_person(row, usual) for row in facts.sort("assessor").iter_rows(named=True)], usual


_NO_CHECKS = pl.DataFrame(schema={"assessor": pl.String, "check": pl.String, "passed": pl.Boolean, "attempt": pl.Int64})


def _facts(judgments: pl.DataFrame | None, pairs: pl.DataFrame | None) -> pl.DataFrame:
    answers, compared = [], []
    if judgments is not None:
        answers.append(_answers(judgments, pl.col("value").cast(pl.String)))
        compared.append(_order_of_documents(judgments))
    if pairs is not None:
        answers.append(_answers(pairs, pl.col("preferred")))
        compared.append(_order_of_pairs(pairs))
    comment = pl.col("comment").drop_nulls()
    plain = (
        pl.concat(answers)
        .group_by("assessor")
        .agg(
            judgments=pl.len().cast(pl.Int64),
            answers=pl.col("answer").count().cast(pl.Int64),
            seconds=pl.col("seconds").median(),
            first=pl.col("first").all(),
            same=pl.col("answer").drop_nulls().unique_counts().max() / pl.col("answer").count(),
            answer=pl.col("answer").drop_nulls().mode().sort().first(),
            comments=comment.len().cast(pl.Int64),
            same_comment=comment.unique_counts().max().cast(pl.Int64),
        )
    )
    order = pl.concat(compared).group_by("assessor").agg(pl.col("agree", "disagree", "pairs", "variance").sum())
    return plain.join(order, on="assessor", how="left").with_columns(
        tau=pl.when(pl.col("pairs") > 0).then((pl.col("agree") - pl.col("disagree")) / pl.col("pairs")),
        error=pl.when(pl.col("pairs") > 0).then(pl.col("variance").sqrt() / pl.col("pairs")),
    )


def _answers(table: pl.DataFrame, answer: pl.Expr) -> pl.DataFrame:
    comment = "comment" if "comment" in table.columns else pl.lit(None, pl.String).alias("comment")
    first = "first" in table.columns
    time = pl.col("first" if first else "seconds").alias("seconds"), pl.lit(first).alias("first")
    return table.select("assessor", *time, comment, pl.when(_compared(table)).then(answer).alias("answer"))


def _compared(table: pl.DataFrame) -> pl.Expr:
    return pl.col("compared") if "compared" in table.columns else pl.lit(True)


_ORDER: dict[Any, Any] = {
    "assessor": pl.String,
    "agree": pl.Int64,
    "disagree": pl.Int64,
    "pairs": pl.Int64,
    "variance": pl.Float64,
}


def _order_of_documents(judgments: pl.DataFrame) -> pl.DataFrame:
    """Pairs of documents that each assessor orders as the others do and the other way, ties apart.

    Without any relation agree − disagree has the variance n (n − 1)(2n + 5) / 18 for n documents (Kendall), here of
    each topic, times the share of pairs that are not tied.
    """
    from judgewell.agreement.assessors import against_the_rest

    tables = []
    for _, part in judgments.filter(_compared(judgments)).group_by("scale", maintain_order=True):
        table = part.select("topic", "doc", "assessor", pl.col("comparable").alias("value"))
        try:
            with collect_notes():
                tables.append(against_the_rest(table, least_documents=LEAST))
        except DataError:  # nobody shares enough documents with others yet: nothing can be said
            continue
    if not tables:
        return pl.DataFrame(schema=_ORDER)
    each = pl.col("documents") / pl.col("topics")
    untied = pl.col("agree") + pl.col("disagree")
    variance = pl.col("topics") * each * (each - 1) * (2 * each + 5) / 18 * untied / pl.col("pairs")
    return (
        pl.concat(tables)
        .filter(untied > 0)
        .select("assessor", "agree", "disagree", untied.alias("pairs"), variance.alias("variance"))
        .cast(_ORDER)
    )


def _order_of_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Preferences that agree with how often the others preferred the two documents, and those that do not."""
    chosen = pairs.filter(_compared(pairs), pl.col("preferred").is_in(["left", "right"])).with_columns(
        winner=pl.when(preferred="left").then("left").otherwise("right"),
        loser=pl.when(preferred="left").then("right").otherwise("left"),
    )
    sides = pl.concat(
        [
            chosen.select("topic", "assessor", pl.col("winner").alias("doc"), pl.lit(1.0).alias("won")),
            chosen.select("topic", "assessor", pl.col("loser").alias("doc"), pl.lit(0.0).alias("won")),
        ]
    )
    own = sides.group_by("topic", "doc", "assessor").agg(won=pl.col("won").sum(), of=pl.len())
    rest = own.with_columns(
        rate=(pl.col("won").sum().over("topic", "doc") - pl.col("won"))
        / (pl.col("of").sum().over("topic", "doc") - pl.col("of"))
    ).select("topic", "doc", "assessor", "rate")
    keys = ["topic", "assessor"]
    rates = chosen.join(rest, left_on=[*keys, "winner"], right_on=[*keys, "doc"]).join(
        rest, left_on=[*keys, "loser"], right_on=[*keys, "doc"], suffix="_loser"
    )
    untied = rates.filter(
        pl.col("rate").is_finite(), pl.col("rate_loser").is_finite(), pl.col("rate") != pl.col("rate_loser")
    )
    return (
        untied.group_by("assessor")
        .agg(
            agree=(pl.col("rate") > pl.col("rate_loser")).sum(),
            disagree=(pl.col("rate") < pl.col("rate_loser")).sum(),
            pairs=pl.len(),
            variance=pl.len(),  # each pair is ±1
        )
        .filter(pl.col("pairs") >= LEAST)
        .cast(_ORDER)
    )


def _checked(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Failures and checks; of known documents first tries only, because who fails a unit once often does so again."""
    known = pl.col("check").is_in(KNOWN)
    tried = known & (pl.col("attempt") == 1)
    failed = ~pl.col("passed")
    return verdicts.group_by("assessor").agg(
        known_failed=(tried & failed).sum().cast(pl.Int64),
        known_of=tried.sum().cast(pl.Int64),
        failed=(~known & failed).sum().cast(pl.Int64),
        of=(~known).sum().cast(pl.Int64),
    )


def _usual(facts: pl.DataFrame) -> Usual:
    enough = facts.filter(pl.col("judgments") >= LEAST)

    def middle(name: str) -> float | None:
        median = enough[name].median()
        return float(median) if isinstance(median, int | float) else None

    def share(part: str, whole: str) -> float | None:
        total = int(facts[whole].sum())
        return int(facts[part].sum()) / total if total else None

    seconds, tau = middle("seconds"), middle("tau")
    times = enough.filter(pl.col("seconds") > 0)["seconds"].log() - np.log(seconds) if seconds else pl.Series([0.0])
    orders = enough.select((pl.col("tau") - tau) / pl.col("error")).to_series() if tau is not None else pl.Series([0.0])
    return Usual(
        seconds,
        _usual_same(enough.filter(pl.col("same") < 1)),
        None if tau is None else (1 + tau) / 2,
        tau,
        share("known_failed", "known_of"),
        share("failed", "of"),
        _spread(times, LEAST_PACE),
        _spread(orders, LEAST_ORDER),
    )


def _usual_same(varied: pl.DataFrame) -> float | None:
    same, answers = varied["same"].to_numpy(), varied["answers"].to_numpy()
    return float((same * answers).sum() / answers.sum()) if varied.height else None


def _spread(around: pl.Series, least: float) -> float | None:
    """The root of the mean square, and not less than `least`: people are never all alike."""
    distances = around.drop_nulls().drop_nans().sort().to_numpy()  # sums do not depend on who came first
    return max(least, float(np.sqrt(np.mean(distances**2)))) if len(distances) >= ENOUGH else None


def _numbers(row: dict[str, object]) -> dict[str, float]:
    return {name: float(value) if isinstance(value, int | float) else np.nan for name, value in row.items()}


def _stands_out(number: dict[str, float], usual: Usual) -> bool:
    """Whether somebody is so far from the others that they say nothing about what is usual."""
    return any((_fast(number, usual), _order(number, usual), *_failures(number, usual)))


def _person(row: dict[str, object], usual: Usual) -> Person:
    number = _numbers(row)
    alike = _constant(row, number, usual), _one_comment(number)
    seen = [_fast(number, usual), *alike, _order(number, usual), *_failures(number, usual)]
    evidence = [one for one in seen if one is not None]
    in_sum = None if evidence else _in_sum(number, usual)
    return Person(
        str(row["assessor"]),
        int(number["judgments"]),
        _or_none(number["seconds"]),
        _or_none(number["same"]),
        _or_none((1 + number["tau"]) / 2),
        _or_none(number["tau"]),
        int(number["known_failed"]),
        int(number["known_of"]),
        (*evidence, *([in_sum] if in_sum is not None else [])),
    )


def _fast(number: dict[str, float], usual: Usual) -> Reason | None:
    if usual.seconds is None or number["judgments"] < LEAST or not number["seconds"] < usual.seconds / FASTER:
        return None
    return Reason("too fast", _pace(number, usual.seconds), number["seconds"], usual.seconds, int(number["judgments"]))


def _pace(number: dict[str, float], usual: float) -> str:
    when = "before any revision" if number["first"] == 1 else "with the time for revisions"
    return f"median of {number['seconds']:.1f} s per answer, {when} (usually {usual:.1f} s)"


def _constant(row: dict[str, object], number: dict[str, float], usual: Usual) -> Reason | None:
    if usual.same is None or not (number["answers"] >= LEAST and number["same"] >= SAME):
        return None
    answer = str(row["answer"]).removesuffix(".0")
    of = int(number["answers"])
    if _chance(round(number["same"] * of), of, usual.same) > CHANCE / 10:
        return None
    usually = f"the most frequent answer usually makes up {percent(usual.same, 0)}"
    sentence = f"{answer} in {percent(number['same'], 0)} of {of} answers; {usually}"
    return Reason("constant", sentence, number["same"], usual.same, of)


def _one_comment(number: dict[str, float]) -> Reason | None:
    same, of = number["same_comment"], number["comments"]
    if not (of >= LEAST and same >= SAME * of):
        return None
    return Reason("one comment", f"the same comment with {same:.0f} of {of:.0f} answers", same / of, 0.0, int(of))


def _order(number: dict[str, float], usual: Usual) -> Reason | None:
    tau, error = number["tau"], number["error"]
    if usual.tau is None or usual.alike is None or np.isnan(tau) or not error > 0:
        return None
    pairs = int(number["pairs"])
    if pairs < LEAST_PAIRS:
        return None
    alike = int(number["agree"]) / pairs
    if tau / error <= AGAINST:
        return Reason("reversed", _ordered(number, usual), alike, usual.alike, pairs)
    if tau < usual.tau / 2 and (tau - usual.tau) / error <= UNLIKE:
        return Reason("unlike the others", _ordered(number, usual), alike, usual.alike, pairs)
    return None


def _ordered(number: dict[str, float], usual: Usual) -> str:
    agree, pairs = int(number["agree"]), int(number["pairs"])
    share = f"{percent(agree / pairs, 0)}; usually {percent(usual.alike, 0)}"
    return f"ordered {count(agree)} of {counted(pairs, 'pair')} of documents as the others do ({share})"


def _failures(number: dict[str, float], usual: Usual) -> list[Reason | None]:
    failed, of = int(number["known_failed"]), int(number["known_of"])
    known = None
    if usual.known is not None and failed >= 2 and 2 * failed >= of and _chance(failed, of, usual.known) <= CHANCE:
        usually = percent(usual.known, 0)
        sentence = f"failed {failed} of {of} checks on known documents at the first attempt (usually {usually})"
        known = Reason("known documents", sentence, failed / of, usual.known, of)
    failed, of = int(number["failed"]), int(number["of"])
    other = None
    if usual.checks is not None and failed >= 3 and _chance(failed, of, usual.checks) <= CHANCE / 10:
        sentence = f"failed {failed} of {of} other checks (usually {percent(usual.checks, 0)})"
        other = Reason("failed checks", sentence, failed / of, usual.checks, of)
    return [known, other]


def _in_sum(number: dict[str, float], usual: Usual) -> Reason | None:
    """Somebody a little unlike the others, a little faster, and with more failures on known documents than usual.

    Among careful people these three have nothing to do with each other, so their standardised deviations z add up:
    (z₁ + … + z_k) / √k is standard normal (Stouffer 1949). Who clicks at random is low in all of them.
    """
    if usual.tau is None or usual.order is None or number["judgments"] < LEAST or not number["error"] > 0:
        return None
    signs = [(number["tau"] - usual.tau) / number["error"] / usual.order]
    reasons = [_ordered(number, usual)]
    if usual.pace is not None and usual.seconds and number["seconds"] > 0:
        signs.append(float(np.log(number["seconds"] / usual.seconds)) / usual.pace)
        reasons.append(_pace(number, usual.seconds))
    if usual.known is not None and number["known_of"]:
        failed, of = int(number["known_failed"]), int(number["known_of"])
        signs.append(_failures_sign(failed, of, usual.known))
        reasons.append(f"failed {failed} of {of} checks on known documents (usually {percent(usual.known, 0)})")
    score = sum(signs) / np.sqrt(len(signs))
    if len(signs) < 2 or score > TOGETHER:
        return None
    sentence = f"{', '.join(reasons)}; each could be chance, but all of them together are unlikely to be"
    return Reason("careless overall", sentence, float(score), 0.0, int(number["judgments"]))


def _failures_sign(failed: int, of: int, rate: float) -> float:
    """So many failures as a deviation of a standard normal: below 0 where they are more than usual (mid-p value)."""
    from scipy.special import bdtrc, ndtri

    rate = min(max(rate, 0.01), 0.99)
    more = float(bdtrc(failed, of, rate)) if failed < of else 0.0
    as_many = float(bdtrc(failed - 1, of, rate)) if failed else 1.0
    return float(ndtri(min(max((more + as_many) / 2, 1e-6), 1 - 1e-6)))


def _chance(failed: int, of: int, rate: float) -> float:
    """That somebody who fails as often as all together fails so often or more."""
    from scipy.special import bdtrc

    return float(bdtrc(failed - 1, of, rate))


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
