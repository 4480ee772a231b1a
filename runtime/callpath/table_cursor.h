// Reads forward through an unwind table, and never past its end.
#pragma once
#include <cstdint>
#include <cstring>

namespace tc {

// Past the end it reads zeroes, and is not good any more.
class Cursor {
  public:
    static constexpr uint8_t pc_relative = 0x10; // in a pointer's encoding

    Cursor(const uint8_t *at, const uint8_t *start, const uint8_t *end)
        : at(at), end(end), good(at >= start && at <= end) {}

    template <typename Number> Number take() {
        Number value{};
        if (!has(sizeof value))
            return value;
        memcpy(&value, at, sizeof value);
        at += sizeof value;
        return value;
    }
    uint64_t unsigned_leb() {
        uint64_t value = 0;
        for (unsigned shift = 0; good; shift += 7) {
            const uint8_t byte = take<uint8_t>();
            if (shift < 64)
                value |= uint64_t(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
        return value;
    }
    int64_t signed_leb() {
        uint64_t value = 0;
        for (unsigned shift = 0; good;) {
            const uint8_t byte = take<uint8_t>();
            if (shift < 64)
                value |= uint64_t(byte & 0x7f) << shift;
            shift += 7;
            if (!(byte & 0x80)) {
                if (shift < 64 && byte & 0x40)
                    value |= ~uint64_t(0) << shift;
                break;
            }
        }
        return static_cast<int64_t>(value);
    }
    uint64_t encoded(uint8_t encoding) { // absolute or relative to its own address
        const uint64_t here = reinterpret_cast<uintptr_t>(at);
        uint64_t value = 0;
        switch (encoding & 0x0f) {
        case 0x00: // a pointer
        case 0x04:
        case 0x0c:
            value = take<uint64_t>();
            break;
        case 0x02:
            value = take<uint16_t>();
            break;
        case 0x03:
            value = take<uint32_t>();
            break;
        case 0x0a:
            value = static_cast<uint64_t>(int64_t(take<int16_t>()));
            break;
        case 0x0b:
            value = static_cast<uint64_t>(int64_t(take<int32_t>()));
            break;
        default:
            good = false;
        }
        return (encoding & 0x70) == pc_relative ? value + here : value;
    }
    void skip(uint64_t bytes) {
        if (has(bytes))
            at += bytes;
    }
    // What follows, as a cursor of its own.
    Cursor part(uint64_t bytes) {
        const uint8_t *from = at;
        skip(bytes);
        Cursor inner(from, from, at);
        inner.good = good;
        return inner;
    }
    bool more() const { return good && at < end; }

    const uint8_t *at, *end;
    bool good;

  private:
    bool has(uint64_t bytes) {
        if (good && bytes <= static_cast<uint64_t>(end - at))
            return true;
        good = false;
        at = end;
        return false;
    }
};

} // namespace tc
