// Generated graphs are what they should be, and construction keeps them so.
#include "check.h"
#include "graphs/build.h"
#include "graphs/ordered.h"

using namespace graphs;

TEST(scrambling_is_a_permutation) {
    for (int scale = 1; scale <= 16; scale++) {
        std::vector<bool> seen(size_t{1} << scale);
        for (Vertex v = 0; v < seen.size(); v++) {
            const Vertex to = scramble(v, scale);
            expect_lt(to, seen.size());
            seen[to] = true;
        }
        expect_eq(std::count(seen.begin(), seen.end(), true), long(seen.size()));
    }
}

// How often each bit of the vertices' numbers takes each quadrant.
TEST(quadrants_have_their_probabilities) {
    const int scale = 12;
    const double right[] = {0.57, 0.19, 0.19, 0.05};
    double found[4] = {};
    const uint64_t edges = 100000;
    for (uint64_t e = 0; e < edges; e++) {
        const Edge edge = recursive(e, scale, {0.57, 0.19, 0.19});
        for (int bit = 0; bit < scale; bit++)
            found[(edge.from >> bit & 1) * 2 + (edge.to >> bit & 1)]++;
    }
    for (int quadrant = 0; quadrant < 4; quadrant++)
        expect_lt(std::abs(found[quadrant] / (edges * scale) - right[quadrant]), 0.003);
}

TEST(sizes_of_the_two_generators) {
    expect_eq(kronecker(8).count, size_t{16 << 8});
    expect_eq(rmat(8).count, size_t{8 << 8});
    const EdgeList list = rmat(8);
    for (const Edge &edge : list)
        expect_lt(std::max(edge.from, edge.to), 1u << 8);
}

static EdgeList small() {
    const Edge edges[] = {{0, 1}, {1, 0}, {2, 2}, {3, 1}, {0, 1}, {15, 0}, {3, 0}};
    EdgeList list;
    list.count = std::size(edges);
    list.edges = std::make_unique<Edge[]>(list.count);
    std::copy(std::begin(edges), std::end(edges), list.edges.get());
    return list;
}

static std::vector<Vertex> row(const Graph &graph, Vertex v) {
    return {graph.begin(v), graph.end(v)};
}

TEST(rows_are_sorted_without_loops_and_repetitions) {
    const Graph graph = build(small(), 4, {});
    expect_true(row(graph, 0) == (std::vector<Vertex>{1, 3, 15}));
    expect_true(row(graph, 1) == (std::vector<Vertex>{0, 3}));
    expect_true(row(graph, 2).empty());
    expect_true(row(graph, 3) == (std::vector<Vertex>{0, 1}));
    expect_true(row(graph, 15) == (std::vector<Vertex>{0}));
    expect_eq(graph.directedEdges(), uint64_t{8});
}

TEST(every_advice_gives_the_same_graph) {
    for (const auto &generate : {kronecker, rmat}) {
        const EdgeList list = generate(9);
        const Graph plain = build(list, 9, {});
        for (unsigned parts : {1u, 2u, 8u})
            for (size_t staged : {size_t{0}, size_t{1}, size_t{100}, size_t{1} << 20}) {
                const Graph other = build(list, 9, {parts, staged});
                expect_eq(other.parts.size(), size_t{parts});
                for (Vertex v = 0; v < plain.vertices; v++)
                    expect_true(row(plain, v) == row(other, v));
            }
    }
}

TEST(all_vertices_are_visited_once) {
    for (unsigned parts : {1u, 4u}) {
        const Graph graph = build(rmat(12), 12, {parts, 0});
        std::vector<int> visits(graph.vertices);
        forVertices(graph, [&](Vertex v) { visits[v]++; });
        expect_eq(std::count(visits.begin(), visits.end(), 1), long(graph.vertices));
    }
}

TEST(one_direction_by_degree) {
    const Graph graph = build(kronecker(8), 8, {});
    const Ordered rows = byDegree(graph);
    expect_eq(rows.start[graph.vertices], graph.directedEdges() / 2);
    for (Vertex v = 0; v < graph.vertices; v++)
        for (Vertex w : graph[v])
            if (graph.degree(w) > graph.degree(v)) {
                const Vertex n = rows.number[v], m = rows.number[w];
                expect_lt(m, n);
                expect_true(std::binary_search(rows.begin(n), rows.end(n), m));
            }
}
