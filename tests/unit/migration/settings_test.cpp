// The reader of THERMOCLINE_MIGRATE: what it takes, and that each fault is named.
#include "check.h"
#include "migration/engine/settings.h"

using namespace tc;

namespace {

struct Parsed {
    MigrateSettings to;
    char error[200] = "";
    bool ok;
    explicit Parsed(const std::string &text) {
        ok = parse_settings(text.c_str(), to, error, sizeof error);
    }
};

const std::string enough = "near=8388608;";

std::string fault(const std::string &text) {
    const Parsed parsed(enough + text);
    expect_eq(parsed.ok, parsed.error[0] == 0);
    return parsed.ok ? "no fault" : parsed.error;
}

void expect_senseless(const std::string &word) {
    expect_eq(fault("check=1;" + word + ";copy=1"),
              "THERMOCLINE_MIGRATE: makes no sense at \"" + word + "\": use `thermocline migrate`");
}

} // namespace

TEST(all_that_the_command_says) {
    const Parsed parsed("near=16777216;policy=adaptive;report=/tmp/a=b/r;least=4096;"
                        "in-latency-ns=250;in-bandwidth=40000000000;out-latency-ns=1000000000;"
                        "out-bandwidth=0;copy=1;prefetch=1;check=1");
    expect_eq(std::string(parsed.error), "");
    expect_eq(parsed.to.near_bytes, 16777216u);
    expect_eq(std::string(parsed.to.policy), "adaptive");
    expect_eq(std::string(parsed.to.report), "/tmp/a=b/r");
    expect_eq(parsed.to.least_bytes, 4096u);
    expect_eq(parsed.to.in_latency_ns, 250u);
    expect_eq(parsed.to.in_bytes_per_second, 40000000000u);
    expect_eq(parsed.to.out_latency_ns, 1000000000u);
    expect_eq(parsed.to.out_bytes_per_second, 0u);
    expect_true(parsed.to.copy && parsed.to.prefetch && parsed.to.check);
    expect_eq(parsed.to.near_node, -1);
    expect_eq(parsed.to.far_node, -1);
}

TEST(nodes_are_many_and_the_first_is_kept) {
    const Parsed parsed(enough + "near-node=3;near-node=0;far-node=1023;far-node=64");
    expect_eq(std::string(parsed.error), "");
    expect_eq(parsed.to.near_node, 3);
    expect_eq(parsed.to.far_node, 1023);
    expect_eq(parsed.to.near_nodes[0], 9u);
    expect_eq(parsed.to.far_nodes[1], 1u);
    expect_eq(parsed.to.far_nodes[15], uint64_t(1) << 63);
    const std::string start = "THERMOCLINE_MIGRATE: ";
    expect_eq(fault("near-node=0"), start + "near and far nodes go together");
    expect_eq(fault("far-node=0"), start + "near and far nodes go together");
    expect_eq(fault("near-node=0;far-node=1;far-node=0"),
              start + "a node is near or far, not both");
}

TEST(what_makes_no_sense_is_named) {
    for (const char *word : {"near",
                             "near=",
                             "=1",
                             "nearer=1",
                             "near=-1",
                             "near=1G",
                             "near= 1",
                             "near=18446744073709551616",
                             "policy=",
                             "policy=8K",
                             "policy=adaptiveadaptiveadaptive",
                             "report=",
                             "least=4095",
                             "in-latency-ns=1000000001",
                             "in-bandwidth=999999",
                             "out-latency-ns=x",
                             "out-bandwidth=1",
                             "near-node=1024",
                             "far-node=-1",
                             "copy=2",
                             "prefetch=yes",
                             "check=true",
                             "check=",
                             ""})
        expect_senseless(word);
    expect_eq(fault("report=" + std::string(511, 'r')), "no fault");
    expect_eq(fault("report=" + std::string(512, 'r')), // of what is long the beginning
              "THERMOCLINE_MIGRATE: makes no sense at \"report=" + std::string(53, 'r') +
                  "\": use `thermocline migrate`");
    expect_eq(fault("near=1\n"),
              "THERMOCLINE_MIGRATE: makes no sense at \"near=1?\": use `thermocline migrate`");
}

TEST(numbers_to_the_last) {
    expect_eq(Parsed("near=18446744073709551615").to.near_bytes, UINT64_MAX);
    expect_eq(fault(""), "no fault");
    const std::string little = "THERMOCLINE_MIGRATE: near memory holds less than four chunks of "
                               "2 MiB";
    expect_eq(std::string(Parsed("").error), little);
    expect_eq(std::string(Parsed("near=8388607").error), little);
}

TEST(a_fault_fits_where_there_is_little_room) {
    MigrateSettings to;
    char error[10];
    expect_true(!parse_settings("near=x", to, error, sizeof error));
    expect_eq(std::string(error), "THERMOCLI");
}
