// The text of smaps, cut anywhere.
#include "check.h"
#include "pages/smaps.h"
#include <vector>

using tc::pages::SmapsMapping;
using tc::pages::SmapsReader;

namespace {

const std::string text = "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 \n"
                         "Size:               2048 kB\n"
                         "Referenced:         1024 kB\n"
                         "VmFlags: rd wr mr mw me rr \n"
                         "7f0000200000-7f0000300000 rw-p 00000000 00:00 0    /a b/Referenced: 7\n"
                         "Rss:                   4 kB\n"
                         "Referenced:            0 kB\n"
                         "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"
                         "Referenced:            4 kB\n";

std::vector<SmapsMapping> read(const std::string &all, size_t step) {
    std::vector<SmapsMapping> found;
    SmapsReader reader(
        [](void *to, const SmapsMapping &mapping) {
            static_cast<std::vector<SmapsMapping> *>(to)->push_back(mapping);
        },
        &found);
    for (size_t at = 0; at < all.size(); at += step)
        reader.take(all.data() + at, all.size() - at < step ? all.size() - at : step);
    return found;
}

} // namespace

TEST(mappings_whatever_the_pieces) {
    for (size_t step = 1; step <= text.size(); ++step) {
        const auto found = read(text, step);
        expect_eq(found.size(), 3u);
        expect_eq(found[0].from, 0x7f0000000000u);
        expect_eq(found[0].to, 0x7f0000200000u);
        expect_eq(found[0].referenced, 1024u << 10);
        expect_eq(found[1].referenced, 0u);
        expect_eq(found[2].to, 0xffffffffff601000u);
    }
}

TEST(lines_that_make_no_sense_are_left_out) {
    expect_eq(read("Referenced: 4 kB\n", 5).size(), 0u); // of no mapping
    expect_eq(read("7f00-6f00 rw-p\nReferenced: 4 kB\n", 5).size(), 0u);
    expect_eq(read("7f00- rw-p\nReferenced: 4 kB\n", 5).size(), 0u);
    expect_eq(read("6f00-7f00 rw-p\nReferenced: kB\n", 5).size(), 0u);
    expect_eq(read("6f00-7f00 rw-p\nReferenced: 99999999999999999 kB\n", 5).size(), 0u);
}
