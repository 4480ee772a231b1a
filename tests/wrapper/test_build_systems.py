"""Real build systems, unchanged: their probes, libraries, installs and rebuilds."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PREFIX, Workshop

WRAPPERS = {"CC": "thermocline-clang", "CXX": "thermocline-clang++", "FC": "thermocline-flang"}
FLAGS = {"CFLAGS": "-O2", "CXXFLAGS": "-O2"}

LIBRARY = "#include <stdlib.h>\n__attribute__((noinline)) int *numbers(int n) {\n" \
    "    int *p = malloc(n * sizeof *p);\n" \
    "    for (int i = 0; i < n; i++) p[i] = i;\n    return p;\n}\n"  # fmt: skip
PROGRAM = "#include <stdio.h>\n#include <stdlib.h>\nint *numbers(int);\n" \
    "int main(int argc, char **argv) {\n    int *p = numbers(argc + 6);\n" \
    '    printf("%d\\n", p[6]);\n    free(p);\n    return 0;\n}\n'  # fmt: skip

CONFIGURE = """
AC_INIT([probe], [1.0])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AM_PROG_AR
LT_INIT([disable-fast-install])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_FC
AC_CHECK_HEADERS([stdlib.h no_such_header.h])
AC_CHECK_FUNCS([malloc posix_memalign no_such_function])
AC_CHECK_LIB([m], [cos])
AC_CHECK_LIB([no_such_library], [cos])
AC_CHECK_SIZEOF([long])
AC_C_BIGENDIAN
AC_FC_WRAPPERS
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
AUTOMAKE = """
lib_LTLIBRARIES = libnumbers.la libcxx.la
noinst_LTLIBRARIES = libinner.la
libinner_la_SOURCES = inner.c
libnumbers_la_SOURCES = numbers.c
libnumbers_la_LIBADD = libinner.la
libcxx_la_SOURCES = cxx.cc
bin_PROGRAMS = program
program_SOURCES = program.c
program_LDADD = libnumbers.la libcxx.la
TESTS = program
"""


def build(shop: Workshop, *command: str | Path, cwd: Path | None = None) -> str:
    """stdout and stderr of a build step that has to succeed."""
    done = shop.execute(command, WRAPPERS | FLAGS, cwd)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a configure script: generated once, as that is slow."""
    # No blanks here: libtool itself can't build in such a folder.
    folder = tmp_path_factory.mktemp("autotools")
    (folder / "configure.ac").write_text(CONFIGURE)
    (folder / "Makefile.am").write_text(AUTOMAKE)
    (folder / "inner.c").write_text("int inner(void) { return 3; }\n")
    (folder / "numbers.c").write_text(LIBRARY)
    (folder / "program.c").write_text(PROGRAM)
    (folder / "cxx.cc").write_text(
        "#include <vector>\nstd::vector<int> *make_vector() { return new std::vector<int>(9); }\n"
    )
    subprocess.run(["autoreconf", "-if"], cwd=folder, check=True, capture_output=True)
    return folder


def probes(log: Path) -> list[str]:
    """The answers of a configure run, but for names and what Fortran's link line says."""
    answers = [x.split("result: ", 1)[1] for x in log.read_text().splitlines() if "result: " in x]
    return [x for x in answers if not any(word in x for word in ("clang", "flang", "-L"))]


def build_and_install(shop: Workshop, folder: Path) -> None:
    assert "warning" not in build(shop, "make", "-j2", cwd=folder)
    build(shop, "make", "check", cwd=folder)
    assert shop.run(folder / "program") == "6\n"
    build(shop, "make", "install-strip", cwd=folder)
    assert shop.run(folder / "inst/bin/program") == "6\n"


def test_autotools_with_shared_libraries(generated: Path, shop: Workshop) -> None:
    plain, ours = generated / "plain", generated / "shared"
    plain.mkdir()
    ours.mkdir()
    # libtool knows flang by its name, and so there is a folder with that name in it.
    flang = f"FC={PREFIX}/lib/thermocline/bin/flang"
    options = ["--disable-static", f"--prefix={ours}/inst"]
    said = build(shop, "../configure", *options, flang, cwd=ours)
    assert "checking for no_such_function... no" in said
    assert "checking for posix_memalign... yes" in said
    # libtool reads symbols out of objects with nm; bitcode would break this probe.
    assert "output from thermocline-clang object... ok" in said
    names = {"CC": "clang-22", "CXX": "clang++-22", "FC": "flang-22"} | FLAGS
    assert shop.execute(["../configure", *options], names, plain).returncode == 0
    assert probes(ours / "config.log") == probes(plain / "config.log") != []

    build_and_install(shop, ours)
    table = shop.table(ours / "inst/lib/libnumbers.so")
    assert table and table.functions == {"numbers"}
    cxx = shop.table(ours / "inst/lib/libcxx.so")
    assert cxx and "make_vector" in cxx.functions


def test_autotools_with_static_libraries(generated: Path, shop: Workshop) -> None:
    folder = generated / "static"
    folder.mkdir()
    build(shop, "../configure", "--disable-shared", f"--prefix={folder}/inst", cwd=folder)
    build_and_install(shop, folder)
    table = shop.table(folder / "inst/bin/program")
    assert table and "numbers" in table.functions
    assert table.native == []


CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(probe LANGUAGES C CXX Fortran)
include(CheckFunctionExists)
include(CheckCSourceCompiles)
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)
check_function_exists(malloc HAVE_MALLOC)
check_function_exists(no_such_function HAVE_NONE)
check_c_source_compiles("int main(void) { return no_such_name; }" COMPILES_NONE)
check_cxx_compiler_flag(-fno-such-flag FLAG_NONE)
check_cxx_compiler_flag(-Wall FLAG_WALL)
check_linker_flag(C -Wl,--gc-sections LINK_GC)
include(CheckIPOSupported)
find_package(Threads REQUIRED)
foreach(name HAVE_MALLOC HAVE_NONE COMPILES_NONE FLAG_NONE FLAG_WALL LINK_GC)
  if(${name})
    message(STATUS "${name}=yes")
  else()
    message(STATUS "${name}=no")
  endif()
endforeach()
message(STATUS "compiler=${CMAKE_C_COMPILER_ID}/${CMAKE_Fortran_COMPILER_ID}")
add_library(numbers SHARED numbers.c)
add_library(fixed STATIC fixed.f90)
add_executable(program program.cc)
target_link_libraries(program numbers fixed Threads::Threads)
install(TARGETS program numbers)
set_target_properties(program PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
"""


def test_cmake(shop: Workshop) -> None:
    source = shop.folder / "source"
    shop.write("source/CMakeLists.txt", CMAKE)
    shop.write("source/numbers.c", LIBRARY)
    shop.write(
        "source/fixed.f90",
        "integer(c_int) function total(n) bind(c)\n  use iso_c_binding\n"
        "  integer(c_int), value :: n\n  integer, allocatable :: a(:)\n"
        "  allocate (a(n))\n  a = n\n  total = sum(a)\nend\n",
    )
    shop.write(
        "source/program.cc",
        '#include <cstdio>\n#include <cstdlib>\nextern "C" { int *numbers(int); int total(int); }\n'
        'int main() { int *p = numbers(9); std::printf("%d %d\\n", p[6], total(3)); free(p); }\n',
    )
    tree = shop.folder / "tree"
    said = build(
        shop, "cmake", "-S", source, "-B", tree, "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_INSTALL_PREFIX={shop.folder}/inst",
    )  # fmt: skip
    for answer in ("HAVE_MALLOC=yes", "HAVE_NONE=no", "COMPILES_NONE=no", "FLAG_NONE=no",
                   "FLAG_WALL=yes", "LINK_GC=yes", "compiler=Clang/LLVMFlang"):  # fmt: skip
        assert answer in said, said
    assert "warning" not in build(shop, "cmake", "--build", tree, "-j2").lower()
    assert shop.run(tree / "program") == "6 9\n"
    library, program = shop.table(tree / "libnumbers.so"), shop.table(tree / "program")
    assert library and library.functions == {"numbers"}
    assert program and program.native == []
    assert any("fixed.f90" in key for key in program.keys)
    # CMake rewrites run paths at the install, and ours has to survive that.
    build(shop, "cmake", "--install", tree)
    assert shop.run(shop.folder / "inst/bin/program") == "6 9\n"


MAKEFILE = """
CFLAGS = -O2 -MMD
OBJECTS = program.o numbers.o a.o b.o c.o d.o
program: $(OBJECTS)
\t$(CC) $(LDFLAGS) -o $@ $(OBJECTS) $(LDLIBS)
-include *.d
"""


def test_parallel_make_and_incremental_rebuild(shop: Workshop) -> None:
    shop.write("Makefile", MAKEFILE)
    shop.write("numbers.c", LIBRARY)
    shop.write("program.c", '#include "program.h"\n' + PROGRAM.replace('"%d', 'TEXT "%d'))
    shop.write("program.h", '#define TEXT ""\n')
    for name in "abcd":
        shop.write(f"{name}.c", f"#include <stdlib.h>\nvoid *{name}(int n) {{ return malloc(n); }}")
    assert build(shop, "make", "-j4").count("thermocline-clang") == 7
    assert shop.run("./program") == "6\n"
    first = shop.table("program")
    assert "up to date" in build(shop, "make")

    shop.write("program.h", '#define TEXT "new "\n')
    assert build(shop, "make", "-j4").count("thermocline-clang") == 2
    assert shop.run("./program") == "new 6\n"
    second = shop.table("program")
    assert first and second and first.keys == second.keys


def test_ccache_in_front(shop: Workshop) -> None:
    if not shutil.which("ccache"):
        pytest.skip("ccache is not installed")
    cache = str(shop.folder / "cache")
    for _ in range(2):
        shop.run("ccache", "thermocline-clang", "-c", "make.c", "-o", "make.o", CCACHE_DIR=cache)
    assert "Hits:" in shop.run("ccache", "-s", CCACHE_DIR=cache)
    shop.run("thermocline-clang", "main.c", "make.o", "-o", "program")
    table = shop.table("program")
    assert table and "make" in table.functions
