"""Figure 3: latency of one chain of reads over a growing array, in eight configurations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.optane import common, host, paper, small
from thermocline.reproduce.optane.patterns import CHAIN, CHASED, CHASES, PAGE, WINDOWS, Pattern
from thermocline.reproduce.optane.runs import OptaneRun
from thermocline.reproduce.study import Study, Update

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = (1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 256, 384)  # GiB
CONFIGURATIONS = (
    "DRAM-local", "DRAM-remote", "PMM-numa-local", "PMM-numa-remote", "PMM-fsdax-local",
    "PMM-fsdax-remote", "MemoryMode-local", "MemoryMode-remote",
)  # fmt: skip
SOCKET = 84  # GiB of DRAM that it has for data; 96 as a cache
ALIKE = 0.05


def _run(order: str, scheme: str, gib: float) -> OptaneRun:
    pages = small.scaled(gib) // PAGE
    return OptaneRun(order, 0, scheme, pattern=Pattern(order, 1, 1, pages, 1), passes=1)


def runs(study: Study) -> Sequence[OptaneRun]:
    """Both orders, all sizes and configurations.  Without a prefetcher, as the paper's."""
    return [_run(o, c, s) for o in CHASES for c in CONFIGURATIONS for s in SIZES]


def latency(study: Study, order: str, scheme: str, gib: float) -> float:
    """Nanoseconds by which a load of the chain puts off the next."""
    run = _run(order, scheme, gib)
    answer = common.of(study).answer(run)
    [chain] = [site for site in answer["sites"] if site["key"] == CHAIN]
    assert run.pattern is not None
    lines = run.pattern.pages * (PAGE // small.LINE)
    loads = CHASED if order == "random" else min(CHASED, lines) // WINDOWS * WINDOWS
    return float(chain["stall_seconds"]) / loads * 1e9


def result(study: Study) -> Result:
    """Nanoseconds, and what section 4.1 says."""
    found = {
        order: {
            scheme: [latency(study, order, scheme, gib) for gib in SIZES]
            for scheme in CONFIGURATIONS
        }
        for order in CHASES
    }
    tables = [
        Table(
            f"Figure 3: {order} reads, ns",
            ("GiB", *CONFIGURATIONS),
            tuple(
                (f"{gib}", *(f"{found[order][scheme][at]:.0f}" for scheme in CONFIGURATIONS))
                for at, gib in enumerate(SIZES)
            ),
        )
        for order in CHASES
    ]
    tables.append(_inputs(found))
    tables += host.tables(study, ITEM.name)

    def draw(figure: "Figure") -> None:
        for axis, order in zip(figure.subplots(1, 2, sharey=True), CHASES, strict=True):
            shown = {name: found[order][name] for name in CONFIGURATIONS if "fsdax" not in name}
            common.lines(axis, SIZES, shown, ("GiB", f"ns, {order}"))

    data = {"gib": SIZES, "ns": found, "host": host.data(study, ITEM.name)}
    return Result(tuple(tables), claims(found), common.notes(study), data, draw, (11, 4.5))


def _inputs(found: dict[str, dict[str, list[float]]]) -> Table:
    """What the device model was made from, where it should come out again."""
    at = SIZES.index(16)
    rows = []
    for order, stated in (("sequential", paper.SEQUENTIAL_NS), ("random", paper.RANDOM_NS)):
        for tier, scheme in (("dram", "DRAM-local"), ("optane", "PMM-numa-local")):
            ours = f"{found[order][scheme][at]:.0f}"
            rows.append((f"{order}, {tier}", f"{stated[tier]}", ours))
    return Table("At 16 GiB (all of it input but DRAM's 79)", ("ns", "paper", "here"), tuple(rows))


def claims(found: dict[str, dict[str, list[float]]]) -> tuple[Claim, ...]:
    """Of section 4.1."""
    at, ends = SIZES.index(16), SIZES.index(64)
    pairs = [(s, s.replace("local", "remote")) for s in CONFIGURATIONS if s.endswith("local")]
    added = [
        found[o][remote][n] - found[o][local][n]
        for o in CHASES
        for local, remote in pairs
        for n in range(ends)
    ]
    times = [
        found[o][remote][n] / found[o][local][n]
        for o in CHASES
        for local, remote in pairs
        for n in range(ends)
    ]
    random, sequential = found["random"], found["sequential"]
    cached = [m / d for m, d in zip(random["MemoryMode-local"], random["DRAM-local"], strict=True)]
    beyond = SIZES.index(160)
    return (
        Claim(
            "4.1",
            "DRAM's latency is nearly the same in both orders (79 and 87 ns), Optane's is not",
            f"{sequential['DRAM-local'][at]:.0f} and {random['DRAM-local'][at]:.0f} ns;"
            f" {sequential['PMM-numa-local'][at]:.0f} and {random['PMM-numa-local'][at]:.0f} ns",
            random["DRAM-local"][at] / sequential["DRAM-local"][at] < 1.2,
        ),
        Claim(
            "4.1",
            f"another socket adds {paper.REMOTE_NS[0]} to {paper.REMOTE_NS[1]} ns, at all sizes"
            f" nearly the same, {paper.REMOTE_TIMES[0]} to {paper.REMOTE_TIMES[1]} times"
            f" (75 ns is {paper.INPUT})",
            f"{common.span(added, '{:.0f}')} ns, {common.span(times)} times",
            min(added) > 0.9 * paper.REMOTE_NS[0] and max(added) < 1.1 * paper.REMOTE_NS[1],
        ),
        Claim(
            "4.1",
            "up to 64 GB Memory Mode's random latency is DRAM's",
            f"{common.span(cached[: ends + 1], '{:.2f}')} times DRAM's (frames strewn)",
            max(cached[: ends + 1]) < 1 + 2 * ALIKE,
        ),
        Claim(
            "4.1",
            "from 160 GB on Memory Mode is slower than local Optane",
            ", ".join(
                f"{order} {found[order]['MemoryMode-local'][beyond]:.0f} against"
                f" {found[order]['PMM-numa-local'][beyond]:.0f} ns"
                for order in CHASES
            ),
            all(
                found[o]["MemoryMode-local"][beyond] > found[o]["PMM-numa-local"][beyond]
                for o in CHASES
            ),
        ),
    )


def measure(study: Study, update: Update) -> dict[str, Any]:
    """The same on this host: three orders over its own caches and memory."""
    return host.measure("latency", update)


ITEM = Item("fig3", "latency against the size of the data", runs, result, measure)
