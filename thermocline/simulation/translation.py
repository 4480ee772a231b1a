"""Address translation in a simulation: what was asked for, and the simulator's part of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from thermocline import units
from thermocline.errors import Misuse
from thermocline.machine.model import Machine
from thermocline.machine.translation import Buffer, Translation

PAGE = 4096
Mode = Literal["native", "nested"]
RECORDED = "recorded"  # pages of 2 MiB where the recorded run had them
_BUFFER_BYTES = 16 * 2**20  # Ryoo 2017, section 7.2.5
_BUFFER_LIMIT = 4 * 2**30
# Memory beside the program's for page tables: enough unless pages are strewn singly.
_TABLES_BYTES = 64 * 2**20
_TABLES_SHARE = 16
# Organisations of the last level (simulator/translation/last_level.cpp): options and their kinds.
LAST_LEVELS: dict[str, dict[str, str]] = {
    "baseline": {"keep": "share"},
    "pom": {
        "bytes": "bytes", "large": "share", "caching": "switch", "bypass": "switch",
        "predictor": "switch", "neighbours": "switch", "keep": "share",
    },
    "shared-l2": {"cycles": "cycles", "keep": "share"},
    "tsb": {"bytes": "bytes", "trap": "cycles", "keep": "share"},
}  # fmt: skip
_IN_MEMORY = ("pom", "tsb")


@dataclass(frozen=True)
class LastLevel:
    """What a second-level TLB's miss goes to."""

    name: str  # as it was asked for
    kind: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """Of near memory that it takes; whole pages."""
        if self.kind not in _IN_MEMORY:
            return 0
        return int(self.options.get("bytes", _BUFFER_BYTES))


@dataclass(frozen=True)
class Choice:
    """What one simulation's translation is."""

    mode: Mode
    last: LastLevel
    large_share: float | None = 0.0  # of 2 MiB regions; None: as the trace has them
    huge_share: float = 0.0  # of 1 GiB regions


def choices(mode: str | None, tlbs: str, large: str, huge: str) -> list[Choice]:
    """Reads the command line's options; none of a simulation without translation.

    `large` may be RECORDED.
    """
    if mode is None:
        if (tlbs, large, huge) != ("baseline", RECORDED, "0%"):
            raise Misuse("--tlb and page sizes are of --translation: add native or nested")
        return []
    if mode not in ("native", "nested"):
        raise Misuse(f"--translation {mode!r}: give native or nested")
    chosen = [parse(each) for each in tlbs.split(",") if each.strip()]
    if not chosen:
        raise Misuse("--tlb is empty: name some of " + ", ".join(LAST_LEVELS))
    names = [last.name for last in chosen]
    for name in names:
        if names.count(name) > 1:
            raise Misuse(f"--tlb names {name!r} twice")
    large_share = None if large == RECORDED else _share(large, "large")
    huge_share = _share(huge, "huge")
    made: Mode = "nested" if mode == "nested" else "native"
    return [Choice(made, last, large_share, huge_share) for last in chosen]


def parse(text: str) -> LastLevel:
    """`pom`, or with options `pom:bytes=8MiB:caching=off`."""
    kind, *options = text.strip().split(":")
    if kind not in LAST_LEVELS:
        raise Misuse(f"no last-level TLB {kind!r}: there are {', '.join(LAST_LEVELS)}")
    known = LAST_LEVELS[kind]
    values: dict[str, Any] = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in known:
            allowed = ", ".join(known) or "none"
            raise Misuse(f"{kind} has no option {option!r}: it takes {allowed}, as KEY=VALUE")
        values[key] = _value(known[key], f"{kind}:{option}", value)
    return LastLevel(text.strip(), kind, values)


def _value(kind: str, option: str, text: str) -> Any:
    if kind == "bytes":
        size = units.parse_bytes(text)
        if size <= 0 or size % PAGE or size > _BUFFER_LIMIT:
            raise Misuse(f"{option}: give whole pages of 4 KiB, 4 GiB at most")
        return size
    if kind == "switch":
        if text not in ("on", "off"):
            raise Misuse(f"{option}: give on or off")
        return text == "on"
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if kind == "cycles" and not 0 <= number <= 1e6:
        raise Misuse(f"{option}: give cycles, from 0 to 1000000")
    if kind == "share" and not 0 < number < 1:
        raise Misuse(f"{option}: give a share between 0 and 1")
    return number


def _share(text: str, option: str) -> float:
    """`40%` or 0.4."""
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if rest or not 0 <= value <= 1:
        raise Misuse(f"--{option}-pages {text!r}: give a share such as 40%")
    return value


def page_sizes(choice: Choice, survey: dict[str, Any]) -> str:
    """Where a simulation's page sizes come from, for people; nothing to say if they were chosen."""
    if choice.large_share is not None:
        return ""
    large, touched = survey.get("large_bytes"), survey["touched_bytes"]
    if large is None:
        return (
            "the trace does not say how large pages were: all have 4 KiB"
            " (--large-pages 40% has shares)"
        )
    return (
        f"pages as recorded: {units.format_share(large / touched)} of what the trace touches in"
        " pages of 2 MiB"
    )


def kept_bytes(choice: Choice | None, touched_bytes: int, tiers: int) -> list[int]:
    """Memory of each tier beside what the program has: a buffer in tier 0, tables in the last."""
    kept = [0] * tiers
    if choice:
        tables = _TABLES_BYTES + touched_bytes // _TABLES_SHARE
        kept[-1] += tables // PAGE * PAGE
        kept[0] += choice.last.bytes
    return kept


def configuration(
    choice: Choice, machine: Machine, hertz: int, touched_bytes: int, node_bytes: list[int]
) -> tuple[dict[str, Any], list[str]]:
    """The simulator's JSON, and what had to be assumed; `node_bytes`: what the program has."""
    assumed = []
    made = machine.translation
    if made is None:
        made = Translation()
        assumed.append("TLBs and page-walk caches as docs/translation.md lists them")
    tiers = len(node_bytes)
    kept = kept_bytes(choice, touched_bytes, tiers)
    tables = {"tier": tiers - 1, "address": node_bytes[-1], "bytes": kept[-1]}
    buffer = {"tier": 0, "address": node_bytes[0], "bytes": choice.last.bytes}
    if tiers == 1:
        tables["bytes"] -= choice.last.bytes
        buffer["address"] += tables["bytes"]
    options = {key: value for key, value in choice.last.options.items() if key != "bytes"}

    def picoseconds(cycles: float) -> int:
        return round(cycles * 1e12 / hertz)

    return {
        "mode": choice.mode,
        "levels": made.levels,
        "large_share": choice.large_share or 0.0,
        "recorded_pages": choice.large_share is None,
        "huge_share": choice.huge_share,
        "first": [_buffer(each) for each in made.first],
        "second": _buffer(made.second),
        "second_huge": _buffer(made.second_huge),
        "coalesce": made.coalesce,
        "second_ps": picoseconds(made.second_cycles.value),
        "walk_caches": [_buffer(each) for each in made.walk_caches[: made.levels - 1]],
        "nested_tlb": _buffer(made.nested_tlb),
        "walk_cache_ps": picoseconds(made.walk_cache_cycles.value),
        "nested_tlb_ps": picoseconds(made.nested_tlb_cycles.value),
        "walkers": made.walkers,
        "first_cache": made.first_cache_level - 1,
        "tlb": {"name": choice.last.kind, **options},
        "tables": tables,
        "buffer": buffer,
    }, assumed


def _buffer(buffer: Buffer) -> dict[str, int]:
    return {"entries": buffer.entries, "ways": buffer.ways}
