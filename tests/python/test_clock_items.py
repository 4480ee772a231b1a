"""Table II and figure 5: what they make of measured ratios."""

import pytest

from thermocline.measuring.paired import Ratio, Sample, Series
from thermocline.reproduce.membrain import fig5, paper, table2


def row(backtrace: float, static: float, allocations: int = 100_000) -> table2.Row:
    ratios = {"backtrace": backtrace, "cached unwinder": 1.01, "static": static}
    made = {variant: {"seconds": Ratio([value] * 5)} for variant, value in ratios.items()}
    return table2.Row("ours", "amg", allocations, 2.0, made)


def test_table2_s_rates_and_costs() -> None:
    found = row(1.5, 1.0)
    assert found.rate == 50_000
    assert found.cost("backtrace") == pytest.approx(1e-5)  # a second more, 100,000 allocations
    assert row(1.5, 1.0, 0).cost("backtrace") == 0


@pytest.mark.parametrize(
    ("backtrace", "static", "holds"),
    [
        (paper.TABLE2_MEAN.backtrace, 1.01, [True, True, True]),
        (1.1, 1.2, [False, False, False]),
        (4.0, 1.0, [False, True, True]),
    ],
)
def test_table2_s_claims(backtrace: float, static: float, holds: list[bool]) -> None:
    found = row(backtrace, static)
    means = {variant: ratios["seconds"] for variant, ratios in found.ratios.items()}
    assert [claim.holds for claim in table2.claims(means, [found])] == holds


def test_the_paper_s_mean_is_its_rows_mean() -> None:
    rows = paper.TABLE2.values()
    product = 1.0
    for each in rows:
        product *= each.backtrace
    assert product ** (1 / len(rows)) == pytest.approx(paper.TABLE2_MEAN.backtrace, abs=0.01)


def series(**seconds: float) -> Series:
    samples = {name: [Sample(value, None, None, 1.0, "")] * 3 for name, value in seconds.items()}
    return Series(samples, {name: [] for name in seconds}, "none")


def test_fig5_compares_with_an_unprofiled_run_and_with_the_heap_alone() -> None:
    found = {"a": series(**{fig5.PLAIN: 1.0, fig5.HEAP: 1.1, "bursts": 1.21})}
    whole, added = fig5.ratios(found, fig5.PLAIN), fig5.ratios(found, fig5.HEAP)
    assert whole["a"]["bursts"].median == pytest.approx(1.21)
    assert added[fig5.MEAN]["bursts"].median == pytest.approx(1.1)
    assert fig5.HEAP in whole["a"]
    assert fig5.HEAP not in added["a"]


def test_nothing_stands_in_for_sampling() -> None:
    found = {"a": series(**{fig5.PLAIN: 1.0, fig5.HEAP: 1.1, "bursts": 1.25})}
    made = fig5.ratios(found, fig5.PLAIN)
    table = fig5._table("t", {"a": "a", fig5.MEAN: fig5.MEAN}, made)
    assert [line[-1] for line in table.rows] == [fig5.NEEDS] * 2
    assert fig5.claims(made[fig5.MEAN], made[fig5.MEAN]) == ()


def test_fig5_s_claims_where_sampling_ran() -> None:
    whole = {title: Ratio([1.25]) for title in fig5.SAMPLED}
    added = {title: Ratio([1.05]) for title in fig5.SAMPLED}
    assert [claim.holds for claim in fig5.claims(whole, added)] == [True, True]
    assert [claim.holds for claim in fig5.claims(added, whole)] == [False, False]
