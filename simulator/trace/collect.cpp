// The raw stream's tables go into the file as they are; its records through the columns.
#include "simulator/trace/collect.h"
#include "simulator/trace/raw_reader.h"
#include "simulator/trace/tables.h"

namespace thermocline {

Collected collect(int fd, const std::string &name, TraceWriter &writer,
                  const CollectLimits &limits) {
    RawReader reader(fd, name);
    Tables tables; // to check what the records name
    Collected done;
    std::vector<Reference> records;
    bool any = false;
    while (reader.next()) {
        any = true;
        const tc_raw_header &header = reader.header();
        if (header.kind != TC_RAW_RECORDS) {
            const auto kind = ChunkKind(header.kind);
            tables.add(kind, header.records, reader.payload());
            writer.table(kind, header.records, reader.payload());
            continue;
        }
        if (writer.bytes() >= limits.bytes || done.references >= limits.references) {
            done.dropped_records += header.records;
            continue;
        }
        records.clear();
        convert(reader.payload(),
                {tables.statics.size(), tables.owners.size(), tables.functions.size()}, records);
        writer.position(header.thread, header.first_instruction, header.window, header.begin_ns);
        writer.add(header.thread, records);
        writer.end_time(header.thread, header.end_ns);
        done.records += records.size();
        for (const Reference &r : records)
            done.references += r.event == TraceEvent::reference;
    }
    if (!any)
        throw TraceError(name + (reader.cut_off() ? " is cut off in its first chunk"
                                                  : " is empty: the program recorded nothing"));
    done.complete = tables.ended && !reader.cut_off();
    writer.table(
        meta_table({{"complete", done.complete}, {"dropped_records", done.dropped_records}}));
    return done;
}

} // namespace thermocline
