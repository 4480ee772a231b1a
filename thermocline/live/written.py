"""What running processes write meanwhile: PREFIX.PID.SUFFIX, aside and then renamed."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

P = TypeVar("P")


class Written(Generic[P]):
    """Looks for the files of a prefix; `pid`: of this process alone, else of all of the prefix."""

    SUFFIX: ClassVar[str]
    UNREADABLE: ClassVar[tuple[type[Exception], ...]]  # it is gone, or nothing that we could show

    def __init__(self, prefix: Path, pid: int | None) -> None:
        self._prefix = prefix
        self._pid = pid
        self._stamps: dict[int, tuple[int, int]] = {}
        self._now: dict[int, P] = {}

    @abstractmethod
    def _read(self, pid: int, path: Path) -> P:
        """A file that is new."""

    def look(self) -> list[P]:
        """All processes that wrote one so far, in the order of their numbers."""
        end = f".{self.SUFFIX}"
        pattern = f"{self._prefix.name}.{'*' if self._pid is None else self._pid}{end}"
        for path in self._prefix.parent.glob(pattern):
            pid = path.name.removeprefix(f"{self._prefix.name}.").removesuffix(end)
            if pid.isdecimal():
                self._look_at(int(pid), path)
        return [self._now[pid] for pid in sorted(self._now)]

    def _look_at(self, pid: int, path: Path) -> None:
        try:
            status = path.stat()
            stamp = status.st_ino, status.st_mtime_ns
            if self._stamps.get(pid) == stamp:
                return
            now = self._read(pid, path)
        except self.UNREADABLE:
            return
        self._stamps[pid], self._now[pid] = stamp, now
