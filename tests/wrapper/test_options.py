"""How a command line becomes the real compiler's."""

from pathlib import Path

import pytest
from conftest import Workshop

FAT = "-ffat-lto-objects"
PLUGIN = "--load-pass-plugin="


def has_plugin(arguments: list[str]) -> bool:
    return any(argument.startswith(PLUGIN) for argument in arguments)


@pytest.mark.parametrize(
    "command",
    [
        ["--version"],
        ["-v"],
        ["-dumpmachine"],
        ["-print-search-dirs"],
        ["-E", "main.c"],
        ["-M", "main.c"],
        ["-MM", "main.c"],
        ["-fsyntax-only", "main.c"],
        ["-S", "main.c", "-o", "-"],
        ["-S", "-emit-llvm", "main.c", "-o", "x.ll"],
        ["-cc1", "-emit-obj", "main.c"],
        [],
    ],
)
def test_what_makes_no_code_is_the_plain_compilers(shop: Workshop, command: list[str]) -> None:
    assert [x for x in shop.passed_on("thermocline-clang", *command) if x] == command


def test_compiling_makes_fat_objects_and_adds_nothing_for_the_linker(shop: Workshop) -> None:
    passed = shop.passed_on("thermocline-clang", "-O2", "-c", "main.c", "-o", "main.o")
    assert FAT in passed
    assert "-flto=full" in passed
    assert not has_plugin(passed)
    assert not any("ld" in x and x.startswith("-fuse") for x in passed)


def test_a_whole_link_in_one_command_makes_bitcode_only(shop: Workshop) -> None:
    passed = shop.passed_on("thermocline-clang", "main.c", "make.c")
    assert FAT not in passed
    assert has_plugin(passed)


def test_our_library_comes_after_all_others(shop: Workshop) -> None:
    passed = shop.passed_on("thermocline-clang", "main.o", "-ljemalloc", "-lm")
    ours = next(i for i, x in enumerate(passed) if x.endswith("libthermocline.so"))
    assert ours > passed.index("-lm")


@pytest.mark.parametrize(
    "theirs", ["-fno-lto", "-flto=thin", "-fno-fat-lto-objects", "-fuse-ld=bfd", "--ld-path=/x"]
)
def test_choices_that_exclude_annotation_are_overruled(shop: Workshop, theirs: str) -> None:
    passed = shop.passed_on("thermocline-clang", theirs, "main.c", "-o", "x")
    assert theirs not in passed or passed.index("-flto=full") > passed.index(theirs)
    assert "-fuse-ld=lld" in passed


@pytest.mark.parametrize(
    ("why", "command"),
    [
        ("-fsanitize=address", ["-fsanitize=address", "main.c"]),
        ("-fsanitize=undefined,leak", ["-fsanitize=undefined,leak", "main.c"]),
        ("-m32", ["-m32", "main.c"]),
        ("aarch64", ["--target=aarch64-linux-gnu", "main.c"]),
        ("-r keeps", ["-r", "main.o", "-o", "x.o"]),
        ("-r keeps", ["-Wl,-r", "main.o", "-o", "x.o"]),
        ("no C library", ["-nostdlib", "main.o"]),
        ("-ffreestanding", ["-ffreestanding", "-c", "main.c"]),
        ("--wrap", ["main.o", "-Wl,--wrap=malloc"]),
        ("--wrap", ["main.o", "-Xlinker", "--wrap", "-Xlinker", "_Znwm"]),
        ("annotate=off", ["--thermocline-annotate=off", "main.c"]),
    ],
)
def test_left_alone(shop: Workshop, why: str, command: list[str]) -> None:
    theirs = [x for x in command if not x.startswith("--thermocline")]
    assert shop.passed_on("thermocline-clang", *command) == theirs
    fake = str(shop.folder / "fake compiler")
    said = shop.stderr_of(
        "thermocline-clang", *command, THERMOCLINE_CLANG=fake, THERMOCLINE_VERBOSE="on"
    )
    assert said.startswith("thermocline: not annotated: ")
    assert why in said


@pytest.mark.parametrize(
    "command",
    [
        ["-fsanitize=undefined", "main.c"],
        ["-shared", "-nostdlib", "main.o"],  # how libtool links C++ libraries
        ["-nostdlib", "main.o", "-lc"],
        ["--target=x86_64-pc-linux-gnu", "main.c"],
        ["main.o", "-Wl,--wrap=write"],
    ],
)
def test_not_left_alone(shop: Workshop, command: list[str]) -> None:
    assert has_plugin(shop.passed_on("thermocline-clang", *command))


def test_names_decide_the_language(shop: Workshop) -> None:
    log = shop.run("thermocline-clang++", "-###", "main.c", stderr=None)
    assert log == ""
    assert "-lstdc++" in shop.stderr_of("thermocline-clang++", "-###", "main.c").replace('"', "")
    assert "-lstdc++" not in shop.stderr_of("thermocline-clang", "-###", "main.c").replace('"', "")
    assert "flang" in shop.run("thermocline-flang", "--version")


def test_settings_come_from_the_command_line_before_the_environment(shop: Workshop) -> None:
    shop.run("thermocline-clang", "main.c", "make.c", THERMOCLINE_CONTEXT="3")
    table = shop.table("a.out")
    assert table and table.header.endswith("context=3")
    shop.run(
        "thermocline-clang", "--thermocline-context=1", "main.c", "make.c", THERMOCLINE_CONTEXT="3"
    )
    table = shop.table("a.out")
    assert table and table.header.endswith("context=1")


