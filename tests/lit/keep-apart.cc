// Two allocation calls stay two, though the optimiser could make one of them with a
// chosen size.  Without the mark it does.
// RUN: %clangxx -O2 -g1 -S -emit-llvm -fpass-plugin=%plugin %s -o - | FileCheck %s
// RUN: %clangxx -O2 -g1 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=MERGED
#include <cstdlib>

// CHECK-LABEL: @pick(
// CHECK-COUNT-2: call {{.*}}ptr @malloc(
// CHECK-LABEL: ret ptr
// MERGED-LABEL: @pick(
// MERGED-COUNT-1: call {{.*}}ptr @malloc(
// MERGED-NOT: call {{.*}}ptr @malloc(
// MERGED: ret ptr
extern "C" void *pick(bool hot, size_t n) {
    if (hot)
        return malloc(n);
    return malloc(3 * n);
}
