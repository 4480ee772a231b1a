// A program whose twins change over at random computes what it always does: exceptions, setjmp,
// computed goto, variable-length arrays, vectors, by-value arguments, irreducible loops, tail
// calls, threads.
// RUN: %clang -O1 -c -I%S/../../../runtime %S/../Inputs/flip.c -o %t.flip.o
// RUN: %clangxx -O1 %s -o %t.plain -lpthread
// RUN: %t.plain > %t.wanted
// RUN: printf 'thermocline-config 1\nheap sites\nsampler trace\ncache 1 bytes 4096 ways 4 line 64 private\ncache 2 bytes 65536 ways 8 line 64 shared\n' > %t.config
// RUN: %options="module=x" %clangxx -O0 -g1 -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin %s %t.flip.o %runtime -o %t.0 -lpthread
// RUN: %options="module=x" %clangxx -O2 -g1 -flto -fuse-ld=lld -Wl,--load-pass-plugin=%plugin %s %t.flip.o %runtime -o %t.2 -lpthread
// RUN: env THERMOCLINE_CONFIG=%t.config %t.0 > %t.out.0 2> %t.err.0
// RUN: env THERMOCLINE_CONFIG=%t.config %t.2 > %t.out.2 2> %t.err.2
// RUN: diff %t.wanted %t.out.0
// RUN: diff %t.wanted %t.out.2
// RUN: cat %t.err.0 %t.err.2 | FileCheck %s
// CHECK-NOT: thermocline:
// CHECK: flipped
#include <csetjmp>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Numbers = std::vector<uint64_t>;
constexpr unsigned n = 4000;

struct Fault : std::runtime_error {
    uint64_t at;
    explicit Fault(uint64_t at) : std::runtime_error("fault"), at(at) {}
};

struct Sum {
    uint64_t &to, value;
    ~Sum() { to += value; }
};

[[gnu::noinline]] uint64_t throws(const Numbers &numbers, uint64_t from) {
    for (uint64_t i = from; i < numbers.size(); i++)
        if (numbers[i] % 97 == 5)
            throw Fault(i);
    return 1;
}

[[gnu::noinline]] uint64_t catches(const Numbers &numbers) {
    uint64_t sum = 0, from = 0;
    for (;;) {
        Sum later{sum, from};
        try {
            return sum + throws(numbers, from);
        } catch (const Fault &fault) {
            sum = sum * 31 + fault.at;
            from = fault.at + 1;
        }
    }
}

std::jmp_buf back;
[[gnu::noinline]] void jumps(const Numbers &numbers, uint64_t from) {
    for (uint64_t i = from; i < numbers.size(); i++)
        if (numbers[i] % 61 == 7)
            std::longjmp(back, int(i + 1));
}
[[gnu::noinline]] uint64_t returns_twice(const Numbers &numbers) {
    volatile uint64_t sum = 0, from = 0;
    if (int at = setjmp(back)) {
        sum = sum * 31 + uint64_t(at);
        from = uint64_t(at);
    }
    jumps(numbers, from);
    return sum;
}

[[gnu::noinline]] uint64_t interprets(const unsigned char *code, uint64_t steps) {
    static const void *const labels[] = {&&add, &&shift, &&store, &&end};
    uint64_t value = 1, slots[8] = {};
    for (uint64_t i = 0; i < steps; i++) {
        goto *labels[code[i % 16]];
    add:
        value += i;
        continue;
    shift:
        value = value << 3 | value >> 61;
        continue;
    store:
        slots[i % 8] ^= value;
        continue;
    end:
        value ^= slots[(i + 3) % 8];
    }
    return value;
}

[[gnu::noinline]] uint64_t variable(const Numbers &numbers, unsigned rows) {
    uint64_t sum = 0;
    for (unsigned row = 1; row < rows; row++) {
        auto *array = static_cast<uint32_t *>(__builtin_alloca(row * sizeof(uint32_t)));
        for (unsigned i = 0; i < row; i++)
            array[i] = uint32_t(numbers[(row * i) % n]);
        for (unsigned i = row; i-- > 0;)
            sum = sum * 3 + array[i];
    }
    return sum;
}

