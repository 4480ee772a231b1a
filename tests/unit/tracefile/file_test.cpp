// The file: what is written is read, in any interleaving, and a file that is cut off or
// damaged anywhere gives what is whole or an error, never something else.
#include "support.h"
#include <filesystem>

using namespace support;

namespace {

Threads any_threads(Random &random, size_t count, size_t records) {
    Threads threads;
    for (size_t i = 0; i < count; i++)
        threads[uint32_t(3 * i)] = any_records(random, 1 + random() % records);
    return threads;
}

// Whether `some` are the first of `all`.
bool begins(const std::vector<Reference> &all, const std::vector<Reference> &some) {
    return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

// A file that is written over is flushed to the disk, which takes these tests' time.
void write_new(const std::string &path, const std::string &bytes) {
    unlink(path.c_str());
    check::write_file(path, bytes);
}

Threads small_trace(const std::string &path) {
    Random random(5);
    Threads threads = any_threads(random, 2, 60);
    write_trace(path, threads);
    return threads;
}

} // namespace

TEST(records_of_several_threads_come_back) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        Random random(seed);
        const Threads threads = any_threads(random, 1 + random() % 4, 100000);
        write_trace(check::scratch("a.trace"), threads, 1 + random() % 50000);
        TraceReader trace(check::scratch("a.trace"));
        expect_true(!trace.cut_off());
        expect_eq(trace.threads().size(), threads.size());
        for (const auto &[number, records] : threads)
            expect_records(read_thread(trace, number), records);
    }
}

TEST(cursors_are_pulled_in_any_interleaving) {
    Random random(11);
    const Threads threads = any_threads(random, 3, 90000);
    write_trace(check::scratch("a.trace"), threads);
    TraceReader trace(check::scratch("a.trace"));
    Threads got;
    std::vector<uint32_t> left = trace.threads();
    while (!left.empty()) {
        const size_t which = random() % left.size();
        for (size_t i = random() % 3000; i > 0; i--) {
            const Reference *r = trace.cursor(left[which]).next();
            if (!r) {
                left.erase(left.begin() + long(which));
                break;
            }
            got[trace.cursor(left[which]).thread()].push_back(*r);
        }
    }
    for (const auto &[number, records] : threads)
        expect_records(got[number], records);
}

TEST(tables_come_back) {
    small_trace(check::scratch("a.trace"));
    TraceReader trace(check::scratch("a.trace"));
    const Tables &tables = trace.tables();
    expect_str(tables.meta["program"].get<std::string>(), "demo");
    expect_eq(tables.statics.size(), size_t(statics));
    expect_eq(tables.statics[5].bytes, 8u);
    expect_true(tables.statics[5].store);
    expect_str(std::string(tables.position(5)), "file.c:5 f");
    expect_eq(tables.producers_of(5)[0], 2u);
    expect_str(tables.owners[4], "owner4");
    expect_str(tables.functions[2], "function2");
}

TEST(a_row_that_comes_again_replaces_the_earlier) {
    Tables tables;
    const auto add = [&](uint32_t first, const std::vector<StaticRow> &rows) {
        for (const TablePayload &t : static_tables(first, rows))
            tables.add(t.kind, t.records, t.bytes);
    };
    add(0, {{4, false, {}, "a"}, {8, true, {0}, "b"}});
    add(1, {{2, false, {0, 1}, "c"}, {1, true, {2}, "d"}});
    expect_eq(tables.statics.size(), size_t(3));
    expect_str(std::string(tables.position(0)), "a");
    expect_str(std::string(tables.position(1)), "c");
    expect_eq(tables.producers_of(1).size(), size_t(2));
    expect_eq(tables.producers_of(2)[0], 2u);
    expect_true(!error_of([&] { add(4, {{1, false, {}, ""}}); }).empty()); // leaves out row 3
}

TEST(large_tables_are_cut_into_chunks) {
    std::vector<StaticRow> rows(20000);
    for (uint32_t i = 0; i < rows.size(); i++)
        rows[i] = {i, false, {i, i / 2}, "a/long/path/to/file.c:" + std::to_string(i)};
    Tables tables;
    const auto payloads = static_tables(0, rows);
    for (const TablePayload &t : payloads) {
        expect_le(t.bytes.size(), size_t(TC_RAW_MAX_PAYLOAD));
        tables.add(t.kind, t.records, t.bytes);
    }
    expect_lt(size_t(1), payloads.size());
    expect_eq(tables.statics.size(), rows.size());
    expect_str(std::string(tables.position(19999)), rows[19999].position);
    expect_eq(tables.producers_of(19999)[1], 9999u);
}

