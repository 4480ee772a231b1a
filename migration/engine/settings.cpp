// See settings.h.
#include "settings.h"
#include "migration/policies/policy.h"
#include "text.h"
#include <cstring>

namespace tc {
namespace {

struct Word {
    const char *at;
    size_t length;
    bool is(const char *text) const {
        return strlen(text) == length && memcmp(at, text, length) == 0;
    }
};

bool to_number(Word word, uint64_t &value) {
    value = 0;
    for (size_t i = 0; i < word.length; i++) {
        const unsigned digit = unsigned(word.at[i] - '0');
        if (digit > 9 || value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    return word.length != 0;
}

// A typing error must not stop the program for days: what is charged is waited for.
bool to_latency(Word word, uint64_t &value) {
    return to_number(word, value) && value <= MigrateSettings::most_latency_ns;
}
bool to_bandwidth(Word word, uint64_t &value) {
    return to_number(word, value) && (value == 0 || value >= MigrateSettings::least_bandwidth);
}

bool copy_text(Word word, char *to, size_t room) {
    if (word.length >= room)
        return false;
    memcpy(to, word.at, word.length);
    to[word.length] = 0;
    return word.length != 0;
}

bool add_node(Word word, uint64_t *nodes, int &first) {
    uint64_t node;
    if (!to_number(word, node) || node >= MigrateSettings::max_nodes)
        return false;
    nodes[node / 64] |= uint64_t(1) << (node % 64);
    first = first < 0 ? int(node) : first;
    return true;
}

bool to_flag(Word word, bool &flag) {
    flag = word.is("1");
    return flag || word.is("0");
}

bool is_policy(const char *name) {
    for (const char *const *known = thermocline::migration::policy_names; *known; known++)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

bool set(Word name, Word value, MigrateSettings &to) {
    if (name.is("near"))
        return to_number(value, to.near_bytes);
    if (name.is("policy"))
        return copy_text(value, to.policy, sizeof to.policy) && is_policy(to.policy);
    if (name.is("report"))
        return copy_text(value, to.report, sizeof to.report);
    if (name.is("least"))
        return to_number(value, to.least_bytes) && to.least_bytes >= 4096;
    if (name.is("in-latency-ns"))
        return to_latency(value, to.in_latency_ns);
    if (name.is("in-bandwidth"))
        return to_bandwidth(value, to.in_bytes_per_second);
    if (name.is("out-latency-ns"))
        return to_latency(value, to.out_latency_ns);
    if (name.is("out-bandwidth"))
        return to_bandwidth(value, to.out_bytes_per_second);
    if (name.is("near-node"))
        return add_node(value, to.near_nodes, to.near_node);
    if (name.is("far-node"))
        return add_node(value, to.far_nodes, to.far_node);
    if (name.is("copy"))
        return to_flag(value, to.copy);
    if (name.is("prefetch"))
        return to_flag(value, to.prefetch);
    if (name.is("check"))
        return to_flag(value, to.check);
    return false;
}

} // namespace

bool parse_settings(const char *text, MigrateSettings &to, char *error, size_t error_bytes) {
    Line line(error, error_bytes);
    while (*text) {
        const size_t length = strcspn(text, ";");
        const char *const equals = static_cast<const char *>(memchr(text, '=', length));
        if (!equals || !set({text, size_t(equals - text)},
                            {equals + 1, length - size_t(equals + 1 - text)}, to)) {
            line << "THERMOCLINE_MIGRATE: makes no sense at \"";
            for (size_t i = 0; i < length && i < 60; i++)
                line << (text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
            line << "\": use `thermocline migrate`";
            return false;
        }
        text += length + (text[length] == ';');
    }
    const char *fault = nullptr;
    if (to.near_bytes < MigrateSettings::least_near_bytes)
        fault = "near memory holds less than four chunks of 2 MiB";
    else if ((to.near_node >= 0) != (to.far_node >= 0))
        fault = "near and far nodes go together";
    for (unsigned i = 0; i < MigrateSettings::max_nodes / 64; i++)
        if (to.near_nodes[i] & to.far_nodes[i])
            fault = "a node is near or far, not both";
    if (fault)
        line << "THERMOCLINE_MIGRATE: " << fault;
    return !fault;
}

} // namespace tc
