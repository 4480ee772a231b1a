"""perf script's lines, and samples told apart by who owned their address at their time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline.errors import ThermoclineError
from thermocline.profiles import imported, perf_script
from thermocline.profiles.owners import Log, Ranges
from thermocline.profiles.perf_script import Sample

# As perf printed them: an Arm server, an Intel laptop (perf 6.x), an Intel server, and page faults.
SPE = (
    "       memstress  3603 [020]   122.463754:          1            l1d-miss:       aaaac17c4000"
    "       8688000842 |OP LOAD|LVL L3 or L3 hit|SNP N/A|TLB Walker hit|LCK No|BLK  N/A"
    "               aaaac17c3e88 [unknown] (/home/ubuntu/memstress)"
)
PEBS = (
    "chromium-browse   46572 [002] 544966.882384:      10000 \tcpu_core/MEM_UOPS_RETIRED.LOAD_"
    "LATENCY/: 7ffdf1391b0c     10268100142  |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No"
    "|BLK    N/A    5   7    0   7fad7c47425d [unknown] (/usr/lib64/libglib-2.0.so.0.8000.3)"
)
FIELDS = (
    " 4711/4713  7.000000123:  20011 cpu/mem-loads,ldlat=30/P:   7f0010203040 "
    "1a68101042 |OP LOAD|LVL Local RAM hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A   412 "
)
FAULT = "14192/14192 14485.909871732:          1 page-faults:u:     7fc7efd58d44"


def one(line: str) -> Sample:
    (sample,) = perf_script.samples([line])
    return sample


def test_lines_as_perf_prints_them() -> None:
    assert one(SPE) == Sample(
        3603, 122463754000, "l1d-miss", 1, 0xAAAAC17C4000, True, False, "cache", 0
    )
    assert one(PEBS) == Sample(
        46572, 544966882384000, "cpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/", 10000, 0x7FFDF1391B0C,
        True, False, "cache", 5,
    )  # fmt: skip
    assert one(FIELDS) == Sample(
        4711, 7000000123, "cpu/mem-loads,ldlat=30/P", 20011, 0x7F0010203040, True, False, "memory",
        412,
    )  # fmt: skip
    assert one(FAULT) == Sample(14192, 14485909871732, "page-faults:u", 1, 0x7FC7EFD58D44)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "# ========",
        "            55b3c122bffc noploop+0x1c (/usr/bin/perf)",  # a call chain's
        "perf 12 [000] 1.5: 1 event: 7f",  # no such time
        FAULT.replace("1 page", "page"),  # no period
        "x" * 5000 + " " + FAULT,
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert list(perf_script.samples([line])) == []


@given(st.lists(st.one_of(st.text(), st.sampled_from([SPE, PEBS, FIELDS, FAULT])), max_size=3))
def test_any_text_is_read(parts: list[str]) -> None:
    for sample in perf_script.samples("".join(parts).splitlines()):
        assert 0 <= sample.address < 2**64
        assert 0 <= sample.period < 10**18


@given(st.integers(0, 2**64 - 1))
def test_any_data_source_is_read(word: int) -> None:
    load, store, served = perf_script.data_source(word)
    assert (load, store) == (bool(word & 2), bool(word & 4))
    assert served in ("", "cache", "memory")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (0x1A68101042, (True, False, "memory")),  # Local RAM hit
        (0x8688000842, (True, False, "cache")),  # L3 hit
        (0x5080144, (False, True, "cache")),  # a store that hit L1
        (0x2 | (0x04 | 0x40) << 5, (True, False, "memory")),  # L3 miss, source unknown
        (0x2 | (0x04 | 0x08) << 5 | 0xD << 33, (True, False, "")),  # L1 miss: who served it?
        (0x2 | 0x1 << 5 | 0x9 << 33, (True, False, "memory")),  # CXL, by its number
        (0x1, (False, False, "")),
    ],
)
def test_data_sources(word: int, expected: tuple[bool, bool, str]) -> None:
    assert perf_script.data_source(word) == expected


SPANS = st.tuples(st.integers(0, 60), st.integers(0, 40), st.integers(0, 5))


@given(st.lists(SPANS, max_size=30))
def test_ranges_are_as_a_table_of_addresses(given_to: list[tuple[int, int, int]]) -> None:
    ranges, table = Ranges(), [0] * 120
    for address, size, owner in given_to:
        ranges.give(address, size, owner)
        table[address : address + size] = [owner] * size
    assert [ranges.owner(address) for address in range(120)] == table


CHANGES = st.lists(
    st.tuples(st.integers(1, 50), st.integers(0, 60), st.integers(1, 40), st.integers(0, 3)),
    unique_by=lambda change: change[0],  # one address changes owners once at a time
)


@given(CHANGES, st.lists(SPANS, max_size=5), st.integers(1, 50), st.integers(0, 99))
def test_who_owned_it_last_from_then_on(
    changes: list[tuple[int, int, int, int]],
    last: list[tuple[int, int, int]],
    time: int,
    address: int,
) -> None:
    log = Log(
        from_ns=0, to_ns=60, mappings=[],
        changes=[number for change in changes for number in change],
        last=[number for row in last for number in row],
    )  # fmt: skip
    keys = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
    sample = Sample(9, time, "page-faults", 1, address + 1)
    tally = imported.count([sample], log, keys, pid=9, line=64)
    # The first change from then on that covers the address; or who has it at the end.
    later = [c for c in sorted(changes) if c[0] >= time and c[1] <= address + 1 < c[1] + c[2]]
    owner = 0
    if later:
        owner = later[0][3]
    else:
        for start, size, number in last:
            owner = number if start <= address + 1 < start + size else owner
    assert list(tally.of) == [keys.get(owner, "(other)")]


def log(full_at_ns: int = 0) -> Log:
    rows = {"changes": [], "last": [0x1000, 0x1000, 1], "mappings": [0x9000, 0x1000, 0]}
    return Log.model_validate({"from_ns": 100, "to_ns": 200, "full_at_ns": full_at_ns, **rows})


def test_what_counts() -> None:
    samples = [
        Sample(1, 150, "cpu/mem-loads/P", 10, 0x1000, True, False, "memory", 300),
        Sample(1, 150, "cpu/mem-loads/P", 10, 0x1800, True, False, "cache", 20),
        Sample(1, 150, "cpu/mem-stores/P", 5, 0x1040, False, True, "memory"),
        Sample(1, 150, "MEM_LOAD_RETIRED.L3_MISS:P", 100, 0x1FFF, True),
        Sample(1, 150, "cpu/mem-loads/P", 1, 0x9800, True, False, "memory"),
        Sample(1, 150, "cpu/mem-loads/P", 1, 0, True, False, "memory"),
        Sample(2, 150, "cpu/mem-loads/P", 1, 0x1000, True, False, "memory"),
    ]
    tally = imported.count(samples, log(), {1: "site"}, pid=1, line=64)
    assert tally.of["site"].members() == {
        "loads": 20, "stores": 5, "read_bytes": 110 * 64, "write_bytes": 5 * 64,
        "samples": 3, "events": 115, "effective_samples": round(115**2 / (100 + 25 + 10000)),
        "mean_latency_cycles": 160,
    }  # fmt: skip
    assert tally.of["(stack)"].read_bytes == 64
    assert (tally.without_address, tally.of_others, tally.taken) == (1, 1, 5)


def test_samples_after_the_log_was_full_are_nobodys() -> None:
    sample = Sample(1, 190, "page-faults", 1, 0x1000)
    tally = imported.count([sample], log(full_at_ns=180), {1: "site"}, pid=1, line=64)
    assert (tally.too_late, list(tally.of)) == (1, ["(other)"])


def test_another_clock_is_noticed() -> None:
    sample = Sample(1, 5000, "page-faults", 1, 0x1000)
    with pytest.raises(ThermoclineError, match="-k CLOCK_MONOTONIC"):
        imported.count([sample], log(), {1: "site"}, pid=1, line=64)
