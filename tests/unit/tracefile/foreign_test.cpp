// Other simulators' traces: samples by hand, round trips, and files that are none.
#include "simulator/trace/foreign.h"
#include "support.h"

using namespace support;

namespace {

std::string import(const std::string &format, const std::string &file,
                   const ForeignOptions &options = {}) {
    return error_of([&] {
        ForeignInput input(file);
        TraceWriter writer(check::scratch("imported.trace"), {.overwrite = true});
        foreign_format(format).import_from(input, writer, options);
        writer.finish();
    });
}

std::string import_text(const std::string &format, const std::string &text,
                        const ForeignOptions &options = {}) {
    check::write_file(check::scratch("foreign"), text);
    return import(format, check::scratch("foreign"), options);
}

std::vector<Reference> imported() {
    TraceReader trace(check::scratch("imported.trace"));
    expect_true(!trace.cut_off());
    return read_thread(trace, 0);
}

void export_to(const std::string &format, const std::string &trace, const std::string &file,
               const ForeignOptions &options = {}) {
    TraceReader reader(trace);
    Cursor &cursor = reader.cursor(reader.threads().at(0));
    ForeignOutput output(file, true);
    foreign_format(format).export_to(cursor, reader.tables(), output, options);
    output.finish();
}

Reference reference(uint64_t address, bool store, uint32_t bytes, uint32_t gap = 0,
                    uint32_t instruction = no_static) {
    Reference r;
    r.address = address;
    r.store = store;
    r.bytes = bytes;
    r.gap = gap;
    r.instruction = instruction;
    return r;
}

// An instruction as ChampSim has it, built without our own structure.
struct Champsim {
    uint64_t ip;
    std::vector<uint8_t> to, from;
    std::vector<uint64_t> stores, loads;
    uint8_t branch = 0;

    std::string bytes() const {
        std::string text(64, '\0');
        const auto put = [&](size_t at, uint64_t value) {
            for (int i = 0; i < 8; i++)
                text[at + size_t(i)] = char(value >> 8 * i);
        };
        put(0, ip);
        text[8] = char(branch);
        for (size_t i = 0; i < to.size(); i++)
            text[10 + i] = char(to[i]);
        for (size_t i = 0; i < from.size(); i++)
            text[12 + i] = char(from[i]);
        for (size_t i = 0; i < stores.size(); i++)
            put(16 + 8 * i, stores[i]);
        for (size_t i = 0; i < loads.size(); i++)
            put(32 + 8 * i, loads[i]);
        return text;
    }
};

std::string champsim(const std::vector<Champsim> &instructions) {
    std::string text;
    for (const Champsim &each : instructions)
        text += each.bytes();
    return text;
}

void write_program(const generate::Program &program, const std::string &path) {
    TraceWriter writer(path, {.overwrite = true});
    for (const TablePayload &t : static_tables(0, program.statics))
        writer.table(t);
    for (const TablePayload &t : name_tables(ChunkKind::owners, 0, program.owners))
        writer.table(t);
    writer.add(0, program.threads[0]);
    writer.finish();
}

} // namespace

TEST(loads_and_stores_of_ramulator) {
    expect_str(import_text("ramulator2-loadstore", "LD 0x1000\nST 4096\r\nLD 0Xffff\nST 0"), "");
    expect_records(imported(), {reference(0x1000, false, 64), reference(4096, true, 64),
                                reference(0xffff, false, 64), reference(0, true, 64)});
    TraceReader trace(check::scratch("imported.trace"));
    expect_true(contains(trace.tables().meta["unknown"].dump(), "threads"));
    expect_str(trace.tables().meta["source"].get<std::string>(), "import");
    export_to("ramulator2-loadstore", check::scratch("imported.trace"), check::scratch("out"));
    expect_str(check::read_file(check::scratch("out")),
               "LD 0x1000\nST 0x1000\nLD 0xffff\nST 0x0\n");
}

