"""Tests of the link-time plugin, on small IR modules and on whole programs.

lit tests/lit --param build=BUILD_DIRECTORY
"""

# lit runs this file with `config` and `lit_config` defined.
# ruff: noqa: F821
# mypy: ignore-errors
import os
import subprocess
import sys
from pathlib import Path

import lit.formats

here = Path(__file__).parent
build = Path(lit_config.params.get("build", here.parents[1] / "build"))
llvm = Path(lit_config.params.get("llvm", "/usr/lib/llvm-22"))
plugin = build / "lib/thermocline/thermocline-plugin.so"
if not plugin.exists():
    lit_config.fatal(f"{plugin} is missing: build the target thermocline-plugin first")

config.name = "thermocline-plugin"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".c", ".cc", ".f90", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = str(here)
config.test_exec_root = str(build / "tests/lit")
config.environment["PATH"] = f"{llvm}/bin:{os.environ['PATH']}"

# The stand-in for the runtime that the programs are linked with.
work = Path(config.test_exec_root)
work.mkdir(parents=True, exist_ok=True)
stub = work / "libstub.so"
source = here / "Inputs/stub.c"
if not stub.exists() or stub.stat().st_mtime < source.stat().st_mtime:
    subprocess.run(
        [
            *[f"{llvm}/bin/clang", "-O1", "-shared", "-fPIC", "-fexceptions"],
            *[f"-I{here.parents[1] / 'runtime'}", str(source), "-o", str(stub)],
        ],
        check=True,
    )

link = f"-flto -fuse-ld=lld -Wl,--load-pass-plugin={plugin} -Wl,-rpath,{work} {stub}"
# Only this part's passes: recording twins have tests of their own.
passes = "-passes=thermocline-contexts,thermocline-annotate,verify"
config.substitutions += [
    ("%pass", f"{llvm}/bin/opt -load-pass-plugin={plugin} {passes} -S"),
    ("%onepass", f"{llvm}/bin/opt -load-pass-plugin={plugin} -S"),
    ("%clangxx", f"{llvm}/bin/clang++"),
    ("%clang", f"{llvm}/bin/clang"),
    ("%flang", f"{llvm}/bin/flang"),
    ("%link", link),
    ("%plugin", str(plugin)),
    # The real runtime, for programs that are profiled.
    ("%runtime", f"{plugin.parent}/libthermocline.so -Wl,-rpath,{plugin.parent}"),
    ("%python", sys.executable),
    # One string of the table a line.
    ("%table", f"{llvm}/bin/llvm-objcopy -O binary --only-section=thermocline_keys"),
    ("%options", "env THERMOCLINE_PLUGIN_OPTIONS"),
]
