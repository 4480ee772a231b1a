"""Records the topology that guests show, as fixtures for the tests of `machine detect`.

    python3 tests/twonode/record.py tests/machines/twonode

writes, for each machine, NAME.xml (hwloc's form) and NAME.sysfs/ (the kernel's files that
describe nodes, HMAT and memory tiers, at their own paths).
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

import kernel
from conftest import THREE_NODES, TWO_NODES
from guest import Machine, Node, boot
from initramfs import Initramfs

LSTOPO = "/usr/bin/lstopo-no-graphics"
# Flat mode of a machine with HBM: the nearer node, with the CPUs, is the slower one.
HBM = Machine("hbm-nodes", (Node(640, 120, 80, cpus=2), Node(384, 140, 400)))
FILES = r"""
cd /
for file in sys/devices/system/node/has_* sys/devices/system/node/online \
    sys/devices/system/node/possible sys/devices/system/cpu/online \
    sys/devices/system/node/node*/cpulist sys/devices/system/node/node*/distance \
    sys/devices/system/node/node*/meminfo \
    sys/devices/system/node/node*/access*/initiators/*_* \
    sys/devices/virtual/memory_tiering/memory_tier*/nodelist
do
    [ -f "$file" ] && echo "file $file $(base64 -w0 "$file")"
done
for link in sys/devices/system/node/node*/access*/initiators/node*; do
    [ -L "$link" ] && echo "link $link $(readlink "$link")"
done
"""


def record(machine: Machine, directory: Path, scratch: Path) -> None:
    files = Initramfs()
    files.add_elf(LSTOPO, Path(LSTOPO))
    with boot(machine, kernel.fetch(), files, scratch) as guest:
        # The guest's own name and addresses are no part of a topology.
        xml = guest.run(f"{LSTOPO} --no-io --of xml -").check()
        listing = guest.run(FILES).check()
    (directory / f"{machine.name}.xml").write_text(xml)
    tree = directory / f"{machine.name}.sysfs"
    shutil.rmtree(tree, ignore_errors=True)
    for line in listing.splitlines():
        kind, path, content = line.split(" ")
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            target.symlink_to(content)
        else:
            target.write_bytes(base64.b64decode(content))


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("thermocline: say where to write: python3 tests/twonode/record.py DIRECTORY")
    with tempfile.TemporaryDirectory() as scratch:
        for machine in (TWO_NODES, THREE_NODES, HBM):
            record(machine, Path(sys.argv[1]), Path(scratch))


if __name__ == "__main__":
    main()
