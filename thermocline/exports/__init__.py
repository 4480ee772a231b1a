"""A plan for tools that place data without us.  Each in one file, registered by one line below."""

from collections.abc import Callable

from thermocline.errors import Misuse
from thermocline.exports import flexmalloc, memkind, numactl
from thermocline.exports.model import Export
from thermocline.machine.model import Machine
from thermocline.planning.model import Plan

_FORMS: dict[str, Callable[[Plan, Machine], Export]] = {
    "numactl": numactl.export,
    "flexmalloc": flexmalloc.export,
    "memkind": memkind.export,
}


def export(plan: Plan, machine: Machine, form: str) -> Export:
    """The plan for a tool; raises Misuse if there is no such tool, or if it can't do it at all."""
    if form not in _FORMS:
        raise Misuse(f"--for {form!r}: there are {', '.join(_FORMS)}")
    if plan.tiers > len(machine.tier):
        raise Misuse(
            f"the plan speaks of {plan.tiers} tiers, {machine.name} has {len(machine.tier)}: "
            "name the machine that it was made for with --machine"
        )
    return _FORMS[form](plan, machine)
