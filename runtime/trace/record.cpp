// What twins call (record.h).  Compiled without vector registers, like recorder.cpp.
#include "record.h"
#include "first_level.h"
#include "stream.h"

using namespace tc;

static constexpr uint64_t line_bytes = uint64_t(1) << TC_LINE_SHIFT;

static Recorder &whole(tc_recorder *r) { return *reinterpret_cast<Recorder *>(r); }

static tc_way *way_of(Recorder &r, uint64_t line) {
    tc_way *way = filter_entry(r, line);
    return way->line == line ? way : miss(r, line);
}

static void count(tc_way *way, uint64_t stamp, bool store) {
    if (!way)
        return;
    uint64_t &counter = store ? way->stores : way->loads;
    add(counter, 1);
    way->stamp = stamp;
}

static void refer(Recorder &r, uint64_t line, uint64_t stamp, bool store) {
    if (stream_on) [[unlikely]]
        return stream_reference(r, line << TC_LINE_SHIFT, line_bytes, store, TC_RAW_NO_STATIC,
                                stamp);
    count(way_of(r, line), stamp, store);
}

// Each line of the bytes once, with stamps of the recorder's own taking.
static void refer_range(Recorder &r, uintptr_t start, uint64_t bytes, bool store) {
    if (bytes == 0)
        return;
    uint64_t last = (start + bytes - 1) >> TC_LINE_SHIFT;
    for (uint64_t line = start >> TC_LINE_SHIFT; line <= last; line++)
        refer(r, line, r.twins.clock++, store);
}

// A group that lies in two lines, reference by reference.
static TC_PRESERVE void record_each(tc_recorder *recorder, uintptr_t address, const tc_group *group,
                                    uint64_t stamp) {
    Recorder &r = whole(recorder);
    for (uint32_t i = 0; i < group->count; i++) {
        tc_reference reference = group->references[i];
        uintptr_t start = address + reference.offset;
        uint64_t bytes = reference.bytes_and_store >> 1;
        bool store = reference.bytes_and_store & 1;
        uint64_t line = start >> TC_LINE_SHIFT, last = (start + bytes - 1) >> TC_LINE_SHIFT;
        refer(r, line, stamp, store);
        if (last != line)
            refer(r, last, stamp + 1, store);
        stamp += TC_STAMPS_PER_REFERENCE;
    }
}

// As miss, for the parts of the recorder that save no more registers than they need.
[[gnu::noinline]] static TC_PRESERVE tc_way *fetch(Recorder &r, uint64_t line) {
    tc_way *way = nullptr;
    guarded(r, [&] { way = bring_in(r, line); });
    return way;
}

// The same where the lines are of different sets: neither makes room for the other, so both
// can be there before the first is counted.
static TC_PRESERVE void record_straddling(tc_recorder *recorder, uintptr_t address,
                                          const tc_group *group, uint64_t stamp) {
    Recorder &r = whole(recorder);
    uint64_t line = address >> TC_LINE_SHIFT;
    tc_way *low = filter_entry(r, line), *high = filter_entry(r, line + 1);
    uint64_t edge = -address % line_bytes;
    if (low->line != line || high->line != line + 1) {
        if (model.first.sets() == 1) [[unlikely]]
            [[clang::musttail]] return record_each(recorder, address, group, stamp);
        // In the order in which they are touched.
        bool high_first = group->references[0].offset >= edge;
        if (high_first && high->line != line + 1)
            high = fetch(r, line + 1);
        if (low->line != line)
            low = fetch(r, line);
        if (!high_first && high->line != line + 1)
            high = fetch(r, line + 1);
    }
    for (uint32_t i = 0; i < group->count; i++, stamp += TC_STAMPS_PER_REFERENCE) {
        tc_reference reference = group->references[i];
        uint64_t start = reference.offset, end = start + (reference.bytes_and_store >> 1);
        bool store = reference.bytes_and_store & 1;
        if (start < edge)
            count(low, stamp, store);
        if (end > edge)
            count(high, stamp + (start < edge), store);
    }
}

// A group that lies in one line, which the filter does not know.
static TC_PRESERVE void record_in_line(tc_recorder *recorder, uintptr_t address,
                                       const tc_group *group, uint64_t stamp) {
    Recorder &r = whole(recorder);
    tc_way *way = nullptr;
    guarded(r, [&] { way = bring_in(r, address >> TC_LINE_SHIFT); });
    if (!way)
        return;
    add(way->loads, group->loads);
    add(way->stores, group->stores);
    way->stamp = stamp + TC_STAMPS_PER_REFERENCE * (uint64_t(group->count) - 1);
}

