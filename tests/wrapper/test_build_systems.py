"""Real build systems, unchanged: their probes, libraries, installs and rebuilds."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PREFIX, Workshop

WRAPPERS = {"CC": "thermocline-clang", "CXX": "thermocline-clang++", "FC": "thermocline-flang"}

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
    done = shop.execute(command, WRAPPERS | {"CFLAGS": "-O2", "CXXFLAGS": "-O2"}, cwd)
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
    """The answers of a configure run."""
    return [
        line.split("result: ", 1)[1]
        for line in log.read_text().splitlines()
        if "result: " in line and "thermocline" not in line and "clang" not in line
    ]


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_autotools_and_libtool(generated: Path, shop: Workshop, kind: str) -> None:
    other = "static" if kind == "shared" else "shared"
    folder = generated / f"build-{kind}"
    folder.mkdir()
    said = build(shop, "../configure", f"--disable-{other}", f"--prefix={folder}/inst", cwd=folder)
    answers = probes(folder / "config.log")
    assert "checking for no_such_function... no" in said
    assert "checking for posix_memalign... yes" in said
    assert "checking for no_such_header.h... no" in said
    assert "checking for cos in -lno_such_library... no" in said
    assert "checking size of long... 8" in said
    # libtool reads symbols out of objects with nm; bitcode would break this probe.
    assert "output from thermocline-clang object... ok" in said
    assert answers

    said = build(shop, "make", "-j2", cwd=folder)
    assert "warning" not in said
    build(shop, "make", "check", cwd=folder)
    assert shop.run(folder / "program") == "6\n"
    build(shop, "make", "install-strip", cwd=folder)
    assert shop.run(folder / "inst/bin/program") == "6\n"

    if kind == "shared":
        table = shop.table(folder / "inst/lib/libnumbers.so")
        assert table and table.functions == {"numbers"}
        cxx = shop.table(folder / "inst/lib/libcxx.so")
        assert cxx and "make_vector" in {key.split("@")[0].split("!")[1] for key in cxx.keys}
    else:
        table = shop.table(folder / "inst/bin/program")
        assert table and "numbers" in table.functions
        assert table.native == []


def test_configure_answers_are_the_plain_compilers(generated: Path, shop: Workshop) -> None:
    plain, ours = generated / "plain", generated / "ours"
    for folder in (plain, ours):
        folder.mkdir()
    # libtool knows flang by its name, and so there is a folder with that name in it.
    flang = PREFIX / "lib/thermocline/bin/flang"
    build(shop, "../configure", f"FC={flang}", cwd=ours)
    names = {"CC": "clang-22", "CXX": "clang++-22", "FC": "flang-22"}
    done = shop.execute(["../configure"], names | {"CFLAGS": "-O2", "CXXFLAGS": "-O2"}, plain)
    assert done.returncode == 0

    def same(log: Path) -> list[str]:
        # Fortran's libraries are found by looking at what the compiler links.
        return [answer for answer in probes(log) if "-L" not in answer]

    assert same(ours / "config.log") == same(plain / "config.log")


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
