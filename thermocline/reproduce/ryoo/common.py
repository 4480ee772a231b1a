"""What the items of this paper share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

from thermocline.reproduce.ryoo import paper
from thermocline.reproduce.ryoo.mixes import CONTEXT, Mix, MixRun, MixStudy
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Answer = Mapping[str, Any]
MEAN = "geometric mean"
LINE = 64
# Near memory's share of near and far together.
SHARES = {"1/16": "5.88235%", "1/8": "11.11111%", "1/4": "20%"}
RIVALS = {
    "random": "Random",
    "hma": "HMA",
    "cameo": "CAMEO",
    "cameo-p": "CAMEO-P",
    "pom": "PoM",
}
SILC = "silc-fm"
FREE = "silc-fm:metadata=free"  # its entries cost nothing
CHECKED = ("hma", SILC)  # schemes that are looked at over half a slice, too
NAMES = {**RIVALS, SILC: "SILC-FM", FREE: "SILC-FM, entries free"}
COLOURS = {
    "random": "#9a9a9a",
    "hma": "#e69f00",
    "cameo": "#56b4e9",
    "cameo-p": "#0072b2",
    "pom": "#cc79a7",
    SILC: "#d55e00",
    FREE: "#009e73",
}


def chapter5(study: Study) -> tuple[MixStudy, list[Mix]]:
    """The study, and this chapter's mixes."""
    assert isinstance(study, MixStudy)
    return study, study.of_chapter(5)


def baseline(mix: Mix) -> MixRun:
    """The thesis': a system without near memory."""
    return MixRun(mix.name, CONTEXT, "all-slow")


def run(mix: Mix, scheme: str, ratio: str = "1/4") -> MixRun:
    """Under a scheme, at a ratio of near to far memory."""
    return MixRun(mix.name, CONTEXT, scheme, share=SHARES[ratio])


def over_baseline(study: MixStudy, run: MixRun) -> float:
    """How much faster than without near memory."""
    base = study.answer(baseline(study.mixes[run.program]))
    return float(base["seconds"]) / float(study.answer(run)["seconds"])


def halves(mixes: Sequence[Mix]) -> list[MixRun]:
    """What doubled() looks at: whole slices, and the first half of each."""
    whole = [baseline(mix) for mix in mixes]
    whole += [run(mix, scheme) for mix in mixes for scheme in CHECKED]
    return [*whole, *map(_half, whole)]


def _half(run: MixRun) -> MixRun:
    return replace(run, first_half=True)


def doubled(
    mixes: Sequence[Mix], relative: Callable[[MixRun, MixRun], float]
) -> dict[str, dict[str, tuple[float, float]]]:
    """By mix and scheme: over half the slice and over all of it, what the scheme's run is to the
    baseline's by `relative(baseline, run)`."""
    return {
        mix.name: {
            scheme: (
                relative(_half(baseline(mix)), _half(run(mix, scheme))),
                relative(baseline(mix), run(mix, scheme)),
            )
            for scheme in CHECKED
        }
        for mix in mixes
    }


def change(half: float, whole: float) -> str:
    """By how much twice the slice differs."""
    return f"{half:.3f}, {whole:.3f} ({100 * (whole / half - 1):+.1f} %)"


def mpki(answer: Answer) -> float:
    """Misses of the last cache per thousand instructions of the trace."""
    return 1000 * int(answer["lines_found"][-1]) / int(answer["instructions"])


def group(study: MixStudy, mix: Mix) -> str:
    """By the thesis' limits and our misses."""
    found = mpki(study.answer(baseline(mix)))
    if found < paper.LOW_BELOW:
        return "low"
    return "high" if found > paper.HIGH_ABOVE else "medium"


def grouped(study: MixStudy, mixes: Sequence[Mix]) -> dict[str, list[Mix]]:
    """Mixes by group, groups without any left out, and all of them."""
    found = {name: [mix for mix in mixes if group(study, mix) == name] for name in paper.GROUPS}
    return {**{name: those for name, those in found.items() if those}, "all": list(mixes)}


