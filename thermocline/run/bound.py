"""Runs a command under a memory configuration (docs/configurations.md), all of it bound."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from thermocline.machine import configurations
from thermocline.notes import note
from thermocline.run import binding, launch
from thermocline.run.report import Open


class BoundRun(Open):
    """Where a command ran, and how long: what `run --configuration` prints as JSON."""

    format: Literal["thermocline-run-summary"] = "thermocline-run-summary"
    version: Literal[1] = 1
    configuration: str
    status: int  # as a shell would give it
    seconds: float
    processors: list[int]
    nodes: list[int]
    interleave: bool  # pages go to the nodes in turn

    @property
    def where(self) -> str:
        """For people."""
        nodes = ",".join(map(str, self.nodes))
        how = "in turn on nodes" if self.interleave and len(self.nodes) > 1 else "on nodes"
        return f"on {len(self.processors)} processor(s), memory {how} {nodes}"


def run(name: str, command: Sequence[str], aside: bool = False) -> BoundRun:
    """Binds the command to a configuration's processors and nodes; this process stays as it was."""
    found = configurations.find(name)
    bound = binding.bind(found, binding.this_host())
    with tempfile.TemporaryDirectory(prefix="thermocline-run-") as scratch:
        config = Path(scratch) / "config"
        config.write_text("thermocline-config 1\nheap plain\n", encoding="utf-8")
        with binding.applied(bound):
            outcome = launch.launch(command, config, aside)
    if outcome.text:
        note(outcome.text)
    return BoundRun(
        configuration=found.name,
        status=outcome.status,
        seconds=outcome.seconds,
        processors=list(bound.processors),
        nodes=list(bound.nodes),
        interleave=bound.interleave,
    )
