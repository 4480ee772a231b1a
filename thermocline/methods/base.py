"""What a method of profiling is."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from thermocline.errors import Misuse
from thermocline.executors import Done, Executor, local
from thermocline.machine.model import Machine
from thermocline.run import config, launch
from thermocline.run.launch import Outcome


def unseen(what: str, total: int) -> Done:
    """No bar of so many runs."""
    del what, total
    return lambda number: None


@dataclass(frozen=True)
class Sweep:
    """How a method of many runs makes them."""

    most_runs: int | None = None
    executor: Executor = field(default_factory=local.Pool)
    scheduled: bool = False  # the executor's workers are other hosts
    progress: Callable[[str, int], Done] = unseen  # starts a bar of so many runs


@dataclass(frozen=True)
class Request:
    """What is to be profiled, and how; None: the method's default."""

    command: Sequence[str]
    prefix: Path  # profiles go to PREFIX.PID.profile
    machine: Machine  # whose caches count
    scratch: Path  # an empty directory, removed afterwards
    rate: int | None = None  # one sample in this many events
    event: str | None = None
    overhead: float | None = None  # of the run time, such as 0.05
    aside: bool = False  # the command's output goes to stderr
    sweep: Sweep = field(default_factory=Sweep)
    context: int | None = None  # of a preloaded run


class Method(ABC):
    """One way to fill a profile's counts."""

    name: ClassVar[str]
    summary: ClassVar[str]  # for --help and doctor: a few words

    @abstractmethod
    def lacks(self) -> str:
        """What this host lacks for it and how to get it, or nothing."""

    def lacks_for(self, event: str | None) -> str:
        """The same for an event that the user names (--event)."""
        return self.lacks()

    @abstractmethod
    def directives(self, request: Request) -> list[str]:
        """Lines of the run's configuration: the sampler and its options (docs/internals.md)."""

    def takes_no_sampling(self, request: Request) -> None:
        """Refuses what it would not heed."""
        if request.rate or request.event or request.overhead:
            raise Misuse(
                f"--rate, --event and --overhead are for methods that sample, not for {self.name}"
            )

    def needs_annotation(self, request: Request) -> None:
        """Refuses a preloaded run, for a method that measures annotated code only."""
        if request.context is not None:
            raise Misuse(
                f"--method {self.name} measures annotated code: with --preload use another method"
            )

    def measure(self, request: Request) -> Outcome:
        """Runs the command; a method of several runs has its own."""
        file = request.scratch / "config"
        lines = self.directives(request)
        text = config.for_profile(request.prefix, request.machine, lines, request.context)
        file.write_text(text, encoding="utf-8")
        return launch.launch(request.command, file, request.aside, request.context)
