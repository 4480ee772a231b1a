"""What `thermocline simulate` is asked, checked, and answered: of traces, or of a live program."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline import executors
from thermocline.errors import Misuse
from thermocline.machine import calibration, model, store
from thermocline.machine.devices import Fidelity
from thermocline.machine.model import Machine
from thermocline.notes import note
from thermocline.planning import capacity as capacities
from thermocline.planning.capacity import Capacity
from thermocline.simulation import comparison, config, live
from thermocline.simulation import scheme as schemes
from thermocline.simulation.answers import Answers
from thermocline.simulation.comparison import NamedPlan, Row, Trace
from thermocline.simulation.runner import Bars, no_bars
from thermocline.simulation.translation import Choice


@dataclass(frozen=True)
class Asked:
    """Texts are as on the command line; None: the default."""

    machine: Machine
    machine_name: str
    scheme: str = "first-touch"
    plans: Sequence[NamedPlan] = ()
    capacity: str | None = None
    fidelity: str = "faithful"
    baseline: str | None = None  # the first scheme
    prefetcher: bool = True
    budget: int = 0  # references of a thread at most; 0: all
    region: dict[str, Any] | None = None  # regions.parse
    whole_machine: bool = False
    seed: int = 0
    alone: bool = False  # programs together: each by itself, too
    tlbs: Sequence[Choice] = ()  # translation.choices


def target(name: str) -> Machine:
    """The machine; this host as `machine calibrate` found it, which hwloc alone can't simulate."""
    found = store.find(name)
    if name != store.DETECT or all(tier.device for tier in found.tier):
        return found
    calibrated = calibration.load()
    if calibrated is None:
        raise Misuse(
            "this host's memory is not known well enough to be simulated: "
            f"{calibration.AGAIN}, or name another machine with --machine (see 'thermocline "
            "machine list')"
        )
    return model.parse(calibrated.machine, calibration.place())


def simulate(
    traces: Sequence[Path],
    asked: Asked,
    jobs: int | None = None,
    scheduler: str | None = None,
    bars: Bars = no_bars,
) -> Answers:
    """Every trace under every scheme, plan and capacity; `jobs` at a time, or on Dask's workers."""
    chosen, limits = _check(asked)
    made = _rows(comparison.survey(traces, asked.region), asked, chosen, limits)
    against = _baseline(made, asked)
    workers = executors.choose(scheduler) if scheduler else None
    progress = bars("simulating", _references(made, asked.budget))
    return _answers(comparison.run(made, progress, jobs, workers), against, asked)


def simulate_live(
    command: Sequence[str], threads: int, asked: Asked, aside: bool = False, bars: Bars = no_bars
) -> tuple[Answers, live.Done]:
    """The same of a program that runs meanwhile; `aside`: its output goes to stderr."""
    chosen, limits = _check(asked)
    live.check(limits, asked.region or {})
    made = _rows([live.trace_of(command, threads)], asked, chosen, limits)
    against = _baseline(made, asked)
    progress = bars("simulating", _references(made, asked.budget))
    done = live.run(made, command, asked.region or {}, progress, aside)
    for each in done.notes:
        note(each)
    return _answers(done.answers, against, asked), done


def _check(asked: Asked) -> tuple[list[schemes.Scheme], list[Capacity]]:
    chosen = schemes.parse_all(asked.scheme)
    if asked.plans and not any(each.needs_plan for each in chosen):
        raise Misuse("--plan is given, but no scheme is guided: add membrain to --scheme")
    return chosen, _capacities(asked)


def _capacities(asked: Asked) -> list[Capacity]:
    text = asked.capacity
    if text is None:
        # What the plan was made for, else all that the machine has.
        made_for = [named.plan.capacity for named in asked.plans if named.plan.capacity]
        text = made_for[0] if made_for else ""
    return [capacities.parse(each) for each in text.split(",") if each.strip()]


def _rows(
    surveyed: Sequence[Trace],
    asked: Asked,
    chosen: Sequence[schemes.Scheme],
    limits: Sequence[Capacity],
) -> list[Row]:
    setting = config.Setting(
        machine=asked.machine,
        threads=1,
        touched_bytes=0,
        fidelity=_fidelity(asked.fidelity),
        prefetcher=asked.prefetcher,
        budget=asked.budget,
        seed=asked.seed,
        whole=asked.whole_machine,
        region=asked.region or {},
    )
    return comparison.rows(surveyed, setting, chosen, asked.plans, limits, asked.alone, asked.tlbs)


def _fidelity(text: str) -> Fidelity:
    if text == "faithful":
        return "faithful"
    if text == "screening":
        return "screening"
    raise Misuse(f"--fidelity {text!r}: give faithful or screening")


def _baseline(made: Sequence[Row], asked: Asked) -> str:
    labels = list(dict.fromkeys(row.label for row in made))
    against = asked.baseline or labels[0]
    if against not in labels:
        raise Misuse(f"--baseline {against!r} is none of the schemes: {', '.join(labels)}")
    return against


def _references(made: Sequence[Row], budget: int) -> int | None:
    def of(row: Row) -> int:
        threads = int(row.trace.survey["threads"])
        return min(row.trace.references, budget * threads) if budget else row.trace.references

    return sum(of(row) for row in made) or None


def _answers(found: Sequence[comparison.Answer], against: str, asked: Asked) -> Answers:
    return Answers(found, against, asked.machine, asked.machine_name, calibration.load())
