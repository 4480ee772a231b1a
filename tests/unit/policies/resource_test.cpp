// The policies as memory resources and as an allocator.
#include "check.h"
#include "thermocline/policies.hpp"
#include <map>
#include <numeric>

using namespace check;

TEST(containers_of_std_pmr) {
    thermocline::spill_resource spill;
    thermocline::write_heavy_resource heavy;
    std::pmr::vector<double> field(1 << 20, 1.0, &spill), other(&heavy);
    other = field;
    expect_eq(std::accumulate(other.begin(), other.end(), 0.0), double(1 << 20));
    expect_eq(other.get_allocator().resource() == &heavy, true);
    expect_eq(spill.is_equal(heavy), true); // each gives back what another mapped
    expect_eq(spill.is_equal(*std::pmr::new_delete_resource()), false);
}

TEST(small_objects_behind_a_buffer) {
    thermocline::spill_resource spill;
    std::pmr::monotonic_buffer_resource buffer(1 << 20, &spill);
    std::pmr::map<int, int> numbers(&buffer);
    for (int i = 0; i < 10000; i++)
        numbers[i] = i;
    expect_eq(numbers.at(9999), 9999);
}

TEST(an_allocator) {
    using Numbers = std::vector<int, thermocline::allocator<int>>;
    Numbers numbers(100000, 3, thermocline::write_heavy());
    Numbers copy = numbers, moved = std::move(numbers);
    expect_eq(copy.get_allocator().resource() == thermocline::write_heavy(), true);
    expect_eq(moved.size(), size_t(100000));
    expect_eq(copy == moved, true);
    copy.resize(500000, 4);
    expect_eq(copy.back(), 4);
    Numbers spilled;
    expect_eq(spilled.get_allocator().resource() == thermocline::spill(), true);
    spilled = copy;
    expect_eq(spilled.get_allocator().resource() == thermocline::write_heavy(), true);
}

TEST(a_failure_says_why) {
    setenv("THERMOCLINE_MEMORY", "0:- weights 1:2", 1);
    std::string why;
    try {
        std::pmr::vector<char> never(4096, thermocline::spill());
    } catch (const std::bad_alloc &error) {
        why = error.what();
    }
    expect_eq(why.find("add up to 3") != std::string::npos, true);
}
