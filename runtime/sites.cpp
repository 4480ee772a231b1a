// The table of sites: records in one reserved array, found by key through a hash table.
#include "sites.h"
#include "environment.h"
#include "lock.h"
#include "modules.h"
#include "runtime.h"
#include "text.h"
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr uint32_t max_sites = 1 << 22; // 4 million; untouched room costs nothing

Lock lock;
SiteRecord *records; // by number
uint32_t *buckets;   // number, or 0
uint32_t bucket_mask;
uint32_t count;

void *map(size_t bytes) {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

// Strings, for good.
const char *keep(const char *text) {
    static char *at;
    static size_t left;
    const size_t size = strlen(text) + 1;
    if (size > left) {
        const size_t room = size > 1 << 20 ? size : 1 << 20;
        at = static_cast<char *>(map(room));
        left = at ? room : 0;
    }
    if (size > left)
        return nullptr;
    char *copy = at;
    memcpy(copy, text, size);
    at += size;
    left -= size;
    return copy;
}

uint32_t hash(const char *key) {
    uint32_t h = 2166136261u; // FNV-1a
    for (; *key; key++)
        h = (h ^ static_cast<unsigned char>(*key)) * 16777619u;
    return h;
}

bool make_tables() {
    if (records)
        return true;
    bucket_mask = 2 * max_sites - 1;
    buckets = static_cast<uint32_t *>(map(2 * max_sites * sizeof(uint32_t)));
    records = static_cast<SiteRecord *>(map((max_sites + 1) * sizeof(SiteRecord)));
    return buckets && records;
}

// One line of the module cache.
struct CachedModule {
    uintptr_t start, end;
    uint32_t site;
};

} // namespace

uint32_t intern_site(const char *key, const char *routine) {
    Guard guard(lock);
    if (!make_tables())
        return 0;
    uint32_t at = hash(key) & bucket_mask;
    for (; buckets[at]; at = (at + 1) & bucket_mask)
        if (strcmp(records[buckets[at]].key, key) == 0)
            return buckets[at];
    if (count == max_sites)
        return 0;
    SiteRecord record{keep(key), routine ? keep(routine) : nullptr, 0, false, false};
    if (!record.key)
        return 0;
    const PlannedSite *planned = state.config.find(key);
    record.planned = planned != nullptr;
    record.placement = placement_of(planned ? planned->placement_class
                                            : static_cast<uint32_t>(state.config.default_tier));
    records[count + 1] = record;
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    return buckets[at] = count;
}

uint32_t site_count() { return __atomic_load_n(&count, __ATOMIC_ACQUIRE); }

SiteRecord *site_record(uint32_t id) { return id && id <= site_count() ? &records[id] : nullptr; }

const SiteRecord *find_site(const char *key) {
    if (!buckets)
        return nullptr;
    for (uint32_t at = hash(key) & bucket_mask; buckets[at]; at = (at + 1) & bucket_mask)
        if (strcmp(records[buckets[at]].key, key) == 0)
            return &records[buckets[at]];
    return nullptr;
}

uint32_t unannotated_site(const void *code) {
    static __thread CachedModule cache[8] __attribute__((tls_model("initial-exec")));
    const uintptr_t address = reinterpret_cast<uintptr_t>(code);
    CachedModule &line = cache[address >> 20 & 7];
    if (address >= line.start && address < line.end)
        return line.site;
    dl_find_object found;
    if (is_static_process()) {
        found.dlfo_map_start = nullptr;
        found.dlfo_map_end = reinterpret_cast<void *>(UINTPTR_MAX);
        found.dlfo_link_map = nullptr;
    } else if (_dl_find_object(const_cast<void *>(code), &found) != 0) { // made at run time
        static uint32_t unknown;
        uint32_t site = __atomic_load_n(&unknown, __ATOMIC_RELAXED);
        if (!site) {
            site = intern_site("(unknown)!unannotated", nullptr);
            __atomic_store_n(&unknown, site, __ATOMIC_RELAXED);
        }
        return site;
    }
    const char *name = found.dlfo_link_map ? found.dlfo_link_map->l_name : "";
    char path[512];
    if (!*name) { // the executable
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        name = path;
    }
    const char *slash = strrchr(name, '/');
    char key[600];
    Line(key, sizeof key) << (slash ? slash + 1 : name) << "!unannotated";
    line = {reinterpret_cast<uintptr_t>(found.dlfo_map_start),
            reinterpret_cast<uintptr_t>(found.dlfo_map_end), intern_site(key, nullptr)};
    return line.site;
}

void lock_sites() { lock.acquire(); }
void unlock_sites() { lock.release(); }

} // namespace tc
