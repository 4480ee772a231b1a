"""Objects of every kind: what a link makes of them, and what it says."""

import random
import shutil

import pytest
from conftest import MAIN, Workshop

OPAQUE = "#include <stdlib.h>\n__attribute__((noinline)) char *make(int n) { return malloc(n); }\n"

FORTRAN_PART = """
subroutine fill(n, s) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  integer(c_int) :: s
  integer, allocatable, volatile :: a(:)
  allocate (a(n))
  a = 2
  s = sum(a)
end
"""
CXX_PART = """
#include <vector>
extern "C" int grow(int n) {
    std::vector<int> v;
    for (int i = 0; i < n; i++)
        v.push_back(i);
    return v.back();
}
"""
C_PART = """
#include <stdio.h>
void fill(int, int *);
int grow(int);
int main(void) {
    int s;
    fill(10, &s);
    printf("%d %d\\n", s, grow(7));
}
"""


@pytest.fixture
def objects(shop: Workshop) -> Workshop:
    shop.write("make.c", OPAQUE)
    shop.run("thermocline-clang", "-O2", "-c", "main.c", "make.c")
    return shop


def link(shop: Workshop, *inputs: str, native: str | None = None, site: bool = True) -> None:
    """Links and runs; `native`: what the table says of one input; `site`: make() has one."""
    shop.run("thermocline-clang", *inputs, "-o", "program")
    assert shop.run("./program") == "fine\n"
    table = shop.table("program")
    assert table
    assert ("make" in table.functions) == site
    if native is None:
        assert table.native == []
    else:
        assert len(table.native) == 1 and native in table.native[0]
        said = shop.stderr_of("thermocline-clang", "--thermocline-verbose", *inputs, "-o", "x")
        assert native in said


def test_objects_are_fat_and_gnu_tools_read_them(objects: Workshop) -> None:
    assert "T make" in objects.run("nm", "make.o")
    objects.run("gcc", "main.o", "make.o", "-o", "by-gcc")
    assert objects.run("./by-gcc") == "fine\n"
    link(objects, "main.o", "make.o")


def test_no_debug_sections_unless_asked_for(objects: Workshop) -> None:
    link(objects, "main.o", "make.o")
    assert ".debug_" not in objects.run("readelf", "-SW", "program")
    objects.run("thermocline-clang", "-g", "-c", "make.c")
    link(objects, "main.o", "make.o")
    assert ".debug_line" in objects.run("readelf", "-SW", "program")


def test_bitcode_only_objects(objects: Workshop) -> None:
    objects.run("thermocline-clang", "--thermocline-fat=off", "-c", "make.c")
    assert (objects.folder / "make.o").read_bytes()[:2] == b"BC"
    link(objects, "main.o", "make.o")
    objects.run("thermocline-clang", "-c", "-emit-llvm", "make.c", "-o", "make.bc")
    link(objects, "main.o", "make.bc")


def test_native_objects_are_named_with_their_compiler(objects: Workshop) -> None:
    objects.run("gcc", "-c", "make.c")
    link(objects, "main.o", "make.o", native="make.o: native code from GCC", site=False)
    objects.run("clang-22", "-c", "make.c")
    link(objects, "main.o", "make.o", native="clang version", site=False)


def test_assembler_sources(objects: Workshop) -> None:
    objects.run("thermocline-clang", "-S", "make.c")
    objects.write(
        "note.S", "#define NAME nothing\n.globl NAME\nNAME: ret\n.section .note.GNU-stack\n"
    )
    objects.run("thermocline-clang", "-c", "make.s", "note.S")
    objects.run("thermocline-clang", "main.o", "make.o", "note.o", "-o", "program")
    table = objects.table("program")
    assert table and any("note.o: native code, from an assembler" in x for x in table.native)


def test_thin_lto_objects_are_named(objects: Workshop) -> None:
    objects.run("clang-22", "-flto=thin", "-c", "make.c")
    link(objects, "main.o", "make.o", native="ThinLTO", site=False)
    objects.run("clang-22", "-flto=thin", "-ffat-lto-objects", "-c", "make.c")
    link(objects, "main.o", "make.o", native="ThinLTO", site=False)


