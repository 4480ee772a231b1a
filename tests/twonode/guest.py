"""Boots a virtual machine with several kinds of memory and runs commands in it.

QEMU emulates it all (TCG, no /dev/kvm), so it works anywhere and says nothing about
speed: it is for placement, policy and topology. The kernel writes to a serial line,
which goes to a log; a virtio port carries commands and their results, so that a kernel
message can never be taken for a test's output. One boot serves many tests.
"""

from __future__ import annotations

import base64
import os
import select
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from initramfs import Initramfs

QEMU = "qemu-system-x86_64"
BOOT_SECONDS = 120  # 4 s on an idle host; the hosts that run tests are seldom idle
INIT = Path(__file__).with_name("init.sh")


class Node(NamedTuple):
    """One NUMA node; latency and bandwidth are what the firmware's HMAT tells the kernel."""

    megabytes: int
    latency_ns: int
    gigabytes_per_second: int
    cpus: int = 0


class Machine(NamedTuple):
    name: str
    nodes: tuple[Node, ...]


class GuestError(Exception):
    """The guest did not do as told; the message ends with its console."""


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    def check(self) -> str:
        """The output of a command that succeeded; otherwise fails with all that it said."""
        assert self.status == 0, f"exit status {self.status} in the guest\n{self.out}{self.err}"
        return self.out


def qemu_command(machine: Machine, kernel: Path, initrd: Path, console: Path) -> list[str]:
    cpus = sum(node.cpus for node in machine.nodes)
    with_cpus = [number for number, node in enumerate(machine.nodes) if node.cpus]
    memory = sum(node.megabytes for node in machine.nodes)
    command = [QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]
    # Kernels use "rep movsb" where the CPU says it is fast, and TCG is slow at it.
    # One thread emulates all CPUs: with a thread each, QEMU 7.2 let guests crash or hang now and
    # then on a busy host.
    command += ["-accel", "tcg,thread=single", "-cpu", "max,erms=off"]
    # Not "microvm": it ignores -numa without a word.
    command += ["-machine", "q35,hmat=on", "-m", f"{memory}M", "-smp", str(cpus)]
    # Commands go through virtio, not a second serial line: on a busy host an emulated UART
    # was seen to lose an interrupt, and with it a test.
    command += ["-serial", f"file:{console}", "-chardev", "stdio,id=control"]
    command += ["-device", "virtio-serial", "-device", "virtserialport,chardev=control"]
    first_cpu = 0
    for number, node in enumerate(machine.nodes):
        command += ["-object", f"memory-backend-ram,id=m{number},size={node.megabytes}M"]
        place = f"node,nodeid={number},memdev=m{number}"
        if node.cpus:
            place += f",cpus={first_cpu}-{first_cpu + node.cpus - 1}"
            first_cpu += node.cpus
        else:
            place += f",initiator={with_cpus[0]}"
        command += ["-numa", place]
    for source in range(len(machine.nodes)):
        for target, node in enumerate(machine.nodes):
            if source != target:
                # SLIT: 10 is local; a farther or slower memory has a larger number.
                distance = 20 if node.cpus and machine.nodes[source].cpus else 30
                command += ["-numa", f"dist,src={source},dst={target},val={distance}"]
    for initiator in with_cpus:
        for target, node in enumerate(machine.nodes):
            remote = 2 if node.cpus and initiator != target else 1
            measure = f"hmat-lb,initiator={initiator},target={target},hierarchy=memory"
            latency = f"{measure},data-type=access-latency,latency={node.latency_ns * remote}"
            speed = node.gigabytes_per_second // remote
            bandwidth = f"{measure},data-type=access-bandwidth,bandwidth={speed}G"
            command += ["-numa", latency, "-numa", bandwidth]
    # Speculation mitigations cost much under emulation and protect nothing here.  On a busy host
    # timers are late, and the kernel's check of its own would end in a panic.
    arguments = "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check rdinit=/init"
    command += ["-kernel", str(kernel), "-initrd", str(initrd), "-append", arguments]
    return command


