"""Formats and static checks, in CI and before a commit: `make lint`.

clang-format, ruff and mypy see every file; clang-tidy, which is slow, sees the C++ files
that differ from the upstream branch (or from the last commit where there is none).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
CXX = ("*.h", "*.cpp", "*.c")


def tracked(*patterns: str) -> list[str]:
    answer = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [name for name in answer.stdout.splitlines() if (ROOT / name).exists()]


def changed(*patterns: str) -> set[str]:
    for base in ("@{upstream}", "HEAD~1"):
        answer = subprocess.run(
            ["git", "diff", "--name-only", "--diff-filter=d", base, "--", *patterns],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if answer.returncode == 0 and answer.stdout:
            return set(answer.stdout.splitlines())
    return set()


def compiled() -> set[str]:
    database = ROOT / "build" / "compile_commands.json"
    if not database.exists():
        return set()
    files = (Path(entry["file"]) for entry in json.loads(database.read_text()))
    return {str(file.relative_to(ROOT)) for file in files if file.is_relative_to(ROOT)}


def check(name: str, command: list[str]) -> bool:
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"{name:<13} {'ok' if answer.returncode == 0 else 'FAILED'}", flush=True)
    if answer.returncode:
        print(answer.stdout + answer.stderr)
    return answer.returncode == 0


def main() -> int:
    python = tracked("*.py")
    results = [
        check("clang-format", ["clang-format-22", "--dry-run", "-Werror", *tracked(*CXX)]),
        check("ruff", [str(BIN / "ruff"), "check", "--quiet", *python]),
        check("ruff format", [str(BIN / "ruff"), "format", "--quiet", "--check", *python]),
        check("mypy", [str(BIN / "mypy"), "--strict", "--no-error-summary"]),
        *(
            check(f"mypy {part}", [str(BIN / "mypy"), "--strict", "--no-error-summary", *found])
            for part in (
                "scripts",
                "tests/browser",
                "tests/docs",
                "tests/loop",
                "tests/scripts",
                "tests/workloads",
            )
            if (found := tracked(f"{part}/*.py"))
        ),
    ]
    sources = sorted(changed("*.cpp") & compiled())
    if sources and shutil.which("clang-tidy-22"):
        tidy = ["clang-tidy-22", "--quiet", "-p", "build", "--warnings-as-errors=*", *sources]
        results.append(check("clang-tidy", tidy))
    else:
        print("clang-tidy    nothing to check")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
