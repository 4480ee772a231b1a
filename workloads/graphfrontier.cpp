// Breadth-first search, betweenness, triangles, components and PageRank as maps over the edges of
// a frontier (in the style of Ligra: Shun and Blelloch 2013).
//
// A frontier is a set of vertices, as a list or as one byte a vertex. The edge map pushes along the
// edges of a small one and pulls into all vertices for a large one. Each kernel is a function of
// one edge, and says when a vertex needs no more.
//
//   graphfrontier [SCALE [KERNEL [GENERATOR [ADVICE]]]]     2^SCALE vertices
#include "graphs/ordered.h"
#include "graphs/program.h"

using namespace graphs;

namespace {

class Frontier {
  public:
    explicit Frontier(Vertex vertices) : all(vertices) {}
    static Frontier of(Vertex vertices, Vertex one) {
        Frontier frontier(vertices);
        frontier.list.assign(1, one);
        frontier.count = 1;
        return frontier;
    }
    static Frontier full(Vertex vertices) {
        Frontier frontier(vertices);
        frontier.flags.assign(vertices, 1);
        frontier.count = vertices;
        frontier.dense = true;
        return frontier;
    }

    Vertex all;
    size_t count = 0;
    bool dense = false;
    std::vector<Vertex> list;
    std::vector<uint8_t> flags;

    bool empty() const { return count == 0; }

    void toDense() {
        if (dense)
            return;
        flags.assign(all, 0);
#pragma omp parallel for
        for (size_t i = 0; i < list.size(); i++)
            flags[list[i]] = 1;
        dense = true;
    }

    void toList() {
        if (!dense)
            return;
        list.resize(count);
        size_t filled = 0;
        for (Vertex v = 0; v < all; v++)
            if (flags[v])
                list[filled++] = v;
        dense = false;
    }
};

template <typename Visit> void vertexMap(const Frontier &frontier, Visit visit) {
    if (frontier.dense) {
#pragma omp parallel for schedule(dynamic, 1024)
        for (Vertex v = 0; v < frontier.all; v++)
            if (frontier.flags[v])
                visit(v);
        return;
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t i = 0; i < frontier.list.size(); i++)
        visit(frontier.list[i]);
}

uint64_t edgesOf(const Graph &graph, const Frontier &frontier) {
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < frontier.list.size(); i++)
        sum += graph.degree(frontier.list[i]);
    return sum;
}

// Kernels have: update(from, to), by one thread for each `to`; updateAtomic(from, to), by several;
// both are true if `to` joins the next frontier; needs(to): may it still?
template <typename Kernel>
Frontier pull(const Graph &graph, const Frontier &frontier, Kernel &kernel) {
    Frontier next(graph.vertices);
    next.flags.assign(graph.vertices, 0);
    next.dense = true;
    uint64_t count = 0;
    forVertices(graph, [&](Vertex to) {
        bool joins = false;
        for (Vertex from : graph[to]) {
            if (!kernel.needs(to))
                break;
            if (frontier.flags[from] && kernel.update(from, to))
                joins = true;
        }
        if (joins) {
            next.flags[to] = 1;
            add(count, uint64_t{1});
        }
    });
    next.count = count;
    return next;
}

template <typename Kernel>
Frontier push(const Graph &graph, const Frontier &frontier, Kernel &kernel) {
    Frontier next(graph.vertices);
    std::vector<std::vector<Vertex>> found(static_cast<size_t>(threads()));
#pragma omp parallel
    {
        std::vector<Vertex> &mine = found[static_cast<size_t>(thread())];
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < frontier.list.size(); i++)
            for (Vertex to : graph[frontier.list[i]])
                if (kernel.needs(to) && kernel.updateAtomic(frontier.list[i], to))
                    mine.push_back(to);
    }
    for (const std::vector<Vertex> &part : found)
        next.list.insert(next.list.end(), part.begin(), part.end());
    next.count = next.list.size();
    return next;
}

template <typename Kernel>
Frontier edgeMap(const Graph &graph, Frontier &frontier, Kernel &kernel) {
    if (!frontier.dense || frontier.count < graph.vertices / 20) {
        frontier.toList();
        if (frontier.count + edgesOf(graph, frontier) <= graph.directedEdges() / 20)
            return push(graph, frontier, kernel);
    }
    frontier.toDense();
    return pull(graph, frontier, kernel);
}

struct Search {
    std::vector<Vertex> &parent;
    bool update(Vertex from, Vertex to) {
        parent[to] = from;
        return true;
    }
    bool updateAtomic(Vertex from, Vertex to) { return replace(parent[to], none, from); }
    bool needs(Vertex to) const { return load(parent[to]) == none; }
};

std::vector<Vertex> bfs(const Graph &graph, Vertex source) {
    std::vector<Vertex> parent(graph.vertices, none);
    parent[source] = source;
    Search search{parent};
    for (Frontier frontier = Frontier::of(graph.vertices, source); !frontier.empty();)
        frontier = edgeMap(graph, frontier, search);
    return parent;
}

