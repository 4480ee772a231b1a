// Heat on a mesh that is refined where a moving source is (NAS UA-like).
//
// Cells of a quadtree are records that are reused as the mesh changes, so that neighbours lie
// anywhere; each holds several fields, and gives heat to the neighbours that it finds through the
// tree.  Check: each field's heat, over all changes of the mesh, is what the source has given.
//
//   remesh [DEPTH [STEPS]]     the finest cells are 1/2^DEPTH wide
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int fields = 32;
constexpr uint32_t none = UINT32_MAX;

struct Cell {
    uint32_t parent = none, child = none; // the first of four, side by side
    uint32_t x = 0, y = 0;                // in cells of its level
    uint32_t level = 0;
    double heat[fields] = {}, change[fields] = {}; // a unit of area's
    double area() const { return std::ldexp(1.0, -2 * static_cast<int>(level)); }
};

class Mesh {
  public:
    explicit Mesh(uint32_t depth) : depth_(depth), cell_(1) {
        for (uint32_t level = 0; level + 3 < depth; level++)
            for (uint32_t at = 0, end = size(); at < end; at++)
                if (leaf(at))
                    split(at);
    }

    // Fine near the place, coarse away from it; never coarser than at the beginning.
    void follow(double x, double y) {
        for (uint32_t at = 0; at < size(); at++)
            if (leaf(at) && cell_[at].level < depth_ && near(at, x, y))
                split(at);
        for (uint32_t at = 0; at < size(); at++)
            if (!leaf(at) && in_use(at) && cell_[at].level + 3 >= depth_ && !near(at, x, y))
                join(at);
    }

    void warm(double x, double y, double amount) {
        uint32_t at = 0;
        while (!leaf(at)) {
            const double wide = std::ldexp(1.0, -static_cast<int>(cell_[at].level) - 1);
            const bool right = x >= (2 * cell_[at].x + 1) * wide;
            const bool upper = y >= (2 * cell_[at].y + 1) * wide;
            at = cell_[at].child + (right ? 1 : 0) + (upper ? 2 : 0);
        }
        for (int f = 0; f < fields; f++)
            cell_[at].heat[f] += amount * (f + 1) / cell_[at].area();
    }

    // Once between each two cells: by the smaller one, or to the right and upwards.
    void spread() {
        for (uint32_t at = 0; at < size(); at++) {
            if (!leaf(at) || !in_use(at))
                continue;
            static constexpr int step[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
            for (int side = 0; side < 4; side++) {
                const uint32_t other = neighbour(at, step[side][0], step[side][1]);
                if (other == none || (cell_[other].level == cell_[at].level && side >= 2))
                    continue;
                Cell &mine = cell_[at], &its = cell_[other];
                for (int f = 0; f < fields; f++) {
                    const double flow = 0.1 * mine.area() * (mine.heat[f] - its.heat[f]);
                    mine.change[f] -= flow;
                    its.change[f] += flow;
                }
            }
        }
        for (Cell &each : cell_)
            for (int f = 0; f < fields; f++) {
                each.heat[f] += each.change[f] / each.area();
                each.change[f] = 0;
            }
    }

    double heat(int field) const {
        double sum = 0;
        for (uint32_t at = 0; at < size(); at++)
            if (leaf(at) && in_use(at))
                sum += cell_[at].heat[field] * cell_[at].area();
        return sum;
    }
    uint32_t size() const { return static_cast<uint32_t>(cell_.size()); }

  private:
    bool leaf(uint32_t at) const { return cell_[at].child == none; }
    bool in_use(uint32_t at) const { return at == 0 || cell_[at].parent != none; }
    bool near(uint32_t at, double x, double y) const {
        const double wide = std::ldexp(1.0, -static_cast<int>(cell_[at].level));
        const double dx = (cell_[at].x + 0.5) * wide - x, dy = (cell_[at].y + 0.5) * wide - y;
        return in_use(at) && dx * dx + dy * dy < 0.09 + wide * wide;
    }

    void split(uint32_t at) {
        uint32_t first;
        if (free_.empty()) {
            first = size();
            cell_.resize(cell_.size() + 4);
        } else {
            first = free_.back();
            free_.pop_back();
        }
        for (uint32_t i = 0; i < 4; i++) {
            Cell &made = cell_[first + i];
            made = cell_[at];
            made.parent = at;
            made.level++;
            made.x = 2 * made.x + i % 2;
            made.y = 2 * made.y + i / 2;
        }
        cell_[at].child = first;
    }

    void join(uint32_t at) {
        const uint32_t first = cell_[at].child;
        for (uint32_t i = 0; i < 4; i++)
            if (!leaf(first + i))
                return;
        for (int f = 0; f < fields; f++) {
            cell_[at].heat[f] = 0;
            for (uint32_t i = 0; i < 4; i++)
                cell_[at].heat[f] += cell_[first + i].heat[f] / 4;
        }
        for (uint32_t i = 0; i < 4; i++)
            cell_[first + i].parent = none;
        cell_[at].child = none;
        free_.push_back(first);
    }

    // The leaf beside a cell, or none if smaller cells are there, or the edge.
    uint32_t neighbour(uint32_t at, int dx, int dy) const {
        const uint32_t level = cell_[at].level, wide = uint32_t{1} << level;
        const uint32_t x = cell_[at].x + static_cast<uint32_t>(dx);
        const uint32_t y = cell_[at].y + static_cast<uint32_t>(dy);
        if (x >= wide || y >= wide)
            return none;
        uint32_t found = 0;
        while (!leaf(found) && cell_[found].level < level) {
            const uint32_t down = level - cell_[found].level - 1;
            found = cell_[found].child + (x >> down & 1) + 2 * (y >> down & 1);
        }
        return leaf(found) ? found : none;
    }

    uint32_t depth_;
    std::vector<Cell> cell_;
    std::vector<uint32_t> free_; // first cells of four
};

} // namespace

int main(int argc, char **argv) {
    int depth = argc > 1 ? std::atoi(argv[1]) : 9, steps = argc > 2 ? std::atoi(argv[2]) : 12;
    if (depth < 4 || depth > 14 || steps < 1) {
        std::fprintf(stderr, "usage: remesh [DEPTH [STEPS]]: 4 <= DEPTH <= 14, STEPS >= 1\n");
        return 2;
    }
    auto start = std::chrono::steady_clock::now();
    Mesh mesh(static_cast<uint32_t>(depth));
    uint64_t cells = 0;
    for (int step = 0; step < steps; step++) {
        const double turn = 6.283185307179586 * step / 40;
        const double x = 0.5 + 0.25 * std::cos(turn), y = 0.5 + 0.25 * std::sin(turn);
        mesh.follow(x, y);
        mesh.warm(x, y, 1);
        mesh.spread();
        cells += mesh.size();
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    bool ok = true;
    double sum = 0;
    for (int f = 0; f < fields; f++) {
        const double given = static_cast<double>(steps) * (f + 1), heat = mesh.heat(f);
        ok &= std::fabs(heat - given) < 1e-9 * given;
        sum += heat;
    }
    std::printf("check: heat %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %.10e\n", sum + static_cast<double>(mesh.size()));
    std::printf("metric: %.4g cells/s\n", static_cast<double>(cells) / took.count());
    return ok ? 0 : 1;
}
