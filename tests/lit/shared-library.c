// A shared library has sites and a module of its own, announced and withdrawn by
// dlopen and dlclose, and its exported functions keep working from outside.
// RUN: %options="module=lib.so;context=1;twins=off" %clang -g -O1 -DLIBRARY -shared -fPIC %s %link -o %t.so
// RUN: %options="module=x;context=1;twins=off" %clang -g -O1 %s %link -ldl -o %t
// RUN: env KEYS=1 KEYS_LOAD=1 %t %t.so 2>&1 | FileCheck %s
// The tables survive strip.
// RUN: llvm-strip %t.so %t
// RUN: env KEYS=1 KEYS_LOAD=1 %t %t.so 2>&1 | FileCheck %s
#include <stdlib.h>

#ifdef LIBRARY
__attribute__((noinline)) void *exported(int n) { return malloc(n); }
void *outer(int n) {
    void *volatile p = exported(n);
    return p;
}
#else
#include <dlfcn.h>
// CHECK: load 1 sites
int main(int argc, char **argv) {
    // CHECK-NEXT: malloc x!main@{{.*}}:[[#@LINE+1]]:
    void *volatile own = malloc(argc);
    for (int i = 0; i < 2; i++) {
        // CHECK-NEXT: load 2 sites
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return 1;
        // CHECK-NEXT: malloc lib.so!exported@{{[^<]*$}}
        free(((void *(*)(int))dlsym(library, "exported"))(1));
        // CHECK-NEXT: malloc lib.so!exported@{{.*}} < outer@
        free(((void *(*)(int))dlsym(library, "outer"))(1));
        // CHECK-NEXT: unload 2 sites
        dlclose(library);
        // CHECK-NEXT: load 2 sites
        // CHECK-NEXT: malloc lib.so!exported@{{[^<]*$}}
        // CHECK-NEXT: malloc lib.so!exported@{{.*}} < outer@
        // CHECK-NEXT: unload 2 sites
    }
    free(own);
    return 0;
}
// CHECK-NEXT: unload 1 sites
#endif
