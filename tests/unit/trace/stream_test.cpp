// What a recorded program sends to the collector, read back by the reader of traces.
#include "check.h"
#include "config.h"
#include "simulator/trace/reader.h"
#include "stand_ins.h"
#include "trace/recorder.h"
#include "trace/stream.h"
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

using thermocline::Reference;
using thermocline::TraceEvent;
using thermocline::TraceReader;

namespace {

struct Expected {
    uint64_t address;
    uint32_t bytes;
    bool store;
    std::string owner;
};

// Takes what one process sends and keeps it in a file.
class Collector {
  public:
    explicit Collector(std::string directory) : path(directory + "/socket") {
        file = directory + "/stream";
        listener = socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        expect_eq(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
        expect_eq(listen(listener, 4), 0);
        thread = std::thread([this] { collect(); });
    }
    std::string wait() {
        thread.join();
        close(listener);
        return file;
    }
    std::string path;

  private:
    void collect() {
        int from = accept(listener, nullptr, nullptr);
        FILE *to = fopen(file.c_str(), "w");
        char buffer[65536];
        for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
            fwrite(buffer, 1, size_t(n), to);
        fclose(to);
        close(from);
    }
    int listener;
    std::string file;
    std::thread thread;
};

tc_recorder *start(const Collector &collector, uint64_t budget) {
    static tc::Config config;
    config = {};
    config.trace = true;
    config.caches[config.cache_levels++] = {32768, 8, 64, false};
    config.stream = collector.path.c_str();
    config.stream_budget = budget;
    const char *why = "";
    expect_true(tc::trace_start(config, &why));
    expect_str(why, "");
    return tc_recorder_make();
}

constexpr uint16_t load_of(unsigned bytes) { return uint16_t(bytes << 1); }
constexpr uint16_t store_of(unsigned bytes) { return uint16_t(bytes << 1 | 1); }

// A tc_group of a load and a store of eight bytes, sixteen apart; fields of 32 bits have two words.
alignas(4) constexpr uint16_t pair_words[] = {2,  0, 1, 0,          1,  0,
                                              24, 0, 0, load_of(8), 16, store_of(8)};
// A tc_strip of one group: stores of four bytes.
alignas(4) constexpr uint16_t strip_words[] = {
    1, 0, TC_STAMPS_PER_REFERENCE, 0, 4, 1, 0, 1, 0, 0, 1, 0, 0, store_of(4)};
const auto *const pair_group = reinterpret_cast<const tc_group *>(pair_words);
const auto *const strip = reinterpret_cast<const tc_strip *>(strip_words);

void expect_stream(TraceReader &trace, const std::vector<Expected> &expected) {
    thermocline::Cursor &cursor = trace.cursor(0);
    size_t at = 0;
    while (const Reference *r = cursor.next()) {
        if (r->event != TraceEvent::reference)
            continue;
        if (at < expected.size()) {
            const Expected &e = expected[at];
            expect_eq(r->address, e.address);
            expect_eq(r->bytes, e.bytes);
            expect_eq(r->store, e.store);
            expect_str(trace.tables().owners.at(r->owner), e.owner);
            if (check::failures)
                return;
        }
        at++;
    }
    expect_eq(at, expected.size());
    expect_true(!trace.cut_off());
}

} // namespace

TEST(groups_strips_and_ranges_in_order) {
    std::string directory = check::make_directory();
    Collector collector(directory);
    char *memory = make_owned_memory(6);
    const char *const owners[] = {"one", "two", "three"};
    auto base = reinterpret_cast<uint64_t>(memory);
    auto owner = [&](uint64_t address) {
        return std::string(owners[((address - base) >> site_heap_unit_shift) % 3]);
    };
    tc_recorder *r = start(collector, 1000000);
    std::vector<Expected> expected;
    auto expect = [&](uint64_t address, uint32_t bytes, bool store) {
        expected.push_back({address, bytes, store, owner(address)});
    };

    for (unsigned i = 0; i < 5000; i++) { // more than a chunk
        uint64_t at = base + i * 72 % (6 << 16);
        tc_record_group(r, at, pair_group, r->clock);
        r->clock += 2 * TC_STAMPS_PER_REFERENCE;
        expect(at, 8, false);
        expect(at + 16, 8, true);
    }
    tc_walk walk{base + 100, 4};
    tc_record_strip(r, strip, &walk, 3000, r->clock);
    r->clock += 3000 * TC_STAMPS_PER_REFERENCE;
    for (unsigned i = 0; i < 3000; i++)
        expect(base + 100 + 4 * i, 4, true);
    tc_record_load(r, memory + 64, 128);
    expect(base + 64, 64, false);
    expect(base + 128, 64, false);
    tc::trace_end();

    TraceReader trace(collector.wait());
    expect_stream(trace, expected);
}

// Half of the budget is used up at once, and the rest at ever lower rates; never more than all.
TEST(windows_keep_the_budget) {
    constexpr uint64_t budget = 400000, made = 4000000;
    std::string directory = check::make_directory();
    Collector collector(directory);
    auto base = reinterpret_cast<uint64_t>(make_owned_memory(6));
    tc_recorder *r = start(collector, budget);
    for (uint64_t i = 0; i < made / 2; i++) {
        tc_record_group(r, base + i * 40 % (5 << 16), pair_group, r->clock);
        r->clock += 2 * TC_STAMPS_PER_REFERENCE;
    }
    tc::trace_end();

    TraceReader trace(collector.wait());
    thermocline::Cursor &cursor = trace.cursor(0);
    uint64_t references = 0, instructions = 0, windows = 0;
    while (const Reference *reference = cursor.next()) {
        if (reference->event == TraceEvent::reference) {
            references++;
            instructions += reference->gap + 1;
        } else if (reference->event == TraceEvent::window_begin) {
            windows++;
            instructions += reference->skipped();
        }
    }
    expect_true(references <= budget + tc::StreamBuffer::room);
    expect_true(references > budget / 2);
    expect_true(windows > 3);
    // What was left out between two windows is accounted for.
    expect_true(instructions > made / 2);
    expect_true(instructions <= made);
}

TEST(a_collector_that_goes_away_ends_the_recording_only) {
    std::string directory = check::make_directory();
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string path = directory + "/socket";
    strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    expect_eq(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    expect_eq(listen(listener, 1), 0);
    tc::Config config{};
    config.trace = true;
    config.caches[config.cache_levels++] = {32768, 8, 64, false};
    config.stream = path.c_str();
    config.stream_budget = 1000000;
    const char *why = "";
    expect_true(tc::trace_start(config, &why));
    close(accept(listener, nullptr, nullptr));
    close(listener);
    tc_recorder *r = tc_recorder_make();
    auto base = reinterpret_cast<uint64_t>(make_owned_memory(2));
    errno = 0;
    for (unsigned i = 0; i < 20000; i++)
        tc_record_group(r, base, pair_group, r->clock += 4);
    tc::trace_end();
    expect_eq(errno, 0);
    expect_true(!tc::stream_on);
}
