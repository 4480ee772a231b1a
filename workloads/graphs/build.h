// From an edge list to compressed rows: both directions of each edge, neighbours sorted, without
// loops and repetitions.
#pragma once
#include "graph.h"

namespace graphs {

namespace building {

// Memory is on the socket of who touches it first: so each part's threads touch its array.
template <typename T> void touch(T *array, size_t count, size_t number, size_t parts) {
    constexpr size_t step = 4096 / sizeof(T);
    if (parts == 1)
        return; // whoever comes first
#pragma omp parallel
    {
        const size_t self = static_cast<size_t>(thread()), all = static_cast<size_t>(team());
        const size_t first = (number * all + parts - 1) / parts;
        const size_t last = ((number + 1) * all + parts - 1) / parts;
        // Fewer threads than parts: the only one that there is.
        const bool mine =
            first == last ? self == std::min(first, all - 1) : self >= first && self < last;
        const size_t sharing = std::max<size_t>(1, last - first);
        const size_t turn = first == last ? 0 : self - first;
        if (mine)
            for (size_t at = count * turn / sharing; at < count * (turn + 1) / sharing; at += step)
                array[at] = 0;
    }
}

// start[v + 1] of the part's vertices, counting repetitions.
inline void countDegrees(const EdgeList &list, Part &part) {
    uint64_t *degree = part.start.get() + 1;
#pragma omp parallel for
    for (size_t e = 0; e < list.count; e++) {
        const auto [a, b] = list.edges[e];
        if (a == b)
            continue;
        if (a - part.first < part.count)
            add(degree[a - part.first], uint64_t{1});
        if (b - part.first < part.count)
            add(degree[b - part.first], uint64_t{1});
    }
}

// Writes the neighbours of vertices [first, first + count) to `to`, at next[v - first] on.
inline void scatter(const EdgeList &list, Vertex first, Vertex count, uint64_t *next, Vertex *to) {
#pragma omp parallel for
    for (size_t e = 0; e < list.count; e++) {
        const auto [a, b] = list.edges[e];
        if (a == b)
            continue;
        if (a - first < count)
            to[add(next[a - first], uint64_t{1})] = b;
        if (b - first < count)
            to[add(next[b - first], uint64_t{1})] = a;
    }
}

// Sorts rows in place and drops repetitions; the new length of row v goes to length[v].
inline void sortRows(const uint64_t *start, Vertex count, Vertex *rows, uint64_t *length) {
    const uint64_t base = start[0];
#pragma omp parallel for schedule(dynamic, 64)
    for (Vertex v = 0; v < count; v++) {
        Vertex *row = rows + (start[v] - base), *end = rows + (start[v + 1] - base);
        std::sort(row, end);
        length[v] = static_cast<uint64_t>(std::unique(row, end) - row);
    }
}

// The sorted rows without the gaps between them, to `out` at newStart[v].
inline void copyRows(const uint64_t *start, const uint64_t *newStart, Vertex count,
                     const Vertex *rows, Vertex *out) {
    const uint64_t base = start[0];
#pragma omp parallel for schedule(dynamic, 1024)
    for (Vertex v = 0; v < count; v++)
        std::copy_n(rows + (start[v] - base), newStart[v + 1] - newStart[v], out + newStart[v]);
}

// newStart[1 ...] from the lengths that are there.
inline void sumUp(uint64_t *start, Vertex count) {
    for (Vertex v = 0; v < count; v++)
        start[v + 1] += start[v];
}

// Rows [first, first + count) of the part: scattered and sorted in `rows`, lengths to newStart.
inline void makeRows(const EdgeList &list, const Part &part, Vertex first, Vertex count,
                     Vertex *rows, uint64_t *newStart) {
    const uint64_t *start = part.start.get() + first;
    std::vector<uint64_t> next(count);
    for (Vertex v = 0; v < count; v++)
        next[v] = start[v] - start[0];
    scatter(list, part.first + first, count, next.data(), rows);
    sortRows(start, count, rows, newStart + first + 1);
}

// How many rows from `first` on fit into the stage; one at least.
inline Vertex fitting(const Part &part, Vertex first, size_t entries) {
    const uint64_t *start = part.start.get(), *end = start + part.count;
    const uint64_t *over = std::upper_bound(start + first + 1, end + 1, start[first] + entries);
    return std::max<Vertex>(1, static_cast<Vertex>(over - 1 - (start + first)));
}

// In the memory where the edges stay: written at random, sorted there, compacted.
inline void fillInPlace(const EdgeList &list, Part &part, size_t number, size_t parts) {
    auto rows = std::make_unique_for_overwrite<Vertex[]>(part.start[part.count]);
    auto start = std::make_unique<uint64_t[]>(part.count + 1);
    makeRows(list, part, 0, part.count, rows.get(), start.get());
    sumUp(start.get(), part.count);
    part.neighbour = std::make_unique_for_overwrite<Vertex[]>(start[part.count]);
    touch(part.neighbour.get(), start[part.count], number, parts);
    copyRows(part.start.get(), start.get(), part.count, rows.get(), part.neighbour.get());
    part.start = std::move(start);
}

// In a stage, a batch of rows at a time; the edges are read once for each batch.
inline void fillStaged(const EdgeList &list, Part &part, size_t number, size_t parts,
                       size_t entries) {
    uint64_t largest = 0;
    for (Vertex v = 0; v < part.count; v++)
        largest = std::max(largest, part.start[v + 1] - part.start[v]);
    auto stage = std::make_unique_for_overwrite<Vertex[]>(std::max<size_t>(entries, largest));
    auto start = std::make_unique<uint64_t[]>(part.count + 1);
    // What repetitions leave over at the end is never written.
    part.neighbour = std::make_unique_for_overwrite<Vertex[]>(part.start[part.count]);
    touch(part.neighbour.get(), part.start[part.count], number, parts);
    for (Vertex first = 0, count; first < part.count; first += count) {
        count = fitting(part, first, entries);
        makeRows(list, part, first, count, stage.get(), start.get());
        sumUp(start.get() + first, count);
        copyRows(part.start.get() + first, start.get() + first, count, stage.get(),
                 part.neighbour.get());
    }
    part.start = std::move(start);
}

} // namespace building

inline Graph build(const EdgeList &list, int scale, const Advice &advice) {
    Graph graph;
    graph.vertices = Vertex{1} << scale;
    graph.parts.resize(advice.parts);
    const Vertex count = graph.vertices / advice.parts;
    graph.shift = __builtin_ctz(count);
    for (unsigned number = 0; number < advice.parts; number++) {
        Part &part = graph.parts[number];
        part.first = number * count;
        part.count = count;
        part.start = std::make_unique<uint64_t[]>(count + 1);
        building::countDegrees(list, part);
        building::sumUp(part.start.get(), count);
        if (advice.staged)
            building::fillStaged(list, part, number, advice.parts, advice.staged);
        else
            building::fillInPlace(list, part, number, advice.parts);
    }
    return graph;
}

} // namespace graphs
