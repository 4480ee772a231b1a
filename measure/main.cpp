// thermocline-measure: measures one kind of memory from the processors that it is told, and prints
// one line of JSON for each point as soon as it is measured: what was measured, and the value of
// every go in seconds or bytes a second.
#include "measure/bandwidth.h"
#include "measure/latency.h"
#include "measure/team.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>
#include <new>
#include <nlohmann/json.hpp>

using namespace measure;
using nlohmann::json;

namespace {

struct Options {
    std::vector<unsigned> cpus;
    std::vector<std::string> nodes;
    std::string isa = "auto";
    Source source;
    unsigned goes = 15;
    std::vector<size_t> bytes;
    std::vector<unsigned> threads;
    std::vector<std::string> which; // patterns
    std::vector<unsigned> pauses;
};

constexpr size_t most_bytes = size_t(1) << 44;
constexpr unsigned most_weight = 1000;

int fail(const std::string &what, int status = 1) {
    std::fprintf(stderr, "thermocline: %s\n", what.c_str());
    return status;
}

void say(const json &point) { std::cout << point.dump() << '\n' << std::flush; }

const Kernels &kernels_of(const Options &o) {
    const Kernels *found = find_kernels(o.isa.c_str());
    if (!found)
        throw Refused("this processor has no " + o.isa);
    return *found;
}

std::vector<unsigned> first(const std::vector<unsigned> &cpus, unsigned threads) {
    if (threads > cpus.size())
        throw Refused("there are " + std::to_string(cpus.size()) + " processors, not " +
                      std::to_string(threads));
    return {cpus.begin(), cpus.begin() + threads};
}

// "3" or "3:7": node 3, seven blocks a turn.
NodeShare parse_node(const std::string &text) {
    NodeShare share{0, 1};
    const char *end = text.data() + text.size();
    std::from_chars_result read = std::from_chars(text.data(), end, share.node);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == ':')
        read = std::from_chars(read.ptr + 1, end, share.weight);
    if (read.ec != std::errc() || read.ptr != end || share.weight > most_weight)
        throw Refused("no node: '" + text + "': write it like 1 or 1:3");
    return share;
}

json base(const char *kind, const Options &o, const Memory &memory) {
    return {{"kind", kind},
            {"isa", kernels_of(o).isa},
            {"huge_share", memory.huge_share()},
            {"dax", memory.dax()}};
}

void say_traffic(json &point, const Traffic &found) {
    point["values"] = found.values;
    point["quiet"] = found.quiet;
    say(point);
}

void measure_latency(const Options &o) {
    const std::map<std::string, Order> orders{
        {"sequential", Order::sequential}, {"paged", Order::paged}, {"random", Order::random}};
    const Memory memory(o.source, *std::max_element(o.bytes.begin(), o.bytes.end()));
    for (const std::string &name : o.which)
        for (const size_t bytes : o.bytes) {
            json point = base("latency", o, memory);
            point["pattern"] = name;
            point["bytes"] = bytes;
            point["values"] = latency(memory, bytes, orders.at(name), o.cpus[0], o.goes);
            say(point);
        }
}

void measure_bandwidth(const Options &o) {
    const Memory memory(o.source, o.bytes[0]);
    for (unsigned pattern = 0; pattern < patterns; pattern++) {
        const char *name = pattern_traits[pattern].name;
        if (std::find(o.which.begin(), o.which.end(), name) == o.which.end())
            continue;
        for (const unsigned threads : o.threads) {
            json point = base("bandwidth", o, memory);
            point["pattern"] = name;
            point["threads"] = threads;
            say_traffic(point, bandwidth(kernels_of(o), static_cast<Pattern>(pattern), memory,
                                         first(o.cpus, threads), o.goes));
        }
    }
}

