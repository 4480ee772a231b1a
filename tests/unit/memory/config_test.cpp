// A configuration that makes no sense is refused in one line that names the field.
#include "check.h"
#include "devices.h"

using namespace devices;

static std::string complaint(const nlohmann::json &json) {
    try {
        parse_memory(json);
    } catch (const ConfigError &error) {
        return error.what();
    }
    return "";
}

static nlohmann::json with(const char *pointer, const nlohmann::json &value) {
    nlohmann::json json = ddr4();
    json[nlohmann::json::json_pointer(pointer)] = value;
    return json;
}

TEST(what_is_wrong_is_named) {
    expect_str(complaint(ddr4()), "");
    const std::tuple<const char *, nlohmann::json, const char *> cases[] = {
        {"/channels", 0, "DDR4-2400: channels is 0: a whole number from 1 to 1024 is wanted"},
        {"/dram/timing/rc", 30,
         "DDR4-2400: dram.timing.rc is 30: at least 56 is wanted (ras + rp)"},
        {"/dram/timing/ccd_s", 3,
         "DDR4-2400: dram.timing.ccd_s is 3: at least 4 is wanted (burst_cycles)"},
        {"/dram/timing/refi", 500,
         "DDR4-2400: dram.timing.refi is 500: at least 954 is wanted (2 (rfc + rc), or 0 for no "
         "refresh)"},
        {"/dram/timing/cl", -1,
         "DDR4-2400: dram.timing.cl is -1: a whole number from 1 to 32768 is wanted"},
        {"/dram/timing/cl", 1.5,
         "DDR4-2400: dram.timing.cl is 1.5: a whole number from 1 to 32768 is wanted"},
        {"/dram/row_bytes", 3000, "DDR4-2400: dram.row_bytes is 3000: a power of two is wanted"},
        {"/dram/ranks", 8,
         "DDR4-2400: dram.banks_per_group x bank_groups x ranks is 128: at most 64 banks a "
         "channel can be modelled"},
        {"/dram/energy/read_pj", -1,
         "DDR4-2400: dram.energy.read_pj is -1: a number from 0 on is wanted"},
        {"/dram/timing/tcl", 1, "DDR4-2400: dram.timing.\"tcl\" is not known"},
        {"/fidelity", "quick", "DDR4-2400: fidelity must be \"faithful\" or \"screening\""},
        {"/dram/queues/drain_stop", 24,
         "DDR4-2400: dram.queues.drain_stop is 24: a whole number from 0 to 23 is wanted"},
    };
    for (const auto &[pointer, value, wanted] : cases)
        expect_str(complaint(with(pointer, value)), wanted);
}

TEST(every_missing_field_is_named) {
    const nlohmann::json flat = ddr4().flatten();
    for (const auto &item : flat.items()) {
        nlohmann::json less = flat;
        less.erase(item.key());
        const std::string field = item.key().substr(item.key().rfind('/') + 1);
        const std::string said = complaint(less.unflatten());
        expect_true(said.find(field + " is missing") != std::string::npos);
    }
}

static nlohmann::json everything() {
    nlohmann::json json = with_nvm();
    json["link"] = with_link()["link"];
    return json;
}

// Values of all kinds in all places: each is refused in one line, or makes a memory that works.
TEST(wild_values_are_refused_or_work) {
    const nlohmann::json wild[] = {nullptr, true, -1, 0,         1,  2,          3,         1 << 15,
                                   1e300,   0.5,  "", "x\n\xff", {}, UINT64_MAX, {{"x", 1}}};
    const nlohmann::json flat = everything().flatten();
    std::vector<Request> requests = random(100, 40, 0, 1 << 20);
    for (Request &request : requests)
        request.address += request.token % 2 * nvm_base;
    unsigned refused = 0, worked = 0;
    for (const auto &item : flat.items())
        for (const nlohmann::json &value : wild) {
            nlohmann::json json = everything();
            json[nlohmann::json::json_pointer(item.key())] = value;
            const std::string said = complaint(json);
            expect_true(said.find('\n') == std::string::npos && said.size() < 250);
            if (!said.empty()) {
                refused++;
                continue;
            }
            worked++;
            for (const char *fidelity : {"faithful", "screening"}) {
                if (item.key() != "/fidelity")
                    json["fidelity"] = fidelity;
                expect_eq(run(json, requests).done.size(), requests.size());
            }
        }
    expect_lt(300u, refused);
    expect_lt(150u, worked);
    for (const nlohmann::json &value : wild)
        expect_true(!complaint(value).empty());
}
