"""What `thermocline machine show --roofline` prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thermocline.machine.model import Machine

Splits = Sequence[tuple[float, ...]]


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

    if asked.png:
        files.refuse_overwrite(asked.png, asked.force)
    chosen = splits(machine, asked.split)
    if asked.as_json:
        output.emit_json(as_json(machine, chosen, asked.profile))
    else:
        show(machine, chosen, asked.profile)
    if asked.png:
        roofline_drawing.draw(machine, chosen, asked.png)
    if not asked.as_json:
        if asked.png:
            print(f"wrote {asked.png}")
        words = ["thermocline", "plan", "PROFILE", "--machine", name, "--capacity", "25%"]
        output.next_step(*words, "--strategy", "fastest")


def splits(machine: "Machine", text: str | None) -> Splits:
    """The asked one, or those worth a look."""
    from thermocline.models import traffic

    return [traffic.parse(machine, text)] if text else traffic.shown(machine)


def as_json(machine: "Machine", chosen: Splits, profile: Path | None) -> dict[str, Any]:
    """All lines; flops a second, bytes a second, watts, flops a joule."""
    from thermocline.cli import roofline_sites
    from thermocline.models import power, roofline, splits, traffic

    roof = roofline.roof(machine)
    data: dict[str, Any] = {
        "roof": {"flops": roof.flops, "source": roof.source},
        "model": "modelled",
        "not_in_power": power.missing(machine),
        "splits": [],
    }
    for shares in chosen:
        points = []
        for intensity in roofline.INTENSITIES:
            drawn = power.draw(machine, shares, intensity)
            point = {
                "flops_per_byte": intensity,
                "flops": roofline.attainable(machine, shares, intensity),
            }
            if drawn:
                point |= {
                    "watts": drawn.watts,
                    "memory_watts": drawn.memory_watts,
                    "flops_per_joule": drawn.flops_a_joule,
                }
            points.append(point)
        data["splits"].append(
            {
                "shares": list(shares),
                "bandwidth": traffic.bandwidth(machine, shares),
                "ridge": roofline.ridge(machine, shares),
                "points": points,
            }
        )
    data["measured"] = [
        {"cpu_node": curve.cpu_node, "memory_node": curve.memory_node, "points": points}
        for curve, points in roofline.measured(machine)
    ]
    data["measured_splits"] = [vars(each) for each in splits.measured(machine)]
    if profile:
        data["sites"] = [vars(site) for site in roofline_sites.of(machine, profile)]
    return data


def show(machine: "Machine", chosen: Splits, profile: Path | None) -> None:
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
    if profile:
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
