"""The picture of `thermocline machine show --roofline --png`."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from thermocline.machine.model import Machine
    from thermocline.models.lines import Splits


def draw(machine: "Machine", chosen: "Splits", path: Path) -> None:
    """Roofline, power-line and arch-line side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 4.5), layout="constrained")
    _draw(figure, machine, chosen)
    aside = path.with_name(f".{path.name}.part")
    figure.savefig(aside, dpi=150, format="png")
    aside.rename(path)


def _draw(figure: "Figure", machine: "Machine", chosen: "Splits") -> None:
    from thermocline.models import power, roofline, traffic

    axes = figure.subplots(1, 3)
    for shares in chosen:
        label = traffic.name(machine, shares)
        drawn = [power.draw(machine, shares, at) for at in roofline.INTENSITIES]
        flops = [roofline.attainable(machine, shares, at) / 1e9 for at in roofline.INTENSITIES]
        axes[0].plot(roofline.INTENSITIES, flops, label=label)
        if all(drawn):
            known = [each for each in drawn if each]
            axes[1].plot(roofline.INTENSITIES, [each.watts for each in known], label=label)
            axes[2].plot(
                roofline.INTENSITIES, [each.flops_a_joule / 1e9 for each in known], label=label
            )
    for curve, points in roofline.measured(machine):
        name = f"measured, node {curve.cpu_node} to {curve.memory_node}"
        axes[0].plot([at for at, _ in points], [y / 1e9 for _, y in points], "k.", label=name)
    titles = ("roofline", "power-line (modelled)", "arch-line (modelled)")
    for axis, title, unit in zip(axes, titles, ("Gflop/s", "W", "Gflop/J"), strict=True):
        axis.set(title=title, xlabel="flops a byte", ylabel=unit, xscale="log")
    axes[0].set_yscale("log")
    axes[0].legend(fontsize="small")
