"""The table that `thermocline profile` prints of a profile."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from thermocline.profiles.model import Profile

TOP = 12


def print_profile(path: "Path", found: "Profile") -> None:
    """A process's profile, its dearest sites first."""
    from thermocline.cli import output, sampled

    if sampled.counts_traffic(found):
        _print_traffic(found)
    else:
        sampled.print_events(found, TOP)
    _print_sum(path, found)
    if not found.complete:
        output.note(f"{path}: the program did not finish; this is what was seen until then")
    if found.method == "none":
        print("traffic was not measured (--method none): these are allocations and capacity")
    elif isinstance(meaning := found.sampling.get("meaning"), str):
        print(meaning)
    elif sampled.is_sampled(found):
        print(sampled.describe(found))
    else:
        _print_unseen(found)


def _print_traffic(found: "Profile") -> None:
    from thermocline import units
    from thermocline.cli import output, sampled
    from thermocline.profiles import uncertainty

    total = found.traffic_bytes
    column = output.Column
    estimated = sampled.is_sampled(found)
    ranked = sorted(found.sites, key=lambda s: (-s.traffic_bytes, -s.peak_resident_bytes, s.key))
    print()
    output.table(
        [
            column("pages" if "unit" in found.sampling else "traffic", True),
            column("share", True),
            *([column("95 %", True)] if estimated else []),
            column("read", True),
            column("written", True),
            column("peak resident", True),
            column("allocations", True),
            column("site"),
        ],
        [
            [
                units.format_bytes(site.traffic_bytes),
                units.format_share(site.traffic_bytes / total if total else None),
                *(
                    [uncertainty.format_interval(site, uncertainty.is_complete(found))]
                    if estimated
                    else []
                ),
                units.format_bytes(site.read_bytes),
                units.format_bytes(site.write_bytes),
                units.format_bytes(site.peak_resident_bytes),
                str(site.allocations) if site.kind != "nonheap" else "-",
                site.key,
            ]
            for site in ranked[:TOP]
        ],
    )
    if len(ranked) > TOP:
        print(f"... and {len(ranked) - TOP} more")


def _print_sum(path: "Path", found: "Profile") -> None:
    from thermocline import units
    from thermocline.cli import sampled

    what = found.sampling.get("unit", "memory traffic")
    traffic = f"{units.format_bytes(found.traffic_bytes)} of {what} in "
    print(
        f"\n{found.program}: {traffic if sampled.counts_traffic(found) else ''}"
        f"{found.wall_seconds:.3g} s, peak resident {units.format_bytes(found.peak_resident_bytes)}"
    )
    print(f"wrote {path}")


def _print_unseen(found: "Profile") -> None:
    from thermocline import units

    if found.unseen_instruction_share is None:
        print(
            "the share of instructions that was not seen is unknown (no perf, or too short a run)"
        )
    else:
        print(
            f"{units.format_share(found.unseen_instruction_share)} of the instructions were in "
            "code that is not annotated; its traffic is missing"
        )
