"""Caches that hold on to lines of translation, ours: the thesis' future work (section 8.2.2)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thermocline.reproduce.item import Item, Result, Table
from thermocline.reproduce.ryoo import common, translated
from thermocline.reproduce.ryoo.mixes import Mix, MixRun
from thermocline.reproduce.ryoo.sizes import with_mean
from thermocline.reproduce.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of a set's ways, that translation may hold against data.
SHARES = (0.5,)
TLBS = (translated.BASELINE, translated.POM, translated.NEIGHBOURS)


def _run(mix: Mix, tlb: str, share: float = 0) -> MixRun:
    return translated.run(mix, f"{tlb}:keep={share}" if share else tlb)


def runs(study: Study) -> Sequence[MixRun]:
    """The walker and POM-TLB, under LRU and under each share."""
    _, mixes = translated.chapter7(study)
    return translated.both(
        [_run(mix, tlb, share) for mix in mixes for tlb in TLBS for share in (0, *SHARES)]
    )


def result(study: Study) -> Result:
    """What it gains each way to translate over LRU, and what its references find in caches."""
    made, mixes = translated.chapter7(study)
    gain: dict[str, list[float]] = {}
    found: dict[str, list[float]] = {}
    penalty: dict[str, list[float]] = {}
    for mix in mixes:
        gain[mix.label], found[mix.label], penalty[mix.label] = [], [], []
        for tlb in TLBS:
            plain = translated.steady(made, _run(mix, tlb))
            found[mix.label].append(_cached(plain))
            for share in SHARES:
                kept = translated.steady(made, _run(mix, tlb, share))
                gain[mix.label].append(plain.seconds / kept.seconds - 1)
                penalty[mix.label].append(
                    1 - kept.average / plain.average if plain.average else 0.0
                )
                found[mix.label].append(_cached(kept))
    names = [translated.NAMES[tlb] for tlb in TLBS]
    kept_columns = tuple(f"{name}, {100 * share:.0f} %" for name in names for share in SHARES)
    all_columns = tuple(
        f"{name}, {f'{100 * share:.0f} %' if share else 'LRU'}"
        for name in names
        for share in (0, *SHARES)
    )
    tables = tuple(
        Table(
            title,
            ("workload", *columns),
            tuple((label, *map(common.percent, row)) for label, row in with_mean(values).items()),
        )
        for title, columns, values in (
            (
                "What keeping lines of translation gains over LRU by simulated time, by the share"
                " of a set's ways that they may hold",
                kept_columns,
                gain,
            ),
            ("By how much less a walker is at a miss", kept_columns, penalty),
            ("References of translation that a data cache answers", all_columns, found),
        )
    )

    def draw(figure: "Figure") -> None:
        series = {
            name: [100 * row[number] for row in gain.values()]
            for number, name in enumerate(kept_columns)
        }
        common.bars(figure, list(gain), series, "gain over LRU by simulated time, percent")

    notes = (
        "ours, not the thesis'; in every cache but the first level's, where no such line comes",
        *translated.notes(made),
    )
    data = {"shares": SHARES, "gain": gain, "less_penalty": penalty, "cached": found}
    return Result(tables, (), notes, data, draw, (11, 5))


def _cached(steady: translated.Steady) -> float:
    return 1 - steady.found[-1] / max(1, sum(steady.found))


ITEM = Item("weighed", "caches that keep lines of translation (ours)", runs, result, None, 7)
