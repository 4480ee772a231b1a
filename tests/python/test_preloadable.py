"""What can be preloaded, with what environment, and positions in a real program."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from thermocline.errors import Misuse
from thermocline.run import preload
from thermocline.sites import symbolizer


def test_how_many_callers() -> None:
    assert preload.context_of(False, None) is None
    assert preload.context_of(True, None) == preload.CONTEXT
    assert preload.context_of(True, None, 7) == 7
    assert preload.context_of(True, 2) == 2
    with pytest.raises(Misuse, match="--preload"):
        preload.context_of(False, 2)
    with pytest.raises(Misuse, match="leave --context out"):
        preload.context_of(True, 2, 7)


def test_the_environment_keeps_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = tmp_path / "lib" / "thermocline" / preload.LIBRARY
    library.parent.mkdir(parents=True)
    library.touch()
    monkeypatch.setenv("THERMOCLINE_PREFIX", str(tmp_path))
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    monkeypatch.setenv("LD_PRELOAD", "/x.so")
    assert preload.environment() == {"LD_PRELOAD": f"{library}:/x.so", "PYTHONMALLOC": "malloc"}
    monkeypatch.setenv("PYTHONMALLOC", "debug")
    monkeypatch.delenv("LD_PRELOAD")
    assert preload.environment() == {"LD_PRELOAD": str(library), "PYTHONMALLOC": "debug"}


def compiled(folder: Path, *options: str) -> Path:
    program = folder / "program"
    (folder / "program.c").write_text("int main(void) { return 0; }\n")
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if not compiler:
        pytest.skip("no C compiler")
    done = subprocess.run(
        [compiler, *options, "program.c", "-o", str(program)], cwd=folder, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"can't link with {options}")
    return program


def test_what_the_loader_would_not_preload_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="linked statically"):
        preload.check([str(compiled(tmp_path, "-static"))])
    program = compiled(tmp_path)
    preload.check([str(program)])
    data = bytearray(program.read_bytes())
    data[18] = 0xB7  # e_machine: AArch64
    (tmp_path / "arm").write_bytes(data)
    (tmp_path / "arm").chmod(0o755)
    with pytest.raises(Misuse, match="not an x86-64"):
        preload.check([str(tmp_path / "arm")])
    musl = program.read_bytes().replace(b"/lib64/ld-linux", b"/lib64/ld-musl-")
    (tmp_path / "musl").write_bytes(musl)
    (tmp_path / "musl").chmod(0o755)
    with pytest.raises(Misuse, match="musl"):
        preload.check([str(tmp_path / "musl")])
    if os.geteuid() == 0:
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        with pytest.raises(Misuse, match="loader ignores"):
            preload.check([str(program)])


def test_what_is_no_program_is_left_to_the_system(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (tmp_path / "cut").write_bytes(b"\x7fELF\x02\x01\x01")
    (tmp_path / "cut").chmod(0o755)
    for command in ([str(script)], [str(tmp_path / "cut")], ["no-such-command-here"], [""], []):
        preload.check(command)


def test_positions_of_a_real_program(tmp_path: Path) -> None:
    if not symbolizer.find() or not symbolizer.find(symbolizer.DEMANGLERS):
        pytest.skip("no llvm-symbolizer")
    program = compiled(tmp_path, "-g")
    listed = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True)
    main = next(
        int(line.split()[0], 16) for line in listed.stdout.splitlines() if line.endswith(" T main")
    )
    found = symbolizer.positions(str(program), [main])
    assert list(found) == [main]
    [position] = found[main]
    assert (position.function, position.line) == ("main", 1)
    assert position.file.endswith("program.c")
    assert symbolizer.positions(str(tmp_path / "none"), [1]) == {}
    assert symbolizer.readable(["main", "_ZN1a1bIiEEvi"]) == {"_ZN1a1bIiEEvi": "a::b<int>"}
