// Sites that the plan marks huge: their class's range is advised to lie in huge pages, and the
// report says how much of it does.
#include "annotated.h"
#include "check.h"
#include "report_of.h"
#include <cinttypes>
#include <cstdint>
#include <unistd.h>

namespace {

constexpr long long mib = 1 << 20;
#define TIERS(LIMIT)                                                                               \
    "heap guided\nreport %DIR%/report\ninterval-ms 1\n"                                            \
    "tier 0 nodes - capacity " LIMIT "\ntier 1 nodes - capacity 0\ndefault-tier 1\n"               \
    "class 2 shares 1,0 huge\nsite 2 m!huge@f.c:1\nsite 0 m!fast@f.c:2\n"
constexpr char unlimited[] = TIERS("0"), limited[] = TIERS("16777216");

struct Sites : AnnotatedModule {
    Sites() : AnnotatedModule("m", {"m!huge@f.c:1", "m!fast@f.c:2"}) {}
    tc_site *huge = (*this)[0], *fast = (*this)[1];
};

struct Mapping {
    bool advised = false;
    long long huge = 0; // bytes
};

// What the kernel says of the mapping of an address.
Mapping mapping_of(const void *p) {
    FILE *smaps = fopen("/proc/self/smaps", "r");
    char line[512];
    Mapping found;
    bool here = false;
    while (fgets(line, sizeof line, smaps)) {
        uintptr_t from, to;
        long long kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            here = reinterpret_cast<uintptr_t>(p) >= from && reinterpret_cast<uintptr_t>(p) < to;
        if (here && sscanf(line, "AnonHugePages: %lld kB", &kib) == 1)
            found.huge = kib << 10;
        if (here && strncmp(line, "VmFlags:", 8) == 0)
            found.advised = strstr(line, " hg") != nullptr;
    }
    fclose(smaps);
    return found;
}

bool kernel_has_huge_pages() {
    return access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0;
}

} // namespace

TEST_WITH_CONFIG(only_the_class_is_advised, unlimited) {
    Sites sites;
    for (size_t size : {64u, 5000u, 300000u, 50000000u}) {
        void *huge = tc_malloc(size, sites.huge), *fast = tc_malloc(size, sites.fast);
        memset(huge, 1, size);
        memset(fast, 1, size);
        expect_eq(mapping_of(huge).advised, kernel_has_huge_pages());
        expect_eq(mapping_of(fast).advised, false);
        free(huge);
        free(fast);
    }
}

// Small blocks too are committed by whole huge pages, so that the kernel can give one at once.
TEST(fills_with_blocks_of_all_sizes) {
    Sites sites;
    char *large = static_cast<char *>(tc_malloc(32 * mib, sites.huge));
    for (long long at = 0; at < 32 * mib; at += 4096)
        large[at] = 1;
    for (int i = 0; i < 8192; i++)
        memset(tc_malloc(1000, sites.huge), 1, 1000);
    for (long long at = 0; at < 32 * mib; at += 4096)
        expect_eq(large[at], 1);
    check::write_file(check::scratch("kernel"), std::to_string(mapping_of(large).huge));
}

TEST(the_report_says_how_much_is_huge) {
    const std::string report = report_of(unlimited, "fills_with_blocks_of_all_sizes");
    const long long resident = check::json_number(report, "resident_bytes", 2);
    const long long huge = check::json_number(report, "huge_page_bytes", 0);
    expect_le(40 * mib, resident);
    expect_le(resident, 120 * mib);
    expect_le(huge, resident);
    // The kernel's own word from within, of a part of the range; it may have had none to give.
    expect_le(atoll(check::read_file(check::scratch("inner") + "/kernel").c_str()), huge);
}

TEST(capacity_holds_for_huge_pages) {
    const std::string report = report_of(limited, "fills_with_blocks_of_all_sizes");
    expect_le(check::json_number(report, "resident_bytes", 0), 16 * mib);
    expect_le(check::json_number(report, "peak_resident_bytes", 1), 16 * mib);
}
