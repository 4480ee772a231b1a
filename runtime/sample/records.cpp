// See records.h.
#include "records.h"
#include <linux/perf_event.h>

namespace tc::sample {

static_assert(known_fields == (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
                               PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC));

namespace {

constexpr uint64_t most_words = 8; // of what is looked at, the header included

// In the order of linux/perf_event.h.
bool read_sample(const uint64_t *word, const uint64_t *end, uint64_t fields, Sample &sample) {
    const auto take = [&](uint64_t field, uint64_t &value) {
        if (fields & field)
            value = word < end ? *word : 0;
        word += (fields & field) != 0;
    };
    uint64_t ids = 0;
    take(PERF_SAMPLE_IDENTIFIER, sample.id);
    take(PERF_SAMPLE_TID, ids);
    take(PERF_SAMPLE_ADDR, sample.address);
    take(PERF_SAMPLE_PERIOD, sample.period);
    take(PERF_SAMPLE_WEIGHT, sample.weight);
    take(PERF_SAMPLE_DATA_SRC, sample.data_source);
    sample.pid = uint32_t(ids);
    sample.tid = uint32_t(ids >> 32);
    return word <= end;
}

} // namespace

Record read_record(const Ring &ring, uint64_t tail, uint64_t head, uint64_t fields) {
    Record record{};
    if (tail == head)
        return record;
    record.kind = Record::damaged;
    record.bytes = head - tail;
    perf_event_header header;
    // Positions out of order, or more than the ring can hold: overwritten.
    if (tail > head || head - tail > ring.size || head - tail < sizeof header)
        return record;
    ring.copy(&header, tail, sizeof header);
    if (header.size < sizeof header || header.size % 8 || header.size > head - tail)
        return record;
    uint64_t words[most_words] = {};
    const uint64_t whole = header.size / 8, used = whole < most_words ? whole : most_words;
    ring.copy(words, tail, used * 8);
    const auto has = [&](uint64_t count) { return used >= 1 + count; };
    record.kind = Record::other;
    record.bytes = header.size;
    switch (header.type) {
    case PERF_RECORD_SAMPLE:
        record.sampled.in_kernel =
            (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        record.kind = read_sample(words + 1, words + used, fields, record.sampled)
                          ? Record::sample
                          : Record::damaged;
        break;
    case PERF_RECORD_LOST: // id, lost
        if (has(2)) {
            record.kind = Record::lost;
            record.count = words[2];
        }
        break;
    case PERF_RECORD_LOST_SAMPLES:
        if (has(1)) {
            record.kind = Record::lost;
            record.count = words[1];
        }
        break;
    case PERF_RECORD_THROTTLE:
        record.kind = Record::throttled;
        break;
    case PERF_RECORD_AUX:
        if (has(3)) {
            record.kind = Record::area;
            record.offset = words[1];
            record.count = words[2];
            record.flags = words[3];
        }
        break;
    }
    // A damaged sample ends the reading, as a damaged size does.
    if (record.kind == Record::damaged)
        record.bytes = head - tail;
    return record;
}

} // namespace tc::sample
