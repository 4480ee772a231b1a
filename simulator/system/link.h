// The links between sockets: each direction of each pair carries one line after the other.
#pragma once
#include "simulator/time.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace thermocline {

struct LinkParameters {
    Ps latency = 0;       // that a remote access adds, there and back
    double bandwidth = 0; // bytes a second in each direction; 0: no limit
};

class Links {
  public:
    Links(const LinkParameters &config, uint32_t sockets)
        : latency_(config.latency),
          ps_per_line_(config.bandwidth > 0 ? Ps(64e12 / config.bandwidth) : 0), sockets_(sockets),
          busy_(size_t(sockets) * sockets, 0) {}

    // When a line that is ready at one socket is at the other.
    Ps carry(uint32_t from, uint32_t to, Ps ready) {
        if (from == to)
            return ready;
        Ps &busy = busy_[size_t(from) * sockets_ + to];
        busy = std::max(busy, ready) + ps_per_line_;
        lines_++;
        return busy + latency_ / 2;
    }
    // When a request without data is there.
    Ps ask(uint32_t from, uint32_t to, Ps at) const {
        return from == to ? at : at + latency_ - latency_ / 2;
    }
    uint64_t lines() const { return lines_; }

  private:
    const Ps latency_, ps_per_line_;
    const uint32_t sockets_;
    std::vector<Ps> busy_;
    uint64_t lines_ = 0;
};

} // namespace thermocline
