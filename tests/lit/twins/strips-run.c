// A program's traffic is the same whether loops are recorded as a whole or reference by
// reference.
// RUN: %options="module=x;strips=on" %clang -O2 -g1 -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin %s %runtime -o %t.on
// RUN: %options="module=x" %clang -O2 -g1 -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin %s %runtime -o %t.off
// RUN: %python %S/../Inputs/traffic.py %t.scratch.on %t.on > %t.on.txt
// RUN: %python %S/../Inputs/traffic.py %t.scratch.off %t.off > %t.off.txt
// RUN: diff %t.on.txt %t.off.txt
// RUN: FileCheck %s < %t.on.txt
// RUN: llvm-nm %t.on | FileCheck --check-prefix=ON %s
// RUN: llvm-nm %t.off | FileCheck --check-prefix=OFF %s
// ON: U tc_record_strip
// OFF-NOT: tc_record_strip
#include <stdlib.h>

enum { n = 203 };
struct point {
    double x, y, z;
};

// Sides next to each other, above and below, and a row that several iterations are in.
__attribute__((noinline)) static void smooth(double *to, const double *from) {
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            to[i * n + j] = 0.25 * (from[i * n + j - 1] + from[i * n + j + 1] +
                                    from[(i - 1) * n + j] + from[(i + 1) * n + j]);
}

__attribute__((noinline)) static void transpose(double *a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double t = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = t;
        }
}

__attribute__((noinline)) static void reverse(float *to, const double *from, int count) {
    for (int i = 0; i < count; i++)
        to[i] = (float)from[count - 1 - i];
}

__attribute__((noinline)) static double move(struct point *p, int count, double *hits) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
        p[i].x += p[i].z;
        *hits += p[i].x;
        sum += p[i].z;
    }
    return sum;
}

// Known only when it runs: whether the loop refers to `extra`, and how far apart.
__attribute__((noinline)) static void sometimes(double *a, const double *extra, int count,
                                                long step, int both) {
    for (int i = 0; i < count; i++) {
        if (both)
            a[i * step] += extra[i];
        a[i * step + 1] *= 0.5;
    }
}

int main(void) {
    // CHECK-DAG: x!main@{{.*}}:[[#@LINE+1]]:{{[0-9]+}} loads={{[1-9][0-9]*}} stores={{[1-9][0-9]*}} read_bytes={{[1-9][0-9]*}} write_bytes={{[1-9][0-9]*}}
    double *a = malloc(n * n * sizeof *a);
    // CHECK-DAG: x!main@{{.*}}:[[#@LINE+1]]:{{[0-9]+}} loads={{[1-9][0-9]*}} stores={{[1-9][0-9]*}} read_bytes={{[1-9][0-9]*}} write_bytes={{[1-9][0-9]*}}
    double *b = malloc(n * n * sizeof *b);
    float *c = malloc(n * n * sizeof *c);
    // CHECK-DAG: x!main@{{.*}}:[[#@LINE+1]]:{{[0-9]+}} loads={{[1-9][0-9]*}} stores={{[1-9][0-9]*}} read_bytes={{[1-9][0-9]*}} write_bytes={{[1-9][0-9]*}}
    struct point *p = malloc(n * sizeof *p);
    double *hits = calloc(1, sizeof *hits);
    for (int i = 0; i < n * n; i++)
        a[i] = b[i] = i;
    for (int i = 0; i < n; i++)
        p[i] = (struct point){i, 0, i};
    double sum = 0;
    for (int round = 0; round < 5; round++) {
        smooth(b, a);
        transpose(b);
        smooth(a, b);
        reverse(c, a, n * n - 7 * round);
        for (int count = 0; count < 20; count++)
            reverse(c + 3 * count, a + count, count);
        sum += move(p, n - round, hits) + c[round];
        sometimes(a, b, n, 1 + round * 30, round & 1);
        sometimes(a + n * n - 2, b, n, -round * 30 - 1, round & 2);
    }
    return !(sum + *hits > 0);
}
