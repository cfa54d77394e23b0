"""Run the benchmarks and write RESULTS.md: one module for each stage, one section for each module.

    python bench/run.py             all
    python bench/run.py evaluate    one; the other sections of RESULTS.md stay as they were

A module in BENCHMARKS has `rows(quick)`, which measures, and `section(rows)`, which writes its part of the results.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from measure import Row

RESULTS = Path(__file__).parent / "RESULTS.md"
BENCHMARKS = (
    "evaluate",
    "scaling",
    "study",
    "agreement",
    "comparison",
    "cluster",
    "server",
    "collecting",
    "dashboard",
    "report",
)
TITLE = "# What judgewell takes, beside other tools"
VERSIONS = (
    "judgewell",
    "numpy",
    "polars",
    "scipy",
    "pytrec_eval-terrier",
    "ir_measures",
    "ranx",
    "numba",
    "choix",
    "krippendorff",
)


def machine() -> str:
    """What the figures depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in VERSIONS)
    return f"{cores} cores, {memory:.0f} GB of memory. Python {platform.python_version()}, {versions}."


def measured(module: ModuleType, quick: bool) -> list[Row]:
    """The rows of one benchmark; each is printed as soon as it is there."""
    found = []
    for row in module.rows(quick):
        found.append(row)
        told = row.failure or f"{row.median:8.2f} s  {row.megabytes:6.0f} MB"
        print(f"{row.table:8}{row.case:38}{row.tool:42}{told}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"only these of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, printed and not written to RESULTS.md")
    given = parser.parse_args()
    strange = [name for name in given.stages if name not in BENCHMARKS]
    if strange:
        parser.error(f"there is no stage {strange[0]}; the stages are {', '.join(BENCHMARKS)}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # every tool is compiled once, as installed packages are
    stages = given.stages or BENCHMARKS
    if len(stages) > 1:  # each in a process of its own: a child's memory counts from its parent's
        more = ["--quick"] if given.quick else []
        ends = [subprocess.run([sys.executable, __file__, name, *more], check=False).returncode for name in stages]
        sys.exit(max(ends))
    failed: list[Row] = []
    for name in stages:
        module = importlib.import_module(name)
        found = measured(module, given.quick)
        section = f"{module.section(found).rstrip()}\n\n{machine()}\n"
        if given.quick:
            print(f"\n{section}")
        else:
            keep(name, section)
            print(f"{name} is written to {RESULTS}")
        failed += [row for row in found if row.tool.startswith("judgewell") and row.failure]
    sys.exit(f"judgewell failed {len(failed)} of its own cases: {failed[0].case}: {failed[0].failure}" if failed else 0)


def keep(name: str, section: str) -> None:
    """Put a stage's section into RESULTS.md in the place of its last one; the others stay as they were."""
    marks = {stage: f"<!-- {stage} -->" for stage in BENCHMARKS}
    text = RESULTS.read_text() if RESULTS.exists() else ""
    parts = dict(re.findall(r"<!-- (\w+) -->\n(.*?)(?=<!-- \w+ -->|\Z)", text, re.DOTALL))
    parts[name] = f"{section}\n"
    body = "".join(f"{marks[stage]}\n{parts[stage]}" for stage in BENCHMARKS if stage in parts)
    RESULTS.write_text(f"{TITLE}\n\n{body}")


if __name__ == "__main__":
    main()
