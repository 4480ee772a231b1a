// How much of the program the twins do not see: samples of where its instructions are,
// in twins or elsewhere.  The recorder itself is left out on both sides.
//
// Events are opened for each processor, inherited by threads to come, and read by
// whoever asks; samples that find their buffer full are lost, evenly on all sides.
#include "unseen.h"
#include "recorder.h"
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {

static constexpr unsigned max_processors = 256, max_modules = 1024;
static constexpr size_t page_bytes = 4096, buffer_bytes = 8 * page_bytes;
static constexpr uint64_t samples_per_second = 199; // no multiple of anything periodic

struct Range {
    uintptr_t low, high;
};
static perf_event_mmap_page *buffers[max_processors];
static unsigned buffer_count;
static Range twins[max_modules];
static unsigned twin_ranges;
static Range recorder_text;
static uint64_t seen, unseen;

static int open_event(uint32_t type, uint64_t event, int processor) {
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = type;
    attributes.config = event;
    attributes.freq = 1;
    attributes.sample_freq = samples_per_second;
    attributes.sample_type = PERF_SAMPLE_IP;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.inherit = 1;
    return int(syscall(SYS_perf_event_open, &attributes, 0, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

void unseen_start() {
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    for (int processor = 0; processor < processors && buffer_count < max_processors; processor++) {
        int event = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, processor);
        if (event < 0)
            event = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, processor);
        if (event < 0)
            continue;
        void *buffer =
            mmap(nullptr, page_bytes + buffer_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
        // The mapping keeps the event.
        close(event);
        if (buffer != MAP_FAILED)
            buffers[buffer_count++] = static_cast<perf_event_mmap_page *>(buffer);
    }
}

void unseen_add_twins(uintptr_t low, uintptr_t high) {
    if (twin_ranges < max_modules) {
        twins[twin_ranges] = {low, high};
        __atomic_store_n(&twin_ranges, twin_ranges + 1, __ATOMIC_RELEASE);
    }
}

void unseen_set_recorder(uintptr_t low, uintptr_t high) { recorder_text = {low, high}; }

static bool in(Range range, uintptr_t address) {
    return address >= range.low && address < range.high;
}

static void count(uintptr_t address) {
    if (in(recorder_text, address))
        return;
    for (unsigned i = 0; i < __atomic_load_n(&twin_ranges, __ATOMIC_ACQUIRE); i++)
        if (in(twins[i], address)) {
            seen++;
            return;
        }
    unseen++;
}

static uint64_t word_at(const char *data, uint64_t position) {
    uint64_t word;
    // Records are multiples of eight bytes, so that no word is split by the buffer's end.
    __builtin_memcpy(&word, data + position % buffer_bytes, sizeof word);
    return word;
}

static void drain(perf_event_mmap_page *buffer) {
    const char *data = reinterpret_cast<char *>(buffer) + page_bytes;
    uint64_t head = __atomic_load_n(&buffer->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = buffer->data_tail;
    while (tail < head) {
        uint64_t word = word_at(data, tail);
        perf_event_header header;
        __builtin_memcpy(&header, &word, sizeof header);
        if (header.size == 0)
            break;
        if (header.type == PERF_RECORD_SAMPLE)
            count(word_at(data, tail + sizeof header));
        tail += header.size;
    }
    __atomic_store_n(&buffer->data_tail, head, __ATOMIC_RELEASE);
}

double trace_unseen_share() {
    static unsigned char busy;
    if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        return -1;
    for (unsigned i = 0; i < buffer_count; i++)
        drain(buffers[i]);
    uint64_t all = seen + unseen;
    double share = buffer_count == 0 || all == 0 ? -1 : double(unseen) / double(all);
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return share;
}

void unseen_after_fork() {
    // The parent's events count the parent; the child's share would need its own.
    for (unsigned i = 0; i < buffer_count; i++)
        munmap(buffers[i], page_bytes + buffer_bytes);
    buffer_count = 0;
    seen = unseen = 0;
    unseen_start();
}

} // namespace tc
