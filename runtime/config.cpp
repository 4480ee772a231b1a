// The reader of the configuration.
#include "config.h"
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
constexpr uint64_t most_ns = uint64_t(1) << 60;

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

// The words of one line.  Only blanks separate; the line is ended with a NUL.
class Words {
  public:
    explicit Words(char *line) : at(line) {}
    char *next() { // null at the end
        skip();
        if (!*at)
            return nullptr;
        char *word = at;
        while (*at && *at != ' ')
            at++;
        if (*at)
            *at++ = 0;
        return word;
    }
    char *rest() { // to the end of the line, null if there is nothing
        skip();
        return *at ? at : nullptr;
    }
    bool is(const char *expected) {
        const char *word = next();
        return word && strcmp(word, expected) == 0;
    }
    bool number(uint64_t &value, uint64_t most) {
        const char *word = next();
        return word && parse(word, value) == 0 && value <= most;
    }
    bool end() { return !rest(); }

    // Digits only; returns the character that ended them, or -1.
    static int parse(const char *&word, uint64_t &value) {
        if (*word < '0' || *word > '9')
            return -1;
        for (value = 0; *word >= '0' && *word <= '9'; word++) {
            if (value > (UINT64_MAX - 9) / 10)
                return -1;
            value = value * 10 + static_cast<uint64_t>(*word - '0');
        }
        return *word;
    }

  private:
    void skip() {
        while (*at == ' ')
            at++;
    }
    char *at;
};

class Reader {
  public:
    Reader(Config &config) : config(config) {}

    // Null, or what is wrong with the line.
    const char *line(char *text);
    const char *finish();

  private:
    const char *site(Words &);
    const char *tier(Words &);
    const char *split(Words &);
    const char *cache(Words &);
    const char *tier_or_none(Words &, int &);
    const char *option(Words &);
    bool nodes(const char *list, TierConfig &);
    Config &config;
    bool versioned = false;
};

bool Reader::nodes(const char *list, TierConfig &tier) {
    if (strcmp(list, "-") == 0)
        return true;
    for (;;) {
        uint64_t node;
        const int end = Words::parse(list, node);
        if (end < 0 || node >= TierConfig::max_nodes)
            return false;
        const uint64_t bit = uint64_t(1) << node % 64;
        if (tier.nodes[node / 64] & bit)
            return false;
        tier.nodes[node / 64] |= bit;
        tier.node_count++;
        if (end == 0)
            return true;
        if (end != ',')
            return false;
        list++;
    }
}

const char *Reader::tier(Words &words) {
    uint64_t number;
    if (!words.number(number, max_tiers - 1))
        return "a tier's number is from 0 to 7";
    if (number != config.tier_count || number != config.class_count)
        return "tiers are numbered 0, 1, ... in this order, before classes";
    TierConfig tier{};
    if (!words.is("nodes"))
        return "'nodes' is missing";
    const char *list = words.next();
    if (!list || !nodes(list, tier))
        return "nodes are a list like 0,2 or '-'";
    if (!words.is("capacity") || !words.number(tier.capacity, INT64_MAX))
        return "'capacity BYTES' is missing";
    config.tiers[config.tier_count++] = tier;
    config.class_count++;
    return nullptr;
}

const char *Reader::split(Words &words) {
    uint64_t number;
    if (!words.number(number, max_classes - 1) || number != config.class_count || number < 1)
        return "classes are numbered on from the tiers, up to 15";
    if (!words.is("shares"))
        return "'shares' is missing";
    SplitConfig split{};
    const char *list = words.next();
    uint64_t sum = 0;
    for (unsigned tier = 0; tier < config.tier_count; tier++) {
        uint64_t share;
        const int end = list ? Words::parse(list, share) : -1;
        if (end != (tier + 1 < config.tier_count ? ',' : 0) || share > SplitConfig::most)
            return "shares are a list of numbers up to 65536, one for each tier: 1,3";
        split.shares[tier] = static_cast<uint32_t>(share);
        sum += share;
        list++;
    }
    if (sum == 0)
        return "shares are a list of numbers up to 65536, not all of them 0";
    const auto follows = [&](const char *word) {
        const char *rest = words.rest();
        const size_t length = strlen(word);
        return rest && strncmp(rest, word, length) == 0 && (rest[length] == ' ' || !rest[length]) &&
               words.next();
    };
    split.spread = follows("spread");
    split.huge = follows("huge");
    config.splits[number] = split;
    config.class_count++;
    return nullptr;
}

