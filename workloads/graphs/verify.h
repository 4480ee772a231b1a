// Whether results are right, found out in other ways than the kernels': serially and simply.
#pragma once
#include "graph.h"
#include <cmath>
#include <numeric>

namespace graphs {

constexpr Vertex none = ~Vertex{0};

// Distance from the source; -1: not reached.
inline std::vector<int32_t> levels(const Graph &graph, Vertex source) {
    std::vector<int32_t> level(graph.vertices, -1);
    std::vector<Vertex> queue{source};
    level[source] = 0;
    for (size_t at = 0; at < queue.size(); at++)
        for (Vertex w : graph[queue[at]])
            if (level[w] < 0) {
                level[w] = level[queue[at]] + 1;
                queue.push_back(w);
            }
    return level;
}

// Every vertex that can be reached has a neighbour one level up as parent.
inline bool rightTree(const Graph &graph, Vertex source, const std::vector<Vertex> &parent) {
    const std::vector<int32_t> level = levels(graph, source);
    for (Vertex v = 0; v < graph.vertices; v++) {
        if ((level[v] < 0) != (parent[v] == none))
            return false;
        if (v == source ? parent[v] != source : level[v] >= 0 && level[parent[v]] != level[v] - 1)
            return false;
        if (level[v] > 0 && !std::binary_search(graph.begin(v), graph.end(v), parent[v]))
            return false;
    }
    return true;
}

// Brandes' algorithm, as in his paper of 2001.
inline bool rightCentrality(const Graph &graph, const std::vector<Vertex> &sources,
                            const std::vector<double> &scores) {
    std::vector<double> right(graph.vertices), paths, delta;
    for (Vertex source : sources) {
        const std::vector<int32_t> level = levels(graph, source);
        std::vector<Vertex> order(graph.vertices);
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](Vertex a, Vertex b) {
            return level[a] != level[b] ? level[a] < level[b] : a < b;
        });
        paths.assign(graph.vertices, 0);
        delta.assign(graph.vertices, 0);
        paths[source] = 1;
        for (Vertex v : order)
            for (Vertex w : graph[v])
                if (level[v] >= 0 && level[w] == level[v] + 1)
                    paths[w] += paths[v];
        for (size_t i = order.size(); i-- > 0;)
            for (Vertex v = order[i]; Vertex w : graph[v])
                if (level[v] >= 0 && level[w] == level[v] + 1)
                    delta[v] += paths[v] / paths[w] * (1 + delta[w]);
        for (Vertex v = 0; v < graph.vertices; v++)
            right[v] += v == source ? 0 : delta[v];
    }
    for (Vertex v = 0; v < graph.vertices; v++)
        if (std::fabs(scores[v] - right[v]) > 1e-7 * (1 + right[v]))
            return false;
    return true;
}

// Every triangle from its highest number on, where the kernels go by degree.
inline bool rightTriangles(const Graph &graph, uint64_t count) {
    std::vector<bool> marked(graph.vertices);
    uint64_t found = 0;
    for (Vertex v = 0; v < graph.vertices; v++) {
        for (Vertex w : graph[v])
            marked[w] = true;
        for (Vertex w : graph[v])
            for (Vertex x : graph[w]) {
                if (w >= v || x >= w)
                    break;
                found += marked[x];
            }
        for (Vertex w : graph[v])
            marked[w] = false;
    }
    return found == count;
}

// Labels are equal within a component and differ between them.
inline bool rightComponents(const Graph &graph, const std::vector<Vertex> &label) {
    std::vector<Vertex> owner(graph.vertices, none); // of a label: a vertex of its component
    std::vector<bool> seen(graph.vertices);
    std::vector<Vertex> queue;
    for (Vertex first = 0; first < graph.vertices; first++) {
        if (seen[first])
            continue;
        if (label[first] >= graph.vertices || owner[label[first]] != none)
            return false;
        owner[label[first]] = first;
        queue.assign(1, first);
        seen[first] = true;
        for (size_t at = 0; at < queue.size(); at++)
            for (Vertex w : graph[queue[at]]) {
                if (label[w] != label[first])
                    return false;
                if (!seen[w])
                    queue.push_back(w);
                seen[w] = true;
            }
    }
    return true;
}

// One step of PageRank more, by pushing, changes the ranks by less than the tolerance.  The ranks
// of vertices without neighbours are not handed on, as in the GAP specification.
inline bool rightRanks(const Graph &graph, const std::vector<double> &rank, double tolerance) {
    std::vector<double> next(graph.vertices, 0.15 / graph.vertices);
    for (Vertex v = 0; v < graph.vertices; v++)
        for (Vertex w : graph[v])
            next[w] += 0.85 * rank[v] / static_cast<double>(graph.degree(v));
    double change = 0;
    for (Vertex v = 0; v < graph.vertices; v++)
        change += std::fabs(next[v] - rank[v]);
    return change < tolerance;
}

} // namespace graphs