def test_partly_linked_objects_run_but_stay_native(objects: Workshop) -> None:
    """GNU ld -r runs the bitcode of several objects together, which lld can't read."""
    objects.write("other.c", "int other;\n")
    objects.write("main.c", MAIN.replace("return", "char *volatile p = malloc(9); free(p); return"))
    objects.run("thermocline-clang", "-O2", "-c", "main.c", "other.c")
    objects.run("ld", "-r", "other.o", "make.o", "-o", "both.o")
    link(objects, "main.o", "both.o", native="both.o: rewritten after compilation", site=False)
    objects.run("ar", "rc", "libboth.a", "both.o")
    link(objects, "main.o", "-L.", "-lboth", native="(1 of 1 members: both.o)", site=False)
    objects.run("thermocline-clang", "-r", "other.o", "make.o", "-o", "both.o")
    link(objects, "main.o", "both.o", native="both.o: rewritten after compilation", site=False)


def test_renamed_symbols_win_over_bitcode(objects: Workshop) -> None:
    objects.run("objcopy", "--redefine-sym", "make=made", "make.o")
    objects.run("objcopy", "--redefine-sym", "make=made", "main.o")
    objects.run("thermocline-clang", "main.o", "make.o", "-o", "program")
    assert objects.run("./program") == "fine\n"


@pytest.mark.parametrize("ar", ["ar", "llvm-ar-22"])
@pytest.mark.parametrize("fat", ["on", "off"])
def test_archives(objects: Workshop, ar: str, fat: str) -> None:
    objects.run("thermocline-clang", f"--thermocline-fat={fat}", "-c", "main.c", "make.c")
    objects.run(ar, "rc", "libmake.a", "make.o", stderr=None)
    if fat == "on":
        objects.run("ranlib", "libmake.a")
    link(objects, "main.o", "libmake.a")
    link(objects, "main.o", "-L.", "-lmake")
    link(objects, "main.o", "-L", ".", "-l", "make")
    objects.run(ar, "rcT", "thin.a", "make.o", stderr=None)
    link(objects, "main.o", "thin.a")


def test_native_members_of_archives_are_named(objects: Workshop) -> None:
    objects.run("gcc", "-c", "make.c", "-o", "native_member_with_a_long_name.o")
    shutil.copy(objects.folder / "main.o", objects.folder / "main2.o")
    objects.run("ar", "rc", "liball.a", "native_member_with_a_long_name.o", "main2.o")
    expected = "(1 of 2 members: native_member_with_a_long_name.o)"
    link(objects, "main.o", "liball.a", native=expected, site=False)
    link(objects, "main.o", "-L.", "-l:liball.a", native=expected, site=False)
    objects.run("ar", "rcT", "thin.a", "native_member_with_a_long_name.o", "main2.o")
    link(objects, "main.o", "thin.a", native=expected, site=False)


def test_broken_objects_and_archives_never_break_the_wrapper(objects: Workshop) -> None:
    """What is wrong with a file is for the linker to say: `true` stands in for it here."""
    objects.run("gcc", "-c", "make.c", "-o", "native_member_with_a_long_name.o")
    members = ["make.o", "native_member_with_a_long_name.o", "main.o"]
    objects.run("ar", "rc", "lib.a", *members)
    objects.run("ar", "rcT", "thin.a", *members)
    objects.run("ld", "-r", "make.o", "-o", "partial.o")
    rng = random.Random(1)
    for file in ("make.o", "partial.o", "lib.a", "thin.a"):
        whole = (objects.folder / file).read_bytes()
        for _ in range(60):
            broken = bytearray(whole[: rng.choice((len(whole), rng.randrange(len(whole))))])
            # Headers are where offsets and sizes are: the front, and an ELF's end.
            for _ in range(rng.randrange(8) if len(broken) > 200 else 0):
                at = rng.choice((rng.randrange(8, 200), rng.randrange(len(broken))))
                broken[at] = rng.choice((0, 0xFF, 0x80, 0x39, rng.randrange(256)))
            (objects.folder / "broken.o").write_bytes(broken)
            objects.run("thermocline-clang", "main.o", "broken.o", THERMOCLINE_CLANG="true")