const char *Reader::cache(Words &words) {
    uint64_t level, bytes, ways, line;
    if (!words.number(level, max_caches) || level != config.cache_levels + 1)
        return "caches are numbered 1, 2, ... (at most 4)";
    if (!words.is("bytes") || !words.number(bytes, uint64_t(1) << 40) || !words.is("ways") ||
        !words.number(ways, 1 << 20) || !words.is("line") || !words.number(line, 1 << 16) ||
        !bytes || !ways || !line)
        return "a cache is 'cache LEVEL bytes N ways N line N private|shared'";
    const char *kind = words.next();
    const bool shared = kind && strcmp(kind, "shared") == 0;
    if (!shared && !(kind && strcmp(kind, "private") == 0))
        return "a cache is private or shared";
    config.caches[config.cache_levels++] = {bytes, static_cast<uint32_t>(ways),
                                            static_cast<uint32_t>(line), shared};
    return nullptr;
}

const char *Reader::tier_or_none(Words &words, int &tier) {
    const char *word = words.next();
    uint64_t number;
    if (word && strcmp(word, "-") == 0)
        tier = -1;
    else if (word && Words::parse(word, number) == 0 && number < max_tiers)
        tier = static_cast<int>(number);
    else
        return "a tier's number is missing";
    return nullptr;
}

const char *Reader::option(Words &words) {
    const Option option{words.next(), words.next()};
    if (!option.value)
        return "an option is 'option NAME VALUE'";
    if (config.option_count == max_options || config.option(option.name))
        return "an option is given once, and there are at most 16";
    config.options[config.option_count++] = option;
    return nullptr;
}

const char *Reader::site(Words &words) {
    uint64_t number;
    if (!words.number(number, max_classes - 1))
        return "a site's tier is from 0 to 7, its class up to 15";
    const char *key = words.rest();
    if (!key)
        return "a site's key is missing";
    uint32_t at = hash(key) & config.bucket_mask;
    while (config.buckets[at]) {
        if (strcmp(config.sites[config.buckets[at] - 1].key, key) == 0)
            return "this site has been named before";
        at = (at + 1) & config.bucket_mask;
    }
    config.sites[config.site_count] = {key, static_cast<uint32_t>(number)};
    config.buckets[at] = ++config.site_count;
    const char *const bang = strrchr(key, '!');
    if (bang && strcmp(bang, "!unannotated") == 0)
        config.plans_unannotated = true;
    return nullptr;
}

