// An exception that leaves a function from inside a carried call puts back what was
// carried before, in functions with and without a landing pad of their own.
// RUN: %options="module=x;twins=off" %clangxx -O1 -g %s %link -o %t
// RUN: env KEYS=1 %t 2>&1 | FileCheck %s
#include <cstdio>
#include <stdexcept>
#include <string>

// CHECK: std::string x!plain@{{.*}}
// CHECK-NEXT: carried
// CHECK-NEXT: caught
__attribute__((noinline)) void plain(std::string &text, size_t size) { text.reserve(size); }

struct Loud {
    ~Loud() { fputs("cleaned\n", stderr); }
};
// CHECK-NEXT: std::string x!guarded@{{.*}}
// CHECK-NEXT: carried
// CHECK-NEXT: cleaned
// CHECK-NEXT: caught
__attribute__((noinline)) void guarded(std::string &text, size_t size) {
    Loud loud;
    text.reserve(size);
}

// CHECK-NOT: {{.}}
int main() {
    std::string text;
    for (auto *function : {plain, guarded}) {
        try {
            function(text, size_t(-1));
        } catch (const std::length_error &) {
            fputs("caught\n", stderr);
        }
    }
}
