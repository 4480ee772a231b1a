// See config_reader.h.  Every field is checked; a fault's text says what would be right.
#include "config_reader.h"
#include <cstring>

namespace tc {

constexpr uint64_t most_ns = uint64_t(1) << 60;

const ConfigReader::Path ConfigReader::paths[] = {
    {"moves", &Config::moves},
    {"profile", &Config::profile},
    {"report", &Config::report},
    {"stream", &Config::stream},
};

const ConfigReader::Directive ConfigReader::directives[] = {
    {"cache", &ConfigReader::cache},
    {"class", &ConfigReader::split},
    {"default-tier", &ConfigReader::default_tier},
    {"heap", &ConfigReader::heap},
    {"interval-ms", &ConfigReader::interval},
    {"nonheap-tier", &ConfigReader::nonheap_tier},
    {"option", &ConfigReader::option},
    {"preload", &ConfigReader::preload},
    {"sampler", &ConfigReader::sampler},
    {"site", &ConfigReader::site},
    {"stream-budget", &ConfigReader::stream_budget},
    {"stream-function", &ConfigReader::stream_function},
    {"stream-only-functions", &ConfigReader::only_functions},
    {"stream-time", &ConfigReader::stream_time},
    {"tier", &ConfigReader::tier},
};

const char *ConfigReader::line(char *text) {
    Words words(text);
    const char *word = words.next();
    if (!word || *word == '#')
        return nullptr;
    if (!versioned) {
        versioned = strcmp(word, "thermocline-config") == 0 && words.is("1") && words.end();
        return versioned ? nullptr : "the first line must be 'thermocline-config 1'";
    }
    for (const Path &each : paths)
        if (strcmp(word, each.word) == 0) {
            config.*each.path = words.last();
            return config.*each.path ? nullptr : "a path is missing";
        }
    for (const Directive &each : directives)
        if (strcmp(word, each.word) == 0) {
            if (const char *fault = (this->*each.read)(words))
                return fault;
            return words.end() ? nullptr : "something follows that does not belong here";
        }
    return "unknown directive";
}

bool ConfigReader::nodes(const char *list, TierConfig &tier) {
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

const char *ConfigReader::tier(Words &words) {
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

const char *ConfigReader::split(Words &words) {
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

const char *ConfigReader::cache(Words &words) {
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

const char *ConfigReader::tier_or_none(Words &words, int &tier) {
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

const char *ConfigReader::option(Words &words) {
    const Option option{words.next(), words.next()};
    if (!option.value)
        return "an option is 'option NAME VALUE'";
    if (config.option_count == max_options || config.option(option.name))
        return "an option is given once, and there are at most 16";
    config.options[config.option_count++] = option;
    return nullptr;
}

const char *ConfigReader::default_tier(Words &words) {
    return tier_or_none(words, config.default_tier);
}

const char *ConfigReader::nonheap_tier(Words &words) {
    return tier_or_none(words, config.nonheap_tier);
}

const char *ConfigReader::site(Words &words) {
    uint64_t number;
    if (!words.number(number, max_classes - 1))
        return "a site's tier is from 0 to 7, its class up to 15";
    const char *key = words.last();
    if (!key)
        return "a site's key is missing";
    if (!config.add(key, static_cast<uint32_t>(number)))
        return "this site has been named before";
    const char *const bang = strrchr(key, '!');
    if (bang && strcmp(bang, "!unannotated") == 0)
        config.plans_unannotated = true;
    return nullptr;
}

const char *ConfigReader::heap(Words &words) {
    const char *kind = words.next();
    if (kind && strcmp(kind, "plain") == 0)
        config.heap = HeapMode::plain;
    else if (kind && strcmp(kind, "guided") == 0)
        config.heap = HeapMode::guided;
    else if (kind && strcmp(kind, "sites") == 0)
        config.heap = HeapMode::sites;
    else
        return "heap is plain, guided or sites";
    return nullptr;
}

const char *ConfigReader::sampler(Words &words) {
    config.sampler = words.next();
    if (!config.sampler)
        return "a sampler's name is missing";
    if (strcmp(config.sampler, "none") == 0)
        config.sampler = nullptr;
    config.trace = config.sampler &&
                   (strcmp(config.sampler, "trace") == 0 || strcmp(config.sampler, "bursts") == 0);
    return nullptr;
}

const char *ConfigReader::interval(Words &words) {
    uint64_t number;
    if (!words.number(number, 3600000) || number == 0)
        return "interval-ms is from 1 to 3600000";
    config.interval_ms = static_cast<uint32_t>(number);
    return nullptr;
}

const char *ConfigReader::preload(Words &words) {
    uint64_t number;
    if (!words.number(number, max_context))
        return "preload is followed by a number of callers from 0 to 16";
    config.preload = config.plans_unannotated = true;
    config.context = static_cast<uint32_t>(number);
    return nullptr;
}

const char *ConfigReader::stream_budget(Words &words) {
    if (!words.number(config.stream_budget, uint64_t(1) << 48) || config.stream_budget == 0)
        return "stream-budget is a number of references, up to 2^48";
    return nullptr;
}

const char *ConfigReader::stream_time(Words &words) {
    if (!words.number(config.stream_from_ns, most_ns) ||
        !words.number(config.stream_to_ns, most_ns) || config.stream_to_ns <= config.stream_from_ns)
        return "stream-time is a beginning and a later end in nanoseconds, up to 2^60";
    return nullptr;
}

const char *ConfigReader::stream_function(Words &words) {
    const char *name = words.last();
    if (!name || config.function_count == max_functions)
        return "stream-function names one of at most 32 functions";
    config.functions[config.function_count++] = name;
    return nullptr;
}

const char *ConfigReader::only_functions(Words &) {
    config.only_functions = true;
    return nullptr;
}

const char *ConfigReader::finish() {
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

} // namespace tc