// Adds what `from` has to what `to` has, where `to` was not visited before this level.
struct Gather {
    std::vector<double> &value;
    std::vector<uint8_t> &visited;
    bool update(Vertex from, Vertex to) {
        const double before = value[to];
        value[to] = before + value[from];
        return before == 0;
    }
    bool updateAtomic(Vertex from, Vertex to) { return add(value[to], value[from]) == 0; }
    bool needs(Vertex to) const { return !visited[to]; }
};

std::vector<double> bc(const Graph &graph, const std::vector<Vertex> &from) {
    std::vector<double> scores(graph.vertices);
    for (Vertex source : from) {
        std::vector<double> paths(graph.vertices), share(graph.vertices);
        std::vector<uint8_t> visited(graph.vertices);
        std::vector<Frontier> levels{Frontier::of(graph.vertices, source)};
        Gather forward{paths, visited};
        paths[source] = 1;
        visited[source] = 1;
        for (;;) {
            Frontier next = edgeMap(graph, levels.back(), forward);
            if (next.empty())
                break;
            vertexMap(next, [&](Vertex v) { visited[v] = 1; });
            levels.push_back(std::move(next));
        }
        // Backwards a vertex gathers (1 + delta) / paths of its successors.
        std::fill(visited.begin(), visited.end(), 0);
        Gather backward{share, visited};
        for (size_t level = levels.size(); level-- > 1;) {
            vertexMap(levels[level], [&](Vertex v) {
                scores[v] += share[v] * paths[v];
                share[v] += 1 / paths[v];
                visited[v] = 1;
            });
            edgeMap(graph, levels[level], backward);
        }
    }
    return scores;
}

// Each edge counts the third vertices that come before both, by degree.
struct Triangles {
    const Ordered &rows;
    uint64_t count = 0;
    bool update(Vertex from, Vertex to) { return updateAtomic(from, to); }
    bool updateAtomic(Vertex from, Vertex to) {
        const Vertex a = rows.number[from], b = rows.number[to];
        if (a < b)
            add(count, common(rows.begin(a), rows.end(a), rows.begin(b), rows.end(b)));
        return false;
    }
    bool needs(Vertex) const { return true; }
};

uint64_t tc(const Graph &graph) {
    const Ordered rows = byDegree(graph);
    Triangles triangles{rows};
    Frontier frontier = Frontier::full(graph.vertices);
    edgeMap(graph, frontier, triangles);
    return triangles.count;
}

// The smallest number of a component spreads.
struct Spread {
    std::vector<Vertex> &label, &before;
    bool update(Vertex from, Vertex to) {
        const Vertex was = label[to];
        if (load(label[from]) >= was)
            return false;
        store(label[to], load(label[from]));
        return was == before[to];
    }
    bool updateAtomic(Vertex from, Vertex to) {
        const Vertex was = load(label[to]);
        return lower(label[to], load(label[from])) && was == before[to];
    }
    bool needs(Vertex) const { return true; }
};

std::vector<Vertex> cc(const Graph &graph) {
    std::vector<Vertex> label(graph.vertices);
    std::iota(label.begin(), label.end(), 0);
    std::vector<Vertex> before = label;
    Spread spread{label, before};
    for (Frontier frontier = Frontier::full(graph.vertices); !frontier.empty();) {
        vertexMap(frontier, [&](Vertex v) { before[v] = label[v]; });
        frontier = edgeMap(graph, frontier, spread);
    }
    return label;
}

struct Ranks {
    const std::vector<double> &given;
    std::vector<double> &sum;
    bool update(Vertex from, Vertex to) {
        sum[to] += given[from];
        return true;
    }
    bool updateAtomic(Vertex from, Vertex to) {
        add(sum[to], given[from]);
        return true;
    }
    bool needs(Vertex) const { return true; }
};

std::vector<double> pr(const Graph &graph) {
    std::vector<double> rank(graph.vertices, 1.0 / graph.vertices), given(graph.vertices),
        sum(graph.vertices);
    Ranks ranks{given, sum};
    Frontier frontier = Frontier::full(graph.vertices);
    double change = 1;
    for (int i = 0; i < most_iterations && change >= tolerance; i++) {
        vertexMap(frontier, [&](Vertex v) {
            given[v] = rank[v] / static_cast<double>(std::max<uint64_t>(1, graph.degree(v)));
            sum[v] = 0;
        });
        edgeMap(graph, frontier, ranks);
        change = 0;
#pragma omp parallel for reduction(+ : change)
        for (Vertex v = 0; v < graph.vertices; v++) {
            const double next = 0.15 / graph.vertices + 0.85 * sum[v];
            change += std::fabs(next - rank[v]);
            rank[v] = next;
        }
    }
    return rank;
}

} // namespace

int main(int argc, char **argv) {
    return runProgram("graphfrontier", {bfs, bc, tc, cc, pr}, argc, argv);
}
