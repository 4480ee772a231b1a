"""Ours: spilling by weights, on machines whose memories have channels of their own.

There bandwidths add up (SEMANTICS: the parallel model), and an array is dealt to both memories by
the machine file's read bandwidths, as `tc_spill` with weights and plans with shares do.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.machine import store
from thermocline.models import traffic
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, paper
from thermocline.reproduce.optane.patterns import Pattern
from thermocline.reproduce.optane.runs import GUIDED, OptaneRun, of_kernel
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MACHINES = {"knl-7230": 512, "dram-cxl": 1280}  # and pages of a thread: more than caches hold
THREADS = 16
FAR = (0.0, 0.5, 1.0, 1.5, 2.0)  # of the share that the bandwidths give it


def _best(machine: str) -> float:
    """Far memory's share at which both are busy all the time."""
    return traffic.best(store.find(machine))[1]


def _shares(machine: str) -> list[float]:
    return [min(1.0, part * _best(machine)) for part in FAR] + [1.0]


def _run(machine: str, far: float) -> OptaneRun:
    pattern = Pattern("read", THREADS, 1, MACHINES[machine], 2)
    return of_kernel(pattern, GUIDED, placed=(("a", (1 - far, far)),), machine=machine)


def runs(study: Study) -> Sequence[OptaneRun]:
    """Each memory alone, and splits around the one that the bandwidths give."""
    return [
        each
        for machine in MACHINES
        for far in _shares(machine)
        for each in common.needs(_run(machine, far))
    ]


def result(study: Study) -> Result:
    """Rates, relative to the parallel model with each memory's rate alone."""
    rows, data = [], {}
    for machine in MACHINES:
        shares = _shares(machine)
        rates = [common.measured(study, _run(machine, far)).rate for far in shares]
        near_alone, far_alone = rates[0], rates[-1]
        models = [1 / max((1 - far) / near_alone, far / far_alone) for far in shares]
        for far, rate, model in zip(shares, rates, models, strict=True):
            marked = "by weights" if far == _best(machine) else ""
            parts = (f"{rate / near_alone:.2f}", f"{model / near_alone:.2f}", f"{rate / model:.3f}")
            rows.append((machine, f"{100 * far:.1f} %", marked, *parts))
        data[machine] = {"far": shares, "rate": rates, "model": models}
    table = Table(
        "Reading an array dealt to both memories, over the fast one alone",
        ("machine", "in the far memory", "", "here", "parallel model", "of it"),
        tuple(rows),
    )
    weighted = {m: data[m]["rate"][2] / data[m]["model"][2] for m in MACHINES}
    gains = {m: data[m]["rate"][2] / data[m]["rate"][0] for m in MACHINES}
    claims = (
        Claim(
            "goal",
            f"weighted spilling reaches {common.percent(paper.MODEL_SHARE)} of the parallel model",
            ", ".join(f"{m} {100 * w:.1f} %" for m, w in weighted.items()),
            min(weighted.values()) >= paper.MODEL_SHARE,
        ),
        Claim(
            "goal",
            "and is faster than the fast memory alone",
            ", ".join(f"{m} {g:.2f} times" for m, g in gains.items()),
            min(gains.values()) > 1,
        ),
    )

    def draw(figure: "Figure") -> None:
        for axis, machine in zip(figure.subplots(1, len(MACHINES)), MACHINES, strict=True):
            of = data[machine]
            far = [100 * each for each in of["far"]]
            axis.plot(far, of["rate"], "o-", label="simulated")
            axis.plot(far, of["model"], "--", color="black", label="parallel model")
            axis.set_title(machine)
            axis.set_xlabel("in the far memory, percent")
            axis.set_ylabel("GB/s of the part")
            axis.legend(fontsize=7)

    notes = (
        "machines as their files have them, memory and caches whole;"
        f" {THREADS} cores of each and that part of its channels; nothing is divided by a number,"
        " since nothing is full",
    )
    return Result((table,), claims, notes, data, draw, (9, 4))


ITEM = Item("weighted", "ours: spilling by weights where bandwidths add up", runs, result)
