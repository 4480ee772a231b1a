"""The plan file: text that a person can read, diff and edit."""

import tomllib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from thermocline import toml_writer
from thermocline.errors import BadFile
from thermocline.files import read_text, write_text
from thermocline.sites.key import check_all
from thermocline.validation import first_problem

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1
MAX_TIERS = 8  # the runtime has as many
TierIndex = Annotated[int, Field(ge=0, lt=MAX_TIERS, strict=True)]
Count = Annotated[int, Field(ge=0, lt=2**63, strict=True)]


class Strict(BaseModel):
    """A misspelt key is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedSite(Strict):
    """One site's line; only tier, shares and key matter to a run."""

    tier: TierIndex
    key: str = Field(min_length=1, max_length=100_000)
    bytes: Count = 0
    traffic_bytes: Count = 0
    hotness: Annotated[float, Field(ge=0)] = 0.0
    reason: str = ""
    # Of its bytes, by tier, where the site is in several; `tier` has the largest share.
    shares: list[Annotated[float, Field(ge=0, le=1)]] = Field(default=[], max_length=MAX_TIERS)
    # Pages go round all nodes of a tier (the sockets), not to the nearest first.
    spread: bool = False
    # In pages of 2 MiB, as far as the kernel has such.
    huge: bool = False
    paths: list[str] = []  # the same site, as a run with --preload meets it
    # Whether its data would wait less behind a hardware cache (suitability.py); empty: not asked.
    suits: Literal["", "cache", "placement", "either"] = ""


class Plan(Strict):
    """Where each site's data goes."""

    format: Literal[1] = 1
    strategy: str
    machine: str = ""
    capacity: str = ""  # as asked for
    capacity_bytes: Count = 0  # 0: no limit below the tier's own
    default_tier: TierIndex = 1
    nonheap_tier: TierIndex | Literal["none"] = 0
    peak_resident_bytes: Count = 0
    nonheap_bytes: Count = 0  # what stack, globals and the rest need
    profiles: list[str] = []
    predicted_fast_share: Annotated[float, Field(ge=0, le=1)] | None = None
    gap: Annotated[float, Field(ge=0)] | None = None
    preload_context: Annotated[int, Field(ge=0, le=16)] | None = None  # callers in sites' paths
    sites: list[PlannedSite] = Field(default=[], max_length=1_000_000)

    @model_validator(mode="after")
    def _has_sane_keys(self) -> "Plan":
        check_all(site.key for site in self.sites)
        check_all(path for site in self.sites for path in site.paths)
        for site in self.sites:
            if site.shares and abs(sum(site.shares) - 1) > 1e-4:  # the file has six digits
                raise ValueError(f"site {site.key!r}: its shares do not add up to 1")
            if site.shares and site.shares[site.tier : site.tier + 1] != [max(site.shares)]:
                raise ValueError(f"site {site.key!r}: its tier is not that of its largest share")
            if site.huge and sum(share > 0 for share in site.shares) > 1:
                raise ValueError(f"site {site.key!r}: it can't be huge and in several tiers")
        return self

    def tier_of(self, key: str, kind: str = "site") -> int:
        """Where a profile's entry goes."""
        if kind == "nonheap":
            return 0 if self.nonheap_tier == "none" else self.nonheap_tier
        return self._tiers.get(key, self.default_tier)

    def shares_of(self, key: str, kind: str, tiers: int) -> list[float]:
        """The part of a profile's entry that each of so many tiers should hold; last takes rest."""
        shares = self._shares.get(key) if kind != "nonheap" else None
        if shares is None:
            shares = [0.0] * self.tier_of(key, kind) + [1.0]
        shares = shares[:tiers] + [0.0] * (tiers - len(shares))
        shares[-1] += max(0.0, 1.0 - sum(shares))
        return shares

    @cached_property
    def _shares(self) -> dict[str, list[float]]:
        return {site.key: site.shares for site in self.sites if site.shares}

    @cached_property
    def _tiers(self) -> dict[str, int]:
        return {site.key: site.tier for site in self.sites}

    def save(self, path: Path | str, force: bool = False) -> None:
        """Writes the plan's text; Misuse where that would overwrite, unless forced."""
        write_text(Path(path), to_toml(self), force)

    def frame(self) -> "DataFrame":
        """A row a site, as in the file; `share_in_tier_N` is the part of its bytes planned there.

        Hotness is bytes of traffic a byte of memory.
        """
        from thermocline import frames

        tiers = self.tiers
        shares = [f"share_in_tier_{tier}" for tier in range(tiers)]
        columns = {
            "key": frames.TEXT,
            "tier": frames.COUNT,
            "bytes": frames.COUNT,
            "traffic_bytes": frames.COUNT,
            "hotness": frames.NUMBER,
            **dict.fromkeys(shares, frames.NUMBER),
            "spread": frames.YES,
            "huge": frames.YES,
            "suits": frames.TEXT,
            "reason": frames.TEXT,
        }
        rows = (
            {
                **site.model_dump(),
                **dict(zip(shares, self.shares_of(site.key, "site", tiers), strict=True)),
            }
            for site in self.sites
        )
        return frames.of(rows, columns)

    @property
    def tiers(self) -> int:
        """How many tiers the plan speaks of."""
        named = [max(site.tier, len(site.shares) - 1) for site in self.sites]
        named.append(self.default_tier)
        if self.nonheap_tier != "none":
            named.append(self.nonheap_tier)
        return max(named) + 1


