"""Graph programs recorded, and their kernels' references dealt to threads.

A run is recorded with one thread, so that a trace is the same each time, and dealt to the threads
of the simulated machine, at most 2,728 records at a time, as a parallel loop deals its turns: all
threads work on one graph, and half of what they touch is on the other socket.

The graph stays and the machine shrinks: a smaller divisor stands for a smaller problem.  Its hot
arrays are then always larger than an Optane module's buffer, as real ones are.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline import paths
from thermocline.errors import ThermoclineError
from thermocline.machine.model import Machine
from thermocline.reproduce import cache, tail, workloads
from thermocline.reproduce.optane import dealer, small
from thermocline.simulation import runner

KERNELS = ("bfs", "bc", "tc", "cc", "pr")
STYLES = {"graphdirect": "GAP-like", "graphfrontier": "Ligra-like"}
SCALE = 16
MOST = 4_000_000  # references of a kernel
# Triangles are counted in rows that tc() makes first: of a vertex, what that takes and more.
SKIPPED = {"tc": 640}
# Divided by so much, the graph at SCALE stands for one of 48, 96, 192 and 384 GiB.
DIVISORS = (2048, 4096, 8192, 16384)


@dataclass(frozen=True)
class Graph:
    """A program's kernel on a graph of 2^scale vertices, dealt to so many threads."""

    program: str
    kernel: str
    threads: int = 2 * small.THREADS
    scale: int = SCALE
    advice: str = "plain"
    marked: str = ""  # the function whose references are kept, if not the kernel
    most: int = MOST

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of the program."""
        return (str(self.scale), self.kernel, "kronecker", self.advice)


def weight(graph: Graph) -> float:
    """Of its recording."""
    return float(2**graph.scale) / 1000


def record(graph: Graph, machine: Machine) -> tuple[Path, dict[str, Any]]:
    """The folder with `trace`, and facts of it, from the cache if it is there."""
    built = workloads.build(graph.program, 0)
    code = [Path(str(each.__file__)) for each in (dealer, tail)]
    made_of = [paths.library("libthermocline.so"), paths.library("thermocline-trace")]
    skip = SKIPPED.get(graph.marked or graph.kernel, 0) * 2**graph.scale
    digest = cache.digest_of_files([*code, *made_of])
    name = cache.key(built.name, repr(graph), skip, digest)

    def fill(folder: Path) -> None:
        deal = dealer.Dealer(graph.threads, skip, graph.most)
        command = [str(built / graph.program), *graph.arguments]
        function = graph.marked or graph.kernel
        tail.record(command, machine, 0, folder / "trace", deal, (function,))
        if deal.kept == 0:
            raise ThermoclineError(
                f"{graph.program} has {deal.entered} references in {function}, and {skip} of them"
                " are skipped: take a larger graph"
            )
        facts = {
            "kept": deal.kept,
            "swept": deal.swept,
            "complete": not deal.done,  # all that the function did is in the trace
            "survey": runner.survey(folder / "trace"),
            "digest": cache.digest_of_files([folder / "trace"]),
        }
        (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")

    folder = cache.folder(f"{graph.program}-{graph.kernel}-{name}", fill)
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    return folder, facts
