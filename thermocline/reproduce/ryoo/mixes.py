"""Workloads in several copies on one machine, as chapters 5 and 7 of the thesis run theirs.

The machine is as small as the mix (thermocline/simulation/scale.py).  Workloads are made ready when
the first item asks for them, since each chapter has its own.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from thermocline.executors import Executor, Piece
from thermocline.machine.model import Machine
from thermocline.planning.capacity import parse as capacity
from thermocline.reproduce import cache, real
from thermocline.reproduce.ryoo import variants
from thermocline.reproduce.study import Run, Size, Study, Update, Workload, counted, runner_digest
from thermocline.reproduce.workloads import Job, Prepared, prepare
from thermocline.simulation import config, programs, translation
from thermocline.simulation import scheme as schemes

CONTEXT = 0  # of sites, for the one item that plans


@dataclass(frozen=True)
class Mix(Workload):
    """A workload, in which chapter, and the thesis' program that its behaviour is nearest to."""

    chapter: int = 5
    name: str = ""  # of one program's inputs
    region: int = 0  # references of a copy that are simulated
    extra: bool = False  # not of the chapter's figures: some items of ours alone have it
    real: bool = False  # from Debian's sources; it stands for itself

    @property
    def label(self) -> str:
        """Ours, and what it stands for."""
        return f"{self.name} ({self.stands_for or 'real'})"


@dataclass(frozen=True)
class MixRun(Run):
    """One simulation of a mix; `share` is near memory's of the footprint, such as `20%`."""

    share: str = ""
    tlb: str = ""  # the last level of translation; none: addresses cost nothing
    mode: translation.Mode = "nested"
    large: float = 0.0  # of 2 MiB regions
    near_bandwidth: float = 1.0  # over the machine's
    copies: int = 0  # 0: the study's
    variant: str = ""  # of the machine (variants.py)

    def configuration(self, study: "MixStudy") -> dict[str, Any]:
        """For the simulator."""
        return study.together(self)


@dataclass(frozen=True)
class MixSize(Size):
    """How small everything is, and how many copies share the machine."""

    copies: int = 4
    # Of chapter 6: memory and the last cache divided, time as well, and what is simulated at most.
    near_divisor: int = 16
    time_divisor: int = 10
    seconds: float = 0.06


