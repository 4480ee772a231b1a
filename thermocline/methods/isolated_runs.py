"""The runs of memory bandwidth isolation (mbi.py): counted or simulated, and kept."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline import counters, files
from thermocline.errors import ThermoclineError
from thermocline.executors import Executor, Piece, local
from thermocline.machine.model import Machine
from thermocline.methods.base import Request
from thermocline.methods.isolation import Traffic
from thermocline.planning.model import Plan, PlannedSite
from thermocline.run import config, launch, recording

_REFERENCES = 2_000_000_000  # that are recorded for the simulator; beyond, in windows


class State:
    """What an interrupted measurement leaves: PREFIX.mbi/, removed when all is done."""

    def __init__(self, request: Request) -> None:
        self.folder = Path(f"{request.prefix}.mbi")
        self.sizes = self.folder / "sizes.profile"
        self.trace = self.folder / "trace"
        program = shutil.which(request.command[0]) if request.command else None
        made_from = {
            "command": list(request.command),
            "program": hashlib.sha256(Path(program).read_bytes()).hexdigest() if program else "",
            "machine": request.machine.model_dump(mode="json"),
        }
        about = self.folder / "about.json"
        text = json.dumps(made_from, sort_keys=True)
        if about.exists() and files.read_text(about) != text:
            raise ThermoclineError(
                f"{self.folder} holds runs of another command, program or machine: remove it, or "
                "choose another name with -o"
            )
        self.folder.mkdir(exist_ok=True)
        files.write_text(about, text, force=True)

    def run(self, keys: Sequence[str]) -> Path:
        """Where one run's answer is kept."""
        digest = hashlib.sha256("\n".join(keys).encode()).hexdigest()
        return self.folder / f"{digest[:32]}.json"


class IsolatedRuns:
    """Isolated runs, each kept as soon as it is there."""

    source = ""

    def __init__(self, request: Request, state: State) -> None:
        self.request = request
        self.state = state

    def measure(self, groups: Sequence[tuple[str, ...]]) -> list[Traffic]:
        """Those of groups that were not measured before an interruption, and the rest from disk."""
        missing = [keys for keys in groups if not self.state.run(keys).exists()]
        pieces = [self.piece(keys, self.state.run(keys)) for keys in missing]
        if pieces:
            self.executor().run(pieces, self.request.sweep.progress("isolating", len(pieces)))
        found = [json.loads(files.read_text(self.state.run(keys))) for keys in groups]
        return [Traffic(int(each["read_bytes"]), int(each["write_bytes"])) for each in found]

    def executor(self) -> Executor:
        """What runs them."""
        raise NotImplementedError

    def piece(self, keys: tuple[str, ...], answer: Path) -> Piece:
        """One run, whose answer goes into the file."""
        raise NotImplementedError

    def plan(self, keys: tuple[str, ...]) -> Plan:
        """The target on the slow tier, the rest on the fast one."""
        slow = len(self.request.machine.tier) - 1
        sites = [PlannedSite(tier=slow, key=key, reason="isolated") for key in keys]
        return Plan(strategy="isolation", default_tier=0, nonheap_tier=0, sites=sites)


@dataclass(frozen=True)
class _CountedRun:
    """All that a worker needs."""

    command: tuple[str, ...]
    text: str  # of the run's configuration, whose reports go to PREFIX
    prefix: str  # stands in it for a scratch path
    meter: counters.Meter

    def __call__(self, answer: Path) -> None:
        """On the worker."""
        with tempfile.TemporaryDirectory(prefix="thermocline-mbi-") as scratch:
            file = Path(scratch) / "config"
            file.write_text(self.text.replace(self.prefix, f"{scratch}/r"), encoding="utf-8")
            environment = {**os.environ, launch.CONFIG_VARIABLE: str(file)}
            read, write = self.meter.measure(self.command, environment, Path(scratch))
        _keep(answer, read, write)


class Counted(IsolatedRuns):
    """Guided runs here, or on the scheduler's hosts; one at a time on each."""

    def __init__(self, request: Request, state: State, meter: counters.Meter) -> None:
        super().__init__(request, state)
        self.meter = meter
        self.source = meter.source

    def executor(self) -> Executor:
        """Counters see the whole host, so nothing else may run on it."""
        return self.request.sweep.executor if self.request.sweep.scheduled else local.Pool(1)

    def piece(self, keys: tuple[str, ...], answer: Path) -> Piece:
        """A guided run."""
        plan = self.plan(keys)
        setting = config.tiers_for(plan, self.request.machine, self.request.machine, None)
        prefix = "/thermocline-mbi-report"
        text = config.for_run(Path(prefix), plan, setting, trace=False)
        run = _CountedRun(tuple(self.request.command), text, prefix, self.meter)
        return Piece(run, (answer.absolute(),))


class Simulated(IsolatedRuns):
    """The same plans in the simulator, on a trace that is recorded once."""

    source = "simulator"

    def executor(self) -> Executor:
        """As many at a time as there are workers."""
        return self.request.sweep.executor

    def piece(self, keys: tuple[str, ...], answer: Path) -> Piece:
        """One simulation: all capacity is there, so that nothing spills."""
        return Piece(_simulate, (self._configuration(keys), answer.absolute()))

    def _configuration(self, keys: tuple[str, ...]) -> dict[str, Any]:
        from thermocline.simulation import config as simulation
        from thermocline.simulation import runner, scheme

        if not self.state.trace.exists():
            _record(self.request, self.state.trace)
        survey = runner.survey(self.state.trace.absolute())
        room = 2 * int(survey["touched_bytes"]) + 2**20
        setting = simulation.Setting(
            machine=_with_room(self.request.machine, room),
            threads=int(survey["threads"]),
            touched_bytes=int(survey["touched_bytes"]),
            fidelity="screening",  # times don't count here
        )
        guided = scheme.parse("membrain")
        trace = self.state.trace.absolute()
        return simulation.configure(setting, trace, guided, self.plan(keys)).json


def _with_room(machine: Machine, room: int) -> Machine:
    tiers = [
        tier.model_copy(
            update={
                "capacity": tier.capacity.model_copy(
                    update={"value": float(max(room, tier.capacity_bytes))}
                )
            }
        )
        for tier in machine.tier
    ]
    return machine.model_copy(update={"tier": tiers})


def _record(request: Request, path: Path) -> None:
    scratch = Path(tempfile.mkdtemp(dir=request.scratch))
    collector = recording.Collector(scratch, scratch / "made")
    file = scratch / "config"
    part = config.Part(_REFERENCES)
    text = config.for_recording(collector.socket, request.machine, part)
    file.write_text(text, encoding="utf-8")
    try:
        outcome = launch.launch(request.command, file, aside=True)
    finally:
        made = collector.finish()
    if outcome.status != 0 or not made:
        raise ThermoclineError(launch.nothing_ran(request.command, outcome, "nothing is recorded"))
    largest = max(made, key=lambda each: each.path.stat().st_size)
    shutil.move(largest.path, path)


def _simulate(configuration: dict[str, Any], answer: Path) -> None:
    from thermocline.simulation import runner

    found = runner.run_all([configuration], lambda *_: None, 1)[0]
    slow = found["tiers"][-1]
    _keep(answer, int(slow["read_bytes"]), int(slow["write_bytes"]))


def _keep(answer: Path, read: int, write: int) -> None:
    files.write_text(answer, json.dumps({"read_bytes": read, "write_bytes": write}), force=True)
