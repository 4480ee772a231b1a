"""All the simulations that one command asks for, and their answers side by side."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from thermocline.errors import Misuse
from thermocline.executors import Executor
from thermocline.planning.capacity import Capacity
from thermocline.planning.model import Plan
from thermocline.simulation import config, programs, runner, translation
from thermocline.simulation.scale import Scale
from thermocline.simulation.scheme import Scheme

# Where screening is checked, as parts of the trace, and what part of it is, in all.
WINDOWS = (1 / 8, 1 / 2, 7 / 8)
WINDOW_SHARE = 16


@dataclass(frozen=True)
class Trace:
    """A trace, or several of programs that share a machine, and what the survey found there."""

    path: Path
    survey: dict[str, Any]

    @property
    def references(self) -> int:
        """Of all threads."""
        return int(self.survey["references"])


@dataclass(frozen=True)
class NamedPlan:
    """A plan, and what its rows are called."""

    path: str
    plan: Plan


@dataclass(frozen=True)
class Row:
    """One simulation."""

    trace: Trace
    scheme: Scheme
    label: str  # the scheme's name, with its plan's if there are several
    capacity: str  # as asked for; empty: the machine's own
    near_bytes: int | None
    plan: str  # the file of a guided scheme's
    strategy: str  # the plan's
    configured: config.Configured
    faithful: dict[str, Any] | None  # of a screening row: the same by faithful timing
    alone: Sequence[dict[str, Any]] = ()  # of programs together, if asked: each by itself
    choice: translation.Choice | None = None  # of translating addresses


@dataclass(frozen=True)
class Answer:
    """A row and what the simulator said."""

    row: Row
    json: dict[str, Any]
    screening_error: float | None = None  # of its time, on windows, against faithful timing
    alone_seconds: Sequence[float] = ()  # of each program by itself, if asked

    @property
    def seconds(self) -> float:
        """The program's time."""
        return float(self.json["seconds"])

    @property
    def near_share(self) -> float | None:
        """Of the devices' traffic."""
        each = [tier["read_bytes"] + tier["write_bytes"] for tier in self.json["tiers"]]
        return each[0] / sum(each) if sum(each) else None


def survey(paths: Sequence[Path], region: dict[str, Any] | None = None) -> list[Trace]:
    """Looks at each trace once; at a region (`regions.parse`) of it, or all.

    `a.trace+b.trace` are programs that share a machine.
    """
    if Path("-") in paths:
        raise Misuse("a trace is read more than once: record it to a file first")
    found: dict[Path, dict[str, Any]] = {}
    traces = []
    for path in paths:
        parts = programs.split(path)
        for part in parts:
            if part not in found:
                found[part] = runner.survey(part, region)
        traces.append(Trace(path, programs.merged(parts, [found[part] for part in parts])))
    for trace in traces:
        if trace.references == 0:
            where = " there" if region else ""
            raise Misuse(f"{trace.path} holds no references{where}: nothing to simulate")
    return traces


def rows(
    traces: Sequence[Trace],
    setting: config.Setting,
    schemes: Sequence[Scheme],
    plans: Sequence[NamedPlan],
    capacities: Sequence[Capacity],
    alone: bool = False,
    tlbs: Sequence[translation.Choice] = (),
) -> list[Row]:
    """Every trace under every capacity, scheme, plan and way of translating addresses.

    `alone`: and each of several programs by itself.
    """
    made = []
    for trace in traces:
        for named in plans:
            _check_plan(named, trace)
        limits: Sequence[Capacity | None] = capacities or [None]
        ways: Sequence[translation.Choice | None] = tlbs or [None]
        for capacity in limits:
            touched = int(trace.survey["touched_bytes"])
            mine = replace(
                setting,
                threads=int(trace.survey["threads"]),
                touched_bytes=touched,
                instructions=int(trace.survey["instructions"]),
                references=trace.references,
                near_bytes=capacity.of(touched) if capacity else None,
            )
            for scheme, choice in product(schemes, ways):
                one = replace(mine, translation=choice)
                guides: Sequence[NamedPlan | None] = plans if scheme.needs_plan else [None]
                for guide in guides or [None]:
                    label = scheme.name
                    if guide and len(plans) > 1:
                        label = f"{scheme.name}[{guide.plan.strategy}]"
                    if choice:
                        label = (
                            choice.last.name if len(schemes) == 1 else f"{label}/{choice.last.name}"
                        )
                    made.append(_row(trace, one, scheme, guide, label, capacity, alone))
    labels = [
        row.label for row in made if row.trace is traces[0] and row.capacity == made[0].capacity
    ]
    for label in labels:
        if labels.count(label) > 1:
            raise Misuse(f"two plans of the same strategy would both be called {label}")
    return made


