// Explicit Lagrangian hydrodynamics on an unstructured hexahedral mesh (LULESH-like).
//
// A blast in one corner of a cube.  Each step gathers node data through the element
// connectivity, computes corner forces into temporaries that live for one step, and
// gathers them at the nodes.  Energy is updated with the work that the corner forces
// really did, so the total energy is kept to rounding: that is the program's check.
//
//   hydro [EDGE [STEPS]]     EDGE^3 elements
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

struct Vec {
    double x, y, z;
};

Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// The outward faces of a hexahedron whose corners are numbered bottom then top,
// each counter-clockwise seen from above.
constexpr int face[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                            {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

double *allocate(size_t count) { return new double[count]; }

class Mesh {
  public:
    explicit Mesh(int edge);
    void step();
    double totalEnergy() const;
    double checksum() const;
    void snapshot();

  private:
    void buildConnectivity();
    void cornerForces(double *fx, double *fy, double *fz);
    void gatherForces(const double *fx, const double *fy, const double *fz);
    void advanceNodes();
    void updateElements(const double *fx, const double *fy, const double *fz);
    double timeStep() const;
    double volume(int element) const;
    Vec node(int n) const { return {x[n], y[n], z[n]}; }

    int edge, elements, nodes;
    double dt = 1e-7;
    // Nodes: position, velocity, mean velocity of the step, force, mass.
    std::vector<double> x, y, z, xd, yd, zd, xm, ym, zm, fx, fy, fz, nodeMass;
    // Elements: energy, pressure, viscosity, volume and its rate, sound speed, mass.
    std::vector<double> energy, pressure, viscosity, relativeVolume, volumeRate, soundSpeed;
    std::unique_ptr<double[]> elementMass, referenceVolume;
    std::vector<int> corner;                        // 8 nodes of each element
    std::vector<int> cornerStart, cornerList;       // corners that meet at each node
    std::vector<int> region;                        // material of each element
    std::vector<std::unique_ptr<double[]>> history; // what would go to a plot file
};

Mesh::Mesh(int edge) : edge(edge), elements(edge * edge * edge) {
    int n = edge + 1;
    nodes = n * n * n;
    for (auto *field : {&x, &y, &z, &xd, &yd, &zd, &xm, &ym, &zm, &fx, &fy, &fz, &nodeMass})
        field->resize(nodes);
    energy.resize(elements);
    pressure.resize(elements);
    viscosity.resize(elements);
    relativeVolume.assign(elements, 1.0);
    volumeRate.resize(elements);
    soundSpeed.resize(elements);
    region.resize(elements);
    elementMass.reset(allocate(elements));
    referenceVolume.reset(allocate(elements));
    double h = 1.125 / edge;
    for (int i = 0; i < nodes; i++) {
        x[i] = h * (i % n);
        y[i] = h * (i / n % n);
        z[i] = h * (i / n / n);
    }
    buildConnectivity();
    for (int e = 0; e < elements; e++) {
        region[e] = e / 97 % 11; // eleven materials in stripes, of slightly different gamma
        referenceVolume[e] = elementMass[e] = volume(e);
        for (int c = 0; c < 8; c++)
            nodeMass[corner[8 * e + c]] += elementMass[e] / 8;
        energy[e] = 1e-6 * elementMass[e];
    }
    energy[0] = 0.25;
}

void Mesh::buildConnectivity() {
    int n = edge + 1;
    corner.reserve(8 * static_cast<size_t>(elements));
    for (int e = 0; e < elements; e++) {
        int base = e % edge + n * (e / edge % edge) + n * n * (e / edge / edge);
        for (int offset : {0, 1, n + 1, n, n * n, n * n + 1, n * n + n + 1, n * n + n})
            corner.push_back(base + offset);
    }
    cornerStart.assign(nodes + 1, 0);
    for (int c : corner)
        cornerStart[c + 1]++;
    for (int i = 0; i < nodes; i++)
        cornerStart[i + 1] += cornerStart[i];
    cornerList.resize(corner.size());
    std::vector<int> next(cornerStart.begin(), cornerStart.end() - 1);
    for (size_t i = 0; i < corner.size(); i++)
        cornerList[next[corner[i]]++] = static_cast<int>(i);
}

double Mesh::volume(int e) const {
    const int *c = &corner[8 * static_cast<size_t>(e)];
    double sum = 0;
    for (const auto &f : face) {
        Vec a = node(c[f[0]]), b = node(c[f[1]]), d = node(c[f[2]]), g = node(c[f[3]]);
        Vec centre = {a.x + b.x + d.x + g.x, a.y + b.y + d.y + g.y, a.z + b.z + d.z + g.z};
        sum += dot(centre, cross(d - a, g - b));
    }
    return sum / 24;
}

void Mesh::cornerForces(double *fx, double *fy, double *fz) {
#pragma omp parallel for
    for (int e = 0; e < elements; e++) {
        const int *c = &corner[8 * static_cast<size_t>(e)];
        double push[8][3] = {};
        double stress = (pressure[e] + viscosity[e]) / 8;
        for (const auto &f : face) {
            Vec area = cross(node(c[f[2]]) - node(c[f[0]]), node(c[f[3]]) - node(c[f[1]]));
            for (int k : f) {
                push[k][0] += stress * area.x;
                push[k][1] += stress * area.y;
                push[k][2] += stress * area.z;
            }
        }
        for (int k = 0; k < 8; k++) {
            fx[8 * static_cast<size_t>(e) + k] = push[k][0];
            fy[8 * static_cast<size_t>(e) + k] = push[k][1];
            fz[8 * static_cast<size_t>(e) + k] = push[k][2];
        }
    }
}

void Mesh::gatherForces(const double *cx, const double *cy, const double *cz) {
#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        double sx = 0, sy = 0, sz = 0;
        for (int k = cornerStart[i]; k < cornerStart[i + 1]; k++) {
            sx += cx[cornerList[k]];
            sy += cy[cornerList[k]];
            sz += cz[cornerList[k]];
        }
        fx[i] = sx;
        fy[i] = sy;
        fz[i] = sz;
    }
}

void Mesh::advanceNodes() {
    int n = edge + 1;
#pragma omp parallel for
    for (int i = 0; i < nodes; i++) {
        // Three symmetry planes: no motion through them.
        double ax = i % n == 0 ? 0 : fx[i] / nodeMass[i];
        double ay = i / n % n == 0 ? 0 : fy[i] / nodeMass[i];
        double az = i / n / n == 0 ? 0 : fz[i] / nodeMass[i];
        xm[i] = xd[i] + 0.5 * dt * ax;
        ym[i] = yd[i] + 0.5 * dt * ay;
        zm[i] = zd[i] + 0.5 * dt * az;
        xd[i] += dt * ax;
        yd[i] += dt * ay;
        zd[i] += dt * az;
        x[i] += dt * xm[i];
        y[i] += dt * ym[i];
        z[i] += dt * zm[i];
    }
}

void Mesh::updateElements(const double *cx, const double *cy, const double *cz) {
    std::unique_ptr<double[]> work(allocate(elements)), length(allocate(elements));
#pragma omp parallel for
    for (int e = 0; e < elements; e++) {
        double done = 0;
        for (int k = 0; k < 8; k++) {
            size_t at = 8 * static_cast<size_t>(e) + k;
            int i = corner[at];
            done += cx[at] * xm[i] + cy[at] * ym[i] + cz[at] * zm[i];
        }
        work[e] = dt * done;
        double now = volume(e) / referenceVolume[e];
        volumeRate[e] = (now - relativeVolume[e]) / (dt * now);
        relativeVolume[e] = now;
        length[e] = std::cbrt(now * referenceVolume[e]);
    }
#pragma omp parallel for
    for (int e = 0; e < elements; e++) {
        double gamma = 1.4 + 0.01 * region[e];
        energy[e] -= work[e];
        double space = relativeVolume[e] * referenceVolume[e];
        double density = elementMass[e] / space;
        pressure[e] = std::fmax(0.0, (gamma - 1) * energy[e] / space);
        soundSpeed[e] = std::sqrt(gamma * pressure[e] / density + 1e-12);
        double squeeze = std::fmax(0.0, -volumeRate[e]) * length[e];
        viscosity[e] = density * squeeze * (0.5 * soundSpeed[e] + 2.0 * squeeze);
    }
}

double Mesh::timeStep() const {
    double shortest = 1e9;
#pragma omp parallel for reduction(min : shortest)
    for (int e = 0; e < elements; e++) {
        double length = std::cbrt(relativeVolume[e] * referenceVolume[e]);
        double speed = soundSpeed[e] + 4 * length * std::fabs(volumeRate[e]);
        shortest = std::fmin(shortest, length / (speed + 1e-12));
    }
    return 0.2 * shortest;
}

void Mesh::step() {
    size_t corners = 8 * static_cast<size_t>(elements);
    std::unique_ptr<double[]> cx(allocate(corners)), cy(allocate(corners)), cz(allocate(corners));
    cornerForces(cx.get(), cy.get(), cz.get());
    gatherForces(cx.get(), cy.get(), cz.get());
    advanceNodes();
    updateElements(cx.get(), cy.get(), cz.get());
    dt = std::fmin(1.1 * dt, timeStep());
}

void Mesh::snapshot() {
    std::unique_ptr<double[]> copy(allocate(elements));
    std::memcpy(copy.get(), energy.data(), elements * sizeof(double));
    history.push_back(std::move(copy));
}

double Mesh::totalEnergy() const {
    double sum = 0;
    for (int e = 0; e < elements; e++)
        sum += energy[e];
    for (int i = 0; i < nodes; i++)
        sum += 0.5 * nodeMass[i] * (xd[i] * xd[i] + yd[i] * yd[i] + zd[i] * zd[i]);
    return sum;
}

double Mesh::checksum() const {
    double sum = 0;
    for (int e = 0; e < elements; e++)
        sum += energy[e] * (1 + e % 7);
    for (const auto &frame : history)
        sum += frame[elements / 2] + frame[0];
    return sum;
}

} // namespace

int main(int argc, char **argv) {
    int edge = argc > 1 ? std::atoi(argv[1]) : 60;
    int steps = argc > 2 ? std::atoi(argv[2]) : 10;
    if (edge < 2 || edge > 400 || steps < 1) {
        std::fprintf(stderr, "usage: hydro [EDGE [STEPS]]: 2 <= EDGE <= 400, STEPS >= 1\n");
        return 2;
    }
    Mesh mesh(edge);
    double before = mesh.totalEnergy();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; i++) {
        mesh.step();
        if (i % 5 == 0)
            mesh.snapshot();
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    double drift = std::fabs(mesh.totalEnergy() / before - 1);
    bool ok = drift < 1e-10;
    std::printf("check: total energy %s\n", ok ? "kept" : "LOST");
    std::printf("checksum: %.10e\n", mesh.checksum());
    std::printf("metric: %.4g zone steps/s\n", 1.0 * edge * edge * edge * steps / took.count());
    return ok ? 0 : 1;
}
