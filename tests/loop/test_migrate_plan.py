"""A plan keeps sites near and far, and the migration engine moves the rest."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from test_loop import call
from test_migrate import migrate, needs_rights, process_of

from thermocline.planning.model import Plan, PlannedSite, load, to_toml
from thermocline.sites import table

MIB = 1 << 20
NEAR = 16 * MIB
HOT, COLD = 6 * MIB, 16 * MIB  # planned.c's


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planned")
    source = Path(__file__).with_name("planned.c")
    call("thermocline-clang", "-O2", str(source), "-o", "planned", cwd=folder)
    return folder / "planned"


def by_hand(path: Path, sites: Iterable[PlannedSite], callers: int | None = None) -> Path:
    """A plan of planned.c's hot and cold sites."""
    tiers = {"hot_data": 0, "cold_data": 1}
    kept = [
        site.model_copy(update={"tier": tier})
        for site in sites
        for name, tier in tiers.items()
        if f"!{name}@" in site.key
    ]
    assert len(kept) == len(tiers), sites
    plan = Plan(strategy="by hand", sites=kept, preload_context=callers)
    path.write_text(to_toml(plan), encoding="utf-8")
    return path


def check(program: Path, plan: Path, granularity: str) -> None:
    """As the plan says, and nothing else differs."""
    plain = call(program, cwd=program.parent)
    words = ["--near", str(NEAR), "--plan", str(plan), "--granularity", granularity]
    done = call(*migrate("--check", "--json", *words, "--", str(program), str(NEAR)), cwd=Path("/"))
    assert done.stderr == plain.stdout
    process = process_of(json.loads(done.stdout), program.name)
    assert HOT <= process["peak_held_bytes"] < HOT + MIB
    assert process["visits"] >= COLD / 8 / 4096 / 2  # each page of it that was touched, but few
    assert process["checked_pages"] > 0
    assert process["corrupt_pages"] == process["lost_pages"] == 0


@needs_rights
@pytest.mark.parametrize("granularity", ["4K", "2M", "adaptive"])
def test_planned_sites_stay_where_they_are_planned(planned: Path, granularity: str) -> None:
    sites = [PlannedSite(tier=0, key=site.key) for site in table.read(planned).sites]
    check(planned, by_hand(planned.with_suffix(".plan"), sites), granularity)


@needs_rights
def test_a_plan_of_another_program_is_noticed(planned: Path, tmp_path: Path) -> None:
    plan = tmp_path / "other.plan"
    site = PlannedSite(tier=0, key="other!main@other.c:1:1")
    plan.write_text(to_toml(Plan(strategy="by hand", sites=[site])), encoding="utf-8")
    words = ["--near", "64MiB", "--plan", str(plan)]
    done = call(*migrate(*words, "--", str(planned)), cwd=Path("/"))
    assert "1 of 1 planned sites never came" in done.stderr
    done = call(*migrate(*words, "--", "true"), cwd=Path("/"))
    assert "no annotated program ran" in done.stderr


@needs_rights
def test_a_plan_for_a_program_that_is_not_annotated(tmp_path: Path) -> None:
    """Its sites are call paths, which the preloaded runtime meets."""
    source, program = Path(__file__).with_name("planned.c"), tmp_path / "unannotated"
    subprocess.run(["clang-22", "-O0", "-g", str(source), "-o", str(program)], check=True)
    words = ["--machine", "dram-cxl", "--capacity", "50%", "-o", "a.plan"]
    preload = ["--preload", "--machine", "dram-cxl", "-o", "a.profile"]
    call("thermocline", "profile", *preload, "--", str(program), cwd=tmp_path)
    call("thermocline", "plan", "a.profile", *words, cwd=tmp_path)
    made = load(tmp_path / "a.plan")
    check(program, by_hand(tmp_path / "b.plan", made.sites, made.preload_context), "64K")
