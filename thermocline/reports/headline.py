"""What to do and what it gains, in sentences: the first thing a reader sees."""

from thermocline import units
from thermocline.reports.measured import peaks
from thermocline.reports.study import Planned, Study


def sentences(study: Study) -> list[str]:
    """What the plan is worth, what simulations advise, what runs came to."""
    said = []
    if study.planned and study.first_touch:
        said += _of_plan(study, study.planned[0], study.first_touch)
    for _, simulation in study.simulations:
        said += [advice.sentence for advice in simulation.advice]
        said += [f"To set it: {advice.set}" for advice in simulation.advice if advice.set]
    for name, run in study.runs:
        held = units.format_bytes(peaks(run)[0])
        share = units.format_share(run.fast_traffic_share)
        served = "" if run.fast_traffic_share is None else f" and served {share} of the traffic"
        said.append(f"In {name}, {run.tiers[0].name} held up to {held}{served}.")
        if run.never_came or run.unplanned:
            said.append(
                f"{name}: {len(run.never_came)} planned sites never came and {len(run.unplanned)} "
                "came unplanned: the plan may be stale."
            )
    if not said and study.profile is not None:
        said.append(
            "Name a machine with more than one kind of memory (--machine) to see what a plan "
            "would gain."
        )
    return said


def _of_plan(study: Study, planned: Planned, first_touch: Planned) -> list[str]:
    plan = planned.plan
    tiers = max(2, plan.tiers)
    shares = [plan.shares_of(site.key, "site", tiers)[0] for site in plan.sites]
    chosen = sum(share > 0 for share in shares)
    in_part = sum(0 < share < 1 for share in shares)
    held = round(sum(s.bytes * share for s, share in zip(plan.sites, shares, strict=True)))
    ours, theirs = planned.prediction.fast_share, first_touch.prediction.fast_share
    said = (
        f"Put {chosen} of {len(plan.sites)} sites ({units.format_bytes(held)}"
        f"{f'; {in_part} of them in part' if in_part else ''}) into "
        f"{study.fast}: it would serve {units.format_share(ours)} of the memory traffic from "
        f"{units.format_bytes(plan.capacity_bytes)}; first touch would serve "
        f"{units.format_share(theirs)}."
    )
    if planned.seconds and first_touch.seconds:
        gain = first_touch.seconds / planned.seconds
        said += (
            f" The memories would need {units.format_duration(planned.seconds)} for it instead of "
            f"{units.format_duration(first_touch.seconds)} ({gain:.2f}x), as far as bandwidth "
            + ("goes." if study.simulations else "goes; simulate it for a time with an error bar.")
        )
    said_too = [said]
    best = max(study.planned, key=lambda each: each.prediction.fast_share or 0.0)
    if (best.prediction.fast_share or 0.0) > (ours or 0.0):
        said_too.append(
            f"Of the plans here, {best.plan.strategy} ({best.name}) would serve most: "
            f"{units.format_share(best.prediction.fast_share)}."
        )
    return said_too
