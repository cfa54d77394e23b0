"""A report of a large study: from files on disk to the page, process start included.

Run as a programme this file makes the study: `report.py FOLDER TOPICS DOCUMENTS SYSTEMS`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from measure import Row, read_once, take_turns

HERE = Path(__file__).parent
REPORT = "report"
PER_DOCUMENT = 10


def rows(quick: bool) -> Iterator[Row]:
    """Every measurement, as it is made."""
    sizes = [(5, 100, 12)] if quick else [(18, 240, 12), (50, 200, 129)]
    for topics, documents, systems in sizes:
        folder = HERE / "data" / f"report-{topics}-{documents}-{systems}"
        if not (folder / "done").exists():
            subprocess.run([sys.executable, __file__, folder, *map(str, (topics, documents, systems))], check=True)
        runs = sorted((folder / "runs").iterdir())
        read_once([folder / "judgments.csv", folder / "expert.qrels", *runs])
        command = [sys.executable, "-m", "judgewell", "report", "-o", folder / "report.html", "--judgments"]
        command += [folder / "judgments.csv", "--labels", folder / "expert.qrels", "--runs", *runs]
        judgments = topics * documents * PER_DOCUMENT
        case = f"{judgments:,} judgments, {systems} systems"
        commands = {"judgewell, page": command, "judgewell, page and files": [*command, "--files"]}
        yield from take_turns(REPORT, case, commands, repeats=1 if quick else 3)


def section(found: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "## A report",
        "",
        "From judgments, expert grades and runs on disk to one page with all analyses, gains, 200 replicates of the",
        "judgments and 1,000 of the topics; with files: every figure as SVG and PDF, every table as csv and LaTeX.",
        "",
        "| | | median s | fastest s | peak MB |",
        "|---|---|---:|---:|---:|",
    ]
    for row in found:
        told = row.failure or f"{row.median:.1f} | {row.fastest:.1f}"
        lines.append(f"| {row.case} | {row.tool.removeprefix('judgewell, ')} | {told} | {row.megabytes:.0f} |")
    return "\n".join((*lines, ""))


def make(folder: Path, topics: int, documents: int, systems: int) -> None:
    """Judgments in units of 8 on personal scales, grades and runs of rising quality, from one latent relevance."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    topic, doc = np.repeat(np.arange(topics), documents), np.tile(np.arange(documents), topics)
    latent = rng.normal(size=len(topic))
    work = np.repeat(np.arange(len(topic)), PER_DOCUMENT)
    rng.shuffle(work)
    work = work[np.argsort(topic[work], kind="stable")]
    unit = np.arange(len(work)) // 8
    who = rng.integers(0, len(work) // 64 + 1, unit.max() + 1)[unit]
    scale = np.exp(rng.normal(0, 0.7, who.max() + 1))[who]
    judgments = {
        "topic": [f"t{one}" for one in topic[work]],
        "doc": [f"d{one}-{other}" for one, other in zip(topic[work], doc[work], strict=True)],
        "assessor": [f"w{one}" for one in who],
        "unit": unit,
        "position": np.arange(len(work)) % 8 + 1,
        "scale": ["magnitude"] * len(work),
        "value": np.round(np.exp(latent[work] + rng.normal(0, 0.5, len(work))) * 20 * scale, 1) + 0.1,
        "seconds": np.round(rng.gamma(2, 20, len(work)), 1),
    }
    pl.DataFrame(judgments).write_csv(folder / "judgments.csv")
    grades = zip(topic, doc, np.digitize(latent, [0.2, 0.9, 1.6]), strict=True)
    (folder / "expert.qrels").write_text("".join(f"t{one} 0 d{one}-{other} {grade}\n" for one, other, grade in grades))
    for system in range(systems):
        score = (0.2 + 1.5 * system / systems) * latent + rng.normal(size=len(latent))
        lines = zip(topic, doc, score, strict=True)
        text = "".join(f"t{one} Q0 d{one}-{other} 1 {value:.4f} s{system:03}\n" for one, other, value in lines)
        (folder / "runs" / f"s{system:03}.run").write_text(text)
    (folder / "done").touch()


if __name__ == "__main__":
    make(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
