"""Figure 4.1: what moving contiguous memory costs by granularity, and what the time goes to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline import units
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, migrated
from thermocline.reproduce.ryoo.migrated import FIXED, MB
from thermocline.reproduce.ryoo.mixes import MixRun, MixStudy
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM = "stream-moved"  # sweeps, so that all that moves is contiguous
SIZES = tuple(4096 * 4**power for power in range(9))  # bytes: 4 KiB to 256 MiB
BYTES = {"4K": 4096, "64K": 65536, "2M": 2097152}
PARTS = ("faults", "kernel", "shootdowns", "copying")


def runs(study: Study) -> Sequence[MixRun]:
    """One program that streams, fixed granularities."""
    made, _ = migrated.chapter6(study)
    return migrated.runs(made, [made.mixes[PROGRAM]], FIXED)


def _parts(study: MixStudy, policy: str) -> tuple[float, dict[str, float]]:
    """Seconds for each byte that moved, in or out, and what they went to."""
    run = migrated.run(study, study.mixes[PROGRAM], policy)
    answer, costs = study.answer(run), study.configuration(run)["placement"]
    moved, counted = answer["placement"]["migration"], answer["placement"]["policy"]
    pages = int(moved["moved_bytes"]) // 4096
    faults = int(counted["faults"]) + int(counted["first_touches"])
    serving = float(moved["serving_seconds"])
    parts = {
        "faults": faults * (costs["fault_ps"] + costs["far_ps"]) / 1e12,
        "kernel": (int(moved["operations"]) * costs["operation_ps"] + pages * costs["page_ps"])
        / 1e12,
        "shootdowns": float(moved["pause_seconds"]),
    }
    # Cores stand still while the kernel works: a shootdown is no time beside.
    parts["copying"] = max(0.0, serving - parts["faults"] - parts["kernel"])
    return serving / max(1, int(moved["moved_bytes"])), parts


def result(study: Study) -> Result:
    """Both parts of the figure."""
    made, _ = migrated.chapter6(study)
    found = {policy: _parts(made, policy) for policy in FIXED}

    def seconds(policy: str, size: int) -> float:
        chunks = -(-size // BYTES[policy])
        return found[policy][0] * chunks * BYTES[policy]

    times = Table(
        "Figure 4.1a: time to move contiguous memory, by granularity",
        ("memory", *FIXED),
        tuple(
            (
                units.format_bytes(size),
                *(
                    units.format_duration(seconds(policy, size)) if size >= BYTES[policy] else "-"
                    for policy in FIXED
                ),
            )
            for size in SIZES
        ),
    )
    whole = {policy: sum(found[policy][1].values()) for policy in FIXED}
    shares = {
        policy: {part: found[policy][1][part] / (whole[policy] or 1) for part in PARTS}
        for policy in FIXED
    }
    breakdown = Table(
        "Figure 4.1b: what the time goes to",
        ("granularity", *PARTS),
        tuple(
            (policy, *(common.percent(shares[policy][part]) for part in PARTS)) for policy in FIXED
        ),
    )
    claims = (
        Claim(
            "4.2",
            "the larger the granularity, the less time the same memory takes",
            ", ".join(
                f"{policy} {units.format_duration(seconds(policy, 256 * MB))}" for policy in FIXED
            )
            + " for 256 MiB",
            seconds("4K", 256 * MB) > seconds("64K", 256 * MB) > seconds("2M", 256 * MB),
        ),
        Claim(
            "4.2",
            "overhead dominates when the granularity is small, and falls as it grows",
            ", ".join(
                f"{policy} {common.percent(1 - shares[policy]['copying'])}" for policy in FIXED
            )
            + " is not copying",
            shares["4K"]["copying"] < 0.5 < shares["2M"]["copying"],
        ),
    )

    def draw(figure: "Figure") -> None:
        left, right = figure.subplots(1, 2)
        for policy in FIXED:
            those = [size for size in SIZES if size >= BYTES[policy]]
            left.loglog(
                [size / MB for size in those],
                [1000 * seconds(policy, size) for size in those],
                marker="o",
                label=policy,
                color=migrated.COLOURS[policy],
            )
        left.set_xlabel("MiB")
        left.set_ylabel("ms")
        left.legend()
        below = [0.0] * len(FIXED)
        for part in PARTS:
            values = [shares[policy][part] for policy in FIXED]
            right.bar(FIXED, values, bottom=below, label=part)
            below = [a + b for a, b in zip(below, values, strict=True)]
        right.legend(fontsize=8)

    notes = (
        "the mean of all chunks that moved while a program swept over its arrays, in and out alike,"
        " times as many chunks; faults, kernel and shootdowns are charged as the machine file says"
        " (assumed there), copying is simulated; the thesis: a kernel of 2014, numbers only drawn",
        *migrated.notes(made),
    )
    data = {"seconds_per_byte": {p: each for p, (each, _) in found.items()}, "shares": shares}
    return Result((times, breakdown), claims, notes, data, draw, (10, 4.5))


ITEM = Item("fig4.1", "what moving memory costs by granularity", runs, result, None, 6)
