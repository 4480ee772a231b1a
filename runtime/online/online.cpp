// See online.h.
#include "online.h"
#include "config.h"
#include "own_memory.h"
#include "runtime.h"
#include "site_heap_range.h"
#include "site_stats.h"
#include "sites.h"
#include "text.h"
#include "tiers.h"
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tc {
namespace {

// Bound at once: a thread that needs memory of a moving site waits no longer than for this much.
constexpr size_t most_units = 32;

const Config *config; // null: no online guidance
char prefix[3072];

// Tiers + 1; 0: not asked for yet, and bound to the default tier.  So both stay untouched memory
// where nothing is.
uint8_t *site_tiers; // where each site's memory belongs
uint8_t *bound;      // the tier that each unit's policy prefers

// Over all of the above and below.  Taken after a unit has its owner, so that whoever comes
// second, the mover or the unit's new owner, sees the other's work.
Lock binding;

Config plans[2];      // the one that is heeded, and room for the next
const Config *heeded; // the run's own configuration until there is one

struct Seen { // of the file that was read last
    ino_t inode;
    timespec modified;
} seen;
uint64_t plan_count, moves, moved_bytes, moving_ns;

uint8_t default_tier() { return static_cast<uint8_t>(config->default_tier); }

uint8_t planned_tier(const Config &plan, uint32_t site) {
    const SiteRecord *record = site_record(site);
    const PlannedSite *planned = record ? plan.find(record->key) : nullptr;
    const auto tier = planned ? planned->placement_class : uint32_t(plan.default_tier);
    return tier < config->tier_count ? static_cast<uint8_t>(tier) : default_tier();
}

// Pages that many sites share stay in the default tier.
uint8_t tier_of_owner(uint32_t owner) {
    const uint32_t site = owner & site_heap_site_mask;
    if ((owner & site_heap_tagged) || !site || site >= site_limit)
        return default_tier();
    if (!site_tiers[site])
        site_tiers[site] = static_cast<uint8_t>(planned_tier(*heeded, site) + 1);
    return static_cast<uint8_t>(site_tiers[site] - 1);
}

uint8_t bound_tier(size_t unit) {
    return bound[unit] ? static_cast<uint8_t>(bound[unit] - 1) : default_tier();
}

// Units have a new owner.  A policy that is right already costs no call of the kernel.
void owned(size_t first, size_t count, uint32_t owner) {
    Guard guard(binding);
    const uint8_t tier = tier_of_owner(owner);
    for (size_t unit = first, end = first + count; unit < end;) {
        size_t last = unit;
        while (last < end && bound_tier(last) != tier)
            bound[last++] = static_cast<uint8_t>(tier + 1);
        if (last > unit)
            prefer_tier(unit_address(unit), (last - unit) * unit_bytes, tier);
        unit = last > unit ? last : unit + 1;
    }
}

uint64_t resident_bytes(size_t first, size_t count) {
    unsigned char pages[most_units * unit_bytes / 4096];
    uint64_t resident = 0;
    if (mincore(unit_address(first), count * unit_bytes, pages) == 0)
        for (size_t page = 0; page < count * unit_bytes / 4096; page++)
            resident += (pages[page] & 1) * 4096;
    return resident;
}

// Moves the run of units behind `first` that belong to sites of this tier and are bound elsewhere.
// Returns where to go on.
size_t move_run(size_t first, size_t end, uint8_t tier) {
    Guard guard(binding);
    size_t last = first;
    while (last < end && last - first < most_units && unit_owner(last) &&
           bound_tier(last) != tier && tier_of_owner(unit_owner(last)) == tier)
        bound[last++] = static_cast<uint8_t>(tier + 1);
    if (last == first)
        return first + 1;
    const uint64_t bytes = resident_bytes(first, last - first);
    if (move_to_tier(unit_address(first), (last - first) * unit_bytes, tier))
        moved_bytes += bytes;
    return last;
}

// Tiers from the last on, so that there is room where others go.
void move_all() {
    const uint64_t from = nanoseconds();
    for (unsigned tier = config->tier_count; tier-- > 0;)
        for (size_t unit = 0, end = units_top(); unit < end;)
            unit = move_run(unit, end, static_cast<uint8_t>(tier));
    moving_ns += nanoseconds() - from;
}

// Whether any site that has memory belongs to another tier now.
bool adopt(const Config &plan) {
    Guard guard(binding);
    uint64_t changed = 0;
    for (uint32_t site = 1; site <= site_count() && site < site_limit; site++) {
        const auto tier = static_cast<uint8_t>(planned_tier(plan, site) + 1);
        changed += site_tiers[site] && site_tiers[site] != tier;
        site_tiers[site] = site_tiers[site] ? tier : uint8_t(0);
    }
    heeded = &plan;
    moves += changed;
    return changed > 0;
}

bool is_new(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 ||
        (status.st_ino == seen.inode && status.st_mtim.tv_sec == seen.modified.tv_sec &&
         status.st_mtim.tv_nsec == seen.modified.tv_nsec))
        return false;
    seen = {status.st_ino, status.st_mtim};
    return true;
}

void read_plan(const char *path) {
    Config &plan = plans[heeded == &plans[0]];
    char fault[200], message[4600];
    drop_config(plan);
    if (!load_config(path, plan, fault, sizeof fault)) {
        Line(message, sizeof message) << path << ": " << fault << "; nothing is moved";
        return complain(message);
    }
    plan_count++;
    if (adopt(plan))
        move_all();
}

void after_fork_in_child() {
    binding.release(); // its holder is not in the child
    seen = {};
    plan_count = moves = moved_bytes = moving_ns = 0;
}

} // namespace

const char *online_start(const Config &the_config) {
    if (!the_config.moves)
        return nullptr;
    const size_t length = strlen(the_config.moves);
    if (length >= sizeof prefix)
        return "the name of the moves' file is too long";
    memcpy(prefix, the_config.moves, length + 1);
    make_policies(the_config);
    site_tiers = static_cast<uint8_t *>(own_memory_map(site_limit));
    bound = static_cast<uint8_t *>(own_memory_map(site_heap_range.bytes / unit_bytes));
    if (!site_tiers || !bound)
        return "there is no memory left for online guidance";
    if (!prefer_tier(reinterpret_cast<void *>(site_heap_range.base), site_heap_range.bytes,
                     static_cast<unsigned>(the_config.default_tier)))
        return "the kernel refuses to bind a tier to its nodes (see thermocline doctor)";
    config = heeded = &the_config;
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    units_owned = owned;
    return nullptr;
}

void online_tick() {
    if (!config)
        return;
    char path[sizeof prefix + 64];
    snprintf(path, sizeof path, "%s.%d.moves", prefix, int(getpid()));
    if (is_new(path))
        read_plan(path);
}

void online_put(JsonFile &json) {
    if (!config)
        return;
    json.open('{', "online");
    json.number("plans", plan_count);
    json.number("moves", moves);
    json.number("moved_bytes", moved_bytes);
    json.seconds("moving_seconds", moving_ns);
    json.close('}');
}

} // namespace tc