void measure_intensity(const Options &o) {
    const Memory memory(o.source, o.bytes[0]);
    for (unsigned step = 0; step < step_counts; step++) {
        json point = base("intensity", o, memory);
        point["flops_per_byte"] = flops(steps[step]) / 8.0;
        point["threads"] = o.threads[0];
        say_traffic(point,
                    accumulation(kernels_of(o), step, memory, first(o.cpus, o.threads[0]), o.goes));
    }
}

void measure_loaded(const Options &o) {
    const Memory chased(o.source, o.bytes[0]), read(o.source, o.bytes[0]);
    for (const unsigned pause : o.pauses) {
        json point = base("loaded", o, chased);
        const Loaded found = loaded_latency(kernels_of(o), chased, read, o.cpus, pause, o.goes);
        point["pause"] = pause;
        point["values"] = found.seconds;
        point["bandwidth"] = found.bandwidth;
        point["quiet"] = found.quiet;
        say(point);
    }
}

void add_common(CLI::App &verb, Options &o) {
    verb.add_option("--cpus", o.cpus, "Processors, in the order in which threads take them")
        ->delimiter(',')
        ->required();
    verb.add_option("--nodes", o.nodes, "Where memory is: 1, or 0:3,1:1 for blocks in turn")
        ->delimiter(',');
    verb.add_option("--pages", o.source.pages, "small or huge")
        ->transform(CLI::CheckedTransformer(
            std::map<std::string, Pages>{{"small", Pages::small}, {"huge", Pages::huge}}));
    verb.add_option("--directory", o.source.directory, "Map a file there instead");
    verb.add_option("--isa", o.isa, "auto, sse2, avx2 or avx512");
    verb.add_option("--goes", o.goes, "Values of each point")->check(CLI::Range(1, 10000));
    verb.add_option("--bytes", o.bytes, "Size, or sizes of a latency's buffer")
        ->delimiter(',')
        ->required()
        ->check(CLI::Range(size_t(1) << 10, most_bytes));
}

CLI::Option *add_threads(CLI::App &verb, Options &o) {
    return verb.add_option("--threads", o.threads, "How many")
        ->delimiter(',')
        ->required()
        ->check(CLI::Range(1, 8192));
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Measures a memory system.", "thermocline-measure");
    app.require_subcommand(1);
    Options o;
    CLI::App &latency = *app.add_subcommand("latency", "Of loads that wait for each other");
    CLI::App &bandwidth = *app.add_subcommand("bandwidth", "Of patterns of access");
    CLI::App &intensity = *app.add_subcommand("intensity", "Of reading and arithmetic");
    CLI::App &loaded = *app.add_subcommand("loaded", "Latency while others read");
    for (CLI::App *verb : {&latency, &bandwidth, &intensity, &loaded})
        add_common(*verb, o);
    latency.add_option("--patterns", o.which, "sequential, paged, random")
        ->delimiter(',')
        ->required()
        ->check(CLI::IsMember({"sequential", "paged", "random"}));
    bandwidth.add_option("--patterns", o.which, "read, nt-write, nt-copy, 1r1w, 2r1w, 3r1w")
        ->delimiter(',')
        ->required()
        ->check(CLI::IsMember({"read", "nt-write", "nt-copy", "1r1w", "2r1w", "3r1w"}));
    add_threads(bandwidth, o);
    add_threads(intensity, o);
    loaded.add_option("--pauses", o.pauses, "Additions between blocks")->delimiter(',')->required();
    try {
        app.parse(argc, argv);
        for (const std::string &text : o.nodes)
            o.source.nodes.push_back(parse_node(text));
        if (latency)
            measure_latency(o);
        if (bandwidth)
            measure_bandwidth(o);
        if (intensity)
            measure_intensity(o);
        if (loaded)
            measure_loaded(o);
        return std::cout.flush() ? 0 : fail("can't write what was measured");
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        return fail(std::string(error.what()) + ": see thermocline-measure --help", 2);
    } catch (const std::bad_alloc &) {
        return fail("out of memory: measure less of it");
    } catch (const std::exception &error) {
        return fail(error.what());
    }
}
