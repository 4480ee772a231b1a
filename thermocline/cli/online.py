"""What `thermocline run --online` prints."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thermocline.methods.online import OnlineRun


def show(ran: "OnlineRun", modelled: bool, command: list[str]) -> None:
    """A table of processes, and what to do next."""
    from thermocline import units
    from thermocline.cli import output

    guided, moved = ran.processes, ran.moved
    column = output.Column
    print()
    output.table(
        [
            column("process"),
            column("plans", True),
            column("sites moved", True),
            column("bytes moved", True),
            column("time to move", True),
            column("heap traffic of tier 0", True),
        ],
        [
            [
                f"{each.last.program if each.last else '?'} ({pid})",
                str(moved[pid].get("plans", 0)),
                str(moved[pid].get("moves", 0)),
                units.format_bytes(moved[pid].get("moved_bytes", 0)),
                f"{1e3 * moved[pid].get('moving_seconds', 0.0):.3g} ms",
                units.format_share(each.fast_share),
            ]
            for pid, each in sorted(guided.items())
        ],
    )
    for pid, each in sorted(guided.items()):
        for at, move in each.moves:
            gain = f"it saves {units.format_share(move.gain_share)} of the memory time"
            why = "tier 0 held more than it may" if move.forced else gain
            print(f"{pid} at {at:.3g} s: {units.format_bytes(move.moved_bytes)} to move: {why}")
    if modelled:
        output.note(
            "this host has too few kinds of memory for the plan: tiers are modelled, all data "
            "stays where it is"
        )
    output.next_step("thermocline", "profile", "--", *command)
