// A static executable, a relocatable object and -O0 at the link are annotated
// too; the constructor comes before all others there as well.
// RUN: %clang -O1 -c %S/Inputs/stub.c -I%S/../../runtime -o %t.stub.o
// RUN: %options="module=x;twins=off" %clang -g -O1 -static %s %t.stub.o -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin -o %t
// RUN: env KEYS=1 KEYS_LOAD=1 %t 2>&1 | FileCheck %s
// RUN: %options="module=x;twins=off" %clang -g -O1 -r -nostdlib %s -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin -o %t.r.o
// RUN: %clang %t.r.o %t.stub.o -o %t.r
// RUN: env KEYS=1 KEYS_LOAD=1 %t.r 2>&1 | FileCheck %s
// RUN: %options="module=x;twins=off" %clang -g -O1 %s %link -Wl,--lto-O0 -o %t.0
// RUN: env KEYS=1 KEYS_LOAD=1 %t.0 2>&1 | FileCheck %s
#include <stdlib.h>

static void *volatile sink;
// CHECK: load 3 sites
// CHECK-NEXT: malloc x!early@
__attribute__((constructor(101))) static void early(void) { sink = malloc(1); }
// CHECK-NEXT: malloc x!main@
int main(void) {
    sink = malloc(2);
    return 0;
}
// CHECK-NEXT: malloc x!late@
__attribute__((destructor(101))) static void late(void) { sink = malloc(3); }
// CHECK-NEXT: unload 3 sites
