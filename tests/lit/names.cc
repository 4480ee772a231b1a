// A function's name is the same with full debug information and with the
// locations alone that the wrappers ask for.
// RUN: %options="module=x;context=1;twins=off" %clangxx -g -O1 %s %link -o %t.g
// RUN: %options="module=x;context=1;twins=off" %clangxx -Rpass=^$ -fdebug-info-for-profiling -O1 %s %link -o %t.l
// RUN: env KEYS=1 %t.g 2> %t.g.keys
// RUN: env KEYS=1 %t.l 2> %t.l.keys
// RUN: FileCheck %s < %t.g.keys
// RUN: cmp %t.g.keys %t.l.keys
#include <cstdlib>
#include <vector>

#define NOINLINE __attribute__((noinline))
static void *volatile sink;

namespace space {
template <class T> struct Box {
    NOINLINE void grow(int n) { sink = malloc(n * sizeof(T)); }
    struct Inner {
        static NOINLINE void fill() { sink = malloc(1); }
    };
};
namespace {
NOINLINE void hidden() { sink = malloc(2); }
} // namespace
} // namespace space

template <int N> NOINLINE void sized() { sink = malloc(N); }

struct Callable {
    NOINLINE void operator()(int n) { sink = malloc(n); }
    NOINLINE operator int() { return (sink = malloc(3)) != nullptr; }
};

extern "C" NOINLINE void plain() { sink = malloc(4); }

int main() {
    // CHECK: x!space::Box<std::vector<int,_std::allocator<int>>>::grow@{{.*}} < main@
    space::Box<std::vector<int>>().grow(1);
    // CHECK-NEXT: x!space::Box<int>::Inner::fill@
    space::Box<int>::Inner::fill();
    // CHECK-NEXT: x!space::(anonymous_namespace)::hidden@
    space::hidden();
    // One position, two instantiations.
    // CHECK-NEXT: x!sized<4>@
    sized<4>();
    // CHECK-NEXT: x!sized<5>@
    sized<5>();
    Callable callable;
    // CHECK-NEXT: x!Callable::operator()@
    callable(6);
    // CHECK-NEXT: x!Callable::operator_int@
    (void)static_cast<int>(callable);
    // CHECK-NEXT: x!plain@
    plain();
}
