"""Answers side by side: speed-ups over a baseline, error bars, and the sentence they come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thermocline import files, frames
from thermocline.frames import COUNT, MAYBE, NUMBER, TEXT
from thermocline.machine import calibration as bars
from thermocline.machine.calibration import Calibration
from thermocline.machine.model import Machine
from thermocline.simulation import advice, comparison
from thermocline.simulation.comparison import Answer

if TYPE_CHECKING:
    from pandas import DataFrame

_ROW = {"trace": TEXT, "scheme": TEXT, "capacity": TEXT}
COLUMNS = {
    **_ROW,
    "near_bytes": MAYBE,  # of tier 0; missing: the machine's own
    "scale": NUMBER,  # the part of the machine that was simulated
    "seconds": NUMBER,
    "seconds_low": NUMBER,
    "seconds_high": NUMBER,
    "speedup": NUMBER,  # over the baseline, times
    "speedup_low": NUMBER,
    "speedup_high": NUMBER,
    "instructions_per_cycle": NUMBER,
    "near_share": NUMBER,  # of the traffic, tier 0's
    "joules": NUMBER,
    "relative_energy_delay": NUMBER,
    "screening_error": NUMBER,
}
TIER_COLUMNS = {
    **_ROW,
    "tier": COUNT,
    "name": TEXT,
    "read_bytes": COUNT,
    "write_bytes": COUNT,
    "bytes_per_second": NUMBER,
    "resident_bytes": COUNT,
    "spilled_bytes": COUNT,
    "joules": NUMBER,
}


@dataclass(frozen=True)
class Answers:
    """Answers, what they are compared with, and how far this host's predictions are off."""

    answers: Sequence[Answer]
    baseline: str
    machine: Machine
    machine_name: str  # as asked for
    calibration: Calibration | None

    @property
    def ratio_bar(self) -> str:
        """A ratio's error bar in words."""
        if self.calibration is None:
            return "not calibrated"
        return bars.plus_minus(self.calibration.ratio_factor)

    def advise(self) -> list[tuple[Answer, advice.Advice]]:
        """For each trace and capacity, with its first answer, if it has more than the baseline."""
        found: list[tuple[Answer, advice.Advice]] = []
        if any("translation" in answer.json for answer in self.answers):
            return found  # its rows differ in TLBs: no placement to advise
        for group in comparison.groups(self.answers):
            command = command_of(group[0])
            said = advice.advise(group, self.baseline, self.machine, self.ratio_bar, command)
            if said:
                found.append((group[0], said))
        return found

    def relative(self, answer: Answer) -> tuple[float, float]:
        """Speed-up over the baseline, and energy-delay relative to it."""
        base = comparison.baseline_of(answer, self.answers, self.baseline)
        delay = float(base.json["energy"]["energy_delay"])
        mine = float(answer.json["energy"]["energy_delay"])
        speed = base.seconds / answer.seconds if answer.seconds else 1.0
        return speed, mine / delay if delay else 1.0

    def rows(self) -> list[dict[str, Any]]:
        """One for each answer; ranges hold 90 % of programs, as docs/simulator.md says."""
        known = self.calibration
        rows = []
        for answer in self.answers:
            speedup, energy_delay = self.relative(answer)
            rows.append(
                {
                    "trace": str(answer.row.trace.path),
                    "scheme": answer.row.label,
                    "capacity": answer.row.capacity or None,
                    "near_bytes": answer.row.near_bytes,
                    "scale": float(answer.row.configured.scale.factor),
                    "assumed": answer.row.configured.assumed,
                    "seconds_range": _range(answer.seconds, known.time_factor if known else None),
                    "speedup": speedup,
                    "speedup_range": _range(speedup, known.ratio_factor if known else None),
                    "relative_energy_delay": energy_delay,
                    "near_share": answer.near_share,
                    "screening_error": answer.screening_error,
                    "alone_seconds": list(answer.alone_seconds),
                    "result": answer.json,
                }
            )
        return rows

    def frame(self) -> "DataFrame":
        """A row an answer; low and high are the ends of error bars, NaN without a calibration."""

        def ends(row: dict[str, Any], name: str) -> dict[str, float | None]:
            low, high = row[f"{name}_range"] or (None, None)
            return {f"{name}_low": low, f"{name}_high": high}

        return frames.of(
            (
                {
                    **row,
                    **ends(row, "seconds"),
                    **ends(row, "speedup"),
                    "seconds": row["result"]["seconds"],
                    "instructions_per_cycle": row["result"]["instructions_per_cycle"],
                    "joules": row["result"]["energy"]["joules"],
                }
                for row in self.rows()
            ),
            COLUMNS,
        )

    def tiers(self) -> "DataFrame":
        """A row for each tier of each answer: what its memory carried."""
        return frames.of(
            (
                {
                    "trace": row["trace"],
                    "scheme": row["scheme"],
                    "capacity": row["capacity"],
                    "tier": number,
                    **tier,
                    "bytes_per_second": tier["bandwidth"],
                    "joules": tier["energy_joules"],
                }
                for row in self.rows()
                for number, tier in enumerate(row["result"]["tiers"])
            ),
            TIER_COLUMNS,
        )

    def to_json(self) -> dict[str, Any]:
        """Everything: what `simulate` prints as JSON and writes with -o."""
        return {
            "machine": self.machine_name,
            "baseline": self.baseline,
            "calibration": bars.summary(self.calibration) if self.calibration else None,
            "advice": [
                {
                    "trace": str(first.row.trace.path),
                    "capacity": first.row.capacity or None,
                    "sentence": said.sentence,
                    "set": said.setting,
                }
                for first, said in self.advise()
            ],
            "rows": self.rows(),
        }

    def save(self, path: Path | str, force: bool = False) -> None:
        """Writes it, for `thermocline report`."""
        files.refuse_overwrite(Path(path), force)
        files.write_json(Path(path), self.to_json())

    def notes(self) -> list[str]:
        """What a reader must know."""
        sentences = [_bar_sentence(self.calibration)]
        machine = self.machine
        for answer in self.answers:
            configured = answer.row.configured
            sentences.append(
                comparison.scale_sentence(configured.scale, machine.name, machine.cpu.cores)
            )
            if configured.assumed:
                listed = ", ".join(configured.assumed)
                sentences.append(f"{machine.name} does not say, so this was assumed: {listed}")
            sentences += answer.json["notes"]
            if answer.screening_error is not None:
                sentences.append(
                    f"{answer.row.label}: screening is {100 * answer.screening_error:+.1f} % off"
                    f" faithful timing, on {len(comparison.WINDOWS)} windows of"
                    f" {answer.row.trace.path}"
                )
            if answer.json["unrecorded_instructions"]:
                share = answer.json["instructions"] / (
                    answer.json["instructions"] + answer.json["unrecorded_instructions"]
                )
                sentences.append(
                    f"{answer.row.trace.path} holds {100 * share:.3g} % of the program's"
                    " instructions: times are those of the recorded ones"
                )
        return [sentence for sentence in dict.fromkeys(sentences) if sentence]


def command_of(answer: Answer) -> list[str]:
    """The command that was recorded."""
    command = answer.row.trace.survey["meta"].get("command") or ["CMD"]
    return [str(word) for word in command] if isinstance(command, list) else [str(command)]


def _range(value: float, factor: float | None) -> list[float] | None:
    return None if factor is None else [value / factor, value * factor]


def _bar_sentence(known: Calibration | None) -> str:
    """What the error bars are, or how to have some."""
    if known is None:
        return f"not calibrated: {bars.AGAIN}"
    return (
        f"±: how far {len(known.programs)} programs' predictions were from {known.host}'s clock"
        f"{' (--quick)' if known.quick else ''}, faithful timing, one kind of memory; what a"
        " machine file assumes comes on top. A ratio's is their spread: no ratio of two memories"
        " was measured"
    )
