// From rings as the kernel fills them to each site's figures: PEBS, IBS and SPE, made by hand.
#include "check.h"
#include "sample/counts.h"
#include "sample/ring_table.h"
#include "site_heap.h"
#include "stream.h"

namespace tc {
uint64_t nanoseconds() { return 1; }
namespace sample {
RingTable ring_table;
}
} // namespace tc

using namespace tc::sample;

namespace {

constexpr uint64_t line = 64;

// One processor's ring and AUX area, and two sites with a block each.
struct Machine {
    Machine() {
        expect_true(site_heap_reserve() && counts_start(line));
        for (uint32_t site : {1, 2})
            block[site] = uintptr_t(site_heap_malloc(site, 100000, 0, false));
        ring_table.rings = &processor;
        ring_table.count = 1;
        ring_table.ids = ids;
        ring_table.fields = known_fields;
        processor.page = &page;
        processor.data = records.ring();
        processor.area = {area.data(), area.size()};
    }
    Event &event(uint64_t id, Event::Counts counts) {
        OpenEvent *slot = ring_table.slot_of(id);
        Event &made = events[event_count++];
        made = {};
        made.counts = counts;
        made.memory_source = -1;
        made.weight = true;
        *slot = {id, &made};
        return made;
    }
    void sample(uint64_t id, uintptr_t address, uint64_t period, uint64_t source,
                uint64_t process = uint64_t(getpid())) {
        records.put(PERF_RECORD_SAMPLE, {id, process, address, period, 300, source});
    }
    void drain() {
        processor.data = records.ring();
        page.data_head = records.head;
        drain_rings(0);
        expect_eq(uint64_t(page.data_tail), records.head);
    }
    Counts of(uint32_t site) { return counts_of_site(site); }

    uintptr_t block[3];
    Stream records{4096};
    std::vector<uint8_t> area = std::vector<uint8_t>(4096);
    perf_event_mmap_page page{};
    ProcessorRing processor{};
    OpenEvent ids[id_slots]{};
    Event events[4];
    unsigned event_count = 0;
};

uint64_t source(uint64_t operation, uint64_t level) {
    perf_mem_data_src word{};
    word.mem_op = operation;
    word.mem_lvl = level;
    return word.val;
}
const uint64_t load_of_memory = source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM);
const uint64_t load_of_cache = source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L2);
const uint64_t store_of_memory = source(PERF_MEM_OP_STORE, PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM);
const uint64_t store_beyond = source(PERF_MEM_OP_STORE, PERF_MEM_LVL_MISS | PERF_MEM_LVL_L1);

} // namespace

TEST(misses_are_lines_read) {
    static Machine m;
    m.event(5, Event::misses);
    for (int i = 0; i < 10; ++i)
        m.sample(5, m.block[1] + uintptr_t(i) * 1000, 512, 0);
    m.sample(5, m.block[2], 512, 0);
    m.drain();
    expect_eq(m.of(1).samples, 10u);
    expect_eq(m.of(1).events, 5120u);
    expect_eq(m.of(1).traffic.read_bytes, 5120 * line);
    expect_eq(m.of(1).traffic.write_bytes, 0u);
    expect_eq(m.of(1).traffic.loads, 0u); // those that hit are not known
    expect_eq(m.of(1).latencies, 3000u);
    expect_eq(m.of(2).traffic.read_bytes, 512 * line);
}

TEST(references_count_where_they_went) {
    static Machine m;
    m.event(7, Event::references);
    m.sample(7, m.block[1], 1000, load_of_memory);
    m.sample(7, m.block[1], 1000, load_of_cache);
    m.sample(7, m.block[1], 1000, store_beyond);
    m.sample(7, m.block[2], 2000, store_of_memory);
    m.drain();
    expect_eq(m.of(1).traffic.loads, 2000u);
    expect_eq(m.of(1).traffic.stores, 1000u);
    expect_eq(m.of(1).traffic.read_bytes, 1000 * line);
    expect_eq(m.of(1).traffic.write_bytes, 0u); // nobody said that it reached memory
    expect_eq(m.of(1).samples, 1u);             // of what the traffic is made of
    expect_eq(m.of(2).traffic.write_bytes, 2000 * line);
}

