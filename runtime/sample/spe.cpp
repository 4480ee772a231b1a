// See spe.h.
#include "spe.h"

namespace tc::sample {
namespace {

// Header bytes, and the bits that tell them.
constexpr uint8_t pad = 0x00, end_of_record = 0x01, timestamp = 0x71;
constexpr bool is_events(uint8_t h) { return (h & 0xcf) == 0x42; }
constexpr bool is_data_source(uint8_t h) { return (h & 0xcf) == 0x43; }
constexpr bool is_context(uint8_t h) { return (h & 0xfc) == 0x64; }
constexpr bool is_operation(uint8_t h) { return (h & 0xfc) == 0x48; }
constexpr bool is_extended(uint8_t h) { return (h & 0xfc) == 0x20; }
constexpr bool is_address(uint8_t h) { return (h & 0xf8) == 0xb0; }
constexpr bool is_counter(uint8_t h) { return (h & 0xf8) == 0x98; }
constexpr unsigned payload_bytes(uint8_t h) { return 1u << (h >> 4 & 3); }

constexpr unsigned load_or_store = 1; // class of operations
constexpr unsigned virtual_data = 2;  // index of addresses
constexpr unsigned total_latency = 0; // index of counters
constexpr uint64_t retired = 1 << 1, first_level_access = 1 << 2, first_level_refill = 1 << 3,
                   last_level_access = 1 << 8, last_level_miss = 1 << 9;
constexpr uint64_t address_bits = (uint64_t(1) << 56) - 1; // the top byte is a tag

struct Packets {
    uint64_t events, source;
    bool has_events, has_source;
};

Access::Served served(const Packets &packets, int memory_source) {
    if (packets.has_events && packets.events & (last_level_access | last_level_miss))
        return packets.events & last_level_miss ? Access::by_memory : Access::by_cache;
    if (packets.has_source && memory_source >= 0)
        return packets.source == uint64_t(memory_source) ? Access::by_memory : Access::by_cache;
    if (packets.has_events && packets.events & first_level_access &&
        !(packets.events & first_level_refill))
        return Access::by_cache;
    return Access::unknown;
}

} // namespace

SpeRecord read_spe(const Ring &ring, uint64_t from, uint64_t to, int memory_source) {
    SpeRecord record{};
    Packets packets{};
    if (to < from || to - from > ring.size) {
        record.kind = SpeRecord::damaged;
        return record;
    }
    for (uint64_t at = from; at < to;) {
        const uint8_t first = ring.at(at);
        if (first == pad) {
            at++;
            continue;
        }
        if (first == end_of_record) {
            record.bytes = at + 1 - from;
            record.kind = SpeRecord::whole;
            break;
        }
        const bool extended = is_extended(first);
        if (to - at < 2) // every other packet has a payload
            break;
        const uint8_t header = extended ? ring.at(at + 1) : first;
        if (extended && header == 0) { // padding up to a multiple
            const uint64_t multiple = uint64_t(1) << ((first & 15) + 1);
            at += multiple - (at & (multiple - 1));
            continue;
        }
        const uint64_t bytes = payload_bytes(header), start = at + 1 + extended;
        if (to - at < 1 + extended + bytes)
            break;
        uint64_t payload = 0;
        ring.copy(&payload, start, bytes); // little-endian, as the processor is
        at = start + bytes;
        if (!extended && header == timestamp) {
            record.bytes = at - from;
            record.kind = SpeRecord::whole;
            break;
        }
        const unsigned index = (extended ? (first & 3u) << 3 : 0) | (header & 7);
        if (!extended && is_events(header)) {
            packets.events = payload;
            packets.has_events = true;
        } else if (!extended && is_data_source(header)) {
            packets.source = payload;
            packets.has_source = true;
        } else if (!extended && is_operation(header)) {
            if ((header & 3) == load_or_store)
                (payload & 1 ? record.access.store : record.access.load) = true;
        } else if (is_address(header)) {
            if (index == virtual_data)
                record.address = payload & address_bits;
        } else if (is_counter(header)) {
            if (index == total_latency)
                record.latency = payload;
        } else if (extended || !is_context(header)) {
            record = {};
            record.kind = SpeRecord::damaged;
            record.bytes = to - from;
            return record;
        }
    }
    if (record.kind != SpeRecord::whole) { // cut off
        record = {};
        record.bytes = to - from;
        return record;
    }
    // What was begun and thrown away moved no data that anybody waited for.
    if (packets.has_events && !(packets.events & retired))
        record.address = 0;
    record.access.served = served(packets, memory_source);
    return record;
}

} // namespace tc::sample
