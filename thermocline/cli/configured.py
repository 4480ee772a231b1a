"""thermocline run --configuration."""

from pathlib import Path


def run(
    name: str, command: list[str], guided: bool, out: Path | None, force: bool, as_json: bool
) -> int:
    """Binds the command, runs it, and says where it was; its exit status."""
    from thermocline import files
    from thermocline.cli import output
    from thermocline.errors import Misuse
    from thermocline.run import bound

    if guided:
        raise Misuse("--configuration binds a whole run: leave out --plan and other guidance")
    if out is not None:
        files.refuse_overwrite(out, force)
    made = bound.run(name, command, as_json)
    summary = made.model_dump(mode="json")
    if out is not None:
        files.write_json(out, summary)
    if as_json:
        output.emit_json(summary)
    else:
        output.note(f"{made.configuration}: {made.seconds:.3g} s {made.where}")
        schemes = f"{made.configuration},DRAM-local"
        simulated = ["--machine", "optane-8260l", "--scheme", schemes]
        output.next_step("thermocline", "simulate", *simulated, "--", *command)
    return made.status
