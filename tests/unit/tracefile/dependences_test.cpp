// Distances to producers, against a search backwards.
#include "simulator/trace/dependences.h"
#include "support.h"

using namespace support;

TEST(distances_are_those_of_a_search_backwards) {
    for (uint64_t seed = 0; seed < 30; seed++) {
        Random random(seed);
        std::vector<StaticRow> rows(1 + random() % 20);
        for (StaticRow &row : rows)
            for (uint64_t i = random() % 4; i > 0; i--)
                row.producers.push_back(uint32_t(random() % (rows.size() + 2))); // some unknown
        Tables tables;
        for (const TablePayload &t : static_tables(0, rows))
            tables.add(t.kind, t.records, t.bytes);
        std::vector<Reference> records;
        DependenceResolver resolver(tables);
        for (int i = 0; i < 2000; i++) {
            Reference r;
            r.instruction = random() % 10 ? uint32_t(random() % rows.size()) : no_static;
            if (random() % 200 == 0)
                r.event = TraceEvent::window_begin;
            else if (random() % 20 == 0)
                r.event = TraceEvent::allocate;
            std::vector<uint64_t> got, wanted;
            resolver.resolve(r, [&](uint64_t distance) { got.push_back(distance); });
            if (r.event == TraceEvent::reference && r.instruction != no_static)
                for (uint32_t producer : rows[r.instruction].producers) {
                    uint64_t distance = 1;
                    for (size_t at = records.size(); at-- > 0;) {
                        if (records[at].event == TraceEvent::window_begin)
                            break;
                        if (records[at].event != TraceEvent::reference)
                            continue;
                        if (records[at].instruction == producer) {
                            wanted.push_back(distance);
                            break;
                        }
                        distance++;
                    }
                }
            expect_true(got == wanted);
            records.push_back(r);
        }
    }
}

TEST(a_chase_waits_for_itself_and_a_stream_for_nothing) {
    const auto waits = [](const generate::Program &program) {
        Tables tables;
        for (const TablePayload &t : static_tables(0, program.statics))
            tables.add(t.kind, t.records, t.bytes);
        DependenceResolver resolver(tables);
        size_t count = 0;
        for (const Reference &r : program.threads[0])
            resolver.resolve(r, [&](uint64_t distance) { count += distance <= 4; });
        return count;
    };
    expect_eq(waits(generate::stream(3000, 1)), size_t(0));
    const auto chase = generate::chase(3000, 1);
    expect_le(chase.threads[0].size() - 4, waits(chase));
    const auto gather = generate::gather(3000, 1);
    expect_eq(waits(gather), gather.threads[0].size() / 2);
}

TEST(rows_that_come_later_are_learnt) {
    Tables tables;
    const auto add = [&](uint32_t first, const std::vector<StaticRow> &rows) {
        for (const TablePayload &t : static_tables(first, rows))
            tables.add(t.kind, t.records, t.bytes);
    };
    add(0, {{8, false, {}, ""}});
    DependenceResolver resolver(tables);
    Reference r;
    r.instruction = 0;
    resolver.resolve(r, [](uint64_t) { expect_true(false); });
    add(1, {{8, false, {0}, ""}});
    r.instruction = 1;
    uint64_t distance = 0;
    resolver.resolve(r, [&](uint64_t d) { distance = d; });
    expect_eq(distance, uint64_t(1));
}
