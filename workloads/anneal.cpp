// Placement of a netlist by simulated annealing (canneal-like).
//
// Elements are blocks of their own on the heap, each with the list of those that it is wired to.
// Two elements anywhere change places if that makes wires shorter, or now and then if not.
// Check: the wires' length, kept up to date swap by swap, is what it is when it is added up anew.
//
//   anneal [ELEMENTS [SWAPS]]
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Element {
    int32_t x = 0, y = 0;
    std::string name;
    std::vector<Element *> wired;
};

uint64_t mix(uint64_t i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29);
}

int64_t distance(const Element &a, const Element &b) {
    return std::abs(int64_t{a.x} - b.x) + std::abs(int64_t{a.y} - b.y);
}

// Of all its wires, if it were at that place.
int64_t length(const Element &element, int32_t x, int32_t y) {
    int64_t sum = 0;
    for (const Element *other : element.wired)
        sum += std::abs(int64_t{x} - other->x) + std::abs(int64_t{y} - other->y);
    return sum;
}

class Netlist {
  public:
    explicit Netlist(size_t elements) {
        const auto edge = static_cast<size_t>(std::ceil(std::sqrt(elements)));
        for (size_t i = 0; i < elements; i++) {
            element_.push_back(std::make_unique<Element>());
            element_[i]->x = static_cast<int32_t>(i % edge);
            element_[i]->y = static_cast<int32_t>(i / edge);
            element_[i]->name = "element-" + std::to_string(i) + "-of-the-netlist";
        }
        for (size_t i = 0; i < elements; i++)
            for (uint64_t wire = 0; wire < 3 + mix(i) % 3; wire++) { // most of them to neighbours
                const uint64_t draw = mix(i * 8 + wire + 99);
                const size_t to = draw % 4 ? (i + 1 + draw % 64) % elements : draw % elements;
                element_[i]->wired.push_back(element_[to].get());
                element_[to]->wired.push_back(element_[i].get());
            }
    }

    size_t size() const { return element_.size(); }

    int64_t wires() const { // each is in two lists
        int64_t sum = 0;
        for (const auto &each : element_)
            for (const Element *other : each->wired)
                sum += distance(*each, *other);
        return sum;
    }

    // By how much the wires' length changes; twice, as wires() counts.
    int64_t swap(uint64_t draw, double temperature) {
        Element &a = *element_[mix(draw * 3) % size()], &b = *element_[mix(draw * 3 + 1) % size()];
        if (&a == &b)
            return 0;
        const int64_t before = length(a, a.x, a.y) + length(b, b.x, b.y);
        std::swap(a.x, b.x);
        std::swap(a.y, b.y);
        const int64_t change = length(a, a.x, a.y) + length(b, b.x, b.y) - before;
        const double chance = std::exp(-static_cast<double>(change) / temperature);
        if (change <= 0 || static_cast<double>(mix(draw * 3 + 2) >> 11) * 0x1p-53 < chance) {
            taken_++;
            return 2 * change;
        }
        std::swap(a.x, b.x);
        std::swap(a.y, b.y);
        return 0;
    }
    uint64_t taken() const { return taken_; }

  private:
    std::vector<std::unique_ptr<Element>> element_;
    uint64_t taken_ = 0;
};

} // namespace

int main(int argc, char **argv) {
    long elements = argc > 1 ? std::atol(argv[1]) : 400000;
    long swaps = argc > 2 ? std::atol(argv[2]) : 200000;
    if (elements < 100 || elements > 100000000 || swaps < 1) {
        std::fprintf(stderr,
                     "usage: anneal [ELEMENTS [SWAPS]]: 100 <= ELEMENTS <= 1e8, SWAPS >= 1\n");
        return 2;
    }
    Netlist netlist(static_cast<size_t>(elements));
    int64_t wires = netlist.wires();
    double temperature = 100;
    auto start = std::chrono::steady_clock::now();
    for (long swap = 0; swap < swaps; swap++) {
        wires += netlist.swap(static_cast<uint64_t>(swap), temperature);
        if (swap % 10000 == 9999)
            temperature *= 0.9;
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const bool ok = wires == netlist.wires();
    std::printf("check: length of wires %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %lld\n", static_cast<long long>(wires + netlist.taken()));
    std::printf("metric: %.4g swaps/s\n", static_cast<double>(swaps) / took.count());
    return ok ? 0 : 1;
}
