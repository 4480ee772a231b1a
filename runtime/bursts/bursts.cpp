// Sampler `bursts`: the twins record for short bursts, and run as the plain code in between
// (docs/method-bursts.md).
#include "config.h"
#include "estimate.h"
#include "lock.h"
#include "own_memory.h"
#include "own_thread.h"
#include "phases.h"
#include "runtime.h"
#include "sampler.h"
#include "sites.h"
#include "text.h"
#include "trace/record.h"
#include "trace/twin_work.h"
#include <cstdlib>
#include <ctime>

namespace tc {

namespace {

constexpr uint32_t owner_room = (1u << 16) + nonheap_kinds;
constexpr size_t stack_bytes = 256 << 10;
constexpr uint64_t millisecond = 1000000;
constexpr uint64_t look = millisecond / 2;         // how far a burst is
constexpr uint64_t least_begin = 50 * millisecond; // what is shorter is recorded whole

Lock lock; // over all of the below
BurstEstimate estimate;
BurstPhases phases;
Traffic *now, *before; // by owner: kinds of non-heap memory, then sites
uint64_t last_lines;
bool last_shared;
void *stack;
bool wanted, running;

bool beginning; // the first burst is under way: it counts from the start
uint32_t owners = nonheap_kinds;
uint64_t base_work; // a parent's, in the child of a fork
uint64_t recording_ns, counted_work, full_bursts;
uint64_t told_work;    // all work up to the last burst's end
double gap_work = 1e6; // a thread's, between bursts

uint64_t all_work() {
    const TwinWork work = twin_work();
    return work.plain + work.recorded - base_work;
}

// By owner, into `to`; returns the lines that the last level has taken in.
uint64_t read_traffic(Traffic *to) {
    const uint32_t most = owner_room - nonheap_kinds, sites = site_count() + 1;
    owners = nonheap_kinds + (sites < most ? sites : most);
    trace_snapshot(to + nonheap_kinds, owners - nonheap_kinds, to);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < owners; i++)
        bytes += to[i].read_bytes;
    return bytes >> TC_LINE_SHIFT;
}

// What `now` has more than `before`; the program goes on while it is read, so that a count
// may seem to go back.
void subtract_before() {
    auto less = [](uint64_t a, uint64_t b) { return a > b ? a - b : 0; };
    for (uint32_t i = 0; i < owners; i++)
        now[i] = {less(now[i].loads, before[i].loads), less(now[i].stores, before[i].stores),
                  less(now[i].read_bytes, before[i].read_bytes),
                  less(now[i].write_bytes, before[i].write_bytes)};
}

void nap(uint64_t nanoseconds) {
    timespec time{time_t(nanoseconds / 1000000000), long(nanoseconds % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

uint64_t wait_for_recorded(uint64_t work) {
    for (;; nap(look)) {
        const uint64_t recorded = twin_work().recorded;
        if (recorded >= work)
            return recorded;
    }
}

uint64_t warming() { return phases.warming(last_lines * (last_shared ? 1 : twin_work().threads)); }

void record_beginning() {
    const uint64_t since = nanoseconds(), begin = twin_work().recorded;
    wait_for_recorded(begin + 2 * warming());
    if (nanoseconds() - since < least_begin)
        nap(least_begin - (nanoseconds() - since));
    Guard guard(lock);
    const uint64_t fills = read_traffic(now), work = all_work();
    estimate.add_begin(now, owners, work);
    told_work = work;
    phases.learn(work, fills);
    recording_ns += nanoseconds() - since;
    counted_work += work;
    beginning = false;
}

// Until a thread has done so much work as it takes for the gap; a program that works
// otherwise than in loops is woken by the time.
void rest(uint64_t gap) {
    constexpr unsigned patience = 4;
    const uint64_t since = nanoseconds();
    trace_record_after(uint64_t(gap_work));
    trace_tell_twins(TC_TWINS_RUN);
    while (trace_twins_told() == TC_TWINS_RUN && nanoseconds() - since < patience * gap)
        nap(look);
    trace_tell_twins(TC_TWINS_RECORD);
    const double took = double(nanoseconds() - since) / double(gap);
    gap_work /= took < 0.5 ? 0.5 : took > 2 ? 2 : took;
}

void record_burst() {
    const uint64_t since = nanoseconds(), begin = twin_work().recorded, least = warming();
    uint64_t begin_fills, warm, warm_fills;
    {
        Guard guard(lock);
        begin_fills = read_traffic(before);
    }
    wait_for_recorded(begin + least);
    {
        Guard guard(lock);
        warm = twin_work().recorded;
        warm_fills = read_traffic(before);
    }
    wait_for_recorded(warm + least);
    Guard guard(lock);
    const uint64_t end_fills = read_traffic(now), end = twin_work().recorded, all = all_work();
    subtract_before();
    estimate.add(now, owners, end - warm, double(all - told_work));
    told_work = all;
    phases.learn(end - begin, end_fills - begin_fills);
    recording_ns += nanoseconds() - since;
    counted_work += end - warm;
    full_bursts += warm_fills - begin_fills >= last_lines;
}

void *make_bursts(void *) {
    record_beginning();
    for (uint64_t took = look;;) {
        rest(phases.gap(took));
        const uint64_t since = nanoseconds();
        record_burst();
        took = nanoseconds() - since;
    }
}

// The first burst begins with the process: it has no time before it, and needs no warming.
void begin_first() {
    beginning = true;
    trace_tell_twins(TC_TWINS_RECORD);
}

bool start(const Config &config, const char **why) {
    const char *share = config.option("overhead-ppm");
    const long ppm = share ? strtol(share, nullptr, 10) : 0;
    if (config.heap != HeapMode::sites)
        *why = "sampler bursts needs heap sites";
    else if (config.option_count != 1 || ppm < 1 || ppm > 1000000)
        *why = "sampler bursts takes one option, overhead-ppm, from 1 to 1000000";
    if (*why || !trace_start(config, why))
        return false;
    const size_t bytes = owner_room * sizeof(Traffic);
    now = static_cast<Traffic *>(own_memory_map(bytes));
    before = static_cast<Traffic *>(own_memory_map(bytes));
    stack = own_memory_map(stack_bytes);
    if (!now || !before || !estimate.start(owner_room)) {
        *why = "no memory for the bursts' sums";
        return false;
    }
    const CacheLevel &last = config.caches[config.cache_levels - 1];
    last_lines = last.bytes / last.line;
    last_shared = last.shared;
    phases.start(double(ppm) / 1e6);
    begin_first();
    wanted = true;
    return true;
}

void snapshot(Traffic *sites, uint32_t count, Traffic *outside) {
    Guard guard(lock);
    if (beginning)
        return trace_snapshot(sites, count, outside);
    const uint64_t work = all_work();
    for (uint32_t kind = 0; kind < nonheap_kinds; kind++)
        outside[kind] = estimate.sum(kind, work);
    for (uint32_t site = 0; site < count; site++)
        sites[site] = estimate.sum(nonheap_kinds + site, work);
}

// The watching thread's; a child's bursts start here as well.
void tick(uint64_t) {
    if (!wanted || running)
        return;
    running = true;
    if (!start_own_thread(make_bursts, stack, stack ? stack_bytes : 0))
        complain("no thread for the bursts: all is recorded");
}

void put(JsonFile &json) {
    Guard guard(lock);
    const uint64_t all = all_work(), recorded = twin_work().recorded;
    json.number("bursts", estimate.bursts());
    json.number("bursts_that_filled_the_cache", full_bursts);
    json.seconds("recording_seconds", recording_ns);
    // Of the work, by counts of instructions in loops and calls.
    auto share = [&](const char *name, uint64_t part) {
        json.seconds(name, all ? uint64_t(double(part) / double(all) * 1e9) : 0);
    };
    share("recorded_share", beginning ? all : recorded);
    share("counted_share", beginning ? all : counted_work);
}

void put_error(JsonFile &json, uint32_t owner) {
    Guard guard(lock);
    json.number("traffic_error_bytes", uint64_t(estimate.error_bytes(owner, all_work())));
}
void put_site(JsonFile &json, uint32_t site) { put_error(json, nonheap_kinds + site); }
void put_outside(JsonFile &json, unsigned kind) { put_error(json, kind); }

void restart_in_child() {
    lock.release(); // whoever held it is not in the child
    running = false;
    base_work = 0;
    base_work = all_work();
    estimate.forget();
    recording_ns = counted_work = full_bursts = told_work = 0;
    begin_first();
}

} // namespace

extern const Sampler bursts_sampler;
const Sampler bursts_sampler = {
    .name = "bursts",
    .start = start,
    .snapshot = snapshot,
    .tick = tick,
    .unseen_share = trace_unseen_share,
    .put = put,
    .put_site = put_site,
    .put_outside = put_outside,
    .restart_in_child = restart_in_child,
};

} // namespace tc
