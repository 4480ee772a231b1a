// Breadth-first search, betweenness, triangles, components and PageRank by loops over vertices
// and compressed rows (in the style of the GAP benchmark suite).
//
// Search changes its direction (Beamer, Asanović and Patterson 2012), and so does betweenness,
// which is Brandes'; triangles are counted in rows that were renumbered by degree, components are
// Afforest's (Sutton, Ben-Nun and Barak 2018), PageRank pulls.
//
//   graphdirect [SCALE [KERNEL [GENERATOR [ADVICE]]]]     2^SCALE vertices
#include "graphs/ordered.h"
#include "graphs/program.h"

using namespace graphs;

namespace {

class Bitmap {
  public:
    explicit Bitmap(size_t bits) : words(bits / 64 + 1) {}
    bool has(size_t bit) const { return words[bit / 64] >> bit % 64 & 1; }
    void set(size_t bit) {
        std::atomic_ref<uint64_t>(words[bit / 64])
            .fetch_or(uint64_t{1} << bit % 64, std::memory_order_relaxed);
    }
    void clear() {
#pragma omp parallel for
        for (size_t i = 0; i < words.size(); i++)
            words[i] = 0;
    }
    void swap(Bitmap &other) { words.swap(other.words); }

  private:
    std::vector<uint64_t> words;
};

// A level's vertices behind those of the levels before; threads append in batches.
class Queue {
  public:
    explicit Queue(size_t most) : items(std::make_unique_for_overwrite<Vertex[]>(most)) {}
    size_t begin = 0, end = 0; // the current level
    bool empty() const { return begin == end; }
    Vertex operator[](size_t at) const { return items[at]; }
    void restart() { begin = end = filled = 0; }
    void push(Vertex v) { items[filled++] = v; }
    void nextLevel() {
        begin = end;
        end = filled;
    }

    class Batch {
      public:
        explicit Batch(Queue &queue) : queue(queue) {}
        Batch(const Batch &) = delete;
        ~Batch() { flush(); }
        void push(Vertex v) {
            if (used == size)
                flush();
            held[used++] = v;
        }

      private:
        void flush() {
            std::copy_n(held, used, queue.items.get() + add(queue.filled, used));
            used = 0;
        }
        static constexpr size_t size = 1024;
        Queue &queue;
        size_t used = 0;
        Vertex held[size];
    };

