// The recorder gives exactly the numbers of the reference model, for the same references.
#include "check.h"
#include "config.h"
#include "reference.h"
#include "stand_ins.h"
#include "trace/recorder.h"
#include <pthread.h>
#include <random>
#include <setjmp.h>
#include <signal.h>
#include <span>
#include <sys/mman.h>

using thermocline::CacheGeometry;

namespace {

constexpr unsigned units = 64;

tc::Config config_of(const std::vector<CacheGeometry> &levels) {
    tc::Config config{};
    config.trace = true;
    for (const CacheGeometry &level : levels)
        config.caches[config.cache_levels++] = {level.bytes, level.ways, 64, level.shared};
    return config;
}

struct Member {
    uint16_t offset, bytes;
    bool store;
};

// What the compiler emits for a group: the test of the filter, and the call where it fails.
void record(uintptr_t address, std::span<const Member> members) {
    tc_recorder *r = tc_recorder_here ? tc_recorder_here : tc_recorder_make();
    uint64_t stamp = r->clock;
    r->clock += TC_STAMPS_PER_REFERENCE * members.size();
    unsigned end = 0;
    for (const Member &member : members)
        end = std::max(end, unsigned(member.offset + member.bytes));
    uint64_t line = address >> 6, last = (address + end - 1) >> 6;
    tc_way *way =
        *reinterpret_cast<tc_way **>(reinterpret_cast<char *>(r->filter) + TC_FILTER_OFFSET(line));
    if (way->line == line && last == line) {
        for (const Member &member : members)
            (member.store ? way->stores : way->loads)++;
        way->stamp = stamp + TC_STAMPS_PER_REFERENCE * (members.size() - 1);
        return;
    }
    alignas(8) char memory[sizeof(tc_group) + 8 * sizeof(tc_reference)];
    auto *group = reinterpret_cast<tc_group *>(memory);
    *group = {};
    group->count = uint32_t(members.size());
    group->bytes = end;
    for (size_t i = 0; i < members.size(); i++) {
        (members[i].store ? group->stores : group->loads)++;
        group->references[i] = {members[i].offset,
                                uint16_t(members[i].bytes << 1 | members[i].store)};
    }
    tc_record_group(r, address, group, stamp);
}

// Without allocation: signal handlers record, too.
void record_one(uintptr_t address, bool store) {
    const Member member{0, 8, store};
    record(address, {&member, 1});
}

// A stream with the habits of programs: walks, hot spots, strides of powers of two, chance.
class Stream {
  public:
    Stream(unsigned seed, char *memory, size_t bytes)
        : random(seed), start(reinterpret_cast<uintptr_t>(memory)), bytes(bytes) {}

    uintptr_t next() {
        switch (random() % 5) {
        case 0:
            walk = (walk + 8) % (bytes - 256);
            return start + walk;
        case 1:
            return start + random() % 4096;
        case 2:
            power = (power + 65536) % (bytes - 256);
            return start + power;
        case 3:
            return start + random() % (bytes - 256);
        default:
            return start + (walk + random() % 512) % (bytes - 256);
        }
    }
    std::mt19937 random;

