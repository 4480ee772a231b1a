"""Ours, not the thesis': the kernel's own reclaim, with compressed swap as far memory."""

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from thermocline.errors import ThermoclineError
from thermocline.measuring import reclaim
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import fig62, migrated, real_moves
from thermocline.reproduce.ryoo.migrated import FIXED, MB, OURS
from thermocline.reproduce.ryoo.mixes import MixRun
from thermocline.reproduce.study import Study, Update

KERNEL = "reclaim"
ENGINE = (*FIXED, OURS)
SWAP = 1024 * MB
HUGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def runs(study: Study) -> Sequence[MixRun]:
    """Nothing is simulated."""
    del study
    return ()


def measure(study: Study, update: Update) -> Any:
    """The kernel and the engine, program by program; the engine once for Figure 6.2 and here."""
    made, mixes = migrated.chapter6(study)
    near = real_moves.near_bytes(made)

    def kernel(command: Sequence[str]) -> dict[str, Any]:
        one = reclaim.run(command, near, real_moves.LIMIT)
        if one.status not in (0, -signal.SIGKILL):
            raise ThermoclineError(f"{command[0]} failed with {near // MB} MiB: {one.status}")
        killed = one.status != 0 and not one.ended
        faults = one.major_faults
        return {"seconds": one.seconds, "ended": one.ended, "killed": killed, "faults": faults}

    before = (made.measurements.get(fig62.ITEM.name) or {}).get("found") or {}
    try:
        with reclaim.compressed_swap(SWAP):
            ways = {KERNEL: kernel, **({} if before else real_moves.ways(near, ENGINE))}
            found = real_moves.measure(mixes, update, ways, real_moves.note(near))
    except ThermoclineError as error:
        return {"found": {}, "notes": [f"not on this host: {error}"]}
    found["found"] = {
        name: {**before.get(name, {}), **each} for name, each in found["found"].items()
    }
    huge = HUGE.read_text(encoding="ascii").strip() if HUGE.exists() else "none"
    found["notes"].append(
        f"reclaim: a cgroup's limit of {near // MB} MiB, which the program's files and the kernel's"
        " own memory for it are part of, and zram with the kernel's usual compression, which takes"
        " the time that it takes; its faults are major faults, of a page and what the kernel reads"
        f" ahead; transparent huge pages: {huge}; killed: the kernel found nothing to evict, and"
        " ended the program"
    )
    return found


def result(study: Study) -> Result:
    """Times over the plain program's, and faults."""
    _, mixes = migrated.chapter6(study)
    real = study.measurements.get(ITEM.name) or {"found": {}, "notes": []}
    found = real["found"]
    names = (KERNEL, *ENGINE)

    def faults(name: str) -> tuple[str, ...]:
        each = found.get(name)
        return tuple(str(each[way].get("faults", "-")) if each else "-" for way in names)

    times = Table(
        "Real pages: time over the plain program's, by the kernel's reclaim to compressed swap and"
        " by the engine (not in the thesis)",
        ("workload", *names),
        tuple((mix.label, *real_moves.cells(found.get(mix.name), names)) for mix in mixes),
    )
    counts = Table(
        "Their faults on far data", times.columns, tuple((m.label, *faults(m.name)) for m in mixes)
    )
    claims = [_claim(found)] if found else []
    return Result((times, counts), tuple(claims), tuple(real["notes"]), {"real": real})


def _claim(found: Mapping[str, Any]) -> Claim:
    """By those programs of which at least one of the two saw the end."""
    better, worse = [], []
    for name, each in found.items():
        ours, theirs = each[OURS], each[KERNEL]
        last = (ours["ended"], theirs["ended"] or theirs["killed"])
        if last[0] < last[1] or (last == (False, False) and ours["seconds"] < theirs["seconds"]):
            better.append(name)
        elif not last[1]:
            worse.append(name)
    return Claim(
        "ours",
        f"{OURS} takes less time than the kernel's reclaim",
        f"less: {', '.join(better) or 'none'}; more: {', '.join(worse) or 'none'}; the others saw"
        " no end under either",
        not worse and bool(better),
    )


ITEM = Item(KERNEL, "ours: the kernel's reclaim to compressed swap", runs, result, measure, 6)
