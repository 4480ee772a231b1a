// The policies of policies.h for C++: memory resources and an allocator.
//
//     thermocline::spill_resource spill;
//     std::pmr::vector<double> field(1 << 28, &spill);
//
//     std::vector<int, thermocline::allocator<int>> edges(thermocline::read_mostly());
//
// Each allocation is a mapping, so they suit large containers; for small objects put a
// std::pmr::monotonic_buffer_resource or a pool in front.  A failure throws policy_error, which
// is a std::bad_alloc.
#pragma once
#include "policies.h"
#include <cstddef>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>

namespace thermocline {

class policy_error : public std::bad_alloc {
  public:
    explicit policy_error(const char *why) : why(why) {}
    const char *what() const noexcept override { return why.c_str(); }

  private:
    std::string why;
};

// A mapping for each allocation; the classes below say of which kind.
class policy_resource : public std::pmr::memory_resource {
  protected:
    virtual void *map(std::size_t bytes) = 0;

  private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override {
        if (alignment > 4096)
            throw policy_error("a policy's range is aligned to pages");
        void *p = map(bytes ? bytes : 1);
        if (!p)
            throw policy_error(tc_policy_error());
        return p;
    }
    void do_deallocate(void *p, std::size_t bytes, std::size_t) override {
        tc_policy_free(p, bytes ? bytes : 1);
    }
    // All give their memory back alike.
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override {
        return dynamic_cast<const policy_resource *>(&other) != nullptr;
    }
};

// What the options point to has to live as long as the resource.
class spill_resource : public policy_resource {
  public:
    explicit spill_resource(const tc_spill_options &options = {}) : options(options) {}

  private:
    void *map(std::size_t bytes) override { return tc_spill(bytes, &options); }
    tc_spill_options options;
};

class write_heavy_resource : public policy_resource {
  public:
    explicit write_heavy_resource(const tc_isolation_options &options = {}) : options(options) {}

  private:
    void *map(std::size_t bytes) override { return tc_write_heavy(bytes, &options); }
    tc_isolation_options options;
};

class read_mostly_resource : public policy_resource {
  public:
    explicit read_mostly_resource(const tc_isolation_options &options = {}) : options(options) {}

  private:
    void *map(std::size_t bytes) override { return tc_read_mostly(bytes, &options); }
    tc_isolation_options options;
};

// One of each with default options, for the whole program.
inline policy_resource *spill() {
    static spill_resource one;
    return &one;
}
inline policy_resource *write_heavy() {
    static write_heavy_resource one;
    return &one;
}
inline policy_resource *read_mostly() {
    static read_mostly_resource one;
    return &one;
}

// For containers outside std::pmr.  Unlike std::pmr::polymorphic_allocator, copies of a container
// are under the same policy, and moves and swaps take it along.
template <typename T> class allocator {
  public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    allocator(policy_resource *resource = spill()) noexcept : from(resource) {}
    template <typename U> allocator(const allocator<U> &other) noexcept : from(other.resource()) {}

    T *allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / sizeof(T))
            throw std::bad_array_new_length();
        return static_cast<T *>(from->allocate(n * sizeof(T), alignof(T)));
    }
    void deallocate(T *p, std::size_t n) { from->deallocate(p, n * sizeof(T), alignof(T)); }
    policy_resource *resource() const noexcept { return from; }

    template <typename U> bool operator==(const allocator<U> &other) const noexcept {
        return *from == *other.resource();
    }
    template <typename U> bool operator!=(const allocator<U> &other) const noexcept {
        return !(*this == other);
    }

  private:
    policy_resource *from;
};

} // namespace thermocline
