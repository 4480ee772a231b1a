// The reader of .eh_frame_hdr and .eh_frame (Linux Standard Base 5.0, 10.6).  Every read is inside
// the table's own mapping; a table that makes no sense ends the path.
#include "frame_rule.h"
#include "frame_machine.h"
#include "table_cursor.h"
#include <cstring>

namespace tc {
namespace {

constexpr uint64_t return_register = 16; // x86-64 psABI, figure 3.36
constexpr uint8_t sorted_table = 0x3b;   // data-relative, signed, 4 bytes
constexpr uint8_t udata4 = 0x03, omitted = 0xff;

// Its length has been read: `in` is its content, behind the CIE pointer.
bool read_common(Cursor in, FrameCommon &common) {
    const uint8_t version = in.take<uint8_t>();
    const char *augmentation = reinterpret_cast<const char *>(in.at);
    while (in.more() && in.take<char>())
        ;
    common.code_align = in.unsigned_leb();
    common.data_align = in.signed_leb();
    const uint64_t returns_by = version == 1 ? in.take<uint8_t>() : in.unsigned_leb();
    if (!in.good || (version != 1 && version != 3) || returns_by != return_register)
        return false;
    if (*augmentation == 'z') {
        common.augmented = true;
        Cursor data = in.part(in.unsigned_leb());
        for (const char *letter = augmentation + 1; *letter; letter++) {
            if (*letter == 'R')
                common.pointers = data.take<uint8_t>();
            else if (*letter == 'P') // the personality routine's address
                data.encoded(data.take<uint8_t>() & 0x0f);
            else if (*letter == 'L')
                data.skip(1);
            else if (*letter == 'S')
                common.signal = true;
            else if (*letter != 'B')
                return false;
        }
        if (!data.good)
            return false;
    } else if (*augmentation) {
        return false;
    }
    common.instructions = in;
    return in.good;
}

// An entry's content, behind its length; `at` is where the entry begins.
Cursor entry(const UnwindTable &table, const uint8_t *at) {
    Cursor in(at, table.start, table.end);
    const uint32_t length = in.take<uint32_t>();
    if (length == 0 || length == 0xffffffff)
        in.good = false;
    return in.part(length);
}

struct SortedEntry {
    int32_t code, entry; // relative to the header
};

} // namespace

uint32_t unwind_entries(const UnwindTable &table) {
    Cursor in(table.header, table.start, table.end);
    const uint8_t version = in.take<uint8_t>(), frame = in.take<uint8_t>(),
                  count = in.take<uint8_t>(), sorted = in.take<uint8_t>();
    if (version != 1 || frame == omitted || count != udata4 || sorted != sorted_table)
        return 0;
    in.encoded(frame);
    const uint32_t entries = in.take<uint32_t>();
    in.skip(uint64_t(entries) * sizeof(SortedEntry));
    return in.good ? entries : 0;
}

FrameRule find_rule(const UnwindTable &table, uintptr_t pc) {
    // The call itself, which may be the last instruction of its function.
    const uint64_t call = pc - 1;
    const uint32_t entries = unwind_entries(table);
    if (!entries)
        return frame_pointer_rule;
    Cursor header(table.header + 1, table.start, table.end);
    const uint8_t frame_encoding = header.take<uint8_t>();
    header.skip(2);
    header.encoded(frame_encoding);
    header.skip(sizeof entries);
    const auto base = reinterpret_cast<uintptr_t>(table.header);
    auto sorted = [&](uint32_t i) {
        SortedEntry found;
        memcpy(&found, header.at + i * sizeof found, sizeof found);
        return found;
    };
    uint32_t low = 0, high = entries;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (base + static_cast<uint64_t>(int64_t(sorted(middle).code)) <= call)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return frame_pointer_rule;
    const uint64_t at = base + static_cast<uint64_t>(int64_t(sorted(low - 1).entry));
    Cursor in = entry(table, reinterpret_cast<const uint8_t *>(at));
    const uint8_t *pointer_at = in.at;
    const uint32_t back = in.take<uint32_t>();
    if (!in.good || back == 0 || uint64_t(back) > static_cast<uint64_t>(pointer_at - table.start))
        return {};
    Cursor common_in = entry(table, pointer_at - back);
    FrameCommon common;
    if (common_in.take<uint32_t>() != 0 || !read_common(common_in, common))
        return {};
    const uint64_t code = in.encoded(common.pointers);
    const uint64_t bytes = in.encoded(common.pointers & 0x0f);
    if (common.augmented)
        in.skip(in.unsigned_leb());
    if (!in.good)
        return {};
    if (call - code >= bytes) // between functions that the table has
        return frame_pointer_rule;
    if (common.signal)
        return {};
    FrameMachine machine(common);
    if (!machine.run(common.instructions, code, UINT64_MAX))
        return {};
    machine.finish_common();
    if (!machine.run(in, code, call) || !machine.state.returns)
        return {};
    return machine.state.rule;
}

} // namespace tc