class MixStudy(Study):
    """Prepares what is asked for, and simulates copies together."""

    size: MixSize

    def __init__(
        self, machines: Mapping[int, Machine], mixes: Iterable[Mix], size: MixSize
    ) -> None:
        """`machines`: of chapters; chapter 5's has its last cache divided."""
        self.mixes = {mix.name: mix for mix in mixes}
        super().__init__(machines[5], list(self.mixes.values()), size)
        self.machine = with_smaller_shared_cache(machines[5], size.divisor)
        self.machines = {**machines, 5: self.machine}
        self._missing: dict[str, str] = {}
        self._build: Callable[[list[str]], list[str]] = lambda names: [*map(real.trouble, names)]

    def prepare(self, contexts: Iterable[int], executor: Executor, update: Update) -> None:
        """Nothing yet: items say what they need."""

        def build(names: list[str]) -> list[str]:
            pieces = [Piece(real.trouble, (name,)) for name in names]
            return executor.run(pieces, counted(pieces, "building real programs", update))

        self._build = build

    def simulate(self, runs: Iterable[Run], executor: Executor, update: Update) -> None:
        """After what they need is prepared."""
        wanted = list(dict.fromkeys(runs))
        names = dict.fromkeys(
            run.program for run in wanted if (run.program, CONTEXT) not in self._prepared
        )
        jobs = {name: self._job(self.mixes[name]) for name in names}
        pieces = [Piece(prepare, (job,)) for job in jobs.values()]
        made = executor.run(pieces, counted(pieces, "preparing", update))
        self._prepared |= {
            (name, CONTEXT): prepared for name, prepared in zip(jobs, made, strict=True)
        }
        super().simulate(wanted, executor, update)

    def simulated_machines(self) -> list[Machine]:
        """Of the chapters that were simulated."""
        chapters = dict.fromkeys(self.mixes[name].chapter for name, _ in self._prepared)
        five = super().simulated_machines()[0]
        return [five if chapter == 5 else self.machines[chapter] for chapter in chapters or (5,)]

    def of_chapter(self, chapter: int) -> list[Mix]:
        """In the order of the tables, but for real programs that can't be had."""
        return [mix for mix in self._there(chapter) if not mix.extra]

    def extras(self, chapter: int) -> list[Mix]:
        """Those that no figure of the thesis has."""
        return [mix for mix in self._there(chapter) if mix.extra]

    def missing(self, chapter: int) -> dict[str, str]:
        """Real programs that can't be had, and why."""
        self._there(chapter)
        return {name: why for name, why in self._missing.items() if why}

    def _there(self, chapter: int) -> list[Mix]:
        mixes = [mix for mix in self.mixes.values() if mix.chapter == chapter]
        asked = dict.fromkeys(mix.program for mix in mixes if mix.real)
        unknown = [name for name in asked if name not in self._missing]
        if unknown:
            self._missing |= dict(zip(unknown, self._build(unknown), strict=True))
        return [mix for mix in mixes if not self._missing.get(mix.program)]

    def mix(self, mix: Mix) -> Prepared:
        """After simulate()."""
        return self.prepared(mix.name, CONTEXT)

    def _job(self, mix: Mix) -> Job:
        return Job(
            mix.program,
            mix.arguments,
            CONTEXT,
            self.machines[mix.chapter],
            mix.region,
            name=mix.name,
            real=mix.real,
        )

    def configuration(self, run: Run) -> dict[str, Any]:
        """For the simulator, as the run's chapter has it."""
        assert isinstance(run, MixRun)
        return run.configuration(self)

    def together(self, run: MixRun) -> dict[str, Any]:
        """The same trace several times, on as many cores."""
        prepared = self.prepared(run.program, run.context)
        copies = run.copies or self.size.copies
        survey, recorded = prepared.survey, prepared.recorded
        touched = copies * int(survey["touched_bytes"])
        machine = self.machines[self.mixes[run.program].chapter]
        machine = variants.make(machine, run.variant, copies)
        setting = config.Setting(
            machine=with_near_bandwidth(machine, run.near_bandwidth),
            threads=copies,
            touched_bytes=touched,
            instructions=copies * int(survey["instructions"]),
            references=copies * int(survey["references"]),
            near_bytes=capacity(run.share).of(touched) if run.share else None,
            prefetcher=False,
            budget=recorded.kept_before + recorded.region // 2 if run.first_half else 0,
        )
        if run.tlb:
            last = translation.parse(run.tlb)
            choice = translation.Choice(run.mode, last, run.large)
            setting = replace(setting, translation=choice)
        plan = None
        if run.strategy:  # of one copy, with its part of near memory; all copies follow it
            assert setting.near_bytes is not None
            plan = self.plan(replace(run, near_bytes=setting.near_bytes // copies))
        made = config.configure(setting, prepared.trace, schemes.parse(run.scheme), plan).json
        one = {"trace": str(prepared.trace), "threads": 1}
        return programs.together(made, {"programs": [one] * copies})

    def _key(self, run: Run, configuration: dict[str, Any]) -> str:
        digest = self.prepared(run.program, run.context).trace_digest
        several = len(configuration.get("traces", []))
        named = {"traces": [digest] * several} if several else {"trace": digest}
        return cache.key({**configuration, **named}, runner_digest())


def with_smaller_shared_cache(machine: Machine, divisor: int) -> Machine:
    """The last level divided, and shared as before."""
    last = machine.cache[-1]
    sets = max(1, int(last.bytes.value) // divisor // (last.ways * last.line))
    size = last.bytes.model_copy(update={"value": float(sets * last.ways * last.line)})
    smaller = last.model_copy(update={"bytes": size})
    return machine.model_copy(update={"cache": [*machine.cache[:-1], smaller]})


def with_near_bandwidth(machine: Machine, factor: float) -> Machine:
    """Near memory of so many times its channels, and as much bandwidth."""
    near = machine.tier[0]
    assert near.device is not None
    channels = max(1, round(near.device.channels * factor))
    factor = channels / near.device.channels  # with whole channels
    changed: dict[str, Any] = {"device": near.device.model_copy(update={"channels": channels})}
    for name in ("read_bandwidth", "write_bandwidth"):
        rate = getattr(near, name)
        if rate is not None:
            changed[name] = rate.model_copy(update={"value": rate.value * factor})
    tiers = [near.model_copy(update=changed), *machine.tier[1:]]
    return machine.model_copy(update={"tier": tiers})
