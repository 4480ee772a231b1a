// Writes a generated stream of references to a trace file and reads it back: for
// trace_format.py, which says what it prints.
#include "simulator/trace/dependences.h"
#include "simulator/trace/reader.h"
#include "simulator/trace/writer.h"
#include "tests/unit/tracefile/generate.h"
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

using namespace thermocline;

static double user_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return std::fputs("usage: trace_format REFERENCES LEVEL DIRECTORY\n", stderr), 2;
    const size_t references = strtoull(argv[1], nullptr, 10);
    const std::string path = std::string(argv[3]) + "/generated.trace";
    for (const generate::Kind &kind : generate::kinds) {
        const generate::Program program = kind.make(references, 1);
        const auto &records = program.threads[0];
        const double before = user_seconds();
        TraceWriter writer(path, {.level = atoi(argv[2]), .overwrite = true});
        for (const auto &table : static_tables(0, program.statics))
            writer.table(table);
        for (const auto &table : name_tables(ChunkKind::owners, 0, program.owners))
            writer.table(table);
        writer.position(0, 0, 0, 0);
        writer.add(0, records);
        writer.finish();
        const double written = user_seconds();
        uint64_t bytes = writer.bytes(), sum = 0, count = 0, waits = 0;
        TraceReader trace(path);
        Cursor &cursor = trace.cursor(0);
        while (const Reference *r = cursor.next()) {
            sum += r->address;
            count++;
        }
        const double read = user_seconds();
        TraceReader again(path);
        Cursor &second = again.cursor(0);
        DependenceResolver resolver(again.tables());
        while (const Reference *r = second.next())
            resolver.resolve(*r, [&](uint64_t distance) { waits += distance; });
        const double resolved = user_seconds();
        if (count != records.size() || sum == 0)
            return std::fputs("trace_format: not all was read\n", stderr), 1;
        const double n = double(count);
        std::printf("%s %.4f %.2f %.2f %.2f\n", kind.name, double(bytes) / n,
                    n / (written - before) / 1e6, n / (read - written) / 1e6,
                    n / (resolved - read) / 1e6);
        unlink(path.c_str());
        if (waits == 1)
            std::puts("");
    }
}