  private:
    uintptr_t start;
    size_t bytes, walk = 0, power = 0;
};

// What serves the levels behind the first, instead of what the processor is best at.
void (*serve_by)(tc::Recorder &) = nullptr;

void expect_same(const std::vector<CacheGeometry> &levels, unsigned seed, unsigned steps) {
    char *memory = make_owned_memory(units);
    const char *why = "";
    expect_true(tc::trace_start(config_of(levels), &why));
    expect_str(why, "");
    if (serve_by) {
        tc::model.serve = serve_by;
        tc::model.vectors = serve_by != tc::serve_levels;
    }
    ReferenceHierarchy reference(levels, [](uint64_t line) { return owner_in_test(line << 6); });
    Stream stream(seed, memory, size_t(units) << site_heap_unit_shift);

    for (unsigned step = 0; step < steps; step++) {
        uintptr_t address = stream.next();
        if (stream.random() % 200 == 0) {
            uint64_t length = stream.random() % 3000;
            uintptr_t to = stream.next();
            length = std::min(length, reinterpret_cast<uintptr_t>(memory) + (size_t(units) << 16) -
                                          std::max(address, to));
            tc_record_load(tc_recorder_here, reinterpret_cast<void *>(address), length);
            for (uint64_t line = address >> 6; length && line <= (address + length - 1) >> 6;
                 line++)
                reference.refer(line, false);
            tc_record_store(tc_recorder_here, reinterpret_cast<void *>(to), length);
            for (uint64_t line = to >> 6; length && line <= (to + length - 1) >> 6; line++)
                reference.refer(line, true);
            continue;
        }
        std::vector<Member> members;
        unsigned count = 1 + stream.random() % 3;
        for (unsigned i = 0; i < count; i++) {
            uint16_t length = uint16_t(1u << stream.random() % 6);
            members.push_back(
                {uint16_t(stream.random() % (65u - length)), length, stream.random() % 3 == 0});
        }
        // Plugin and recorder agree that a group starts at its first byte.
        members[0].offset = 0;
        record(address, members);
        for (const Member &member : members) {
            uint64_t line = (address + member.offset) >> 6;
            uint64_t last = (address + member.offset + member.bytes - 1) >> 6;
            reference.refer(line, member.store);
            if (last != line)
                reference.refer(last, member.store);
        }
    }
    tc::Traffic sites[4], nonheap[tc::nonheap_kinds];
    tc::trace_snapshot(sites, 4, nonheap);
    for (uint32_t site = 1; site < 4; site++) {
        expect_eq(sites[site].loads, reference.traffic[site].loads);
        expect_eq(sites[site].stores, reference.traffic[site].stores);
        expect_eq(sites[site].read_bytes, reference.traffic[site].read_bytes);
        expect_eq(sites[site].write_bytes, reference.traffic[site].write_bytes);
        expect_lt(0u, sites[site].read_bytes);
        expect_lt(0u, sites[site].write_bytes);
    }
    for (const tc::Traffic &kind : nonheap)
        expect_eq(kind.loads + kind.stores, 0u);
}

const CacheGeometry l1{32768, 8, 64, false}, l2{262144, 16, 64, false}, l3{1 << 20, 16, 64, true};

} // namespace

TEST(three_levels) { expect_same({l1, l2, l3}, 1, 300000); }
TEST(two_levels) { expect_same({l1, {1 << 20, 16, 64, true}}, 2, 300000); }
TEST(one_level) { expect_same({l1}, 3, 200000); }
TEST(private_levels_only) { expect_same({l1, l2}, 4, 200000); }
TEST(direct_mapped) { expect_same({{4096, 1, 64, false}, {65536, 1, 64, true}}, 5, 200000); }
TEST(tiny_first_level) { expect_same({{256, 2, 64, false}, {65536, 4, 64, true}}, 6, 200000); }
TEST(one_way_in_all) { expect_same({{64, 1, 64, false}, {65536, 4, 64, true}}, 13, 50000); }
TEST(one_set) { expect_same({{512, 8, 64, false}, {65536, 4, 64, true}}, 14, 100000); }
TEST(three_ways) { expect_same({{3 * 64 * 16, 3, 64, false}, l3}, 15, 100000); }
TEST(fully_associative) { expect_same({{2048, 32, 64, false}, {8192, 128, 64, true}}, 7, 100000); }
TEST(first_level_larger_than_the_filter) { expect_same({{1 << 18, 8, 64, false}, l3}, 8, 200000); }
TEST(sets_no_power_of_two) {
    expect_same({{48 * 1024 * 3 / 2, 12, 64, false}, {90 * 65536 / 4, 15, 64, true}}, 9, 200000);
}
TEST(twenty_ways) { expect_same({l1, {20 * 64 * 512, 20, 64, true}}, 10, 200000); }

