// An undirected graph in compressed sparse rows, in one part or in one for each socket.
//
// A part holds a range of vertices with their neighbours, in arrays of its own that its threads
// touch first.  Threads are dealt to the parts, and go on with other parts' vertices when their
// own are done.
#pragma once
#include "generators.h"
#include <algorithm>
#include <vector>

namespace graphs {

struct Part {
    Vertex first = 0, count = 0;
    std::unique_ptr<uint64_t[]> start;
    std::unique_ptr<Vertex[]> neighbour;
};

class Graph {
  public:
    Vertex vertices = 0;
    std::vector<Part> parts;
    int shift = 0; // a vertex's number >> shift is its part

    const Vertex *begin(Vertex v) const {
        const Part &part = parts[v >> shift];
        return part.neighbour.get() + part.start[v - part.first];
    }
    const Vertex *end(Vertex v) const {
        const Part &part = parts[v >> shift];
        return part.neighbour.get() + part.start[v - part.first + 1];
    }
    uint64_t degree(Vertex v) const {
        const Part &part = parts[v >> shift];
        return part.start[v - part.first + 1] - part.start[v - part.first];
    }
    uint64_t directedEdges() const {
        uint64_t sum = 0;
        for (const Part &part : parts)
            sum += part.start[part.count];
        return sum;
    }
    struct Range {
        const Vertex *from, *to;
        const Vertex *begin() const { return from; }
        const Vertex *end() const { return to; }
    };
    Range operator[](Vertex v) const { return {begin(v), end(v)}; }
};

// visit(v) for all vertices, by all threads, each beginning with its part's.
template <typename Visit> void forVertices(const Graph &graph, Visit visit) {
    constexpr uint64_t chunk = 1024;
    const size_t parts = graph.parts.size();
    struct alignas(64) Counter {
        uint64_t next = 0;
    };
    std::vector<Counter> counters(parts);
#pragma omp parallel
    {
        const size_t own = static_cast<size_t>(thread()) * parts / static_cast<size_t>(team());
        for (size_t turn = 0; turn < parts; turn++) {
            const size_t number = (own + turn) % parts;
            const Part &part = graph.parts[number];
            for (uint64_t at; (at = add(counters[number].next, chunk)) < part.count;)
                for (uint64_t v = at; v < std::min<uint64_t>(at + chunk, part.count); v++)
                    visit(static_cast<Vertex>(part.first + v));
        }
    }
}

struct Advice {
    unsigned parts = 1; // a power of two: one for each socket
    // Peng et al. 2019, section 4.4: sort edges in a buffer of so many entries, which lies in fast
    // memory, and write them to where they stay once and in order.  0: sort them where they lie.
    size_t staged = 0;
};

} // namespace graphs
