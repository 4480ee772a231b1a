// See estimate.h.
#include "estimate.h"
#include "own_memory.h"

namespace tc {

bool BurstEstimate::start(uint32_t count) {
    owners = static_cast<Owner *>(own_memory_map(size_t(count) * sizeof(Owner)));
    room = owners ? count : 0;
    return owners != nullptr;
}

void BurstEstimate::forget() {
    for (uint32_t i = 0; i < used; i++)
        owners[i] = {};
    used = made = 0;
    begin_work = weights = 0;
}

void BurstEstimate::add_begin(const Traffic *traffic, uint32_t count, uint64_t work) {
    begin_work = double(work);
    for (used = 0; used < count && used < room; used++) {
        const Traffic &t = traffic[used];
        const uint64_t fields[kinds] = {t.loads, t.stores, t.read_bytes, t.write_bytes};
        for (unsigned k = 0; k < kinds; k++)
            owners[used].begin[k] = double(fields[k]);
    }
}

void BurstEstimate::add(const Traffic *traffic, uint32_t count, uint64_t work, double weight) {
    if (!work || weight <= 0)
        return;
    count = count < room ? count : room;
    used = count > used ? count : used;
    for (uint32_t i = 0; i < count; i++) {
        Owner &o = owners[i];
        const Traffic &t = traffic[i];
        const uint64_t fields[kinds] = {t.loads, t.stores, t.read_bytes, t.write_bytes};
        for (unsigned k = 0; k < kinds; k++)
            o.weighted[k] += double(fields[k]) / double(work) * weight;
        const double rate = (double(t.read_bytes) + double(t.write_bytes)) / double(work);
        // A systematic sample's variance, from what neighbours differ by (Wolter, Introduction
        // to Variance Estimation, chapter 8).
        if (made)
            o.steps += (rate - o.last) * (rate - o.last) / 2 * weight * weight;
        o.last = rate;
    }
    weights += weight;
    made++;
}

// What a weighted rate is multiplied with.
double BurstEstimate::scale(uint64_t all_work) const {
    const double rest = double(all_work) - begin_work;
    return weights > 0 && rest > 0 ? rest / weights : 0;
}

Traffic BurstEstimate::sum(uint32_t owner, uint64_t all_work) const {
    if (owner >= used)
        return {};
    uint64_t fields[kinds];
    // Before the second burst, the first stands for all.
    const double factor = weights > 0 || begin_work == 0 ? 1 : double(all_work) / begin_work;
    for (unsigned k = 0; k < kinds; k++)
        fields[k] = uint64_t(owners[owner].begin[k] * factor +
                             owners[owner].weighted[k] * scale(all_work) + 0.5);
    return {fields[0], fields[1], fields[2], fields[3]};
}

double BurstEstimate::error_bytes(uint32_t owner, uint64_t all_work) const {
    if (owner >= used)
        return 0;
    return 1.96 * __builtin_elementwise_sqrt(owners[owner].steps) * scale(all_work);
}

} // namespace tc