TEST(without_vector_registers) {
    serve_by = tc::serve_levels;
    expect_same({l1, l2, {20 * 64 * 512, 20, 64, true}}, 11, 100000);
}
TEST(with_avx2) {
    if (!__builtin_cpu_supports("avx2"))
        return;
    serve_by = tc::serve_levels_avx2;
    expect_same({l1, l2, {20 * 64 * 512, 20, 64, true}}, 12, 100000);
}

TEST(same_numbers_twice) {
    // One process for each run: the model can be started once.
    expect_same({l1, l2, l3}, 1, 50000);
}

TEST(refuses_what_it_cannot_model) {
    const char *why = "";
    expect_true(!tc::trace_start(config_of({}), &why));
    expect_true(!tc::trace_start(config_of({{32768, 8, 64, true}}), &why));
    tc::Config config = config_of({l1});
    config.caches[0].line = 128;
    expect_true(!tc::trace_start(config, &why));
    expect_true(!tc::trace_start(config_of({{1000, 3, 64, false}}), &why));
    expect_true(!tc::trace_start(config_of({l1, l3, l2}), &why));
    uint64_t sets = (uint64_t(1) << 23) + 1;
    expect_true(!tc::trace_start(config_of({{sets * 64, 1, 64, false}}), &why));
}

// Threads: nothing is lost of what is counted before any cache.
TEST(threads_lose_no_reference) {
    static char *memory;
    memory = make_owned_memory(units);
    const char *why = "";
    expect_true(tc::trace_start(config_of({l1, l2, l3}), &why));
    constexpr unsigned threads = 4, steps = 100000;
    auto work = [](void *argument) -> void * {
        Stream stream(unsigned(reinterpret_cast<uintptr_t>(argument)), memory,
                      size_t(units) << site_heap_unit_shift);
        for (unsigned i = 0; i < steps; i++)
            record_one(stream.next() & ~uintptr_t(7), i % 4 == 0);
        return nullptr;
    };
    // Twice, so that the second round takes over the first one's recorders.
    for (unsigned round = 0; round < 2; round++) {
        pthread_t ids[threads];
        for (uintptr_t i = 0; i < threads; i++)
            pthread_create(&ids[i], nullptr, work, reinterpret_cast<void *>(i + round * threads));
        for (pthread_t id : ids)
            pthread_join(id, nullptr);
    }
    tc::Traffic sites[4], nonheap[tc::nonheap_kinds], sum{};
    tc::trace_snapshot(sites, 4, nonheap);
    for (unsigned site = 1; site < 4; site++) {
        sum.loads += sites[site].loads;
        sum.stores += sites[site].stores;
    }
    expect_eq(sum.stores, uint64_t(2 * threads * steps / 4));
    expect_eq(sum.loads, uint64_t(2 * threads * steps / 4 * 3));
    unsigned recorders = 0;
    for (tc::Recorder *r = tc::model.recorders; r; r = r->next)
        recorders++;
    expect_le(recorders, threads);
}

// As _exit has it: the thread that ends the process is not the one that reads the numbers.
TEST(a_thread_completes_its_numbers_for_another) {
    char *memory = make_owned_memory(units);
    const char *why = "";
    expect_true(tc::trace_start(config_of({l1, l2, l3}), &why));
    constexpr unsigned lines = 100;
    for (unsigned i = 0; i < lines; i++)
        record_one(reinterpret_cast<uintptr_t>(memory) + i * 64, false);
    tc::trace_complete();
    static tc::Traffic sites[2], nonheap[tc::nonheap_kinds];
    pthread_t reader;
    pthread_create(
        &reader, nullptr,
        [](void *) -> void * {
            tc::trace_snapshot(sites, 2, nonheap);
            return nullptr;
        },
        nullptr);
    pthread_join(reader, nullptr);
    expect_eq(sites[1].read_bytes, uint64_t(lines * 64));
}

