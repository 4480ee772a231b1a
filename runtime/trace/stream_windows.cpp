// The sampling windows that keep a recording's budget.
#include "config.h"
#include "stream_state.h"

namespace tc {

// Half of the budget is for a run's beginning; then each doubling of the run gets an equal part
// of the rest, as windows evenly spread over it.  So a run may be 2^16 times as long as that
// beginning before the budget is used up.
constexpr uint64_t doublings = 16, windows_in_doubling = 8, longest_window = 1 << 20;

void stream_windows_start(uint64_t budget) {
    stream.budget = stream.left = budget;
    stream.phase_left = budget / 2;
    uint64_t window = budget / (2 * doublings * windows_in_doubling) + 1;
    stream.window = window < longest_window ? window : longest_window;
    stream.period = 1;
    stream.number = 1;
    stream.instructions = 0;
    stream.timed = stream.config->stream_to_ns > 0;
    stream.open = !stream.timed;
    stream.begun = false;
    stream.looked = 0;
}

static uint64_t all_instructions() {
    uint64_t sum = 0;
    for (const StreamBuffer *b = stream.buffers; b; b = b->next)
        sum += __atomic_load_n(&b->instructions, __ATOMIC_RELAXED);
    return sum;
}

static void end_window() {
    uint64_t now = all_instructions();
    tc_raw_window window{stream.number, stream.window_begin, stream.socket.now(),
                         now - stream.instructions};
    stream.instructions = now;
    stream_send(TC_RAW_WINDOW, &window, sizeof window, 1);
    stream.counted = 0;
    __atomic_store_n(&stream.open, false, __ATOMIC_RELAXED);
}

// The system's clock takes a system call, the processor's does not.
void stream_windows_look() {
    constexpr uint64_t about_a_millisecond = 1 << 21;
    uint64_t ticks = __builtin_ia32_rdtsc();
    if (ticks - __atomic_load_n(&stream.looked, __ATOMIC_RELAXED) < about_a_millisecond)
        return;
    stream_lock();
    stream.looked = ticks;
    uint64_t now = stream.socket.now();
    if (stream.timed && now >= stream.config->stream_to_ns) {
        if (stream.open)
            end_window();
        stream.left = 0;
        stream.timed = false;
    } else if (stream.timed && !stream.begun && now >= stream.config->stream_from_ns) {
        stream.begun = true;
        stream.window_begin = now;
        __atomic_store_n(&stream.open, true, __ATOMIC_RELAXED);
    }
    stream_unlock();
}

void stream_windows_turn(uint64_t references) {
    if ((!stream.left && !stream.open) || (stream.timed && !stream.begun))
        return;
    stream.counted += references;
    if (!stream.open) {
        if (stream.counted < stream.window * (stream.period - 1))
            return;
        stream.number++;
        stream.window_begin = stream.socket.now();
        stream.counted = 0;
        __atomic_store_n(&stream.open, true, __ATOMIC_RELAXED);
        return;
    }
    uint64_t used = references < stream.left ? references : stream.left;
    stream.left -= used;
    stream.phase_left -= used < stream.phase_left ? used : stream.phase_left;
    if (stream.phase_left == 0) {
        stream.phase_left = stream.budget / (2 * doublings) + 1;
        stream.period = stream.period == 1 ? doublings : 2 * stream.period;
    }
    if (stream.period == 1 || (stream.counted < stream.window && stream.left))
        return;
    end_window();
}

} // namespace tc
