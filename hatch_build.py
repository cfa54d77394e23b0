"""Compiles the kernel of `evaluate` where there is a C compiler; without one the package is pure Python.

JUDGEWELL_KERNEL=required makes a missing compiler an error, JUDGEWELL_KERNEL=numpy leaves the kernel out.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/judgewell/evaluation/_kernel.c")
OPTIONS = [] if os.name == "nt" else ["-O3", "-g0", "-std=c11", "-fvisibility=hidden"]


class Kernel(BuildHookInterface):
    """An abi3 extension: one wheel for a platform serves every Python from 3.11 on."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        asked = os.environ.get("JUDGEWELL_KERNEL", "")
        if asked == "numpy" or (sysconfig.get_config_var("Py_GIL_DISABLED") and asked != "required"):
            return
        try:
            built = compiled(Path(self.root))
        except (Exception, SystemExit) as problem:  # setuptools exits where there is no compiler
            if asked == "required":
                raise
            self.app.display_warning(f"the compiled kernel is left out, numpy serves instead: {problem}")
            return
        if version == "editable":
            shutil.copy(built, Path(self.root, SOURCE.parent, built.name))
            return
        build_data["force_include"][str(built)] = f"judgewell/evaluation/{built.name}"
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"


def compiled(root: Path) -> Path:
    """The extension, built in a folder of its own."""
    from setuptools import Distribution, Extension

    kernel = Extension("_kernel", [str(root / SOURCE)], py_limited_api=True, extra_compile_args=OPTIONS)
    command: Any = Distribution({"name": "judgewell", "ext_modules": [kernel]}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = tempfile.mkdtemp()
    command.ensure_finalized()
    command.run()
    return next(path for path in Path(command.build_lib).iterdir() if path.suffix in (".so", ".pyd"))


if __name__ == "__main__":  # for work on the kernel itself: python hatch_build.py
    here = Path(__file__).parent
    sys.stdout.write(f"{shutil.copy(compiled(here), here / SOURCE.parent)}\n")
