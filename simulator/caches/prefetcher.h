// A stream prefetcher as processors have beside their second level: it watches what the first
// level misses, page by page, and once the misses of a page go in one direction it fetches
// ahead of them, never beyond the page.
#pragma once
#include <cstdint>
#include <vector>

namespace thermocline {

struct PrefetcherConfig {
    bool on = true;
    uint32_t streams = 16;   // pages that a core's prefetcher watches
    uint32_t distance = 16;  // lines that it runs ahead at most
    uint32_t degree = 2;     // lines that one miss asks for at most
    uint32_t confidence = 2; // steps in one direction before it starts
};

class Prefetcher {
  public:
    explicit Prefetcher(const PrefetcherConfig &config)
        : config_(config), streams_(config.on ? config.streams : 0) {}

    // A miss of the first level; calls fetch(line) for each line to fetch.
    template <class Fetch> void train(uint64_t line, Fetch fetch) {
        const uint64_t page = line / lines;
        Stream *mine = nullptr, *oldest = nullptr;
        for (Stream &each : streams_) {
            if (each.page == page && each.used)
                mine = &each;
            if (!oldest || each.used < oldest->used)
                oldest = &each;
        }
        if (!oldest)
            return;
        const int64_t at = int64_t(line % lines);
        if (!mine) {
            *oldest = {page, ++clock_, at, at, 0, 0};
            return;
        }
        mine->used = ++clock_;
        const int64_t step = at - mine->last;
        if (step == 0)
            return;
        const int direction = step > 0 ? 1 : -1;
        if (direction != mine->direction) {
            mine->direction = direction;
            mine->steps = 0;
            mine->ahead = at;
        }
        mine->steps++;
        mine->last = at;
        if ((mine->ahead - at) * direction < 0)
            mine->ahead = at;
        if (mine->steps < config_.confidence)
            return;
        for (uint32_t i = 0; i < config_.degree; i++) {
            const int64_t next = mine->ahead + direction;
            if (next < 0 || next >= int64_t(lines) ||
                (next - at) * direction > int64_t(config_.distance))
                return;
            mine->ahead = next;
            fetch(page * lines + uint64_t(next));
        }
    }

  private:
    static constexpr uint64_t lines = 64; // of a page of 4 KiB
    struct Stream {
        uint64_t page = 0, used = 0;
        int64_t last = 0, ahead = 0; // lines within the page
        int direction = 0;
        uint32_t steps = 0;
    };
    const PrefetcherConfig config_;
    std::vector<Stream> streams_;
    uint64_t clock_ = 0;
};

} // namespace thermocline
