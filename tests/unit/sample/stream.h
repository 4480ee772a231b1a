// Streams of perf records made by hand, in a ring of a given size.
#pragma once
#include "sample/records.h"
#include <cstdint>
#include <initializer_list>
#include <linux/perf_event.h>
#include <vector>

class Stream {
  public:
    // Positions begin at `start`, so that what is put wraps round early.
    explicit Stream(uint64_t size, uint64_t start = 0) : tail(start), head(start), bytes(size) {}

    void put(uint32_t type, std::initializer_list<uint64_t> words, uint16_t misc = 2 /* user */) {
        put_header({type, misc, uint16_t(8 + 8 * words.size())});
        for (uint64_t word : words)
            put_bytes(&word, sizeof word);
    }
    void put_header(const perf_event_header &header) { put_bytes(&header, sizeof header); }
    void put_bytes(const void *from, size_t count) {
        for (size_t i = 0; i < count; ++i)
            bytes[head++ % bytes.size()] = static_cast<const uint8_t *>(from)[i];
    }

    tc::sample::Ring ring() const { return {bytes.data(), bytes.size()}; }
    tc::sample::Record read(uint64_t fields = tc::sample::known_fields) {
        const auto record = tc::sample::read_record(ring(), tail, head, fields);
        tail += record.bytes;
        return record;
    }

    uint64_t tail, head;

  private:
    std::vector<uint8_t> bytes;
};
