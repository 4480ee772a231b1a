// See config.h: the table of planned sites, and the file as a whole.
#include "config.h"
#include "config_reader.h"
#include "text.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr uint32_t max_sites = 10000000;

uint32_t hash(const char *key) {
    uint32_t h = 2166136261u; // FNV-1a
    for (; *key; key++)
        h = (h ^ static_cast<unsigned char>(*key)) * 16777619u;
    return h;
}

void *map(size_t bytes) {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

// Room for as many sites as the text can name.
bool make_table(const char *text, size_t bytes, Config &config) {
    size_t lines = 1;
    for (const char *p = text;
         (p = static_cast<const char *>(memchr(p, '\n', bytes - static_cast<size_t>(p - text))));
         p++)
        lines++;
    if (lines > max_sites)
        return false;
    size_t buckets = 16;
    while (buckets < 2 * lines)
        buckets *= 2;
    config.sites = static_cast<PlannedSite *>(map(lines * sizeof(PlannedSite)));
    config.buckets = static_cast<uint32_t *>(map(buckets * sizeof(uint32_t)));
    config.bucket_mask = static_cast<uint32_t>(buckets - 1);
    config.site_room = static_cast<uint32_t>(lines);
    return config.sites && config.buckets;
}

} // namespace

const char *Config::option(const char *name) const {
    for (unsigned i = 0; i < option_count; i++)
        if (strcmp(options[i].name, name) == 0)
            return options[i].value;
    return nullptr;
}

bool Config::add(const char *key, uint32_t placement_class) {
    uint32_t at = hash(key) & bucket_mask;
    for (; buckets[at]; at = (at + 1) & bucket_mask)
        if (strcmp(sites[buckets[at] - 1].key, key) == 0)
            return false;
    sites[site_count] = {key, placement_class};
    buckets[at] = ++site_count;
    return true;
}

const PlannedSite *Config::find(const char *key) const {
    if (!buckets)
        return nullptr;
    for (uint32_t at = hash(key) & bucket_mask; buckets[at]; at = (at + 1) & bucket_mask)
        if (strcmp(sites[buckets[at] - 1].key, key) == 0)
            return &sites[buckets[at] - 1];
    return nullptr;
}

void drop_config(Config &config) {
    if (config.sites)
        munmap(config.sites, config.site_room * sizeof(PlannedSite));
    if (config.buckets)
        munmap(config.buckets, (size_t(config.bucket_mask) + 1) * sizeof(uint32_t));
    config = Config{};
}

bool parse_config(char *text, size_t bytes, Config &config, char *error, size_t error_bytes) {
    config = Config{};
    config.interval_ms = 100;
    config.stream_budget = 100000000;
    config.default_tier = config.nonheap_tier = -1;
    if (!make_table(text, bytes, config)) {
        Line(error, error_bytes) << "the plan has too many lines";
        return false;
    }
    ConfigReader reader(config);
    uint64_t number = 0;
    for (char *line = text, *end = text + bytes; line < end;) {
        number++;
        char *newline = static_cast<char *>(memchr(line, '\n', static_cast<size_t>(end - line)));
        char *const stop = newline ? newline : end;
        *stop = 0;
        const char *fault =
            strlen(line) == static_cast<size_t>(stop - line) ? reader.line(line) : "a zero byte";
        if (fault) {
            Line(error, error_bytes) << "line " << number << ": " << fault;
            return false;
        }
        line = stop + 1;
    }
    if (const char *fault = reader.finish()) {
        Line(error, error_bytes) << fault;
        return false;
    }
    return true;
}

bool load_config(const char *path, Config &config, char *error, size_t error_bytes) {
    Line message(error, error_bytes);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        message << "cannot be read";
        if (fd >= 0)
            close(fd);
        return false;
    }
    const size_t size = static_cast<size_t>(status.st_size);
    char *text = static_cast<char *>(map(size + 1));
    size_t used = 0;
    while (text && used < size) {
        const ssize_t n = read(fd, text + used, size - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += static_cast<size_t>(n);
    }
    close(fd);
    if (!text || used < size) {
        message << "cannot be read to its end";
        return false;
    }
    return parse_config(text, size, config, error, error_bytes);
}

} // namespace tc
