"""The allocation policies from C, C++ and Fortran: as strict compilers and programs see them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("THERMOCLINE_PREFIX", ROOT / "build")).resolve()
INCLUDE = PREFIX / "include"
LIBRARY = PREFIX / "lib" / "thermocline"
LINK = [f"-L{LIBRARY}", "-lthermocline-policies", f"-Wl,-rpath,{LIBRARY}"]

C = """
#include <stdio.h>
#include <string.h>
#include <thermocline/policies.h>
int main(void) {
    const size_t bytes = 3000001;
    char *p = tc_spill(bytes, NULL), *q = tc_write_heavy(bytes, NULL);
    if (!p || !q) return puts(tc_policy_error()), 1;
    memset(p, 1, bytes);
    memcpy(q, p, bytes);
    printf("%d\\n", q[bytes - 1]);
    tc_policy_free(p, bytes);
    tc_policy_free(q, bytes);
    p = tc_read_mostly(bytes, &(tc_isolation_options){.directory_count = 100});
    puts(p ? "accepted" : tc_policy_error());
    return 0;
}
"""
CXX = """
#include <cstdio>
#include <thermocline/policies.hpp>
#include <vector>
int main() {
    thermocline::spill_resource resource;
    std::pmr::vector<long> a(100000, 2, &resource);
    using Numbers = std::vector<long, thermocline::allocator<long>>;
    Numbers b(a.begin(), a.end(), thermocline::write_heavy());
    std::printf("%ld\\n", b[99999]);
}
"""
FORTRAN = """
program main
  use thermocline_policies
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use, intrinsic :: iso_c_binding
  implicit none
  real(real64), pointer :: a(:), b(:)
  type(tc_memory), target :: memory
  type(tc_spill_options) :: options
  integer :: status
  call tc_spill_array(a, 100000_int64)
  call tc_write_heavy_array(b, 100000_int64)
  if (.not. (associated(a) .and. associated(b))) error stop tc_policy_message()
  a = 1.5_real64
  b = 2*a
  print '(f0.1)', sum(b)
  call tc_free_array(a)
  call tc_free_array(b)
  print '(a)', merge('freed', 'kept ', .not. associated(a))
  status = tc_memory_from_text(memory, '0:- weights 50:51')
  print '(a)', tc_policy_message()
  status = tc_memory_from_text(memory, '0:- weights 70:30')
  print '(3(i0,1x))', status, memory%fast_percent, memory%socket(1)%big
  options%memory = c_loc(memory)
  options%weighted = 1
  options%block_bytes = 8192
  call tc_spill_array(a, 100000_int64, options)
  a(100000) = 7
  print '(f0.1)', a(1) + a(100000)
  options%block_bytes = 5
  call tc_spill_array(b, 100000_int64, options)
  print '(l1,1x,a)', associated(b), tc_policy_message()
end program
"""


def run(program: Path) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k != "THERMOCLINE_MEMORY"}
    done = subprocess.run([program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def compile_silently(command: list[str], directory: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("compiler", "flags"), [("gcc", []), ("clang-22", []), ("clang++-22", ["-x", "c", "-std=c11"])]
)
def test_c(compiler: str, flags: list[str], tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(C)
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", *flags]
    compile_silently([compiler, *strict, "main.c", *LINK, "-o", "main"], tmp_path)
    assert run(tmp_path / "main") == ["1", "100 files: at most 64"]


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_cxx(standard: str, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(CXX)
    strict = [f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    compile_silently(["clang++-22", *strict, "main.cpp", *LINK, "-o", "main"], tmp_path)
    assert run(tmp_path / "main") == ["2"]


def test_fortran(tmp_path: Path) -> None:
    (tmp_path / "main.f90").write_text(FORTRAN)
    module = str(INCLUDE / "thermocline" / "thermocline_policies.f90")
    compile_silently(["flang-22", "-O2", module, "main.f90", *LINK, "-o", "main"], tmp_path)
    assert run(tmp_path / "main") == [
        "300000.0",
        "freed",
        "weights 50:51 are not percentages: they add up to 101, not to 100",
        "0 70 -1",
        "7.0",
        "F blocks are whole pages, not 5 bytes",
    ]
