// What library calls touch: extents of strings, lanes of vectors, Fortran's descriptors.
#include "check.h"
#include "config.h"
#include "stand_ins.h"
#include "trace/recorder.h"
#include <ISO_Fortran_binding.h>
#include <wchar.h>

namespace {

char *memory;

void start() {
    memory = make_owned_memory(8);
    tc::Config config{};
    config.caches[config.cache_levels++] = {32768, 8, 64, false};
    const char *why = "";
    expect_true(tc::trace_start(config, &why));
    tc_recorder_make();
}

tc::Traffic of_site(uint32_t site) {
    tc::Traffic sites[4], nonheap[tc::nonheap_kinds];
    tc::trace_snapshot(sites, 4, nonheap);
    return sites[site];
}

template <int rank> struct Array {
    CFI_CDESC_T(rank) storage;
    CFI_cdesc_t *get() { return reinterpret_cast<CFI_cdesc_t *>(&storage); }
    Array(void *base, size_t element, std::initializer_list<std::pair<long, long>> dimensions) {
        CFI_cdesc_t *d = get();
        d->base_addr = base;
        d->elem_len = element;
        d->version = CFI_VERSION;
        d->rank = CFI_rank_t(dimensions.size());
        d->type = CFI_type_double;
        d->attribute = CFI_attribute_other;
        d->extra = 0;
        int i = 0;
        for (auto [extent, stride] : dimensions)
            d->dim[i++] = {1, extent, stride};
    }
};

} // namespace

TEST(strings) {
    expect_eq(tc_extent_string("", ~0ul), uint64_t(1));
    expect_eq(tc_extent_string("abc", ~0ul), uint64_t(4));
    expect_eq(tc_extent_string("abc", 2), uint64_t(2));
    expect_eq(tc_extent_string(nullptr, ~0ul), uint64_t(0));
    const wchar_t *wide = L"abc";
    expect_eq(tc_extent_wide(reinterpret_cast<const uint32_t *>(wide), ~0ul), uint64_t(16));
    auto compare = [](const char *a, const char *b, uint64_t limit, bool zero) {
        return tc_extent_compare(reinterpret_cast<const unsigned char *>(a),
                                 reinterpret_cast<const unsigned char *>(b), limit, zero);
    };
    expect_eq(compare("abcd", "abxd", 4, false), uint64_t(3));
    expect_eq(compare("ab", "ab", ~0ul, true), uint64_t(3));
    expect_eq(compare("ab\0c", "ab\0d", 4, false), uint64_t(4));
    expect_eq(compare("ab", "ab", 0, false), uint64_t(0));
}

TEST(copies_load_and_store_each_line_once) {
    start();
    tc_record_copy(tc_recorder_here, memory + 65536, memory + 8, 640);
    expect_eq(of_site(1).loads, uint64_t(11)); // 640 bytes from 8 on touch 11 lines
    expect_eq(of_site(1).stores, uint64_t(0));
    expect_eq(of_site(2).stores, uint64_t(10));
    tc_record_copy(tc_recorder_here, memory + 65536, memory, 0);
    expect_eq(of_site(2).stores, uint64_t(10));
}

TEST(lanes_count_where_they_are_active) {
    start();
    tc_record_lanes(tc_recorder_here, memory, 0b1011, 8, 1);
    expect_eq(of_site(1).stores, uint64_t(3));
    tc_record_lanes(tc_recorder_here, memory, 0, 8, 1);
    expect_eq(of_site(1).stores, uint64_t(3));
    uintptr_t lanes[4] = {reinterpret_cast<uintptr_t>(memory), 0,
                          reinterpret_cast<uintptr_t>(memory) + 65536,
                          reinterpret_cast<uintptr_t>(memory) + 65536 + 62};
    tc_record_scattered(tc_recorder_here, lanes, 0b1101, 4, 0);
    expect_eq(of_site(1).loads, uint64_t(1));
    expect_eq(of_site(2).loads, uint64_t(3)); // the last one straddles two lines
}

TEST(contiguous_arrays_are_one_run) {
    start();
    Array<2> array(memory, 8, {{16, 8}, {10, 128}});
    tc_record_descriptor(tc_recorder_here, array.get(), 0);
    expect_eq(of_site(1).loads, uint64_t(20)); // 1280 bytes
}

TEST(strided_arrays_are_walked) {
    start();
    Array<3> array(memory, 8, {{4, 128}, {3, 1024}, {2, 8192}});
    tc_record_descriptor(tc_recorder_here, array.get(), 1);
    expect_eq(of_site(1).stores, uint64_t(24));
    // Every element lies in a line of its own, and none was touched twice or elsewhere.
    unsigned filtered = 0;
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; j < 3; j++)
            for (unsigned k = 0; k < 2; k++) {
                uint64_t line =
                    (reinterpret_cast<uintptr_t>(memory) + i * 128 + j * 1024 + k * 8192) >> 6;
                auto &r = *reinterpret_cast<tc::Recorder *>(tc_recorder_here);
                tc::each_way(r, [&](tc_way &way) { filtered += way.line == line; });
            }
    expect_eq(filtered, 24u);
}

TEST(reversed_and_scalar_and_absent_arrays) {
    start();
    Array<1> reversed(memory + 640, 8, {{10, -64}});
    tc_record_descriptor(tc_recorder_here, reversed.get(), 0);
    expect_eq(of_site(1).loads, uint64_t(10));
    Array<1> scalar(memory, 8, {});
    tc_record_descriptor(tc_recorder_here, scalar.get(), 0);
    expect_eq(of_site(1).loads, uint64_t(11));
    Array<1> empty(memory, 8, {{0, 8}}), unallocated(nullptr, 8, {{4, 8}});
    tc_record_descriptor(tc_recorder_here, empty.get(), 0);
    tc_record_descriptor(tc_recorder_here, unallocated.get(), 0);
    tc_record_descriptor(tc_recorder_here, nullptr, 0);
    expect_eq(of_site(1).loads, uint64_t(11));
}