TEST(two_events_share_a_ring) {
    static Machine m;
    m.event(100, Event::misses);
    m.event(100 + id_slots, Event::references); // the same place in the table of numbers
    m.sample(100, m.block[1], 10, 0);
    m.sample(100 + id_slots, m.block[1], 10, store_beyond);
    m.sample(999, m.block[1], 10, 0); // of nobody's event
    m.drain();
    expect_eq(m.of(1).traffic.read_bytes, 10 * line);
    expect_eq(m.of(1).traffic.stores, 10u);
}

TEST(what_is_nobodys_is_counted_apart) {
    static Machine m;
    m.event(5, Event::misses);
    static char global;
    m.sample(5, 0, 1, 0);
    m.sample(5, m.block[1], 1, 0, 1); // of another process
    m.sample(5, uintptr_t(&global), 1, 0);
    // Not a variable's address: AddressSanitizer keeps those elsewhere.
    m.sample(5, uintptr_t(__builtin_frame_address(0)), 1, 0);
    m.sample(5, uintptr_t(m.of(1).samples + 0x10), 1, 0); // no mapping
    m.drain();
    expect_eq(m.of(1).samples, 0u);
    expect_eq(counts_strays().without_address, 1u);
    expect_eq(counts_strays().of_others, 1u);
    expect_eq(counts_outside(tc::nonheap_globals).samples, 1u);
    expect_eq(counts_outside(tc::nonheap_stack).samples, 1u);
    expect_eq(counts_outside(tc::nonheap_other).samples, 1u);
}

TEST(a_block_that_was_freed_is_still_its_sites) {
    static Machine m;
    m.event(5, Event::misses);
    void *large = site_heap_malloc(1, 64 << 20, 0, false);
    m.sample(5, uintptr_t(large) + (50 << 20), 1, 0);
    site_heap_free(large);
    m.drain();
    expect_eq(m.of(1).samples, 1u);
}

TEST(a_full_ring_goes_round_many_times) {
    static Machine m;
    m.event(5, Event::misses);
    for (int round = 0; round < 1000; ++round) {
        for (int i = 0; i < 50; ++i)
            m.sample(5, m.block[1], 1, 0);
        m.records.put(PERF_RECORD_LOST, {5, 3});
        m.drain();
    }
    expect_eq(m.of(1).samples, 50000u);
    expect_eq(ring_table.totals.lost, 3000u);
}

TEST(damage_ends_a_drain_and_not_the_next) {
    static Machine m;
    m.event(5, Event::misses);
    m.sample(5, m.block[1], 1, 0);
    m.records.put_header({PERF_RECORD_SAMPLE, 2, 3});
    m.sample(5, m.block[1], 1, 0);
    m.drain();
    m.sample(5, m.block[1], 1, 0);
    m.drain();
    expect_eq(m.of(1).samples, 2u);
    expect_eq(ring_table.totals.damaged, 1u);
}

TEST(arms_area) {
    static Machine m;
    Event &event = m.event(5, Event::references);
    event.period = 4096;
    m.processor.in_area = &event;
    uint64_t at = 4096 - 20; // the record crosses the area's end
    const uint64_t from = at;
    const auto put = [&](std::initializer_list<int> bytes) {
        for (int byte : bytes)
            m.area[at++ % m.area.size()] = uint8_t(byte);
    };
    put({0x49, 1, 0x52, 0x02, 0x03, 0xb2}); // a store, retired, missed the last level
    for (int i = 0; i < 8; ++i)
        put({int(m.block[2] >> 8 * i & 255)});
    put({0x98, 77, 0, 0x01});
    m.records.put(PERF_RECORD_AUX, {from, at - from, PERF_AUX_FLAG_TRUNCATED});
    m.records.put(PERF_RECORD_AUX, {at, 100000, 0}); // more than there can be
    m.drain();
    expect_eq(m.of(2).traffic.stores, 4096u);
    expect_eq(m.of(2).traffic.write_bytes, 4096 * line);
    expect_eq(m.of(2).latencies, 77u);
    expect_eq(uint64_t(m.page.aux_tail), at);
    expect_eq(ring_table.totals.truncated, 1u);
    expect_eq(ring_table.totals.damaged, 1u);
}
