// See profile.h.
#include "profile.h"
#include "callpath/call_path.h"
#include "environment.h"
#include "online/online.h"
#include "own_memory.h"
#include "residency.h"
#include "sampler.h"
#include "series.h"
#include "site_heap.h"
#include "site_stats.h"
#include "sites.h"
#include "text.h"
#include "trace/traffic.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace tc;

namespace {

constexpr size_t command_bytes = 64 << 10;
constexpr unsigned kinds = nonheap_kinds;

const Config *config;
const Sampler *sampler; // or null: allocations and residency only
char prefix[3072];
char executable[4096];
char *command; // /proc/self/cmdline
size_t command_used;
time_t started;

// Row r of the series; see series_row_of_site.  `base` is what a fork's parent did.
struct TrafficTable {
    Traffic *now, *noted, *base;
    uint32_t rows;
} traffic;

// The time series' order of the non-heap kinds, and the profile's.
constexpr NonHeap kind_of_row[kinds] = {nonheap_stack, nonheap_globals, nonheap_other};
constexpr const char *name_of_row[kinds] = {"(stack)", "(globals)", "(other)"};

Traffic difference(const Traffic &a, const Traffic &b) {
    // A thread counts on while it is read: never below zero.
    auto less = [](uint64_t x, uint64_t y) { return x > y ? x - y : 0; };
    return {less(a.loads, b.loads), less(a.stores, b.stores), less(a.read_bytes, b.read_bytes),
            less(a.write_bytes, b.write_bytes)};
}

uint32_t sites_end() {
    uint32_t end = site_count() + 1;
    return end < site_limit ? end : site_limit;
}

void read_traffic() {
    traffic.rows = series_row_of_site(sites_end());
    if (!sampler)
        return;
    Traffic outside[kinds] = {};
    // Row 2 is site 0's, which stays zero, and is the last kind's afterwards.
    sampler->snapshot(traffic.now + series_row_of_site(0), sites_end(), outside);
    for (unsigned row = 0; row < kinds; ++row)
        traffic.now[row] = outside[kind_of_row[row]];
}

Traffic traffic_of(uint32_t row) { return difference(traffic.now[row], traffic.base[row]); }

size_t read_file(const char *path, char *text, size_t bytes) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    for (ssize_t got;
         file >= 0 && used < bytes && (got = read(file, text + used, bytes - used)) > 0;)
        used += size_t(got);
    if (file >= 0)
        close(file);
    return used;
}

// Not gmtime: it may allocate.
void put_date(JsonFile &json, const char *name, time_t time) {
    int64_t days = time / 86400, seconds = time % 86400;
    int64_t year = 1970;
    auto leap = [](int64_t y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; };
    for (; days >= (leap(year) ? 366 : 365); ++year)
        days -= leap(year) ? 366 : 365;
    const int lengths[] = {31, leap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    for (; days >= lengths[month]; ++month)
        days -= lengths[month];
    char text[64];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", int(year), month + 1,
             int(days) + 1, int(seconds / 3600), int(seconds / 60 % 60), int(seconds % 60));
    json.string(name, text);
}

void put_seconds(JsonFile &json, const char *name, double seconds) {
    json.seconds(name, seconds > 0 ? uint64_t(seconds * 1e9) : 0);
}

void put_command(JsonFile &json) {
    json.open('[', "command");
    for (size_t at = 0; at < command_used; at += strlen(command + at) + 1)
        json.string(nullptr, command + at);
    json.close(']');
}

void put_cache(JsonFile &json) {
    json.open('{', "cache");
    json.number("line_bytes", config->cache_levels ? config->caches[0].line : 64);
    json.open('[', "levels");
    for (unsigned i = 0; i < config->cache_levels; ++i) {
        json.open('{');
        json.number("bytes", config->caches[i].bytes);
        json.number("ways", config->caches[i].ways);
        json.boolean("shared", config->caches[i].shared);
        json.close('}');
    }
    json.close(']');
    json.close('}');
}

void put_unseen(JsonFile &json) {
    double share = sampler && sampler->unseen_share ? sampler->unseen_share() : -1;
    if (share < 0)
        return json.null("unseen_instruction_share");
    json.seconds("unseen_instruction_share", uint64_t(share * 1e9));
}

void put_series(JsonFile &json, uint32_t row) {
    struct {
        const char *name;
        uint64_t SeriesPoint::*field;
    } const columns[] = {{"read_bytes", &SeriesPoint::read_bytes},
                         {"write_bytes", &SeriesPoint::write_bytes},
                         {"resident_bytes", &SeriesPoint::resident_bytes}};
    json.open('{', "series");
    for (auto &column : columns) {
        json.open('[', column.name);
        for (unsigned i = 0; i < series_count(); ++i)
            json.number(nullptr, series_at(row, i).*column.field);
        json.close(']');
    }
    json.close('}');
}

