"""Memory bandwidth isolation: one site a run alone on a tier whose traffic is counted.

Olson et al. 2018, IV.C and footnote 2: the target goes to the slow tier, all the rest to the fast
one.  The host's own counters read the tier; where it has none (or one kind of memory), the
simulator runs the same plans on a trace, and the profile says so.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from thermocline import counters, files
from thermocline.errors import ThermoclineError
from thermocline.machine.model import Machine
from thermocline.methods import isolation
from thermocline.methods.base import Method, Request
from thermocline.methods.isolated_runs import Counted, IsolatedRuns, Simulated, State
from thermocline.profiles import model
from thermocline.profiles.model import Profile
from thermocline.run import config, launch
from thermocline.run.launch import Outcome


class Mbi(Method):
    """docs/method-mbi.md."""

    name = "mbi"
    summary = "a run per site, counted or simulated; no instrumentation in the counted runs"

    def lacks(self) -> str:
        """Nothing: without counters it simulates."""
        return ""

    def directives(self, request: Request) -> list[str]:
        """The first run's: sizes only."""
        self.needs_annotation(request)
        self.takes_no_sampling(request)
        return ["sampler none"]

    def measure(self, request: Request) -> Outcome:
        """A run for the sizes, then the isolated ones; goes on where an interrupted one ended."""
        machine = request.machine
        if len(machine.tier) < 2:
            raise ThermoclineError(
                f"{machine.name} has one kind of memory, and isolation needs two: name a machine "
                "to simulate, such as --machine knl-7230"
            )
        state = State(request)
        outcome = self._sizes(request, state)
        if outcome.status != 0 or not state.sizes.exists():
            return outcome
        found = model.load(state.sizes)
        sizes = {site.key: site.bytes for site in found.heap}
        if not sizes:
            raise ThermoclineError("the program allocated nothing, so there is nothing to isolate")
        meter, _ = counters.find(machine.tier[-1]) if _is_host(machine) else (None, "")
        runner: IsolatedRuns = (
            Counted(request, state, meter) if meter else Simulated(request, state)
        )
        groups, runs = isolation.isolate(sizes, runner.measure, request.sweep.most_runs)
        made = _profile(found, groups, sizes, runner.source, runs)
        text = made.model_dump_json()
        files.write_text(Path(f"{request.prefix}.{found.pid}.profile"), text, force=True)
        shutil.rmtree(state.folder)
        return outcome

    def _sizes(self, request: Request, state: "State") -> Outcome:
        if state.sizes.exists():
            return Outcome(0, 0.0)
        scratch = Path(tempfile.mkdtemp(dir=request.scratch))
        file = scratch / "config"
        text = config.for_profile(scratch / "made", request.machine, self.directives(request))
        file.write_text(text, encoding="utf-8")
        outcome = launch.launch(request.command, file, aside=request.aside)
        made = [(model.load(path), path) for path in scratch.glob("made.*.profile")]
        if made and outcome.status == 0:
            # Of several processes the one that holds most.
            _, path = max(made, key=lambda each: (each[0].peak_resident_bytes, each[0].pid))
            files.write_text(state.sizes, files.read_text(path, errors="replace"), force=True)
        return outcome


def _is_host(machine: Machine) -> bool:
    return all(tier.nodes and not tier.modelled for tier in machine.tier)


def _profile(
    found: Profile,
    groups: Sequence[isolation.Measured],
    sizes: dict[str, int],
    source: str,
    runs: int,
) -> Profile:
    """The first run's profile with the traffic in it."""
    traffic = isolation.shared_out(groups, sizes)
    number = {
        key: at for at, group in enumerate(groups) if len(group.keys) > 1 for key in group.keys
    }
    sites = [
        site.model_copy(
            update={
                "read_bytes": traffic[site.key].read_bytes,
                "write_bytes": traffic[site.key].write_bytes,
                "isolation_group": number.get(site.key),
            }
        )
        if site.key in traffic
        else site
        for site in found.sites
    ]
    notes = [
        *found.notes,
        f"traffic was {'simulated' if source == 'simulator' else 'counted'} with each site alone "
        f"on the slow tier, in {runs} runs ({source}); data that is not heap was not isolated",
    ]
    if number:
        notes.append(
            f"{len(number)} sites were isolated in {len(set(number.values()))} groups, whose "
            "totals are shared out by bytes: --runs allows more"
        )
    return found.model_copy(
        update={
            "method": "mbi",
            "sites": sites,
            "notes": notes,
            "sampling": {"source": source, "runs": runs, "groups": len(groups)},
        }
    )
