"""A machine whose last cache is as small as the workloads are."""

from thermocline.machine.model import Machine


def with_smaller_cache(machine: Machine, divisor: int) -> Machine:
    """The last level in all, divided; what is left belongs to the one core that is simulated."""
    last = machine.cache[-1]
    all_bytes = int(last.bytes.value) * machine.cpu.cores // last.shared_by
    sets = max(1, all_bytes // divisor // (last.ways * last.line))
    size = last.bytes.model_copy(update={"value": float(sets * last.ways * last.line)})
    smaller = last.model_copy(update={"bytes": size, "shared_by": 1})
    return machine.model_copy(update={"cache": [*machine.cache[:-1], smaller]})
