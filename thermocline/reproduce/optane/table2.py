"""Table 2: the twelve configurations: where each puts a program's bytes, and which run here."""

from collections.abc import Sequence

from thermocline.errors import ThermoclineError
from thermocline.machine import configurations
from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import accumulate, common, patterns, small
from thermocline.reproduce.optane.runs import OptaneRun, of_kernel
from thermocline.reproduce.study import Study

_PAGES = 64
_MEMORY = {"near": "DRAM", "far": "Optane", "interleave": "both in turn", "cache": "Optane behind"
           " DRAM"}  # fmt: skip


def _run(configuration: configurations.Configuration) -> OptaneRun:
    if configuration.sockets == "all":
        threads = accumulate.THREADS
        pattern = patterns.Pattern("read", threads, common.SOCKETS, _PAGES, 2)
    else:
        pattern = patterns.Pattern("read", small.THREADS, 1, _PAGES, 2)
    return of_kernel(pattern, configuration.name)


def runs(study: Study) -> Sequence[OptaneRun]:
    """A read of an array in each."""
    return [each for c in configurations.ALL for each in common.needs(_run(c))]


def result(study: Study) -> Result:
    """Shares of a second pass' bytes, and what this host lacks for each."""
    rows, found = [], {}
    for each in configurations.ALL:
        got = common.measured(study, _run(each))
        share = got.dram_bytes / (got.dram_bytes + got.optane_bytes)
        answer = common.of(study).answer(_run(each))
        remote = int(answer["remote_lines"])
        found[each.name] = share
        rows.append(
            (
                each.name,
                _MEMORY[each.memory],
                each.sockets,
                common.percent(share),
                "yes" if remote else "no",
                f"{got.rate:.1f}",
                _here(each),
            )
        )
    table = Table(
        "Table 2: configurations, simulated: reading an array of 12 GiB a socket",
        ("configuration", "memory", "sockets", "bytes from DRAM", "over the links", "GB/s",
         "on this host"),
        tuple(rows),
        left=3,
    )  # fmt: skip
    wanted = {"near": (1.0, 1.0), "far": (0.0, 0.0), "interleave": (0.45, 0.55), "cache": (0.5, 1)}
    wrong = [
        each.name
        for each in configurations.ALL
        if not wanted[each.memory][0] <= found[each.name] <= wanted[each.memory][1]
    ]
    claims = (
        Claim(
            "Table 2",
            "data are where the configuration's name says",
            f"not in {', '.join(wrong)}" if wrong else "in all twelve, by the bytes of each memory",
            not wrong,
        ),
    )
    data = {"dram_share": found}
    note = "fsdax is simulated as numa is (docs/configurations.md)"
    return Result((table,), claims, (*common.notes(study), note), data)


def _here(configuration: configurations.Configuration) -> str:
    """As `thermocline run --configuration` finds it."""
    from thermocline.run import binding

    try:
        binding.bind(configuration, binding.this_host())
    except ThermoclineError as error:
        return "no: " + str(error).removeprefix(f"{configuration.name}: ")
    return "yes"


ITEM = Item("table2", "the twelve configurations", runs, result)
