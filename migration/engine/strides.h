// Faults at equal distances: what comes next can be brought before it is touched.
//
// Three faults in a row make a stream.  One chunk is brought ahead of it then, and twice as many
// each time that it gets to the end of those, as file systems read ahead.  A stream that leaps past
// some of them (they were near) goes on; any other distance makes it begin anew.
#pragma once
#include <cstdint>

namespace tc {

class Strides {
  public:
    static constexpr unsigned most_streams = 16, most_ahead = 16;
    static constexpr uint64_t reach = 64 << 20; // bytes: farther apart are two streams

    struct Ahead { // chunks at from, from + stride, ...
        uint64_t from;
        int64_t stride;
        unsigned chunks;
    };

    // Of a fault on the chunk at `at`: what should come next.
    Ahead fault(uint64_t at) {
        Stream &stream = nearest(at);
        stream.used = ++time_;
        const int64_t distance = int64_t(at - stream.last);
        const bool goes_on = stream.stride && distance % stream.stride == 0 &&
                             distance / stream.stride > 0 &&
                             distance / stream.stride <= 2 * int64_t(most_ahead);
        if (goes_on)
            stream.ahead = stream.ahead == 0                ? 1
                           : stream.ahead * 2 <= most_ahead ? stream.ahead * 2
                                                            : most_ahead;
        else
            stream.ahead = 0;
        stream.stride = goes_on ? stream.stride : distance;
        stream.last = at;
        return {at + uint64_t(stream.stride), stream.stride, stream.ahead};
    }

  private:
    struct Stream {
        uint64_t last, used; // used 0: free
        int64_t stride;
        unsigned ahead;
    };

    // That whose last fault is nearest, if it is near; else the one that has been idle for longest,
    // begun anew.
    Stream &nearest(uint64_t at) {
        Stream *best = nullptr, *idle = &streams_[0];
        uint64_t least = reach + 1;
        for (Stream &stream : streams_) {
            const uint64_t distance = at > stream.last ? at - stream.last : stream.last - at;
            if (stream.used && distance < least) {
                best = &stream;
                least = distance;
            }
            if (stream.used < idle->used)
                idle = &stream;
        }
        if (best)
            return *best;
        *idle = {at, 0, 0, 0};
        return *idle;
    }

    Stream streams_[most_streams] = {};
    uint64_t time_ = 0;
};

} // namespace tc