PROBE = """
#include <stdlib.h>
#include <stdio.h>
static char *checked(size_t n) { char *p = malloc(n); if (!p) exit(2); return p; }
char *grown(char *old, size_t n) { return old ? realloc(old, n) : checked(n); }
int main(void) {
    char *a = grown(0, 0), *b = grown(a, 10), *c = calloc(2, 3), *d = grown(checked(4), 40);
    free(b); free(c); free(d);
    return 0;
}
"""


# Configure scripts take a word on stderr for a failure, and a link can't know that it
# is one of theirs: what is as small as a probe must never meet the budget's lower limit.
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_probe_never_reaches_the_budget(shop: Workshop, level: str) -> None:
    shop.write("conftest.c", PROBE)
    shop.run("thermocline-clang", level, "conftest.c", THERMOCLINE_CONTEXT="16")
    table = shop.table("a.out")
    assert table and not [note for note in table.notes if not note.startswith("link\t")]
    assert level != "-O0" or len(table.keys) > 4  # there were contexts to tell apart


def test_what_the_budget_left_out_is_said(shop: Workshop) -> None:
    # 2^16 paths lead to the last of these functions.
    text = "#include <stdlib.h>\nchar *f16(int n) { return malloc(n); }\n"
    for i in reversed(range(16)):
        text += f"char *f{i}(int n) {{ return n % 2 ? f{i + 1}(n + 1) : f{i + 1}(n + 2); }}\n"
    shop.write("paths.c", text + "int main(int n, char **v) { return !f0(n); }\n")
    said = shop.stderr_of("thermocline-clang", "-O0", "--thermocline-context=16", "paths.c")
    assert said.startswith("thermocline: contexts would grow the program beyond the budget of ")
    assert said.count("\n") == 1
    table = shop.table("a.out")
    assert table and any(note.startswith("context cut by the budget: ") for note in table.notes)


@pytest.mark.parametrize(
    "option",
    ["--thermocline-context=17", "--thermocline-context=", "--thermocline-context=-1",
     "--thermocline-context", "--thermocline-twins=maybe", "--thermocline-colour=red"],
)  # fmt: skip
def test_a_wrong_setting_is_one_line_and_status_2(shop: Workshop, option: str) -> None:
    assert shop.run("thermocline-clang", option, "main.c", status=2, stderr=None) == ""
    said = shop.stderr_of("thermocline-clang", option, "main.c")
    assert said.startswith("thermocline: ") and said.count("\n") == 1


def test_help_names_every_option(shop: Workshop) -> None:
    text = shop.run("thermocline-clang", "--thermocline-help")
    for name in ("context", "budget", "twins", "fat", "annotate", "verbose"):
        assert f"--thermocline-{name}" in text


def test_a_missing_installation_and_a_missing_compiler_are_named(
    shop: Workshop, tmp_path: Path
) -> None:
    said = shop.stderr_of("thermocline-clang", "main.c", THERMOCLINE_PREFIX=str(tmp_path))
    assert said.startswith(f"thermocline: {tmp_path}/lib/thermocline/thermocline-plugin.so is")
    said = shop.stderr_of("thermocline-clang", "-c", "main.c", THERMOCLINE_CLANG="/no/such")
    assert said.startswith("thermocline: can't run /no/such: ")


def test_linker_options_that_lld_lacks_are_dropped(shop: Workshop) -> None:
    passed = shop.passed_on(
        "thermocline-clang", "main.o",
        "-Wl,--warn-textrel,-z,now,--no-warn-rwx-segments",
        "-Xlinker", "--reduce-memory-overheads", "-Wl,-warn-constructors",
    )  # fmt: skip
    assert "-Wl,-z,now" in passed
    text = " ".join(passed)
    for option in ("textrel", "rwx", "overheads", "constructors"):
        assert option not in text


def test_a_version_script_may_name_what_nobody_defines(shop: Workshop) -> None:
    script = shop.write("x.map", "{ global: make; absent; local: *; };")
    shop.run(
        "thermocline-clang", "-shared", "-fPIC", "make.c", "-o", "libx.so",
        f"-Wl,--version-script={script}",
    )  # fmt: skip
    assert shop.table("libx.so")


def test_response_files(shop: Workshop) -> None:
    shop.write("inner.rsp", '"make.c"\n-o one\\ two')
    shop.write("outer.rsp", "'main.c' @inner.rsp -fno-lto -flto=thin")
    shop.run("thermocline-clang", "@outer.rsp")
    table = shop.table("one two")
    assert table and table.functions == {"make"}
    assert shop.run(shop.folder / "one two") == "fine\n"


def test_a_response_file_longer_than_an_argument_list_may_be(shop: Workshop) -> None:
    text = "x y " * 5000
    many = "\n".join(f'"-Dname_number_{i}=\\"{text}\\""' for i in range(200))
    shop.write("many.rsp", f"main.c make.c -o x\n{many}")
    shop.run("thermocline-clang", "@many.rsp")
    assert shop.run(shop.folder / "x") == "fine\n"


def test_the_table_holds_the_link_for_a_sweep(shop: Workshop) -> None:
    shop.run("thermocline-clang", "main.c", "make.c", "-o", "tab\there")
    table = shop.table("tab\there")
    assert table
    link = next(note for note in table.notes if note.startswith("link\t")).split("\t")
    assert link[1] == str(shop.folder)
    assert Path(link[2]).name == "thermocline-clang"
    assert link[3:] == ["main.c", "make.c", "-o", "tab\\there"]
