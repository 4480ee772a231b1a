// Freed large blocks that wait for their next use.  See site_heap_thread.h.
#include "site_heap_thread.h"

namespace {

Span *remove(ThreadHeap *heap, unsigned at) {
    Span *span = heap->parked[at];
    heap->parked_units -= span->large_units.load(std::memory_order_relaxed);
    for (; at + 1 < ThreadHeap::parked_most; ++at)
        heap->parked[at] = heap->parked[at + 1];
    heap->parked[at] = nullptr;
    return span;
}

} // namespace

void park_large(ThreadHeap *heap, Span *span) {
    const size_t units = span->large_units.load(std::memory_order_relaxed);
    if (units > ThreadHeap::parked_units_most / 2)
        return span_release(span);
    span->large_link.store(0, std::memory_order_relaxed); // a second free is noticed
    while (heap->parked[ThreadHeap::parked_most - 1] ||
           heap->parked_units + units > ThreadHeap::parked_units_most)
        span_release(remove(heap, 0));
    unsigned end = 0;
    while (heap->parked[end])
        ++end;
    heap->parked[end] = span;
    heap->parked_units += units;
}

Span *unpark_large(ThreadHeap *heap, uint32_t site, size_t units, size_t align_units) {
    for (unsigned at = 0; at < ThreadHeap::parked_most && heap->parked[at]; ++at) {
        const Span *span = heap->parked[at];
        const uintptr_t address = reinterpret_cast<uintptr_t>(unit_address(span_unit(span)));
        if (span->site.load(std::memory_order_relaxed) == site &&
            span->large_units.load(std::memory_order_relaxed) == units &&
            (address & (align_units * unit_bytes - 1)) == 0)
            return remove(heap, at);
    }
    return nullptr;
}

void release_parked(ThreadHeap *heap) {
    while (heap->parked[0])
        span_release(remove(heap, 0));
}
