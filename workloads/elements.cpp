// Finite elements on a box: assembly of a sparse matrix, then conjugate gradients (miniFE-like).
//
// Bricks of eight nodes add their stiffness to rows of 27 entries, which are found by searching;
// the solver then reads the matrix in order, iteration by iteration.  Check: the residual,
// computed anew, and that the operator of a constant field is zero.
//
//   elements [EDGE [ITERATIONS]]     EDGE^3 bricks
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Vector = std::vector<double>;

struct Matrix {
    std::vector<int64_t> start;
    std::vector<int32_t> column;
    Vector value;

    size_t rows() const { return start.size() - 1; }

    void add(int32_t row, int32_t to, double what) {
        const auto first = column.begin() + start[row], last = column.begin() + start[row + 1];
        value[std::lower_bound(first, last, to) - column.begin()] += what;
    }
    void multiply(const Vector &x, Vector &y) const {
#pragma omp parallel for schedule(static)
        for (size_t row = 0; row < rows(); row++) {
            double sum = 0;
            for (int64_t at = start[row]; at < start[row + 1]; at++)
                sum += value[at] * x[column[at]];
            y[row] = sum;
        }
    }
};

class Box {
  public:
    explicit Box(int edge) : edge_(edge), nodes_(edge + 1) {}
    int32_t node(int x, int y, int z) const { return (z * nodes_ + y) * nodes_ + x; }

    // Rows of all nodes that share a brick, still zero.
    Matrix structure() const {
        Matrix m;
        m.start.push_back(0);
        for (int z = 0; z < nodes_; z++)
            for (int y = 0; y < nodes_; y++)
                for (int x = 0; x < nodes_; x++) {
                    for (int c = std::max(0, z - 1); c <= std::min(edge_, z + 1); c++)
                        for (int b = std::max(0, y - 1); b <= std::min(edge_, y + 1); b++)
                            for (int a = std::max(0, x - 1); a <= std::min(edge_, x + 1); a++)
                                m.column.push_back(node(a, b, c));
                    m.start.push_back(static_cast<int64_t>(m.column.size()));
                }
        m.value.assign(m.column.size(), 0);
        return m;
    }

    // Of the Laplacian with trilinear shapes: by how many corners' axes two nodes differ.
    void assemble(Matrix &m) const {
        static constexpr double entry[4] = {1. / 3, 0, -1. / 12, -1. / 12};
        for (int z = 0; z < edge_; z++)
            for (int y = 0; y < edge_; y++)
                for (int x = 0; x < edge_; x++)
                    for (int i = 0; i < 8; i++)
                        for (int j = 0; j < 8; j++)
                            m.add(corner(x, y, z, i), corner(x, y, z, j),
                                  entry[__builtin_popcount(i ^ j)]);
    }

  private:
    int32_t corner(int x, int y, int z, int number) const {
        return node(x + (number & 1), y + (number >> 1 & 1), z + (number >> 2));
    }
    int edge_, nodes_;
};

double dot(const Vector &a, const Vector &b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); i++)
        sum += a[i] * b[i];
    return sum;
}

// The residual's square by the iteration's own account.
double solve(const Matrix &m, const Vector &right, Vector &x, int iterations) {
    Vector r = right, p = right, q(right.size());
    double rho = dot(r, r);
    for (int it = 0; it < iterations; it++) {
        m.multiply(p, q);
        const double alpha = rho / dot(p, q);
        for (size_t i = 0; i < x.size(); i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double before = rho;
        rho = dot(r, r);
        for (size_t i = 0; i < x.size(); i++)
            p[i] = r[i] + rho / before * p[i];
    }
    return rho;
}

} // namespace

int main(int argc, char **argv) {
    int edge = argc > 1 ? std::atoi(argv[1]) : 56;
    int iterations = argc > 2 ? std::atoi(argv[2]) : 20;
    if (edge < 4 || edge > 1000 || iterations < 1) {
        std::fprintf(stderr,
                     "usage: elements [EDGE [ITERATIONS]]: 4 <= EDGE <= 1000, ITERATIONS >= 1\n");
        return 2;
    }
    auto begin = std::chrono::steady_clock::now();
    Box box(edge);
    Matrix m = box.structure();
    box.assemble(m);
    const size_t n = m.rows();
    Vector ones(n, 1), still(n);
    m.multiply(ones, still);
    double worst = 0;
    for (double each : still)
        worst = std::max(worst, std::fabs(each));
    for (size_t row = 0; row < n;
         row++) // a little of each value leaks, so that there is one answer
        m.add(static_cast<int32_t>(row), static_cast<int32_t>(row), 0.01);
    Vector right(n), x(n, 0), left(n);
    for (size_t i = 0; i < n; i++)
        right[i] = static_cast<double>(i % 17) - 8;
    const double first = dot(right, right), rho = solve(m, right, x, iterations);
    m.multiply(x, left);
    for (size_t i = 0; i < n; i++)
        left[i] = right[i] - left[i];
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const bool ok = worst < 1e-12 && rho < first && std::fabs(dot(left, left) - rho) < 1e-9 * first;
    std::printf("check: residual and constant %s\n", ok ? "right" : "WRONG");
    std::printf("checksum: %.8e\n", dot(x, x));
    std::printf("metric: %.4g nonzeros/s\n",
                static_cast<double>(m.value.size()) * iterations / took.count());
    return ok ? 0 : 1;
}
