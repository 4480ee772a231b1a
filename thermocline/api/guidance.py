"""Plans, and runs with each site's data where it belongs."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command

if TYPE_CHECKING:
    from pandas import DataFrame

    from thermocline.exports.model import Export
    from thermocline.machine.model import Machine
    from thermocline.methods.online import OnlineRun
    from thermocline.planning.model import Plan
    from thermocline.planning.planner import NonheapTier
    from thermocline.profiles.model import Profile
    from thermocline.run.bound import BoundRun
    from thermocline.run.migrate import Migrated
    from thermocline.run.summary import Run


def plan(
    profiles: "Profile | AnyPath | Sequence[Profile | AnyPath]",
    *,
    machine: "Machine | str" = "detect",
    capacity: str | int = "25%",
    strategy: str = "thermos",
    nonheap_tier: "NonheapTier" = 0,
    split: bool = False,
    ranks: bool = False,
    trace: AnyPath | None = None,
    huge: bool = False,
) -> "Plan":
    """Decides which sites deserve the fast tier; across several profiles, in the mean of them.

    `capacity`: of tier 0, a share of the profiled peak (`25%`), a size (`4GiB`) or bytes.
    `strategy`: knapsack, hotset, thermos (Olson et al. 2018), fastest, write-isolation or
    first-touch.  `nonheap_tier`: where stack and globals are.  `split` (fastest): a site may be in
    several tiers.  `ranks`: the profiles are one MPI run's.  `trace`: of the same program; tells
    which sites suit a hardware cache and, with `huge`, which are worth pages of 2 MiB.
    """
    from thermocline.planning import making

    found, names = arguments.profiles(profiles)
    known, amount = arguments.machine(machine), arguments.capacity(capacity)
    asked = making.request(found, known, amount, strategy, nonheap_tier, split, ranks)
    making.check_huge(huge, arguments.path(trace))
    return making.make(found, names, asked, arguments.path(trace), huge).plan


def load_plan(path: AnyPath) -> "Plan":
    """Reads a plan."""
    return arguments.plan(path)


def predict(
    plan: "Plan | AnyPath",
    profiles: "Profile | AnyPath | Sequence[Profile | AnyPath]",
    *,
    machine: "Machine | str | None" = None,
) -> "DataFrame":
    """What a plan would do to each profiled run; a row each.  `machine`: the plan's.

    Columns: strategy, input, fast_traffic_share, capacity_bytes (of tier 0), fast_peak_bytes,
    spilled_bytes (that did not fit there), memory_seconds (NaN without bandwidths).
    """
    from thermocline import frames
    from thermocline.planning import making

    chosen = arguments.plan(plan)
    found, names = arguments.profiles(profiles)
    known = arguments.machine(machine or chosen.machine or "detect")
    columns = {
        "strategy": frames.TEXT,
        "input": frames.TEXT,
        "fast_traffic_share": frames.NUMBER,
        "capacity_bytes": frames.COUNT,
        "fast_peak_bytes": frames.COUNT,
        "spilled_bytes": frames.COUNT,
        "memory_seconds": frames.NUMBER,
    }
    return frames.of(map(asdict, making.predict(chosen, found, names, known)), columns)


def cross_validate(
    profiles: "Sequence[Profile | AnyPath]",
    *,
    machine: "Machine | str" = "detect",
    capacity: str | int = "25%",
    strategy: str = "thermos",
) -> "DataFrame":
    """Each input planned from the others, and from itself; a row each.

    Columns: input, fast_traffic_share_from_others, fast_traffic_share_from_itself, regret (the
    difference).
    """
    from thermocline import frames
    from thermocline.planning import making, planner

    found, names = arguments.profiles(profiles)
    known, amount = arguments.machine(machine), arguments.capacity(capacity)
    folds = planner.cross_validate(found, names, making.request(found, known, amount, strategy))
    columns = {
        "input": frames.TEXT,
        "fast_traffic_share_from_others": frames.NUMBER,
        "fast_traffic_share_from_itself": frames.NUMBER,
        "regret": frames.NUMBER,
    }
    return frames.of((fold.to_json() for fold in folds), columns)


def export(
    plan: "Plan | AnyPath", form: str, *, machine: "Machine | str | None" = None
) -> "Export":
    """A plan in another tool's words (numactl, flexmalloc or memkind), and what gets lost."""
    from thermocline import exports

    chosen = arguments.plan(plan)
    return exports.export(chosen, arguments.machine(machine or chosen.machine), form)


