// The decoders of sampling, on whatever bytes: no fault of memory, no endless loop, and never
// beyond what there is.
#include "pages/smaps.h"
#include "sample/events.h"
#include "sample/records.h"
#include "sample/spe.h"
#include <cstdlib>
#include <string>
#include <vector>

using namespace tc::sample;

static void must(bool holds) {
    if (!holds)
        abort();
}

static void read_all_records(const Ring &ring, uint64_t tail, uint64_t head, uint64_t fields) {
    for (;;) {
        const Record record = read_record(ring, tail, head, fields);
        if (record.kind == Record::none)
            break;
        must(record.bytes > 0 && record.bytes <= head - tail);
        must(record.kind != Record::damaged || tail + record.bytes == head);
        tail += record.bytes;
    }
    must(tail == head);
}

static void read_all_packets(const Ring &ring, uint64_t from, uint64_t to) {
    while (from < to) {
        const SpeRecord record = read_spe(ring, from, to, 14);
        must(record.bytes > 0 && record.bytes <= to - from);
        must(record.kind == SpeRecord::whole || from + record.bytes == to);
        must(record.address >> 56 == 0);
        from += record.bytes;
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    // A ring just large enough, on the heap, that the positions may cross the end of.
    uint64_t room = 8;
    while (room < size - 2)
        room *= 2;
    std::vector<uint8_t> bytes(room);
    const uint64_t start = data[0] * uint64_t(8), end = start + (size - 2);
    for (uint64_t at = start; at < end; at++)
        bytes[at % room] = data[2 + at - start];
    const Ring ring{bytes.data(), room};
    const uint64_t fields = data[1] & 1 ? known_fields : known_fields & data[1] * 0x101u;
    read_all_records(ring, start, end, fields);
    read_all_packets(ring, start, end);

    const std::string text(reinterpret_cast<const char *>(data + 2), size - 2);
    Event event;
    if (parse_event(text.c_str(), event))
        must(*event.name && (event.period == 0) != (event.frequency == 0));
    tc::pages::SmapsReader reader(
        [](void *, const tc::pages::SmapsMapping &mapping) { must(mapping.from < mapping.to); },
        nullptr);
    reader.take(text.data(), text.size());
    return 0;
}
