"""How `thermocline simulate` shows its answers: table, error bars, the sentence, notes; or JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thermocline import units
from thermocline.cli import output, programs
from thermocline.machine import calibration as bars
from thermocline.machine.calibration import Calibration
from thermocline.machine.model import Machine
from thermocline.simulation import advice, comparison
from thermocline.simulation.comparison import Answer


@dataclass(frozen=True)
class Shown:
    """Answers, what they are compared with, and how far this host's predictions are off."""

    answers: Sequence[Answer]
    against: str
    machine: Machine
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
            said = advice.advise(group, self.against, self.machine, self.ratio_bar, command)
            if said:
                found.append((group[0], said))
        return found


def command_of(answer: Answer) -> list[str]:
    """The command that was recorded."""
    command = answer.row.trace.survey["meta"].get("command") or ["CMD"]
    return [str(word) for word in command] if isinstance(command, list) else [str(command)]


def relative(answer: Answer, shown: Shown) -> tuple[float, float]:
    """Speed-up over the baseline, and energy-delay relative to it."""
    base = comparison.baseline_of(answer, shown.answers, shown.against)
    delay = float(base.json["energy"]["energy_delay"])
    mine = float(answer.json["energy"]["energy_delay"])
    speed = base.seconds / answer.seconds if answer.seconds else 1.0
    return speed, mine / delay if delay else 1.0


def _range(value: float, factor: float | None) -> list[float] | None:
    return None if factor is None else [value / factor, value * factor]


def as_json(shown: Shown) -> dict[str, Any]:
    """Everything; ranges hold 90 % of programs, as docs/simulator.md says."""
    known = shown.calibration
    rows = []
    for answer in shown.answers:
        speedup, energy_delay = relative(answer, shown)
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
    return {
        "baseline": shown.against,
        "calibration": bars.summary(known) if known else None,
        "advice": [
            {
                "trace": str(first.row.trace.path),
                "capacity": first.row.capacity or None,
                "sentence": said.sentence,
                "set": said.setting,
            }
            for first, said in shown.advise()
        ],
        "rows": rows,
    }


def show(shown: Shown) -> None:
    """The table, the sentence and the notes."""
    _table(shown)
    programs.show(shown.answers)
    several = len({answer.row.trace.path for answer in shown.answers}) > 1
    for first, said in shown.advise():
        print((f"{first.row.trace.path}: " if several else "") + said.sentence)
        print(f"to set: {said.setting}")
    show_notes(shown)


def _table(shown: Shown) -> None:
    column = output.Column
    answers = shown.answers
    several = len({answer.row.trace.path for answer in answers}) > 1
    limited = any(answer.row.capacity for answer in answers)
    tiers = [tier["name"] for tier in answers[0].json["tiers"]]
    columns = [column("trace")] if several else []
    columns += [column("capacity", True)] if limited else []
    columns += [
        column("scheme"),
        column("time", True),
        column(f"vs {shown.against}", True),
        column("IPC", True),
        column(f"{tiers[0]} traffic", True),
        *(column(f"{tier} GB/s", True) for tier in tiers),
        column("energy", True),
        column("energy-delay", True),
    ]
    known = shown.calibration
    bar = f" {bars.plus_minus(known.time_factor)}" if known else ""
    rows = []
    for answer in answers:
        speedup, energy_delay = relative(answer, shown)
        row = [str(answer.row.trace.path)] if several else []
        row += [answer.row.capacity] if limited else []
        row += [
            answer.row.label,
            units.format_duration(answer.seconds) + bar,
            f"{speedup:.2f}x",
            f"{answer.json['instructions_per_cycle']:.2f}",
            units.format_share(answer.near_share),
            *(f"{tier['bandwidth'] / 1e9:.2f}" for tier in answer.json["tiers"]),
            f"{answer.json['energy']['joules']:.3g} J",
            f"{energy_delay:.2f}",
        ]
        rows.append(row)
    output.table(columns, rows)
    print()


def show_notes(shown: Shown) -> None:
    """What a reader must know, on stderr."""
    sentences = [_bar_sentence(shown.calibration)]
    machine = shown.machine
    for answer in shown.answers:
        configured = answer.row.configured
        sentences.append(
            comparison.scale_sentence(configured.scale, machine.name, machine.cpu.cores)
        )
        if configured.assumed:
            sentences.append(
                f"{machine.name} does not say, so this was assumed: {', '.join(configured.assumed)}"
            )
        sentences += answer.json["notes"]
        if answer.screening_error is not None:
            sentences.append(
                f"{answer.row.label}: screening is {100 * answer.screening_error:+.1f} % off"
                f" faithful timing, on {len(comparison.WINDOWS)} windows of {answer.row.trace.path}"
            )
        if answer.json["unrecorded_instructions"]:
            share = answer.json["instructions"] / (
                answer.json["instructions"] + answer.json["unrecorded_instructions"]
            )
            sentences.append(
                f"{answer.row.trace.path} holds {100 * share:.3g} % of the program's instructions:"
                " times are those of the recorded ones"
            )
    for sentence in dict.fromkeys(sentences):
        if sentence:
            output.note(sentence)


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


def next_step(answers: Sequence[Answer], machine: str) -> None:
    """The command to run next."""
    guided = [answer for answer in answers if answer.row.plan]
    command = command_of(answers[0])
    if guided:
        best = min(guided, key=lambda answer: answer.seconds)
        output.next_step("thermocline", "run", "--plan", best.row.plan, "--", *command)
    else:
        output.next_step("thermocline", "profile", "--machine", machine, "--", *command)
