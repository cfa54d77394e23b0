"""Run the benchmarks and write RESULTS.md: one module for each stage, one section for each module.

A module in BENCHMARKS has `rows(quick)`, which measures, and `section(rows)`, which writes its part of the results.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"
BENCHMARKS = ("evaluate",)
VERSIONS = ("judgewell", "numpy", "polars", "pytrec_eval-terrier", "ir_measures", "ranx", "numba")


def machine() -> str:
    """What the figures depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in VERSIONS)
    return f"{cores} cores, {memory:.0f} GB of memory. Python {platform.python_version()}, {versions}."


def measured(name: str, quick: bool) -> str:
    """The section of one benchmark; each row is printed as soon as it is there."""
    module = importlib.import_module(name)
    found = []
    for row in module.rows(quick):
        found.append(row)
        told = row.failure or f"{row.median:8.2f} s  {row.megabytes:6.0f} MB"
        print(f"{row.table:8}{row.case:38}{row.tool:42}{told}", flush=True)
    return str(module.section(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, printed and not written to RESULTS.md")
    given = parser.parse_args()
    sections = [measured(name, given.quick) for name in BENCHMARKS]
    text = "\n".join(("# What judgewell takes, beside other tools", "", machine(), "", *sections))
    if given.quick:
        print(f"\n{text}")
    else:
        RESULTS.write_text(text)
        print(f"Written to {RESULTS}")


if __name__ == "__main__":
    main()
