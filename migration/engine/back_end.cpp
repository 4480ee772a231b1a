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
    void flush() override {}
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
    // A call of the kernel's stops all processors for a moment: pages leave together.
    void out(uint64_t shadow, uint64_t bytes, bool) override {
        for (uint64_t at = shadow; at < shadow + bytes; at += page_bytes) {
            if (leaving_ == batch)
                flush();
            pages_[leaving_++] = reinterpret_cast<void *>(at);
        }
    }
    void flush() override {
        send(pages_, leaving_, settings_.far_nodes, far_full_until_);
        leaving_ = 0;
    }
    void in(uint64_t shadow, uint64_t bytes, bool) override {
        void *pages[region_pages];
        uint64_t count = 0, stay = 0;
        for (uint64_t at = shadow; at < shadow + bytes; at += page_bytes)
            pages[count++] = reinterpret_cast<void *>(at);
        for (uint64_t i = 0; i < leaving_; i++) // never left
            if (reinterpret_cast<uint64_t>(pages_[i]) - shadow >= bytes)
                pages_[stay++] = pages_[i];
        leaving_ = stay;
        send(pages, count, settings_.near_nodes, near_full_until_);
    }

  private:
    static constexpr uint64_t batch = 64, wait_for_room_ns = 100000000;

    // To the first of the nodes that has room.  The kernel looks for room for milliseconds, so that
    // is not asked for each page.
    void send(void **pages, uint64_t left, const uint64_t *nodes, uint64_t &full_until) {
        const bool was_full = left > 0 && full_until > monotonic_ns();
        bool full = false;
        for (unsigned node = 0; node < MigrateSettings::max_nodes && !was_full; node++)
            if (has(nodes, int(node)))
                full = !send_to(int(node), pages, left, nodes);
        if (full)
            full_until = monotonic_ns() + wait_for_room_ns;
        charged.failed_pages += left;
    }
    // Again and again, for the kernel stops at what it can't move, and splits huge pages on the
    // way, refusing what it finds in the middle of that; those that are where they should be go
    // from the list.  False: the node is full.
    static bool send_to(int node, void **pages, uint64_t &left, const uint64_t *nodes) {
        int wanted[region_pages], status[region_pages];
        for (unsigned attempt = 0; attempt < 2 && left > 0; attempt++) {
            for (uint64_t i = 0; i < left; i++) {
                wanted[i] = node;
                status[i] = -EBUSY;
            }
            errno = 0;
            syscall(SYS_move_pages, 0, left, pages, wanted, status, MPOL_MF_MOVE);
            const bool no_memory = errno == ENOMEM; // for some, or for a whole huge page
            const uint64_t before = left;
            left = 0;
            for (uint64_t i = 0; i < before; i++) {
                // Gone, or the kernel's page of zeros, which is everybody's.
                const bool is_nowhere = status[i] == -ENOENT || status[i] == -EFAULT;
                if (!is_nowhere && !has(nodes, status[i]))
                    pages[left++] = pages[i];
            }
            if (left < before)
                attempt = 0;
            else if (no_memory)
                return false;
        }
        return true;
    }
    static bool has(const uint64_t *nodes, int node) {
        return node >= 0 && nodes[node / 64] >> node % 64 & 1;
    }

    const MigrateSettings &settings_;
    void *pages_[batch];
    uint64_t leaving_ = 0, far_full_until_ = 0, near_full_until_ = 0;
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