def _row(
    trace: Trace,
    setting: config.Setting,
    scheme: Scheme,
    guide: NamedPlan | None,
    label: str,
    capacity: Capacity | None,
    alone: bool,
) -> Row:
    plan = guide.plan if guide else None
    configured = config.configure(setting, trace.path, scheme, plan)
    shared = programs.together(configured.json, trace.survey)
    faithful = None
    if setting.fidelity == "screening":
        exact = replace(setting, fidelity="faithful")
        faithful = config.configure(exact, trace.path, scheme, plan).json
        faithful = programs.together(faithful, trace.survey)
    return Row(
        trace=trace,
        scheme=scheme,
        label=label,
        capacity=capacity.text if capacity else "",
        near_bytes=setting.near_bytes,
        plan=guide.path if guide else "",
        strategy=guide.plan.strategy if guide else "",
        configured=replace(configured, json=shared),
        faithful=faithful,
        alone=programs.alone(shared) if alone and "traces" in shared else (),
        choice=setting.translation,
    )


def _check_plan(named: NamedPlan, trace: Trace) -> None:
    keys = {site.key for site in named.plan.sites}
    owners = trace.survey["owners"]  # None: of a live program, not known yet
    if keys and owners is not None and keys.isdisjoint(owners):
        raise Misuse(
            f"{named.path} names no site of {trace.path}: it is a plan for another program"
        )


def run(
    made: Sequence[Row],
    progress: runner.Progress,
    jobs: int | None,
    executor: Executor | None = None,
) -> list[Answer]:
    """Simulates; equal configurations run once.  Screening is checked against faithful timing.

    `executor`: workers elsewhere, in place of `jobs` processes here.
    """
    windows = [_windows(row) for row in made]
    wanted = [
        [row.configured.json, *row.alone, *own] for row, own in zip(made, windows, strict=True)
    ]
    texts = [[json.dumps(each, sort_keys=True) for each in row] for row in wanted]
    references = {
        text: row.trace.references for row, own in zip(made, texts, strict=True) for text in own
    }
    unique = [json.loads(text) for text in references]
    if executor is None:
        answers = runner.run_all(unique, progress, jobs)
    else:
        answers = runner.run_on(executor, unique, list(references.values()), progress)
    by_text = dict(zip(references, answers, strict=True))
    found = []
    for row, own in zip(made, texts, strict=True):
        seconds = [float(by_text[text]["seconds"]) for text in own[1:]]
        alone, seconds = seconds[: len(row.alone)], seconds[len(row.alone) :]
        error = None
        if seconds:  # faithful ones, then the same by screening
            half = len(seconds) // 2
            error = sum(seconds[half:]) / sum(seconds[:half]) - 1
        found.append(Answer(row, by_text[own[0]], error, alone))
    return found


def _windows(row: Row) -> list[dict[str, Any]]:
    """Three windows of the trace, by faithful timing and by screening; none for a faithful row."""
    if row.faithful is None:
        return []
    each = row.trace.references // int(row.trace.survey["threads"])
    length = max(1, each // (WINDOW_SHARE * len(WINDOWS)))
    return [
        {**configured, "skip": int(start * each), "budget": length}
        for configured in (row.faithful, row.configured.json)
        for start in WINDOWS
    ]


def baseline_of(answer: Answer, answers: Sequence[Answer], name: str) -> Answer:
    """What an answer is compared with: same trace, same capacity."""
    return next(
        other
        for other in answers
        if other.row.label == name
        and other.row.trace is answer.row.trace
        and other.row.capacity == answer.row.capacity
    )


def groups(answers: Sequence[Answer]) -> list[list[Answer]]:
    """Answers of one trace and one capacity together, in order."""
    found: dict[tuple[Path, str], list[Answer]] = {}
    for answer in answers:
        found.setdefault((answer.row.trace.path, answer.row.capacity), []).append(answer)
    return list(found.values())


def scale_sentence(scale: Scale, machine_name: str, cores: int) -> str:
    """What a reader must know of the machine's size; empty if it is whole."""
    if scale.factor == 1:
        return ""
    return (
        f"simulated: {scale.cores} of {machine_name}'s {cores} cores; shared caches and memory"
        f" channels are {float(scale.factor):.4g} of the machine's, latencies whole"
    )