class Guest:
    """A running virtual machine. Use as a context manager, or call stop()."""

    def __init__(self, machine: Machine, kernel: Path, files: Initramfs, scratch: Path) -> None:
        self.machine = machine
        self._jobs = 0
        self._unread = b""
        self._console = scratch / f"{machine.name}.console"
        if shutil.which(QEMU) is None:
            raise GuestError(f"no {QEMU} here: apt-get install qemu-system-x86")
        initrd = scratch / f"{machine.name}.cpio"
        files.add_file("/bin/busybox", Path("/bin/busybox"))
        files.add_file("/init", INIT)
        initrd.write_bytes(files.archive())
        command = qemu_command(machine, kernel, initrd, self._console)
        self._qemu = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            self._assert_topology()
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *unused: object) -> None:
        self.stop()

    @property
    def alive(self) -> bool:
        return self._qemu.poll() is None

    def run(self, script: str, timeout: int = 30) -> Result:
        """Runs a shell script in the guest; a script that outlives `timeout` s is killed."""
        self._jobs += 1
        encoded = base64.b64encode(script.encode()).decode()
        self._send(f"{self._jobs} {timeout} {encoded}\n")
        # The guest's own timeout comes first, unless the guest itself hangs.
        answer = self._line(f"result {self._jobs} ", timeout + 20)
        status, out, err = answer.split(" ")
        return Result(int(status), _decode(out), _decode(err))

    def write(self, path: str, text: str) -> None:
        encoded = base64.b64encode(text.encode()).decode()
        self.run(f"mkdir -p $(dirname {path}) && base64 -d >{path} <<END\n{encoded}\nEND").check()

    def read_bytes(self, command: str) -> bytes:
        """What `command` writes, for output that need not be text."""
        return base64.b64decode(self.run(f"{command} | base64 -w0").check())

    def stop(self) -> None:
        if self.alive and self._qemu.stdin:
            self._qemu.stdin.close()
            self._qemu.terminate()
        self._qemu.wait()

    def _assert_topology(self) -> None:
        # A firmware that drops a node would leave tests that cannot fail.
        nodes = self._line("ready ", BOOT_SECONDS).split()
        expected = [str(node.cpus) for node in self.machine.nodes]
        if nodes != expected:
            raise self._error(f"CPUs per NUMA node are {nodes}, not {expected}, in the guest")

    def _send(self, text: str) -> None:
        if not self._qemu.stdin or not self.alive:
            raise self._error("the guest is not running")
        self._qemu.stdin.write(text.encode())
        self._qemu.stdin.flush()

    def _line(self, start: str, seconds: float) -> str:
        """The rest of the line that begins with `start`, waited for."""
        assert self._qemu.stdout
        deadline = time.monotonic() + seconds
        while True:
            while b"\n" in self._unread:
                line, self._unread = self._unread.split(b"\n", 1)
                text = line.decode(errors="replace").strip("\r")
                if text.startswith(start):
                    return text.removeprefix(start)
            ready, _, _ = select.select(
                [self._qemu.stdout], [], [], max(0.0, deadline - time.monotonic())
            )
            if not ready:
                self._qemu.kill()
                raise self._error(f"no answer from the guest in {seconds:.0f} s")
            data = os.read(self._qemu.stdout.fileno(), 65536)
            if not data:
                self._qemu.wait()
                raise self._error("the guest stopped")
            self._unread += data

    def _error(self, what: str) -> GuestError:
        log = self._console.read_text(errors="replace") if self._console.exists() else ""
        if not self.alive and self._qemu.stderr:
            log += self._qemu.stderr.read().decode(errors="replace")
        return GuestError(f"{self.machine.name}: {what}. Its console:\n{log[-4000:]}")


def boot(machine: Machine, kernel: Path, files: Initramfs, scratch: Path) -> Guest:
    """A guest that runs; kernels patch their own code at boot, where QEMU 7.2 was seen to trip."""
    try:
        return Guest(machine, kernel, files, scratch)
    except GuestError:
        return Guest(machine, kernel, files, scratch)


def _decode(text: str) -> str:
    return base64.b64decode(text).decode(errors="replace")
