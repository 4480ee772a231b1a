// A container's growth is told apart by who uses it, though its code is the
// library's, and at N = 0 too.
// RUN: %options="module=x;context=0;twins=off" %clangxx -g -O1 %s %link -o %t
// RUN: env KEYS=1 %t 2>&1 | FileCheck %s
// RUN: %clangxx -O1 %s -o %t.plain
// RUN: %t.plain > %t.1
// RUN: %t > %t.2
// RUN: cmp %t.1 %t.2
#include <cstdio>
#include <map>
#include <string>
#include <vector>

__attribute__((noinline)) static void fill(std::vector<int> &values, int count) {
    for (int i = 0; i < count; i++)
        values.push_back(i); // FILL
}

// CHECK: operator new x!__cxx_global_var_init@lit/library-headers.cc:[[#@LINE+1]]:
static std::vector<int> global(100);

// CHECK: operator new x!fill@lit/library-headers.cc:[[#@LINE-6]]:16
int main(int argc, char **argv) {
    std::vector<int> values;
    fill(values, 1);
    // The same instantiation of the growth function from another place.
    // CHECK-NEXT: operator new x!main@lit/library-headers.cc:[[#@LINE+1]]:
    values.push_back(2);
    std::map<int, std::string> names;
    // CHECK-NEXT: operator new x!main@lit/library-headers.cc:[[#@LINE+1]]:
    names[argc] = "short";
    // CHECK: {{^}}3 1 100 5
    printf("%zu %d %zu %zu\n", values.size() + 1, argc, global.size(), names[argc].size());
    return argv == nullptr;
}
