"""Stands in for an annotated program: obeys THERMOCLINE_CONFIG as the contract says.

    python fake_program.py [--exit N] [--signal N] [--sleep] [KEY...]

Under `heap sites` it writes a profile with the KEYs as sites, under `heap guided` a report that
says which of them were planned.
"""

import json
import os
import sys
import time


def main() -> int:
    """Writes what the runtime would."""
    arguments = sys.argv[1:]
    status = number = 0
    sleep = False
    keys: list[str] = []
    while arguments:
        word = arguments.pop(0)
        if word == "--exit":
            status = int(arguments.pop(0))
        elif word == "--signal":
            number = int(arguments.pop(0))
        elif word == "--sleep":
            sleep = True
        else:
            keys.append(word)
    lines = []
    with open(os.environ["THERMOCLINE_CONFIG"], encoding="utf-8") as config:
        lines = [line.rstrip("\n").partition(" ")[::2] for line in config]
    single = {name: value for name, value in lines if name != "site"}
    planned = [value.partition(" ")[2] for name, value in lines if name == "site"]
    if single["heap"] == "sites":
        path = f"{single['profile']}.{os.getpid()}.profile"
        data: object = {
            "format": "thermocline-profile",
            "version": 1,
            "executable": sys.argv[0],
            "command": sys.argv,
            "pid": os.getpid(),
            "wall_seconds": 0.5,
            "complete": not number,
            "peak_resident_bytes": 8192 * len(keys),
            "unseen_instruction_share": None,
            "sites": [
                {
                    "key": key,
                    "read_bytes": 640 * (rank + 1),
                    "write_bytes": 0,
                    "peak_resident_bytes": 8192,
                    "allocations": 1,
                    "first_touch_seconds": rank / 10,
                }
                for rank, key in enumerate(keys)
            ],
        }
    else:
        path = f"{single['report']}.{os.getpid()}.json"
        trace = single["sampler"] == "trace"
        data = {
            "format": "thermocline-run",
            "version": 1,
            "pid": os.getpid(),
            "command": sys.argv,
            "wall_seconds": 0.5,
            "heap": "guided",
            "peak_resident_bytes": 4096,
            "tiers": [
                {
                    "tier": tier,
                    "nodes": [],
                    "capacity_bytes": 0,
                    "peak_resident_bytes": 4096,
                    "resident_bytes": 0,
                    "spilled_bytes": 0,
                    "read_bytes": 300 - 200 * tier if trace else None,
                    "write_bytes": 0 if trace else None,
                }
                for tier in (0, 1)
            ],
            "sites": {
                "planned": len(planned),
                "reached": len(set(planned) & set(keys)),
                "never_came": [key for key in planned if key not in keys],
                "unplanned": [key for key in keys if key not in planned],
            },
        }
    with open(path, "w", encoding="utf-8") as out:
        json.dump(data, out)
    if sleep:
        print("ready", flush=True)
        time.sleep(30)
    if number:
        os.kill(os.getpid(), number)
    return status


sys.exit(main())
