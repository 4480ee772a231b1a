"""Reports: what is read, what is said, what is drawn; the page itself is tested in a browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from thermocline.cli import app
from thermocline.errors import ThermoclineError
from thermocline.machine import store
from thermocline.planning import capacity, model, planner
from thermocline.planning.model import Plan
from thermocline.planning.planner import Request
from thermocline.profiles.model import load
from thermocline.reports import artefacts, curve, figures, page, study
from thermocline.reports.headline import sentences
from thermocline.reports.sites import excerpts, rows
from thermocline.reports.study import Study

from .conftest import profile_table, site

MIB = 2**20
SERIES: dict[str, Any] = {"series": {"interval_seconds": 0.1, "count": 3}}


def series(traffic: int, size: int) -> dict[str, Any]:
    return {
        "series": {
            "read_bytes": [0, traffic, 0],
            "write_bytes": [0, 0, 0],
            "resident_bytes": [size, size, size],
        }
    }


SITES = [
    site("a!hot@src/a.c:3:1 < main@src/a.c:9:1", 900 * MIB, 10 * MIB, 0.5, **series(900, 10 * MIB)),
    site("a!cold@src/a.c:5:1 < main@src/a.c:8:1", 50 * MIB, 80 * MIB, 0.1, **series(50, 80 * MIB)),
    site("a!warm@src/a.c:6:1 < main@src/a.c:8:1", 50 * MIB, 10 * MIB, 0.2, **series(50, 10 * MIB)),
]
SIMULATION = {
    "baseline": "first-touch",
    "advice": [{"sentence": "Knights Landing would run it 1.4 times as fast.", "set": "flat mode"}],
    "rows": [
        {
            "trace": "a.trace",
            "scheme": scheme,
            "capacity": None,
            "speedup": speedup,
            "speedup_range": [speedup / 1.1, speedup * 1.1],
            "result": {"seconds": 1 / speedup},
        }
        for scheme, speedup in (("first-touch", 1.0), ("membrain", 1.4))
    ],
}
RUN = {
    "format": "thermocline-run-summary",
    "strategy": "thermos",
    "tiers": [{"name": "mcdram", "capacity_bytes": 25 * MIB}, {"name": "ddr4"}],
    "fast_traffic_share": 0.875,
    "never_came": ["a!gone@x.c:1:1"],
    "processes": [
        {
            "format": "thermocline-run",
            "version": 1,
            "pid": 7,
            "command": ["./a.out"],
            "peak_resident_bytes": 100 * MIB,
            "tiers": [
                {"tier": 0, "peak_resident_bytes": 20 * MIB},
                {"tier": 1, "peak_resident_bytes": 80 * MIB},
            ],
        }
    ],
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """One of each artefact, as files."""
    found = {name: tmp_path / name for name in ("a.profile", "a.plan", "schemes.json", "run.json")}
    found["a.profile"].write_text(json.dumps(profile_table(SITES, **SERIES)))
    request = Request(store.find("knl-7230"), capacity.parse("25%"), "thermos")
    plan = planner.make([load(found["a.profile"])], request)
    found["a.plan"].write_text(model.to_toml(plan))
    found["schemes.json"].write_text(json.dumps(SIMULATION))
    found["run.json"].write_text(json.dumps(RUN))
    return found


def studied(*paths: Path, machine: str | None = None) -> Study:
    return study.of(artefacts.load(paths), machine, "25%", "thermos")


def test_every_artefact_is_told_by_what_is_in_it(files: dict[str, Path]) -> None:
    found = artefacts.load(list(files.values()))
    counts = [len(x) for x in (found.profiles, found.plans, found.simulations, found.runs)]
    assert counts == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not an artefact"),
        ("hello", "not an artefact"),
        ('{"x": 1}', "not an artefact"),
        ('{"x": ', "not JSON"),
        ('{"baseline": "a", "rows": []}', "rows"),
        ('{"baseline": "a", "rows": [{"trace": "t", "scheme": "s", "speedup": -1}]}', "speedup"),
        ('strategy = "x"\n', "not a plan"),
    ],
)
def test_what_is_no_artefact_is_refused_in_a_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "odd"
    path.write_text(text)
    with pytest.raises(ThermoclineError, match=says) as caught:
        artefacts.load([path])
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_first_sentence_says_what_to_do_and_what_it_gains(files: dict[str, Path]) -> None:
    said = sentences(studied(*files.values()))
    # 25 MiB: the hot site and the warm one, which carry 95 % of the traffic.
    assert said[0].startswith("Put 2 of 3 sites (20 MiB) into mcdram: it would serve 95.0 %")
    # As first touch: the cold site came first and fills it; 25 of its 80 MiB.
    assert "first touch would serve 1.6 %" in said[0]
    assert "Knights Landing would run it 1.4 times as fast." in said
    assert any("mcdram held up to 20 MiB and served 87.5 %" in sentence for sentence in said)
    assert any("1 planned sites never came" in sentence for sentence in said)


def test_a_profile_alone_is_planned_for_the_machine_that_is_named(files: dict[str, Path]) -> None:
    alone = studied(files["a.profile"], machine="knl-7230")
    assert alone.plan is not None and alone.plan.strategy == "thermos"
    assert studied(files["a.profile"]).plan is None
    assert "--machine" in sentences(studied(files["a.profile"]))[0]


def test_a_better_plan_is_named(files: dict[str, Path], tmp_path: Path) -> None:
    worse = tmp_path / "worse.plan"
    plan = model.load(files["a.plan"])
    swapped = [s.model_copy(update={"tier": 1 - s.tier}) for s in plan.sites]
    worse.write_text(model.to_toml(plan.model_copy(update={"sites": swapped})))
    said = sentences(studied(files["a.profile"], worse, files["a.plan"]))
    assert f"thermos ({files['a.plan']}) would serve most: 95.0 %" in said[1]


def test_another_program_s_plan_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.profile"
    other.write_text(json.dumps(profile_table([site("b!f@b.c:1:1", 1, 1)])))
    with pytest.raises(ThermoclineError, match="names no site"):
        studied(other, files["a.plan"])
    renamed = tmp_path / "renamed.profile"
    renamed.write_text(json.dumps(profile_table(SITES, **SERIES) | {"executable": "/bin/b.out"}))
    with pytest.raises(ThermoclineError, match="several programs"):
        studied(files["a.profile"], renamed)


def test_the_curve_ends_at_all_of_the_traffic(files: dict[str, Path]) -> None:
    drawn = curve.figure(studied(files["a.profile"], files["a.plan"]))
    assert drawn is not None
    points = drawn.spec["layer"][0]["data"]["values"]
    assert [(round(p["mib"]), round(p["share"], 3)) for p in points] == [
        (0, 0),
        (10, 0.9),
        (20, 0.95),
        (100, 1.0),
    ]
    assert drawn.spec["params"][0]["value"] == pytest.approx(25)


def test_what_was_not_given_is_not_drawn(files: dict[str, Path]) -> None:
    def names(*given: str) -> list[str]:
        return [figure.name for figure in figures(studied(*(files[name] for name in given)))]

    assert names("schemes.json") == ["schemes"]
    assert names("run.json") == ["measured"]
    assert names("a.plan") == []
    assert names("a.profile") == ["curve", "treemap", "traffic", "residency"]
    assert len(names(*files)) == 7


def test_rows_are_in_order_of_hotness_with_the_plan_s_word(files: dict[str, Path]) -> None:
    found = rows(studied(files["a.profile"], files["a.plan"]))
    assert [(row["function"], row["tier"]) for row in found] == [
        ("hot", 0),
        ("warm", 0),
        ("cold", 1),
    ]
    assert found[0]["context"] == ["main@src/a.c:9:1"]
    assert found[0]["reason"] == "rank 1"


def test_source_is_shown_from_its_folder_only(tmp_path: Path) -> None:
    (tmp_path / "in" / "src").mkdir(parents=True)
    (tmp_path / "in" / "src" / "a.c").write_text("1\n2\n3\n4\n5\n6\n")
    (tmp_path / "secret").write_text("x\n")
    found = excerpts(
        ["src/a.c:3:1", "src/a.c:99:1", "../secret:1:1", f"{tmp_path}/secret:1:1", "odd"],
        [tmp_path / "in"],
    )
    assert list(found) == ["src/a.c:3:1"]
    assert (found["src/a.c:3:1"].first, found["src/a.c:3:1"].lines) == (
        1,
        ["1", "2", "3", "4", "5"],
    )


def test_text_from_a_profile_can_not_end_its_script(tmp_path: Path) -> None:
    evil = tmp_path / "evil.profile"
    key = "a!</script><script>alert(1)</script>@x.c:1:1"
    table = profile_table([site(key, 10, 10), site("a!f@x.c:2:1", 10, 10)])
    evil.write_text(json.dumps(table | {"command": ["<script>alert(2)</script>"]}))
    text = page.html(studied(evil))
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(2)" in text
    assert text.count("</script>") == 4


def test_the_verb_writes_pages_and_pictures(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["report", *(str(path) for path in files.values())]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.out.html").stat().st_size > 1_000_000  # what draws is in it
    assert CliRunner().invoke(app, given).exit_code != 0  # it is there
    done = CliRunner().invoke(app, [*given, "--png", "pictures"])
    assert done.exit_code == 0, done.output
    drawn = sorted((tmp_path / "pictures").iterdir())
    assert len(drawn) == 7
    for picture in drawn:
        assert picture.suffix == ".png"
        assert picture.read_bytes().startswith(b"\x89PNG")
    assert CliRunner().invoke(app, [*given, "--png", "pictures"]).exit_code != 0


def test_a_site_in_several_tiers_counts_in_part(files: dict[str, Path], tmp_path: Path) -> None:
    plan = model.load(files["a.plan"])
    parts = [s.model_copy(update={"tier": 1, "shares": [0.4, 0.6]}) for s in plan.sites]
    split = tmp_path / "split.plan"
    split.write_text(model.to_toml(Plan.model_validate(plan.model_dump() | {"sites": parts})))
    found = studied(files["a.profile"], split)
    assert sentences(found)[0].startswith("Put 3 of 3 sites (40 MiB; 3 of them in part)")
    assert [row["fast"] for row in rows(found)] == [0.4, 0.4, 0.4]
