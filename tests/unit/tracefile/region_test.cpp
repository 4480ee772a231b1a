// Regions: a filter that reads everything is the model; cursors may skip chunks.
#include "simulator/trace/collect.h"
#include "support.h"

using namespace support;

namespace {

struct Timed {
    Reference r;
    uint64_t ns; // of the raw chunk it came in
    uint32_t window;
};

struct Recorded {
    std::string raw;
    std::vector<Timed> records;
};

// A program with functions that nest, sampling windows, and time that passes.
Recorded record(uint64_t seed) {
    Random random(seed);
    Recorded all;
    RawStream raw;
    raw.tables();
    uint64_t ns = 1000;
    uint32_t window = 1, depth = 0;
    for (int chunk = 0; chunk < 120; chunk++) {
        std::vector<Reference> records;
        const uint32_t first_window = window;
        const bool calls = random() % 4 == 0;
        for (uint64_t i = 100 + random() % 2500; i > 0; i--) {
            Reference r;
            r.address = random();
            r.gap = uint32_t(random() % 5);
            if (calls && random() % 400 == 0) {
                r.event = depth && random() % 2 ? TraceEvent::leave : TraceEvent::enter;
                r.instruction = uint32_t(random() % functions);
                depth += r.event == TraceEvent::enter ? 1 : -1u;
            }
            if (random() % 20000 == 0) {
                r.event = TraceEvent::window_begin;
                r.address = random() % 100000;
                r.owner = ++window;
            }
            records.push_back(r);
            all.records.push_back({r, ns, window});
        }
        raw.records(0, records, ns, ns + 50, 0, first_window);
        ns += 100;
    }
    raw.end();
    all.raw = raw.bytes;
    return all;
}

std::vector<Reference> model(const Recorded &recorded, const Region &region) {
    std::vector<Reference> kept;
    uint64_t skipped = 0;
    uint32_t depth = 0;
    for (const auto &[r, ns, window] : recorded.records) {
        const bool call = r.event == TraceEvent::enter || r.event == TraceEvent::leave;
        const bool matches = call && region.function == "function0" && r.function() < 2;
        if (matches && r.event == TraceEvent::enter)
            depth++;
        if (r.event == TraceEvent::window_begin)
            depth = 0; // those that it is in are entered again
        const bool in = (region.function.empty() || depth) && ns >= region.from_ns &&
                        ns < region.to_ns && window >= region.first_window &&
                        window <= region.last_window;
        if (matches && r.event == TraceEvent::leave && depth)
            depth--;
        if (!in || r.event == TraceEvent::window_begin) {
            skipped += r.instructions();
            continue;
        }
        if (skipped) {
            Reference hole;
            hole.event = TraceEvent::window_begin;
            hole.address = skipped;
            hole.owner = window;
            kept.push_back(hole);
        }
        skipped = 0;
        kept.push_back(r);
    }
    return kept;
}

std::vector<Region> regions() {
    return {{.function = "function0"},
            {.from_ns = 3000},
            {.to_ns = 5000},
            {.from_ns = 3000, .to_ns = 6050},
            {.first_window = 3},
            {.first_window = 2, .last_window = 4},
            {.function = "function0", .from_ns = 4000, .to_ns = 9000},
            {.function = "function0", .first_window = 2},
            {.function = "function1"},
            {.from_ns = 1 << 30}};
}

} // namespace

TEST(a_region_is_what_a_filter_leaves) {
    size_t kept = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        const Recorded recorded = record(seed);
        int fd = descriptor_of(recorded.raw);
        TraceWriter writer(check::scratch("a.trace"), {.overwrite = true});
        collect(fd, "the stream", writer, {});
        writer.finish();
        close(fd);
        for (const Region &region : regions()) {
            const auto wanted = model(recorded, region);
            TraceReader file(check::scratch("a.trace"));
            expect_records(read_thread(file, 0, region), wanted);
            fd = descriptor_of(recorded.raw);
            TraceReader live(stream_source(fd, "the stream", 1 << 28));
            expect_records(read_thread(live, 0, region), wanted);
            close(fd);
            kept += wanted.size();
        }
    }
    expect_lt(size_t(100000), kept);
}

TEST(a_whole_trace_counts_as_many_instructions_as_its_regions_and_holes) {
    const Recorded recorded = record(1);
    const int fd = descriptor_of(recorded.raw);
    TraceWriter writer(check::scratch("a.trace"));
    collect(fd, "the stream", writer, {});
    writer.finish();
    close(fd);
    uint64_t all = 0, last = 0;
    for (const Timed &timed : recorded.records)
        all += timed.r.instructions();
    TraceReader trace(check::scratch("a.trace"));
    for (const Reference &r : read_thread(trace, 0, {.from_ns = 4000, .to_ns = 1 << 30}))
        last += r.instructions();
    expect_eq(last, all);
}
