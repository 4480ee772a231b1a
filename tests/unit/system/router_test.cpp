// What waits for room waits for its own queue's, in the order in which it came.
#include "check.h"
#include "memory/devices.h"
#include "simulator/organisation/router.h"
#include <set>

using namespace thermocline;

namespace {

// A queue for each KiB of addresses; each takes so many requests until it is emptied.
struct Queues {
    explicit Queues(std::vector<size_t> room) : room(std::move(room)) {}
    uint32_t queues() const { return uint32_t(room.size()); }
    uint32_t queue(const Request &request) const { return uint32_t(request.address / 1024); }
    bool accepts(const Request &request) const { return room[queue(request)] > 0; }
    void push(const Request &request) {
        room[queue(request)]--;
        taken.push_back(request.address);
    }
    void advance(Ps, std::vector<Completion> &) {}

    std::vector<size_t> room;
    std::vector<uint64_t> taken;
};

Send write_to(uint64_t address) {
    Send send{};
    send.address = address;
    send.token = nobody;
    send.bytes = 64;
    send.write = true;
    return send;
}

} // namespace

TEST(a_full_queue_holds_up_its_own_requests_only) {
    std::vector<Queues> memories = {Queues({1, 8})};
    Router<Queues> router({{0, 0, 0}}, memories, 1);
    for (uint64_t address : {0, 64, 1024, 128, 1088})
        router.send(write_to(address), 0);
    router.run(0, [](uint32_t) {});
    expect_true((memories[0].taken == std::vector<uint64_t>{0, 1024, 1088}));
    expect_true(router.holds(0));

    // Room for one: the first that waits, and what comes later goes behind those that still do.
    memories[0].room[0] = 1;
    router.advance(0, 1, [](uint64_t, Ps) {});
    expect_eq(memories[0].taken.back(), 64u);
    router.send(write_to(192), 1);
    router.run(1, [](uint32_t) {});
    expect_true(router.holds(0));
    memories[0].room[0] = 8;
    router.advance(0, 2, [](uint64_t, Ps) {});
    expect_true((memories[0].taken == std::vector<uint64_t>{0, 1024, 1088, 64, 128, 192}));
    expect_true(!router.holds(0));
    expect_true(router.quiet());
}

TEST(channels_have_a_queue_each_in_which_reads_stand_behind_writes) {
    nlohmann::json json = devices::with_nvm();
    json["channels"] = 3;
    const Memory memory(parse_memory(json));
    for (uint64_t base : {uint64_t(0), memory.nvm_base()}) {
        std::set<uint32_t> seen;
        for (uint64_t line = 0; line < 4096; line++) {
            Request read, write;
            read.address = write.address = base + line * 64;
            write.write = true;
            expect_eq(memory.queue(read), memory.queue(write));
            expect_lt(memory.queue(read), memory.queues());
            seen.insert(memory.queue(read));
        }
        expect_eq(seen.size(), memory.queues() / 2);
    }
}
