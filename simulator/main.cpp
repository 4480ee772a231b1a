// thermocline-simulator CONFIG.json [--progress-fd N]: runs one simulation.  The answer is JSON
// on stdout, progress a line of JSON now and then on the descriptor.
// thermocline-simulator --survey TRACE: its threads, references and touched memory.
#include "simulator/system/simulation.h"
#include "simulator/system/survey.h"
#include "simulator/trace/error.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <new>
#include <unistd.h>

using namespace thermocline;

namespace {

int fail(const std::string &what) {
    std::fprintf(stderr, "thermocline: %s\n", what.c_str());
    return 1;
}

nlohmann::json read_json(const std::string &path) {
    std::ifstream file;
    if (path != "-")
        file.open(path);
    if (!file && path != "-")
        throw ConfigError("can't read " + path);
    return nlohmann::json::parse(path == "-" ? std::cin : file);
}

void say(int fd, uint64_t references, Ps time) {
    const std::string line =
        nlohmann::json{{"references", references}, {"seconds", double(time) / 1e12}}.dump() + "\n";
    // Nobody may be listening any more.
    if (write(fd, line.data(), line.size()) < 0)
        return;
}

} // namespace

int main(int argc, char **argv) {
    CLI::App app("Runs a program's trace on a machine.", "thermocline-simulator");
    std::string config_path, survey_path, region = "{}";
    int progress_fd = -1;
    app.add_option("CONFIG", config_path, "JSON (docs/simulator.md); -: standard input");
    app.add_option("--survey", survey_path, "Say what is in this trace instead");
    app.add_option("--region", region,
                   "JSON, as in a configuration: of the trace that is surveyed");
    app.add_option("--progress-fd", progress_fd, "Write progress to this descriptor");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        return fail(std::string(error.what()) + ": see thermocline-simulator --help");
    }
    if (config_path.empty() == survey_path.empty())
        return fail("give a configuration, or --survey and a trace");
    try {
        if (!survey_path.empty()) {
            const Region part = parse_region(nlohmann::json::parse(region));
            std::cout << survey(survey_path, part).dump(1) << "\n";
            return 0;
        }
        const SimulationConfig config = parse_simulation(read_json(config_path));
        using Clock = std::chrono::steady_clock;
        const Clock::time_point begin = Clock::now();
        Clock::time_point last = begin;
        nlohmann::json answer = simulate(config, [&](uint64_t references, Ps time) {
            const Clock::time_point now = Clock::now();
            if (progress_fd < 0 || now - last < std::chrono::milliseconds(100))
                return;
            last = now;
            say(progress_fd, references, time);
        });
        answer["host_seconds"] = std::chrono::duration<double>(Clock::now() - begin).count();
        std::cout << answer.dump(1) << "\n";
        return std::cout.flush() ? 0 : fail("can't write the answer");
    } catch (const nlohmann::json::exception &error) {
        return fail(config_path + ": " + error.what());
    } catch (const ConfigError &error) {
        return fail(error.what());
    } catch (const TraceError &error) {
        return fail(error.what());
    } catch (const std::bad_alloc &) {
        return fail("out of memory: make caches or near memory smaller");
    }
}
