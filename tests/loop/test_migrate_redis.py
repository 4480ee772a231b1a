"""Page migration below a server that forks to save: Debian's redis, as it is packaged."""

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_loop import BIN
from test_migrate import needs_rights

# redis-tools has the server's code under another name, and starts no service when it is installed.
SERVER = shutil.which("redis-check-rdb")
KEYS, BYTES = 150_000, 200
LONG = 300  # seconds: the whole takes 40 on two busy processors


def ask(socket: Path, *words: str) -> str:
    done = subprocess.run(
        ["redis-cli", "-s", str(socket), *words],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


@contextmanager
def served(folder: Path, *before: str) -> Iterator[Path]:
    """The server's socket; its data is in the folder."""
    assert SERVER
    program, socket = folder / "redis-server", folder / "socket"
    if not program.exists():
        program.symlink_to(SERVER)
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(folder)]
    command = [*before, str(program), *options, "--enable-debug-command", "yes"]
    with (folder / "out").open("wb") as out, (folder / "log").open("ab") as log:
        server = subprocess.Popen(command, stdout=out, stderr=log, cwd="/")
    try:
        until = time.monotonic() + LONG
        while ask(socket, "ping") != "PONG":
            assert server.poll() is None and time.monotonic() < until, (folder / "log").read_text()
            time.sleep(0.05)
        yield socket
        ask(socket, "shutdown", "nosave")
        assert server.wait(LONG) == 0, (folder / "log").read_text()
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
            server.wait(LONG)


def save(socket: Path) -> None:
    """By a child, as redis does at run time."""
    assert "started" in ask(socket, "bgsave")
    until = time.monotonic() + LONG
    while "rdb_bgsave_in_progress:0" not in ask(socket, "info", "persistence"):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "rdb_last_bgsave_status:ok" in ask(socket, "info", "persistence")


@needs_rights
@pytest.mark.skipif(SERVER is None, reason="no redis")
def test_redis_keeps_and_saves_its_data_at_a_quarter_near(tmp_path: Path) -> None:
    plain, migrated = tmp_path / "plain", tmp_path / "migrated"
    plain.mkdir()
    migrated.mkdir()
    with served(plain) as socket:
        ask(socket, "debug", "populate", str(KEYS), "key", str(BYTES))
        digest = ask(socket, "debug", "digest")
        memory = ask(socket, "info", "memory").split("used_memory_rss:")[1]
    near = int(memory.split()[0]) // 4
    words = ["migrate", "--machine", "dram-cxl", "--near", str(near), "--granularity", "64K"]
    words += ["--check", "--json", "--"]
    with served(migrated, str(BIN / "thermocline"), *words) as socket:
        ask(socket, "debug", "populate", str(KEYS), "key", str(BYTES))
        assert ask(socket, "debug", "digest") == digest
        save(socket)
        assert ask(socket, "debug", "digest") == digest
    (process,) = json.loads((migrated / "out").read_text(encoding="utf-8"))["processes"]
    assert process["faults"] > 0
    assert process["forks"] > 0
    assert process["checked_pages"] > 0
    assert process["corrupt_pages"] == process["lost_pages"] == 0
    with served(migrated) as socket:  # what the child has written
        assert ask(socket, "debug", "digest") == digest
