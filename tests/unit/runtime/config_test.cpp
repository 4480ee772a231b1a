// The reader of the configuration: what it takes, and that each fault is named.
#include "check.h"
#include "config.h"

using namespace tc;

namespace {

const char version[] = "thermocline-config 1\n";
const char two_tiers[] = "tier 0 nodes 1 capacity 4096\ntier 1 nodes 0,2 capacity 0\n";

struct Parsed {
    std::string text;
    Config config;
    char error[200] = "";
    bool ok;
    explicit Parsed(const std::string &from) : text(from + '\0') {
        ok = parse_config(text.data(), from.size(), config, error, sizeof error);
    }
    ~Parsed() { drop_config(config); }
    Parsed(const Parsed &) = delete;
    Parsed &operator=(const Parsed &) = delete;
};

std::string fault(const std::string &text) {
    Parsed parsed(text);
    return parsed.ok ? "no fault" : parsed.error;
}

std::string directive(const std::string &line) { return fault(version + line + "\n"); }

} // namespace

TEST(everything_the_contract_has) {
    Parsed parsed(std::string(version) +
                  "# a comment\n\nheap guided\nsampler trace\n"
                  "report /a b/r\nprofile /p\ninterval-ms 250\n" +
                  two_tiers +
                  "default-tier 1\nnonheap-tier 0\n"
                  "cache 1 bytes 32768 ways 8 line 64 private\n"
                  "cache 2 bytes 1048576 ways 16 line 64 shared\n"
                  "site 0 a!f(int, char)@x.c:1:2 < main@x.c:9\nsite 1 b!unannotated\n");
    expect_str(parsed.error, "");
    expect_true(parsed.ok);
    const Config &config = parsed.config;
    expect_eq(config.heap, HeapMode::guided);
    expect_eq(config.trace, true);
    expect_str(config.report, "/a b/r");
    expect_str(config.profile, "/p");
    expect_eq(config.interval_ms, 250u);
    expect_eq(config.tier_count, 2u);
    expect_eq(config.tiers[0].capacity, 4096u);
    expect_eq(config.tiers[0].nodes[0], 2u);
    expect_eq(config.tiers[1].nodes[0], 5u);
    expect_eq(config.tiers[1].node_count, 2u);
    expect_eq(config.default_tier, 1);
    expect_eq(config.nonheap_tier, 0);
    expect_eq(config.cache_levels, 2u);
    expect_eq(config.caches[0].shared, false);
    expect_eq(config.caches[1].shared, true);
    expect_eq(config.caches[1].ways, 16u);
    expect_eq(config.plans_unannotated, true);
    expect_eq(config.site_count, 2u);
    const PlannedSite *site = config.find("a!f(int, char)@x.c:1:2 < main@x.c:9");
    expect_true(site != nullptr);
    expect_eq(site ? site->placement_class : 9u, 0u);
    expect_true(config.find("a!f") == nullptr);
}

TEST(options_of_a_sampler) {
    Parsed parsed(std::string(version) + "sampler sample\noption period 4096\noption event x=1\n");
    expect_true(parsed.ok);
    expect_str(parsed.config.sampler, "sample");
    expect_eq(parsed.config.trace, false);
    expect_str(parsed.config.option("period"), "4096");
    expect_str(parsed.config.option("event"), "x=1");
    expect_true(parsed.config.option("other") == nullptr);
    Parsed none(std::string(version) + "sampler none\n");
    expect_true(none.ok && !none.config.sampler);
}

TEST(classes_are_numbered_on_from_the_tiers) {
    Parsed parsed(std::string(version) + two_tiers +
                  "class 2 shares 1,3\nclass 3 shares 65536,0\nclass 4 shares 1,0 spread\n"
                  "class 5 shares 0,1 huge\nclass 6 shares 1,0 spread huge\n"
                  "site 3 k\nsite 1 l\n");
    expect_str(parsed.error, "");
    expect_eq(parsed.config.class_count, 7u);
    expect_eq(parsed.config.splits[2].shares[0], 1u);
    expect_eq(parsed.config.splits[2].shares[1], 3u);
    expect_eq(parsed.config.splits[3].shares[0], 65536u);
    expect_eq(parsed.config.splits[3].spread, false);
    expect_eq(parsed.config.splits[4].spread, true);
    expect_eq(parsed.config.splits[4].huge, false);
    expect_eq(parsed.config.splits[5].huge && !parsed.config.splits[5].spread, true);
    expect_eq(parsed.config.splits[6].huge && parsed.config.splits[6].spread, true);
    expect_eq(parsed.config.find("k")->placement_class, 3u);
    std::string most = std::string(version) + two_tiers;
    for (int number = 2; number < 16; number++)
        most += "class " + std::to_string(number) + " shares 1,1\n";
    expect_str(fault(most), "no fault");
    expect_true(fault(most + "class 16 shares 1,1\n") != "no fault");
}

