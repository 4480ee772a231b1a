// What a recorded program sends to the collector, read back by the reader of traces.
#include "abi.h"
#include "check.h"
#include "config.h"
#include "simulator/trace/reader.h"
#include "sites/pagemap_scan.h"
#include "stand_ins.h"
#include "trace/recorder.h"
#include "trace/stream.h"
#include <cerrno>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
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

tc_recorder *start(const Collector &collector, uint64_t budget, bool only_functions = false) {
    static tc::Config config;
    config = {};
    config.trace = true;
    config.caches[config.cache_levels++] = {32768, 8, 64, false};
    config.stream = collector.path.c_str();
    config.stream_budget = budget;
    config.only_functions = only_functions;
    const char *why = "";
    expect_true(tc::trace_start(config, &why));
    expect_str(why, "");
    return tc_recorder_make();
}

constexpr uint16_t load_of(unsigned bytes) { return uint16_t(bytes << 1); }
constexpr uint16_t store_of(unsigned bytes) { return uint16_t(bytes << 1 | 1); }

// A tc_group of a load and a store of eight bytes, sixteen apart; fields of 32 bits have two words.
struct {
    uint16_t words[12] = {2, 0, 1, 0, 1, 0, 24, 0, 0, load_of(8), 16, store_of(8)};
    tc_position positions[2] = {{sizeof words + sizeof positions, 123 << TC_COLUMN_BITS | 4},
                                {sizeof words + sizeof positions, 124 << TC_COLUMN_BITS}};
    char place[15] = "solve\0grid/a.c";
} pair;
const auto *const pair_group = reinterpret_cast<const tc_group *>(&pair);

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

TEST(groups_and_ranges_in_order) {
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
    tc_record_load(r, memory + 64, 128);
    expect(base + 64, 64, false);
    expect(base + 128, 64, false);
    tc::trace_end();

    TraceReader trace(collector.wait());
    expect_stream(trace, expected);
    expect_eq(trace.tables().statics.size(), 2u);
    expect_str(std::string(trace.tables().position(0)), "grid/a.c:123:4 solve");
    expect_str(std::string(trace.tables().position(1)), "grid/a.c:124 solve");
}

