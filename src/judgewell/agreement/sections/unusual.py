"""Which assessors deserve a second look?"""

from __future__ import annotations

from collections import Counter

import polars as pl

from judgewell.agreement import pair_agreement, unusual
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FOLDED, NAMED, PAIRED, WORK, Get, Section
from judgewell.errors import DataError
from judgewell.text import agrees, count, counted

MOST_NAMED = 3
LONGEST = 16  # characters of an id in a sentence; the table has all of them


def _named(table: pl.DataFrame) -> str:
    flagged = table.filter(pl.col("reasons") > 0)
    everybody = counted(table.height, "assessor")
    if flagged.is_empty():
        return f"None of {everybody} is unusual in speed, variety of answers and comments, or ranking of documents."
    shown = flagged.head(MOST_NAMED).with_columns(
        pl.when(pl.col("assessor").str.len_chars() > LONGEST)
        .then(pl.col("assessor").str.head(LONGEST) + "…")
        .otherwise("assessor")
        .alias("assessor")
    )
    named = ", ".join(f"{who} ({why})" for who, why in shown.select("assessor", "why").iter_rows())
    more = f" and {count(flagged.height - MOST_NAMED)} more" if flagged.height > MOST_NAMED else ""
    some = f"{count(flagged.height)} of {everybody} {agrees(flagged.height, 'deserves', 'deserve')}"
    reasons = Counter(kind for why in flagged["why"] for kind in why.split(", "))
    counts = ", ".join(f"{kind} {count(reasons[kind])}" for kind in unusual.KINDS if reasons[kind])
    by_reason = f" ({counts})" if flagged.height > MOST_NAMED else ""
    look = "The table unusual_assessors has the reasons. A flag is a reason to look, not proof."
    return f"{some} a second look{by_reason}: {named}{more}. {look}"


def _severity(person: unusual.Person) -> int:
    """The place of the weightiest reason; last where there is none."""
    return min((unusual.KINDS.index(seen.kind) for seen in person.evidence), default=len(unusual.KINDS))


SECTION = Section(
    "unusual assessors", "which assessors deserve a second look", "quality", order=14, needs=(WORK, NAMED)
)


@SECTION.table(
    "Assessors who deserve a second look",
    finding=_named,
    columns="assessor judgments seconds same alike why reason",
    heads={"same": "Most frequent answer", "alike": "Pairs ordered as the others do"},
    shown=FOLDED,
)
def unusual_assessors(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Every assessor, those with the most and the weightiest reasons first: median time, share of the
    most frequent answer, and the share of pairs of documents, ties apart, ordered as the others order them. A reason is
    a number far from what is usual among the others."""
    judgments = pairs = None
    if evidence.judgments is not None:
        known = pl.col("known").is_not_null() if "known" in evidence.checked.columns else pl.lit(False)
        table = evidence.checked.with_columns(comparable=evidence.footed["value"], compared=~known)
        judgments = table.filter(pl.col("assessor").is_not_null())
    if evidence.pairs is not None and "preferred" in evidence.pairs.columns:
        pairs = evidence.compared_pairs().drop_nulls(["assessor", "preferred"])
    if judgments is None and pairs is None:
        raise DataError("needs judgments, or pairs with a preference")
    people, _ = unusual.people(judgments, pairs)
    if len(people) < unusual.FEWEST:
        raise DataError(f"needs {unusual.FEWEST} assessors to say what is usual; there are {len(people)}")
    people.sort(key=lambda one: (-len(one.evidence), _severity(one), -one.judgments, one.assessor))
    rows = [
        {
            "assessor": one.assessor,
            "judgments": one.judgments,
            "seconds": one.seconds,
            "same": one.same,
            "alike": one.alike,
            "reasons": len(one.evidence),
            "why": ", ".join(seen.kind for seen in one.evidence) or None,
            "reason": "; ".join(seen.sentence for seen in one.evidence) or None,
        }
        for one in people
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


@SECTION.table("Each assessor’s pairs", columns="assessor pairs with_majority compared same left")
def pairs_by_assessor(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Each assessor’s preferences: the share that agrees with the majority of the others who answered the same pair
    (compared: how many pairs have such a majority), the share of “same”, and of the left document among the rest;
    lowest agreement first."""
    if not PAIRED.met(evidence):
        raise DataError(f"needs {PAIRED.words}")
    return pair_agreement.by_assessor(evidence.compared_pairs())
