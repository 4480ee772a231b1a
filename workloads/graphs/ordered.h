// The graph with one direction of each edge, for counting triangles.
#pragma once
#include "graph.h"
#include <functional>

namespace graphs {

// Each vertex's neighbours of higher degree, by new numbers: highest degree first.
struct Ordered {
    std::vector<Vertex> number; // of a vertex
    std::vector<uint64_t> start;
    std::unique_ptr<Vertex[]> neighbour;
    const Vertex *begin(Vertex n) const { return neighbour.get() + start[n]; }
    const Vertex *end(Vertex n) const { return neighbour.get() + start[n + 1]; }
};

inline Ordered byDegree(const Graph &graph) {
    std::vector<std::pair<uint64_t, Vertex>> order(graph.vertices);
    Ordered rows;
    std::vector<Vertex> &number = rows.number;
    number.resize(graph.vertices);
#pragma omp parallel for
    for (Vertex v = 0; v < graph.vertices; v++)
        order[v] = {graph.degree(v), v};
    std::sort(order.begin(), order.end(), std::greater<>());
#pragma omp parallel for
    for (Vertex n = 0; n < graph.vertices; n++)
        number[order[n].second] = n;
    rows.start.assign(graph.vertices + 1, 0);
#pragma omp parallel for schedule(dynamic, 256)
    for (Vertex n = 0; n < graph.vertices; n++)
        for (Vertex w : graph[order[n].second])
            rows.start[n + 1] += number[w] < n;
    for (Vertex n = 0; n < graph.vertices; n++)
        rows.start[n + 1] += rows.start[n];
    rows.neighbour = std::make_unique_for_overwrite<Vertex[]>(rows.start[graph.vertices]);
#pragma omp parallel for schedule(dynamic, 256)
    for (Vertex n = 0; n < graph.vertices; n++) {
        Vertex *to = rows.neighbour.get() + rows.start[n];
        for (Vertex w : graph[order[n].second])
            if (number[w] < n)
                *to++ = number[w];
        std::sort(rows.neighbour.get() + rows.start[n], to);
    }
    return rows;
}

// How many two sorted lists have in common.
inline uint64_t common(const Vertex *a, const Vertex *aEnd, const Vertex *b, const Vertex *bEnd) {
    uint64_t count = 0;
    while (a != aEnd && b != bEnd) {
        const Vertex x = *a, y = *b;
        count += x == y;
        a += x <= y;
        b += y <= x;
    }
    return count;
}

} // namespace graphs