struct SiteLines {
    const char *key, *kind, *routine;
    SiteStats stats;
    uint64_t peak_resident, resident_at_peak;
    double first_touch, longest_life;
};

void put_site(JsonFile &json, uint32_t row, const SiteLines &site) {
    Traffic t = traffic_of(row);
    json.open('{');
    json.string("key", site.key);
    json.string("kind", site.kind);
    json.string("routine", site.routine);
    json.number("loads", t.loads);
    json.number("stores", t.stores);
    json.number("read_bytes", t.read_bytes);
    json.number("write_bytes", t.write_bytes);
    json.number("allocations", site.stats.allocations);
    json.number("frees", site.stats.frees);
    json.number("allocated_bytes", site.stats.allocated_bytes);
    json.number("peak_live_bytes",
                site.stats.peak_live_bytes > 0 ? uint64_t(site.stats.peak_live_bytes) : 0);
    json.number("peak_resident_bytes", site.peak_resident);
    json.number("resident_at_peak_bytes", site.resident_at_peak);
    if (site.first_touch < 0)
        json.null("first_touch_seconds");
    else
        put_seconds(json, "first_touch_seconds", site.first_touch);
    put_seconds(json, "mean_lifetime_seconds", site.stats.mean_lifetime_seconds);
    put_seconds(json, "max_lifetime_seconds", site.longest_life);
    if (sampler && sampler->put_site && row >= series_row_of_site(1))
        sampler->put_site(json, row - series_row_of_site(0));
    if (sampler && sampler->put_outside && row < kinds)
        sampler->put_outside(json, kind_of_row[row]);
    put_series(json, row);
    json.close('}');
}

double touch_seconds(uint64_t time, uint64_t since) {
    return time ? stats_seconds(time > since ? time - since : 0) : -1;
}

void put_sites(JsonFile &json, uint64_t *ages, uint64_t now) {
    uint64_t since = stats_counting_since();
    json.open('[', "sites");
    for (uint32_t site = 1; site < sites_end(); ++site) {
        const SiteRecord *record = site_record(site);
        SiteStats stats = stats_read(site, now);
        const SiteResidency &resident = residency_of(site);
        Traffic t = traffic_of(series_row_of_site(site));
        // A child's site that only has blocks from before the fork counts too.
        if (!record || !(stats.allocations || stats.live_bytes > 0 || t.loads || t.stores ||
                         t.read_bytes || t.write_bytes))
            continue;
        double longest = stats_seconds(ages[site]);
        put_site(json, series_row_of_site(site),
                 {record->key, record->routine ? "site" : "unannotated",
                  record->routine ? record->routine : "", stats,
                  resident.peak.load(std::memory_order_relaxed), resident.at_peak,
                  touch_seconds(resident.first_touch, since),
                  std::max({longest, stats.longest_dead_seconds, stats.mean_lifetime_seconds})});
    }
    const NonHeapResidency &outside = residency_outside();
    uint64_t NonHeapBytes::*const fields[] = {&NonHeapBytes::stack, &NonHeapBytes::globals,
                                              &NonHeapBytes::other};
    for (unsigned row = 0; row < kinds; ++row)
        put_site(json, row,
                 {name_of_row[row],
                  "nonheap",
                  "",
                  {},
                  outside.peak.*fields[row],
                  outside.at_peak.*fields[row],
                  touch_seconds(outside.first_touch[row], since),
                  0});
    json.close(']');
}

void put_notes(JsonFile &json) {
    json.open('[', "notes");
    json.string(nullptr, "resident bytes, first touches and the time series are sampled; a block "
                         "larger than 64 KiB is also looked at when it is freed");
    if (stats_heap_count() > 1)
        json.string(nullptr, "several threads allocated: peak_live_bytes may be off by 64 KiB for "
                             "each thread but one that used the site");
    if (site_count() + 1 > site_limit)
        json.string(nullptr,
                    "there are more sites than the profile can hold; the last are missing");
    if (config->preload && call_path_note())
        json.string(nullptr, call_path_note());
    json.close(']');
}

utsname place;
char rank[10]; // among an MPI program's processes, below 10^9; empty: none

// As Open MPI, PMIx, MPICH and its kin, MVAPICH2 and Slurm tell their processes.
void note_place() {
    constexpr const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                     "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
    uname(&place);
    for (const char *name : names) {
        if (environment_variable(name, rank, sizeof rank) && strspn(rank, "0123456789") > 0 &&
            strspn(rank, "0123456789") == strlen(rank))
            return;
        rank[0] = 0;
    }
}

