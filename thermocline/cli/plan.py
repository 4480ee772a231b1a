"""thermocline plan."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from thermocline.cli.options import AsJson, Force, Machine

if TYPE_CHECKING:
    from thermocline.planning.model import Plan
    from thermocline.planning.planner import Fold, Request
    from thermocline.profiles.model import Profile


def plan(
    profiles: Annotated[list[Path], typer.Argument(help="Profiles; of several inputs if many.")],
    machine: Machine = "detect",
    capacity: Annotated[
        str, typer.Option("--capacity", help="Of tier 0: 25% of the profiled peak, or 4GiB.")
    ] = "25%",
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", help="knapsack, hotset, thermos, fastest, write-isolation or first-touch."
        ),
    ] = "thermos",
    nonheap_tier: Annotated[
        str, typer.Option("--nonheap-tier", help="Tier for stack and globals, or 'none'.")
    ] = "0",
    split: Annotated[
        bool, typer.Option("--split", help="fastest: a site may be in several tiers.")
    ] = False,
    ranks: Annotated[
        bool,
        typer.Option("--ranks", help="Profiles of one MPI run: a host's ranks share its memory."),
    ] = False,
    trace: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--trace", help="Of the program: tells which sites suit a hardware cache."),
    ] = None,
    huge: Annotated[
        bool,
        typer.Option("--huge", help="With --trace: mark sites that are worth pages of 2 MiB."),
    ] = False,
    cross_validate: Annotated[
        bool, typer.Option("--cross-validate", help="Plan each input from the others; no plan.")
    ] = False,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("-o", "--output", help="[PROGRAM.STRATEGY-CAPACITY.plan]"),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Decide which sites deserve the fast tier.

    Across several profiles, the plan maximises the mean of their normalised traffic.

    Example: thermocline plan lulesh.71.profile --machine knl-7230 --capacity 25% --strategy thermos
    or for all ranks of mpirun: thermocline plan lulesh.*.profile --ranks --capacity 16GiB
    """
    from dataclasses import asdict

    from thermocline import files, units
    from thermocline.cli import huge as hugely
    from thermocline.cli import output, suited
    from thermocline.machine import store
    from thermocline.planning import making, planner
    from thermocline.profiles import model as profile_model

    inputs = [profile_model.load(path) for path in profiles]
    names = [str(path) for path in profiles]
    nonheap = making.nonheap_tier(nonheap_tier)
    request = making.request(inputs, store.find(machine), capacity, strategy, nonheap, split, ranks)
    making.check_huge(huge, trace)
    if cross_validate:
        _print_folds(planner.cross_validate(inputs, names, request), as_json)
        return
    path = out or _default_path(inputs[0], request)
    files.refuse_overwrite(path, force)
    with output.progress_of_references() as bars:
        done = making.make(inputs, names, request, trace, huge, bars)
    made = done.plan
    made.save(path, force=True)
    rows = [asdict(each) for each in done.predicted]
    if as_json:
        output.emit_json(
            {
                "plan": str(path),
                "strategy": made.strategy,
                "machine": made.machine,
                "capacity_bytes": made.capacity_bytes,
                "gap": made.gap,
                "fast_sites": sum(1 for site in made.sites if site.tier == 0),
                "sites": len(made.sites),
                "predicted": rows,
                **({"suits": suited.as_json(done.suits)} if trace else {}),
                **({"huge": [asdict(site) for site in done.walks.values()]} if huge else {}),
            }
        )
        return
    _print(made, rows, request)
    if trace:
        suited.show(made, done.suits)
    if huge:
        hugely.show(done.walks)
    for profile, name in zip(inputs, names, strict=True):
        _warn(profile, name, request)
    if made.nonheap_tier == 0 and made.nonheap_bytes >= made.capacity_bytes > 0:
        output.note(
            f"data that is not heap takes all of {request.machine.tier[0].name}'s capacity, and "
            "leaves none to sites: give more --capacity, or --nonheap-tier 1"
        )
    if request.sharing > 1:
        output.note(
            f"{request.sharing} ranks share a host's memory: each has "
            f"{units.format_bytes(made.capacity_bytes)} of {request.machine.tier[0].name}"
        )
    elif request.limit_for(inputs[0]) < request.capacity.of(inputs[0].peak_resident_bytes):
        output.note(f"the capacity was lowered to all of {request.machine.tier[0].name}")
    print(f"wrote {path}")
    preload = [] if made.preload_context is None else ["--preload"]
    command = inputs[0].command or ["CMD"]
    output.next_step("thermocline", "run", *preload, "--plan", path, "--", *command)


