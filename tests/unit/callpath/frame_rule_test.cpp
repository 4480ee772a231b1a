// The reader of unwind tables: on this program's own table it goes the way that the C library
// goes, and on damaged ones it ends the path.
#include "callpath/frame_rule.h"
#include "check.h"
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <random>

using namespace tc;

namespace {

struct Part {
    const uint8_t *start, *end;
};

// The segment that holds an address.
Part segment_of(const void *address) {
    struct Search {
        uintptr_t address;
        Part found;
    } search{reinterpret_cast<uintptr_t>(address), {}};
    dl_iterate_phdr(
        [](dl_phdr_info *info, size_t, void *data) {
            Search &search = *static_cast<Search *>(data);
            for (int i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) &segment = info->dlpi_phdr[i];
                const uintptr_t from = info->dlpi_addr + segment.p_vaddr;
                if (segment.p_type == PT_LOAD && search.address - from < segment.p_filesz)
                    search.found = {reinterpret_cast<const uint8_t *>(from),
                                    reinterpret_cast<const uint8_t *>(from + segment.p_filesz)};
            }
            return 0;
        },
        &search);
    return search.found;
}

// Over what a sanitizer has put between globals.
[[gnu::no_sanitize("address")]] void copy_raw(volatile uint8_t *to, const uint8_t *from,
                                              size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = from[i];
}

UnwindTable table_of(uintptr_t pc) {
    dl_find_object found;
    if (_dl_find_object(reinterpret_cast<void *>(pc), &found) != 0)
        return {};
    const Part part = segment_of(found.dlfo_eh_frame);
    return {static_cast<const uint8_t *>(found.dlfo_eh_frame), part.start, part.end};
}

// This program's addresses of return, as far as main.
[[gnu::noinline]] int walk(uintptr_t *addresses, int most) {
    const auto *frame = static_cast<const uintptr_t *>(__builtin_frame_address(0));
    Registers at{frame[1], reinterpret_cast<uintptr_t>(frame + 2), frame[0]};
    int count = 0;
    while (count < most) {
        addresses[count++] = at.pc;
        const UnwindTable table = table_of(at.pc);
        if (!table.header || !step(find_rule(table, at.pc), at, UINTPTR_MAX))
            break;
    }
    return count;
}

void compare_with_library() {
    void *expected[64];
    uintptr_t found[64] = {};
    const int theirs = backtrace(expected, 64), ours = walk(found, 64);
    // They begin differently: with this function at another call, or with a sanitizer's.
    expect_true(theirs > 3);
    expect_true(ours == theirs || ours + 1 == theirs);
    for (int i = 1; i < ours; i++)
        expect_eq(found[ours - i], reinterpret_cast<uintptr_t>(expected[theirs - i]));
}

[[gnu::noinline]] void with_alloca(int bytes) {
    auto *room = static_cast<volatile char *>(alloca(static_cast<size_t>(bytes)));
    room[0] = 1;
    compare_with_library();
    room[1] = 2;
}

struct alignas(256) Wide {
    char bytes[512];
};
[[gnu::noinline]] void realigned(int n) {
    volatile Wide wide;
    wide.bytes[n] = 1;
    with_alloca(100 + n);
    wide.bytes[n + 1] = 1;
}

[[gnu::noinline]] void deep(int n) {
    volatile int kept = n;
    if (n > 0)
        deep(n - 1);
    else
        compare_with_library();
    kept = kept + 1;
}

} // namespace

TEST(the_way_up_is_that_of_the_c_library) {
    compare_with_library();
    deep(20);
    with_alloca(1000);
    realigned(3);
    struct Sorted {
        static int compare(const void *a, const void *b) {
            static bool done;
            if (!done)
                compare_with_library();
            done = true;
            return *static_cast<const int *>(a) - *static_cast<const int *>(b);
        }
    };
    int numbers[3] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, Sorted::compare); // through the C library's own frames
}

TEST(a_table_that_is_cut_or_damaged_ends_the_path) {
    const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
    const UnwindTable whole = table_of(pc);
    const auto bytes = static_cast<size_t>(whole.end - whole.start);
    const auto before = static_cast<size_t>(whole.header - whole.start);
    std::mt19937 random(1);
    int rules = 0;
    for (int round = 0; round < 3000; round++) {
        // On the heap and not a byte larger than promised, so that AddressSanitizer sees all.
        const size_t kept = round % 2 ? bytes : before + 1 + random() % (bytes - before);
        auto *copy = static_cast<uint8_t *>(malloc(kept));
        copy_raw(copy, whole.start, kept);
        const auto moved =
            reinterpret_cast<uintptr_t>(copy) - reinterpret_cast<uintptr_t>(whole.start);
        const UnwindTable table{copy + before, copy, copy + kept};
        for (int i = 0; round && i < 20; i++)
            copy[before + random() % (kept - before)] = static_cast<uint8_t>(random());
        rules += find_rule(table, pc + moved).base != FrameRule::none;
        free(copy);
    }
    expect_true(rules > 0);
}

TEST(nothing_is_read_outside_the_stack) {
    uintptr_t stack[4] = {1, 2, 3, 4};
    const auto low = reinterpret_cast<uintptr_t>(stack), high = low + sizeof stack;
    const FrameRule next{16, 0, FrameRule::sp, FrameRule::same, false};
    Registers at{0, low, 7};
    expect_true(step(next, at, high));
    expect_eq(at.pc, 2u);
    expect_eq(at.sp, low + 16);
    expect_eq(at.bp, 7u);
    expect_true(step(next, at, high));
    expect_eq(at.pc, 4u);
    expect_true(!step(next, at, high)); // its end
    at = {0, low, 7};
    for (const int32_t wrong : {0, -8, 40, INT32_MIN, INT32_MAX}) {
        expect_true(!step({wrong, 0, FrameRule::sp, FrameRule::same, false}, at, high));
        expect_true(!step({wrong, 0, FrameRule::bp, FrameRule::same, false}, at, high));
        expect_true(!step({wrong, 0, FrameRule::bp_pointer, FrameRule::same, false}, at, high));
    }
    for (const int32_t wrong : {-24, 24, INT32_MIN, INT32_MAX})
        expect_true(!step({16, wrong, FrameRule::sp, FrameRule::in_frame, false}, at, high));
    expect_eq(at.sp, low);
}
