"""What programs that share a machine did, each by itself."""

from collections.abc import Sequence
from pathlib import Path

from thermocline import units
from thermocline.cli import output
from thermocline.simulation.comparison import Answer


def show(answers: Sequence[Answer]) -> None:
    """A table of the programs of each answer that has several; nothing for others."""
    shared = [answer for answer in answers if len(answer.json["programs"]) > 1]
    if not shared:
        return
    column = output.Column
    tiers = [tier["name"] for tier in shared[0].json["tiers"]]
    alone = any(answer.alone_seconds for answer in shared)
    limited = any(answer.row.capacity for answer in shared)
    columns = [
        *([column("capacity", True)] if limited else []),
        column("scheme"),
        column("program"),
        column("time", True),
        *([column("alone", True), column("slowdown", True)] if alone else []),
        column("IPC", True),
        column("stalled", True),
        *(column(f"{tier} traffic", True) for tier in tiers),
    ]
    rows = []
    for answer in shared:
        names = [each["trace"] for each in answer.row.trace.survey["programs"]]
        for number, program in enumerate(answer.json["programs"]):
            seconds = program["seconds"]
            row = [answer.row.capacity] if limited else []
            row += [
                answer.row.label,
                f"{number}: {Path(names[number]).name}",
                units.format_duration(seconds),
            ]
            if alone:
                before = answer.alone_seconds[number]
                row += [units.format_duration(before), f"{seconds / before:.2f}x" if before else ""]
            threads_seconds = seconds * len(program["threads"])
            row += [
                f"{program['instructions_per_cycle']:.2f}",
                units.format_share(
                    program["stall_seconds"] / threads_seconds if threads_seconds else None
                ),
                *(
                    units.format_bytes(tier["read_bytes"] + tier["write_bytes"])
                    for tier in program["tiers"]
                ),
            ]
            rows.append(row)
    output.table(columns, rows)
    print()
