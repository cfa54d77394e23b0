"""Krippendorff's alpha beside the krippendorff package, and every agreement section on a study of 56,472 judgments.

Called with the name of a tool and a case, this file is also the program that is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from measure import Row, take_turns

ALPHA, SECTIONS, TRANSITIVITY = "alpha", "sections", "transitivity"
# case: documents, judgments of each, distinct values (0: all different), metric
CASES = {
    "interval, 1,000,000 judgments, 101 values": (100_000, 10, 101, "interval"),
    "interval, 1,000,000 judgments, all values different": (100_000, 10, 0, "interval"),
    "ordinal, 1,000,000 judgments, 101 values": (100_000, 10, 101, "ordinal"),
    "ratio, 50,000 judgments, 5,000 values": (5_000, 10, 5_000, "ratio"),
    "ratio, 56,472 judgments, 101 values": (4_706, 12, 101, "ratio"),
}
QUICK_CASES = {
    "interval, 20,000 judgments, 101 values": (2_000, 10, 101, "interval"),
    "ratio, 2,000 judgments, 400 values": (200, 10, 400, "ratio"),
}
PACKAGE_MEMORY = 8 * 2**30  # beyond this the package is stopped: it would take the whole machine with it
TOOLS = ("judgewell", "judgewell with interval", "krippendorff")
STUDIES = {"7,059 units of 8 documents": 7_059, "700 units of 8 documents": 700}
PAIRS = {"124,614 pairs": 124_614, "6,000 pairs": 6_000}


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    for case in QUICK_CASES if quick else CASES:
        commands = {tool: [sys.executable, __file__, tool, case] for tool in TOOLS}
        yield from take_turns(ALPHA, case, commands, repeats=1 if quick else 3)
    for study in list(STUDIES)[1:] if quick else STUDIES:
        commands = {"judgewell": [sys.executable, __file__, "sections", study]}
        yield from take_turns(SECTIONS, study, commands, repeats=1 if quick else 3)
    for pairs in list(PAIRS)[1:] if quick else PAIRS:
        commands = {"judgewell": [sys.executable, __file__, "transitivity", pairs]}
        yield from take_turns(TRANSITIVITY, pairs, commands, repeats=1 if quick else 3)


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    return "\n".join(
        (
            "## Agreement",
            "",
            "Krippendorff's alpha, start of the process and making the data included. The package keeps a table of",
            "documents × values × values; it is given 8 GB.",
            "",
            "| judgments | tool | median s | peak MB |",
            "|---|---|---|---|",
            *[_line(row) for row in found if row.table == ALPHA],
            "",
            "Every section that a study of magnitudes with expert grades and known documents allows:",
            "",
            "| study | tool | median s | peak MB |",
            "|---|---|---|---|",
            *[_line(row) for row in found if row.table == SECTIONS],
            "",
            "The transitivity of preferences in units of 12 pairs of 8 documents, each with its own comparisons:",
            "",
            "| preferences | tool | median s | peak MB |",
            "|---|---|---|---|",
            *[_line(row) for row in found if row.table == TRANSITIVITY],
            "",
        )
    )


def _line(row: Row) -> str:
    if row.failure:
        return f"| {row.case} | {row.tool} | {row.failure} | {row.megabytes:.0f} |"
    return f"| {row.case} | {row.tool} | {row.median:.2f} | {row.megabytes:.0f} |"


def measured(tool: str, case: str) -> None:
    """One case by one tool; numpy and the rest are imported here, so that the measuring process stays small."""
    if tool == "sections":
        _all_sections(STUDIES[case])
        return
    if tool == "transitivity":
        _transitivity(PAIRS[case])
        return
    documents, each, distinct, metric = (CASES | QUICK_CASES)[case]
    values = _values(documents, each, distinct)
    if tool == "krippendorff":
        import resource

        import krippendorff

        resource.setrlimit(resource.RLIMIT_AS, (PACKAGE_MEMORY, PACKAGE_MEMORY))
        print(krippendorff.alpha(values.T, level_of_measurement=metric))
        return
    import polars as pl

    from judgewell.agreement.alpha import krippendorff_alpha

    frame = pl.DataFrame({"value": values.ravel()}).with_columns(
        topic=(pl.int_range(pl.len()) // each % 50).cast(pl.String),
        doc=(pl.int_range(pl.len()) // each).cast(pl.String),
        assessor=(pl.int_range(pl.len()) * 7919 % 997).cast(pl.String),
        kind=pl.lit("interval"),
    )
    print(krippendorff_alpha(frame, metric, interval="interval" in tool))


def _values(documents: int, each: int, distinct: int):  # type: ignore[no-untyped-def]
    """Document worth plus noise, cut into so many values where asked: documents × judgments."""
    import numpy as np

    rng = np.random.default_rng(0)
    raw = rng.normal(size=(documents, 1)) + rng.normal(size=(documents, each))
    low, high = raw.min(), raw.max()
    scaled = (raw - low) / (high - low)
    return np.floor(scaled * distinct * (1 - 1e-12)) if distinct else scaled


def _all_sections(units: int) -> None:
    """A made-up study of the size of the magnitude estimation papers', through every section."""
    import numpy as np
    import polars as pl

    from judgewell.agreement.sections import Evidence, run_sections

    rng = np.random.default_rng(0)
    topics, documents = 18, 237
    topic = np.repeat(np.arange(units) % topics, 8)
    doc = np.concatenate(
        [np.append(rng.choice(np.arange(2, documents), 6, replace=False), [0, 1]) for _ in range(units)]
    )
    level = rng.integers(0, 4, (topics, documents))
    level[:, 0], level[:, 1] = 3, 0
    value = np.exp(level[topic, doc] + 0.7 * rng.normal(size=len(doc)))
    known = [{0: "H", 1: "N"}.get(number) for number in doc.tolist()]
    judgments = pl.DataFrame(
        {
            "topic": topic.astype(str),
            "doc": doc.astype(str),
            "assessor": np.repeat(np.arange(units) // topics % 1340, 8).astype(str),
            "unit": np.repeat(np.arange(units), 8).astype(str),
            "position": np.tile(np.arange(1, 9), units),
            "value": value,
            "seconds": rng.gamma(2, 30, len(doc)),
            "comment": ["because"] * len(doc),
            "known": pl.Series(known, dtype=pl.String),
            "kind": ["ratio"] * len(doc),
        }
    )
    labels = pl.DataFrame(
        {
            "topic": np.repeat(np.arange(topics), documents).astype(str),
            "doc": np.tile(np.arange(documents), topics).astype(str),
            "gain": level.ravel().astype(float),
        }
    )
    binary = labels.with_columns(gain=(pl.col("gain") > 1).cast(pl.Float64))
    evidence = Evidence(judgments=judgments, labels={"graded": labels, "binary": binary})
    print(sum(len(outcome.tables) for outcome in run_sections(evidence)), "tables")


def _transitivity(pairs: int) -> None:
    """Units of 12 pairs on random cubic graphs of 8 documents, every group of documents judged by three assessors."""
    import numpy as np
    import polars as pl

    from judgewell.agreement.sections import Evidence, run_section, section_named
    from judgewell.study.design.graphs import random_graph

    rng = np.random.default_rng(0)
    units = -(-pairs // 12)
    graphs = [np.array(random_graph(8, 3, rng)) for _ in range(-(-units // 3))]
    unit = np.repeat(np.arange(units), 12)
    ends = np.concatenate([graphs[number // 3] for number in range(units)])
    left_wins = rng.random(len(ends)) < 1 / (1 + np.exp(0.6 * (ends[:, 0] - ends[:, 1])))
    frame = pl.DataFrame(
        {
            "topic": (unit // 3 % 9).astype(str),
            "left": ends[:, 0].astype(str),
            "right": ends[:, 1].astype(str),
            "unit": unit.astype(str),
            "assessor": (unit % 806).astype(str),
            "preferred": np.where(left_wins, "left", "right"),
        }
    ).head(pairs)
    section = section_named("transitivity")
    assert section is not None
    print(run_section(section, Evidence(pairs=frame)).tables["transitivity_overall"])


if __name__ == "__main__":
    measured(*sys.argv[1:])
