// How to get from a call to its caller, read from the module's unwind table (.eh_frame).
//
// A profiler's unwinder needs less than an exception's: the stack pointer, the frame pointer and
// the return address.  What needs more ends the path.  No library does this without reading
// addresses unchecked, taking locks or allocating, which malloc may not.
#pragma once
#include <cstdint>

namespace tc {

struct FrameRule {
    enum Base : uint8_t {
        none,       // the path ends here
        sp,         // the frame begins at the stack pointer + frame
        bp,         // at the frame pointer + frame
        bp_pointer, // where the word at the frame pointer + frame points: a realigned stack
    };
    enum Saved : uint8_t { same, in_frame, at_bp }; // the caller's frame pointer
    int32_t frame = 0;
    int32_t saved_bp = 0; // relative to the frame's beginning, or to the frame pointer
    Base base = none;
    Saved saved = same;
    bool guessed = false; // no entry in the table: a frame pointer is likely
};

// The rule of code with a frame pointer.
constexpr FrameRule frame_pointer_rule{16, -16, FrameRule::bp, FrameRule::in_frame, true};

// Registers as they are just after a call returns.
struct Registers {
    uintptr_t pc, sp, bp;
};

// Also where AddressSanitizer keeps the program from it.
[[gnu::no_sanitize("address")]] inline uintptr_t stack_word(uintptr_t address) {
    return *reinterpret_cast<const uintptr_t *>(address);
}

// One caller up.  Reads nothing below `sp` and nothing from `top` on; false where it would have
// to, and at the end.
inline bool step(const FrameRule &rule, Registers &at, uintptr_t top) {
    const uintptr_t last = top - sizeof(uintptr_t);
    auto readable = [&](uintptr_t address) { return address >= at.sp && address <= last; };
    uintptr_t frame = rule.base == FrameRule::sp ? at.sp : at.bp;
    frame += static_cast<uintptr_t>(intptr_t(rule.frame));
    if (rule.base == FrameRule::bp_pointer) {
        if (!readable(frame))
            return false;
        frame = stack_word(frame);
    }
    const uintptr_t slot = frame - sizeof(uintptr_t);
    if (rule.base == FrameRule::none || !readable(slot))
        return false;
    uintptr_t bp = at.bp;
    if (rule.saved != FrameRule::same) {
        const uintptr_t saved = (rule.saved == FrameRule::in_frame ? frame : at.bp) +
                                static_cast<uintptr_t>(intptr_t(rule.saved_bp));
        if (!readable(saved))
            return false;
        bp = stack_word(saved);
    }
    at = {stack_word(slot), frame, bp};
    return true;
}

// A loaded module's unwind table, and the mapped bytes around it that may be read.
struct UnwindTable {
    const uint8_t *header; // .eh_frame_hdr
    const uint8_t *start, *end;
};

// The number of entries that the header sorts by address; 0: none, or of a form that no linker
// writes.
uint32_t unwind_entries(const UnwindTable &);

// The rule after the call that returns to `pc`.
FrameRule find_rule(const UnwindTable &, uintptr_t pc);

} // namespace tc
