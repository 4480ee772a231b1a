"""A folder with all that the documentation's commands name, made once and then copied by links."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from commands import ROOT

from thermocline import paths

PROGRAMS = ("lulesh", "hydro", "server", "src/lua", "build/demo/multigrid", "build/demo/ocean")
SCRIPTS = ("job.py", "analysis.py", "script.py")
PROFILES = (
    "A",
    "lulesh",
    "ocean",
    "lua",
    "build/demo/multigrid",
    "build/demo/ocean-56",
    "program.71",
)
PLANS = (
    "hot.plan", "lulesh.plan", "lulesh.thermos-25pct.plan", "ocean.plan", "ocean.thermos-25.plan",
    "lua.plan", "build/demo/multigrid.thermos-25.plan",
)  # fmt: skip
TRACES = ("a", "b", "A", "big", "lulesh", "graph", "lua", "build/demo/ocean-56")
FILES = {
    "job.py": "table = [str(i) * 40 for i in range(4000)]\nprint(len(''.join(table)))\n",
    "huge.txt": "".join(f"{i * 7919 % 10007}\n" for i in range(20000)),
    "walk.lua": "print(1)\n",
    # As mpirun -n 8 would, but two are enough.
    "bin/mpirun": "#!/bin/sh\nshift 2\nfor OMPI_COMM_WORLD_RANK in 0 1; do\n"
    '  export OMPI_COMM_WORLD_RANK\n  "$@" || exit\ndone\n',
    "configure": "#!/bin/sh\nprintf 'all:\\n\\t%s program.c -o configured\\n' \"$CC\" >Makefile\n",
    "src/Makefile": "linux-noreadline:\n\t$(CC) ../program.c -o lua\n",
}


class Workshop:
    """The folder, and how commands run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        places = (folder / "bin", paths.native_prefix() / "bin", Path(sys.executable).parent)
        self.environment = {
            **os.environ,
            "PATH": ":".join([*map(str, places), os.environ["PATH"]]),
            "XDG_CACHE_HOME": str(folder / "cache"),
        }

    def run(self, text: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A line in bash."""
        return subprocess.run(
            ["bash", "-c", text], cwd=folder or self.folder, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip

    def make(self, text: str) -> None:
        """The same for what has to work."""
        done = self.run(text)
        assert done.returncode == 0, f"{text}\n{done.stdout}"

    def copy(self, to: Path) -> Path:
        """Links of all files: commands write aside and rename, so that these stay."""
        shutil.copytree(self.folder, to, copy_function=os.link, symlinks=True)
        return to


def prepare(folder: Path) -> Workshop:
    """Makes what the commands name, with the commands."""
    shop = Workshop(folder)
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    (folder / "build/demo").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("program.c"), folder)
    shop.make("thermocline-clang -O2 -g program.c -o program")
    link(folder, "program", *PROGRAMS)
    link(folder, "job.py", *SCRIPTS)
    shop.make("thermocline profile --machine knl-7230 -o program.profile -- ./program")
    link(folder, "program.profile", *(f"{name}.profile" for name in PROFILES))
    shop.make("thermocline plan program.profile --machine knl-7230 -o program.plan")
    link(folder, "program.plan", *PLANS)
    shop.make("thermocline trace -o program.trace -- ./program")
    link(folder, "program.trace", *(f"{name}.trace" for name in TRACES))
    simulate = "thermocline simulate program.trace --machine knl-7230 --scheme first-touch,all-fast"
    shop.make(f"{simulate} --capacity 25% -o schemes.json")
    link(folder, "schemes.json", "lua.simulated.json")
    shop.make("thermocline run --plan program.plan -o run.json -- ./program")
    shop.make("thermocline profile --preload --method pages -o job.profile -- python3 job.py")
    link(folder, "job.profile", "analysis.profile")
    shop.make("thermocline plan job.profile --machine knl-7230 -o job.plan")
    link(folder, "job.plan", "analysis.plan")
    shop.make("thermocline profile --machine xeon-max-9480 -- mpirun -n 8 ./program")
    owners(shop)
    shutil.copy(ROOT / "tests/golden/two-sockets-cxl.toml", folder / "host.toml")
    shutil.copy(ROOT / "machines/optane-8260l.toml", folder / "mine.toml")
    return shop


def owners(shop: Workshop) -> None:
    """program.71.profile, and one sample of that run."""
    (shop.folder / "program.71.profile").unlink()
    shop.make("thermocline profile --method owners -o program.71.profile -- ./program")
    found = json.loads((shop.folder / "program.71.profile").read_text())
    log = found["sampling"]["owners"]
    until, (address, *_) = log["to_ns"], log["last"]
    (shop.folder / "samples.txt").write_text(
        f"{found['pid']}/{found['pid']} {until // 10**9}.{until % 10**9:09}: 100 "
        f"cpu/mem-loads/P: {address:x} 1a68101042 |OP LOAD|LVL Local RAM hit|LCK No 300\n"
    )


def link(folder: Path, name: str, *others: str) -> None:
    """One file under other names."""
    for other in others:
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / other).exists():
            os.link(folder / name, folder / other)