// Vectorised, with a remainder.
[[gnu::noinline]] double adds(double *to, const double *from, unsigned count) {
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        to[i] = to[i] * 0.5 + from[i];
    for (unsigned i = 0; i < count; i += 7)
        sum += to[i];
    return sum;
}

struct Large {
    uint64_t words[20];
};
[[gnu::noinline]] uint64_t by_value(Large large, unsigned depth) {
    for (uint64_t &word : large.words)
        word = word * 7 + depth;
    return depth ? by_value(large, depth - 1) + large.words[depth % 20] : large.words[3];
}

// Two ways into one loop.
[[gnu::noinline]] uint64_t irreducible(const Numbers &numbers, bool second) {
    uint64_t sum = 0, i = 0;
    if (second)
        goto middle;
top:
    sum += numbers[i % n];
middle:
    sum = sum * 5 + numbers[(i * 3) % n];
    if (++i < 3 * n)
        goto top;
    return sum;
}

[[gnu::noinline]] uint64_t varies(unsigned count, ...) {
    va_list list;
    va_start(list, count);
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum = sum * 11 + va_arg(list, uint64_t);
    va_end(list);
    return sum;
}

// So deep that the stack holds it only if the call is a jump.
[[gnu::noinline]] uint64_t tail(const Numbers &numbers, uint64_t left, uint64_t sum) {
    if (!left)
        return sum;
    [[clang::musttail]] return tail(numbers, left - 1, sum * 3 + numbers[left % n]);
}

struct Node {
    Node *next;
    uint64_t value;
};
[[gnu::noinline]] uint64_t follows(const Node *node) {
    uint64_t sum = 0;
    for (; node; node = node->next)
        sum = sum * 7 + node->value;
    return sum;
}

uint64_t all(uint64_t seed) {
    Numbers numbers(n);
    for (uint64_t &number : numbers)
        number = (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 20;
    std::vector<Node> nodes(n);
    for (unsigned i = 0; i + 1 < n; i++)
        nodes[i * 7 % n] = {&nodes[(i + 1) * 7 % n], numbers[i]};
    nodes[(n - 1) * 7 % n] = {nullptr, 1};
    const unsigned char code[16] = {0, 1, 2, 0, 3, 1, 1, 2, 0, 0, 2, 3, 1, 2, 0, 3};
    std::vector<double> a(n + 3), b(n + 3, 1.5);
    Large large{};
    std::string text;
    for (unsigned i = 0; i < 200; i++)
        text += std::to_string(numbers[i]);
    uint64_t sum = catches(numbers);
    sum = sum * 31 + interprets(code, 5 * n);
    sum = sum * 31 + variable(numbers, 90);
    sum = sum * 31 + uint64_t(adds(a.data() + 1, b.data() + 2, n - 1) * 1000);
    sum = sum * 31 + by_value(large, 60);
    sum = sum * 31 + irreducible(numbers, seed & 1);
    sum = sum * 31 + varies(4, numbers[0], numbers[1], numbers[2], numbers[3]);
    sum = sum * 31 + tail(numbers, 300000, 1);
    sum = sum * 31 + follows(&nodes[0]);
    sum = sum * 31 + text.size();
    for (char c : text)
        sum = sum * 31 + static_cast<unsigned char>(c);
    return sum;
}

} // namespace

int main() {
    uint64_t results[3] = {};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; t++)
        threads.emplace_back([&results, t] {
            for (unsigned i = 0; i < 12; i++)
                results[t] = results[t] * 31 + all(t * 100 + i);
        });
    for (std::thread &thread : threads)
        thread.join();
    Numbers numbers(n);
    for (unsigned i = 0; i < n; i++)
        numbers[i] = i * 2654435761u;
    for (unsigned i = 0; i < 20; i++)
        std::printf("%llu\n", static_cast<unsigned long long>(returns_twice(numbers)));
    for (uint64_t result : results)
        std::printf("%llu\n", static_cast<unsigned long long>(result));
}
