// One node, emulated: the data stays, time passes.  Two: the kernel moves the pages.
#include "back_end.h"
#include "page_table.h"
#include <cerrno>
#include <ctime>
#include <linux/mempolicy.h>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {

uint64_t monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

namespace {

// A direction of the path to far memory: one chunk's latency, then its bytes, one after the other.
class Direction {
  public:
    Direction(uint64_t latency_ns, uint64_t bytes_per_second)
        : latency_ns_(latency_ns), bytes_per_second_(bytes_per_second) {}
    uint64_t charge(uint64_t bytes, bool latency) {
        const double transfer =
            bytes_per_second_ ? double(bytes) * 1e9 / double(bytes_per_second_) : 0;
        const uint64_t ns = uint64_t(transfer) + (latency ? latency_ns_ : 0);
        const uint64_t now = monotonic_ns();
        busy_until_ = (busy_until_ > now ? busy_until_ : now) + ns;
        return ns;
    }
    void wait() const {
        while (monotonic_ns() < busy_until_) {
        }
    }

  private:
    const uint64_t latency_ns_, bytes_per_second_;
    uint64_t busy_until_ = 0;
};

class Emulated final : public BackEnd {
  public:
    explicit Emulated(const MigrateSettings &settings)
        : in_(settings.in_latency_ns, settings.in_bytes_per_second),
          out_(settings.out_latency_ns, settings.out_bytes_per_second) {}
    void prepare() override {}
    // Writes are posted: who writes next waits for the last.
    void out(uint64_t, uint64_t bytes, bool first) override {
        out_.wait();
        charged.out_ns += out_.charge(bytes, first);
    }
    void in(uint64_t, uint64_t bytes, bool first) override {
        charged.in_ns += in_.charge(bytes, first);
        in_.wait();
    }

  private:
    Direction in_, out_;
};

class Numa final : public BackEnd {
  public:
    explicit Numa(const MigrateSettings &settings) : settings_(settings) {}
    void prepare() override {
        // What the engine makes in place (zeros, copies) is near.
        syscall(SYS_set_mempolicy, MPOL_PREFERRED, settings_.near_nodes,
                MigrateSettings::max_nodes + 1);
    }
    void out(uint64_t shadow, uint64_t bytes, bool) override {
        bring(shadow, bytes, settings_.far_node);
    }
    void in(uint64_t shadow, uint64_t bytes, bool) override {
        bring(shadow, bytes, settings_.near_node);
    }

  private:
    void bring(uint64_t shadow, uint64_t bytes, int node) {
        void *pages[region_pages];
        int nodes[region_pages], status[region_pages];
        const uint64_t count = bytes / page_bytes;
        for (uint64_t i = 0; i < count; i++) {
            pages[i] = reinterpret_cast<void *>(shadow + i * page_bytes);
            nodes[i] = node;
            status[i] = -EBUSY;
        }
        syscall(SYS_move_pages, 0, count, pages, nodes, status, MPOL_MF_MOVE);
        for (uint64_t i = 0; i < count; i++)
            charged.failed_pages += status[i] != node;
    }
    const MigrateSettings &settings_;
};

} // namespace

BackEnd *make_back_end(const MigrateSettings &settings) {
    alignas(Numa) static char numa[sizeof(Numa)];
    alignas(Emulated) static char emulated[sizeof(Emulated)];
    if (settings.near_node >= 0)
        return new (numa) Numa(settings);
    return new (emulated) Emulated(settings);
}

} // namespace tc
