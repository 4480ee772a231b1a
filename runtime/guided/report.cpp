// The report of a guided run.
#include "report.h"
#include "callpath/call_path.h"
#include "capacity.h"
#include "huge_pages.h"
#include "lock.h"
#include "recording.h"
#include "runtime.h"
#include "sites.h"
#include "text.h"
#include "tier_residency.h"
#include "tiers.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace tc {
namespace {

// Large buffers are static here and in tier_residency.cpp: a report is written once, and perhaps
// on the small stack of a signal handler that calls _exit.

Lock lock; // of what follows, and of measuring
TierResidency now, peak;
HugePages huge; // when most of what was asked for was resident
bool written;

// One line of /proc/self/status, in bytes.
uint64_t status_bytes(const char *name) {
    static char text[8192];
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, name);
    if (!at)
        return 0;
    uint64_t kilobytes = 0;
    for (at += strlen(name); *at && *at != '\n'; at++)
        if (*at >= '0' && *at <= '9')
            kilobytes = kilobytes * 10 + static_cast<uint64_t>(*at - '0');
    return kilobytes << 10;
}

void write_command(JsonFile &json) {
    json.open('[', "command");
    static char text[8192];
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    for (ssize_t at = 0; at < n;) {
        text[n] = 0;
        json.string(nullptr, text + at);
        at += static_cast<ssize_t>(strlen(text + at)) + 1;
    }
    json.close(']');
}

void write_nodes(JsonFile &json, const TierConfig &tier) {
    json.open('[', "nodes");
    for (unsigned node = 0; node < TierConfig::max_nodes; node++)
        if (tier.nodes[node / 64] >> node % 64 & 1)
            json.number(nullptr, node);
    json.close(']');
}

void write_tiers(JsonFile &json) {
    Traffic traffic[max_tiers] = {};
    if (state.config.trace)
        trace_tier_snapshot(traffic, state.config.tier_count);
    json.open('[', "tiers");
    for (unsigned i = 0; i < state.config.tier_count; i++) {
        json.open('{');
        json.number("tier", i);
        write_nodes(json, state.config.tiers[i]);
        json.number("capacity_bytes", state.config.tiers[i].capacity);
        json.number("peak_resident_bytes", peak.resident[i]);
        json.number("resident_bytes", now.resident[i]);
        json.number("spilled_bytes", peak.spilled[i]);
        if (state.config.trace) {
            json.number("read_bytes", traffic[i].read_bytes);
            json.number("write_bytes", traffic[i].write_bytes);
        } else {
            json.null("read_bytes");
            json.null("write_bytes");
        }
        json.close('}');
    }
    json.close(']');
}

void write_sites(JsonFile &json) {
    uint64_t reached = 0;
    json.open('{', "sites");
    json.number("planned", state.config.site_count);
    json.open('[', "unplanned");
    for (uint32_t id = 1; id <= site_count(); id++) {
        const SiteRecord &site = *site_record(id);
        reached += site.reached && site.planned;
        if (site.reached && !site.planned && site.routine)
            json.string(nullptr, site.key);
    }
    json.close(']');
    json.number("reached", reached);
    json.open('[', "never_came");
    for (uint32_t i = 0; i < state.config.site_count; i++) {
        const SiteRecord *site = find_site(state.config.sites[i].key);
        if (!site || !site->reached)
            json.string(nullptr, state.config.sites[i].key);
    }
    json.close(']');
    json.close('}');
}

void write_notes(JsonFile &json) {
    json.open('[', "notes");
    for (unsigned i = 0; i < ranges.tiers; i++)
        if (state.config.tiers[i].node_count && !is_bound(i)) {
            char note[100];
            Line(note, sizeof note)
                << "tier " << uint64_t(i) << " names no node that this process may use";
            json.string(nullptr, note);
        }
    if (state.new_replaced)
        json.string(nullptr, "the program brings its own operator new: its memory is placed where "
                             "that takes it from malloc");
    if (state.config.preload && call_path_note())
        json.string(nullptr, call_path_note());
    json.close(']');
}

void write_to(int fd, bool &ok) {
    alignas(JsonFile) static char room[sizeof(JsonFile)];
    JsonFile &json = *new (room) JsonFile(fd);
    json.open('{');
    json.string("format", "thermocline-run");
    json.number("version", 1);
    json.number("pid", static_cast<uint64_t>(state.pid));
    write_command(json);
    json.seconds("wall_seconds", nanoseconds() - state.started);
    json.string("heap", state.config.heap == HeapMode::guided  ? "guided"
                        : state.config.heap == HeapMode::sites ? "sites"
                                                               : "plain");
    json.string("stepped_aside", state.stepped_aside);
    json.number("peak_resident_bytes", status_bytes("VmHWM:"));
    write_tiers(json);
    if (wants_huge_pages()) {
        json.open('{', "huge");
        json.number("resident_bytes", huge.resident);
        json.number("huge_page_bytes", huge.huge);
        json.close('}');
    }
    write_sites(json);
    write_notes(json);
    if (state.config.preload)
        put_call_paths(json);
    json.close('}');
    ok = json.finish();
}

} // namespace

void note_residency() {
    Guard guard(lock);
    if (wants_huge_pages()) {
        const HugePages found = measure_huge_pages();
        if (found.resident >= huge.resident)
            huge = found;
    }
    TierResidency measured;
    if (!measure_residency(measured))
        return;
    now = measured;
    for (unsigned i = 0; i < max_tiers; i++) {
        if (peak.resident[i] < now.resident[i])
            peak.resident[i] = now.resident[i];
        if (peak.spilled[i] < now.spilled[i])
            peak.spilled[i] = now.spilled[i];
    }
}

void restart_report() {
    lock = Lock();
    now = peak = TierResidency{};
    huge = HugePages{};
    written = false;
}

void start_report(Config &config) {
    // The program may change its directory.
    static char absolute[8192];
    if (!config.report || *config.report == '/' || !getcwd(absolute, sizeof absolute / 2))
        return;
    Line(absolute + strlen(absolute), sizeof absolute - strlen(absolute)) << '/' << config.report;
    config.report = absolute;
}

void write_report() {
    const char *prefix = state.config.report;
    if (!prefix || __atomic_exchange_n(&written, true, __ATOMIC_ACQ_REL))
        return;
    note_residency();
    static char path[8300], aside[8400], message[8500];
    Line(path, sizeof path) << prefix << '.' << static_cast<uint64_t>(state.pid) << ".json";
    Line(aside, sizeof aside) << path << ".part";
    const int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0;
    if (ok) {
        write_to(fd, ok);
        ok = close(fd) == 0 && ok && rename(aside, path) == 0;
    }
    if (!ok) {
        Line(message, sizeof message)
            << path << " cannot be written: is its directory there, and writable?";
        complain(message);
    }
}

} // namespace tc
