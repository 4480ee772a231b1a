"""Samples that perf took outside, told apart by site: the counts of a profile of method `owners`.

What counts is what counts for method `sample` (docs/method-sample.md; runtime/sample/counts.cpp).
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from thermocline import files
from thermocline.errors import BadFile, Misuse, ThermoclineError
from thermocline.profiles import model, perf_script
from thermocline.profiles.owners import Log, Ranges
from thermocline.profiles.perf_script import Sample
from thermocline.validation import first_problem

RECORD = "perf mem record -k CLOCK_MONOTONIC thermocline profile --method owners -- CMD"
SCRIPT = "perf script --ns -F pid,tid,time,period,event,addr,data_src,weight"
_MISSES = re.compile(r"L[23]_MISS|LLC-load-misses", re.IGNORECASE)
_NO_ACCESS = re.compile(r"(?:page-|minor-|major-)?faults(?::|$)|mem:")
_STACK, _GLOBALS, _OTHER = "(stack)", "(globals)", "(other)"
_NOT_HEAP = (_STACK, _GLOBALS)


@dataclass
class Counts:
    """Of a site, or of memory that is not heap."""

    loads: int = 0
    stores: int = 0
    read_bytes: int = 0
    write_bytes: int = 0
    samples: int = 0
    events: int = 0
    squares: int = 0
    latencies: list[int] = field(default_factory=lambda: [0, 0])  # their sum and number

    def add(self, sample: Sample, line: int) -> None:
        """One sample; the same rules as in runtime/sample/counts.cpp."""
        period = sample.period
        told = sample.load or sample.store
        missed = not sample.served and bool(_MISSES.search(sample.event))
        by_memory = sample.served == "memory" or missed
        if told and not missed:
            self.loads += period * sample.load
            self.stores += period * sample.store
        if by_memory:
            if sample.store and not sample.load:
                self.write_bytes += period * line
            else:
                self.read_bytes += period * line
        if by_memory or _NO_ACCESS.match(sample.event):
            self.samples += 1
            self.events += period
            self.squares += period * period
        if sample.weight:
            self.latencies[0] += sample.weight
            self.latencies[1] += 1

    def members(self) -> dict[str, int]:
        """As they stand in a profile's site."""
        told = {
            "loads": self.loads,
            "stores": self.stores,
            "read_bytes": self.read_bytes,
            "write_bytes": self.write_bytes,
            "samples": self.samples,
            "events": self.events,
            "effective_samples": round(self.events**2 / self.squares) if self.squares else 0,
        }
        if self.latencies[1]:
            told["mean_latency_cycles"] = self.latencies[0] // self.latencies[1]
        return told


@dataclass
class Tally:
    """All samples of one process."""

    of: dict[str, Counts] = field(default_factory=dict)  # by site's key
    events: dict[str, set[int]] = field(default_factory=dict)  # name -> periods
    without_address: int = 0
    of_others: int = 0
    too_late: int = 0  # after the log of owners was full
    taken: int = 0


def fill(profile: Path, script: Path, out: Path) -> Tally:
    """Writes the profile with the samples' counts; raises where the two don't belong together."""
    document = _document(profile)
    log = _log(profile, document)
    cache = document.get("cache")
    line = cache.get("line_bytes", 64) if isinstance(cache, dict) else 64
    keys = _keys(document)
    try:
        with script.open(encoding="utf-8", errors="replace") as lines:
            tally = count(perf_script.samples(lines), log, keys, int(document["pid"]), int(line))
    except OSError as error:
        raise ThermoclineError(f"can't read {script}: {error.strerror}") from error
    if not tally.taken:
        others = "none is of this process" if tally.of_others else "there are none"
        raise BadFile(script, f"no samples that can be used: {others}; make it with '{SCRIPT}'")
    document["method"] = "perf"
    document["sampling"] = _sampling(tally)
    document["sites"] = [_site(site, tally) for site in document["sites"]]
    missing = tally.of.keys() - {site["key"] for site in document["sites"]}
    document["sites"] += [
        {"key": key, "kind": "nonheap", "peak_resident_bytes": 0, **tally.of[key].members()}
        for key in sorted(missing)
    ]
    text = json.dumps(document) + "\n"
    model.parse(text, profile)  # what was written by hand may say anything
    files.write_text(out, text, force=True)
    return tally


def _document(profile: Path) -> dict[str, Any]:
    text = files.read_text(profile, errors="replace")
    model.parse(text, profile)
    document = json.loads(text)
    assert isinstance(document, dict)
    return document


def _log(profile: Path, document: dict[str, Any]) -> Log:
    owners = document.get("sampling", {}).get("owners")
    if owners is None:
        raise Misuse(f"{profile} does not say who owned which address: make it with '{RECORD}'")
    try:
        return Log.model_validate(owners)
    except ValidationError as error:
        raise BadFile(profile, f"sampling.owners: {first_problem(error)}") from error


def _keys(document: dict[str, Any]) -> dict[int, str]:
    return {
        number: site["key"]
        for site in document["sites"]
        for number in site.get("numbers", [])
        if isinstance(number, int)
    }


def count(samples: Iterable[Sample], log: Log, keys: dict[int, str], pid: int, line: int) -> Tally:
    """Samples by site.  Owners are gone through backwards: the log says until when each was one."""
    tally = Tally()
    ours: list[Sample] = []
    for sample in samples:
        if sample.pid != pid:
            tally.of_others += 1
        elif not sample.address:
            tally.without_address += 1
        else:
            ours.append(sample)
    if ours and not any(log.from_ns <= one.nanoseconds <= log.to_ns for one in ours):
        raise ThermoclineError(
            f"no sample is of the profile's time: perf's clock was another, record with '{RECORD}'"
        )
    ranges, not_heap = Ranges(), Ranges()
    for address, size, number in log.last_rows():
        ranges.give(address, size, number)
    for address, size, kind in log.mapping_rows():
        not_heap.give(address, size, kind + 1)
    changes = log.changes_backwards()
    at = 0
    for sample in sorted(ours, key=lambda one: -one.nanoseconds):
        while at < len(changes) and changes[at][0] >= sample.nanoseconds:
            _, address, size, number = changes[at]
            ranges.give(address, size, number)
            at += 1
        number = ranges.owner(sample.address)
        if number and log.full_at_ns and sample.nanoseconds > log.full_at_ns:
            tally.too_late += 1
            number = 0
        key = keys.get(number)
        if key is None:
            kind = not_heap.owner(sample.address)
            key = _NOT_HEAP[kind - 1] if 1 <= kind <= len(_NOT_HEAP) else _OTHER
        tally.of.setdefault(key, Counts()).add(sample, line)
        tally.events.setdefault(sample.event, set()).add(sample.period)
        tally.taken += 1
    return tally


def _sampling(tally: Tally) -> dict[str, Any]:
    return {
        "events": [
            {"name": name, "counts": _meaning(name)}
            | ({"period": next(iter(periods))} if len(periods) == 1 else {})
            for name, periods in sorted(tally.events.items())
        ],
        "samples": tally.taken,
        "without_address": tally.without_address,
        "of_others": tally.of_others,
        "too_late": tally.too_late,
    }


def _meaning(event: str) -> str:
    if _NO_ACCESS.match(event):
        return "events that are neither loads nor stores"
    if _MISSES.search(event):
        return "loads that memory served"
    return "loads and stores, and who served them"


def _site(site: dict[str, Any], tally: Tally) -> dict[str, Any]:
    counts = tally.of.get(site["key"], Counts())
    kept = {name: value for name, value in site.items() if name not in ("numbers", "series")}
    return kept | counts.members()
