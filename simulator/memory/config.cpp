// See config.h.  An error names the memory and the field: "DDR4-2400: dram.timing.rc is 30: ...".
#include "simulator/memory/config.h"
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

namespace thermocline {
namespace {

using Json = nlohmann::json;

// A JSON object that knows which of its fields were asked for.
class Object {
  public:
    Object(const Json &json, std::string place) : json_(json), place_(std::move(place)) {
        if (!json.is_object())
            throw ConfigError(place_ + " is no object");
    }
    [[noreturn]] void fail(const std::string &field, const std::string &problem) const {
        throw ConfigError(place_ + (place_.ends_with(": ") ? "" : ".") + field + " " + problem);
    }
    bool has(const char *field) const { return json_.contains(field); }
    const Json &at(const char *field) {
        asked_.insert(field);
        const auto found = json_.find(field);
        if (found == json_.end())
            fail(field, "is missing");
        return *found;
    }
    Object object(const char *field) {
        return Object(at(field), place_ + (place_.ends_with(": ") ? "" : ".") + field);
    }
    // A whole number in [least, most].
    uint64_t number(const char *field, uint64_t least, uint64_t most) {
        const Json &value = at(field);
        // Made in C++ a number may be signed; get() of a negative one would wrap.
        const bool whole =
            value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0);
        if (!whole || value.get<uint64_t>() < least || value.get<uint64_t>() > most)
            fail(field, "is " + show(value) + ": a whole number from " + std::to_string(least) +
                            " to " + std::to_string(most) + " is wanted");
        return value.get<uint64_t>();
    }
    uint32_t small(const char *field, uint64_t least, uint64_t most) {
        return uint32_t(number(field, least, most));
    }
    uint64_t power(const char *field, uint64_t least, uint64_t most) {
        const uint64_t value = number(field, least, most);
        if (!std::has_single_bit(value))
            fail(field, "is " + std::to_string(value) + ": a power of two is wanted");
        return value;
    }
    double real(const char *field) {
        const Json &value = at(field);
        if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() < 1e15))
            fail(field, "is " + show(value) + ": a number from 0 on is wanted");
        return value.get<double>();
    }
    void finish() const {
        for (const auto &item : json_.items())
            if (!asked_.contains(item.key()))
                fail(show(item.key()), "is not known");
    }

  private:
    static std::string show(const Json &value) {
        return value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 40);
    }
    const Json &json_;
    std::string place_;
    std::set<std::string> asked_;
};

constexpr uint64_t most_cycles = 1 << 15, most_ps = 1'000'000'000, most_bytes = 1 << 20;

QueueConfig parse_queues(Object json) {
    QueueConfig queues{};
    queues.reads = json.small("reads", 2, DramConfig::max_queue);
    queues.writes = json.small("writes", 2, DramConfig::max_queue);
    queues.drain_start = json.small("drain_start", 1, queues.writes);
    queues.drain_stop = json.small("drain_stop", 0, queues.drain_start - 1);
    queues.row_hit_cap = json.small("row_hit_cap", 1, 1 << 20);
    json.finish();
    return queues;
}

DramTiming parse_timing(Object json, uint32_t burst_cycles) {
    DramTiming t{};
    for (const auto &[field, value] :
         std::initializer_list<std::pair<const char *, uint32_t *>>{{"cl", &t.cl},
                                                                    {"cwl", &t.cwl},
                                                                    {"rcd", &t.rcd},
                                                                    {"rp", &t.rp},
                                                                    {"ras", &t.ras},
                                                                    {"rc", &t.rc},
                                                                    {"ccd_s", &t.ccd_s},
                                                                    {"ccd_l", &t.ccd_l},
                                                                    {"rrd_s", &t.rrd_s},
                                                                    {"rrd_l", &t.rrd_l},
                                                                    {"faw", &t.faw},
                                                                    {"wr", &t.wr},
                                                                    {"wtr_s", &t.wtr_s},
                                                                    {"wtr_l", &t.wtr_l},
                                                                    {"rtp", &t.rtp}})
        *value = json.small(field, 1, most_cycles);
    t.bus_turn = json.small("bus_turn", 0, most_cycles);
    t.rank_switch = json.small("rank_switch", 0, most_cycles);
    t.rfc = json.small("rfc", 1, most_cycles);
    t.refi = json.small("refi", 0, 1 << 30);
    json.finish();
    auto at_least = [&](const char *field, uint32_t value, uint32_t least, const char *reason) {
        if (value < least)
            json.fail(field, "is " + std::to_string(value) + ": at least " + std::to_string(least) +
                                 " is wanted (" + reason + ")");
    };
    at_least("rc", t.rc, t.ras + t.rp, "ras + rp");
    at_least("ras", t.ras, t.rcd, "rcd");
    at_least("ccd_s", t.ccd_s, burst_cycles, "burst_cycles");
    at_least("ccd_l", t.ccd_l, t.ccd_s, "ccd_s");
    at_least("rrd_l", t.rrd_l, t.rrd_s, "rrd_s");
    at_least("wtr_l", t.wtr_l, t.wtr_s, "wtr_s");
    at_least("faw", t.faw, t.rrd_s, "rrd_s");
    if (t.refi != 0)
        at_least("refi", t.refi, 2 * (t.rfc + t.rc), "2 (rfc + rc), or 0 for no refresh");
    return t;
}

