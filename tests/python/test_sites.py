"""Site keys, the table inside an executable, and the sweep."""

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thermocline.errors import BadFile, ThermoclineError
from thermocline.sites import key, sweep, table

from .test_cli import call, ok


def test_keys_come_apart() -> None:
    found = key.parse("lulesh!Domain::A@src/lulesh.cc:212:18 < main@src/lulesh.cc:2700:9")
    assert found.module == "lulesh"
    assert found.function == "Domain::A"
    assert found.position == "src/lulesh.cc:212:18"
    assert found.context == ("main@src/lulesh.cc:2700:9",)
    assert found.without_context == "lulesh!Domain::A@src/lulesh.cc:212:18"
    plain = key.parse("libm.so!unannotated")
    assert (plain.function, plain.position, plain.context) == ("unannotated", "", ())


@given(st.text())
def test_any_text_is_a_key(text: str) -> None:
    key.parse(text)


def section(context: int, sites: list[tuple[str, str, int]], notes: list[str]) -> bytes:
    """As the plugin writes it."""
    parts = [f"thermocline-sites 1 module=my prog context={context}"]
    for name, routine, calls in sites:
        parts += [name, routine, str(calls)]
    return "\0".join([*parts, "", *notes]).encode() + b"\0"


TWO = [("a!f@x.c:1 < g@x.c:2", "malloc", 3), ("a!f@x.c:1 < h@x.c:3", "malloc", 1)]


def test_the_table_is_read() -> None:
    found = table.parse(
        section(1, TWO, ["native: x.o: no bitcode", "link\t/tmp\tcc\ta\\tb\\\\c"]), "p"
    )
    assert (found.module, found.context) == ("my prog", 1)
    assert [(s.key, s.routine, s.calls) for s in found.sites] == TWO
    assert found.link == ("/tmp", ["cc", "a\tb\\c"])


def test_tables_of_a_partial_link_add_up() -> None:
    both = section(0, TWO[:1], []) + b"\0\0" + section(0, TWO[1:], ["note"])
    found = table.parse(both, "p")
    assert len(found.sites) == 2
    assert found.notes == ["note"]


@pytest.mark.parametrize(
    "data",
    [b"x", b"thermocline-sites 2 module=a\0", section(0, TWO, [])[:60], b"thermocline-sites \0"],
)
def test_damaged_tables_are_one_line(data: bytes) -> None:
    with pytest.raises(BadFile) as caught:
        table.parse(data, "prog")
    assert str(caught.value).startswith("prog: ")


@given(st.binary(max_size=60), st.integers(0, 100))
def test_any_bytes_are_a_table_or_one_line(junk: bytes, cut: int) -> None:
    for data in (junk, section(0, TWO, [])[:cut] + junk):
        try:
            table.parse(data, "p")
        except BadFile as error:
            assert "\n" not in str(error)


def annotated(path: Path, context: int, data: bytes | None = None) -> Path:
    """A real ELF file with a site section in it; it grows with context."""
    sites = [(f"a!f@x.c:1 < g{i}@x.c:{i}", "malloc", 1) for i in range(context + 1)]
    link = f"link\t{path.parent}\t{path.parent / 'link.sh'}\tx.o\t-o\tprog"
    blob = path.with_suffix(".keys")
    blob.write_bytes(data if data is not None else section(context, sites, [link]))
    true = shutil.which("true")
    assert true
    subprocess.run(
        ["objcopy", "--add-section", f"{table.SECTION}={blob}", true, str(path)], check=True
    )
    return path


def test_sites_of_an_executable(tmp_path: Path) -> None:
    program = annotated(tmp_path / "prog", 1)
    done = call(tmp_path, "sites", "prog")
    assert done.returncode == 0, done.stderr
    assert "x.c:1" in done.stdout
    assert "2 sites at context 1, 1 without context" in done.stdout
    found = json.loads(ok(tmp_path, "sites", str(program), "--json"))
    assert found["sites"] == 2
    assert found["sites_without_context"] == 1
    assert found["sites_list"][0]["context"] == ["g0@x.c:0"]
    assert found["notes"] == []


def test_sites_reached(tmp_path: Path) -> None:
    from .conftest import profile_table, site

    annotated(tmp_path / "prog", 1)
    came = profile_table([site("a!f@x.c:1 < g1@x.c:1", 1, 1), site("other", 1, 1)])
    (tmp_path / "p.profile").write_text(json.dumps(came))
    found = json.loads(ok(tmp_path, "sites", "prog", "--profile", "p.profile", "--json"))
    assert (found["reached"], found["reached_without_context"]) == (1, 1)
    assert [s["reached"] for s in found["sites_list"]] == [False, True]
    assert "reached: 1 with context" in ok(tmp_path, "sites", "prog", "--profile", "p.profile")


def link_script(directory: Path) -> None:
    """Stands in for a link: copies the program made for the N it is asked for."""
    script = directory / "link.sh"
    script.write_text(
        "#!/bin/sh\n"
        'for a; do case "$a" in --thermocline-context=*) n=${a#*=};; esac; last=$a; done\n'
        f'cp "{directory}/made-$n" "$last"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


def test_sweep_repeats_the_link(tmp_path: Path) -> None:
    link_script(tmp_path)
    for context in range(5):
        annotated(tmp_path / f"made-{context}", context)
    annotated(tmp_path / "prog", 0)
    found = json.loads(ok(tmp_path, "sites", "prog", "--sweep", "--json"))
    assert [step["context"] for step in found["steps"]] == [0, 1, 2, 3, 4]
    assert [step["sites"] for step in found["steps"]] == [1, 2, 3, 4, 5]
    assert found["steps"][4]["file_bytes"] > found["steps"][0]["file_bytes"]
    assert all(step["code_bytes"] > 0 for step in found["steps"])
    assert all(step["recording_bytes"] == 0 for step in found["steps"])  # nothing was compiled
    assert all(step["link_seconds"] > 0 for step in found["steps"])
    assert "growth" in ok(tmp_path, "sites", "prog", "--sweep")


def test_sweep_says_when_the_link_fails(tmp_path: Path) -> None:
    annotated(tmp_path / "prog", 0)
    with pytest.raises(ThermoclineError, match=r"link\.sh"):
        sweep.sweep(tmp_path / "prog", [0])
    link_script(tmp_path)
    with pytest.raises(ThermoclineError, match="context 0 failed"):
        sweep.sweep(tmp_path / "prog", [0])
    annotated(tmp_path / "bare", 0, section(0, TWO, []))
    with pytest.raises(ThermoclineError, match="link it again"):
        sweep.sweep(tmp_path / "bare", [0])


def test_output_options_are_left_out() -> None:
    command = ["cc", "-o", "x", "-oy", "--output=z", "--thermocline-context=3", "-O2", "a.o"]
    assert sweep.without_output(command) == ["cc", "-O2", "a.o"]
