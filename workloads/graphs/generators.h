// Edge lists of synthetic graphs: each edge is a function of its number, so that they are the
// same for any number of threads.
#pragma once
#include "parallel.h"
#include <cstddef>
#include <memory>

namespace graphs {

using Vertex = uint32_t;
struct Edge {
    Vertex from, to;
};
struct EdgeList {
    std::unique_ptr<Edge[]> edges;
    size_t count = 0;
    const Edge *begin() const { return edges.get(); }
    const Edge *end() const { return edges.get() + count; }
};

inline uint64_t mix(uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// One of four quadrants for each bit of the vertices' numbers; the last has what is left of 1.
struct Quadrants {
    double a, b, c;
};

inline Edge recursive(uint64_t number, int scale, Quadrants q) {
    const double unit = 4294967296.0;
    const auto a = static_cast<uint32_t>(q.a * unit),
               ab = static_cast<uint32_t>((q.a + q.b) * unit),
               abc = static_cast<uint32_t>((q.a + q.b + q.c) * unit);
    Edge edge{0, 0};
    uint64_t draws = 0;
    for (int bit = 0; bit < scale; bit++) {
        draws = bit % 2 ? draws >> 32 : mix(number * 32 + static_cast<uint64_t>(bit));
        const auto draw = static_cast<uint32_t>(draws);
        edge.from = edge.from * 2 + (draw >= ab);
        edge.to = edge.to * 2 + ((draw >= a && draw < ab) || draw >= abc);
    }
    return edge;
}

// A permutation of the numbers below 2^scale, so that a vertex's number says nothing of its
// degree.
inline Vertex scramble(Vertex v, int scale) {
    const uint64_t mask = (uint64_t{1} << scale) - 1;
    uint64_t x = v;
    for (int round = 0; round < 3; round++) {
        x = (x * 0x9e3779b97f4a7c15u + 0x1234567) & mask; // odd: a bijection modulo 2^scale
        x ^= x >> (scale + 1) / 2;
    }
    return static_cast<Vertex>(x);
}

// Kronecker: Graph 500's and the GAP specification's probabilities, vertices permuted, 16 edges a
// vertex.
inline EdgeList kronecker(int scale) {
    EdgeList list;
    list.count = size_t{16} << scale;
    list.edges = std::make_unique_for_overwrite<Edge[]>(list.count);
#pragma omp parallel for
    for (size_t e = 0; e < list.count; e++) {
        const Edge edge = recursive(e, scale, {0.57, 0.19, 0.19});
        list.edges[e] = {scramble(edge.from, scale), scramble(edge.to, scale)};
    }
    return list;
}

// R-MAT as Ligra's inputs have it: less skewed, numbers as they come, 8 edges a vertex.
inline EdgeList rmat(int scale) {
    EdgeList list;
    list.count = size_t{8} << scale;
    list.edges = std::make_unique_for_overwrite<Edge[]>(list.count);
#pragma omp parallel for
    for (size_t e = 0; e < list.count; e++)
        list.edges[e] = recursive(~e, scale, {0.5, 0.1, 0.1});
    return list;
}

} // namespace graphs