TEST(places_of_ramulator_are_addresses_by_the_organization) {
    // 2 channels, 1 rank, 4 rows, 8 columns of 64 bytes.
    const ForeignOptions small{.organization = {2, 1, 4, 8}, .line_bytes = 64};
    expect_str(
        import_text("ramulator2-readwrite", "R 0,0,0,0\nW 1,0,0,0\nR 0,0,0,1\nW 1,0,3,7\n", small),
        "");
    expect_records(imported(), {reference(0, false, 64), reference(64, true, 64),
                                reference(128, false, 64), reference(63 * 64, true, 64)});
    export_to("ramulator2-readwrite", check::scratch("imported.trace"), check::scratch("out"),
              small);
    expect_str(check::read_file(check::scratch("out")),
               "R 0,0,0,0\nW 1,0,0,0\nR 0,0,0,1\nW 1,0,3,7\n");
    expect_true(contains(import_text("ramulator2-readwrite", "R 2,0,0,0\n", small), "line 1"));
    expect_true(contains(import_text("ramulator2-readwrite", "R 0,0,0\n", small), "line 1"));
    expect_true(contains(import_text("ramulator2-readwrite", "R 0,0,0,0,0\n", small), "line 1"));
    expect_true(contains(import_text("ramulator2-readwrite", "R 0,0,0,0\n",
                                     {.organization = {1, 0, 4}, .line_bytes = 64}),
                         "--organization"));
}

TEST(lines_that_are_no_trace_are_named) {
    const auto error = [](const std::string &text) {
        return import_text("ramulator2-loadstore", text);
    };
    expect_true(contains(error("LD 0x10\nLX 0x10\n"), "line 2: not LD or ST"));
    expect_true(contains(error("LD\n"), "line 1"));
    expect_true(contains(error("LD 12z\n"), "line 1"));
    expect_true(contains(error("LD 0x\n"), "line 1"));
    expect_true(contains(error("LD 99999999999999999999\n"), "line 1"));
    expect_true(contains(error("LD 1\n\nLD 2\n"), "line 2"));
    expect_true(contains(error(""), "no memory reference"));
    expect_true(contains(error(std::string(100000, 'x')), "no text trace"));
    expect_true(contains(import("ramulator2-loadstore", "/nowhere/x"), "can't be read"));
    expect_true(contains(error_of([] { foreign_format("vax"); }), "ramulator2-readwrite"));
}

TEST(instructions_of_champsim) {
    const std::string text = champsim({
        {.ip = 0x100, .to = {1}, .from = {2}, .stores = {}, .loads = {0xa000}}, // r1 = [..]
        {.ip = 0x104, .to = {3}, .from = {1}, .stores = {}, .loads = {}},       // r3 = f(r1)
        {.ip = 0x108, .to = {}, .from = {}, .stores = {}, .loads = {}, .branch = 1},
        {.ip = 0x10c, .to = {4}, .from = {3}, .stores = {}, .loads = {0xb000}}, // r4 = [r3]
        {.ip = 0x110, .to = {}, .from = {4}, .stores = {0xc000}, .loads = {0xc000}},
        {.ip = 0x114, .to = {3}, .from = {}, .stores = {}, .loads = {}}, // r3 is new
        {.ip = 0x118, .to = {5}, .from = {3}, .stores = {}, .loads = {0xd000}},
        {.ip = 0x11c, .to = {}, .from = {}, .stores = {}, .loads = {}},
    });
    expect_str(import_text("champsim", text), "");
    // 0x110 makes two references of one instruction, for which the next gap is one less.
    expect_records(imported(),
                   {reference(0xa000, false, 8, 0, 0), reference(0xb000, false, 8, 2, 1),
                    reference(0xc000, false, 8, 0, 2), reference(0xc000, true, 8, 0, 3),
                    reference(0xd000, false, 8, 0, 4)});
    TraceReader trace(check::scratch("imported.trace"));
    const Tables &tables = trace.tables();
    expect_str(std::string(tables.position(3)), "0x110");
    expect_true(tables.statics[3].store && !tables.statics[2].store);
    expect_eq(tables.producers_of(0).size(), size_t(0));
    expect_true(tables.producers_of(1).size() == 1 && tables.producers_of(1)[0] == 0);
    expect_true(tables.producers_of(3).size() == 1 && tables.producers_of(3)[0] == 1);
    expect_eq(tables.producers_of(4).size(), size_t(0));
    expect_eq(tables.ends[0].instructions, uint64_t(8));
}

