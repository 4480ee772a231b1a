// Moves of pages, as the kernel really makes them.
#include "check.h"
#include "migration/engine/page_table.h"
#include "migration/engine/userfault.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace tc;

namespace {

constexpr uint64_t pages = 16, bytes = pages * page_bytes;

uint64_t map() {
    void *const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    madvise(at, bytes, MADV_NOHUGEPAGE);
    return reinterpret_cast<uint64_t>(at);
}

// Two ranges that are watched, the first full.  False: not permitted here.
bool prepare(Userfault &userfault, uint64_t &from, uint64_t &to) {
    if (Userfault::open(userfault) != 0)
        return false;
    from = map();
    to = map();
    for (uint64_t page = 0; page < pages; page++)
        memset(reinterpret_cast<void *>(from + page * page_bytes), int(page + 1), page_bytes);
    return userfault.watch(from, from + bytes) && userfault.watch(to, to + bytes);
}

void expect_moved(uint64_t to) {
    for (uint64_t page = 0; page < pages; page++)
        expect_eq(unsigned(*reinterpret_cast<char *>(to + page * page_bytes)), unsigned(page + 1));
}

} // namespace

TEST(pages_move_and_leave_nothing) {
    Userfault userfault;
    uint64_t from, to;
    if (!prepare(userfault, from, to))
        return;
    expect_eq(userfault.move(to, from, bytes, true), bytes);
    expect_moved(to);
    expect_eq(userfault.move(from, to, bytes, false), bytes);
    expect_moved(from);
    unsigned char there[pages];
    expect_eq(mincore(reinterpret_cast<void *>(to), bytes, there), 0);
    for (unsigned char each : there)
        expect_eq(each & 1, 0);
}

TEST(what_has_moved_already_is_counted) {
    Userfault userfault;
    uint64_t from, to;
    if (!prepare(userfault, from, to))
        return;
    // A part, as if the kernel had not said so.
    expect_eq(userfault.move(to + page_bytes, from + page_bytes, 5 * page_bytes, true),
              5 * page_bytes);
    expect_eq(userfault.move(to, from, bytes, true), bytes);
    expect_moved(to);
}

TEST(a_page_that_is_in_the_way_stops_a_move) {
    Userfault userfault;
    uint64_t from, to;
    if (!prepare(userfault, from, to))
        return;
    char other[page_bytes] = {77};
    expect_eq(userfault.copy(to + 3 * page_bytes, other, page_bytes), page_bytes);
    expect_eq(userfault.move(to, from, bytes, true), 3 * page_bytes);
    expect_eq(errno, EEXIST);
    expect_eq(unsigned(*reinterpret_cast<char *>(to + 3 * page_bytes)), 77u);
    expect_eq(unsigned(*reinterpret_cast<char *>(from + 3 * page_bytes)), 4u);
}

TEST(pages_of_two_mappings_move_too) {
    Userfault userfault;
    uint64_t from, to;
    if (!prepare(userfault, from, to))
        return;
    madvise(reinterpret_cast<void *>(from), 6 * page_bytes, MADV_DONTDUMP);
    expect_eq(userfault.move(to, from, bytes, true), bytes);
    expect_moved(to);
}
