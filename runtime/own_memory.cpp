// See own_memory.h.
#include "own_memory.h"
#include "lock.h"
#include <atomic>
#include <sys/mman.h>
#include <sys/resource.h>

namespace {

constexpr size_t page = 4096;
constexpr size_t wanted_bytes = size_t(1) << 40;
constexpr size_t least_bytes = size_t(1) << 26;

tc::Lock reserve_lock;
std::atomic<uintptr_t> base;
std::atomic<size_t> used;
size_t range_bytes; // written before base

// Under RLIMIT_AS the program must keep most of its address space.
size_t first_try() {
    rlimit limit;
    size_t bytes = wanted_bytes;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        while (bytes > limit.rlim_cur / 8 && bytes > least_bytes)
            bytes /= 2;
    return bytes;
}

bool reserve() {
    tc::Guard guard(reserve_lock);
    if (base.load(std::memory_order_relaxed))
        return true;
    for (size_t bytes = first_try(); bytes >= least_bytes; bytes /= 2) {
        void *at =
            mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            continue;
        range_bytes = bytes;
        base.store(reinterpret_cast<uintptr_t>(at), std::memory_order_release);
        return true;
    }
    return false;
}

} // namespace

void *own_memory_map(size_t bytes) {
    if (!base.load(std::memory_order_acquire) && !reserve())
        return nullptr;
    bytes = (bytes + page - 1) & ~(page - 1);
    size_t at = used.load(std::memory_order_relaxed);
    do {
        if (bytes > range_bytes - at)
            return nullptr;
    } while (!used.compare_exchange_weak(at, at + bytes));
    void *memory = reinterpret_cast<void *>(base.load(std::memory_order_relaxed) + at);
    return mprotect(memory, bytes, PROT_READ | PROT_WRITE) == 0 ? memory : nullptr;
}

OwnMemory own_memory() {
    uintptr_t from = base.load(std::memory_order_acquire);
    return {from, from + used.load(std::memory_order_relaxed)};
}

bool on_own_stack() {
    const OwnMemory own = own_memory();
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return here >= own.from && here < own.to;
}
