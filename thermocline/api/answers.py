"""Predictions, reports, and the whole loop."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from thermocline.api import arguments
from thermocline.api.arguments import AnyPath, Command
from thermocline.errors import Misuse

if TYPE_CHECKING:
    from thermocline.loop import Made
    from thermocline.machine.model import Machine
    from thermocline.planning.model import Plan
    from thermocline.profiles.model import Profile
    from thermocline.reports.artefacts import Artefacts
    from thermocline.run.summary import Run
    from thermocline.simulation.answers import Answers
    from thermocline.simulation.comparison import NamedPlan
    from thermocline.traces import TraceFile

    Artefact: TypeAlias = Profile | Plan | Answers | Run | AnyPath

PLAN = "PLAN"  # what stands in a command for a plan that is in no file


def simulate(
    traces: "TraceFile | AnyPath | Sequence[TraceFile | AnyPath]" = (),
    *,
    command: Command | None = None,
    threads: int = 1,
    machine: "Machine | str" = "detect",
    schemes: str | Sequence[str] = "first-touch",
    plan: "Plan | AnyPath | Sequence[Plan | AnyPath]" = (),
    capacity: str | int | Sequence[str | int] | None = None,
    fidelity: str = "faithful",
    baseline: str | None = None,
    prefetcher: bool = True,
    budget: int = 0,
    function: str | None = None,
    time: str | None = None,
    windows: str | None = None,
    whole_machine: bool = False,
    seed: int = 0,
    alone: bool = False,
    translation: str | None = None,
    tlb: str | Sequence[str] = "baseline",
    large_pages: str = "recorded",
    huge_pages: str = "0%",
    jobs: int | None = None,
    scheduler: str | None = None,
) -> "Answers":
    """Predicts how long a program would take on a machine, under each scheme.

    Of `traces` (`a.trace+b.trace`: together on one machine), or of a `command` of so many
    `threads` that is simulated while it runs.  `schemes`, `translation` and `tlb` are as in
    docs/simulator.md and docs/translation.md.  `plan`: for guided schemes; several are compared.
    `capacity`: of tier 0, a share of what the trace touches, a size or bytes; one or several.
    `fidelity`: faithful or screening.  `baseline`: the scheme that others are compared with, else
    the first.  `budget`: references of each thread at most (0: all).  `function`, `time`
    (FROM:TO seconds) and `windows` (FROM:TO): a part of the trace.  `jobs` simulations at a time,
    or a Dask `scheduler`'s workers.

    Without `plan` or `capacity` tier 0 has all that the machine has.
    """
    from thermocline.simulation import asking, regions
    from thermocline.simulation import translation as translations
    from thermocline.traces import TraceFile

    several: list[TraceFile | AnyPath] = arguments.listed(traces)
    paths = [each.path if isinstance(each, TraceFile) else Path(each) for each in several]
    if (not paths) == (command is None):
        raise Misuse("give traces, or a command to simulate live")
    if command is not None and scheduler:
        raise Misuse("a live program is simulated on its own host: record a trace for a scheduler")
    limits: list[str | int] = [] if capacity is None else arguments.listed(capacity)
    plans: list[Plan | AnyPath] = arguments.listed(plan)
    asked = asking.Asked(
        machine=asking.target(machine) if isinstance(machine, str) else machine,
        machine_name=arguments.machine_name(machine),
        scheme=",".join(arguments.listed(schemes)),
        plans=[_named(each) for each in plans],
        capacity=",".join(arguments.capacity(each) for each in limits) if limits else None,
        fidelity=fidelity,
        baseline=baseline,
        prefetcher=prefetcher,
        budget=budget,
        region=regions.parse(function, time, windows),
        whole_machine=whole_machine,
        seed=seed,
        alone=alone,
        tlbs=translations.choices(
            translation, ",".join(arguments.listed(tlb)), large_pages, huge_pages
        ),
    )
    if command is not None:
        return asking.simulate_live(arguments.words(command), threads, asked)[0]
    return asking.simulate(paths, asked, jobs, scheduler)


def _named(plan: "Plan | AnyPath") -> "NamedPlan":
    from thermocline.planning.model import Plan
    from thermocline.simulation.comparison import NamedPlan

    return NamedPlan(PLAN if isinstance(plan, Plan) else str(plan), arguments.plan(plan))


def report(
    artefacts: "Artefact | Sequence[Artefact]",
    output: AnyPath | None = None,
    *,
    png: AnyPath | None = None,
    machine: str | None = None,
    capacity: str | int = "25%",
    strategy: str = "thermos",
    source: Sequence[AnyPath] = (".",),
    force: bool = False,
) -> list[Path]:
    """Makes one page of what is known of a program, and returns what was written.

    `artefacts` of one program: profiles, plans, simulations' answers, runs, or their files.  The
    first plan is the one that the page is about; where there is none, `strategy` makes one for
    `capacity` of the `machine`.  `png`: a folder for the figures as pictures.  `source`: folders
    of the program's source.
    """
    from thermocline import files
    from thermocline.notes import note
    from thermocline.reports import page, pictures, study

    if output is None and png is None:
        raise Misuse("name the page to write, or png=FOLDER")
    several: list[Artefact] = arguments.listed(artefacts)
    given = _artefacts(several)
    found = study.of(given, machine, arguments.capacity(capacity), strategy)
    for text in found.notes:
        note(text)
    if output is not None:
        files.refuse_overwrite(Path(output), force)
    written = []
    if png is not None:
        pictures.check(Path(png), force)
        written += pictures.write(found, Path(png))
    if output is not None:
        folders = [Path(each) for each in source]
        files.write_text(Path(output), page.html(found, folders), force=True)
        written.append(Path(output))
    return written


def _artefacts(given: "Sequence[Artefact]") -> "Artefacts":
    """Objects are called by what they are."""
    from thermocline.planning.model import Plan
    from thermocline.profiles.model import Profile
    from thermocline.reports import artefacts
    from thermocline.run.summary import Run
    from thermocline.simulation.answers import Answers

    found = artefacts.Artefacts()
    for each in given:
        if isinstance(each, Profile):
            found.profiles.append((each.program, each))
        elif isinstance(each, Plan):
            found.plans.append((f"{each.strategy} at {each.capacity}", each))
        elif isinstance(each, Run):
            found.runs.append((each.strategy, each))
        elif isinstance(each, Answers):
            answers = artefacts.Simulation.model_validate(each.to_json())
            found.simulations.append((each.machine_name, answers))
        else:
            found.add(artefacts.load([Path(each)]))
    return found


def auto(
    command: Command,
    *,
    machine: str = "detect",
    capacity: str | int | None = None,
    output: AnyPath | None = None,
    preload: bool = False,
    force: bool = False,
) -> "Made":
    """Profiles a command, plans for it, predicts what that gives, runs it so, and reports.

    The command runs several times.  All artefacts go to a folder: `output`, or PROGRAM.auto.
    """
    from thermocline import loop
    from thermocline.notes import note

    quiet = loop.Shown(
        command=lambda text: None,
        tables=False,
        line=lambda text: note(text.removeprefix(loop.OURS)),
    )
    amount = None if capacity is None else arguments.capacity(capacity)
    line = arguments.words(command)
    return loop.run(line, machine, amount, arguments.path(output), preload, force, quiet)