def near_share(answer: Answer) -> float:
    """Of the program's reads, which near memory served (the thesis' access rate)."""
    counted = answer["organisation"]
    if counted and "near_reads" in counted:
        near, far = int(counted["near_reads"]), int(counted["far_reads"])
    else:
        near, far = (
            int(tier["by_purpose"].get("demand", {}).get("read_bytes", 0))
            for tier in answer["tiers"][:2]
        )
    return near / (near + far) if near + far else 0.0


def moved(answer: Answer) -> float:
    """Lines that changed places for each read of the program."""
    lines = int((answer["organisation"] or {}).get("moved_lines", 0))
    migration = answer["placement"].get("migration") or {}
    lines += int(migration.get("moved_bytes", 0)) // LINE
    return lines / max(1, int(answer["lines_found"][-1]))


def mean(values: Sequence[float]) -> float:
    """Geometric."""
    return geometric_mean(values)


def percent(value: float) -> str:
    """A share."""
    return f"{100 * value:.1f} %"


def points(value: float) -> str:
    """A difference of speed-ups, in percent of the baseline's speed."""
    return f"{100 * value:+.1f} points"


def rows(
    study: MixStudy,
    mixes: Sequence[Mix],
    values: Mapping[str, Sequence[float]],
    text: Callable[[float], str] = "{:.3f}".format,
) -> list[tuple[str, ...]]:
    """One a mix, then the mean of each group and of all."""
    found = [(mix.label, *(text(each) for each in values[mix.name])) for mix in mixes]
    for name, those in grouped(study, mixes).items():
        columns = zip(*(values[mix.name] for mix in those), strict=True)
        means = [mean(column) if min(column) > 0 else 0.0 for column in columns]
        found.append((f"{name} MPKI: {MEAN}", *(text(each) for each in means)))
    return found


def notes(study: MixStudy, mixes: Sequence[Mix]) -> tuple[str, ...]:
    """What every number of chapter 5 was made at."""
    machine, copies = study.whole_machine, study.size.copies
    last = int(study.machine.cache[-1].bytes.value) * copies // machine.cpu.cores
    instructions = [
        int(study.answer(baseline(mix))["instructions"]) / copies / 1e6 for mix in mixes
    ]
    return (
        f"{copies} copies of each program on {copies} of {machine.name}'s {machine.cpu.cores} cores"
        f" and that part of its channels; the last cache is the thesis' divided by"
        f" {study.size.divisor} ({last >> 10} KiB of these cores), the first level and latencies"
        " whole; no prefetcher",
        f"slices of {min(instructions):.1f} to {max(instructions):.1f} million instructions a copy"
        " (as the trace counts them, before the compiler's last steps; the thesis: 1000), the last"
        " of each run, after every page's first touch; nothing is left out as warm-up",
        *without(study),
    )


def without(study: MixStudy) -> tuple[str, ...]:
    """Real programs that can't be had here, in a line."""
    missing = study.missing(5)
    if not missing:
        return ()
    names = {why: [name for name in missing if missing[name] == why] for why in missing.values()}
    found = "; ".join(f"{', '.join(those)}: {why}" for why, those in names.items())
    return (
        "without real programs that can't be had here (they need Debian's sources, and what"
        f" 'sh scripts/bootstrap.sh real' installs): {found}",
    )


def bars(
    figure: "Figure",
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    title: str,
    colours: Mapping[str, str] | None = None,
) -> None:
    """Groups of bars, one a series."""
    axis = figure.subplots()
    width = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        places = [place + (number - (len(series) - 1) / 2) * width for place in range(len(labels))]
        colour = (colours or {}).get(name)
        axis.bar(places, values, width, label=NAMES.get(name, name), color=colour)
    axis.axhline(1, color="black", linewidth=0.8)
    axis.set_xticks(range(len(labels)))
    texts = [label.replace(" (", "\n(") for label in labels]
    axis.set_xticklabels(texts, rotation=40, ha="right", fontsize=8)
    axis.set_ylabel(title)
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize=8, ncols=3)
