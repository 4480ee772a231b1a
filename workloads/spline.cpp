// Variational Monte Carlo with orbitals in a B-spline table (QMCPACK-like).
//
// Walkers of electrons move by Metropolis steps.  Each proposal reads 64 short rows of a
// large shared spline table at a random place; each accepted one updates the inverse of
// the walker's Slater matrix (Sherman-Morrison).  The check multiplies every inverse with
// the matrix built anew from the table.
//
//   spline [WALKERS [SWEEPS [ELECTRONS]]]
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace {

class Random {
  public:
    explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {}
    double uniform() {
        state += 0x9e3779b97f4a7c15u;
        uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

  private:
    uint64_t state;
};

using Position = std::array<double, 3>; // in the unit cell, periodic

// Coefficients of all orbitals, innermost, on a periodic grid of points.
template <typename Real> class SplineTable {
  public:
    SplineTable(int grid, int orbitals)
        : grid(grid), orbitals(orbitals),
          coefficient(static_cast<size_t>(grid) * grid * grid * orbitals) {
        Random random(7);
        for (Real &c : coefficient)
            c = static_cast<Real>(random.uniform() - 0.5);
    }

    void evaluate(const Position &at, std::vector<double> &value) const {
        std::array<std::array<double, 4>, 3> weight;
        std::array<int, 3> first;
        for (int d = 0; d < 3; d++) {
            double scaled = at[d] * grid, whole = std::floor(scaled), t = scaled - whole;
            first[d] = static_cast<int>(whole);
            weight[d] = {(1 - t) * (1 - t) * (1 - t) / 6, (3 * t * t * t - 6 * t * t + 4) / 6,
                         (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6, t * t * t / 6};
        }
        value.assign(orbitals, 0.0);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 4; k++) {
                    size_t point = (static_cast<size_t>((first[0] + i) % grid) * grid +
                                    (first[1] + j) % grid) *
                                       grid +
                                   (first[2] + k) % grid;
                    const Real *row = &coefficient[point * orbitals];
                    double w = weight[0][i] * weight[1][j] * weight[2][k];
                    for (int o = 0; o < orbitals; o++)
                        value[o] += w * static_cast<double>(row[o]);
                }
    }

  private:
    int grid, orbitals;
    std::vector<Real> coefficient;
};

double distance(const Position &a, const Position &b) {
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double x = a[d] - b[d];
        x -= std::round(x);
        sum += x * x;
    }
    return std::sqrt(sum);
}

// A matrix's inverse by Gauss-Jordan with partial pivoting; also gives the matrix back.
std::vector<double> invert(std::vector<double> a, int n) {
    std::vector<double> inverse(static_cast<size_t>(n) * n);
    for (int i = 0; i < n; i++)
        inverse[i * n + i] = 1;
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c + 1; r < n; r++)
            if (std::fabs(a[r * n + c]) > std::fabs(a[pivot * n + c]))
                pivot = r;
        for (int k = 0; k < n; k++) {
            std::swap(a[c * n + k], a[pivot * n + k]);
            std::swap(inverse[c * n + k], inverse[pivot * n + k]);
        }
        double scale = 1 / a[c * n + c];
        for (int k = 0; k < n; k++) {
            a[c * n + k] *= scale;
            inverse[c * n + k] *= scale;
        }
        for (int r = 0; r < n; r++) {
            double factor = a[r * n + c];
            if (r == c || factor == 0)
                continue;
            for (int k = 0; k < n; k++) {
                a[r * n + k] -= factor * a[c * n + k];
                inverse[r * n + k] -= factor * inverse[c * n + k];
            }
        }
    }
    return inverse;
}

struct Walker {
    std::vector<Position> electron;
    std::vector<double> inverse; // of the Slater matrix: row = orbital, column = electron
    std::vector<double> pair;    // distances between electrons
    std::vector<double> energyLog;
    Random random;
    long accepted = 0;

    Walker(const SplineTable<float> &table, int electrons, uint64_t seed) : random(seed) {
        for (int e = 0; e < electrons; e++)
            electron.push_back({random.uniform(), random.uniform(), random.uniform()});
        inverse = invert(slaterMatrix(table), electrons);
        for (const Position &a : electron)
            for (const Position &b : electron)
                pair.push_back(distance(a, b));
    }