// A handler of a signal runs on top of the recorder's work, and may never return to it.
TEST(work_that_a_handler_left_is_abandoned) {
    std::string directory = check::make_directory();
    Collector collector(directory);
    auto base = reinterpret_cast<uint64_t>(make_owned_memory(6));
    tc_recorder *r = start(collector, 1000);
    uintptr_t &busy = reinterpret_cast<tc::Recorder *>(r)->stream->busy;
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    busy = here + 4096; // below us on the stack: it goes on when we return
    tc_record_load(r, reinterpret_cast<void *>(base), 8);
    busy = here - 4096; // its frame has gone
    tc_record_load(r, reinterpret_cast<void *>(base + 64), 8);
    expect_eq(busy, uintptr_t(0));
    tc::trace_end();
    TraceReader trace(collector.wait());
    expect_stream(trace, {{base + 64, 64, false, "one"}});
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

// Frames grow downwards: a function's return address lies below its caller's.
TEST(functions_are_left_however_they_are) {
    std::string directory = check::make_directory();
    Collector collector(directory);
    auto base = reinterpret_cast<uint64_t>(make_owned_memory(2));
    tc_recorder *r = start(collector, 1000000, true);
    tc_function solve{0, uint32_t(tc::stream_watch("solve") + 1)};
    tc_function other{0, uint32_t(tc::stream_watch("other") + 1)};
    expect_eq(tc::stream_watch("solve"), 0);
    auto frame = [](uintptr_t at) { return reinterpret_cast<const void *>(at); };
    uint64_t made = 0;
    auto refer = [&] {
        r->clock += 2 * TC_STAMPS_PER_REFERENCE;
        tc_record_group(r, base + 100 * made++, pair_group, r->clock);
        r->clock += 2 * TC_STAMPS_PER_REFERENCE;
    };
    refer(); // 0: outside
    tc_record_enter(r, frame(1000), &solve, r->clock);
    refer();                                          // 1
    tc_record_enter(r, frame(900), &solve, r->clock); // calls itself
    tc_record_enter(r, frame(800), &other, r->clock);
    refer();                                          // 2
    tc_record_leave(r, frame(900), &solve, r->clock); // other ended by an exception
    refer();                                          // 3
    tc_record_leave(r, frame(1000), &solve, r->clock);
    refer(); // 4: outside
    tc_record_enter(r, frame(1000), &solve, r->clock);
    refer();                                             // 5
    tc_record_arrive(r, frame(1200), nullptr, r->clock); // solve ended by longjmp
    refer();                                             // 6: outside
    tc_record_enter(r, frame(700), &other, r->clock);
    refer();                                            // 7
    tc_record_enter(r, frame(750), &solve, r->clock);   // other has been left
    refer();                                            // 8
    tc_record_arrive(r, frame(750), nullptr, r->clock); // its own handler
    refer();                                            // 9
    tc::trace_end();

    std::string file = collector.wait();
    auto seen = [&](const char *function) {
        TraceReader trace(file);
        std::string numbers;
        thermocline::Cursor &cursor = trace.cursor(0, {.function = function});
        while (const Reference *reference = cursor.next())
            if (reference->event == TraceEvent::reference && !reference->store)
                numbers += std::to_string((reference->address - base) / 100) + " ";
        return numbers;
    };
    expect_str(seen("solve"), "1 2 3 5 8 9 ");
    expect_str(seen("other"), "2 7 ");
    expect_str(seen(""), "1 2 3 5 7 8 9 ");
}

TEST(blocks_and_pages_are_told_in_order) {
    std::string directory = check::make_directory();
    Collector collector(directory);
    auto base = reinterpret_cast<uint64_t>(make_owned_memory(2));
    tc_recorder *r = start(collector, 1000000);
    const uint64_t bytes = (uint64_t(5) << 30) + 65536;
    tc_record_group(r, base, pair_group, r->clock += 4);
    tc::stream_allocated(reinterpret_cast<const void *>(base + 64), bytes + 1, 2);
    tc::stream_released(reinterpret_cast<const void *>(base + 64));
    tc::stream_pages_returned(reinterpret_cast<const void *>(base), bytes);
    tc_record_group(r, base + 8, pair_group, r->clock += 4);
    tc::trace_end();

    TraceReader trace(collector.wait());
    thermocline::Cursor &cursor = trace.cursor(0);
    std::string seen;
    while (const Reference *reference = cursor.next())
        if (reference->event == TraceEvent::returned) {
            expect_eq(reference->address, base);
            expect_eq(reference->allocated_bytes(), bytes);
            seen += "back ";
        } else if (reference->event == TraceEvent::allocate) {
            expect_eq(reference->allocated_bytes(), bytes + 1);
            expect_str(trace.tables().owners.at(reference->owner), "two");
            seen += "block ";
        } else if (reference->event == TraceEvent::release) {
            expect_eq(reference->address, base + 64);
            seen += "gone ";
        } else {
            seen += std::to_string(reference->address - base) + " ";
        }
    expect_str(seen, "0 16 block gone back 8 24 ");
}

// What the kernel says of a mapping; independent of the scan.
static bool is_huge(const void *mapping) {
    FILE *smaps = fopen("/proc/self/smaps", "r");
    char line[256], wanted[32];
    snprintf(wanted, sizeof wanted, "%lx-", reinterpret_cast<unsigned long>(mapping));
    unsigned long kib = 0;
    for (bool here = false; fgets(line, sizeof line, smaps);) {
        if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
            here = strncmp(line, wanted, strlen(wanted)) == 0;
        if (here && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
            break;
    }
    fclose(smaps);
    return kib > 0;
}

TEST(large_pages_are_told) {
    constexpr size_t large = TC_RAW_LARGE_PAGE;
    std::string directory = check::make_directory();
    Collector collector(directory);
    tc_recorder *r = start(collector, 1000000);
    char *mapped = static_cast<char *>(
        mmap(nullptr, 3 * large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char *page = mapped + (large - reinterpret_cast<uintptr_t>(mapped) % large) % large;
    char *small = page + large;
    madvise(small, large, MADV_NOHUGEPAGE);
    madvise(page, large, MADV_HUGEPAGE);
    for (size_t at = 0; at < 2 * large; at += 4096)
        page[at] = 1;
    tc_record_load(r, page, 8);
    tc::trace_end();
    // The kernel may have had no large page for us.
    const bool huge = is_huge(page);
    TraceReader trace(collector.wait());
    while (trace.advance())
        ;
    const thermocline::Tables &tables = trace.tables();
    PmScanArg arg{};
    arg.size = sizeof arg;
    const int pagemap = open("/proc/self/pagemap", O_RDONLY);
    const bool scans = ioctl(pagemap, pagemap_scan, &arg) >= 0 || errno != ENOTTY;
    close(pagemap);
    expect_eq(tables.pages_known, scans);
    if (scans) {
        expect_eq(tables.large.contains(reinterpret_cast<uint64_t>(page) + large / 2), huge);
        expect_true(!tables.large.contains(reinterpret_cast<uint64_t>(small)));
    }
    munmap(mapped, 3 * large);
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
