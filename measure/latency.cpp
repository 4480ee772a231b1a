#include "measure/latency.h"
#include "measure/team.h"
#include <algorithm>

namespace measure {
namespace {

constexpr size_t loads_a_go = 1 << 15;
constexpr size_t most_warming = size_t(1) << 21; // loads: more than caches have lines

} // namespace

std::vector<double> latency(const Memory &memory, size_t bytes, Order order, unsigned cpu,
                            unsigned goes) {
    bytes = std::min(bytes, memory.bytes()) / line_bytes * line_bytes;
    if (bytes == 0)
        throw Refused("too little memory for a chase: give 64 bytes or more");
    std::vector<double> seconds(goes);
    together({cpu}, [&](unsigned) {
        thread_lines(memory.data(), bytes, order);
        auto *at = reinterpret_cast<void **>(memory.data());
        at = follow(at, std::min(bytes / line_bytes, most_warming));
        for (double &each : seconds) {
            const double begin = thread_seconds();
            at = follow(at, loads_a_go);
            each = (thread_seconds() - begin) / loads_a_go;
        }
    });
    return seconds;
}

} // namespace measure
