"""How `thermocline simulate --translation` shows its answers."""

from typing import Any

from thermocline import units
from thermocline.cli import output
from thermocline.cli.simulated import show_notes
from thermocline.simulation import translation
from thermocline.simulation.answers import Answers
from thermocline.simulation.comparison import Answer


def show(shown: Answers) -> None:
    """The table and the notes."""
    column = output.Column
    answers = shown.answers
    several = len({answer.row.trace.path for answer in answers}) > 1
    limited = any(answer.row.capacity for answer in answers)
    levels = _levels(answers[0])
    columns = [column("trace")] if several else []
    columns += [column("capacity", True)] if limited else []
    columns += [
        column("TLB"),
        *(
            column(title, True)
            for title in (
                "time", f"vs {shown.baseline}", "L1 TLB hits", "L2 TLB hits", "misses/kinstr",
                "last level hits", "walks", "refs/walk", "walk cache hits", "nested TLB hits",
                "penalty, cycles", "+ queueing", *(f"refs from {level}" for level in levels),
            )
        ),
    ]  # fmt: skip
    rows = []
    for answer in answers:
        row = [str(answer.row.trace.path)] if several else []
        row += [answer.row.capacity] if limited else []
        rows.append(row + _cells(answer, shown))
    output.table(columns, rows)
    print()
    for said in dict.fromkeys(_page_sizes(answer) for answer in answers):
        if said:
            output.note(said)
    show_notes(shown)


def _page_sizes(answer: Answer) -> str:
    choice = answer.row.choice
    return translation.page_sizes(choice, answer.row.trace.survey) if choice else ""


def _levels(answer: Answer) -> list[str]:
    """Those that a walk can refer to."""
    json = answer.row.configured.json
    caches = len(json["caches"])
    first = min(int(json["translation"]["first_cache"]), caches - 1)
    return [f"L{level + 1}" for level in range(first, caches)] + ["memory"]


def _cells(answer: Answer, shown: Answers) -> list[str]:
    made: dict[str, Any] = answer.json["translation"]
    cycle = 1 / float(answer.row.configured.json["cpu"]["hertz"])
    speedup, _ = shown.relative(answer)
    misses = int(made["second_misses"])
    found = made["references_found"]
    served = found[-len(_levels(answer)) :]
    walks = int(made["walks"])
    penalty, queued = (
        f"{float(made[name]) / misses / cycle:.1f}" if misses else "-"
        for name in ("penalty_seconds", "queued_seconds")
    )
    return [
        answer.row.label,
        units.format_duration(answer.seconds),
        f"{speedup:.3f}x",
        _hits(*made["first"]),
        _hits(made["second"], made["second_huge"]),
        f"{1000 * misses / answer.json['instructions']:.3g}" if answer.json["instructions"] else "",
        _share(misses - walks, misses) if made["tlb"] in ("pom", "tsb") else "-",
        f"{walks}",
        f"{made['walk_references'] / walks:.2f}" if walks else "-",
        _hits(*made["walk_caches"]),
        _hits(made["nested_tlb"]) if "nested_tlb" in made else "-",
        penalty,
        queued,
        *(_share(each, sum(found)) for each in served),
    ]


def _hits(*buffers: dict[str, int]) -> str:
    return _share(sum(b["hits"] for b in buffers), sum(b["lookups"] for b in buffers))


def _share(part: int, whole: int) -> str:
    return units.format_share(part / whole) if whole else "-"
