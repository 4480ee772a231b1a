"""What the items of a paper share: workloads made ready, and simulations of their traces.

The machine is as small as the trace (thermocline/simulation/scale.py): with one thread, one core
and its part of the channels.  Sizes shrink by another factor, the same for all of them: the
programs' memory, the tiers' capacity and the last cache.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline.executors import Executor, Piece
from thermocline.machine.model import Machine
from thermocline.planning import capacity as capacities
from thermocline.planning import planner
from thermocline.planning.capacity import Capacity
from thermocline.planning.model import Plan
from thermocline.profiles.model import Profile
from thermocline.reproduce import cache
from thermocline.reproduce import guidance as guidances
from thermocline.reproduce.scale import with_smaller_cache
from thermocline.reproduce.workloads import Job, Prepared, prepare
from thermocline.simulation import config, runner
from thermocline.simulation import scheme as schemes
from thermocline.strategies import TIMED

if TYPE_CHECKING:
    from thermocline.reproduce.item import Item

Update = Callable[[str, float], None]  # what is being done, and the part of it that is


@dataclass(frozen=True)
class Workload:
    """A program of ours with its input, and what it stands for."""

    program: str
    stands_for: str
    arguments: tuple[str, ...]
    timed: tuple[str, ...] = ()  # for runs against the clock, which last longer; none: the same
    timed_divisor: int = 1  # of the last cache, with these

    @property
    def timed_arguments(self) -> tuple[str, ...]:
        """For runs against the clock."""
        return self.timed or self.arguments


@dataclass(frozen=True)
class Run:
    """One simulation of a workload's trace."""

    program: str
    context: int
    scheme: str
    near_bytes: int | None = None  # tier 0's limit; None: none
    strategy: str = ""  # of a guided scheme's plan
    first_half: bool = False  # only the first half of the region
    guidance: str = guidances.EXACT  # what the plan is made from


def all_fast(program: str, context: int) -> Run:
    """Everything in tier 0, which has room for it."""
    return Run(program, context, "all-fast")


@dataclass(frozen=True)
class Size:
    """How small everything is."""

    divisor: int  # of memory, capacities and the last cache
    region: int  # references recorded in full
    rounds: int = 5  # of paired runs against the clock
    counted: bool = False  # whether valgrind counts their instructions too


