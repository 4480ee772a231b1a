// Sites survive what linkers do to sections and symbols, and functions that differ
// in nothing but the site are not folded into one.
// RUN: %clang -g -O1 -ffunction-sections -fdata-sections -fvisibility=hidden -c -flto %s -o %t.o
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -o %t.plain
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -Wl,--gc-sections -o %t.gc
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -Wl,--gc-sections,--icf=all -o %t.icf
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -Wl,--icf=safe,-O2,--lto-O3 -o %t.safe
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -Wl,--lto-O0 -o %t.o0
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -Wl,--lto-partitions=3 -o %t.parts
// RUN: %options="module=x;context=1;twins=off" %clang %t.o %link -no-pie -Wl,-z,now,-z,relro,-z,start-stop-gc,--gc-sections -o %t.nopie
// RUN: env KEYS=1 %t.plain 2>&1 | FileCheck %s
// RUN: env KEYS=1 %t.gc 2>&1 | FileCheck %s
// RUN: env KEYS=1 %t.icf 2>&1 | FileCheck %s
// RUN: env KEYS=1 %t.safe 2>&1 | FileCheck %s
// RUN: env KEYS=1 %t.o0 2>&1 | FileCheck %s
// RUN: env KEYS=1 %t.parts 2>&1 | FileCheck %s
// RUN: env KEYS=1 %t.nopie 2>&1 | FileCheck %s
// A library whose version script hides the rest, bound to itself.
// RUN: echo '{ global: run; local: *; };' > %t.map
// RUN: %options="module=x;context=1;twins=off" %clang -g -O1 -fPIC -DENTRY=run -shared %s %link -Wl,--version-script=%t.map,-Bsymbolic,--gc-sections,--icf=all -o %t.so
// RUN: %clang -DUSER %s %t.so -o %t.dynamic
// RUN: env KEYS=1 %t.dynamic 2>&1 | FileCheck %s
#if defined(USER)
int run(int, char **);
int main(int argc, char **argv) { return run(argc, argv); }
#else
#include <stdlib.h>
#include <string.h>

#ifndef ENTRY
#define ENTRY main
#endif
#define NOINLINE __attribute__((noinline))
struct methods {
    void *(*get)(size_t);
};

NOINLINE static void *inner(size_t n) { return memset(malloc(n), 1, n); }
NOINLINE static void *twice(size_t n) { return memset(malloc(n), 1, n); }
static void *own(size_t n) { return malloc(n + 1); }
static void *other(size_t n) { return malloc(n + 1); }
NOINLINE static void *by_pointer(const struct methods *methods, size_t n) {
    return methods->get(n);
}

int ENTRY(int argc, char **argv) {
    (void)argv;
    static const struct methods all[] = {{malloc}, {own}, {other}};
    // CHECK: malloc x!inner@{{.*}} < {{main|run}}@{{.*}}:[[#@LINE+1]]:
    free(inner(argc));
    // CHECK-NEXT: malloc x!inner@{{.*}} < {{main|run}}@{{.*}}:[[#@LINE+1]]:
    free(inner(argc));
    // CHECK-NEXT: malloc x!twice@{{.*}} < {{main|run}}@{{.*}}:[[#@LINE+1]]:
    free(twice(argc));
    // CHECK-NEXT: malloc x!by_pointer@{{.*}} < {{main|run}}@{{.*}}
    // CHECK-NEXT: malloc x!own@{{.*}} < by_pointer@{{.*}}
    // CHECK-NEXT: malloc x!other@{{.*}} < by_pointer@{{.*}}
    for (int i = 0; i < 3; i++)
        free(by_pointer(&all[i], argc));
    return 0;
}
// CHECK-NOT: {{.}}
#endif
