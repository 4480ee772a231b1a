"""Figure 6.2: time by granularity, fixed and dynamic, over all data near; simulated and real."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from thermocline.reproduce.item import Claim, Item, Result, Table
from thermocline.reproduce.ryoo import common, migrated, paper, real_moves
from thermocline.reproduce.ryoo.migrated import DYNAMIC, OURS, POLICIES, Measured
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.study import Study, Update

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def runs(study: Study) -> Sequence[MixRun]:
    """All policies."""
    return migrated.runs(*migrated.chapter6(study))


def measure(study: Study, update: Update) -> Any:
    """The engine of real pages, beside."""
    made, mixes = migrated.chapter6(study)
    near = real_moves.near_bytes(made)
    return real_moves.measure(mixes, update, real_moves.ways(near, POLICIES), real_moves.note(near))


def result(study: Study) -> Result:
    """Slowdowns, and what the text says program by program."""
    made, mixes = migrated.chapter6(study)
    found = migrated.slowdowns(made, mixes)
    times = {mix.label: {p: found[mix.name][p].slowdown for p in POLICIES} for mix in mixes}
    means = {p: migrated.mean([each[p] for each in times.values()]) for p in POLICIES}
    table = Table(
        "Figure 6.2: time over that with all data near, simulated",
        ("workload", *POLICIES, "prefers", "thesis"),
        (
            *(
                (
                    mix.label,
                    *(f"{times[mix.label][p]:.2f}" for p in POLICIES),
                    migrated.preference(found[mix.name]),
                    paper.PREFERS[mix.stands_for],
                )
                for mix in mixes
            ),
            (common.MEAN, *(f"{means[p]:.2f}" for p in POLICIES), "", ""),
        ),
    )
    covered = Table(
        "Share of the region that ran before the limit of simulated time",
        ("workload", *POLICIES),
        tuple(
            (mix.label, *(common.percent(found[mix.name][p].covered) for p in POLICIES))
            for mix in mixes
        ),
    )
    real = study.measurements.get(ITEM.name)
    tables = (table, covered, *([real_moves.table(mixes, real)] if real else []))

    def draw(figure: "Figure") -> None:
        labels = [*times, common.MEAN]
        series = {p: [*(each[p] for each in times.values()), means[p]] for p in POLICIES}
        common.bars(figure, labels, series, "time over all data near", migrated.COLOURS)
        figure.axes[0].set_yscale("log")

    data = {
        "slowdown": times,
        "covered": {name: {p: m.covered for p, m in of.items()} for name, of in found.items()},
        "real": real,
    }
    notes = (*migrated.notes(made), *(real["notes"] if real else ()))
    return Result(tables, _claims(mixes, found), notes, data, draw, (13, 6))


def _claims(mixes: Sequence[Mix], found: Mapping[str, Mapping[str, Measured]]) -> tuple[Claim, ...]:
    claims = []
    for wanted in ("4K", "64K", "2M", "none"):
        those = [mix for mix in mixes if paper.PREFERS[mix.stands_for] == wanted]
        ours = {mix.stands_for: migrated.preference(found[mix.name]) for mix in those}
        text = "any granularity alike" if wanted == "none" else wanted
        claims.append(
            Claim(
                "6.3.4",
                f"{', '.join(ours)} prefer {text}",
                ", ".join(f"{name} {each}" for name, each in ours.items()),
                set(ours.values()) == {wanted},
            )
        )
    for policy in DYNAMIC:
        behind = {
            mix.stands_for: found[mix.name][policy].slowdown / migrated.best_fixed(found[mix.name])
            for mix in mixes
        }
        late = {n: r for n, r in behind.items() if r > 1 + migrated.ALIKE}
        claims.append(
            Claim(
                "6.3.4",
                f"{policy} is near the best fixed granularity but for"
                f" {' and '.join(paper.DYNAMIC_LOSES)}",
                "slower by more than 5 %: "
                + (", ".join(f"{n} {100 * (r - 1):.0f} %" for n, r in late.items()) or "none"),
                set(late) <= set(paper.DYNAMIC_LOSES),
            )
        )
        ahead = [n for n, r in behind.items() if r < 1]
        claims.append(
            Claim(
                "6.3.4",
                f"{policy} beats every fixed granularity in"
                f" {', '.join(paper.DYNAMIC_WINS[policy])}",
                f"in {', '.join(ahead) or 'none'}",
                set(paper.DYNAMIC_WINS[policy]) <= set(ahead),
            )
        )
    for policy in (*DYNAMIC, OURS):
        gains = [
            1 - found[mix.name][policy].slowdown / found[mix.name]["4K"].slowdown for mix in mixes
        ]
        average = sum(gains) / len(gains)
        claims.append(
            Claim(
                "6",
                f"dynamic schemes take up to {common.percent(paper.MOST_GAIN)} off the baseline's"
                f" time (4 KiB), {common.percent(paper.MEAN_GAIN)} on average",
                f"{policy}: up to {common.percent(max(gains))}, {common.percent(average)} on"
                " average",
                abs(average - paper.MEAN_GAIN) < 0.1 and abs(max(gains) - paper.MOST_GAIN) < 0.1,
            )
        )
    return tuple(claims)


ITEM = Item("fig6.2", "time by granularity, fixed and dynamic", runs, result, measure, 6)