def to_toml(plan: Plan) -> str:
    """The plan's text: one line a site, hottest first as given."""
    head: dict[str, toml_writer.Value] = {
        "format": plan.format,
        "strategy": plan.strategy,
        "machine": plan.machine,
        "capacity": plan.capacity,
        "capacity_bytes": plan.capacity_bytes,
        "default_tier": plan.default_tier,
        "nonheap_tier": plan.nonheap_tier,
        "peak_resident_bytes": plan.peak_resident_bytes,
        "nonheap_bytes": plan.nonheap_bytes,
        "profiles": plan.profiles,
    }
    if plan.predicted_fast_share is not None:
        head["predicted_fast_share"] = round(plan.predicted_fast_share, 6)
    if plan.preload_context is not None:
        head["preload_context"] = plan.preload_context
    if plan.gap is not None:
        head["gap"] = plan.gap
    rows: list[dict[str, toml_writer.Value]] = [
        {
            "tier": site.tier,
            "bytes": site.bytes,
            "traffic_bytes": site.traffic_bytes,
            "hotness": site.hotness,
            "reason": site.reason,
            **({"shares": [round(share, 9) for share in site.shares]} if site.shares else {}),
            **({"spread": True} if site.spread else {}),
            **({"huge": True} if site.huge else {}),
            **({"paths": site.paths} if site.paths else {}),
            **({"suits": site.suits} if site.suits else {}),
            "key": site.key,
        }
        for site in plan.sites
    ]
    return (
        "# A Thermocline plan: which tier each allocation site's data goes to (docs/formats.md).\n"
        "# Edit the tiers as you like; a run reads tier, shares and key, default_tier,\n"
        "# nonheap_tier, nonheap_bytes and capacity_bytes.\n"
        + toml_writer.pairs(head)
        + toml_writer.rows("sites", rows)
    )


def parse(text: str, path: object) -> Plan:
    """Checks a plan's text."""
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadFile(path, f"not a plan: not TOML: {error}") from error
    if table.get("format") != FORMAT:
        raise BadFile(path, f"not a plan of format {FORMAT} (format = {FORMAT} is missing)")
    try:
        return Plan.model_validate(table)
    except ValidationError as error:
        raise BadFile(path, f"not a plan: {first_problem(error)}") from error


def load(path: Path) -> Plan:
    """Reads a plan."""
    return parse(read_text(path, 2**28), path)


def unguided() -> Plan:
    """`run --plan first-touch`: no profile needed."""
    return Plan(strategy="first-touch", default_tier=0)