DramConfig parse_dram(Object json) {
    DramConfig dram{};
    dram.clock_ps = json.small("clock_ps", 1, 1'000'000);
    dram.burst_bytes = uint32_t(json.power("burst_bytes", 8, 4096));
    dram.burst_cycles = json.small("burst_cycles", 1, 1024);
    dram.ranks = uint32_t(json.power("ranks", 1, DramConfig::max_banks));
    dram.bank_groups = uint32_t(json.power("bank_groups", 1, DramConfig::max_banks));
    dram.banks_per_group = uint32_t(json.power("banks_per_group", 1, DramConfig::max_banks));
    if (dram.banks() > DramConfig::max_banks)
        json.fail("banks_per_group", "x bank_groups x ranks is " + std::to_string(dram.banks()) +
                                         ": at most " + std::to_string(DramConfig::max_banks) +
                                         " banks a channel can be modelled");
    dram.row_bytes = uint32_t(json.power("row_bytes", dram.burst_bytes, most_bytes));
    if (!json.at("separate_row_bus").is_boolean())
        json.fail("separate_row_bus", "must be true or false");
    dram.separate_row_bus = json.at("separate_row_bus").get<bool>();
    dram.queues = parse_queues(json.object("queues"));
    dram.timing = parse_timing(json.object("timing"), dram.burst_cycles);
    Object energy = json.object("energy");
    dram.energy = {energy.real("activate_pj"), energy.real("read_pj"), energy.real("write_pj"),
                   energy.real("refresh_pj"),  energy.real("open_mw"), energy.real("closed_mw"),
                   energy.real("static_mw")};
    energy.finish();
    json.finish();
    return dram;
}

NvmConfig parse_nvm(Object json, const DramConfig &dram) {
    NvmConfig nvm{};
    nvm.block_bytes = uint32_t(json.power("block_bytes", dram.burst_bytes, 64 * dram.burst_bytes));
    nvm.interleave_bytes = json.power("interleave_bytes", nvm.block_bytes, uint64_t(1) << 40);
    nvm.reads = json.small("reads", 2, 4096);
    nvm.writes = json.small("writes", 2, 4096);
    nvm.read_buffer = json.small("read_buffer", 1, 4096);
    nvm.write_buffer = json.small("write_buffer", 1, 4096);
    nvm.buffer_ps = json.number("buffer_ps", 0, most_ps);
    nvm.media_read_ps = json.number("media_read_ps", 0, most_ps);
    nvm.read_gap_ps = json.number("read_gap_ps", 1, most_ps);
    nvm.write_gap_ps = json.number("write_gap_ps", 1, most_ps);
    nvm.read_pj = json.real("read_pj");
    nvm.write_pj = json.real("write_pj");
    nvm.transfer_pj = json.real("transfer_pj");
    nvm.static_mw = json.real("static_mw");
    json.finish();
    return nvm;
}

LinkConfig parse_link(Object json) {
    LinkConfig link{};
    link.request_ps = json.number("request_ps", 0, most_ps);
    link.response_ps = json.number("response_ps", 0, most_ps);
    link.request_bandwidth = json.number("request_bandwidth", 1'000'000, 1'000'000'000'000'000);
    link.response_bandwidth = json.number("response_bandwidth", 1'000'000, 1'000'000'000'000'000);
    link.header_bytes = json.small("header_bytes", 0, 4096);
    link.entries = json.small("entries", 1, 1 << 16);
    link.pj_per_byte = json.real("pj_per_byte");
    link.static_mw = json.real("static_mw");
    json.finish();
    return link;
}

} // namespace

MemoryConfig parse_memory(const Json &json) {
    std::string name = "memory";
    if (json.is_object() && json.contains("name") && json["name"].is_string())
        name = json["name"].get<std::string>().substr(0, 60);
    Object top(json, name + ": ");
    if (!top.at("name").is_string())
        top.fail("name", "is no string");
    MemoryConfig memory{};
    memory.name = name;
    memory.channels = top.small("channels", 1, 1024);
    const Json &fidelity = top.at("fidelity");
    if (fidelity != "faithful" && fidelity != "screening")
        top.fail("fidelity", "must be \"faithful\" or \"screening\"");
    memory.fidelity = fidelity == "faithful" ? Fidelity::faithful : Fidelity::screening;
    memory.dram = parse_dram(top.object("dram"));
    memory.interleave_bytes =
        top.power("interleave_bytes", memory.dram.burst_bytes, uint64_t(1) << 40);
    memory.nvm_base = UINT64_MAX;
    if (top.has("nvm")) {
        memory.nvm = parse_nvm(top.object("nvm"), memory.dram);
        memory.nvm_base = top.number("nvm_base", 0, uint64_t(1) << 56);
    }
    if (top.has("link"))
        memory.link = parse_link(top.object("link"));
    top.finish();
    return memory;
}

} // namespace thermocline
