// Every kind of record, across the ring's end, and damage of each sort.
#include "check.h"
#include "stream.h"

using namespace tc::sample;

namespace {

constexpr uint64_t ids = 7 | uint64_t(9) << 32; // process 7, thread 9

void put_sample(Stream &stream, uint64_t address) {
    stream.put(PERF_RECORD_SAMPLE, {55, ids, address, 128, 300, 0x1234});
}

void expect_sample(const Record &record, uint64_t address) {
    expect_eq(record.kind, Record::sample);
    expect_eq(record.sampled.id, 55u);
    expect_eq(record.sampled.pid, 7u);
    expect_eq(record.sampled.tid, 9u);
    expect_eq(record.sampled.address, address);
    expect_eq(record.sampled.period, 128u);
    expect_eq(record.sampled.weight, 300u);
    expect_eq(record.sampled.data_source, 0x1234u);
    expect_true(!record.sampled.in_kernel);
}

} // namespace

TEST(an_empty_ring_has_nothing) {
    Stream stream(4096, 123456);
    const Record record = stream.read();
    expect_eq(record.kind, Record::none);
    expect_eq(record.bytes, 0u);
}

TEST(samples_are_whole_wherever_the_ring_ends) {
    for (uint64_t start = 4096 - 64; start <= 4096; start += 8) {
        Stream stream(4096, start);
        put_sample(stream, 0x1000 + start);
        put_sample(stream, 0x2000 + start);
        expect_sample(stream.read(), 0x1000 + start);
        expect_sample(stream.read(), 0x2000 + start);
        expect_eq(stream.read().kind, Record::none);
    }
}

TEST(fields_that_were_not_asked_for_are_not_there) {
    Stream stream(4096);
    stream.put(PERF_RECORD_SAMPLE, {55, ids, 0xabc});
    const Record record = stream.read(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR);
    expect_eq(record.kind, Record::sample);
    expect_eq(record.sampled.address, 0xabcu);
    expect_eq(record.sampled.period, 0u);
}

TEST(the_kernels_own_accesses_are_told) {
    Stream stream(4096);
    stream.put(PERF_RECORD_SAMPLE, {55, ids, 1, 1, 0, 0}, PERF_RECORD_MISC_KERNEL);
    expect_true(stream.read().sampled.in_kernel);
}

TEST(every_other_kind) {
    Stream stream(4096, 4000);
    stream.put(PERF_RECORD_LOST, {55, 17});
    stream.put(PERF_RECORD_LOST_SAMPLES, {19});
    stream.put(PERF_RECORD_THROTTLE, {1, 2, 3});
    stream.put(PERF_RECORD_UNTHROTTLE, {1, 2, 3});
    stream.put(PERF_RECORD_AUX, {0x10000, 512, PERF_AUX_FLAG_TRUNCATED});
    stream.put(PERF_RECORD_ITRACE_START, {ids});
    stream.put(12345, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}); // of some later kernel
    put_sample(stream, 0x42);

    Record record = stream.read();
    expect_eq(record.kind, Record::lost);
    expect_eq(record.count, 17u);
    record = stream.read();
    expect_eq(record.kind, Record::lost);
    expect_eq(record.count, 19u);
    expect_eq(stream.read().kind, Record::throttled);
    expect_eq(stream.read().kind, Record::other);
    record = stream.read();
    expect_eq(record.kind, Record::area);
    expect_eq(record.offset, 0x10000u);
    expect_eq(record.count, 512u);
    expect_eq(record.flags, uint64_t(PERF_AUX_FLAG_TRUNCATED));
    expect_eq(stream.read().kind, Record::other);
    expect_eq(stream.read().kind, Record::other);
    expect_sample(stream.read(), 0x42);
    expect_eq(stream.read().kind, Record::none);
}

TEST(records_shorter_than_their_kind_are_not_read_as_one) {
    Stream stream(4096);
    stream.put(PERF_RECORD_LOST, {55});
    stream.put(PERF_RECORD_AUX, {1, 2});
    expect_eq(stream.read().kind, Record::other);
    expect_eq(stream.read().kind, Record::other);
    stream.put(PERF_RECORD_SAMPLE, {55, ids});
    expect_eq(stream.read().kind, Record::damaged);
}

TEST(a_damaged_size_ends_the_reading) {
    for (uint16_t size : {0, 4, 7, 13, 4000, 65535}) {
        Stream stream(4096);
        put_sample(stream, 1);
        stream.put_header({PERF_RECORD_SAMPLE, 2, size});
        put_sample(stream, 2);
        expect_sample(stream.read(), 1);
        expect_eq(stream.read().kind, Record::damaged);
        expect_eq(stream.tail, stream.head);
    }
}

TEST(positions_that_cannot_be_end_the_reading) {
    Stream stream(4096);
    put_sample(stream, 1);
    // More than the ring holds, and backwards.
    expect_eq(read_record(stream.ring(), 0, 8192, known_fields).kind, Record::damaged);
    expect_eq(read_record(stream.ring(), 0, 8192, known_fields).bytes, 8192u);
    const Record record = read_record(stream.ring(), 64, 8, known_fields);
    expect_eq(record.kind, Record::damaged);
    expect_eq(64 + record.bytes, 8u); // modulo 2^64: at the head again
    expect_eq(read_record(stream.ring(), 0, 4, known_fields).kind, Record::damaged);
}
