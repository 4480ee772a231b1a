"""The host's counters of memory traffic: which there are, and runs under them.

Events go by the names that perf itself has for the processor at hand (its lists come from the
vendors); whether one is there is found by counting with it.  perf's count a whole host, whatever
else runs on it; resctrl's count the program alone.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from thermocline.errors import ThermoclineError, one_line
from thermocline.machine.model import Tier

RESCTRL = Path("/sys/fs/resctrl")
Bytes = tuple[int, int]  # read, written


class Meter(Protocol):
    """Counts what one tier moves while a program runs."""

    @property
    def source(self) -> str:
        """What counts, for people."""
        ...

    def measure(self, program: Sequence[str], environment: dict[str, str], scratch: Path) -> Bytes:
        """Runs the program, its output thrown away."""
        ...


@dataclass(frozen=True)
class Count:
    """Of an event: scaled by perf to the whole run, from the share in which it was counted."""

    value: float
    share: float = 1.0


def counts(answer: str) -> dict[str, Count]:
    """From what `perf stat -x ';'` wrote, by event; several units' counts are added."""
    found: dict[str, Count] = {}
    for line in answer.splitlines():
        fields = line.split(";")
        if len(fields) < 3 or line.startswith("#"):
            continue
        # Where the kernel may not be counted perf says so with the name.
        event = fields[2].lower().removesuffix(":u")
        try:
            value = float(fields[0])
        except ValueError:
            raise ThermoclineError(
                f"perf did not count {one_line(event)}: {one_line(fields[0])}"
            ) from None
        try:
            share = float(fields[4]) / 100
        except (ValueError, IndexError):
            share = 1.0
        before = found.get(event, Count(0.0))
        found[event] = Count(before.value + value, min(before.share, share))
    return found


@dataclass(frozen=True)
class Events:
    """perf's events of one kind of memory's controllers; a count is so many bytes."""

    kinds: tuple[str, ...]  # of tiers, as in machine files
    read: tuple[str, ...]
    write: tuple[str, ...]  # empty: `read` counts both ways
    bytes: int = 64

    @property
    def source(self) -> str:
        """The first event."""
        return f"perf {self.read[0]}"

    def measure(self, program: Sequence[str], environment: dict[str, str], scratch: Path) -> Bytes:
        """See Meter."""
        answer = scratch / "counts"
        events = [word for event in (*self.read, *self.write) for word in ("-e", event)]
        _run(
            ["perf", "stat", "-a", "-x", ";", "-o", str(answer), *events, "--", *program],
            environment,
        )
        return self.parse(answer.read_text(encoding="utf-8", errors="replace"))

    def parse(self, answer: str) -> Bytes:
        """From what `perf stat -x ';'` wrote."""
        found = counts(answer)
        missing = [event for event in (*self.read, *self.write) if event not in found]
        if missing:
            raise ThermoclineError(f"perf says nothing of {missing[0]}")
        read, write = (
            round(sum(found[event].value for event in events) * self.bytes)
            for events in (self.read, self.write)
        )
        return read, write


EVENTS = (
    Events(("HBM",), ("unc_mchbm_cas_count.rd",), ("unc_mchbm_cas_count.wr",)),
    Events(("MCDRAM",), ("unc_e_rpq_inserts",), ("unc_e_wpq_inserts",)),
    Events(
        ("CXL-DRAM",),
        ("unc_cxlcm_rxc_pack_buf_inserts.mem_data",),
        ("unc_cxlcm_txc_pack_buf_inserts.mem_data",),
    ),
    Events(("NVM",), ("unc_m_pmm_rpq_inserts",), ("unc_m_pmm_wpq_inserts",)),
    Events(("DRAM",), ("unc_m_cas_count.rd",), ("unc_m_cas_count.wr",)),  # Intel
    Events(("DRAM",), ("umc_cas_cmd.rd",), ("umc_cas_cmd.wr",)),  # AMD from Zen 4
    # AMD's data fabric before that; both ways together.
    Events(("DRAM",), tuple(f"dram_channel_data_controller_{n}" for n in range(8)), ()),
    Events(  # HiSilicon; counts of 32 bytes
        ("DRAM",), ("uncore_hisi_ddrc.flux_rd",), ("uncore_hisi_ddrc.flux_wr",), 32
    ),
)


@dataclass(frozen=True)
class Resctrl:
    """Bandwidth monitoring of the kernel's resctrl: what leaves the program's last-level caches.

    It tells memory of the processor's own socket from the rest, so it can read a tier that is not
    local.  Both ways together.
    """

    root: Path = RESCTRL

    @property
    def source(self) -> str:
        """What counts."""
        return "resctrl mbm_total_bytes - mbm_local_bytes"

    def measure(self, program: Sequence[str], environment: dict[str, str], scratch: Path) -> Bytes:
        """See Meter."""
        group = self.root / "mon_groups" / f"thermocline-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            raise ThermoclineError(f"can't make {group}: {error.strerror}") from error
        try:
            # The shell enters the group, so that all that it becomes is counted.
            enter = 'echo $$ >"$0" && exec "$@"'
            _run(["sh", "-c", enter, str(group / "tasks"), *program], environment)
            return self._remote(group), 0
        finally:
            group.rmdir()

    @staticmethod
    def _remote(group: Path) -> int:
        total = 0
        for domain in group.glob("mon_data/mon_L3_*"):
            try:
                total += int((domain / "mbm_total_bytes").read_text(encoding="ascii"))
                total -= int((domain / "mbm_local_bytes").read_text(encoding="ascii"))
            except (OSError, ValueError) as error:
                raise ThermoclineError(f"{domain} has no counts: {error}") from error
        return max(0, total)


def _run(program: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        program,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise ThermoclineError(
            f"a run under the counters failed with status {done.returncode}: "
            f"{one_line(said[-1]) if said else 'it said nothing'}"
        )


def find(tier: Tier) -> tuple[Meter | None, str]:
    """What can count this tier's traffic here; or None, and what is missing."""
    counted = any(RESCTRL.glob("mon_data/mon_L3_*/mbm_local_bytes"))
    if counted and os.access(RESCTRL / "mon_groups", os.W_OK):
        return Resctrl(), ""
    if shutil.which("perf") is None:
        return None, "perf is missing: apt install linux-perf"
    known = [events for events in EVENTS if tier.kind in events.kinds]
    said = ""
    for events in known:
        probe = ["perf", "stat", "-a", *(word for name in events.read for word in ("-e", name))]
        done = subprocess.run(
            [*probe, "--", "true"], capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode == 0 and "<not supported>" not in done.stderr:
            return events, ""
        said = said or done.stderr
    if "paranoid" in said or "ermission" in said:
        return None, "counting a whole host needs root, or sysctl kernel.perf_event_paranoid=0"
    return None, (
        f"this processor has no counters of {tier.kind} traffic that perf knows, as in most "
        "virtual machines"
    )