class Study:
    """Prepares workloads once, simulates what items ask for once."""

    def __init__(
        self,
        machine: Machine,
        workloads: Sequence[Workload],
        size: Size,
        real_programs: Sequence[str] = (),
    ) -> None:
        self.whole_machine = machine
        self.real_programs = real_programs  # of thermocline/measuring
        self.measurements: dict[str, Any] = {}  # by item
        self.machine = with_smaller_cache(machine, size.divisor)
        self.workloads = workloads
        self.size = size
        self._prepared: dict[tuple[str, int], Prepared] = {}
        self._answers: dict[Run, dict[str, Any]] = {}

    def prepare(self, contexts: Iterable[int], executor: Executor, update: Update) -> None:
        """Builds, profiles and records all workloads."""
        jobs = [
            Job(each.program, each.arguments, context, self.machine, self.size.region)
            for each in self.workloads
            for context in contexts
            if (each.program, context) not in self._prepared
        ]
        pieces = [Piece(prepare, (job,)) for job in jobs]
        made = executor.run(pieces, counted(pieces, "preparing", update))
        for job, prepared in zip(jobs, made, strict=True):
            self._prepared[job.program, job.context] = prepared

    def prepared(self, program: str, context: int) -> Prepared:
        """After prepare()."""
        return self._prepared[program, context]

    def all_prepared(self) -> list[Prepared]:
        """In the order of their preparation."""
        return list(self._prepared.values())

    def simulated_machines(self) -> list[Machine]:
        """What others need to simulate the traces again, under names of their own."""
        name = f"{self.machine.name}-{self.size.divisor}th"
        return [self.machine.model_copy(update={"name": name})]

    def near_bytes(self, program: str, context: int, share: str) -> int:
        """A capacity such as `25%` of the program's peak resident memory, in bytes."""
        peak = self.prepared(program, context).profile.peak_resident_bytes
        return capacities.parse(share).of(peak)

    def profile(self, program: str, context: int, guidance: str) -> Profile:
        """What plans by this guidance are made from, after simulate()."""
        prepared = self.prepared(program, context)
        exact = prepared.profile
        if guidance == guidances.EXACT:
            return exact
        if guidance.startswith(guidances.SAMPLE):
            return guidances.thinned(exact, int(guidance.removeprefix(guidances.SAMPLE)))
        if guidance == guidances.MBI:
            return guidances.isolated(exact, self.answer(all_fast(program, context)))
        measured = self.measured_profile(program, context, guidance)
        return guidances.with_traffic(exact, guidances.at_size(exact, measured), guidance)

    def measured_profile(self, program: str, context: int, method: str) -> Profile:
        """As a method that runs here made it."""
        return guidances.measured(*self._measured(program, context, method))

    def _measured(
        self, program: str, context: int, method: str
    ) -> tuple[Prepared, tuple[str, ...], Machine, str]:
        (workload,) = (each for each in self.workloads if each.program == program)
        prepared = self.prepared(program, context)
        return prepared, workload.timed_arguments, self.timed_machine(workload), method

    def timed_machine(self, workload: Workload) -> Machine:
        """Whose caches are as small as the workload's input for runs against the clock."""
        return with_smaller_cache(self.whole_machine, workload.timed_divisor)

    def plan(self, run: Run) -> Plan:
        """Of a guided run; ours may split sites."""
        assert run.near_bytes is not None
        limit = Capacity(f"{run.near_bytes}", None, run.near_bytes)
        request = planner.Request(self.machine, limit, run.strategy, split=run.strategy in TIMED)
        return planner.make([self.profile(run.program, run.context, run.guidance)], request)

    def simulate(self, runs: Iterable[Run], executor: Executor, update: Update) -> None:
        """Those that were not simulated yet, after what their plans need."""
        wanted = dict.fromkeys(runs)
        needed = dict.fromkeys(
            (run.program, run.context, run.guidance)
            for run in wanted
            if guidances.runs_here(run.guidance)
        )
        pieces = [
            Piece(guidances.measured, self._measured(program, context, guidance))
            for program, context, guidance in needed
        ]
        executor.run(pieces, counted(pieces, "profiling", update))
        isolated = [
            all_fast(run.program, run.context) for run in wanted if run.guidance == guidances.MBI
        ]
        self._simulate(isolated, executor, update)
        self._simulate(wanted, executor, update)

    def _simulate(self, runs: Iterable[Run], executor: Executor, update: Update) -> None:
        """Equal configurations once."""
        missing = [run for run in dict.fromkeys(runs) if run not in self._answers]
        configurations = {run: self.configuration(run) for run in missing}
        keys = {run: self._key(run, configurations[run]) for run in missing}
        first = {keys[run]: run for run in reversed(missing)}
        pieces = [
            Piece(simulated, (key, configurations[run]), self._weight(run))
            for key, run in first.items()
        ]
        answers = executor.run(pieces, counted(pieces, "simulating", update))
        by_key = dict(zip(first, answers, strict=True))
        self._answers |= {run: by_key[keys[run]] for run in missing}

    def measure(self, items: "Iterable[Item]", update: Update) -> None:
        """What items measure against the clock."""
        for item in items:
            if item.measure is not None:
                self.measurements[item.name] = item.measure(self, update)

    def answer(self, run: Run) -> dict[str, Any]:
        """The simulator's, after simulate()."""
        return self._answers[run]

    def configuration(self, run: Run) -> dict[str, Any]:
        """For the simulator (docs/simulator.md)."""
        prepared = self.prepared(run.program, run.context)
        recorded = prepared.recorded
        setting = config.Setting(
            machine=self.machine,
            threads=1,
            touched_bytes=int(prepared.survey["touched_bytes"]),
            near_bytes=run.near_bytes,
            budget=recorded.kept_before + recorded.region // 2 if run.first_half else 0,
        )
        plan = self.plan(run) if run.strategy else None
        return config.configure(setting, prepared.trace, schemes.parse(run.scheme), plan).json

    def _key(self, run: Run, configuration: dict[str, Any]) -> str:
        digest = self.prepared(run.program, run.context).trace_digest
        return cache.key({**configuration, "trace": digest}, runner_digest())

    def _weight(self, run: Run) -> float:
        return self.prepared(run.program, run.context).recorded.region / (1 + run.first_half)


def runner_digest() -> str:
    """Of the simulator's executable."""
    return cache.digest_of_files([runner.program()])


def simulated(key: str, configuration: dict[str, Any]) -> dict[str, Any]:
    """One simulation's answer, from the cache if it is there."""

    def fill(folder: Path) -> None:
        answer = runner.run_all([configuration], lambda *_: None, 1)[0]
        (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")

    folder = cache.folder(f"simulation-{key}", fill)
    answer: dict[str, Any] = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    return answer


def counted(pieces: Sequence[Piece], what: str, update: Update) -> Callable[[int], None]:
    """Tells of a stage's progress by its pieces' weights."""
    total = sum(piece.weight for piece in pieces)
    state = {"done": 0.0}

    def done(number: int) -> None:
        state["done"] += pieces[number].weight
        update(what, state["done"] / total)

    return done