TEST(a_dependence_that_shows_later_is_in_the_table) {
    std::vector<Champsim> loop;
    for (int i = 0; i < 10000; i++) // r1 = [r1], which the first turn can't know
        loop.push_back({.ip = 0x100,
                        .to = {1},
                        .from = {1},
                        .stores = {},
                        .loads = {0xa000 + 64 * uint64_t(i)}});
    expect_str(import_text("champsim", champsim(loop)), "");
    TraceReader trace(check::scratch("imported.trace"));
    expect_eq(trace.tables().statics.size(), size_t(1));
    expect_eq(trace.tables().producers_of(0).size(), size_t(1));
}

TEST(files_that_are_no_champsim_trace_are_refused) {
    const std::string good =
        champsim({{.ip = 1, .to = {}, .from = {}, .stores = {}, .loads = {8}}});
    expect_true(contains(import_text("champsim", good + "x"), "ends within an instruction"));
    expect_true(contains(import_text("champsim", std::string(640, 'x')), "no ChampSim trace"));
    expect_true(contains(import_text("champsim", std::string(640, '\0')), "no memory reference"));
}

TEST(exports_come_back_by_imports) {
    for (const generate::Kind &kind : generate::kinds) {
        const auto program = kind.make(20000, 3);
        const std::string path = check::scratch("a.trace");
        write_program(program, path);
        for (const char *suffix : {"", ".gz", ".xz"}) {
            const std::string file = check::scratch("out.champsim") + suffix;
            export_to("champsim", path, file);
            expect_str(import("champsim", file), "");
            const auto got = imported();
            expect_eq(got.size(), program.threads[0].size());
            TraceReader trace(check::scratch("imported.trace"));
            const Tables &tables = trace.tables();
            // Other numbers for the same instructions, and the same dependences between them.
            std::map<uint32_t, uint32_t> number;
            for (size_t i = 0; i < std::min(got.size(), program.threads[0].size()); i++) {
                const Reference &r = program.threads[0][i];
                expect_true(got[i].address == r.address && got[i].store == r.store &&
                            got[i].gap == r.gap);
                expect_eq(number.try_emplace(r.instruction, got[i].instruction).first->second,
                          got[i].instruction);
            }
            for (const auto &[ours, theirs] : number)
                for (uint32_t producer : tables.producers_of(theirs)) {
                    const auto &real = program.statics[ours].producers;
                    expect_true(std::any_of(real.begin(), real.end(), [&](uint32_t p) {
                        return number.contains(p) && number[p] == producer;
                    }));
                }
        }
        const std::string file = check::scratch("out.txt.xz");
        export_to("ramulator2-loadstore", path, file);
        expect_str(import("ramulator2-loadstore", file), "");
        const auto got = imported();
        expect_eq(got.size(), program.threads[0].size());
        for (size_t i = 0; i < got.size(); i++)
            expect_true(got[i].address == program.threads[0][i].address);
    }
}

TEST(compressed_files_that_are_cut_off_are_refused) {
    write_program(generate::mix(20000, 1), check::scratch("a.trace"));
    for (const char *suffix : {".gz", ".xz"}) {
        const std::string file = check::scratch("out") + suffix;
        export_to("ramulator2-loadstore", check::scratch("a.trace"), file);
        const std::string bytes = check::read_file(file);
        check::write_file(file, bytes.substr(0, bytes.size() / 2));
        expect_true(contains(import("ramulator2-loadstore", file), "can't be read"));
        std::string flipped = bytes;
        flipped[flipped.size() / 2] ^= 0x55;
        check::write_file(file, flipped);
        expect_true(!import("ramulator2-loadstore", file).empty());
    }
}

TEST(a_cut_off_import_leaves_no_trace) {
    unlink(check::scratch("imported.trace").c_str());
    expect_true(!import_text("ramulator2-loadstore", "LD 1\nLD x\n").empty());
    expect_true(access(check::scratch("imported.trace").c_str(), F_OK) != 0);
}
