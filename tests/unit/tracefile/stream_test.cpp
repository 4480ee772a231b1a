// Streams: raw ones from a recorder, trace files through a pipe, and what collects them.
#include "simulator/trace/collect.h"
#include "simulator/trace/raw_reader.h"
#include "support.h"
#include <thread>

using namespace support;

namespace {

constexpr size_t per_chunk = TC_RAW_MAX_PAYLOAD / sizeof(tc_raw_record);

TraceReader live(int fd, size_t limit = TraceReader::default_waiting_bytes) {
    return TraceReader(stream_source(fd, "the stream", limit));
}

// Threads' records as a raw stream whose chunks interleave.
std::string raw_of(const Threads &threads, uint64_t seed, bool ended = true) {
    Random random(seed);
    RawStream raw;
    raw.tables();
    std::map<uint32_t, size_t> at;
    for (bool more = true; more;) {
        more = false;
        for (const auto &[number, records] : threads) {
            const size_t some =
                std::min<size_t>(records.size() - at[number], 1 + random() % per_chunk);
            if (some && random() % 2)
                raw.records(number, std::span(records).subspan(at[number], some)),
                    at[number] += some;
            more |= at[number] < records.size();
        }
    }
    if (ended)
        raw.end();
    return raw.bytes;
}

Threads any_threads(uint64_t seed, size_t records) {
    Random random(seed);
    Threads threads;
    for (uint32_t i = 0; i < 3; i++)
        threads[i] = any_records(random, 1 + random() % records);
    return threads;
}

Collected collect_file(const std::string &raw, const std::string &path,
                       const CollectLimits &limits = {}) {
    TraceWriter writer(path, {.overwrite = true});
    const int fd = descriptor_of(raw);
    const Collected done = collect(fd, "the stream", writer, limits);
    close(fd);
    writer.finish();
    return done;
}

} // namespace

TEST(a_raw_stream_is_read_live) {
    for (uint64_t seed = 0; seed < 10; seed++) {
        const Threads threads = any_threads(seed, 20000);
        const int fd = descriptor_of(raw_of(threads, seed));
        TraceReader trace = live(fd);
        for (const auto &[number, records] : threads)
            expect_records(read_thread(trace, number), records);
        expect_true(!trace.cut_off());
        expect_eq(trace.waiting_bytes(), size_t(0));
        close(fd);
    }
}

TEST(a_program_that_writes_a_pipe_is_followed) {
    int ends[2];
    expect_eq(pipe(ends), 0);
    const Threads threads = any_threads(4, 50000);
    std::thread program([&] {
        const std::string bytes = raw_of(threads, 4);
        for (size_t at = 0; at < bytes.size();)
            at += size_t(
                write(ends[1], bytes.data() + at, std::min<size_t>(bytes.size() - at, 5000)));
        close(ends[1]);
    });
    {
        TraceReader trace = live(ends[0]);
        for (const auto &[number, records] : threads)
            expect_records(read_thread(trace, number), records);
    }
    program.join();
    close(ends[0]);
}

TEST(a_trace_file_through_a_pipe_is_the_same) {
    const Threads threads = any_threads(9, 100000);
    write_trace(check::scratch("a.trace"), threads);
    const std::string bytes = check::read_file(check::scratch("a.trace"));
    int fd = descriptor_of(bytes);
    {
        TraceReader trace = live(fd);
        for (const auto &[number, records] : threads)
            expect_records(read_thread(trace, number), records);
        expect_true(!trace.cut_off());
        expect_str(trace.tables().owners[1], "owner1");
    }
    close(fd);
    fd = descriptor_of(bytes.substr(0, bytes.size() / 2));
    TraceReader cut = live(fd);
    for (const auto &[number, records] : threads)
        expect_le(read_thread(cut, number).size(), records.size());
    expect_true(cut.cut_off());
    close(fd);
}

TEST(what_waits_for_others_is_limited) {
    const Threads threads = {{0, std::vector<Reference>(20000)},
                             {1, std::vector<Reference>(20000)}};
    const int fd = descriptor_of(raw_of(threads, 1));
    TraceReader trace = live(fd, 100 << 10);
    const std::string error = error_of([&] { read_thread(trace, 7); });
    expect_true(contains(error, "make a trace file of it"));
    close(fd);
}

TEST(a_collected_stream_is_the_same_trace) {
    for (uint64_t seed = 0; seed < 10; seed++) {
        const Threads threads = any_threads(seed, 100000);
        const Collected done = collect_file(raw_of(threads, seed), check::scratch("a.trace"));
        expect_true(done.complete);
        TraceReader trace(check::scratch("a.trace"));
        uint64_t records = 0;
        for (const auto &[number, wanted] : threads) {
            expect_records(read_thread(trace, number), wanted);
            records += wanted.size();
        }
        expect_eq(done.records, records);
        expect_true(trace.tables().meta["complete"].get<bool>());
        expect_eq(trace.tables().ends.size(), threads.size());
    }
}

