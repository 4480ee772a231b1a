"""How `thermocline simulate` shows its answers: table, error bars, the sentence, notes."""

from thermocline import units
from thermocline.cli import output, programs
from thermocline.machine import calibration as bars
from thermocline.simulation.answers import Answers, command_of


def show(shown: Answers) -> None:
    """The table, the sentence and the notes."""
    _table(shown)
    programs.show(shown.answers)
    several = len({answer.row.trace.path for answer in shown.answers}) > 1
    for first, said in shown.advise():
        print((f"{first.row.trace.path}: " if several else "") + said.sentence)
        print(f"to set: {said.setting}")
    show_notes(shown)


def _table(shown: Answers) -> None:
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
        column(f"vs {shown.baseline}", True),
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
        speedup, energy_delay = shown.relative(answer)
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


def show_notes(shown: Answers) -> None:
    """What a reader must know, on stderr."""
    for sentence in shown.notes():
        output.note(sentence)


def next_step(shown: Answers) -> None:
    """The command to run next."""
    guided = [answer for answer in shown.answers if answer.row.plan]
    command = command_of(shown.answers[0])
    if guided:
        best = min(guided, key=lambda answer: answer.seconds)
        output.next_step("thermocline", "run", "--plan", best.row.plan, "--", *command)
    else:
        output.next_step("thermocline", "profile", "--machine", shown.machine_name, "--", *command)
