"""Writes a random C++ program that knows its own call paths.

Each call pushes its own frame on a shadow stack, as a site key would spell it,
and each allocation compares the key that it reached with that stack.  A path may
start at a call by pointer, which a link-time pass can't always follow.
"""

import argparse
import random
from collections.abc import Iterator

PROLOGUE = r"""
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
extern "C" const char *tc_stub_key() __attribute__((weak));
static __thread const char *stack[100000];
static __thread int depth;
static int fuel = FUEL, allocations, mismatches;
static unsigned long sum;
static void *volatile sink;
static __thread bool byPointer[100000]; // for the frame above
static void check(const char *frame) {
    allocations++;
    sum = sum * 31 + depth;
    if (!tc_stub_key) return;
    const char *reached = tc_stub_key(); // before the strings below allocate
    std::string path = frame, key = strchr(reached, '!') + 1;
    bool same = false;
    for (int i = depth - 1, frames = 0; i >= 0 && frames < CONTEXT; i--, frames++) {
        same |= byPointer[i] && path == key;
        path += std::string(" < ") + stack[i];
    }
    same |= PREFIX ? path.compare(0, key.size(), key) == 0 : path == key;
    if (!same && mismatches++ < 5)
        fprintf(stderr, "expected %s\n     got %s\n", path.c_str(), key.c_str());
}
typedef void (*Function)(int);
extern Function volatile table[FUNCTIONS];
"""

EPILOGUE = r"""
int main() {
    const int base = depth;
@MAIN@
    printf("%d allocations, sum %lu\n", allocations, sum);
    if (mismatches) fprintf(stderr, "%d of %d keys differ\n", mismatches, allocations);
    return mismatches != 0;
}
"""


class Program:
    def __init__(self, seed: int, functions: int, context: int, prefix: bool, file: str) -> None:
        self.random = random.Random(seed)
        self.functions = functions
        self.file = file
        text = PROLOGUE.replace("FUEL", "4000").replace("CONTEXT", str(context))
        text = text.replace("PREFIX", str(int(prefix))).replace("FUNCTIONS", str(functions))
        self.lines = text.split("\n")
        # A variadic function has another type, so it takes no part in tail calls
        # or the table.
        self.variadic = [self.random.random() < 0.15 for _ in range(functions)]

    def frame(self, function: str) -> str:
        """The frame of a call on the line that is written next."""
        return f'"{function}@{self.file}:{len(self.lines) + 1}"'

    def call(self, callee: int, depth: str) -> str:
        return f"f{callee}({depth}, 0)" if self.variadic[callee] else f"f{callee}({depth})"

    def plain_callee(self, but: int = -1) -> int | None:
        plain = [i for i in range(self.functions) if not self.variadic[i] and i != but]
        return self.random.choice(plain) if plain else None

    def statement(self, index: int) -> Iterator[str]:
        me, roll = f"f{index}", self.random.random()
        frame = self.frame(me)
        push, pop = f"byPointer[depth] = false; stack[depth++] = {frame};", "depth = base;"
        if roll < 0.3:
            routine = self.random.choice(
                ["malloc(9)", "calloc(3, 7)", "realloc(nullptr, 5)", "::operator new(11)"]
            )
            yield f"    [[clang::nomerge]] sink = {routine}; check({frame}); free(sink);"
        elif roll < 0.75:
            callee = self.random.randrange(self.functions)
            call = self.call(callee, "d - 1")
            yield f"    {push} [[clang::nomerge]] {call}; {pop}"
        elif roll < 0.85:
            callee = self.random.randrange(self.functions)
            call = self.call(callee, "d - 1")
            catch = f"catch (int) {{ {pop} }}"
            yield f"    try {{ {push} [[clang::nomerge]] {call}; {pop} }} {catch}"
        elif roll < 0.95:
            at = self.random.randrange(self.functions)
            target = f"byPointer[depth] = true; stack[depth++] = {frame};"
            call = f"[[clang::nomerge]] table[{at}](d - 1);"
            yield f"    if (table[{at}]) {{ {target} {call} {pop} }}"
        else:
            yield f"    if (fuel % {self.random.randrange(3, 9)} == 0) throw {index};"

    def body(self, index: int) -> None:
        inline = self.random.choice(["", "", "__attribute__((noinline)) "])
        linkage = self.random.choice(["static ", "static ", "", "inline "])
        parameters = "int d, ..." if self.variadic[index] else "int d"
        self.lines.append(f"{linkage}{inline}void f{index}({parameters}) {{")
        self.lines.append("    const int base = depth; if (d <= 0 || fuel-- <= 0) return;")
        for _ in range(self.random.randrange(2, 6)):
            self.lines.extend(self.statement(index))
        callee = self.plain_callee(but=index)
        if callee is not None and not self.variadic[index] and self.random.random() < 0.25:
            push = f"byPointer[depth] = false; stack[depth++] = {self.frame(f'f{index}')};"
            self.lines.append(f"    {push} [[clang::musttail]] return f{callee}(d - 1);")
        self.lines.append("    (void)base; }")

    def source(self) -> str:
        linkages = self.random.getstate()
        for i in range(self.functions):
            # The declaration has to agree with the linkage that body() draws.
            parameters = "int d, ..." if self.variadic[i] else "int d"
            self.lines.append(f"@{i}@({parameters});")
        self.random.setstate(linkages)
        for i in range(self.functions):
            start = len(self.lines)
            self.body(i)
            declaration = (
                self.lines[start].split("(int")[0].replace("__attribute__((noinline)) ", "")
            )
            for at, line in enumerate(self.lines[:start]):
                if line.startswith(f"@{i}@"):
                    self.lines[at] = line.replace(f"@{i}@", declaration)
        share = self.random.choice([0.1, 0.4])
        entries = [
            f"f{i}" if not self.variadic[i] and self.random.random() < share else "nullptr"
            for i in range(self.functions)
        ]
        self.lines.append(f"Function volatile table[] = {{{', '.join(entries)}}};")
        before, after = EPILOGUE.split("@MAIN@")
        self.lines.extend(before.rstrip("\n").split("\n"))
        for i in range(self.functions):
            push = f"byPointer[depth] = false; stack[depth++] = {self.frame('main')};"
            run = f"try {{ {push} [[clang::nomerge]] {self.call(i, '9')}; }} catch (int) {{}}"
            self.lines.append(f"    fuel = 400; {run} depth = base;")
        return "\n".join(self.lines) + after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--functions", type=int, default=12)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--prefix", action="store_true", help="keys may be cut short")
    parser.add_argument("--file", required=True, help="dir/name.cc, as keys will show it")
    arguments = parser.parse_args()
    program = Program(
        arguments.seed,
        arguments.functions,
        arguments.context,
        arguments.prefix,
        arguments.file,
    )
    print(program.source())


if __name__ == "__main__":
    main()
