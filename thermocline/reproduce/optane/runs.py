"""Simulations of this paper: kernels and graph programs, under a configuration by name.

A sixth of the machine is simulated, with one channel a socket (thermocline/simulation/scale.py):
there a thread stands for six, and rates are printed times six.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thermocline.errors import ThermoclineError
from thermocline.executors import Executor, Piece
from thermocline.machine import store
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan, PlannedSite
from thermocline.reproduce import cache
from thermocline.reproduce.optane import dealer, graphs, patterns, small
from thermocline.reproduce.optane.graphs import Graph
from thermocline.reproduce.optane.patterns import Pattern
from thermocline.reproduce.study import Run, Size, Study, Update, counted, runner_digest
from thermocline.simulation import config
from thermocline.simulation import scheme as schemes

GUIDED = "membrain"  # placed by a plan


@dataclass(frozen=True)
class OptaneRun(Run):
    """Of a kernel, so many of its passes; or of a graph program."""

    pattern: Pattern | None = None
    passes: int = 0
    graph: Graph | None = None
    # Of a guided run: each array's shares of the tiers.  All are spread over the sockets.
    placed: tuple[tuple[str, tuple[float, ...]], ...] = ()
    near: str = ""  # of a graph's guided run: the function whose first site is in DRAM
    non_temporal: bool = False
    prefetcher: bool = False
    contiguous: int = 0  # pages of a run of frames; 0: the simulator's
    divisor: int = 0  # 0: as of all kernels
    machine: str = ""  # another than the paper's, as it is; as many of its cores as threads


def of_kernel(pattern: Pattern, scheme: str, **more: Any) -> OptaneRun:
    """All passes."""
    return OptaneRun(
        pattern.kernel, 0, scheme, pattern=pattern, passes=pattern.passes, prefetcher=True, **more
    )


def of_graph(graph: Graph, scheme: str, divisor: int, near: str = "") -> OptaneRun:
    """The sweep over its pages (no passes), or its kernel's references too (one)."""
    return OptaneRun(graph.program, 0, scheme, graph=graph, passes=1, divisor=divisor, near=near)


@dataclass(frozen=True)
class Made:
    """A trace, in the cache."""

    path: Path
    digest: str
    threads: int
    touched: int
    facts: dict[str, Any]


class OptaneStudy(Study):
    """Makes traces when they are asked for."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, (), Size(divisor=small.DIVISOR, region=0))
        self.machine = small.machine(machine, False, False, small.DIVISOR)
        self.traces: dict[Pattern | Graph, Made] = {}

    def prepare(self, contexts: Iterable[int], executor: Executor, update: Update) -> None:
        """Nothing: simulate() knows what is needed."""

    def simulate(self, runs: Iterable[Run], executor: Executor, update: Update) -> None:
        """After the traces that they need are made."""
        wanted = list(dict.fromkeys(runs))
        needed = [
            subject
            for subject in dict.fromkeys(_subject(run) for run in wanted)
            if subject not in self.traces
        ]
        pieces = [
            Piece(_graph_trace, (each, self.machine), graphs.weight(each))
            if isinstance(each, Graph)
            else Piece(_kernel_trace, (each,), each.touched * each.passes / 2**20)
            for each in needed
        ]
        made = executor.run(pieces, counted(pieces, "preparing", update))
        self.traces |= dict(zip(needed, made, strict=True))
        super().simulate(wanted, executor, update)

    def configuration(self, run: Run) -> dict[str, Any]:
        """For the simulator."""
        assert isinstance(run, OptaneRun)
        made = self.traces[_subject(run)]
        scheme = schemes.parse(run.scheme)
        memory_mode = scheme.organisation.name == "memory-cache"
        budget = 0
        if run.pattern and run.passes < run.pattern.passes:
            budget = run.passes * run.pattern.references
        elif run.graph and run.passes == 0:
            budget = made.facts["swept"] * dealer.LINES
        # The part of the machine does not hang on how many of its cores work.
        cores = small.THREADS * (1 if scheme.one_socket else self.whole_machine.cpu.sockets)
        divisor = run.divisor or small.DIVISOR
        machine = small.machine(self.whole_machine, memory_mode, run.prefetcher, divisor)
        if run.machine:
            machine, cores = store.find(run.machine), made.threads
        setting = config.Setting(
            machine=machine,
            threads=cores,
            touched_bytes=made.touched,
            prefetcher=run.prefetcher,
            budget=budget,
        )
        plan = _plan(run, made) if scheme.guided else None
        json = config.configure(setting, made.path, scheme, plan).json
        json["threads"], json["thread_cores"] = made.threads, list(range(made.threads))
        if run.contiguous:
            json["contiguous_pages"] = run.contiguous
        if run.non_temporal:
            json["cpu"]["non_temporal_stores"] = True
        return json

    @property
    def factor(self) -> float:
        """How many times the simulated channels the machine has."""
        return self.whole_machine.cpu.cores / self.whole_machine.cpu.sockets / small.THREADS

    def _key(self, run: Run, configuration: dict[str, Any]) -> str:
        assert isinstance(run, OptaneRun)
        digest = self.traces[_subject(run)].digest
        return cache.key({**configuration, "trace": digest}, runner_digest())

    def _weight(self, run: Run) -> float:
        assert isinstance(run, OptaneRun)
        if run.pattern:
            return run.pattern.threads * run.pattern.references * (run.passes or 1) / 1e6
        return float(self.traces[_subject(run)].facts["kept"]) * (0.1 + run.passes) / 1e6


def earlier(run: OptaneRun, passes: int) -> OptaneRun:
    """The same, stopped after so many passes."""
    return replace(run, passes=passes)


def _subject(run: Run) -> Pattern | Graph:
    assert isinstance(run, OptaneRun)
    subject = run.pattern or run.graph
    assert subject is not None
    return subject


def _plan(run: OptaneRun, made: Made) -> Plan:
    """What write isolation and spilling are to a run: a tier a site, spread over its nodes."""
    if run.near:
        those = [key for key in made.facts["survey"]["owners"] if f"::{run.near}@" in key]
        if not those:
            raise ThermoclineError(f"{run.program} allocates nothing in {run.near}: build it again")
        near = PlannedSite(tier=0, key=min(those, key=_line), spread=True)
        return Plan(strategy="reproduce", default_tier=1, nonheap_tier=0, sites=[near])
    sites = [
        PlannedSite(
            tier=max(range(len(shares)), key=shares.__getitem__),
            key=patterns.key(array),
            shares=list(shares) if max(shares) < 1 else [],
            spread=True,
        )
        for array, shares in run.placed
    ]
    return Plan(strategy="reproduce", default_tier=1, sites=sites)


def _line(key: str) -> int:
    return int(key.split(":")[-2])


def _kernel_trace(pattern: Pattern) -> Made:
    name = cache.key(repr(pattern), cache.digest_of_files([Path(patterns.__file__)]))

    def fill(folder: Path) -> None:
        patterns.write(pattern, folder / "trace")

    folder = cache.folder(f"{pattern.kernel}-kernel-{name}", fill)
    return Made(folder / "trace", name, pattern.threads, pattern.touched, {})


def _graph_trace(graph: Graph, machine: Machine) -> Made:
    folder, facts = graphs.record(graph, machine)
    return Made(
        folder / "trace", facts["digest"], graph.threads, facts["survey"]["touched_bytes"], facts
    )
