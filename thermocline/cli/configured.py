"""thermocline run --configuration."""

import tempfile
from pathlib import Path


def run(
    name: str, command: list[str], guided: bool, out: Path | None, force: bool, as_json: bool
) -> int:
    """Binds the command, runs it, and says where it was; its exit status."""
    from thermocline import files
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.machine import configurations
    from thermocline.run import binding, launch

    if guided:
        raise Misuse("--configuration binds a whole run: leave out --plan and other guidance")
    if out is not None:
        files.refuse_overwrite(out, force)
    found = configurations.find(name)
    bound = binding.bind(found, binding.this_host())
    with tempfile.TemporaryDirectory(prefix="thermocline-run-") as scratch:
        config = Path(scratch) / "config"
        config.write_text("thermocline-config 1\nheap plain\n", encoding="utf-8")
        binding.apply(bound)
        outcome = launch.launch(command, config, as_json)
    summary = {
        "format": "thermocline-run-summary",
        "version": 1,
        "configuration": found.name,
        "status": outcome.status,
        "seconds": outcome.seconds,
        "processors": list(bound.processors),
        "nodes": list(bound.nodes),
        "interleave": bound.interleave,
    }
    if out is not None:
        files.write_json(out, summary)
    if outcome.text:
        output.note(outcome.text)
    if as_json:
        output.emit_json(summary)
    else:
        output.note(f"{found.name}: {outcome.seconds:.3g} s {binding.describe(bound)}")
        simulated = ["--machine", "optane-8260l", "--scheme", f"{found.name},DRAM-local"]
        output.next_step("thermocline", "simulate", *simulated, "--", *command)
    return outcome.status
