// The machine that .eh_frame's instructions are for (DWARF 5, 6.4.2), as far as the rules of three
// registers go: stack pointer, frame pointer, return address.
#pragma once
#include "frame_rule.h"
#include "table_cursor.h"

namespace tc {

struct FrameCommon { // a CIE, as far as it matters
    uint64_t code_align = 0;
    int64_t data_align = 0;
    uint8_t pointers = 0; // how FDEs write addresses
    bool augmented = false, signal = false;
    Cursor instructions{nullptr, nullptr, nullptr};
};

struct FrameState {
    FrameRule rule;
    bool returns = true; // the return address is just below the frame
};

class FrameMachine {
  public:
    explicit FrameMachine(const FrameCommon &common) : common(common) {}

    // Until the instructions end, or are about code behind `pc`.
    bool run(Cursor in, uint64_t location, uint64_t pc);
    void finish_common() { initial = state; }
    FrameState state;

  private:
    void saved_at(uint64_t reg, int64_t factored);
    int64_t scaled(int64_t factored) const;
    void lost(uint64_t reg); // found in some other way
    void restored(uint64_t reg);
    void frame_register(uint64_t reg);
    void frame_expression(Cursor expression);
    void saved_expression(uint64_t reg, Cursor expression);

    const FrameCommon &common;
    FrameState initial;
    static constexpr unsigned deepest = 8;
    FrameState remembered[deepest];
    unsigned depth = 0;
};

} // namespace tc