    std::vector<double> slaterMatrix(const SplineTable<float> &table) const {
        std::vector<double> matrix, row;
        for (const Position &e : electron) {
            table.evaluate(e, row);
            matrix.insert(matrix.end(), row.begin(), row.end());
        }
        return matrix;
    }

    void sweep(const SplineTable<float> &table) {
        int n = static_cast<int>(electron.size());
        std::vector<double> orbital, moved(n), column(n);
        for (int e = 0; e < n; e++) {
            Position to = electron[e];
            for (double &x : to) {
                x += 0.1 * (random.uniform() - 0.5);
                x -= std::floor(x);
            }
            table.evaluate(to, orbital);
            double ratio = 0, jastrow = 0;
            for (int o = 0; o < n; o++)
                ratio += orbital[o] * inverse[o * n + e];
            for (int k = 0; k < n; k++) {
                moved[k] = k == e ? 0 : distance(to, electron[k]);
                if (k != e)
                    jastrow += 0.05 / (0.1 + pair[e * n + k]) - 0.05 / (0.1 + moved[k]);
            }
            double probability = ratio * ratio * std::exp(jastrow);
            if (std::fabs(ratio) < 0.05 || random.uniform() > probability)
                continue;
            accept(e, to, ratio, orbital, moved, column);
        }
        double sum = 0;
        for (double d : pair)
            sum += d;
        energyLog.push_back(sum / n);
    }

    void accept(int e, const Position &to, double ratio, const std::vector<double> &orbital,
                const std::vector<double> &moved, std::vector<double> &column) {
        int n = static_cast<int>(electron.size());
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int o = 0; o < n; o++)
                sum += orbital[o] * inverse[o * n + k];
            column[k] = (sum - (k == e)) / ratio;
        }
        for (int o = 0; o < n; o++) {
            double keep = inverse[o * n + e];
            for (int k = 0; k < n; k++)
                inverse[o * n + k] -= keep * column[k];
        }
        electron[e] = to;
        for (int k = 0; k < n; k++)
            pair[e * n + k] = pair[k * n + e] = moved[k];
        accepted++;
    }

    double inverseError(const SplineTable<float> &table) const {
        int n = static_cast<int>(electron.size());
        std::vector<double> matrix = slaterMatrix(table);
        double worst = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = i == j ? -1 : 0;
                for (int k = 0; k < n; k++)
                    sum += matrix[i * n + k] * inverse[k * n + j];
                worst = std::fmax(worst, std::fabs(sum));
            }
        return worst;
    }
};

} // namespace

int main(int argc, char **argv) {
    int walkers = argc > 1 ? std::atoi(argv[1]) : 256;
    int sweeps = argc > 2 ? std::atoi(argv[2]) : 3;
    int electrons = argc > 3 ? std::atoi(argv[3]) : 48;
    if (walkers < 1 || sweeps < 1 || electrons < 2 || electrons > 512) {
        std::fprintf(stderr, "usage: spline [WALKERS [SWEEPS [ELECTRONS]]]: all >= 1, "
                             "2 <= ELECTRONS <= 512\n");
        return 2;
    }
    SplineTable<float> table(64, electrons);
    std::vector<std::unique_ptr<Walker>> walker;
    for (int w = 0; w < walkers; w++)
        walker.push_back(std::make_unique<Walker>(table, electrons, w + 1));
    auto start = std::chrono::steady_clock::now();
#pragma omp parallel for
    for (int w = 0; w < walkers; w++)
        for (int s = 0; s < sweeps; s++)
            walker[w]->sweep(table);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    double worst = 0, sum = 0;
    long accepted = 0;
    for (const auto &w : walker) {
        worst = std::fmax(worst, w->inverseError(table));
        accepted += w->accepted;
        for (double e : w->energyLog)
            sum += e;
    }
    bool ok = worst < 1e-6;
    std::printf("check: inverses %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %.10e\n", sum + static_cast<double>(accepted));
    std::printf("metric: %.4g walker sweeps/s (%.0f%% accepted)\n", walkers * sweeps / took.count(),
                100.0 * accepted / walkers / sweeps / electrons);
    return ok ? 0 : 1;
}
