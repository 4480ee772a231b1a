"""What `thermocline machine show --roofline` prints."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thermocline.machine.model import Machine
    from thermocline.models.lines import Splits
    from thermocline.profiles.model import Profile


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    split: str | None
    profile: Path | None
    png: Path | None
    force: bool
    as_json: bool


def run(machine: "Machine", name: str, asked: Asked) -> None:
    """The whole command."""
    from thermocline import files
    from thermocline.cli import output, roofline_drawing
    from thermocline.models import lines
    from thermocline.profiles import model

    if asked.png:
        files.refuse_overwrite(asked.png, asked.force)
    chosen = lines.splits(machine, asked.split)
    profile = model.load(asked.profile) if asked.profile else None
    if asked.as_json:
        output.emit_json(lines.to_json(machine, chosen, profile))
    else:
        show(machine, chosen, profile)
    if asked.png:
        roofline_drawing.draw(machine, chosen, asked.png)
    if not asked.as_json:
        if asked.png:
            print(f"wrote {asked.png}")
        words = ["thermocline", "plan", "PROFILE", "--machine", name, "--capacity", "25%"]
        output.next_step(*words, "--strategy", "fastest")


def show(machine: "Machine", chosen: "Splits", profile: "Profile | None") -> None:
    """Tables: the splits, then the roofline, power-line and arch-line over the intensity."""
    from thermocline.cli import output, roofline_sites
    from thermocline.models import power, roofline, traffic

    column = output.Column
    roof = roofline.roof(machine)
    print(f"roof: {roofline.format_flops(roof.flops)} ({roof.source or 'no source'})")
    shared = any(tier.shares_channel_with for tier in machine.tier)
    if len(machine.tier) > 1:
        how = "share channels: their times add up" if shared else "work side by side"
        print(f"tiers {how}; reads only\n")
    rows = []
    for shares in chosen:
        rate = traffic.bandwidth(machine, shares)
        drawn = power.draw(machine, shares, roofline.INTENSITIES[0])
        rows.append(
            [
                traffic.name(machine, shares),
                f"{rate / 1e9:.4g}GB/s",
                f"{roofline.ridge(machine, shares):.3g}",
                f"{drawn.memory_watts:.3g} W" if drawn else "-",
                f"{drawn.bytes_a_joule / 1e9:.3g} GB/J" if drawn else "-",
            ]
        )
    output.table(
        [
            column("traffic"),
            column("bandwidth", True),
            column("ridge (flops/byte)", True),
            column("memory's power", True),
            column("per dynamic joule", True),
        ],
        rows,
    )
    lines = [("roofline, Gflop/s", _flops)]
    if power.draw(machine, chosen[0], 1.0):
        lines += [
            ("power-line, W (modelled)", _watts),
            ("arch-line, Gflop/J (modelled)", _per_joule),
        ]
    for title, line in lines:
        print(f"\n{title}; columns are flops a byte")
        output.table(
            [column("traffic"), *(column(f"{at:g}", True) for at in roofline.INTENSITIES)],
            [
                [
                    traffic.name(machine, shares),
                    *(line(machine, shares, at) for at in roofline.INTENSITIES),
                ]
                for shares in chosen
            ],
        )
    _show_measured(machine)
    _show_splits(machine)
    if power.missing(machine):
        output.note(f"not known, so not in the power: {', '.join(power.missing(machine))}")
    if profile is not None:
        roofline_sites.show(machine, profile)


def _flops(machine: "Machine", shares: tuple[float, ...], at: float) -> str:
    from thermocline.models import roofline

    return f"{roofline.attainable(machine, shares, at) / 1e9:.4g}"


def _watts(machine: "Machine", shares: tuple[float, ...], at: float) -> str:
    from thermocline.models import power

    drawn = power.draw(machine, shares, at)
    return f"{drawn.watts:.4g}" if drawn else "-"


def _per_joule(machine: "Machine", shares: tuple[float, ...], at: float) -> str:
    from thermocline.models import power

    drawn = power.draw(machine, shares, at)
    return f"{drawn.flops_a_joule / 1e9:.3g}" if drawn else "-"


def _show_measured(machine: "Machine") -> None:
    from thermocline.cli import output
    from thermocline.models import roofline

    for curve, points in roofline.measured(machine):
        memory = "a file" if curve.memory_node is None else f"node {curve.memory_node}"
        memory = f"nodes {curve.nodes}" if curve.nodes else memory
        print(
            f"\nmeasured: {memory} from node {curve.cpu_node}, {curve.threads} thread(s); Gflop/s"
        )
        output.table(
            [output.Column(f"{at:g}", True) for at, _ in points],
            [[f"{flops / 1e9:.4g}" for _, flops in points]],
        )


def _show_splits(machine: "Machine") -> None:
    from thermocline.cli import output
    from thermocline.models import splits

    found = splits.measured(machine)
    if not found:
        return
    print("\nmeasured splits beside both models, GB/s")
    output.table(
        [output.Column("nodes")]
        + [output.Column(title, True) for title in ("measured", "take turns", "side by side")],
        [
            [each.nodes, *(f"{x / 1e9:.4g}" for x in (each.measured, each.serial, each.parallel))]
            for each in found
        ],
    )
    if note := splits.contradicts(machine, found):
        output.note(note)
