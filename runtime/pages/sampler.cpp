// Written and accessed pages as a method of profiling: no counters, no recording
// (docs/method-pages.md).
//
// Everything is done by the watching thread between its samples of residency.  A look protects a
// share of the heap, and the next one sees what was written; looks are as far apart, and shares
// as small, as the budget wants.
#include "sampler.h"
#include "accessed.h"
#include "estimate.h"
#include "own_memory.h"
#include "page_scan.h"
#include "runtime.h"
#include "site_heap_range.h"
#include "text.h"
#include "written.h"
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace tc {

extern const Sampler pages_sampler;

namespace pages {
namespace {

constexpr uint64_t millisecond = 1000000;
constexpr uint64_t shortest = 100 * millisecond, longest = 10000 * millisecond;
constexpr uintptr_t chunk = 1 << 20; // is protected or not as a whole
constexpr uintptr_t page = 4096;
constexpr double least_share = 1.0 / 16; // below, looks are further apart instead

double budget = 0.05; // of the time
const char *failure;  // what the kernel lacked, when it was asked
bool soft_dirty;      // only that is wanted, for tests
bool tracking;        // the heap is registered
bool inherited;       // a fork's child has pages that it did not write
bool reads_accessed = true;
bool accessed_cleared;

uint64_t interval = shortest, last_look, next_accessed;
double share = 1; // of the chunks that are protected
uint64_t looks, accessed_looks, faults, last_written, own_ns;

uint64_t processor_time() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return uint64_t(used.tv_sec) * 1000000000 + uint64_t(used.tv_nsec);
}

// The same chunks at any share that is not smaller.
bool is_chosen(uintptr_t address, double at_share) {
    uint64_t hash = address / chunk * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    return double(uint32_t(hash * 0x9e3779b1u)) < at_share * 4294967296.0;
}

struct Seen {
    double factor;
    uint64_t pages;
};

void note_written(void *context, uintptr_t from, uintptr_t to) {
    auto *seen = static_cast<Seen *>(context);
    seen->pages += (to - from) / page;
    if (seen->factor > 0)
        add_written(from, to, seen->factor);
}

struct Choice {
    bool before, from_now; // protected at the last look; to be protected now
    bool operator==(const Choice &) const = default;
};

// Calls scan(from, to, choice) for every run of the heap's chunks that are chosen alike.
template <typename Scan> void each_run(double before, double from_now, Scan scan) {
    const uintptr_t base = site_heap_range.base, top = base + units_top() * unit_bytes;
    const auto choice_at = [=](uintptr_t at) {
        return Choice{is_chosen(at, before), is_chosen(at, from_now)};
    };
    for (uintptr_t at = base; at < top;) {
        const Choice choice = choice_at(at);
        const uintptr_t from = at;
        do
            at += chunk;
        while (at < top && choice_at(at) == choice);
        scan(from, at < top ? at : top, choice);
    }
}

bool start_tracking() {
    if (!failure && !tracking && !(failure = written_open(soft_dirty)))
        tracking =
            written_track(site_heap_range.base, site_heap_range.base + site_heap_range.bytes);
    if (!failure && !tracking)
        failure = "the kernel does not track the heap's pages";
    return tracking;
}

// How much to protect, and for how long: if as many pages are written again as at the last look,
// the faults stay within the budget.
double choose_share() {
    const double pages =
        looks ? double(last_written) / share : double(units_in_use() * unit_bytes / page);
    const double cost = pages * double(written_fault_ns());
    const auto affordable = [cost] { return budget * double(interval) / (cost > 1 ? cost : 1); };
    const double least = written_by_range() ? least_share : 1;
    interval = shortest;
    while (interval < longest && affordable() < least)
        interval *= 2;
    return affordable() < 1 && written_by_range() ? affordable() : 1;
}

void look_at_written(int pagemap, bool goes_on) {
    const double next = goes_on && start_tracking() ? choose_share() : 0;
    // Before the first look nothing was protected, and all that is there was written; but by
    // the parent where this is a fork's child.
    Seen seen{inherited ? 0 : 1 / share, 0}, unseen{0, 0};
    const uintptr_t base = site_heap_range.base;
    if (!looks && !written_by_range()) // their trial cleared the bits
        scan_resident(pagemap, base, base + units_top() * unit_bytes, note_written, &seen);
    else
        each_run(share, next, [&](uintptr_t from, uintptr_t to, Choice choice) {
            if (choice.before || choice.from_now)
                written_scan(pagemap, from, to, choice.from_now, note_written,
                             choice.before ? &seen : &unseen);
        });
    if (next > 0 && !written_by_range())
        written_protect_all();
    faults += looks ? seen.pages : 0;
    last_written = seen.pages;
    inherited = false;
    looks++;
    if (next > 0)
        share = next;
}

void note_accessed(void *, uintptr_t from, uintptr_t to, uint64_t bytes) {
    add_accessed(from, to, bytes);
}

// Costs in proportion to what is resident, whatever is accessed: it is done as seldom as half the
// budget wants.
void look_at_accessed(uint64_t now, bool goes_on) {
    const uint64_t before = processor_time();
    if (accessed_cleared) {
        accessed_read(note_accessed, nullptr);
        accessed_looks++;
    }
    accessed_cleared = reads_accessed = goes_on && accessed_begin();
    const double wait = double(processor_time() - before) / (budget / 2);
    next_accessed = now + (wait > double(shortest) ? uint64_t(wait) : shortest);
}

bool start(const Config &config, const char **why) {
    if (config.heap != HeapMode::sites) {
        *why = "sampler pages needs heap sites";
        return false;
    }
    if (const char *digit = config.option("overhead-ppm")) {
        uint64_t ppm = 0;
        for (; *digit >= '0' && *digit <= '9' && ppm <= 1000000; digit++)
            ppm = ppm * 10 + uint64_t(*digit - '0');
        if (*digit || ppm == 0 || ppm > 1000000) {
            *why = "overhead-ppm is a number from 1 to 1000000";
            return false;
        }
        budget = double(ppm) / 1e6;
    }
    soft_dirty = config.option("soft-dirty");
    if (!estimate_start() || !accessed_start()) {
        *why = "there is no memory for the pages' tables";
        return false;
    }
    return true;
}

// Faults that were not foreseen are paid back by waiting.
bool look_is_due(uint64_t now) {
    const double spent = double(faults) * double(written_fault_ns()) + double(own_ns);
    return !looks || (now - last_look >= interval && spent <= budget * double(now));
}

// By the watching thread; the last by the one that ends the process, which arms nothing.
void tick(uint64_t now) {
    const bool goes_on = on_own_stack();
    const uint64_t before = processor_time();
    if (!goes_on || look_is_due(now)) {
        const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        if (pagemap >= 0) {
            look_at_written(pagemap, goes_on);
            close(pagemap);
        }
        last_look = now;
    }
    if (reads_accessed && (!goes_on || now >= next_accessed))
        look_at_accessed(now, goes_on);
    own_ns += processor_time() - before;
}

void snapshot(Traffic *sites, uint32_t count, Traffic *) {
    estimate_snapshot(sites, count, accessed_looks ? double(looks) / double(accessed_looks) : 0);
}

void put(JsonFile &json) {
    json.string("unit", "pages accessed and written");
    json.string("meaning", "read and written: whole pages, once for each look that found them "
                           "accessed or written; how often in between, nobody saw");
    json.string("written_by", tracking  ? written_means()
                              : failure ? failure
                                        : "the end came before the first look");
    json.string("accessed_by", accessed_looks ? "clear_refs and smaps" : nullptr);
    json.number("looks_written", looks);
    json.number("looks_accessed", accessed_looks);
    json.seconds("interval_seconds", interval);
    json.seconds("protected_share", uint64_t(share * 1e9));
    json.number("fault_nanoseconds", written_fault_ns());
    json.number("faults", faults);
    json.seconds("thread_seconds", own_ns);
    json.seconds("wanted_overhead", uint64_t(budget * 1e9));
}

void restart_in_child() {
    written_forget();
    tracking = accessed_cleared = false;
    failure = nullptr;
    looks = accessed_looks = last_look = next_accessed = last_written = faults = own_ns = 0;
    interval = shortest;
    share = 1;
    reads_accessed = inherited = true;
}

} // namespace
} // namespace pages

const Sampler pages_sampler = {
    .name = "pages",
    .start = pages::start,
    .snapshot = pages::snapshot,
    .tick = pages::tick,
    .unseen_share = nullptr,
    .put = pages::put,
    .put_site = pages::put_estimate,
    .put_outside = nullptr,
    .restart_in_child = pages::restart_in_child,
};

} // namespace tc