TEST(faults_of_classes_are_named) {
    const auto said = [](const std::string &text) {
        return fault(std::string(version) + two_tiers + text);
    };
    const std::string numbers = "line 4: classes are numbered on from the tiers, up to 15";
    const std::string list =
        "line 4: shares are a list of numbers up to 65536, one for each tier: 1,3";
    for (const char *line :
         {"class", "class x shares 1,1", "class 1 shares 1,1", "class 3 shares 1,1"})
        expect_str(said(line), numbers);
    expect_str(said("class 2"), "line 4: 'shares' is missing");
    for (const char *line : {"class 2 shares", "class 2 shares 1", "class 2 shares 1,1,1",
                             "class 2 shares 1,", "class 2 shares 1,65537", "class 2 shares -1,2",
                             "class 2 shares 1;1", "class 2 shares 1,1x"})
        expect_str(said(line), list);
    expect_str(said("class 2 shares 0,0"),
               "line 4: shares are a list of numbers up to 65536, not all of them 0");
    for (const char *line : {"class 2 shares 1,1 more", "class 2 shares 1,1 spread more",
                             "class 2 shares 1,1 hugely", "class 2 shares 1,1 huge spread"})
        expect_str(said(line), "line 4: something follows that does not belong here");
    expect_str(said("class 2 shares 1,1\ntier 2 nodes - capacity 0"),
               "line 5: tiers are numbered 0, 1, ... in this order, before classes");
    expect_str(said("site 2 k"), "a site is in a tier or class that is not there");
    expect_str(directive("class 0 shares 1"),
               "line 2: classes are numbered on from the tiers, up to 15");
}

TEST(the_last_line_may_lack_its_newline) {
    expect_str(fault("thermocline-config 1\nheap plain"), "no fault");
}

TEST(modelled_tiers) {
    Parsed parsed(std::string(version) + "tier 0 nodes - capacity 1\n");
    expect_true(parsed.ok);
    expect_eq(parsed.config.tiers[0].node_count, 0u);
}

TEST(many_sites_are_found) {
    std::string text = std::string(version) + two_tiers;
    for (int i = 0; i < 10000; i++)
        text += "site " + std::to_string(i % 2) + " key " + std::to_string(i) + "\n";
    Parsed parsed(text);
    expect_true(parsed.ok);
    for (int i = 0; i < 10000; i++) {
        const PlannedSite *site = parsed.config.find(("key " + std::to_string(i)).c_str());
        expect_eq(site ? int(site->placement_class) : -1, i % 2);
    }
}

TEST(faults_are_named_with_their_line) {
    expect_str(fault(""), "the file is empty");
    expect_str(fault("heap plain\n"), "line 1: the first line must be 'thermocline-config 1'");
    expect_str(fault("thermocline-config 2\n"),
               "line 1: the first line must be 'thermocline-config 1'");
    expect_str(directive("hoop plain"), "line 2: unknown directive");
    expect_str(directive("heap fast"), "line 2: heap is plain, guided or sites");
    expect_str(directive("heap plain x"), "line 2: something follows that does not belong here");
    expect_str(directive("sampler"), "line 2: a sampler's name is missing");
    expect_str(directive("option period"), "line 2: an option is 'option NAME VALUE'");
    expect_str(directive("option period 1"), "options need a sampler");
    expect_str(directive("sampler trace\noption p 1\noption p 2"),
               "line 4: an option is given once, and there are at most 16");
    expect_str(directive("interval-ms 0"), "line 2: interval-ms is from 1 to 3600000");
    expect_str(directive("report"), "line 2: a path is missing");
    expect_str(directive("tier 1 nodes 0 capacity 0"),
               "line 2: tiers are numbered 0, 1, ... in this order, before classes");
    expect_str(directive("tier 8 nodes 0 capacity 0"), "line 2: a tier's number is from 0 to 7");
    expect_str(directive("tier 0 nodes 0,0 capacity 0"),
               "line 2: nodes are a list like 0,2 or '-'");
    expect_str(directive("tier 0 nodes 1024 capacity 0"),
               "line 2: nodes are a list like 0,2 or '-'");
    expect_str(directive("tier 0 nodes 0 capacity -1"), "line 2: 'capacity BYTES' is missing");
    expect_str(directive("tier 0 nodes 0 capacity 99999999999999999999"),
               "line 2: 'capacity BYTES' is missing");
    expect_str(directive("cache 2 bytes 1 ways 1 line 1 private"),
               "line 2: caches are numbered 1, 2, ... (at most 4)");
    expect_str(directive("cache 1 bytes 1 ways 1 line 1 secret"),
               "line 2: a cache is private or shared");
    expect_str(directive("default-tier x"), "line 2: a tier's number is missing");
    expect_str(directive("default-tier 3"),
               "default-tier or nonheap-tier names a tier that is not there");
    expect_str(directive("heap guided"), "heap guided needs tiers and a default-tier");
    expect_str(directive("moves /m"),
               "moves needs heap sites, a profile, tiers and a default-tier");
    expect_str(directive("site 0"), "line 2: a site's key is missing");
    expect_str(directive("site 0 k"), "a site is in a tier or class that is not there");
    expect_str(directive("site 0 k\nsite 0 k"), "line 3: this site has been named before");
    expect_str(fault(std::string("thermocline-config 1\nheap\0plain\n", 33)),
               "line 2: a zero byte");
}

TEST(preload_is_followed_by_a_number_of_callers) {
    Parsed parsed(std::string(version) + "heap sites\npreload 16\n");
    expect_str(parsed.error, "");
    expect_eq(parsed.config.preload, true);
    expect_eq(parsed.config.context, 16u);
    expect_eq(parsed.config.plans_unannotated, true); // no allocation without a look
    const char expected[] = "line 2: preload is followed by a number of callers from 0 to 16";
    expect_str(directive("preload"), expected);
    expect_str(directive("preload 17"), expected);
    expect_str(directive("preload x"), expected);
    expect_str(directive("preload 1 2"), "line 2: something follows that does not belong here");
    expect_str(directive("preload 1"), "preload needs heap guided or sites");
}
