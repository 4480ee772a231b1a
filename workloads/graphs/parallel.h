// OpenMP, or one thread.
#pragma once
#include <atomic>
#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace graphs {

inline int threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
inline int thread() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}
inline int team() {
#ifdef _OPENMP
    return omp_get_num_threads();
#else
    return 1;
#endif
}

template <typename T> T load(const T &value) {
    return std::atomic_ref<T>(const_cast<T &>(value)).load(std::memory_order_relaxed);
}

template <typename T> void store(T &value, T now) {
    std::atomic_ref<T>(value).store(now, std::memory_order_relaxed);
}

template <typename T> bool replace(T &value, T expected, T desired) {
    return std::atomic_ref<T>(value).compare_exchange_strong(expected, desired,
                                                             std::memory_order_relaxed);
}

template <typename T> T add(T &value, T more) {
    return std::atomic_ref<T>(value).fetch_add(more, std::memory_order_relaxed);
}

// True if it became smaller.
template <typename T> bool lower(T &value, T to) {
    T seen = load(value);
    while (to < seen)
        if (std::atomic_ref<T>(value).compare_exchange_weak(seen, to, std::memory_order_relaxed))
            return true;
    return false;
}

} // namespace graphs
