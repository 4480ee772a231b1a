// Breadth-first search and PageRank on an R-MAT graph, as in graph analytics on large
// memories.
//
// The edge list is generated, sorted into compressed rows and dropped; vertex arrays are
// gathered at random through the neighbour lists.  Checks: levels of neighbours differ by
// at most one, every parent is a neighbour one level up, and ranks add up to one.
//
//   graph [SCALE [ROUNDS [ITERATIONS]]]     2^SCALE vertices, 8 edges a vertex; ROUNDS searches,
//                                           ITERATIONS of PageRank: three a round, or so many
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace {

using Vertex = uint32_t;
constexpr Vertex none = ~Vertex{0};
using EdgeList = std::vector<std::pair<Vertex, Vertex>>;

struct Graph {
    Vertex vertices = 0;
    std::unique_ptr<uint64_t[]> start;
    std::vector<Vertex> neighbour;

    const Vertex *begin(Vertex v) const { return neighbour.data() + start[v]; }
    const Vertex *end(Vertex v) const { return neighbour.data() + start[v + 1]; }
    uint64_t degree(Vertex v) const { return start[v + 1] - start[v]; }
};

EdgeList rmat(int scale, size_t edges) {
    EdgeList list;
    list.reserve(edges);
    uint64_t state = 20260101;
    for (size_t e = 0; e < edges; e++) {
        Vertex from = 0, to = 0;
        for (int bit = 0; bit < scale; bit++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            unsigned draw = (state >> 33) % 100; // quadrants of 57, 19, 19 and 5 %
            from = from * 2 + (draw >= 76);
            to = to * 2 + ((draw >= 57 && draw < 76) || draw >= 95);
        }
        list.emplace_back(from, to);
    }
    return list;
}

Graph buildGraph(const EdgeList &edges, Vertex vertices) {
    Graph graph;
    graph.vertices = vertices;
    graph.start = std::make_unique<uint64_t[]>(vertices + 1);
    for (auto [a, b] : edges) {
        graph.start[a + 1]++;
        graph.start[b + 1]++;
    }
    for (Vertex v = 0; v < vertices; v++)
        graph.start[v + 1] += graph.start[v];
    graph.neighbour.resize(2 * edges.size());
    std::vector<uint64_t> next(graph.start.get(), graph.start.get() + vertices);
    for (auto [a, b] : edges) {
        graph.neighbour[next[a]++] = b;
        graph.neighbour[next[b]++] = a;
    }
    return graph;
}

struct Search {
    std::vector<Vertex> parent;
    std::vector<int32_t> level;
    size_t reached = 0;
};

Search breadthFirst(const Graph &graph, Vertex root) {
    Search result;
    result.parent.assign(graph.vertices, none);
    result.level.assign(graph.vertices, -1);
    std::vector<Vertex> frontier{root}, following;
    result.parent[root] = root;
    result.level[root] = 0;
    for (int32_t level = 1; !frontier.empty(); level++) {
        result.reached += frontier.size();
        following.clear();
        for (Vertex v : frontier)
            for (const Vertex *w = graph.begin(v); w != graph.end(v); w++)
                if (result.parent[*w] == none) {
                    result.parent[*w] = v;
                    result.level[*w] = level;
                    following.push_back(*w);
                }
        frontier.swap(following);
    }
    return result;
}

bool validSearch(const Graph &graph, const Search &search, Vertex root) {
    for (Vertex v = 0; v < graph.vertices; v++) {
        bool parentSeen = v == root || search.level[v] < 0;
        for (const Vertex *w = graph.begin(v); w != graph.end(v); w++) {
            if ((search.level[v] < 0) != (search.level[*w] < 0) ||
                std::abs(search.level[v] - search.level[*w]) > 1)
                return false;
            parentSeen |= *w == search.parent[v] && search.level[*w] == search.level[v] - 1;
        }
        if (!parentSeen)
            return false;
    }
    return true;
}

std::vector<double> pageRank(const Graph &graph, int iterations) {
    double share = 1.0 / graph.vertices;
    std::vector<double> rank(graph.vertices, share), given(graph.vertices);
    for (int i = 0; i < iterations; i++) {
        double lost = 0;
        for (Vertex v = 0; v < graph.vertices; v++) {
            uint64_t degree = graph.degree(v);
            given[v] = degree ? rank[v] / static_cast<double>(degree) : 0;
            lost += degree ? 0 : rank[v];
        }
#pragma omp parallel for schedule(dynamic, 1024)
        for (Vertex v = 0; v < graph.vertices; v++) {
            double sum = 0;
            for (const Vertex *w = graph.begin(v); w != graph.end(v); w++)
                sum += given[*w];
            rank[v] = 0.15 * share + 0.85 * (sum + lost * share);
        }
    }
    return rank;
}

} // namespace

int main(int argc, char **argv) {
    int scale = argc > 1 ? std::atoi(argv[1]) : 19;
    int rounds = argc > 2 ? std::atoi(argv[2]) : 2;
    int iterations = argc > 3 ? std::atoi(argv[3]) : 3 * rounds;
    if (scale < 4 || scale > 30 || rounds < 1 || iterations < 0) {
        std::fprintf(stderr, "usage: graph [SCALE [ROUNDS [ITERATIONS]]]: 4 <= SCALE <= 30, "
                             "ROUNDS >= 1, ITERATIONS >= 0\n");
        return 2;
    }
    Vertex vertices = Vertex{1} << scale;
    Graph graph = buildGraph(rmat(scale, size_t{8} << scale), vertices);
    bool ok = true;
    double checksum = 0;
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; round++) {
        Vertex root = round;
        while (!graph.degree(root))
            root++;
        Search search = breadthFirst(graph, root);
        ok &= validSearch(graph, search, root);
        checksum += static_cast<double>(search.reached);
    }
    std::vector<double> rank = pageRank(graph, iterations);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    double sum = 0;
    for (Vertex v = 0; v < vertices; v++) {
        sum += rank[v];
        checksum += rank[v] * (v % 16);
    }
    ok &= std::fabs(sum - 1) < 1e-9;
    std::printf("check: search tree and ranks %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %.10e\n", checksum);
    std::printf("metric: %.4g edges/s\n",
                (rounds + iterations) * static_cast<double>(graph.neighbour.size()) / took.count());
    return ok ? 0 : 1;
}
