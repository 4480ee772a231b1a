// References as programs make them, seeded: streams, a stencil, a gather, a pointer chase, and
// a mix of loops, branches and calls.  With the tables that describe them.
#pragma once
#include "simulator/trace/tables.h"
#include <random>

namespace generate {

using thermocline::Reference;
using thermocline::StaticRow;
using thermocline::TraceEvent;
using Random = std::mt19937_64;

struct Program {
    std::vector<StaticRow> statics;
    std::vector<std::string> owners, functions;
    std::vector<std::vector<Reference>> threads;
};

// Builds a program's references in order; statics get their rows when they are first named.
class Maker {
  public:
    explicit Maker(Program &program) : program_(program) {
        program_.owners = {"(other)", "(stack)", "(globals)"};
    }
    uint32_t array(const std::string &name) {
        program_.owners.push_back("demo!" + name +
                                  "@src/demo.c:" + std::to_string(program_.owners.size()) + ":3");
        return uint32_t(program_.owners.size() - 1);
    }
    uint32_t load(uint32_t bytes, std::vector<uint32_t> producers = {}) {
        return instruction(bytes, false, std::move(producers));
    }
    uint32_t store(uint32_t bytes, std::vector<uint32_t> producers = {}) {
        return instruction(bytes, true, std::move(producers));
    }
    void thread() { program_.threads.emplace_back(); }
    void touch(uint32_t instruction, uint64_t address, uint32_t owner, uint32_t gap) {
        const StaticRow &row = program_.statics[instruction];
        program_.threads.back().push_back(
            {address, instruction, owner, gap, row.bytes, TraceEvent::reference, row.store});
    }
    size_t size() const { return program_.threads.back().size(); }

  private:
    uint32_t instruction(uint32_t bytes, bool store, std::vector<uint32_t> producers) {
        const auto number = uint32_t(program_.statics.size());
        program_.statics.push_back({bytes, store, std::move(producers),
                                    "src/demo.c:" + std::to_string(10 + number) + " kernel"});
        return number;
    }
    Program &program_;
};

constexpr uint64_t heap = 0x7f0000000000;

// a[i] = b[i] + s * c[i], again and again.
inline Program stream(size_t references, uint64_t) {
    Program p;
    Maker m(p);
    const uint32_t a = m.array("a"), b = m.array("b"), c = m.array("c");
    const uint32_t lb = m.load(8), lc = m.load(8), sa = m.store(8);
    m.thread();
    const uint64_t n = 1 << 21;
    for (uint64_t i = 0; m.size() < references; i = (i + 1) % n) {
        m.touch(lb, heap + 8 * (n + i), b, 1);
        m.touch(lc, heap + 8 * (2 * n + i), c, 0);
        m.touch(sa, heap + 8 * i, a, 3);
    }
    return p;
}

// Seven points in three dimensions, rows of 100.
inline Program stencil(size_t references, uint64_t) {
    Program p;
    Maker m(p);
    const uint32_t from = m.array("from"), to = m.array("to");
    std::vector<uint32_t> loads;
    for (int i = 0; i < 7; i++)
        loads.push_back(m.load(8));
    const uint32_t st = m.store(8);
    m.thread();
    const int64_t nx = 100, ny = 100, nz = 100;
    const int64_t offsets[7] = {0, -1, 1, -nx, nx, -nx * ny, nx * ny};
    for (int64_t z = 1; m.size() < references; z = z % (nz - 2) + 1)
        for (int64_t y = 1; y < ny - 1; y++)
            for (int64_t x = 1; x < nx - 1; x++) {
                const int64_t at = x + nx * (y + ny * z);
                for (int i = 0; i < 7; i++)
                    m.touch(loads[i], heap + 8 * uint64_t(at + offsets[i]), from, i ? 1 : 4);
                m.touch(st, heap + (64 << 20) + 8 * uint64_t(at), to, 2);
            }
    return p;
}

// sum += t[index[i]], t of 256 MiB.
inline Program gather(size_t references, uint64_t seed) {
    Program p;
    Maker m(p);
    Random random(seed);
    const uint32_t index = m.array("index"), t = m.array("t");
    const uint32_t li = m.load(4), lt = m.load(8, {li});
    m.thread();
    for (uint64_t i = 0; m.size() < references; i++) {
        m.touch(li, heap + 4 * i, index, 2);
        m.touch(lt, heap + (1ull << 32) + 8 * (random() % (32 << 20)), t, 0);
    }
    return p;
}

// Nodes of 48 bytes in a list in random order: two fields and the next one's address.
inline Program chase(size_t references, uint64_t seed) {
    Program p;
    Maker m(p);
    Random random(seed);
    const uint32_t nodes = m.array("node");
    const uint32_t next = m.load(8);
    p.statics[next].producers = {next};
    const uint32_t key = m.load(4, {next}), value = m.load(8, {next}), count = m.store(8, {next});
    m.thread();
    while (m.size() < references) {
        const uint64_t node = heap + 48 * (random() % (4 << 20));
        m.touch(key, node + 8, nodes, 2);
        m.touch(value, node + 16, nodes, 1);
        if (random() % 4 == 0)
            m.touch(count, node + 24, nodes, 2);
        m.touch(next, node, nodes, 1);
    }
    return p;
}

// An interpreter-like mix: many instructions in unforeseen order, on a stack, small tables
// and objects of many sites.
inline Program mix(size_t references, uint64_t seed) {
    Program p;
    Maker m(p);
    Random random(seed);
    std::vector<uint32_t> sites;
    for (int i = 0; i < 40; i++)
        sites.push_back(m.array("object" + std::to_string(i)));
    struct Operation {
        std::vector<uint32_t> instructions;
        uint32_t gap;
    };
    std::vector<Operation> operations(64);
    for (Operation &operation : operations) {
        const uint32_t first = m.load(8);
        operation = {{first}, uint32_t(random() % 12)};
        for (uint64_t i = random() % 6; i > 0; i--)
            operation.instructions.push_back(random() % 3 ? m.load(8, {first})
                                                          : m.store(4, {first}));
    }
    m.thread();
    uint64_t stack = 0x7ffc00000000;
    while (m.size() < references) {
        const Operation &operation = operations[std::min<uint64_t>(random() % operations.size(),
                                                                   random() % operations.size())];
        stack += 16 * (random() % 3) - 16;
        const uint64_t site = std::min(random() % sites.size(), random() % sites.size());
        const uint64_t object = heap + (site << 24) + 64 * (random() % 20000);
        bool first = true;
        for (uint32_t instruction : operation.instructions) {
            if (first)
                m.touch(instruction, stack, 1, operation.gap);
            else
                m.touch(instruction, object + 8 * (instruction % 8), sites[site], 1);
            first = false;
        }
    }
    return p;
}

struct Kind {
    const char *name;
    Program (*make)(size_t references, uint64_t seed);
};
constexpr Kind kinds[] = {
    {"stream", stream}, {"stencil", stencil}, {"gather", gather}, {"chase", chase}, {"mix", mix}};

} // namespace generate
