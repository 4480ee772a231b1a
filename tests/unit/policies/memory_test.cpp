// Which memories there are, and texts that make no sense.
#include "check.h"
#include "thermocline/policies.h"
#include <string>

using namespace check;

static std::string refused(const char *text) {
    tc_memory memory;
    return tc_memory_parse(&memory, text) == 0 ? "accepted" : tc_policy_error();
}

static bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

TEST(a_text_is_read) {
    tc_memory memory;
    expect_eq(tc_memory_parse(&memory, "0:- weights 72:28"), 0);
    expect_eq(memory.sockets, 1u);
    expect_eq(memory.socket[0].fast, 0);
    expect_eq(memory.socket[0].big, -1);
    expect_eq(memory.fast_percent, 72u);
    expect_eq(memory.big_percent, 28u);
    expect_eq(tc_memory_parse(&memory, "0:-"), 0);
    expect_eq(memory.fast_percent, 0u);
}

TEST(what_is_no_such_text_is_refused) {
    for (const char *text : {"", "0", "0:", "0:x", ":1", "0:-,", "0:- ", "0:- weights", "-1:0",
                             "0:- weights 50", "0:- weights 50:50 x", "99999:0", "0:-;1:-"})
        expect_eq(contains(refused(text), "is not understood"), true);
}

TEST(weights_that_do_not_add_up) {
    expect_eq(contains(refused("0:- weights 72:29"), "they add up to 101, not to 100"), true);
    expect_eq(contains(refused("0:- weights 50:0"), "they add up to 50"), true);
    expect_eq(contains(refused("0:- weights 300:20"), "are not percentages"), true);
}

TEST(a_node_that_is_not_there) {
    expect_eq(contains(refused("0:1000"), "node 1000 has no memory"), true);
    expect_eq(contains(refused("1000:0"), "is it online"), true);
}

TEST(a_node_named_twice) {
    expect_eq(contains(refused("0:0"), "as fast and as big"), true);
    expect_eq(contains(refused("0:-,0:-"), "of its own"), true);
}

TEST(this_host_is_detected) {
    unsetenv("THERMOCLINE_MEMORY");
    tc_memory memory;
    expect_eq(tc_memory_detect(&memory), 0);
    expect_ge(memory.sockets, 1u);
    expect_eq(memory.fast_percent, 0u);
}

TEST(the_environment_comes_first) {
    setenv("THERMOCLINE_MEMORY", "0:- weights 60:40", 1);
    tc_memory memory;
    expect_eq(tc_memory_detect(&memory), 0);
    expect_eq(memory.big_percent, 40u);
    setenv("THERMOCLINE_MEMORY", "nonsense", 1);
    expect_eq(tc_memory_detect(&memory), -1);
    expect_eq(tc_spill(4096, nullptr) == nullptr, true);
    expect_eq(contains(tc_policy_error(), "\"nonsense\" is not understood"), true);
}
