"""Which sites suit a hardware cache."""

from pathlib import Path
from typing import Any

import pytest

from thermocline.planning import model, suitability
from thermocline.planning.model import Plan, PlannedSite


def answer(*sites: tuple[str, float, int, int]) -> dict[str, Any]:
    """Key, seconds waited, bytes read from tier 0 and 1."""
    return {
        "sites": [
            {
                "key": key,
                "stall_seconds": seconds,
                "tiers": [{"read_bytes": near}, {"read_bytes": far}],
            }
            for key, seconds, near, far in sites
        ]
    }


def test_a_site_is_judged_by_its_waits() -> None:
    placed = answer(
        ("spilled", 1.0, 0, 1000), ("fits", 0.2, 1000, 0), ("alike", 0.5, 500, 500),
        ("idle", 1e-4, 0, 9),
    )  # fmt: skip
    cached = answer(("spilled", 0.4, 900, 100), ("fits", 0.6, 700, 400), ("alike", 0.52, 0, 1000))
    found = suitability.judge(placed, cached)
    assert {key: site.suits for key, site in found.items()} == {
        "spilled": "cache",
        "fits": "placement",
        "alike": "either",
        "idle": "either",
    }
    assert found["spilled"].hit_rate == pytest.approx(0.9)
    assert found["spilled"].near_share == 0
    assert found["alike"].near_share == 0.5
    assert found["alike"].hit_rate == 0


def test_a_plan_carries_the_verdict_and_reads_it_back(tmp_path: Path) -> None:
    plan = Plan(
        strategy="thermos",
        sites=[PlannedSite(tier=1, key="a"), PlannedSite(tier=0, key="unseen")],
    )
    found = suitability.judge(answer(("a", 1.0, 0, 10)), answer(("a", 0.1, 9, 1)))
    marked = suitability.marked(plan, found)
    assert [site.suits for site in marked.sites] == ["cache", ""]
    text = model.to_toml(marked)
    assert text.count("suits") == 1
    assert model.parse(text, "test") == marked
    with pytest.raises(Exception, match="not a plan"):
        model.parse(text.replace('"cache"', '"maybe"'), "test")