@pytest.mark.parametrize(
    "strip",
    [["strip"], ["strip", "--strip-unneeded"], ["llvm-strip-22"], ["strip", "-g"]],
)
def test_stripped_programs_keep_their_table(objects: Workshop, strip: list[str]) -> None:
    link(objects, "main.o", "make.o")
    objects.run(*strip, "program")
    table = objects.table("program")
    assert table and "make" in table.functions
    assert objects.run("./program") == "fine\n"


@pytest.mark.parametrize("strip", ["strip", "llvm-strip-22"])
@pytest.mark.parametrize("option", ["-g", "--strip-unneeded"])
def test_stripped_archives_still_link(objects: Workshop, strip: str, option: str) -> None:
    objects.run("ar", "rc", "libmake.a", "make.o")
    objects.run(strip, option, "libmake.a")
    if strip == "strip":
        link(objects, "main.o", "libmake.a", native="rewritten after compilation", site=False)
    else:
        link(objects, "main.o", "libmake.a")


def test_shared_libraries_carry_their_own_sites(objects: Workshop) -> None:
    objects.run("thermocline-clang", "-fPIC", "-c", "make.c")
    objects.run("thermocline-clang", "-shared", "make.o", "-o", "libmake.so")
    library = objects.table("libmake.so")
    assert library and library.functions == {"make"}
    assert library.keys[0].startswith("libmake.so!")
    objects.run("thermocline-clang", "main.o", "-L.", "-lmake", "-Wl,-rpath,$ORIGIN", "-o", "user")
    assert objects.run("./user") == "fine\n"
    program = objects.table("user")
    assert program is None or program.functions == set()


def test_precompiled_headers(shop: Workshop) -> None:
    shop.write(
        "all.h", "#include <stdlib.h>\nstatic inline void *get(int n) { return malloc(n); }\n"
    )
    shop.write("user.c", "int main(int c, char **v) { char *volatile p = get(c); return !p; }\n")
    shop.run("thermocline-clang", "-O1", "-x", "c-header", "all.h", "-o", "all.h.pch")
    shop.run("thermocline-clang", "-O1", "-include-pch", "all.h.pch", "user.c", "-o", "user")
    shop.run("./user")
    table = shop.table("user")
    assert table and table.functions == {"get"}


@pytest.mark.parametrize("option", ["-pie", "-no-pie", "-static-libgcc", "-rdynamic", "-pg", "-s"])
def test_ordinary_link_options(objects: Workshop, option: str) -> None:
    objects.run(
        "thermocline-clang", "-c", "main.c", "make.c", *(["-fPIC"] if option == "-pie" else [])
    )
    link(objects, option, "main.o", "make.o")


def test_openmp(shop: Workshop) -> None:
    shop.write(
        "omp.c",
        "#include <stdlib.h>\n#include <stdio.h>\nint main(void) { int sum = 0;\n"
        "#pragma omp parallel for reduction(+:sum)\nfor (int i = 0; i < 100; i++) {"
        " volatile int *p = malloc(4); *p = i; sum += *p; free((void *)p); }\n"
        'printf("%d\\n", sum); }\n',
    )
    shop.run("thermocline-clang", "-O2", "-fopenmp", "omp.c", "-o", "omp")
    assert shop.run("./omp") == "4950\n"
    table = shop.table("omp")
    assert table and len(table.keys) == 1


def test_languages_meet_in_one_program(shop: Workshop) -> None:
    shop.write("part.f90", FORTRAN_PART)
    shop.write("part.cc", CXX_PART)
    shop.write("top.c", C_PART)
    shop.run("thermocline-flang", "-O2", "-c", "part.f90", "-o", "fortran.o")
    shop.run("thermocline-clang++", "-O2", "-c", "part.cc", "-o", "cxx.o")
    shop.run("thermocline-clang", "-O2", "-c", "top.c")
    shop.run(
        "thermocline-flang", "top.o", "fortran.o", "cxx.o", "-lstdc++",
        "-o", "mixed",
    )  # fmt: skip
    assert shop.run("./mixed") == "20 6\n"
    table = shop.table("mixed")
    assert table and {".f90" in key for key in table.keys} == {True, False}
