// Reads the rings: see rings.h.
#include "counts.h"
#include "records.h"
#include "ring_table.h"
#include "spe.h"
#include <linux/perf_event.h>

namespace tc::sample {
namespace {

RingTable &table = ring_table;

void drain_area(ProcessorRing &ring, const Record &record) {
    constexpr uint64_t cut = PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION;
    table.totals.truncated += (record.flags & cut) != 0;
    uint64_t at = record.offset;
    const uint64_t end = record.offset + record.count;
    if (!ring.in_area || end < at || end - at > ring.area.size) {
        table.totals.damaged++;
        return;
    }
    const Event &event = *ring.in_area;
    while (at < end) {
        const SpeRecord found = read_spe(ring.area, at, end, event.memory_source);
        if (found.kind == SpeRecord::damaged)
            table.totals.damaged++;
        if (found.kind != SpeRecord::whole)
            break;
        table.totals.samples++;
        note_access(event, found.address, event.period, found.access, found.latency);
        at += found.bytes;
    }
    ring.area_read = end;
}

void drain(ProcessorRing &ring, uint32_t own_thread) {
    const uint64_t head = __atomic_load_n(&ring.page->data_head, __ATOMIC_ACQUIRE);
    for (uint64_t tail = ring.page->data_tail;;) {
        const Record record = read_record(ring.data, tail, head, table.fields);
        switch (record.kind) {
        case Record::none:
            __atomic_store_n(&ring.page->data_tail, head, __ATOMIC_RELEASE);
            if (ring.in_area)
                __atomic_store_n(&ring.page->aux_tail, ring.area_read, __ATOMIC_RELEASE);
            return;
        case Record::sample:
            table.totals.samples++;
            if (const Event *event = table.slot_of(record.sampled.id)->event) {
                Sample sampled = record.sampled;
                if (!(table.fields & PERF_SAMPLE_PERIOD))
                    sampled.period = event->period;
                note_sample(*event, sampled, own_thread);
            }
            break;
        case Record::lost:
            table.totals.lost += record.count;
            break;
        case Record::throttled:
            table.totals.throttled++;
            break;
        case Record::area:
            drain_area(ring, record);
            break;
        case Record::damaged:
            table.totals.damaged++;
            break;
        case Record::other:
            break;
        }
        tail += record.bytes;
    }
}

} // namespace

void drain_rings(uint32_t own_thread) {
    for (unsigned i = 0; i < table.count; i++)
        drain(table.rings[i], own_thread);
}

} // namespace tc::sample
