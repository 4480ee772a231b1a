"""thermocline translation."""

from typing import TYPE_CHECKING, Annotated, Optional

import typer

from thermocline.cli.options import AsJsonAside

if TYPE_CHECKING:
    from thermocline.translation_counters import Cost


def translation(
    command: Annotated[list[str], typer.Argument(help="The command, after --.")],
    penalty: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option("--penalty", min=0, help="What if each miss took so many cycles?"),
    ] = None,
    as_json: AsJsonAside = False,
) -> None:
    """Measure what address translation costs a run, by the processor's counters.

    Any command, annotated or not. Needs perf, and a processor that counts page walks; few virtual
    machines pass these counters on.  --penalty: cycles such as `thermocline simulate --translation`
    prints for another way to translate.

    Example: thermocline translation -- ./lulesh -s 20
    """
    import tempfile
    from pathlib import Path

    from thermocline import translation_counters
    from thermocline.cli import output

    events = translation_counters.find()
    with tempfile.TemporaryDirectory(prefix="thermocline-translation-") as scratch:
        done = translation_counters.measure(events, command, Path(scratch), as_json)
    cost = done.cost
    if as_json:
        output.emit_json(done.to_json(penalty))
    else:
        _print(cost, done.virtual, penalty)
    if cost.walk_cycles is None:
        output.note(
            f"processors of this kind ({done.events.processors}) count misses, and no cycles of"
            " walks: cycles per miss and share of time are not known"
        )
    if cost.counted_share < 1:
        output.note(
            f"counters took turns, each for {100 * cost.counted_share:.0f} % of the run or more:"
            " the rest is perf's estimate"
        )
    if done.status:
        output.note(f"the command ended with status {done.status}")
    if not as_json:
        output.next_step("thermocline", "trace", "--", *command)
    raise typer.Exit(done.status)


def _print(cost: "Cost", virtual: bool, penalty: float | None) -> None:
    """The numbers of Figure 4.4, beside the ranges of the thesis' Table 7.1."""
    from thermocline.cli import output
    from thermocline.reproduce import ryoo_table71

    programs = ryoo_table71.PROGRAMS.values()
    theirs = {
        "cycles": [p.virtual_penalty if virtual else p.native_penalty for p in programs],
        "share": [p.virtual_overhead if virtual else p.native_overhead for p in programs],
    }
    kind = "virtualised" if virtual else "native"

    def share(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.2f} %"

    per_miss = cost.cycles_per_miss
    rows = [
        ["cycles", f"{cost.cycles:.4g}", ""],
        ["instructions", f"{cost.instructions:.4g}", ""],
        ["L2-TLB misses", f"{cost.misses:.4g}", ""],
        ["L2-TLB misses per 1000 instructions", f"{cost.misses_per_kinstr:.4g}", ""],
        [
            "cycles per L2-TLB miss (Figure 4.4)",
            "-" if per_miss is None else f"{per_miss:.1f}",
            f"{min(theirs['cycles']):.0f} to {max(theirs['cycles']):.0f}",
        ],
        [
            "share of time in page walks",
            share(cost.share_of_time),
            f"{share(min(theirs['share']))} to {share(max(theirs['share']))}",
        ],
        ["faster, if translation cost nothing: at most", share(cost.bound), ""],
    ]
    if penalty is not None:
        title = f"faster, if a miss took {penalty:g} cycles (equation 7.4)"
        rows.append([title, share(cost.improvement(penalty)), ""])
    column = output.Column
    output.table(
        [column("of the run"), column("measured", True), column(f"Table 7.1, {kind}", True)], rows
    )
