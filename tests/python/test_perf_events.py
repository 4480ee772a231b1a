"""Events by processor, from a tree like sysfs's, and what the runtime is told of them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from thermocline.errors import Misuse
from thermocline.methods import libpfm, perf_events, perf_open
from thermocline.methods.perf_events import MISSES, NOTHING, REFERENCES, Event

Unit = Callable[..., None]
CPU_FORMAT = {"event": "config:0-7", "umask": "config:8-15", "ldlat": "config1:0-15"}


@pytest.fixture
def devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No units; and no libpfm4, as on a host that lacks it."""
    monkeypatch.setattr(libpfm, "encode", lambda name: None)
    return tmp_path


def unit(devices: Path, name: str, number: int, **folders: dict[str, str]) -> None:
    top = devices / name
    top.mkdir()
    (top / "type").write_text(f"{number}\n")
    for folder, files in folders.items():
        (top / folder).mkdir()
        for file, text in files.items():
            (top / folder / file).write_text(f"{text}\n")


def test_no_unit_is_no_sampling(devices: Path) -> None:
    assert perf_events.automatic(devices) == []
    unit(devices, "cpu", 4, format=CPU_FORMAT, events={"cpu-cycles": "event=0x3c"})
    assert perf_events.automatic(devices) == []


def test_intel_by_latency_where_libpfm_is_missing(devices: Path) -> None:
    events = {
        "mem-loads": "event=0xcd,umask=0x1,ldlat=3",
        "mem-stores": "event=0xd0,umask=0x82",
    }
    unit(devices, "cpu", 4, format=CPU_FORMAT, events=events)
    loads, stores = perf_events.automatic(devices)
    assert (loads.type, loads.config, loads.config1) == (4, 0x1CD, 30)
    assert (loads.counts, loads.precise, loads.weight) == (REFERENCES, 2, True)
    assert (stores.config, stores.counts, stores.weight) == (0x82D0, REFERENCES, False)


def test_intel_by_misses(devices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"MEM_LOAD_RETIRED:L3_MISS": (4, 0x20D1, 0, 0)}
    monkeypatch.setattr(libpfm, "encode", known.get)
    events = {"mem-loads": "event=0xcd,umask=0x1,ldlat=3", "mem-stores": "event=0xd0,umask=0x82"}
    unit(devices, "cpu", 4, format=CPU_FORMAT, events=events)
    misses, stores = perf_events.automatic(devices)
    assert (misses.name, misses.config, misses.counts) == (*known, 0x20D1, MISSES)
    assert stores.name == "mem-stores"


def test_intel_with_two_kinds_of_cores(devices: Path) -> None:
    for number, name in ((4, "cpu_core"), (10, "cpu_atom")):
        events = {"mem-loads": "event=0xd0,umask=0x5,ldlat=3"}
        unit(devices, name, number, format=CPU_FORMAT, events=events)
    assert [(e.name, e.type) for e in perf_events.automatic(devices)] == [
        ("cpu_core/mem-loads", 4),
        ("cpu_atom/mem-loads", 10),
    ]


def test_a_leader_that_we_do_not_open_makes_latency_of_no_use(devices: Path) -> None:
    events = {"mem-loads": "event=0xcd,umask=0x1,ldlat=3", "mem-loads-aux": "event=0x3,umask=0x82"}
    unit(devices, "cpu", 4, format=CPU_FORMAT, events=events)
    assert perf_events.automatic(devices) == []


@pytest.mark.parametrize("filtered", [True, False])
def test_amd(devices: Path, filtered: bool) -> None:
    form = {"cnt_ctl": "config:19"} | ({"swfilt": "config2:0"} if filtered else {})
    unit(devices, "ibs_op", 9, format=form)
    if not filtered:  # an older kernel has no such term
        [event] = perf_events.automatic(devices)
        assert (event.config, event.config2, event.user) == (1 << 19, 0, False)
        return
    [event] = perf_events.automatic(devices)
    assert (event.type, event.config, event.config2, event.user) == (9, 1 << 19, 1, True)
    assert (event.counts, event.weight) == (REFERENCES, True)
    # The unit's periods are multiples of 16.
    assert "period=1008," in event.option(1000, 0)


@pytest.mark.parametrize(("midr", "source"), [("0x410fd4f1", 0x0E), ("0x410fd034", None)])
def test_arm(devices: Path, midr: str, source: int | None) -> None:
    form = {"load_filter": "config:33", "store_filter": "config:34", "jitter": "config:16"}
    unit(devices, "arm_spe_0", 12, format=form, caps={"min_interval": "100000"})
    identification = devices / "midr_el1"
    identification.write_text(midr + "\n")
    [event] = perf_events.automatic(devices, identification)
    assert event.config == 1 << 33 | 1 << 34 | 1 << 16
    assert (event.area, event.memory_source) == (True, source)
    # It can't hold a number a second.
    assert "period=100000," in event.option(None, 5000)


def test_named(devices: Path) -> None:
    [faults] = perf_events.named("page-faults", devices)
    assert (faults.type, faults.config, faults.counts) == (1, 2, NOTHING)
    [point] = perf_events.named("mem:0x404040/4:w", devices)
    assert (point.type, point.config, point.config1, point.config2) == (5, 2, 0x404040, 4)
    unit(devices, "cpu", 4, format={"event": "config:0-7,32-35"}, events={"it": "event=0x1cd"})
    [event] = perf_events.named("cpu/event=0x1cd/", devices)
    assert event.config == 0x1_0000_00CD  # the value's high bits go where the format says
    assert perf_events.named("it", devices)[0].config == event.config


@pytest.mark.parametrize(
    "text",
    ["", "a b", "nonsense", "mem:404040", "mem:0x10/3:w", "nosuch/event=1/", "cpu/event=0x1000/",
     "cpu/other=zz/", "../../etc/passwd", "cpu/../x/"],
)  # fmt: skip
def test_what_is_no_event(devices: Path, text: str) -> None:
    unit(devices, "cpu", 4, format={"event": "config:0-7"}, events={})
    with pytest.raises(Misuse):
        perf_events.named(text, devices)


def test_libpfm_knows_processors_that_are_not_here() -> None:
    """In a process of its own: the library reads which processor to play once."""
    if libpfm._library() is None:
        pytest.skip("libpfm4 is not installed")
    program = (
        "from thermocline.methods import libpfm\n"
        "print(*libpfm.encode('MEM_LOAD_RETIRED:L3_MISS'), libpfm.encode('NO:SUCH'))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LIBPFM_FORCE_PMU": "skl"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert answer.stdout.split() == ["4", str(0x20D1), "0", "0", "None"]


def test_refusals_say_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    assert perf_open.refusal(Event("nothing-has-this-type", MISSES, 987654)) != ""
    event = Event("x", MISSES, 4)
    assert "perf_event_paranoid=2" in perf_open._explain(event, errno.EACCES)
    assert "another method" in perf_open._explain(event, errno.EOPNOTSUPP)
