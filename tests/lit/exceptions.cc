// Allocations in try blocks and constructors that throw, static constructors and
// destructors, placement and every operator new.
// RUN: %options="module=x;context=1;twins=off" %clangxx -std=c++20 -g -O2 %s %link -o %t
// RUN: env KEYS=1 KEYS_LOAD=1 %t 2>&1 | FileCheck %s
// RUN: %clangxx -std=c++20 -O2 %s -o %t.plain
// RUN: %t.plain > %t.1
// RUN: %t > %t.2
// RUN: cmp %t.1 %t.2
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

struct Static {
    Static() {
        memory = new char[10];
        fputs("constructed\n", stderr);
    }
    ~Static() {
        // CHECK-LAST: destructed
        delete[] memory;
        memory = static_cast<char *>(malloc(3));
        free(memory);
        fputs("destructed\n", stderr);
    }
    char *memory;
};
// The table is there before any other constructor and until after the last
// destructor.
// CHECK: load
// CHECK-NEXT: operator new[] x!Static::Static@
// CHECK-NEXT: constructed
static Static object __attribute__((init_priority(101)));

struct alignas(64) Wide {
    char bytes[64];
};

NOINLINE void *get(int n) {
    if (n == 3)
        throw std::runtime_error("three");
    return operator new(n);
}

NOINLINE int attempt(int n) {
    try {
        operator delete(get(n));
        return n;
    } catch (std::exception &e) {
        return -1;
    }
}

int main() {
    // CHECK: operator new x!get@{{.*}} < attempt@
    int sum = attempt(2);
    sum += attempt(3);
    // CHECK: operator new(align) x!main@
    Wide *volatile wide = new Wide;
    // CHECK-NEXT: operator new[](align) x!main@
    Wide *volatile wides = new Wide[3];
    // CHECK-NEXT: operator new(nothrow) x!main@
    int *volatile quiet = new (std::nothrow) int;
    // CHECK-NEXT: operator new[](align, nothrow) x!main@
    Wide *volatile quietWides = new (std::nothrow) Wide[3];
    try {
        char *volatile huge = new char[static_cast<size_t>(sum) << 62];
        delete[] huge;
    } catch (std::bad_alloc &) {
        puts("bad_alloc");
    }
    delete wide;
    delete[] wides;
    delete quiet;
    delete[] quietWides;
    printf("%d\n", sum);
    // CHECK: destructed
    // CHECK-NEXT: unload
}
