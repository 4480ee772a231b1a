// A link in front of a memory (CXL): a latency and a bandwidth for each direction.  A message
// occupies its direction for as long as its bytes take, and arrives whole, a latency later.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/memory/request.h"
#include <deque>
#include <queue>
#include <vector>

namespace thermocline {

class LinkDirection {
  public:
    LinkDirection(uint64_t latency_ps, uint64_t bytes_per_second)
        : latency_(latency_ps), bandwidth_(bytes_per_second) {}
    // When a message that may go at a time has arrived.  Times never fall.
    Ps send(Ps at, uint64_t bytes) {
        const Ps start = at > free_ ? at : free_;
        free_ = start + (bytes * 1'000'000'000'000 + bandwidth_ - 1) / bandwidth_;
        bytes_ += bytes;
        return free_ + latency_;
    }
    uint64_t bytes() const { return bytes_; }

  private:
    Ps latency_, free_ = 0;
    uint64_t bandwidth_, bytes_ = 0;
};

struct Link {
    struct Waiting { // for the memory behind the link
        Request request;
        Ps ready;
    };
    struct Response {
        Ps ready;          // at the memory
        uint64_t sequence; // among those that are ready at once
        uint64_t token;
        Ps arrival;
        uint32_t bytes; // of data
        Purpose purpose;
        bool write, nvm;
        bool operator>(const Response &other) const {
            return ready != other.ready ? ready > other.ready : sequence > other.sequence;
        }
    };

    explicit Link(const LinkConfig &config)
        : request(config.request_ps, config.request_bandwidth),
          response(config.response_ps, config.response_bandwidth) {}

    LinkDirection request, response;
    std::deque<Waiting> waiting; // in order; the first one's queue may be full
    Ps blocked_until = 0;
    std::priority_queue<Response, std::vector<Response>, std::greater<Response>> responses;
    uint64_t sequence = 0;
};

} // namespace thermocline
