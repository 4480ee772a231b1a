"""The table of sites: one row each, hottest first, as the page and data frames have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thermocline.reports.study import Study
from thermocline.sites import key as site_key

EXCERPTS = 300  # sites, from the hottest, whose source is shown
AROUND = 2  # lines above and below
LARGEST_SOURCE = 2**22  # bytes; generated code can be larger, and is not read


@dataclass(frozen=True)
class Excerpt:
    """Lines of source around a site; `first` is the first one's number."""

    first: int
    at: int
    lines: list[str]


def rows(study: Study) -> list[dict[str, Any]]:
    """What the page's script knows of each site; sizes in bytes, times in seconds."""
    if study.profile is None:
        return []
    plan = study.plan
    planned = {site.key: site for site in plan.sites} if plan else {}
    by_key = {site.key: site for site in study.profile.heap}
    found = []
    for candidate in study.ranked:
        site = by_key[candidate.key]
        parsed = site_key.parse(site.key)
        entry = planned.get(site.key)
        found.append(
            {
                "key": site.key,
                "function": parsed.function,
                "position": parsed.position,
                "context": list(parsed.context),
                "module": parsed.module,
                "routine": site.routine,
                "bytes": site.bytes,
                "traffic": site.traffic_bytes,
                "read": site.read_bytes,
                "allocations": site.allocations,
                "lifetime": site.mean_lifetime_seconds,
                "tier": plan.tier_of(site.key) if plan else None,
                "fast": plan.shares_of(site.key, "site", max(2, plan.tiers))[0] if plan else 0,
                "reason": entry.reason if entry else "",
                "suits": entry.suits if entry else "",
            }
        )
    return found


def excerpts(positions: Sequence[str], folders: Sequence[Path]) -> dict[str, Excerpt]:
    """By position (file:line:column): what the source says there, where a folder has the file."""
    texts: dict[str, list[str] | None] = {}
    found: dict[str, Excerpt] = {}
    for position in positions:
        file, line = _file_and_line(position)
        if not file or position in found or len(found) >= EXCERPTS:
            continue
        if file not in texts:
            texts[file] = _read(file, folders)
        lines = texts[file]
        if lines is not None and 0 < line <= len(lines):
            first = max(1, line - AROUND)
            found[position] = Excerpt(first, line, lines[first - 1 : line + AROUND])
    return found


def _file_and_line(position: str) -> tuple[str, int]:
    words = position.rsplit(":", 2)
    if len(words) == 3 and words[1].isdecimal():
        return words[0], int(words[1][:9])
    if len(words) == 2 and words[1].isdecimal():
        return words[0], int(words[1][:9])
    return "", 0


def _read(file: str, folders: Sequence[Path]) -> list[str] | None:
    """Profiles are not trusted: nothing outside of the folders is shown."""
    for folder in folders:
        path = (folder / file).resolve()
        try:
            if (
                path.is_relative_to(folder.resolve())
                and path.is_file()
                and path.stat().st_size <= LARGEST_SOURCE
            ):
                return path.read_text(encoding="utf-8", errors="replace").splitlines()
        except (OSError, ValueError):
            continue
    return None
