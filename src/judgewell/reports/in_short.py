"""What the analyses of agreement come to in a few sentences, for the report and the command line alike."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgewell.reports import findings
from judgewell.reports.parts import Finding

Tables = Mapping[str, pl.DataFrame]


def in_short(tables: Tables, judgments: pl.DataFrame | None) -> list[Finding]:
    """The sentences worth reading first."""
    said = [findings.known(tables["known_accuracy"])] if "known_accuracy" in tables else []
    return [*said, *of_agreement(tables, judgments), *of_use(tables, judgments)]


def of_agreement(tables: Tables, judgments: pl.DataFrame | None) -> list[Finding]:
    """With each other, with experts, with themselves."""
    said: list[Finding | None] = []
    if "alpha" in tables:
        said.append(findings.alpha(tables["alpha"], metric_of(judgments)))
    if "order_agreement" in tables:
        said += findings.order(tables["order_agreement"])
    if "concordance" in tables:
        said.append(findings.sets(tables["concordance"]))
    if "against_the_rest" in tables:
        said.append(findings.assessors(tables["against_the_rest"]))
    if "transitivity_overall" in tables:
        said.append(findings.transitive(tables["transitivity_overall"]))
    return [one for one in said if one is not None]


def of_use(tables: Tables, judgments: pl.DataFrame | None) -> list[Finding]:
    """Whether fewer judgments would have done, and whether order mattered."""
    said: list[Finding | None] = []
    if "document_stability" in tables:
        said.append(findings.enough(tables["document_stability"], usual_count(judgments)))
    if "position_effect" in tables:
        said.append(findings.position(tables["position_effect"]))
    return [one for one in said if one is not None]


def metric_of(judgments: pl.DataFrame | None) -> str:
    """The metric of α that fits the scale: ratio for magnitudes, ordinal for few levels, else interval."""
    if judgments is None:
        return "interval"
    if (judgments["scale"] == "magnitude").any():
        return "ratio"
    return "ordinal" if judgments["value"].n_unique() <= findings.FEW else "interval"


def usual_count(judgments: pl.DataFrame | None) -> int:
    """How many judgments the median document has: fewer are what could have been saved."""
    if judgments is None:
        return 0
    return int(judgments.group_by("topic", "doc").len()["len"].median() or 0)  # type: ignore[arg-type]
