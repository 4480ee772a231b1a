// PAGEMAP_SCAN of linux/fs.h since 6.7; older headers lack it.
#pragma once
#include <cstdint>
#include <sys/ioctl.h>

struct PageRegion {
    uint64_t start, end, categories;
};
struct PmScanArg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
constexpr unsigned long pagemap_scan = _IOWR('f', 16, PmScanArg);
constexpr uint64_t page_is_written = 1 << 1, page_is_present = 1 << 3, page_is_zero = 1 << 5,
                   page_is_huge = 1 << 6;
constexpr uint64_t scan_protects = 1 << 0; // PM_SCAN_WP_MATCHING: what was found, at once
