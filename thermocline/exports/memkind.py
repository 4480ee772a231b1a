"""For memkind (github.com/memkind/memkind), which has no plan file: a C header.

It says which kind the plan's tier is at a line of the source.  Its user writes
memkind_malloc(THERMOCLINE_KIND, size) where it said malloc(size), and memkind_free(NULL, p).
"""

import re

from thermocline.errors import Misuse
from thermocline.exports.model import Export, heap_limit, placed
from thermocline.machine.model import Machine, Tier
from thermocline.planning.model import Plan
from thermocline.units import format_bytes

_KIND = {
    "HBM": "MEMKIND_HBW_PREFERRED",
    "MCDRAM": "MEMKIND_HBW_PREFERRED",
    "DRAM": "MEMKIND_DEFAULT",
    "CXL-DRAM": "MEMKIND_DAX_KMEM_PREFERRED",
    "NVM": "MEMKIND_DAX_KMEM_PREFERRED",
}
_HEAD = """\
/* Thermocline's plan %(strategy)s for %(machine)s: the memkind kind of a line that allocates.
 * Include it from the command line, so that lines stay what they are, and edit in place:
 *   cc -include %(header)s ... -lmemkind
 *   p = memkind_malloc(THERMOCLINE_KIND, size);  ...  memkind_free(NULL, p);
%(lost)s */
#ifndef THERMOCLINE_KIND
#include <memkind.h>
#define THERMOCLINE_KIND thermocline_kind(__FILE__, __LINE__)

/* Whether one path ends with the other, at a slash; folded at -O2. */
static inline int thermocline_ends(const char *path, const char *end) {
    unsigned long p = __builtin_strlen(path), e = __builtin_strlen(end);
    if (p < e) {
        const char *shorter = path;
        unsigned long size = p;
        path = end, end = shorter, p = e, e = size;
    }
    return !__builtin_strcmp(path + p - e, end) && (p == e || path[p - e - 1] == '/');
}

static inline memkind_t thermocline_kind(const char *file, int line) {
    if (file[0] == '.' && file[1] == '/')
        file += 2;
"""
_TAIL = """\
    return %s;
}
#endif
"""


def export(plan: Plan, machine: Machine) -> Export:
    """The header."""
    kinds = [_kind(tier) for tier in machine.tier]
    found = placed(plan, depth=1)
    lines = [
        f'    if (line == {path[0].line} && thermocline_ends(file, "{_quoted(path[0].file)}"))\n'
        f"        return {kinds[tier]};\n"
        for path, tier in found.tier_of.items()
        if kinds[tier] != kinds[plan.default_tier]
    ]
    if not lines:
        raise Misuse("the plan names no site outside of its default tier that has a source line")
    limit = format_bytes(heap_limit(plan, machine.tier[0].capacity_bytes))
    lost = [*found.lost, "only C and C++ code that you change, and no operator new"]
    lost.append("a kind that the host has no memory for gives NULL (memkind_check_available)")
    lost.append(f"no limit: the plan left {limit} of {machine.tier[0].name} for the heap")
    head = _HEAD % {
        "strategy": _comment(plan.strategy),
        "machine": machine.name,
        "header": "PLAN.memkind.h",
        "lost": "".join(f" * Lost: {text}.\n" for text in lost),
    }
    text = head + "".join(lines) + _TAIL % kinds[plan.default_tier]
    return Export({".memkind.h": text}, "cc -include {out}.memkind.h ... -lmemkind", lost)


def _kind(tier: Tier) -> str:
    if tier.kind not in _KIND:
        raise Misuse(f"memkind has no kind for {tier.name} ({tier.kind}): try --for numactl")
    return _KIND[tier.kind]


def _quoted(text: str) -> str:
    """As a C string; trigraphs and all else that is not plain are octal."""
    return re.sub(
        r"[^A-Za-z0-9_./+-]",
        lambda found: "".join(f"\\{byte:03o}" for byte in found[0].encode()),
        text,
    )


def _comment(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.%-]", " ", text)
