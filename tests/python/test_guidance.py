"""What other methods of profiling would have said, and the figures that compare them."""

import pytest

from thermocline.reproduce import guidance
from thermocline.reproduce.membrain import fig6, fig7, paper

from .conftest import MakeProfile, site

MISSES = 1_000_000


def test_load_misses_are_the_loads_part_of_the_fills(make_profile: MakeProfile) -> None:
    fills = {"read_bytes": 64 * MISSES, "write_bytes": 640}
    profile = make_profile(
        [
            site("read", 0, 10, **(fills | {"loads": 10, "stores": 0})),
            site("mixed", 0, 10, **(fills | {"loads": 10, "stores": 30})),
            site("written", 0, 10, **(fills | {"loads": 0, "stores": 5})),
            site("untouched", 0, 10),
        ]
    )
    found = {each.key: guidance.load_misses(each) for each in profile.heap}
    assert found == {"read": MISSES, "mixed": MISSES // 4, "written": 0, "untouched": 0}


def test_thinning_is_unbiased_repeatable_and_of_loads_only(make_profile: MakeProfile) -> None:
    profile = make_profile(
        [
            site("a", 64 * MISSES, 10, loads=10, write_bytes=999),
            site("(stack)", 500, 10, loads=1, kind="nonheap"),
        ],
        series={"interval_seconds": 0.1, "count": 1},
    )
    thinned = guidance.thinned(profile, 128)
    assert thinned == guidance.thinned(profile, 128)
    heap, stack = thinned.heap[0], thinned.nonheap[0]
    # Five standard deviations of a binomial with a mean of 7812.
    assert heap.read_bytes == pytest.approx(64 * MISSES, rel=0.06)
    assert heap.read_bytes % (128 * 64) == 0
    assert heap.write_bytes == 0
    assert stack.read_bytes == 500
    assert guidance.samples(profile, 8192)["a"] < guidance.samples(profile, 128)["a"]


def test_isolation_counts_a_site_s_bytes_wherever_they_are(make_profile: MakeProfile) -> None:
    profile = make_profile([site("a", 1, 10), site("b", 1, 10)])
    tiers = [{"read_bytes": 5, "write_bytes": 2}, {"read_bytes": 10, "write_bytes": 0}]
    found = guidance.isolated(profile, {"sites": [{"key": "a", "tiers": tiers}]})
    assert [(each.key, each.read_bytes, each.write_bytes) for each in found.heap] == [
        ("a", 15, 2),
        ("b", 0, 0),
    ]
    assert found.method == "mbi"
    assert found.peak_resident_bytes == profile.peak_resident_bytes


def test_which_guidance_needs_a_run() -> None:
    sampled = guidance.sampled(512)
    assert [name for name in ("exact", sampled, "mbi", "pages") if guidance.runs_here(name)] == [
        "pages"
    ]
    assert guidance.text(sampled) == "sampling 1/512 (emulated)"


def rates(worst: float) -> dict[tuple[str, int, str], float]:
    found = {
        (program, context, bar): 1.0
        for program in ("a", "b", fig6.MEAN)
        for context in paper.CONTEXTS
        for bar in fig6.BARS
    }
    return found | {("a", 4, "sample:8192"): worst, ("b", 4, "sample:8192"): worst}


@pytest.mark.parametrize(("worst", "holds"), [(1.005, True), (1.2, False)])
def test_fig6_s_claim(worst: float, holds: bool) -> None:
    (claim,) = fig6.claims(rates(worst), ["a", "b"])
    assert claim.holds is holds
    assert ("2 of 4" in claim.ours) is not holds


def methods(sampled: float, mbi: float) -> dict[tuple[str, int, str, str], float]:
    """Guidance by sampling loses less against isolation the more room there is."""
    found = {}
    for program in ("a", fig7.MEAN):
        for context, capacity in fig7.CASES:
            less = {"12.5%": 1.0, "25%": 0.5, "50%": 0.25}[capacity]
            for bar in fig7.BARS:
                value = {fig7.SAMPLED: sampled, "mbi": mbi, fig7.FIRST_TOUCH: 1.0}.get(bar, mbi)
                found[program, context, capacity, bar] = 1 + (value - 1) * less
    return found


def test_fig7_s_claims() -> None:
    assert [claim.holds for claim in fig7.claims(methods(0.9, 0.8), ["a"])] == [True, True, True]
    made = fig7.claims(methods(1.1, 1.1), ["a"])
    assert [claim.holds for claim in made] == [False, False, False]
    assert "0 of 3" in made[0].ours
