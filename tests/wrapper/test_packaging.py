"""What other builds find: toolchain file, find_package, pkg-config, in the build's layout."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PREFIX, Workshop

USES = """
#include <stdio.h>
#include <stdlib.h>
#include <thermocline/policies.h>
char *make(int n) { return malloc(n); }
int main(int argc, char **argv) {
    char *field = tc_spill(1 << 20, NULL), *block = make(argc * 100);
    if (!field) { fprintf(stderr, "%s\\n", tc_policy_error()); return 1; }
    field[5] = block[argc] = 'x';
    puts(field[5] == block[argc] ? "fine" : "broken");
    tc_policy_free(field, 1 << 20);
    free(block);
    return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(user LANGUAGES C Fortran)
find_package(thermocline REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE thermocline::policies)
add_executable(fields fields.f90 ${thermocline_Fortran_MODULE_SOURCE})
target_link_libraries(fields PRIVATE thermocline::policies)
"""
FORTRAN = """
program fields
  use, intrinsic :: iso_fortran_env
  use thermocline_policies
  real(real64), pointer :: field(:)
  call tc_spill_array(field, 1000)
  if (.not. associated(field)) error stop tc_policy_message()
  field = 2
  print '(f6.1)', sum(field)
end program
"""


def called(*command: object, cwd: Path) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("moved", [False, True], ids=["in place", "moved"])
def test_a_cmake_project_finds_compilers_and_library(shop: Workshop, moved: bool) -> None:
    prefix = PREFIX
    if moved:  # all that a build takes from an installation, elsewhere
        prefix = shop.folder / "else where"
        for part in ("bin", "lib", "include"):
            shutil.copytree(PREFIX / part, prefix / part, symlinks=True)
    cmake = prefix / "lib" / "cmake" / "thermocline"
    shop.write("user/CMakeLists.txt", PROJECT)
    shop.write("user/user.c", USES)
    shop.write("user/fields.f90", FORTRAN)
    called(
        "cmake", "-S", "user", "-B", "tree", "-G", "Ninja", "-DTHERMOCLINE_CONTEXT=1",
        f"-DCMAKE_TOOLCHAIN_FILE={cmake}/toolchain.cmake", f"-Dthermocline_DIR={cmake}",
        cwd=shop.folder,
    )  # fmt: skip
    called("cmake", "--build", "tree", "-j2", cwd=shop.folder)
    assert called("tree/user", cwd=shop.folder) == "fine\n"
    assert called("tree/fields", cwd=shop.folder).strip() == "2000.0"
    table = shop.table(shop.folder / "tree/user")
    assert table is not None
    assert any("make" in key and " < main@" in key for key in table.keys)  # one caller


def test_pkg_config(shop: Workshop) -> None:
    shop.write("user.c", USES)
    config = ["pkg-config", "--cflags", "--libs", "thermocline-policies"]
    done = subprocess.run(
        config, env={"PKG_CONFIG_PATH": f"{PREFIX}/lib/pkgconfig", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    called("cc", "user.c", "-o", "user", *done.stdout.split(), cwd=shop.folder)
    assert called("./user", cwd=shop.folder) == "fine\n"
