// Regions, tasks and threads have the context of the place that made them; keys
// are the same with full debug information and with line tables only.
// RUN: %options="module=x;context=2;twins=off" %clang -fopenmp -g -O2 %s %link -o %t.g
// RUN: %options="module=x;context=2;twins=off" %clang -fopenmp -g1 -O0 %s %link -o %t.g1
// RUN: env KEYS=1 OMP_NUM_THREADS=1 %t.g 2>&1 | FileCheck %s
// RUN: env KEYS=1 OMP_NUM_THREADS=1 %t.g1 2>&1 | FileCheck %s
#include <pthread.h>
#include <stdlib.h>

static void *volatile sink;
__attribute__((noinline)) static void get(int n) { sink = malloc(n); }

static void *thread(void *argument) {
    get(1);
    return argument;
}

__attribute__((noinline)) static void region(int n) {
#pragma omp parallel
    get(n);
}

int main(void) {
    // CHECK: x!get@{{.*}} < region.omp_outlined@{{.*}}:20:5 < region@{{.*}}:19:1
    region(1);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
        // CHECK-NEXT: x!get@{{.*}} < .omp_outlined.@{{.*}}:[[#@LINE+1]]:9 < main.omp_outlined@{{.*}}:[[#@LINE-1]]:1
        get(2);
    }
    pthread_t id;
    // CHECK-NEXT: x!get@{{.*}} < thread@{{.*}}:14:5 < main@{{.*}}:[[#@LINE+1]]:5
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    return 0;
}
