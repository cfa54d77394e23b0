"""Run the benchmarks and write RESULTS.md: one module for each stage, one section for each module.

A module in BENCHMARKS has `rows(quick)`, which measures, and `section(rows)`, which writes its part of the results.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

from measure import Row

RESULTS = Path(__file__).parent / "RESULTS.md"
BENCHMARKS = ("evaluate", "scaling", "study", "agreement", "comparison")
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
    parser.add_argument("--quick", action="store_true", help="small sizes, printed and not written to RESULTS.md")
    given = parser.parse_args()
    modules = [importlib.import_module(name) for name in BENCHMARKS]
    found = [measured(module, given.quick) for module in modules]
    sections = [module.section(rows) for module, rows in zip(modules, found, strict=True)]
    text = "\n".join(("# What judgewell takes, beside other tools", "", machine(), "", *sections))
    if given.quick:
        print(f"\n{text}")
    else:
        RESULTS.write_text(text)
        print(f"Written to {RESULTS}")
    ours = [row for rows in found for row in rows if row.tool.startswith("judgewell") and row.failure]
    sys.exit(f"judgewell failed {len(ours)} of its own cases: {ours[0].case}: {ours[0].failure}" if ours else 0)


if __name__ == "__main__":
    main()