TEST(a_forked_child_counts_anew) {
    char *memory = make_owned_memory(units);
    const char *why = "";
    expect_true(tc::trace_start(config_of({l1, l3}), &why));
    for (unsigned i = 0; i < 1000; i++)
        record_one(reinterpret_cast<uintptr_t>(memory) + i * 64, true);
    if (pid_t child = fork(); child == 0) {
        record_one(reinterpret_cast<uintptr_t>(memory), false);
        tc::Traffic sites[4], nonheap[tc::nonheap_kinds];
        tc::trace_snapshot(sites, 4, nonheap);
        _exit(sites[1].loads == 1 && sites[1].stores == 0 && sites[1].read_bytes == 0 ? 0 : 1);
    } else {
        int status = 1;
        waitpid(child, &status, 0);
        expect_eq(status, 0);
    }
}

// Handlers that run twins, at any point of the recorder, some of which jump out of it.
static sigjmp_buf out;
static char *handler_memory;
static volatile unsigned handled;
static void handler(int) {
    unsigned n = handled;
    handled = n + 1;
    for (unsigned i = 0; i < 50; i++)
        record_one(reinterpret_cast<uintptr_t>(handler_memory) +
                       (n * 50 + i) * 4160 % (units << 16),
                   true);
    if (n % 3 == 0)
        siglongjmp(out, 1);
}

TEST(survives_handlers_that_record_and_jump_out) {
    handler_memory = make_owned_memory(units);
    const char *why = "";
    expect_true(tc::trace_start(config_of({l1, l2, l3}), &why));
    record_one(reinterpret_cast<uintptr_t>(handler_memory), true);
    signal(SIGALRM, handler);
    Stream stream(11, handler_memory, size_t(units) << site_heap_unit_shift);
    // The handler has somewhere to jump to before it first runs.
    if (sigsetjmp(out, 1) == 0)
        ualarm(500, 500);
    while (handled < 300)
        for (unsigned i = 0; i < 1000; i++)
            record_one(stream.next(), false);
    ualarm(0, 0);
    // It still records, and is not stuck in the handler's moment.
    tc::Traffic before[4], after[4], nonheap[tc::nonheap_kinds];
    tc::trace_snapshot(before, 4, nonheap);
    for (unsigned i = 0; i < 4096; i++)
        record_one(reinterpret_cast<uintptr_t>(handler_memory) + i * 64 % 65536, false);
    tc::trace_snapshot(after, 4, nonheap);
    expect_eq(after[1].loads - before[1].loads, uint64_t(4096));
}

TEST(a_block_that_changes_hands_is_charged_to_each_in_turn) {
    char *memory = make_owned_memory(units);
    const char *why = "";
    expect_true(tc::trace_start(config_of({l1, l3}), &why));
    auto address = reinterpret_cast<uintptr_t>(memory);
    for (unsigned i = 0; i < 10; i++)
        record_one(address, false);
    site_heap_range.owners[0] = 2;
    tc::trace_owner_changed(memory, 64);
    for (unsigned i = 0; i < 7; i++)
        record_one(address, true);
    tc::Traffic sites[4], nonheap[tc::nonheap_kinds];
    tc::trace_snapshot(sites, 4, nonheap);
    expect_eq(sites[1].loads, uint64_t(10));
    expect_eq(sites[1].stores, uint64_t(0));
    expect_eq(sites[2].stores, uint64_t(7));
}

TEST(other_memory_is_stack_or_globals) {
    static char global[4096];
    const char *why = "";
    expect_true(tc::trace_start(config_of({l1, l3}), &why));
    // Not a variable's address: AddressSanitizer keeps those elsewhere.
    record_one(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), true);
    record_one(reinterpret_cast<uintptr_t>(global), false);
    record_one(reinterpret_cast<uintptr_t>(mmap) & ~uintptr_t(7), false);
    tc::Traffic sites[1], nonheap[tc::nonheap_kinds];
    tc::trace_snapshot(sites, 1, nonheap);
    expect_eq(nonheap[tc::nonheap_stack].stores, uint64_t(1));
    expect_eq(nonheap[tc::nonheap_globals].loads, uint64_t(2));
}
