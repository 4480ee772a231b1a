// The columns: whatever goes in comes out, and damage never reads outside.
#include "simulator/trace/columns.h"
#include "support.h"

using namespace support;

namespace {

constexpr TableSizes sizes{statics, owners, functions};

struct Decoded {
    std::vector<Reference> records;
    std::vector<uint64_t> clocks;
};

Decoded decode(Bytes payload, uint32_t records, size_t room) {
    Decoder decoder;
    decoder.begin(payload, records, sizes);
    Decoded all;
    std::vector<Reference> some(room);
    while (decoder.left()) {
        const size_t count = decoder.next(some.data(), room);
        if (decoder.at_clock())
            all.clocks.push_back(decoder.clock());
        all.records.insert(all.records.end(), some.begin(), some.begin() + long(count));
    }
    return all;
}

Reference clock_at(uint64_t ns) {
    Reference r;
    r.event = TraceEvent::clock;
    r.address = ns;
    return r;
}

} // namespace

TEST(any_records_come_back) {
    Encoder encoder;
    std::vector<uint8_t> payload;
    for (uint64_t seed = 0; seed < 300; seed++) {
        Random random(seed);
        const auto records = any_records(random, 1 + random() % 3000);
        encoder.encode(records, payload);
        const size_t room = 1 + random() % 700;
        expect_records(decode(payload, uint32_t(records.size()), room).records, records);
    }
}

TEST(a_full_chunk_of_records_that_are_all_different) {
    Random random(7);
    std::vector<Reference> records;
    for (uint32_t i = 0; i < max_records; i++) {
        Reference r = any_record(random);
        r.event = TraceEvent::allocate;
        r.instruction = i;
        records.push_back(r);
    }
    Encoder encoder;
    std::vector<uint8_t> payload;
    encoder.encode(records, payload);
    expect_le(payload.size(), size_t(max_plain_bytes));
    expect_records(decode(payload, max_records, 512).records, records);
}

TEST(clocks_stay_between_the_records_where_they_were) {
    Encoder encoder;
    std::vector<uint8_t> payload;
    Random random(3);
    const auto some = any_records(random, 5);
    const std::vector<Reference> all = {clock_at(1), some[0],     some[1], clock_at(UINT64_MAX),
                                        some[2],     clock_at(9), some[3], clock_at(10)};
    encoder.encode(all, payload);
    const Decoded decoded = decode(payload, uint32_t(all.size()), 512);
    expect_records(decoded.records, {some[0], some[1], some[2], some[3]});
    expect_true(decoded.clocks == std::vector<uint64_t>({1, UINT64_MAX, 9, 10}));

    const std::vector<Reference> only = {clock_at(4), clock_at(5)};
    encoder.encode(only, payload);
    expect_true(decode(payload, 2, 512).clocks == std::vector<uint64_t>({4, 5}));
}

TEST(a_loop_takes_next_to_nothing) {
    const auto program = generate::stream(max_records, 0);
    Encoder encoder;
    std::vector<uint8_t> payload, stored;
    encoder.encode(std::span(program.threads[0]).first(max_records), payload);
    compress(payload, 1, stored);
    expect_lt(stored.size(), size_t(1000));
}

TEST(names_beyond_the_tables_are_refused) {
    Encoder encoder;
    std::vector<uint8_t> payload;
    const auto error = [&](Reference r) {
        encoder.encode({&r, 1}, payload);
        return error_of([&] { decode(payload, 1, 512); });
    };
    Reference r;
    r.instruction = statics;
    expect_true(contains(error(r), "an instruction that it does not describe"));
    r.instruction = no_static;
    expect_str(error(r), "");
    r.owner = owners;
    expect_true(contains(error(r), "an owner that it does not describe"));
    r.event = TraceEvent::enter, r.owner = 0, r.instruction = functions;
    expect_true(contains(error(r), "a function that it does not describe"));
}

// Under AddressSanitizer this also shows that nothing is read beyond the payload.
TEST(damaged_columns_decode_to_something_or_are_refused) {
    Encoder encoder;
    std::vector<uint8_t> payload;
    size_t refused = 0, tried = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        Random random(seed);
        const auto records = any_records(random, 1 + random() % 200);
        encoder.encode(records, payload);
        for (uint64_t i = 1 + random() % 3; i > 0; i--)
            payload[random() % payload.size()] ^= uint8_t(1 << random() % 8);
        if (random() % 4 == 0)
            payload.resize(random() % payload.size());
        const std::vector<uint8_t> exact(payload);
        tried++;
        refused += !error_of([&] { decode(exact, uint32_t(records.size()), 64); }).empty();
    }
    expect_lt(refused, tried);
    expect_lt(tried / 4, refused);
}