void put_profile(JsonFile &json, uint64_t nanoseconds, bool complete) {
    uint64_t now = stats_now();
    size_t age_bytes = size_t(sites_end()) * sizeof(uint64_t);
    static uint64_t *ages; // grows with the number of sites; the old ones are lost
    static size_t ages_room;
    if (age_bytes > ages_room) {
        ages_room = 2 * age_bytes;
        ages = static_cast<uint64_t *>(own_memory_map(ages_room));
    }
    if (!ages)
        return;
    memset(ages, 0, age_bytes);
    stats_longest_live(now, ages, sites_end());
    json.open('{');
    json.string("format", "thermocline-profile");
    json.number("version", 1);
    json.string("method", sampler ? sampler->name : "none");
    put_command(json);
    json.string("executable", executable);
    json.number("pid", uint64_t(getpid()));
    json.string("host", place.nodename);
    if (rank[0])
        json.number("rank", strtoul(rank, nullptr, 10));
    put_date(json, "start", started);
    json.seconds("wall_seconds", nanoseconds);
    json.boolean("complete", complete);
    json.number("threads", stats_heap_count());
    json.number("page_bytes", uint64_t(sysconf(_SC_PAGESIZE)));
    put_cache(json);
    put_unseen(json);
    json.number("peak_resident_bytes", residency_peak());
    json.open('{', "series");
    json.seconds("interval_seconds", series_interval());
    json.number("count", series_count());
    json.close('}');
    if (sampler && sampler->put) {
        json.open('{', "sampling");
        sampler->put(json);
        json.close('}');
    }
    online_put(json);
    put_sites(json, ages, now);
    put_notes(json);
    if (config->preload)
        put_call_paths(json);
    json.close('}');
}

} // namespace

bool profile_start(const Config &the_config) {
    config = &the_config;
    note_place();
    sampler = config->sampler ? find_sampler(config->sampler) : nullptr;
    size_t length = strlen(config->profile);
    char *at = prefix;
    if (config->profile[0] != '/') { // the program may change its directory
        if (!getcwd(prefix, sizeof prefix - 1))
            return false;
        at += strlen(prefix);
        *at++ = '/';
    }
    if (length >= sizeof prefix - size_t(at - prefix))
        return false;
    memcpy(at, config->profile, length + 1);
    ssize_t got = readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[got > 0 ? got : 0] = 0;
    command = static_cast<char *>(own_memory_map(command_bytes));
    if (!command)
        return false;
    command_used = read_file("/proc/self/cmdline", command, command_bytes - 1);
    size_t bytes = (size_t(site_limit) + kinds) * sizeof(Traffic);
    for (Traffic **table : {&traffic.now, &traffic.noted, &traffic.base})
        if (!(*table = static_cast<Traffic *>(own_memory_map(bytes))))
            return false;
    started = time(nullptr);
    return series_start(uint64_t(config->interval_ms) * 1000000);
}

void profile_note_series(uint64_t nanoseconds) {
    if (sampler && sampler->tick)
        sampler->tick(nanoseconds);
    read_traffic();
    series_advance(nanoseconds);
    const NonHeapBytes &outside = residency_outside().now;
    const uint64_t resident[kinds] = {outside.stack, outside.globals, outside.other};
    for (uint32_t row = 0; row < traffic.rows; ++row) {
        Traffic t = difference(traffic.now[row], traffic.noted[row]);
        series_add(
            row,
            {t.read_bytes, t.write_bytes,
             row < kinds
                 ? resident[row]
                 : residency_of(row - series_row_of_site(0)).now.load(std::memory_order_relaxed)});
        traffic.noted[row] = traffic.now[row];
    }
}

bool profile_write(uint64_t nanoseconds, bool complete) {
    char path[sizeof prefix + 64], aside[sizeof path + 8];
    snprintf(path, sizeof path, "%s.%d.profile", prefix, int(getpid()));
    snprintf(aside, sizeof aside, "%s.new", path);
    int file = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    JsonFile json(file);
    put_profile(json, nanoseconds, complete);
    bool written = json.finish();
    written = close(file) == 0 && written;
    if (written && rename(aside, path) == 0)
        return true;
    unlink(aside);
    return false;
}

void profile_restart_in_child() {
    started = time(nullptr);
    if (sampler && sampler->restart_in_child)
        sampler->restart_in_child();
    series_restart();
    read_traffic();
    for (uint32_t row = 0; row < traffic.rows; ++row)
        traffic.base[row] = traffic.noted[row] = traffic.now[row];
}