def run(
    command: Command,
    *,
    plan: "Plan | AnyPath | None" = None,
    machine: "Machine | str" = "detect",
    capacity: str | int | None = None,
    trace: bool = False,
    preload: bool = False,
    context: int | None = None,
) -> "Run":
    """Runs the command with each site's data in its planned tier; without a plan, by first touch.

    On a host with too few kinds of memory the tiers are modelled: all data stays where it is.
    `capacity`: of tier 0, in place of the plan's; `all` lifts the limit.  `trace`: counts each
    tier's traffic, which is slower.  `preload`: the program was not annotated.

    The result's `status` is the command's, as a shell would give it; a failure is a note.
    """
    from thermocline.run import guided

    chosen = arguments.plan(plan)
    amount = None if capacity is None else arguments.capacity(capacity)
    setting = guided.setting_of(chosen, arguments.machine(machine), machine != "detect", amount)
    line = arguments.words(command)
    return guided.run(line, chosen, setting, trace, preload, context).summary


def run_online(
    command: Command,
    *,
    plan: "Plan | AnyPath | None" = None,
    machine: "Machine | str" = "detect",
    capacity: str | int | None = None,
    method: str | None = None,
    preload: bool = False,
    context: int | None = None,
) -> "OnlineRun":
    """Runs the command, measures meanwhile, and moves data when that pays (docs/online.md).

    `plan`: to begin with.  `method`: how to measure, else what the host can do.
    """
    from thermocline.methods import online
    from thermocline.run import guided
    from thermocline.run.preload import context_of

    chosen = arguments.plan(plan)
    amount = None if capacity is None else arguments.capacity(capacity)
    setting = guided.setting_of(chosen, arguments.machine(machine), machine != "detect", amount)
    callers = context_of(preload, context, chosen.preload_context)
    measure = online.choose(method, preload)
    return online.run(arguments.words(command), chosen, setting, measure, callers)


def run_bound(command: Command, configuration: str) -> "BoundRun":
    """Runs the command with all of it bound, as `DRAM-local` and the like (docs/configurations.md).

    ThermoclineError where this host or its firmware is not set up for it.
    """
    from thermocline.run import bound

    return bound.run(configuration, arguments.words(command))


def migrate(
    command: Command,
    near: str | int,
    *,
    granularity: str = "adaptive",
    machine: "Machine | str" = "dram-cxl",
    plan: "Plan | AnyPath | None" = None,
    prefetch: bool = False,
    check: bool = False,
) -> "Migrated":
    """Runs the command with little near memory: far data comes when it is touched.

    `near`: a size (`400MiB`) or bytes.  `granularity`: what moves at once, 4K, 64K, 2M, history,
    sampling or adaptive.  `machine`: whose far memory is charged.  `plan`: its tier 0 stays near,
    its last tier far.  `prefetch`: bring what comes next where faults are at a stride.  `check`:
    compare far pages' checksums when they return.
    """
    from thermocline.run import migrate as engine

    return engine.migrate(
        arguments.words(command),
        arguments.capacity(near),
        granularity,
        arguments.machine(machine),
        arguments.machine_name(machine),
        None if plan is None else arguments.plan(plan),
        prefetch,
        check,
    )


def load_run(path: AnyPath) -> "Run":
    """Reads what a run's `save`, or `thermocline run -o`, wrote."""
    from thermocline.run import summary

    return summary.load(Path(path))
