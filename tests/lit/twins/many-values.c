// Where versions meet every value that lives needs phis: a row of loop nests with very many values
// has few places to change over, and its twin stays within a small multiple of what it would be.
// RUN: %options="module=x" %clang -O1 -g1 -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin -Wl,--lto-emit-llvm %s -o %t.bc
// RUN: llvm-dis-22 %t.bc -o - | sed -n '/^define.*@work.twin/,/^}/p' > %t.ll
// RUN: grep -c ' phi ' %t.ll | FileCheck %s
// RUN: grep -c 'call.*tc_recorder_enter' %t.ll | FileCheck %s --check-prefix=PLACES
// Thousands without a limit: 40 loops of more than 200 values.
// CHECK: {{^[0-9]{1,4}$}}
// PLACES: {{^[1-9]$|^[12][0-9]$}}
#define TEN(one, n) one(n##0) one(n##1) one(n##2) one(n##3) one(n##4) one(n##5) one(n##6) one(n##7) one(n##8) one(n##9)
#define ALL(one) TEN(one, 1) TEN(one, 2) TEN(one, 3) TEN(one, 4) TEN(one, 5) TEN(one, 6) TEN(one, 7) TEN(one, 8) TEN(one, 9)
#define VALUE(n) long v##n = data[n], w##n = data[n + 100], u##n = data[n + 200];
#define LOOP(n) for (long i = 0; i < v##n; i++) data[i] += w##n;
#define USE(n) sum += v##n * w##n * u##n;

long work(long *data) {
    long sum = 0;
    ALL(VALUE)
    TEN(LOOP, 1) TEN(LOOP, 2) TEN(LOOP, 3) TEN(LOOP, 4)
    ALL(USE)
    return sum;
}

int main(void) {
    static long data[1000];
    return (int)work(data);
}
