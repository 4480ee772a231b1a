"""Runs a program under the trace profile and prints what each of its sites did.

traffic.py SCRATCH PROGRAM
"""

import json
import subprocess
import sys
from pathlib import Path

CONFIG = """thermocline-config 1
heap sites
sampler trace
profile {prefix}
interval-ms 100
cache 1 bytes 4096 ways 4 line 64 private
cache 2 bytes 65536 ways 8 line 64 shared
"""


def main() -> int:
    scratch, program = Path(sys.argv[1]), sys.argv[2]
    scratch.mkdir(parents=True, exist_ok=True)
    for old in scratch.glob("run.*.profile"):
        old.unlink()
    config = scratch / "config"
    config.write_text(CONFIG.format(prefix=scratch / "run"))
    # Which sets of a cache a block is in must not change from run to run.
    command = ["setarch", "--addr-no-randomize", program]
    subprocess.run(command, env={"THERMOCLINE_CONFIG": str(config)}, check=True)
    [profile] = scratch.glob("run.*.profile")
    fields = ("loads", "stores", "read_bytes", "write_bytes")
    for site in json.loads(profile.read_text())["sites"]:
        if site["kind"] == "site":
            print(site["key"], *(f"{field}={site[field]}" for field in fields))
    return 0


if __name__ == "__main__":
    sys.exit(main())