TEST(a_file_cut_off_at_any_byte_reads_to_its_last_whole_chunk) {
    const std::string whole = check::scratch("whole.trace"), cut = check::scratch("cut.trace");
    Random random(5);
    Threads threads;
    for (uint32_t i = 0; i < 3; i++)
        threads[i] = any_records(random, 40);
    {
        // A chunk a turn, so that there are some.
        TraceWriter writer(whole);
        for (const TablePayload &table : any_tables())
            writer.table(table);
        for (const auto &[number, records] : threads)
            writer.add(number, records);
        writer.finish();
    }
    const std::string bytes = check::read_file(whole);
    TraceReader complete(whole);
    size_t last = 0, errors = 0;
    for (size_t size = 0; size < bytes.size(); size++) {
        write_new(cut, bytes.substr(0, size));
        size_t got = 0;
        const std::string error = error_of([&] {
            TraceReader trace(cut);
            expect_true(trace.cut_off());
            for (uint32_t thread : trace.threads()) {
                const auto records = read_thread(trace, thread);
                expect_true(begins(threads[thread], records));
                got += records.size();
            }
        });
        expect_eq(error.empty(), size >= sizeof(FileHead));
        errors += !error.empty();
        // Every chunk that is whole is there.
        size_t whole_chunks = 0;
        for (const IndexEntry &entry : *complete.index())
            if (entry.header.kind == ChunkKind::records &&
                entry.offset + sizeof(ChunkHeader) + entry.header.stored_bytes <= size)
                whole_chunks += entry.header.records;
        expect_eq(got, whole_chunks);
        expect_le(last, got);
        last = got;
    }
    expect_eq(last, size_t(120));
    expect_eq(errors, sizeof(FileHead));
}

TEST(a_flipped_bit_anywhere_is_noticed_or_does_not_matter) {
    const std::string path = check::scratch("a.trace"), bad = check::scratch("bad.trace");
    const Threads threads = small_trace(path);
    const std::string bytes = check::read_file(path);
    Random random(1);
    for (size_t at = 0; at < bytes.size(); at++) {
        std::string flipped = bytes;
        flipped[at] ^= char(1 << random() % 8);
        write_new(bad, flipped);
        bool complete = false;
        Threads got;
        const std::string error = error_of([&] {
            TraceReader trace(bad);
            for (uint32_t thread : trace.threads())
                got[thread] = read_thread(trace, thread);
            complete = !trace.cut_off();
        });
        expect_true(error.find('\n') == error.npos);
        if (error.empty() && complete)
            expect_true(got == threads); // a bit that nothing hangs on
        for (const auto &[thread, records] : got)
            expect_true(begins(threads.at(thread), records));
    }
}

TEST(what_is_no_trace_is_said_in_a_line) {
    const auto error = [](const std::string &text) {
        check::write_file(check::scratch("x"), text);
        return error_of([] { TraceReader trace(check::scratch("x")); });
    };
    expect_true(contains(error(""), "too short for a trace"));
    expect_true(contains(error(std::string(200, 'x')), "is not a trace"));
    std::string later = "TCTRACE\n";
    later += '\x09';
    later += std::string(200, '\0');
    expect_true(contains(error(later), "version 9"));
    expect_true(contains(error_of([] { TraceReader trace("/nowhere/x"); }), "can't be read"));
    expect_true(contains(error_of([] { TraceReader trace("/tmp"); }), "can't be read"));
}

TEST(an_unfinished_trace_leaves_nothing) {
    {
        TraceWriter writer(check::scratch("a.trace"));
        Random random(1);
        writer.add(0, any_records(random, 100000));
    }
    for (const auto &entry : std::filesystem::directory_iterator(check::scratch("")))
        expect_true(!contains(entry.path().string(), "a.trace"));
}

TEST(what_exists_is_not_overwritten) {
    check::write_file(check::scratch("a.trace"), "mine");
    expect_true(
        contains(error_of([] { TraceWriter writer(check::scratch("a.trace")); }), "exists"));
    {
        TraceWriter writer(check::scratch("b.trace"));
        check::write_file(check::scratch("b.trace"), "mine"); // meanwhile
        expect_true(contains(error_of([&] { writer.finish(); }), "exists"));
    }
    expect_str(check::read_file(check::scratch("b.trace")), "mine");
    TraceWriter writer(check::scratch("a.trace"), {.overwrite = true});
    writer.finish();
    TraceReader trace(check::scratch("a.trace"));
    expect_true(!trace.cut_off());
}
