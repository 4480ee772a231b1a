// What the graph programs share: arguments, timing, checks, what they print.
#pragma once
#include "build.h"
#include "verify.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace graphs {

constexpr double tolerance = 1e-4; // of PageRank, as in the GAP specification
constexpr int most_iterations = 100;

// The five kernels in one style.
struct Kernels {
    std::vector<Vertex> (*bfs)(const Graph &, Vertex source);                     // parents
    std::vector<double> (*bc)(const Graph &, const std::vector<Vertex> &sources); // scores
    uint64_t (*tc)(const Graph &);                                                // triangles
    std::vector<Vertex> (*cc)(const Graph &);                                     // labels
    std::vector<double> (*pr)(const Graph &);                                     // ranks
};

struct Options {
    int scale = 17;
    std::string kernel = "all", generator = "kronecker";
    Advice advice;
    bool valid = true;
};

inline bool oneOf(const std::string &word, std::initializer_list<const char *> words) {
    return std::any_of(words.begin(), words.end(), [&](const char *one) { return word == one; });
}

inline Options parse(int argc, char **argv) {
    Options options;
    if (argc > 1)
        options.scale = std::atoi(argv[1]);
    if (argc > 2)
        options.kernel = argv[2];
    if (argc > 3)
        options.generator = argv[3];
    const std::string advice = argc > 4 ? argv[4] : "plain";
    if (oneOf(advice, {"staged", "advised"}))
        options.advice.staged = size_t{1} << std::clamp(options.scale + 2, 10, 24);
    if (oneOf(advice, {"partitioned", "advised"}))
        options.advice.parts = 2;
    options.valid = options.scale >= 4 && options.scale <= 30 &&
                    oneOf(options.kernel, {"all", "bfs", "bc", "tc", "cc", "pr"}) &&
                    oneOf(options.generator, {"kronecker", "rmat"}) &&
                    oneOf(advice, {"plain", "staged", "partitioned", "advised"}) && argc <= 5;
    return options;
}

// Vertices that have neighbours, the same in each run.
inline std::vector<Vertex> sources(const Graph &graph, size_t count) {
    std::vector<Vertex> found;
    for (uint64_t draw = 1; found.size() < count; draw++) {
        const auto v = static_cast<Vertex>(mix(draw) % graph.vertices);
        if (graph.degree(v))
            found.push_back(v);
    }
    return found;
}

class Program {
    using Time = std::chrono::steady_clock::time_point;
    const Kernels &kernels;
    std::string chosen, wrong, times;
    Graph graph;
    double checksum = 0, seconds = 0;
    int runs = 0;

    bool wants(const char *kernel) const { return chosen == "all" || chosen == kernel; }

    void note(const char *what, Time since) {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since;
        char text[64];
        std::snprintf(text, sizeof text, ", %s %.4f s", what, took.count());
        times += text;
        if (std::strcmp(what, "build") != 0) {
            seconds += took.count();
            runs++;
        }
    }

    template <typename Call> auto timed(const char *kernel, Call call) {
        const auto before = std::chrono::steady_clock::now();
        auto result = call();
        note(kernel, before);
        return result;
    }

    void judge(const char *kernel, bool right) {
        if (!right)
            wrong += std::string(" ") + kernel;
    }

    void search(Vertex root) {
        const auto parent = timed("bfs", [&] { return kernels.bfs(graph, root); });
        judge("bfs", rightTree(graph, root, parent));
        checksum += static_cast<double>(
            std::count_if(parent.begin(), parent.end(), [](Vertex p) { return p != none; }));
    }

    void sum(const std::vector<double> &values) {
        for (Vertex v = 0; v < graph.vertices; v++)
            checksum += values[v] * (1 + v % 16);
    }

    int report() const {
        std::printf("graph: %u vertices, %llu edges\n", graph.vertices,
                    static_cast<unsigned long long>(graph.directedEdges() / 2));
        std::printf("check: %s%s\n", wrong.empty() ? "all results right" : "WRONG:", wrong.c_str());
        std::printf("checksum: %.10e\n", checksum);
        std::printf("metric: %.4g edges/s%s\n",
                    static_cast<double>(graph.directedEdges()) * runs / seconds, times.c_str());
        return wrong.empty() ? 0 : 1;
    }

  public:
    Program(const Kernels &kernels, const Options &options)
        : kernels(kernels), chosen(options.kernel) {
        const auto list =
            options.generator == "rmat" ? rmat(options.scale) : kronecker(options.scale);
        const auto before = std::chrono::steady_clock::now();
        graph = build(list, options.scale, options.advice);
        note("build", before);
    }

    int run() {
        const std::vector<Vertex> roots = sources(graph, 4);
        if (wants("bfs"))
            for (Vertex root : roots)
                search(root);
        if (wants("bc")) {
            const auto scores = timed("bc", [&] { return kernels.bc(graph, roots); });
            judge("bc", rightCentrality(graph, roots, scores));
            sum(scores);
        }
        if (wants("tc")) {
            const auto count = timed("tc", [&] { return kernels.tc(graph); });
            judge("tc", rightTriangles(graph, count));
            checksum += static_cast<double>(count);
        }
        if (wants("cc")) {
            const auto label = timed("cc", [&] { return kernels.cc(graph); });
            judge("cc", rightComponents(graph, label));
            std::vector<double> size(graph.vertices);
            for (Vertex v : label)
                size[v]++;
            for (double s : size)
                checksum += s * s;
        }
        if (wants("pr")) {
            const auto rank = timed("pr", [&] { return kernels.pr(graph); });
            judge("pr", rightRanks(graph, rank, tolerance));
            sum(rank);
        }
        return report();
    }
};

inline int runProgram(const char *name, const Kernels &kernels, int argc, char **argv) {
    const Options options = parse(argc, argv);
    if (!options.valid) {
        std::fprintf(
            stderr,
            "usage: %s [SCALE [KERNEL [GENERATOR [ADVICE]]]]: 4 <= SCALE <= 30, all|bfs|bc|"
            "tc|cc|pr, kronecker|rmat, plain|staged|partitioned|advised\n",
            name);
        return 2;
    }
    return Program(kernels, options).run();
}

} // namespace graphs