const char *Reader::line(char *text) {
    Words words(text);
    const char *word = words.next();
    if (!word || *word == '#')
        return nullptr;
    if (!versioned) {
        versioned = strcmp(word, "thermocline-config") == 0 && words.is("1") && words.end();
        return versioned ? nullptr : "the first line must be 'thermocline-config 1'";
    }
    if (strcmp(word, "site") == 0)
        return site(words); // the key runs to the end of the line
    const char **path = strcmp(word, "report") == 0    ? &config.report
                        : strcmp(word, "profile") == 0 ? &config.profile
                        : strcmp(word, "stream") == 0  ? &config.stream
                        : strcmp(word, "moves") == 0   ? &config.moves
                                                       : nullptr;
    if (path) {
        *path = words.rest();
        return *path ? nullptr : "a path is missing";
    }
    if (strcmp(word, "stream-function") == 0) {
        const char *name = words.rest();
        if (!name || config.function_count == max_functions)
            return "stream-function names one of at most 32 functions";
        config.functions[config.function_count++] = name;
        return nullptr;
    }
    const char *fault = nullptr;
    uint64_t number;
    if (strcmp(word, "heap") == 0) {
        const char *heap = words.next();
        if (heap && strcmp(heap, "plain") == 0)
            config.heap = HeapMode::plain;
        else if (heap && strcmp(heap, "guided") == 0)
            config.heap = HeapMode::guided;
        else if (heap && strcmp(heap, "sites") == 0)
            config.heap = HeapMode::sites;
        else
            return "heap is plain, guided or sites";
    } else if (strcmp(word, "sampler") == 0) {
        config.sampler = words.next();
        if (!config.sampler)
            return "a sampler's name is missing";
        if (strcmp(config.sampler, "none") == 0)
            config.sampler = nullptr;
        config.trace = config.sampler && (strcmp(config.sampler, "trace") == 0 ||
                                          strcmp(config.sampler, "bursts") == 0);
    } else if (strcmp(word, "option") == 0) {
        fault = option(words);
    } else if (strcmp(word, "stream-budget") == 0) {
        if (!words.number(config.stream_budget, uint64_t(1) << 48) || config.stream_budget == 0)
            return "stream-budget is a number of references, up to 2^48";
    } else if (strcmp(word, "stream-time") == 0) {
        if (!words.number(config.stream_from_ns, most_ns) ||
            !words.number(config.stream_to_ns, most_ns) ||
            config.stream_to_ns <= config.stream_from_ns)
            return "stream-time is a beginning and a later end in nanoseconds, up to 2^60";
    } else if (strcmp(word, "stream-only-functions") == 0) {
        config.only_functions = true;
    } else if (strcmp(word, "interval-ms") == 0) {
        if (!words.number(number, 3600000) || number == 0)
            return "interval-ms is from 1 to 3600000";
        config.interval_ms = static_cast<uint32_t>(number);
    } else if (strcmp(word, "preload") == 0) {
        if (!words.number(number, max_context))
            return "preload is followed by a number of callers from 0 to 16";
        config.preload = config.plans_unannotated = true;
        config.context = static_cast<uint32_t>(number);
    } else if (strcmp(word, "tier") == 0) {
        fault = tier(words);
    } else if (strcmp(word, "class") == 0) {
        fault = split(words);
    } else if (strcmp(word, "default-tier") == 0) {
        fault = tier_or_none(words, config.default_tier);
    } else if (strcmp(word, "nonheap-tier") == 0) {
        fault = tier_or_none(words, config.nonheap_tier);
    } else if (strcmp(word, "cache") == 0) {
        fault = cache(words);
    } else {
        return "unknown directive";
    }
    return fault ? fault : words.end() ? nullptr : "something follows that does not belong here";
}

const char *Reader::finish() {
    if (!versioned)
        return "the file is empty";
    const int tiers = static_cast<int>(config.tier_count);
    if (config.default_tier >= tiers || config.nonheap_tier >= tiers)
        return "default-tier or nonheap-tier names a tier that is not there";
    if (config.stream && !(config.sampler && strcmp(config.sampler, "trace") == 0))
        return "stream needs sampler trace";
    if (config.option_count && !config.sampler)
        return "options need a sampler";
    if (config.heap == HeapMode::guided && (tiers == 0 || config.default_tier < 0))
        return "heap guided needs tiers and a default-tier";
    if (config.moves && (config.heap != HeapMode::sites || !config.profile || tiers == 0 ||
                         config.default_tier < 0))
        return "moves needs heap sites, a profile, tiers and a default-tier";
    if (config.preload && config.heap == HeapMode::plain)
        return "preload needs heap guided or sites";
    for (uint32_t i = 0; i < config.site_count; i++)
        if (config.sites[i].placement_class >= config.class_count)
            return "a site is in a tier or class that is not there";
    return nullptr;
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
    Reader reader(config);
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
