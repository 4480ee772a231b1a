// Random walks through frames of all kinds: a site for each path, and one only, by the C library's
// word.
#include "callpath/call_path.h"
#include "check.h"
#include <algorithm>
#include <alloca.h>
#include <csetjmp>
#include <execinfo.h>
#include <map>
#include <random>
#include <stdexcept>

using namespace tc;

namespace {

constexpr unsigned context = 4;
using Path = std::vector<void *>;

// Sites by path: the same path has to give the same site, and another another.
class Known {
  public:
    void note(const Path &path, uint32_t site) {
        auto [old, is_new] = sites.try_emplace(path, site);
        auto [other, is_new_site] = paths.try_emplace(site, path);
        if (old->second != site || other->second != path)
            wrong++;
    }
    size_t count() const { return sites.size(); }
    int wrong = 0;

  private:
    std::map<Path, uint32_t> sites;
    std::map<uint32_t, Path> paths;
};
Known known;

// Both are called by one instruction, so that both see one path.
union Seen {
    uint32_t site;
    Path *path;
};
[[gnu::noinline]] void take_site(Seen &seen) {
    seen.site =
        call_path_site(static_cast<const CallFrame *>(__builtin_frame_address(0)), "malloc");
}
[[gnu::noinline]] void take_path(Seen &seen) {
    void *addresses[context + 4]; // the first ones are here, and perhaps a sanitizer's
    void **const end = addresses + backtrace(addresses, context + 4);
    void **const from = std::find(addresses, end, __builtin_return_address(0));
    seen.path->assign(from, from + std::min<ptrdiff_t>(end - from, context + 1));
}

[[gnu::noinline]] void leaf(int times) {
    for (int i = 0; i < times; i++) {
        Path path;
        Seen by_us{}, by_library{.path = &path};
        for (volatile int which = 0; which < 2; which = which + 1)
            (which ? take_path : take_site)(which ? by_library : by_us);
        known.note(path, by_us.site);
    }
}

std::mt19937 choose(7);
std::jmp_buf *away;

// A random walk through functions with frames of all kinds.
template <int Kind> [[gnu::noinline]] void walk(int depth);
void go_on(int depth) {
    switch (choose() % 6) {
    case 0:
        return walk<0>(depth), void();
    case 1:
        return walk<1>(depth), void();
    case 2:
        return walk<2>(depth), void();
    case 3:
        return walk<3>(depth), void();
    case 4:
        return walk<4>(depth), void();
    default:
        return walk<5>(depth), void();
    }
}

template <int Kind> void walk(int depth) {
    volatile int kept = depth;
    if (depth == 0) {
        leaf(1 + static_cast<int>(choose() % 3));
    } else if constexpr (Kind == 0) {
        walk<0>(depth - 1); // recursion
        if (choose() % 2)
            walk<0>(0);
    } else if constexpr (Kind == 1) {
        auto *room = static_cast<volatile char *>(alloca(1 + choose() % 3000));
        room[0] = 1;
        go_on(depth - 1);
        room[0] = 2;
    } else if constexpr (Kind == 2) {
        try {
            go_on(depth - 1);
            if (choose() % 2)
                throw std::runtime_error("back");
        } catch (const std::runtime_error &) {
            leaf(1);
        }
    } else if constexpr (Kind == 3) {
        struct Outer { // also when an exception passes
            std::jmp_buf *const kept = away;
            ~Outer() { away = kept; }
        } outer;
        std::jmp_buf here;
        away = &here;
        if (setjmp(here) == 0)
            go_on(depth - 1);
        else
            leaf(1);
    } else if constexpr (Kind == 4) {
        struct alignas(128) Wide {
            char bytes[256];
        };
        volatile Wide wide;
        wide.bytes[kept] = 1;
        go_on(depth - 1);
        wide.bytes[kept] = 2;
    } else {
        go_on(depth - 1);
        if (away && choose() % 4 == 0)
            longjmp(*away, 1);
    }
    kept = kept + 1;
}

} // namespace

TEST(each_path_is_one_site) {
    expect_true(start_call_paths(context));
    for (int round = 0; round < 3000; round++)
        go_on(static_cast<int>(choose() % 8));
    expect_eq(known.wrong, 0);
    expect_ge(known.count(), 50u);
}