TEST(a_raw_stream_cut_off_at_any_byte_keeps_its_whole_chunks) {
    Random random(2);
    RawStream raw;
    raw.tables();
    std::vector<size_t> ends; // of chunks of records
    std::vector<Reference> all;
    for (int i = 0; i < 3; i++) {
        const auto some = any_records(random, 5);
        raw.records(0, some);
        all.insert(all.end(), some.begin(), some.end());
        ends.push_back(raw.bytes.size());
    }
    raw.end();
    const size_t first = sizeof(tc_raw_header) + any_tables()[0].bytes.size();
    expect_true(contains(
        error_of([&] { collect_file(raw.bytes.substr(0, first - 1), check::scratch("a.trace")); }),
        "cut off in its first chunk"));
    for (size_t size = first; size < raw.bytes.size(); size++) {
        const Collected done = collect_file(raw.bytes.substr(0, size), check::scratch("a.trace"));
        expect_true(!done.complete);
        size_t whole = 0;
        for (size_t end : ends)
            whole += 5 * (end <= size);
        TraceReader trace(check::scratch("a.trace"));
        expect_true(!trace.cut_off());
        expect_true(!trace.tables().meta["complete"].get<bool>());
        const auto records = read_thread(trace, 0);
        expect_eq(records.size(), whole);
        expect_true(std::equal(records.begin(), records.end(), all.begin()));
    }
}

TEST(beyond_its_limit_a_collector_drops_and_says_so) {
    const Threads threads = {{0, std::vector<Reference>(50000)}};
    const std::string raw = raw_of(threads, 1);
    const Collected done = collect_file(raw, check::scratch("a.trace"), {.references = 20000});
    expect_le(uint64_t(20000), done.references);
    expect_lt(done.references, uint64_t(20000 + per_chunk));
    expect_eq(done.references + done.dropped_records, uint64_t(50000));
    expect_true(done.complete);
    TraceReader trace(check::scratch("a.trace"));
    expect_eq(trace.tables().meta["dropped_records"].get<uint64_t>(), done.dropped_records);
    expect_eq(read_thread(trace, 0).size(), done.references);
}

TEST(instructions_that_nobody_recorded_show_as_a_hole) {
    Random random(6);
    RawStream raw;
    raw.tables();
    const std::vector<Reference> some(10);
    raw.records(0, some, 100, 200);
    raw.records(0, some, 300, 400, 5000); // lost: 5000 instructions
    raw.end();
    std::vector<Reference> wanted = some;
    Reference hole;
    hole.event = TraceEvent::window_begin;
    hole.address = 5000;
    wanted.push_back(hole);
    wanted.insert(wanted.end(), some.begin(), some.end());
    const int fd = descriptor_of(raw.bytes);
    TraceReader trace = live(fd);
    expect_records(read_thread(trace, 0), wanted);
    close(fd);
    collect_file(raw.bytes, check::scratch("a.trace"));
    TraceReader file(check::scratch("a.trace"));
    expect_records(read_thread(file, 0), wanted);
    expect_eq(file.cursor(0).time_ns(), uint64_t(300)); // when the last chunk began
}

TEST(a_hostile_raw_stream_gives_an_error_or_an_end) {
    const Threads threads = any_threads(3, 300);
    const std::string raw = raw_of(threads, 3);
    size_t refused = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        Random random(seed);
        std::string bad = raw;
        for (uint64_t i = 1 + random() % 4; i > 0; i--)
            bad[random() % std::min<size_t>(bad.size(), 6000)] = char(random());
        const int fd = descriptor_of(bad);
        const std::string error = error_of([&] {
            TraceReader trace = live(fd, 1 << 20);
            for (uint32_t thread : {0u, 1u, 2u})
                read_thread(trace, thread);
        });
        expect_true(error.find('\n') == error.npos);
        refused += !error.empty();
        close(fd);
    }
    expect_lt(size_t(1000), refused);
    TraceWriter writer(check::scratch("a.trace"));
    const int fd =
        descriptor_of("TCRW, or so it seems, but it is only a line of text of some length");
    expect_true(contains(error_of([&] { collect(fd, "the stream", writer, {}); }),
                         "the stream is a recording of version"));
    close(fd);
}

TEST(a_stream_of_nothing_is_said_so) {
    TraceWriter writer(check::scratch("a.trace"));
    int fd = descriptor_of("");
    expect_true(
        contains(error_of([&] { collect(fd, "the stream", writer, {}); }), "the stream is empty"));
    close(fd);
    fd = descriptor_of("");
    expect_true(contains(error_of([&] { live(fd); }), "the stream is empty"));
    close(fd);
}
