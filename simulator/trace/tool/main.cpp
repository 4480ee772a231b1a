// thermocline-trace: what the `thermocline trace` command calls for the work on trace files.
#include "simulator/trace/collect.h"
#include "simulator/trace/foreign.h"
#include "simulator/trace/tool/info.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <unistd.h>

using namespace thermocline;

namespace {

void note(const std::string &text) { std::fprintf(stderr, "thermocline: %s\n", text.c_str()); }

// "FROM:TO", either may be missing.
template <class Number> void parse_range(const std::string &text, Number &from, Number &to) {
    const size_t colon = text.find(':');
    const auto parse = [&](const std::string &part, Number &value) {
        if (!part.empty() && !CLI::detail::lexical_cast(part, value))
            throw TraceMisuse("not FROM:TO: " + text);
    };
    if (colon == text.npos)
        throw TraceMisuse("not FROM:TO: " + text);
    parse(text.substr(0, colon), from);
    parse(text.substr(colon + 1), to);
    if (!(from <= to))
        throw TraceMisuse("nothing lies within " + text);
}

struct Options {
    std::string input, output, format, function, time, windows, meta;
    bool force = false, count = false;
    int fd = STDIN_FILENO, level = TraceWriter::Options().level;
    int64_t thread = -1;
    CollectLimits limits;
    ForeignOptions foreign;
};

void add_output(CLI::App &verb, Options &o) {
    verb.add_option("-o,--output", o.output, "The file to write")->required();
    verb.add_flag("--force", o.force, "Overwrite it");
}

void add_format(CLI::App &verb, Options &o) {
    std::string known;
    for (const ForeignFormat &format : foreign_formats())
        known += std::string("\n  ") + format.name + ": " + format.what;
    verb.add_option("--format", o.format, "One of:" + known)->required();
    verb.add_option("--organization", o.foreign.organization,
                    "For places in the DRAM: how many channels, ranks, bank groups, banks, rows "
                    "and columns there are")
        ->delimiter(',')
        ->capture_default_str();
    verb.add_option("--line-bytes", o.foreign.line_bytes, "Bytes of a memory request")
        ->check(CLI::Range(1u, 1u << 20))
        ->capture_default_str();
}

int do_collect(const Options &o) {
    TraceWriter writer(o.output, {.level = o.level, .overwrite = o.force});
    const std::string name = o.fd == STDIN_FILENO ? "standard input" : "the recording";
    const auto meta = nlohmann::json::parse(o.meta.empty() ? "{}" : o.meta, nullptr, false);
    if (!meta.is_object())
        throw TraceMisuse("--meta takes a JSON object");
    const Collected done = collect(o.fd, name, writer, o.limits);
    if (!meta.empty())
        writer.table(meta_table(meta));
    writer.finish();
    if (done.dropped_records)
        note(std::to_string(done.dropped_records) + " records beyond the limit were dropped");
    if (!done.complete)
        note("the recording was cut off: " + o.output + " ends at its last whole chunk");
    return 0;
}

int do_info(const Options &o) {
    TraceReader trace(o.input);
    const auto answer = describe(trace, o.count);
    std::puts(answer.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
}

int do_import(const Options &o) {
    const ForeignFormat &format = foreign_format(o.format);
    ForeignInput input(o.input);
    TraceWriter writer(o.output, {.level = o.level, .overwrite = o.force});
    format.import_from(input, writer, o.foreign);
    writer.finish();
    return 0;
}

int do_export(const Options &o) {
    const ForeignFormat &format = foreign_format(o.format);
    Region region;
    region.function = o.function;
    if (!o.time.empty()) {
        double from = 0, to = 1e9;
        parse_range(o.time, from, to);
        if (from < 0 || to > 1e9)
            throw TraceMisuse("a time is from 0 to 1e9 seconds");
        region.from_ns = uint64_t(from * 1e9);
        region.to_ns = uint64_t(to * 1e9);
    }
    if (!o.windows.empty())
        parse_range(o.windows, region.first_window, region.last_window);
    TraceReader trace(o.input);
    while (trace.threads().empty() && trace.advance())
        ;
    const std::vector<uint32_t> threads = trace.threads();
    if (threads.empty())
        throw TraceError(trace.name() + " has no records: nothing is exported");
    if (o.thread < 0 && threads.size() > 1)
        throw TraceMisuse(trace.name() + " has " + std::to_string(threads.size()) +
                          " threads, and the format has one: choose with --thread");
    const uint32_t thread = o.thread < 0 ? threads[0] : uint32_t(o.thread);
    Cursor &cursor = trace.cursor(thread, region);
    ForeignOutput output(o.output, o.force);
    format.export_to(cursor, trace.tables(), output, o.foreign);
    if (o.thread >= 0) {
        const auto known = trace.threads();
        if (std::find(known.begin(), known.end(), thread) == known.end())
            throw TraceMisuse(trace.name() + " has no thread " + std::to_string(thread));
    }
    output.finish();
    if (trace.cut_off())
        note(trace.name() + " is cut off: what is left of it was exported");
    return 0;
}

int run(int argc, char **argv) {
    Options o;
    CLI::App app("Works on traces: files of a program's memory references.", "thermocline-trace");
    app.require_subcommand(1);

    CLI::App &collect = *app.add_subcommand("collect", "Make a trace of a raw stream");
    add_output(collect, o);
    collect.add_option("--fd", o.fd, "The descriptor to read")->check(CLI::NonNegativeNumber);
    collect.add_option("--max-bytes", o.limits.bytes, "Drop records beyond this file size");
    collect.add_option("--max-references", o.limits.references, "Drop records beyond so many");
    collect.add_option("--meta", o.meta, "A JSON object: what else the trace says of itself");
    collect.add_option("--level", o.level, "zstd's")->check(CLI::Range(1, 19));

    CLI::App &info = *app.add_subcommand("info", "Describe a trace, as JSON");
    info.add_option("trace", o.input)->required();
    info.add_flag("--count", o.count, "Read every record; count by owner");

    CLI::App &import = *app.add_subcommand("import", "Make a trace of another simulator's");
    add_output(import, o);
    add_format(import, o);
    import.add_option("file", o.input, "Plain, gzip or xz")->required();

    CLI::App &export_ = *app.add_subcommand("export", "Write a thread for another simulator");
    add_output(export_, o);
    add_format(export_, o);
    export_.add_option("trace", o.input)->required();
    export_.add_option("--thread", o.thread, "Which")->check(CLI::Range(0u, UINT32_MAX));
    export_.add_option("--function", o.function, "Only what runs in this function");
    export_.add_option("--time", o.time, "Only from FROM:TO seconds after recording began");
    export_.add_option("--windows", o.windows, "Only sampling windows FROM:TO, from 1");

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        throw TraceMisuse(std::string(error.what()) + ": see thermocline-trace --help");
    }
    return collect ? do_collect(o) : info ? do_info(o) : import ? do_import(o) : do_export(o);
}

} // namespace

int main(int argc, char **argv) {
    // What reads our output may go away: write() says so.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run(argc, argv);
    } catch (const TraceMisuse &error) {
        note(error.what());
        return 2;
    } catch (const std::bad_alloc &) {
        note("not enough memory: use a smaller region");
    } catch (const std::exception &error) {
        note(error.what());
    }
    return 1;
}
