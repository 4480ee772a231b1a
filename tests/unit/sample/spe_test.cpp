// Packets of Arm's Statistical Profiling Extension, made by hand.
#include "check.h"
#include "sample/spe.h"
#include <vector>

using namespace tc::sample;

namespace {

constexpr uint8_t events16 = 0x52, source8 = 0x43, load_store = 0x49, virtual_address = 0xb2,
                  total_latency = 0x98, context = 0x65, timestamp = 0x71, end = 0x01;
constexpr uint64_t retired = 2, first_level = 4, refill = 8, last_level = 1 << 8,
                   last_level_miss = 1 << 9;

class Area {
  public:
    explicit Area(uint64_t size, uint64_t start = 0) : from(start), to(start), bytes(size) {}
    Area &byte(uint8_t value) {
        bytes[to++ % bytes.size()] = value;
        return *this;
    }
    Area &packet(uint8_t header, uint64_t payload, unsigned count) {
        byte(header);
        for (unsigned i = 0; i < count; ++i)
            byte(uint8_t(payload >> 8 * i));
        return *this;
    }
    Area &access(uint64_t address, bool store, uint64_t events) {
        packet(0xb0, 0x400000, 8); // of the instruction: not what is looked for
        packet(context, 4711, 4);
        packet(load_store, store, 1);
        packet(events16, events, 2);
        packet(total_latency, 250, 2);
        return packet(virtual_address, address, 8);
    }
    SpeRecord read(int memory_source = -1) {
        const SpeRecord record = read_spe({bytes.data(), bytes.size()}, from, to, memory_source);
        from += record.bytes;
        return record;
    }
    uint64_t from, to;

  private:
    std::vector<uint8_t> bytes;
};

void expect_access(const SpeRecord &record, uint64_t address, bool store, Access::Served served) {
    expect_eq(record.kind, SpeRecord::whole);
    expect_eq(record.address, address);
    expect_eq(record.access.store, store);
    expect_eq(record.access.load, !store);
    expect_eq(record.access.served, served);
}

} // namespace

TEST(records_end_with_a_timestamp_or_an_end) {
    Area area(4096);
    area.access(0x7f0012345678, false, retired | last_level | last_level_miss)
        .packet(timestamp, 99, 8);
    area.access(0x7f0087654320, true, retired | first_level).byte(end);
    const SpeRecord first = area.read();
    expect_access(first, 0x7f0012345678, false, Access::by_memory);
    expect_eq(first.latency, 250u);
    expect_access(area.read(), 0x7f0087654320, true, Access::by_cache);
    expect_eq(area.read().kind, SpeRecord::none);
    expect_eq(area.from, area.to);
}

TEST(records_are_whole_wherever_the_area_ends) {
    for (uint64_t start = 4096 - 48; start < 4096; ++start) {
        Area area(4096, start);
        area.access(0x1000 + start, true, retired | last_level).byte(end);
        expect_access(area.read(), 0x1000 + start, true, Access::by_cache);
    }
}

TEST(padding_and_alignment_are_skipped) {
    Area area(4096, 5);
    area.byte(0).byte(0);
    area.byte(0x23).byte(0); // up to a multiple of 16
    while (area.to % 16)
        area.byte(0xff);
    area.access(0x1230, false, retired | last_level_miss).byte(end).byte(0);
    expect_access(area.read(), 0x1230, false, Access::by_memory);
    expect_eq(area.read().kind, SpeRecord::none);
}

TEST(extended_headers_carry_a_larger_index) {
    Area area(4096);
    area.packet(load_store, 0, 1);
    area.byte(0x21).packet(0xb2, 0xdead, 8); // address 8 * 1 + 2: not the data's
    area.packet(virtual_address, 0xbeef, 8).byte(end);
    expect_eq(area.read().address, 0xbeefu);
}

TEST(tags_are_no_part_of_an_address) {
    Area area(4096);
    area.access(0xab007f0012345678, false, retired).byte(end);
    expect_eq(area.read().address, 0x7f0012345678u);
}

TEST(the_data_source_is_asked_where_events_are_silent) {
    for (int source : {0x0e, 0x08}) {
        Area area(4096);
        area.access(0x1000, false, retired | first_level | refill);
        area.packet(source8, uint64_t(source), 1).byte(end);
        Area unknown = area;
        expect_access(area.read(0x0e), 0x1000, false,
                      source == 0x0e ? Access::by_memory : Access::by_cache);
        expect_access(unknown.read(), 0x1000, false, Access::unknown);
    }
}

TEST(what_was_thrown_away_has_no_address) {
    Area area(4096);
    area.access(0x1000, false, last_level_miss).byte(end);
    expect_eq(area.read().address, 0u);
}

TEST(damage_ends_the_reading) {
    Area area(4096);
    area.access(0x1000, false, retired).byte(0x0f).access(0x2000, false, retired).byte(end);
    const SpeRecord record = area.read();
    expect_eq(record.kind, SpeRecord::damaged);
    expect_eq(record.address, 0u);
    expect_eq(area.from, area.to);
    expect_eq(read_spe({nullptr, 4096}, 0, 8192, -1).kind, SpeRecord::damaged);
    expect_eq(read_spe({nullptr, 4096}, 8, 0, -1).kind, SpeRecord::damaged);
}

TEST(a_record_that_is_cut_off_is_none) {
    Area whole(4096);
    whole.access(0x1000, false, retired).byte(end);
    for (uint64_t bytes = 1; bytes + 1 < whole.to; ++bytes) {
        Area area = whole;
        area.to = bytes;
        const SpeRecord record = area.read();
        expect_eq(record.kind, SpeRecord::none);
        expect_eq(record.address, 0u);
        expect_eq(area.from, bytes);
    }
}