  private:
    std::unique_ptr<Vertex[]> items;
    size_t filled = 0;
};

// The edges of the level that is found.
uint64_t topDown(const Graph &graph, std::vector<Vertex> &parent, Queue &queue) {
    uint64_t edges = 0;
#pragma omp parallel reduction(+ : edges)
    {
        Queue::Batch batch(queue);
#pragma omp for schedule(dynamic, 64) nowait
        for (size_t at = queue.begin; at < queue.end; at++)
            for (Vertex w : graph[queue[at]])
                if (load(parent[w]) == none && replace(parent[w], none, queue[at])) {
                    batch.push(w);
                    edges += graph.degree(w);
                }
    }
    queue.nextLevel();
    return edges;
}

uint64_t bottomUp(const Graph &graph, std::vector<Vertex> &parent, const Bitmap &front,
                  Bitmap &next) {
    uint64_t found = 0;
    forVertices(graph, [&](Vertex v) {
        if (parent[v] != none)
            return;
        for (Vertex w : graph[v])
            if (front.has(w)) {
                parent[v] = w;
                next.set(v);
                add(found, uint64_t{1});
                return;
            }
    });
    return found;
}

void toBitmap(const Queue &queue, Bitmap &front) {
    front.clear();
#pragma omp parallel for
    for (size_t at = queue.begin; at < queue.end; at++)
        front.set(queue[at]);
}

void toQueue(const Graph &graph, const Bitmap &front, Queue &queue) {
    queue.restart();
#pragma omp parallel
    {
        Queue::Batch batch(queue);
#pragma omp for nowait
        for (Vertex v = 0; v < graph.vertices; v++)
            if (front.has(v))
                batch.push(v);
    }
    queue.nextLevel();
}

std::vector<Vertex> bfs(const Graph &graph, Vertex source) {
    constexpr uint64_t alpha = 15, beta = 18; // Beamer et al. 2012
    std::vector<Vertex> parent(graph.vertices, none);
    Queue queue(graph.vertices);
    Bitmap front(graph.vertices), next(graph.vertices);
    parent[source] = source;
    queue.push(source);
    queue.nextLevel();
    uint64_t unseen = graph.directedEdges(), edges = graph.degree(source);
    while (!queue.empty()) {
        if (edges <= unseen / alpha) {
            unseen -= std::min(unseen, edges);
            edges = topDown(graph, parent, queue);
            continue;
        }
        toBitmap(queue, front);
        uint64_t awake = queue.end - queue.begin, before;
        do {
            before = awake;
            next.clear();
            awake = bottomUp(graph, parent, front, next);
            front.swap(next);
        } while (awake >= before || awake > graph.vertices / beta);
        toQueue(graph, front, queue);
        edges = 1; // top-down again
    }
    return parent;
}

// Levels, numbers of shortest paths, and each level's end in the queue.
struct Forward {
    std::vector<int32_t> level;
    std::vector<double> paths;
    std::vector<size_t> ends;
};

// The next level along the edges of this one, ...
void pushPaths(const Graph &graph, Queue &queue, Forward &found, int32_t level) {
#pragma omp parallel
    {
        Queue::Batch batch(queue);
#pragma omp for schedule(dynamic, 64) nowait
        for (size_t at = queue.begin; at < queue.end; at++) {
            const Vertex v = queue[at];
            for (Vertex w : graph[v]) {
                if (load(found.level[w]) == -1 && replace(found.level[w], -1, level + 1))
                    batch.push(w);
                if (load(found.level[w]) == level + 1)
                    add(found.paths[w], found.paths[v]);
            }
        }
    }
}

// ... or from the vertices that no level has yet: no two threads write one of them.
void pullPaths(const Graph &graph, Queue &queue, Forward &found, int32_t level) {
#pragma omp parallel
    {
        Queue::Batch batch(queue);
#pragma omp for schedule(dynamic, 1024) nowait
        for (Vertex v = 0; v < graph.vertices; v++) {
            if (found.level[v] != -1)
                continue;
            double paths = 0;
            for (Vertex w : graph[v])
                if (load(found.level[w]) == level)
                    paths += found.paths[w];
            if (paths == 0)
                continue;
            found.paths[v] = paths;
            store(found.level[v], level + 1);
            batch.push(v);
        }
    }
}

uint64_t edgesOf(const Graph &graph, const Queue &queue) {
    uint64_t edges = 0;
#pragma omp parallel for reduction(+ : edges)
    for (size_t at = queue.begin; at < queue.end; at++)
        edges += graph.degree(queue[at]);
    return edges;
}

void countPaths(const Graph &graph, Vertex source, Queue &queue, Forward &found) {
    found.level.assign(graph.vertices, -1);
    found.paths.assign(graph.vertices, 0);
    found.ends.assign(1, 0);
    found.level[source] = 0;
    found.paths[source] = 1;
    queue.restart();
    queue.push(source);
    queue.nextLevel();
    for (int32_t level = 0; !queue.empty(); level++) {
        found.ends.push_back(queue.end);
        if (edgesOf(graph, queue) > graph.directedEdges() / 8)
            pullPaths(graph, queue, found, level);
        else
            pushPaths(graph, queue, found, level);
        queue.nextLevel();
    }
}

std::vector<double> bc(const Graph &graph, const std::vector<Vertex> &from) {
    std::vector<double> scores(graph.vertices), delta(graph.vertices);
    Queue queue(graph.vertices);
    Forward found;
    for (Vertex source : from) {
        countPaths(graph, source, queue, found);
        std::fill(delta.begin(), delta.end(), 0.0);
        for (size_t level = found.ends.size() - 1; level-- > 1;) {
#pragma omp parallel for schedule(dynamic, 64)
            for (size_t at = found.ends[level]; at < found.ends[level + 1]; at++) {
                const Vertex v = queue[at];
                double sum = 0;
                for (Vertex w : graph[v])
                    if (found.level[w] == found.level[v] + 1)
                        sum += (1 + delta[w]) / found.paths[w];
                delta[v] = sum * found.paths[v];
                scores[v] += delta[v];
            }
        }
    }
    return scores;
}

// A vertex's row is marked, and the rows of its neighbours are looked up in the marks: one look a
// number, whatever the lengths, and no branch that can't be foretold.
uint64_t tc(const Graph &graph) {
    const Ordered rows = byDegree(graph);
    uint64_t count = 0;
#pragma omp parallel reduction(+ : count)
    {
        std::vector<uint8_t> marked(graph.vertices);
#pragma omp for schedule(dynamic, 64)
        for (Vertex u = 0; u < graph.vertices; u++) {
            for (const Vertex *v = rows.begin(u); v < rows.end(u); v++)
                marked[*v] = 1;
            for (const Vertex *v = rows.begin(u); v < rows.end(u); v++)
                for (const Vertex *w = rows.begin(*v); w < rows.end(*v); w++)
                    count += marked[*w];
            for (const Vertex *v = rows.begin(u); v < rows.end(u); v++)
                marked[*v] = 0;
        }
    }
    return count;
}

// Hangs the larger of two trees' roots below the smaller.
void link(std::vector<Vertex> &label, Vertex a, Vertex b) {
    Vertex x = load(label[a]), y = load(label[b]);
    while (x != y) {
        const Vertex high = std::max(x, y), low = std::min(x, y), top = load(label[high]);
        if (top == low || (top == high && replace(label[high], high, low)))
            return;
        x = load(label[load(label[high])]);
        y = load(label[low]);
    }
}

void compress(const Graph &graph, std::vector<Vertex> &label) {
    forVertices(graph, [&](Vertex v) {
        while (load(label[v]) != load(label[load(label[v])]))
            store(label[v], load(label[load(label[v])]));
    });
}

Vertex mostFrequent(const std::vector<Vertex> &label) {
    std::vector<Vertex> sample(1024);
    for (size_t i = 0; i < sample.size(); i++)
        sample[i] = label[mix(i) % label.size()];
    std::sort(sample.begin(), sample.end());
    Vertex best = sample[0];
    for (size_t i = 0, run = 0, longest = 0; i < sample.size(); i++) {
        run = i && sample[i] == sample[i - 1] ? run + 1 : 1;
        if (run > longest) {
            longest = run;
            best = sample[i];
        }
    }
    return best;
}

// Two edges of each vertex first; then the vertices of the largest tree need no more of theirs.
std::vector<Vertex> cc(const Graph &graph) {
    constexpr uint64_t sampled = 2;
    std::vector<Vertex> label(graph.vertices);
    std::iota(label.begin(), label.end(), 0);
    for (uint64_t round = 0; round < sampled; round++) {
        forVertices(graph, [&](Vertex v) {
            if (graph.degree(v) > round)
                link(label, v, graph.begin(v)[round]);
        });
        compress(graph, label);
    }
    const Vertex largest = mostFrequent(label);
    forVertices(graph, [&](Vertex v) {
        if (load(label[v]) == largest)
            return;
        for (uint64_t at = sampled; at < graph.degree(v); at++)
            link(label, v, graph.begin(v)[at]);
    });
    compress(graph, label);
    return label;
}

double edgesOf(const Graph &graph, Vertex v) {
    return static_cast<double>(std::max<uint64_t>(1, graph.degree(v)));
}

std::vector<double> pr(const Graph &graph) {
    std::vector<double> rank(graph.vertices, 1.0 / graph.vertices);
    std::vector<float> given(graph.vertices); // gathered at random: small
    double change = 1;
    for (int i = 0; i < most_iterations && change >= tolerance; i++) {
        forVertices(graph,
                    [&](Vertex v) { given[v] = static_cast<float>(rank[v] / edgesOf(graph, v)); });
        forVertices(graph, [&](Vertex v) {
            double sum = 0;
            for (Vertex w : graph[v])
                sum += given[w];
            rank[v] = 0.15 / graph.vertices + 0.85 * sum;
        });
        change = 0;
#pragma omp parallel for reduction(+ : change)
        for (Vertex v = 0; v < graph.vertices; v++)
            change += std::fabs(rank[v] - given[v] * edgesOf(graph, v));
    }
    return rank;
}

} // namespace

int main(int argc, char **argv) {
    return runProgram("graphdirect", {bfs, bc, tc, cc, pr}, argc, argv);
}