def _default_path(profile: "Profile", request: "Request") -> Path:
    amount = request.capacity.text.replace("%", "pct").replace(" ", "")
    return Path(f"{profile.program}.{request.strategy}-{amount}.plan")


def _print(made: "Plan", rows: list[dict[str, Any]], request: "Request") -> None:
    from thermocline import units
    from thermocline.cli import output

    column = output.Column
    tiers = len(request.machine.tier)
    shares = [made.shares_of(site.key, "site", tiers)[0] for site in made.sites]
    held = sum(share * site.bytes for share, site in zip(shares, made.sites, strict=True))
    in_part = sum(0 < share < 1 for share in shares)
    print(
        f"{made.strategy} on {made.machine}: {sum(share > 0 for share in shares)} of "
        f"{len(made.sites)} sites ({units.format_bytes(round(held))}"
        f"{f'; {in_part} of them in part' if in_part else ''}) go to tier 0 "
        f"({request.machine.tier[0].name}) of {units.format_bytes(made.capacity_bytes)} "
        f"({made.capacity})"
    )
    if made.gap is not None:
        best = "optimal" if made.gap == 0 else f"within {100 * made.gap:.2g} % of optimal (proven)"
        print(f"the choice is {best}")
    print()
    output.table(
        [
            column("predicted"),
            column("input"),
            column("fast traffic", True),
            column("fast peak", True),
            column("capacity", True),
            column("spilled", True),
            column("memory time", True),
        ],
        [
            [
                row["strategy"],
                row["input"],
                units.format_share(row["fast_traffic_share"]),
                units.format_bytes(row["fast_peak_bytes"]),
                units.format_bytes(row["capacity_bytes"]),
                units.format_bytes(row["spilled_bytes"]),
                units.format_duration(row["memory_seconds"]),
            ]
            for row in rows
        ],
    )
    print()


def _warn(profile: "Profile", name: str, request: "Request") -> None:
    from thermocline import units
    from thermocline.cli import output

    if not profile.complete:
        output.note(f"{name}: the program did not finish; the plan knows what was seen until then")
    if profile.unseen_instruction_share:
        output.note(
            f"{name}: {units.format_share(profile.unseen_instruction_share)} of the instructions "
            "were in code that was not annotated; their traffic is missing"
        )
    modelled = [level.bytes for level in profile.cache.levels]
    asked = [int(level.bytes.value) for level in request.machine.cache]
    if profile.method in ("trace", "bursts") and modelled and asked and modelled != asked:
        output.note(
            f"{name}: its traffic is what missed other caches than {request.machine.name}'s: "
            "profile with the same --machine as you plan with"
        )


def _print_folds(folds: "list[Fold]", as_json: bool) -> None:
    from thermocline import units
    from thermocline.cli import output

    mean = sum(fold.regret for fold in folds) / len(folds)
    worst = max(fold.regret for fold in folds)
    if as_json:
        output.emit_json(
            {
                "folds": [fold.to_json() for fold in folds],
                "mean_regret": mean,
                "worst_regret": worst,
            }
        )
        return
    column = output.Column
    output.table(
        [
            column("input left out"),
            column("planned from others", True),
            column("planned from itself", True),
            column("regret", True),
        ],
        [
            [
                fold.name,
                units.format_share(fold.from_others),
                units.format_share(fold.from_itself),
                units.format_share(fold.regret),
            ]
            for fold in folds
        ],
    )
    print(
        "\npredicted shares of all traffic that the fast tier serves; "
        f"mean regret {units.format_share(mean)}, worst {units.format_share(worst)}"
    )
    output.next_hint("the same without --cross-validate writes the plan")
