// The readers of traces on whatever bytes: no fault of memory, and records that keep to the
// tables, or an error of one line.  The first byte says which reader.
#include "simulator/trace/foreign.h"
#include "simulator/trace/raw_reader.h"
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace thermocline;

static void must(bool holds) {
    if (!holds)
        abort();
}

// A descriptor of the bytes.  One that is closed by who reads it.
static int descriptor_of(Bytes bytes) {
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
    must(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static void read_all(TraceReader &trace) {
    while (trace.threads().empty() && trace.advance())
        ;
    for (uint32_t thread : trace.threads()) {
        Cursor &cursor = trace.cursor(thread);
        while (const Reference *r = cursor.next()) {
            const Tables &tables = trace.tables();
            must(r->event < TraceEvent::clock);
            if (r->event != TraceEvent::reference)
                continue;
            must(r->instruction == no_static || r->instruction < tables.statics.size());
            must(r->owner < tables.owners.size());
            if (r->instruction != no_static) {
                tables.producers_of(r->instruction);
                tables.position(r->instruction);
            }
        }
    }
}

static void read_columns(Bytes bytes) {
    if (bytes.size() < 2)
        return;
    const uint32_t records = bytes[0] | bytes[1] << 8;
    const std::vector<uint8_t> exact(bytes.begin() + 2, bytes.end());
    Decoder decoder;
    decoder.begin(exact, records, {4, 4, 4});
    Reference some[100];
    while (decoder.left())
        must(decoder.next(some, 100) > 0 || decoder.at_clock());
}

// A chunk around each payload, with the right checksum, which chance would never find.
static void read_chunks(Bytes bytes) {
    FileHead head;
    std::string file(reinterpret_cast<const char *>(&head), sizeof head);
    std::vector<uint8_t> stored;
    while (bytes.size() >= 4) {
        ChunkHeader header;
        header.kind = ChunkKind(bytes[0] % (chunk_kinds - 1) + 1);
        if (header.kind == ChunkKind::index) // which is not among the others
            header.kind = ChunkKind::pages;
        header.thread = bytes[1] & 3;
        header.first_instruction = bytes[1] >> 2;
        header.records = bytes[2];
        const size_t size = std::min<size_t>(bytes[3], bytes.size() - 4);
        compress(bytes.subspan(4, size), 1, stored);
        header.plain_bytes = uint32_t(size);
        header.stored_bytes = uint32_t(stored.size());
        header.checksum = chunk_checksum(header, stored);
        file.append(reinterpret_cast<const char *>(&header), sizeof header);
        file.append(stored.begin(), stored.end());
        bytes = bytes.subspan(4 + size);
    }
    const Bytes whole{reinterpret_cast<const uint8_t *>(file.data()), file.size()};
    TraceReader trace(file_source(descriptor_of(whole), "trace"));
    read_all(trace);
}

static void read_raw(Bytes bytes) {
    const int fd = descriptor_of(bytes);
    try {
        TraceReader trace(stream_source(fd, "stream", 1 << 20));
        read_all(trace);
    } catch (...) {
        close(fd);
        throw;
    }
    close(fd);
}

static void read_foreign(Bytes bytes, const ForeignFormat &format) {
    const int fd = descriptor_of(bytes);
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const std::string to = "/dev/shm/trace_fuzz." + std::to_string(getpid());
    try {
        ForeignInput input(path);
        TraceWriter writer(to, {.overwrite = true});
        format.import_from(input, writer, {});
    } catch (...) {
        close(fd);
        throw;
    }
    close(fd);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const Bytes bytes{data + 1, size - 1};
    const size_t readers = 4 + foreign_formats().size();
    try {
        switch (const size_t which = data[0] % readers) {
        case 0:
            read_columns(bytes);
            break;
        case 1:
            read_chunks(bytes);
            break;
        case 2:
            read_raw(bytes);
            break;
        case 3: {
            TraceReader trace(file_source(descriptor_of(bytes), "trace"));
            read_all(trace);
            break;
        }
        default:
            read_foreign(bytes, foreign_formats()[which - 4]);
        }
    } catch (const TraceError &error) {
        must(error.what()[0] && !std::strchr(error.what(), '\n'));
    }
    return 0;
}