// These two need not save the same registers.
void tc_record_group(tc_recorder *recorder, uintptr_t address, const tc_group *group,
                     uint64_t stamp) {
    if (stream_on) [[unlikely]]
        [[clang::musttail]] return stream_group(recorder, address, group, stamp);
    if (address % line_bytes + group->bytes > line_bytes) [[unlikely]]
        [[clang::musttail]] return record_straddling(recorder, address, group, stamp);
    [[clang::musttail]] return record_in_line(recorder, address, group, stamp);
}

void tc_record_load(tc_recorder *r, const void *p, uint64_t bytes) {
    refer_range(whole(r), reinterpret_cast<uintptr_t>(p), bytes, false);
}

void tc_record_store(tc_recorder *r, const void *p, uint64_t bytes) {
    refer_range(whole(r), reinterpret_cast<uintptr_t>(p), bytes, true);
}

void tc_record_copy(tc_recorder *r, const void *to, const void *from, uint64_t bytes) {
    uintptr_t source = reinterpret_cast<uintptr_t>(from), target = reinterpret_cast<uintptr_t>(to);
    uint64_t last_loaded = 0;
    while (bytes) {
        uint64_t piece = line_bytes - target % line_bytes;
        if (piece > bytes)
            piece = bytes;
        // The source's lines don't begin where the target's do: each is loaded once, when
        // its first byte is needed.
        for (uint64_t line = source >> TC_LINE_SHIFT; line <= (source + piece - 1) >> TC_LINE_SHIFT;
             line++)
            if (line != last_loaded) {
                refer(whole(r), line, r->clock++, false);
                last_loaded = line;
            }
        refer(whole(r), target >> TC_LINE_SHIFT, r->clock++, true);
        source += piece;
        target += piece;
        bytes -= piece;
    }
}

void tc_record_lanes(tc_recorder *r, const void *p, uint64_t mask, uint64_t lane_bytes,
                     uint64_t store) {
    uintptr_t start = reinterpret_cast<uintptr_t>(p);
    for (; mask; mask &= mask - 1)
        refer_range(whole(r), start + uint64_t(__builtin_ctzll(mask)) * lane_bytes, lane_bytes,
                    store);
}

void tc_record_scattered(tc_recorder *r, const uintptr_t *lanes, uint64_t mask, uint64_t lane_bytes,
                         uint64_t store) {
    for (; mask; mask &= mask - 1)
        refer_range(whole(r), lanes[__builtin_ctzll(mask)], lane_bytes, store);
}

uint64_t tc_extent_string(const char *s, uint64_t limit) {
    uint64_t length = 0;
    while (s && length < limit)
        if (!s[length++])
            break;
    return length;
}

uint64_t tc_extent_wide(const uint32_t *s, uint64_t limit) {
    uint64_t length = 0;
    while (s && length < limit)
        if (!s[length++])
            break;
    return length * sizeof *s;
}

uint64_t tc_extent_compare(const unsigned char *a, const unsigned char *b, uint64_t limit,
                           uint64_t stop_at_zero) {
    uint64_t length = 0;
    while (length < limit) {
        unsigned char left = a[length], right = b[length];
        length++;
        if (left != right || (stop_at_zero && !left))
            break;
    }
    return length;
}

// ISO_Fortran_binding.h's CFI_cdesc_t, as flang lays it out.
struct Descriptor {
    uintptr_t base;
    size_t element_bytes;
    int version;
    uint8_t rank;
    int8_t type;
    uint8_t attribute, extra;
    struct {
        ptrdiff_t lower, extent, stride;
    } dimension[15];
};

void tc_record_descriptor(tc_recorder *recorder, const void *p, uint64_t store) {
    const Descriptor *d = static_cast<const Descriptor *>(p);
    if (!d || !d->base || !d->element_bytes || d->rank > 15)
        return;
    for (unsigned i = 0; i < d->rank; i++)
        if (d->dimension[i].extent <= 0)
            return; // empty, or of assumed size, whose extent nobody knows
    Recorder &r = whole(recorder);
    // Leading dimensions without gaps are one run of bytes.
    unsigned first = 0;
    size_t run = d->element_bytes;
    while (first < d->rank && d->dimension[first].stride == ptrdiff_t(run))
        run *= size_t(d->dimension[first++].extent);
    ptrdiff_t index[15];
    for (unsigned i = 0; i < 15; i++)
        index[i] = 0;
    uintptr_t element = d->base;
    for (;;) {
        refer_range(r, element, run, store);
        unsigned i = first;
        for (; i < d->rank; i++) {
            element += uintptr_t(d->dimension[i].stride);
            if (++index[i] < d->dimension[i].extent)
                break;
            element -= uintptr_t(d->dimension[i].stride * d->dimension[i].extent);
            index[i] = 0;
        }
        if (i == d->rank)
            return;
    }
}
