// A shared library with a malloc and a free of its own, from native code and hidden,
// goes on using them: what came from elsewhere must not end in its free.
// RUN: %clang -O1 -fPIC -fno-builtin -DOWN -c %s -o %t.own.o
// RUN: %options="module=lib.so;twins=off" %clang -O1 -fPIC -shared -DLIBRARY %s %t.own.o %link -o %t.so
// RUN: %clang %s %t.so -o %t && %t
// RUN: %table %t.so %t.table && FileCheck %s < %t.table
// CHECK: thermocline-sites 1 module=lib.so context=0
// CHECK-NOT: get@
// CHECK: calls of malloc have no site: this library has its own
#include <stddef.h>
#include <stdlib.h>

#if defined(OWN)
static char pool[1 << 16];
static size_t used;
__attribute__((visibility("hidden"))) void *malloc(size_t n) {
    void *block = pool + used;
    used += (n + 15) & ~(size_t)15;
    return block;
}
__attribute__((visibility("hidden"))) void free(void *block) {
    if ((char *)block < pool || (char *)block >= pool + sizeof pool)
        abort();
}
#elif defined(LIBRARY)
void *get(int n) { return malloc(n); }
void put(void *block) { free(block); }
#else
void *get(int);
void put(void *);
int main(void) {
    put(get(3));
    return 0;
}
#endif
