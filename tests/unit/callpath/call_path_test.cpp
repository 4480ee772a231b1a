// Call paths: a site for each path and one only, whatever is done to the stack.
#include "callpath/call_path.h"
#include "callpath/thread_stack.h"
#include "check.h"
#include "paths.h"
#include "sites_stand_in.h"
#include <csignal>
#include <dlfcn.h>
#include <pthread.h>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>

using namespace tc;

namespace {

constexpr unsigned context = 4;

// Where malloc would be.
[[gnu::noinline]] uint32_t site() {
    const uint32_t found =
        call_path_site(static_cast<const CallFrame *>(__builtin_frame_address(0)), "malloc");
    asm volatile("" ::: "memory"); // no jump instead of the call
    return found;
}

unsigned frames_in(const std::string &key) {
    unsigned frames = 1;
    for (const char c : key)
        frames += c == '<';
    return frames;
}

[[gnu::noinline]] uint32_t recurse(int depth) {
    volatile int kept = depth;
    const uint32_t found = depth ? recurse(depth - 1) : site();
    kept = kept + 1;
    return found;
}

} // namespace

TEST(context_bounds_what_is_told_apart) {
    expect_true(start_call_paths(context));
    std::vector<uint32_t> sites;
    for (int depth = 0; depth < 10; depth++) {
        uint32_t found[2];
        for (volatile int i = 0; i < 2; i = i + 1) // volatile: one call
            found[i] = recurse(depth);
        expect_eq(found[0], found[1]);
        sites.push_back(found[0]);
    }
    expect_ne(sites[0], sites[1]);
    expect_ne(sites[1], sites[2]);
    expect_eq(frames_in(key_of(sites[9])), context + 1);
    expect_eq(sites[8], sites[9]); // nothing but recursion is in sight
    const uint32_t nodes = call_path_nodes();
    recurse(1000);
    expect_eq(call_path_nodes(), nodes);
}

TEST(code_without_a_table_is_left_by_its_frame_pointer) {
    expect_true(start_call_paths(context));
    uint32_t found[4];
    for (volatile int i = 0; i < 4; i = i + 1)
        found[i] = without_table(site, i % 2);
    expect_ne(found[0], found[1]);
    expect_eq(found[2], found[0]);
    expect_eq(found[3], found[1]);
    expect_eq(frames_in(key_of(found[1])), context + 1);
}

TEST(threads_see_the_same_sites) {
    expect_true(start_call_paths(context));
    // The same call for all, so that the paths are the same down to the thread's start.
    uint32_t found[8];
    std::vector<std::thread> threads;
    for (uint32_t &each : found)
        threads.emplace_back([&each] {
            for (int i = 0; i < 1000; i++)
                each = recurse(i % 7 ? 3 : 5);
            each = recurse(3);
        });
    for (std::thread &thread : threads)
        thread.join();
    for (const uint32_t each : found)
        expect_eq(each, found[0]);
    expect_true(frames_in(key_of(found[0])) == context + 1);
}

static uint32_t seen_on_other_stack;
TEST(another_stack_is_not_left) {
    expect_true(start_call_paths(context));
    // A stack between two pages that fault.
    constexpr size_t page = 4096, bytes = 64 * page;
    auto *memory = static_cast<char *>(
        mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    expect_eq(mprotect(memory + page, bytes, PROT_READ | PROT_WRITE), 0);
#if !__has_feature(address_sanitizer) // which warns about it
    ucontext_t here, there;
    getcontext(&there);
    there.uc_stack.ss_sp = memory + page;
    there.uc_stack.ss_size = bytes;
    there.uc_link = &here;
    makecontext(&there, [] { seen_on_other_stack = recurse(3); }, 0);
    swapcontext(&here, &there);
    expect_true(seen_on_other_stack != 0);
#endif
    expect_true(readable_until(reinterpret_cast<uintptr_t>(memory + page + 10)) ==
                reinterpret_cast<uintptr_t>(memory + 2 * page));
    munmap(memory, bytes + 2 * page);

    stack_t alternative = {};
    alignas(16) static char room[1 << 16];
    alternative.ss_sp = room;
    alternative.ss_size = sizeof room;
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_flags = SA_ONSTACK;
    action.sa_handler = [](int) { seen_on_other_stack = recurse(2); };
    sigaction(SIGUSR1, &action, nullptr);
    seen_on_other_stack = 0;
    raise(SIGUSR1);
    expect_true(seen_on_other_stack != 0);
    const uint32_t before = recurse(2);
    expect_true(frames_in(key_of(before)) == context + 1);
}

TEST(a_small_stack_suffices) {
    expect_true(start_call_paths(context));
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 20 << 10);
    pthread_t thread;
    const int status = pthread_create(
        &thread, &small,
        [](void *) -> void * { return reinterpret_cast<void *>(uintptr_t(recurse(3))); }, nullptr);
    expect_eq(status, 0);
    void *found = nullptr;
    pthread_join(thread, &found);
    expect_true(found != nullptr);
}

struct Guest {
    uint32_t (*call_back)(Call);
    uint32_t elsewhere, site;
};
// Two calls from a module that is unloaded then; none of this file's frames is in the paths.
static Guest visit(const char *file) {
    void *module = dlopen(file, RTLD_NOW);
    const auto routine = [&](const char *name) {
        return reinterpret_cast<uint32_t (*)(Call)>(dlsym(module, name));
    };
    Guest guest{routine("call_back"), routine("call_back_elsewhere")(site), 0};
    guest.site = guest.call_back(site);
    dlclose(module);
    return guest;
}

TEST(a_module_that_takes_anothers_place_has_paths_of_its_own) {
    expect_true(start_call_paths(0));
    const Guest first = visit(GUEST1), second = visit(GUEST2), again = visit(GUEST1);
    expect_true(second.call_back == first.call_back); // the very address
    for (const uint32_t site : {first.site, first.elsewhere, again.site})
        expect_true(key_of(site).starts_with("@libcallpath_guest1.so#"));
    for (const uint32_t site : {second.site, second.elsewhere})
        expect_true(key_of(site).starts_with("@libcallpath_guest2.so#"));
    expect_eq(again.site, first.site);
}

TEST(a_wild_frame_does_not_fault) {
    expect_true(start_call_paths(context));
    std::mt19937_64 random(3);
    const auto low = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    for (int round = 0; round < 100000; round++) {
        uintptr_t stack[64];
        for (uintptr_t &word : stack)
            word = random() % 3 == 0   ? random()
                   : random() % 2 == 0 ? low + random() % 4096 - 2048
                                       : reinterpret_cast<uintptr_t>(&recurse) + random() % 4096;
        expect_true(call_path_site(reinterpret_cast<const CallFrame *>(stack), "malloc") != 0);
    }
}
